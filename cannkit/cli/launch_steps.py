"""The steps of `cannkit launch`: choose the kernel, launch, wait, tell how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from cannkit.cli.driver import StoppedError
from cannkit.errors import CannkitError, ExitCode, UsageError, brief

if TYPE_CHECKING:
    from cannkit.api.function import FunctionHandle
    from cannkit.api.registration import Registration, Taken
    from cannkit.api.runtime import Runtime
    from cannkit.cli.foreign import ForeignCode
    from cannkit.cli.host_model import ModelName
    from cannkit.cli.launch_listener import Listener
    from cannkit.device.device import Device
    from cannkit.device.trace import TaskEvent
    from cannkit.errors import ReadWarning
    from cannkit.format.status import RtError
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import Source
    from cannkit.report.launch import Story
    from cannkit.runtime.launched import Launched
    from cannkit.runtime.search import Query
    from cannkit.runtime.stream import Stream

BATCH: Final = 1024  # launches between two waits
MOST_NAMED: Final = 20  # kernels


class NotFoundError(CannkitError):
    """No kernel is what was asked for: the answer is no."""

    exit_code: ClassVar[ExitCode] = ExitCode.NEGATIVE
    kind: ClassVar[str] = "not-found"


class Chosen(NamedTuple):
    """A kernel, the binary that it is from, and the files that were read to find it."""

    taken: Taken
    name: str
    function: FunctionHandle
    files: Sequence[str]

    @property
    def is_cpu(self) -> bool:
        """Whether it is a kernel of the AI CPU."""
        return self.function.kernel.cpu is not None

    @property
    def takes_head(self) -> bool:
        """Whether its arguments begin with a parameter head: on the AI CPU, but for the framework's."""
        from cannkit.format.cpu_kernel import CpuKernelType

        cpu = self.function.kernel.cpu
        return cpu is not None and cpu.kernel_type != CpuKernelType.FWK

    @property
    def warnings(self) -> Sequence[ReadWarning]:
        """What is odd about the binary."""
        return *self.taken.warnings, *self.taken.program.warnings


def choose_kernel(
    process: Registration, inputs: Source, query: Query, place: str, hint: str | None = None
) -> Chosen:
    """The first kernel that a query finds in the inputs; without one the only kernel, on the device.

    `hint` is for an input that is not what it seems. Raises NotFoundError for a miss, UsageError where there are several to choose from, what was wrong
    with an input where nothing was found, and RtError of loading it.
    """
    from cannkit.cli.driver import collect
    from cannkit.runtime.program import ElfProgram
    from cannkit.runtime.search import search

    asked = query.name is not None or query.entry is not None
    every: list[Taken] = []
    found: list[tuple[Taken, str]] = []
    files: list[str] = []

    def one(item: Input) -> bool:
        files.append(item.file)
        taken = process.take(item)
        every.append(taken)
        hits = [each.kernel for each in search(taken.program, query)] if asked else None
        kernels = taken.program.kernels if hits is None else hits
        found.extend((taken, kernel.name) for kernel in kernels)
        return asked and bool(found)

    errors = collect(inputs, one)
    if not found:
        error = errors[0][1] if errors else _not_found(every, query, place)
        error.hint = error.hint or hint
        raise error
    if len(found) > 1:
        names = [brief(name) for _, name in found]
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        hint = f"--kernel NAME or --entry KEY chooses: {', '.join(names[:MOST_NAMED])}{more}"
        raise UsageError(f"{place} has {len(names):,} kernels", hint=hint)
    taken, name = found[0]
    if isinstance(taken.program, ElfProgram):
        process.load(taken)
    files += [item.file for item, _ in errors]
    return Chosen(taken, name, taken.binary.get_function(name), files)


def _not_found(every: Sequence[Taken], query: Query, place: str) -> CannkitError:
    from cannkit.runtime.program import ElfProgram
    from cannkit.runtime.search import explain_miss

    if query.name is None and query.entry is None:
        is_cpu = not any(isinstance(taken.program, ElfProgram) for taken in every)
        what = "no kernel of the AI CPU" if is_cpu else "no kernel"
        return NotFoundError(what, where=place, why="the program states none")
    miss = explain_miss([taken.program for taken in every], query)
    near = ", ".join(map(brief, miss.nearest))
    what, hint = f"no kernel with entry {query.entry}", f"entries are {near}"
    if query.name is not None:
        what, hint = f"no kernel {brief(query.name)!r}", f"did you mean {near}?"
    return NotFoundError(what, where=place, why=miss.reason, hint=hint if near else None)


