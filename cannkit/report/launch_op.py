"""The document of `cannkit launch --op`: what a call of an operator came to. cli.md, section 6; spec 07, OPR-1305."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from cannkit.ae.caller import Verdict
from cannkit.ae.scheduler import Response
from cannkit.errors import CannkitError, ExitCode, ReadWarning, brief
from cannkit.ops.call import Prepared
from cannkit.ops.result import OVERRUN, OpResult
from cannkit.report.base import (
    CodeEntry,
    Document,
    ErrorEntry,
    WarningEntry,
    document,
    printable,
)
from cannkit.report.op_block import CallBytesEntry
from cannkit.report.op_output import OpOutputEntry
from cannkit.report.so_path import code_entry

CRASH_KIND: Final = "foreign"
FAILED_KIND: Final = "operator"
ClassWord = Literal["ok", "special", "error"]


@document
class OpChildEntry:
    """How the process ended that ran the library: `exit` or `signal` is null; `stage` and what it printed."""

    exit: int | None
    signal: int | None
    seconds: float
    stage: str
    output: str

    @classmethod
    def of(cls, result: OpResult) -> Self:
        """The entry of the process of a result."""
        end = result.child
        if end is None:
            return cls(0, None, round(result.seconds, 6), "done", printable(result.printed))
        output = printable(end.output)
        return cls(end.exit, end.signal, end.seconds, end.stage.value, output)


@document
class ResponseEntry:
    """What goes back to the task scheduler. OPR-602."""

    status: int
    result: int

    @classmethod
    def of(cls, response: Response | None) -> Self | None:
        """The entry of a response."""
        return None if response is None else cls(int(response.status), int(response.result))


@document
class RunnerEntry:
    """What ran the library: our program's compiler, its machine, and the emulator where there is one."""

    compiler: str | None
    target: str
    qemu: str | None


@document
class RepeatEntry:
    """The same call several times: outputs that were not the same each time."""

    runs: int
    reproducible: bool
    differing: tuple[int, ...]


class Ran(NamedTuple):
    """Where and how a call was made; `strict`: a write beside a tensor is an error; `trace` a LaunchDocument of its launch; `case` is the line of a file of cases, `id` what it calls itself."""

    library: str
    arch: str
    runner: RunnerEntry | None = None
    files: Sequence[str | None] = ()
    every_line: bool = False
    repeat: RepeatEntry | None = None
    trace: object = None
    strict: bool = False
    case: int | None = None
    id: str | None = None
    findings: Sequence[ReadWarning] = ()


