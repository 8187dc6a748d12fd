"""AeExecutor: the AI CPU of a simulated device, its two processes and the engine in each. Spec 05, section 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cannkit.ae.ae_run import AeRun
from cannkit.ae.call import AeCall, Note
from cannkit.ae.caller import CallEndedError, Caller, Verdict
from cannkit.ae.context import AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import NULL, AeEvent, Segment
from cannkit.ae.read_event import AicpuSqe, read_event
from cannkit.ae.scheduler import execute, refused_by_parser
from cannkit.ae.so_path import CUST_TYPES
from cannkit.device.executor import ErrorType, Outcome, Work
from cannkit.device.hardware import Hardware
from cannkit.device.memory import DeviceMemory
from cannkit.device.task_error import aicpu_code
from cannkit.device.trace import AiCpuEvent, no_trace
from cannkit.errors import CannkitError, brief
from cannkit.format.ae_status import ResponseStatus, RunMode
from cannkit.inputs.files import PathView
from cannkit.soc import Soc

PIECE: Final = 4096  # bytes that are compared, and written back where they differ
NO_BLOCK: Final = "not executed: the entry has no block"


class AeExecutor:
    """Runs AI CPU tasks of one device in the processes aicpusd and cust-sd. Changes.

    `context` is that of either process, `files` where they look, `make_caller` makes what calls
    functions, once for each. Without files only the search is told. Custom kernels go to cust-sd but in
    thread mode; `is_cust_sd` sends every task to one of them. A process that foreign code has ended stays
    so. Every block is told to the trace of the device. `extents` are the bytes in use of allocations that
    are larger, by their addresses: what is written behind them is an overrun. `clock` times the calls.
    """

    def __init__(
        self,
        hardware: Hardware,
        context: AeContext,
        files: PathView | None,
        make_caller: Callable[[], Caller],
        *,
        is_cust_sd: bool | None = None,
        extents: Mapping[int, int] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._hardware = hardware
        self._context = context
        self._files = files
        self._make_caller = make_caller
        self._is_cust_sd = is_cust_sd
        self._extents = {} if extents is None else extents
        self._clock = clock
        self._engines: dict[bool, AeEngine] = {}
        self._ended: dict[bool, Verdict] = {}

    def execute(self, work: Work) -> Outcome:
        """See Executor: one block after the other, as far as the first that fails. OPR-902."""
        sqe, outcome = work.sqe, Outcome(note=NO_BLOCK)
        assert isinstance(sqe, AicpuSqe)
        for block in range(sqe.block_dim):
            run = self._run(sqe, work.memory, block)
            self._tell(work, sqe.block_dim, run, block)
            outcome = outcome_of(run, work.soc)
            if outcome.error_type and sqe.block_dim > 1:
                return outcome._replace(note=f"{_place(block, sqe.block_dim)}: {outcome.note}")
            if outcome.error_type or not run.is_executed:
                break
        return outcome

    def _run(self, sqe: AicpuSqe, memory: DeviceMemory, block: int) -> AeRun:
        kind = sqe.kernel_type
        is_cust_sd = self._goes_to_cust_sd(kind)
        run = AeRun(AeEvent(kind), is_cust_sd)
        refused = refused_by_parser(kind, is_cust_sd=is_cust_sd)
        if refused is not None:
            return run._replace(refused=refused)
        ended = self._ended.get(is_cust_sd)
        began = self._now()
        try:
            event, left_out = read_event(sqe, memory, block, self._extents)
            notes = tuple(Note("AE-105", f"not handed on: {each}") for each in left_out)
            run = run._replace(event=event._replace(argument=NULL), notes=notes)
            if ended is not None:
                return run._replace(why=f"{run.process} has ended before: {ended.what}")
            scheduled = execute(event, self._engine(is_cust_sd))
            _write_back(memory, event.argument.segments, scheduled.call)
        except CallEndedError as error:
            self._ended[is_cust_sd] = error.verdict
            output = error.verdict.output
            return run._replace(verdict=error.verdict, scheduled=error.scheduled, output=output)
        except CannkitError as error:
            return run._replace(why=str(error))
        except Exception as error:  # of a Python function in place of a library
            text = brief(" ".join(str(error).split()))
            return run._replace(why=f"{run.function} raised {type(error).__name__}: {text}")
        call = scheduled.call
        if call is None:
            return run._replace(scheduled=scheduled)
        notes += scheduled.notes + (call.notes if call.is_known else ())
        returned = call.returned
        if returned is None:
            return run._replace(scheduled=scheduled, notes=notes)
        notes += tuple(Note("AE-1205", each) for each in returned.overruns)
        call = call._replace(returned=returned._replace(segments=()))  # nobody needs them
        return run._replace(
            scheduled=scheduled._replace(call=call),
            notes=notes,
            overruns=returned.overruns,
            output=returned.output,
            seconds=None if began is None else (self._now() or began) - began,
        )

    def _now(self) -> float | None:
        return None if self._clock is None else self._clock()

    def _goes_to_cust_sd(self, kind: int) -> bool:
        """AE-203: the types that aicpusd does not take; in thread mode there is no other process."""
        if self._is_cust_sd is not None:
            return self._is_cust_sd
        return kind in CUST_TYPES and self._context.run_mode != RunMode.THREAD

    def _engine(self, is_cust_sd: bool) -> AeEngine:
        engine = self._engines.get(is_cust_sd)
        if engine is None:
            context = self._context._replace(is_cust_sd=is_cust_sd)
            engine = AeEngine(context, self._files, self._make_caller())
            self._engines[is_cust_sd] = engine
        return engine

    def _tell(self, work: Work, blocks: int, run: AeRun, block: int) -> None:
        hardware = self._hardware
        if hardware.trace is no_trace:
            return
        text = "; ".join((run.text, *run.paths))
        place = hardware.id, work.queue, work.position, block, blocks
        hardware.trace(AiCpuEvent(*place, run.process, text, run))


def outcome_of(run: AeRun, soc: Soc) -> Outcome:
    """LCH-69, ERR-6: a task that failed has bit 0 of errorType, and the code of the AI CPU as errorCode.

    One that took too long has the bit of a timeout. One that wrote beside its arguments failed, whatever
    it returned: on a device that memory belongs to somebody.
    """
    response = run.response
    is_good = not run.is_executed or (response and response.status == ResponseStatus.TASK_SUCC)
    if is_good and not run.overruns:
        return Outcome(note=run.text)
    if run.verdict is not None and run.verdict.is_timeout:
        return Outcome(ErrorType.TIMEOUT, 0, run.text)
    code = aicpu_code(response.result, soc) if response else 0
    return Outcome(ErrorType.EXCEPTION, code, run.text)


def _place(block: int, blocks: int) -> str:
    return f"block {block} of {blocks} (counted from 0)"


def _write_back(memory: DeviceMemory, segments: tuple[Segment, ...], call: AeCall | None) -> None:
    """What the function has changed, and nothing else. Raises DeviceFaultError where it may not be."""
    after = call.returned.segments if call is not None and call.returned is not None else ()
    for segment, data in zip(segments, after, strict=False):  # there are none without a call
        if data == segment.data:
            continue
        for at in range(0, len(segment.data), PIECE):
            piece = data[at : at + PIECE]
            if piece != segment.data[at : at + PIECE]:
                memory.write(segment.address + at, piece, by_device=True)
