"""AeRun: one block on the AI CPU and how it went, in words. Spec 05, sections 3 and 11."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.ae.call import AeCall, Note
from cannkit.ae.caller import Verdict
from cannkit.ae.event import AeEvent
from cannkit.ae.scheduler import Response, Scheduled
from cannkit.errors import brief
from cannkit.format.ae_status import AeStatus, CustScheduleStatus, ResponseStatus, ScheduleStatus

NOT_KNOWN: Final = "not executed: where the library lies is not known (--root DIR looks it up)"
MOST_NOTES: Final = 64  # of all blocks together
MOST_OUTPUT: Final = 1 << 16  # characters
UNANSWERED: Final = "the original answers nothing in interrupt mode, and the host waits until its time is over (Q-13)"


class AeRun(NamedTuple):
    """One block, and all that is known of how it went. The event has no memory any more.

    `scheduled` is None where the parser refused the task (`refused` is its code), or nothing can be said
    but `why` it failed. Where the process ended (`verdict`), it tells how far the task came. `overruns`
    tells of memory beside the arguments that was written, `output` is what the function printed, `seconds`
    how long it took, None where nobody looked at a clock.
    """

    event: AeEvent
    is_cust_sd: bool
    scheduled: Scheduled | None = None
    refused: int | None = None
    verdict: Verdict | None = None
    why: str = ""
    notes: tuple[Note, ...] = ()
    overruns: tuple[str, ...] = ()
    output: str = ""
    seconds: float | None = None

    def after(self, earlier: AeRun) -> AeRun:
        """The same, with what the blocks before it had to say: notes, output and seconds of all."""
        notes = tuple(dict.fromkeys((*earlier.notes, *self.notes)))[:MOST_NOTES]
        output = (earlier.output + self.output)[:MOST_OUTPUT]
        seconds = self.seconds
        if seconds is not None and earlier.seconds is not None:
            seconds += earlier.seconds
        return self._replace(notes=notes, output=output, seconds=seconds)

    @property
    def process(self) -> str:
        """The process it ran in."""
        return "cust-sd" if self.is_cust_sd else "aicpusd"

    @property
    def call(self) -> AeCall | None:
        """The call of the engine, None where it was not asked."""
        return self.scheduled.call if self.scheduled else None

    @property
    def is_executed(self) -> bool:
        """Whether the task was worked off, well or not."""
        if self.verdict is not None or self.scheduled is None:
            return True
        return self.scheduled.code is not None

    @property
    def response(self) -> Response | None:
        """What the task scheduler gets, None where there is no answer."""
        if self.refused is not None:
            return Response(ResponseStatus.TASK_FAIL, self.refused)
        return self.scheduled.response if self.scheduled else None

    @property
    def text(self) -> str:
        """How it went, in a line."""
        text = self._end()
        if not self.overruns:
            return text
        more = f" and {len(self.overruns) - 1} more" if len(self.overruns) > 1 else ""
        return f"{text}, but {self.overruns[0]}{more}"

    def _end(self) -> str:
        if self.refused is not None:
            kind = CustScheduleStatus if self.is_cust_sd else ScheduleStatus
            refused = (
                f"the parser of {self.process} refuses kernel type {int(self.event.kernel_type)}"
            )
            return f"{refused}: {self.refused} {kind(self.refused).name}; {UNANSWERED}"
        if self.verdict is not None:
            return f"{self.function}: {self.verdict.what}"
        if self.scheduled is None:
            return self.why
        if self.scheduled.logic is not None:
            return _logic(self.scheduled, self.event)
        if self.scheduled.call is None:  # AE-303.2
            code = ScheduleStatus(self.scheduled.code or 0)
            return f"{int(code)} {code.name}: custom kernels run in cust-sd or in thread mode"
        return self._called(self.scheduled.call)

    @property
    def function(self) -> str:
        """What was to be called."""
        call = self.call
        symbol = (call.symbol if call else None) or self.event.func_name or "no function"
        found = call.resolution if call else None
        so_name = (found.so_name if found else None) or self.event.so_name or "no library"
        return f"{brief(symbol)} of {brief(so_name)}"

    def _called(self, call: AeCall) -> str:
        if not call.is_known:
            return NOT_KNOWN
        if call.status is None:
            return f"not executed: {self.function} is there, and is not called"
        ended = _not_called(call, self.function)
        if call.returned is not None:
            ended = f"{self.function} returned {call.returned.code}"
            if not call.status and not call.returned.code:
                return ended
        line = f"AE {int(call.status)} {call.status.name}: {ended}"
        response = self.response
        if response is not None and response.result != call.status:  # AE-207
            line += f"; answered as {response.result}"
        return line

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that were asked for, in order, and what came of it."""
        if self.call is None or self.call.resolution is None:
            return ()
        return tuple(
            f"{each.path}: {each.why or ('not looked up' if each.exists is None else 'loaded')}"
            for each in self.call.resolution.attempts
        )


def _not_called(call: AeCall, function: str) -> str:
    """Why there was no call."""
    resolution = call.resolution
    if call.status == AeStatus.OPEN_SO_FAILED and resolution is not None:
        tried = (*(each.why for each in resolution.skipped), *(a.why for a in resolution.attempts))
        reasons = dict.fromkeys(filter(None, (resolution.why, *tried)))
        return f"{brief(resolution.so_name)} is not loaded: {'; '.join(reasons)}"
    reasons = dict.fromkeys(note.text for note in call.notes)
    if call.status in (AeStatus.GET_KERNEL_NAME_FAILED, AeStatus.INNER_ERROR) and call.symbol:
        return "; ".join((f"there is no {function}", *reasons))
    return "; ".join(reasons) or "nothing was called"


def _logic(scheduled: Scheduled, event: AeEvent) -> str:
    """A task without a library. AE-403: those that would do something are not run."""
    assert scheduled.logic is not None
    code, logic = scheduled.code, scheduled.logic
    name = brief(event.func_name or "no name")
    if code is None:
        does = logic.kernel.does if logic.kernel else ""
        return f"not executed: logic kernel {name}, which {does}"
    line = f"{int(code)} {ScheduleStatus(code).name}: logic kernel {name}"
    return ": ".join(filter(None, (line, "; ".join(logic.remarks))))