def run_model(
    runtime: Runtime, chosen: Chosen, name: ModelName, foreign: ForeignCode
) -> Sequence[str]:
    """Run a host model for a kernel; the files that it is in.

    Raises UsageError for a kernel of the AI CPU, and what `load_model` raises.
    """
    from cannkit.cli.host_model import load_model

    if chosen.is_cpu:
        kernel = brief(chosen.name)
        hint = "--root DIR looks its library up below DIR, and calls it"
        raise UsageError(f"--model: {kernel} is a kernel of the AI CPU", hint=hint)
    model = load_model(name, foreign)
    runtime.register_model(chosen.name, model.run)
    return model.files


def open_stream(runtime: Runtime, number: int) -> Stream:
    """The stream of this number: the default one, or as many more as it takes. Raises RtError."""
    stream = runtime.default_stream
    for _ in range(number):
        stream = runtime.create_stream()
    return stream


class Repeats:
    """The same launch, again and again. Changes.

    `done` are complete, `last` is the last one launched, `ring` head and tail of its stream then;
    `waits` while it is the device that works.
    """

    def __init__(
        self,
        launch: Callable[[], Launched],
        again: Callable[[], Callable[[], object]],
        runtime: Runtime,
        stream: Stream,
        *,
        told: bool,
        around: AbstractContextManager[None] | None = None,
    ) -> None:
        """`launch` makes one that can be told of, `again` what makes those between first and last.

        `told`: every one of them is told of, too. `around` is entered while the device may work.
        """
        self.told = told
        self.done = 0
        self.last: Launched | None = None
        self.ring = (0, 0)
        self.waits = False
        self._launch = launch
        self._again = again
        self._runtime = runtime
        self._stream = stream
        self._around = around or nullcontext()

    def run(self, count: int, watch: Callable[[int], None]) -> None:
        """Launch so often; `watch` is told how many are complete. Raises what a launch or a wait does.

        The first one is waited for alone: what fails would fail every time. So is the last one.
        """
        self._one()
        if count > 1:
            with self._unheard():
                again = self._again()
                while (left := count - 1 - self.done) > 0:
                    with self._around:
                        for _ in range(min(left, BATCH)):
                            again()
                        self._wait(min(left, BATCH))
                    watch(self.done)
            self._one()

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """Nobody listens to a device that only checks: it is three times as fast then."""
        from cannkit.device.trace import no_trace

        device = self._stream.device
        heard = device.trace
        if not self.told and not device.models.functions:
            device.trace = no_trace
        try:
            yield
        finally:
            device.trace = heard

    def _one(self) -> None:
        with self._around:
            self.last = self._launch()
            self.ring = self._stream.ring.head, self._stream.ring.tail
            self._wait(1)

    def _wait(self, launched: int) -> None:
        self.waits = True
        self._runtime.synchronize(self._stream)
        self.waits = False
        self.done += launched


def rehearse(
    story: Story, repeats: Repeats, count: int, listener: Listener, *, quiet: bool
) -> Story:
    """The story of so many launches to its end: well, refused, failed on the device, interrupted."""
    from cannkit.cli.foreign import place_of
    from cannkit.format.status import RtError

    error: CannkitError | None = None
    try:
        _run(repeats, count, quiet=quiet)
    except RtError as refusal:
        place = place_of(story.device.models.failure)
        error = refusal if place is None else _placed(refusal, place)
    except KeyboardInterrupt:
        why = f"{repeats.done:,} of {count:,} launches are complete"
        error = StoppedError("interrupted", why=why)
    launched = repeats.last
    return story._replace(
        launched=launched,
        content=(launched.block if launched else None) or b"",
        ring=repeats.ring,
        event=listener.task,
        ai_cpu=listener.ai_cpu,
        error=error,
        is_fault=isinstance(error, RtError) and repeats.waits,
        message=str(error) if error else _end(listener.task, count, story.device),
    )


def _run(repeats: Repeats, count: int, *, quiet: bool) -> None:
    if count <= BATCH:
        repeats.run(count, lambda done: None)
        return
    from cannkit.render.progress import Bar

    with Bar("Launching", count, wanted=not quiet) as bar:
        repeats.run(count, bar.show)


def _end(task: TaskEvent | None, count: int, device: Device) -> str:
    """How a task ended that ended well."""
    how = "completed" if device.models.functions else "completed: validated, there is no host model"
    note = (task.outcome.note if task else "") or how
    return note if count == 1 else f"{note}; {count:,} launches"


def _placed(error: RtError, place: str) -> RtError:
    """The error of a host model, with the file and line where it came from."""
    from cannkit.format.status import RtError

    why = f"{error.why} ({place})"
    status = error.rt or error.acl
    return RtError(status, error.what, where=error.where, why=why, hint=error.hint)