class LaunchSchema:
    """Says that `trace` is a LaunchDocument: what it takes is loaded where a call is traced."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from cannkit.report.launch import LaunchDocument

        return handler.generate_schema(LaunchDocument)


@document
class LaunchOpDocument(Document):
    """A call of an operator. What is null was not reached: an error says why.

    `status` is the code of the AI CPU engine, `reason` what the operator said itself. `outputs` and
    `inputs_changed` count from 0. `param_hex` and `ext_hex` have no addresses. `trace` is the launch of the
    same call on a simulated device, where that was asked for.
    """

    SCHEMA: ClassVar[str] = "cannkit.launch-op/1"
    op: str | None
    library: str | None
    arch: str | None
    emulated: bool | None
    param_size: int | None
    node_def_hex: str | None
    returned: int | None
    status: CodeEntry | None
    class_: ClassWord
    reason: str | None
    outputs: tuple[OpOutputEntry, ...]
    inputs_changed: tuple[int, ...]
    log: tuple[str, ...]
    child: OpChildEntry | None
    error: ErrorEntry | None
    function: str | None
    returns: tuple[int | None, ...]
    response: ResponseEntry | None
    seconds: float | None
    dynamic: bool | None
    param_hex: str | None
    ext_hex: str | None
    call: CallBytesEntry | None
    runner: RunnerEntry | None
    repeat: RepeatEntry | None
    trace: Annotated[object, LaunchSchema()] | None
    findings: tuple[WarningEntry, ...]
    case: int | None
    id: str | None

    @property
    def exit_code(self) -> ExitCode:
        """A fault where the operator returned anything but 0, or ended its process. OPR-1306."""
        return ExitCode.OK if self.error is None else ExitCode.FAULT

    @classmethod
    def of(cls, result: OpResult, ran: Ran) -> Self:
        """The document of a call that was made."""
        call = result.prepared
        files = (*ran.files, *[None] * len(result.outputs))
        every = ran.every_line or not result.is_good
        return cls(
            op=printable(result.op),
            library=printable(ran.library),
            arch=ran.arch,
            emulated=result.emulated,
            param_size=len(call.block),
            node_def_hex=call.node_raw.hex(),
            returned=result.returned,
            status=code_entry(result.status),
            class_=result.log_class.value,
            reason=None if result.reason is None else printable(result.reason),
            outputs=tuple(
                OpOutputEntry.of(index, output, file)
                for index, (output, file) in enumerate(zip(result.outputs, files, strict=False))
            ),
            inputs_changed=result.changed,
            log=tuple(map(printable, result.log_lines(every=every, usual=ran.every_line))),
            child=OpChildEntry.of(result),
            error=_error(result) or (_overrun(result) if ran.strict else None),
            function=printable(call.function),
            returns=result.returns,
            response=ResponseEntry.of(result.response),
            seconds=round(result.seconds, 9),
            dynamic=call.is_dynamic,
            param_hex=call.block.hex(),
            ext_hex=call.ext_raw.hex(),
            call=CallBytesEntry.of(call),
            runner=ran.runner,
            repeat=ran.repeat,
            trace=ran.trace,
            findings=tuple(map(WarningEntry.of, chain(ran.findings, result.remarks))),
            case=ran.case,
            id=None if ran.id is None else printable(ran.id),
        )

    @classmethod
    def failed(
        cls,
        op: str | None,
        library: str | None,
        error: CannkitError,
        case: int | None = None,
        id: str | None = None,  # noqa: A002  (the name in JSON)
    ) -> Self:
        """The document of a call that was not made."""
        return cls(
            op=None if op is None else printable(op),
            library=None if library is None else printable(library),
            arch=None,
            emulated=None,
            param_size=None,
            node_def_hex=None,
            returned=None,
            status=None,
            class_="error",
            reason=None,
            outputs=(),
            inputs_changed=(),
            log=(),
            child=None,
            error=ErrorEntry.of(error),
            function=None,
            returns=(),
            response=None,
            seconds=None,
            dynamic=None,
            param_hex=None,
            ext_hex=None,
            call=None,
            runner=None,
            repeat=None,
            trace=None,
            findings=(),
            case=case,
            id=None if id is None else printable(id),
        )


def _error(result: OpResult) -> ErrorEntry | None:
    op = printable(brief(result.op))
    if result.child is not None:
        return _crash(op, result.child, result.reason)
    if result.returned:
        why = printable(result.reason or "")
        hint = None if why else _silent(result.prepared)
        what = f"{op} returned {result.returned}"
        return ErrorEntry(FAILED_KIND, what, None, why, hint, None, None)
    return None


def _overrun(result: OpResult) -> ErrorEntry | None:
    """Q-7: a write beside a tensor, which no device tells of."""
    op = printable(brief(result.op))
    for remark in result.remarks:
        if remark.code == OVERRUN:
            what = f"{op} wrote beside {printable(remark.where)}"
            why = printable(remark.message)
            return ErrorEntry(FAILED_KIND, what, None, why, None, None, None)
    return None


def _crash(op: str, end: Verdict, reason: str | None) -> ErrorEntry:
    hint = printable("; ".join(end.hints)) or None
    return ErrorEntry(
        CRASH_KIND, printable(end.what), op, printable(reason or ""), hint, None, None
    )


def _silent(call: Prepared) -> str | None:
    """What to look at where the operator gave no reason."""
    if not call.node.attrs:
        return (
            "it gave no reason; --describe NAME tells which attributes it takes, -v shows its log"
        )
    return "it gave no reason; -v shows its log"
