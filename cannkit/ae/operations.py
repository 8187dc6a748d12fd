"""What can be asked of an engine, one after the other: tasks and the five other calls. Spec 05, AE-501."""

from __future__ import annotations

from typing import NamedTuple

from cannkit.ae.call import AeCall
from cannkit.ae.caller import CallEndedError, Verdict
from cannkit.ae.engine import AeEngine, BatchLoaded
from cannkit.ae.scheduler import Scheduled, execute
from cannkit.ae.task import Task
from cannkit.format.ae_status import AeStatus


class Ended(NamedTuple):
    """How a call ended: what the scheduler or the engine answered, or what ended its process.

    With a `verdict` the others tell how far it came. `seconds` is the child's time, None without one.
    """

    scheduled: Scheduled | None = None
    call: AeCall | None = None
    verdict: Verdict | None = None
    seconds: float | None = None


class StepEnd(NamedTuple):
    """How an operation of a script ended that calls nothing: its status, None where it has none."""

    status: AeStatus | None = None
    loaded: BatchLoaded = BatchLoaded(AeStatus.SUCCESS)
    verdict: Verdict | None = None


class Step(NamedTuple):
    """A line of a script: an operation, and what it takes."""

    op: str
    kernel_type: int | None = None
    names: tuple[str | None, ...] = ()
    task: Task | None = None
    is_cust_sd: bool | None = None


def run_task(task: Task, engine: AeEngine, *, by_scheduler: bool) -> Ended:
    """One task through scheduler and engine, or the engine alone; nowhere where its names are not known."""
    if task.unknown:
        return Ended()
    try:
        if task.event is None or not by_scheduler:
            return Ended(call=engine.call(task.event))
        return Ended(execute(task.event, engine))
    except CallEndedError as error:
        return Ended(error.scheduled, error.call, error.verdict)


def run_step(step: Step, engine: AeEngine) -> StepEnd:
    """An operation that is no task."""
    try:
        return _operate(step, engine)
    except CallEndedError as error:
        return StepEnd(verdict=error.verdict)


def _operate(step: Step, engine: AeEngine) -> StepEnd:
    name = step.names[0] if step.names else None
    kind = step.kernel_type or 0
    match step.op:
        case "close":
            return StepEnd(engine.close(kind, name))
        case "batch":
            loaded: BatchLoaded = engine.batch_load(kind, step.names)
            return StepEnd(loaded.status, loaded)
        case "addWhite":
            return StepEnd(engine.add_allowed(name))
        case "delWhite":
            engine.delete_allowed(name)
        case _:
            engine.clear()
    return StepEnd()
