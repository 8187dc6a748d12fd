"""OpSession: calls of one library, many of them in one process. Spec 07, OPR-807.

Start-up is paid once for as many calls as fit into a process. A crash loses the calls after it, which are
made in the next one; it takes the state of operators with it, as a crash of the device's process would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from cannkit.ae.host_end import Cause
from cannkit.errors import UsageError
from cannkit.ops.call import Prepared
from cannkit.ops.child import MOST_SECONDS
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job, JobCall, Relocation, RunStage
from cannkit.ops.package_paths import library_machine
from cannkit.ops.result import OpResult, read_result
from cannkit.ops.runner import MEMORY, TIMEOUT, Emulate, Outcome, Runner, decide

MOST_REGIONS: Final = 8_000  # of a process, and
MOST_BYTES: Final = 256 << 20  # of its memory, but for a call that is larger alone
MOST_CALLS: Final = 4096
AFTER_A_LOSS: Final = 8  # calls of the next process: where each one crashes, few are lost
MOST_THREADS: Final = 1024
LOG_LEVEL: Final = 2  # WARN


@dataclass
class OpSession:
    """Runs calls of the library at `library`; everything of one process is gone with it.

    `timeout` bounds the seconds of a call, start-up included, `memory` the address space of a process
    beside its tensors. Log lines below `log_level` do not come back. Raises UsageError for limits that
    are none.
    """

    library: str
    emulate: Emulate = Emulate.AUTO
    sysroot: str | None = None
    timeout: float = TIMEOUT
    memory: int = MEMORY
    threads: int = 1
    log_level: int = LOG_LEVEL
    runner: Runner = field(default_factory=Runner)

    def __post_init__(self) -> None:
        for name, value, most in (
            ("timeout", self.timeout, MOST_SECONDS),
            ("memory", self.memory, None),
            ("threads", self.threads, MOST_THREADS),
        ):
            if not value > 0 or (most is not None and value > most):
                span = "above 0" if most is None else f"above 0, at most {most:g}"
                raise UsageError(f"{name}={value}", hint=f"a number {span}")

    def run(self, call: Prepared) -> OpResult:
        """Make one call in a process of its own.

        Raises CannotRunError where it cannot run here, InputError for a library that cannot be read.
        """
        return next(self.run_many([call]))

    def run_many(self, calls: Iterable[Prepared]) -> Iterator[OpResult]:
        """Make calls one after the other, and give their results in this order; raises as `run` does.

        What `calls` raises comes after the results of those before.
        """
        source = iter(calls)
        waiting: list[Prepared] = []
        most = MOST_CALLS
        failure: Exception | None = None
        while True:
            if failure is None:
                try:
                    _fill(source, waiting)
                except Exception as error:  # whatever makes the calls may raise
                    failure = error
            if not waiting:
                if failure is not None:
                    raise failure
                return
            batch = _same_function(waiting)[:most]
            outcome = self.run_job(joined(self.library, batch, self.log_level))
            results = _results(batch, outcome, self.timeout)
            del waiting[: len(results)]
            is_lost = len(results) < len(batch)
            most = AFTER_A_LOSS if is_lost else min(most * AFTER_A_LOSS, MOST_CALLS)
            yield from results

    def run_job(self, job: Job) -> Outcome:
        """Run a job of this library with the limits of the session; raises as `run` does."""
        return self.runner.run(
            job,
            emulate=decide(library_machine(self.library), self.emulate),
            sysroot=self.sysroot,
            timeout=self.timeout,
            memory=self.memory,
            threads=self.threads,
        )


class Start(NamedTuple):
    """Where the regions and the calls of a prepared call begin in a job."""

    region: int
    call: int


def joined(library: str, batch: Sequence[Prepared], log_level: int = LOG_LEVEL) -> Job:
    """One job that makes the calls of a batch in their order."""
    relocations, calls = [], []
    for call, (region, _) in zip(batch, _starts(batch), strict=True):
        relocations += [_shifted(each, region) for each in call.relocations]
        calls += [_moved(each, region) for each in call.calls]
    return Job(
        library=library,
        function=batch[0].function,
        regions=tuple(chain.from_iterable(call.regions for call in batch)),
        relocations=tuple(relocations),
        calls=tuple(calls),
        log_level=log_level,
    )


def _shifted(relocation: Relocation, by: int) -> Relocation:
    region, offset, target, addend = relocation
    return Relocation(region + by, offset, None if target is None else target + by, addend)


def _moved(call: JobCall, by: int) -> JobCall:
    assert call.param_region is not None
    return call._replace(param_region=call.param_region + by)


def _starts(batch: Sequence[Prepared]) -> Iterator[Start]:
    region = call = 0
    for each in batch:
        yield Start(region, call)
        region += len(each.regions)
        call += len(each.calls)


def _fill(source: Iterator[Prepared], waiting: list[Prepared]) -> None:
    """Add more calls to those that wait, as long as they fit into a process with them."""
    regions = sum(len(call.regions) for call in waiting)
    size = sum(call.size for call in waiting)
    while regions < MOST_REGIONS and size < MOST_BYTES:
        call = next(source, None)
        if call is None:
            return
        waiting.append(call)
        regions += len(call.regions)
        size += call.size


def _same_function(waiting: Sequence[Prepared]) -> Sequence[Prepared]:
    """The calls of one function at the front: a process finds one."""
    function = waiting[0].function
    other = (number for number, call in enumerate(waiting) if call.function != function)
    return waiting[: next(other, len(waiting))]


def _results(batch: Sequence[Prepared], outcome: Outcome, timeout: float) -> list[OpResult]:
    """The results of the calls that were made: all, or those up to the one that ended the process.

    One that was on its way when time was up is made again, unless it had all of the time. Raises
    CannotRunError where the process ended before any call.
    """
    if outcome.stage < RunStage.FOUND:
        verdict = outcome.verdict(timeout)
        why = (verdict.what if verdict else "") + outcome.said
        hint = "; ".join(verdict.hints) or None if verdict else None
        raise CannotRunError("the process ended before any call", why=why, hint=hint)
    results: list[OpResult] = []
    for call, (region, number) in zip(batch, _starts(batch), strict=True):
        made = outcome.calls[number : number + len(call.calls)]
        is_lost = any(each.ret is None for each in made)
        if is_lost and results and outcome.cause is Cause.TIMEOUT:
            break
        results.append(
            read_result(call, outcome, first_region=region, first_call=number, timeout=timeout)
        )
        if is_lost:
            break
    return results
