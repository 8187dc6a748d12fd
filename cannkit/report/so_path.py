"""The document of `cannkit so-path`: how the engine looks for a library. cli.md, section 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Self

from cannkit.ae.context import VARIABLES, AeContext, byte_length
from cannkit.ae.path_hints import CUST_HINT, resolution_hints
from cannkit.ae.so_path import CUST_TYPES, SO_NAME_LIMIT, Decision
from cannkit.ae.so_walk import Attempt, Resolution
from cannkit.ae.survey import Answer
from cannkit.errors import ExitCode
from cannkit.format.ae_status import RUN_MODE_WORDS, AeStatus, RunMode, ScheduleStatus
from cannkit.format.cpu_kernel import KERNEL_TYPE_WORDS
from cannkit.report.base import CodeEntry, Document, document, printable

if TYPE_CHECKING:  # only --install needs them
    from cannkit.ae.write_checks import Disagreement
    from cannkit.ae.write_rules import Step, Written

TYPE_WORDS: Final = {int(kind): word for word, kind in KERNEL_TYPE_WORDS.items()}
MODE_WORDS: Final = {int(mode): word for word, mode in RUN_MODE_WORDS.items()}

GuardWord = Literal["prefix", "cust-substring", "refused", "not-checked"]


def type_word(kernel_type: int) -> str:
    """A kernel type as the command line calls it."""
    return TYPE_WORDS.get(kernel_type, str(int(kernel_type)))


def mode_word(run_mode: int) -> str:
    """A run mode as the command line calls it."""
    return MODE_WORDS.get(run_mode, str(int(run_mode)))


def code_entry(status: AeStatus | ScheduleStatus | None) -> CodeEntry | None:
    """A status with its name; None for one that is not known."""
    return None if status is None else CodeEntry(int(status), status.c_name)


@document
class ContextEntry:
    """The process. `env` has the variables that the engine reads, null for one that is not set."""

    vf: int
    unique_vf: int
    pid: int
    device: int
    env: Mapping[str, str | None]

    @classmethod
    def of(cls, context: AeContext) -> Self:
        """The entry of a context, whose vf is the unique one."""
        env = {name: _text(context.env.get(name)) for name in VARIABLES}
        return cls(context.vf, context.vf, context.pid, context.device, env)


@document
class DecisionEntry:
    """A rule that was asked."""

    rule: str
    condition: str
    taken: bool

    @classmethod
    def of(cls, decision: Decision) -> Self:
        """The entry of a decision."""
        return cls(*decision)


@document
class AttemptEntry:
    """A path that was asked for; `exists` and `status` are null where no files are known."""

    level: int
    directory: str
    path: str
    exists: bool | None
    real_path: str | None
    guard: GuardWord
    status: CodeEntry | None
    reason: str | None

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        """The entry of an attempt."""
        reason = "; ".join(filter(None, (attempt.why, *attempt.remarks)))
        return cls(
            attempt.level,
            printable(attempt.directory),
            printable(attempt.path),
            attempt.exists,
            _text(attempt.real_path),
            attempt.guard.value,
            code_entry(attempt.status),
            printable(reason) or None,
        )


@document
class NoteEntry:
    """What is worth knowing: the rule or quirk of the specification, and a sentence."""

    rule: str
    text: str


@document
class SearchEntry:
    """A search of one kernel type in one process.

    `status` is the loader's own code, `call_status` what the caller of the engine sees; null where no
    files are known. `skipped` are the levels that were not asked, and why; `cached` when the library was
    loaded before and nothing was looked for.
    """

    kernel_type: str
    run_mode: str
    cust_sd: bool
    init: CodeEntry
    decision: tuple[DecisionEntry, ...]
    attempts: tuple[AttemptEntry, ...]
    loaded: str | None
    status: CodeEntry | None
    call_status: CodeEntry | None
    reason: str | None
    skipped: tuple[NoteEntry, ...]
    hints: tuple[str, ...]
    cached: bool

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """The entry of an answer."""
        entry = cls.of_search(
            answer.kernel_type,
            answer.context,
            answer.resolution,
            answer.settings.status,
            answer.call_status,
        )
        return replace(entry, hints=(*entry.hints, *map(printable, answer.elsewhere)))

    @classmethod
    def of_search(
        cls,
        kernel_type: int,
        context: AeContext,
        found: Resolution,
        init: AeStatus,
        call_status: AeStatus | None,
    ) -> Self:
        """The entry of a search that belongs to a call."""
        is_ready = init == AeStatus.SUCCESS
        hints = list(resolution_hints(kernel_type, found))
        if kernel_type in CUST_TYPES and context.is_cust_sd and context.run_mode != RunMode.THREAD:
            hints.append(CUST_HINT)
        if (size := byte_length(found.so_name)) > SO_NAME_LIMIT:
            hints.append(f"a call uses the first {SO_NAME_LIMIT} of {size} bytes of the name (Q-5)")
        entry_init = code_entry(init)
        assert entry_init is not None
        return cls(
            kernel_type=type_word(kernel_type),
            run_mode=mode_word(context.run_mode),
            cust_sd=context.is_cust_sd,
            init=entry_init,
            decision=tuple(map(DecisionEntry.of, found.decisions)),
            attempts=tuple(map(AttemptEntry.of, found.attempts)),
            loaded=_text(found.loaded),
            status=code_entry(found.status) if is_ready else None,
            call_status=code_entry(call_status),
            reason=printable(found.why) or None,
            skipped=tuple(
                NoteEntry(f"level {each.level}", printable(each.why)) for each in found.skipped
            ),
            hints=tuple(map(printable, hints)),
            cached=found.cached,
        )


@document
class StepEntry:
    """A step of the write side: what is done to which path; mode, size and target where it has them."""

    kind: str
    path: str
    text: str
    mode: str | None
    size: int | None
    target: str | None

    @classmethod
    def of(cls, step: Step) -> Self:
        """The entry of a step."""
        mode = None if step.mode is None else f"{step.mode:04o}"
        path, text, target = printable(step.path), printable(step.text), _text(step.target)
        return cls(step.kind.value, path, text, mode, step.size, target)


@document
class InstallEntry:
    """What the write side did with a library, `dry`: would do; where the read side looks elsewhere."""

    file: str
    so_name: str
    dry: bool
    root: str
    folder: str
    status: CodeEntry
    steps: tuple[StepEntry, ...]
    remarks: tuple[str, ...]
    disagreements: tuple[NoteEntry, ...]
    made: tuple[str, ...]

    @classmethod
    def of(
        cls,
        file: str,
        so_name: str,
        places: tuple[str, str],
        written: Written,
        disagreements: Sequence[Disagreement],
        *,
        dry: bool,
        made: tuple[str, ...] = (),
    ) -> Self:
        """The entry of a request; `places` are root and folder, `made` what the daemon would have."""
        status = code_entry(written.status)
        assert status is not None
        return cls(
            file=printable(file),
            so_name=printable(so_name),
            dry=dry,
            root=printable(places[0]),
            folder=printable(places[1]),
            status=status,
            steps=tuple(map(StepEntry.of, written.steps)),
            remarks=tuple(map(printable, written.remarks)),
            disagreements=tuple(NoteEntry(each.id, printable(each.text)) for each in disagreements),
            made=tuple(map(printable, made)),
        )


@document
class SoPathDocument(Document):
    """All searches for one library; without `so_name` the directories alone."""

    SCHEMA: ClassVar[str] = "cannkit.so-path/1"
    so_name: str | None
    context: ContextEntry
    results: tuple[SearchEntry, ...]
    install: InstallEntry | None

    @property
    def is_found(self) -> bool:
        """Whether any of the searches found a library that opens."""
        return any(result.loaded is not None for result in self.results)

    @property
    def exit_code(self) -> ExitCode:
        """Refused where the write side refuses a library."""
        refused = self.install is not None and self.install.status.code
        return ExitCode.REFUSED if refused else ExitCode.OK


def _text(text: str | None) -> str | None:
    return None if text is None else printable(text)
