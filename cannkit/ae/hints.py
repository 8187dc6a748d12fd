"""What to look at when a call went wrong, or may go wrong elsewhere. Spec 05, AE-1208."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.ae.call import AeCall
from cannkit.ae.caller import Signature
from cannkit.ae.engine import SUPPORTED
from cannkit.ae.event import AeEvent
from cannkit.ae.kernel_libs import WITH_BLOCK
from cannkit.ae.logic_kernels import near
from cannkit.ae.path_hints import CUST_HINT, resolution_hints
from cannkit.ae.scheduler import Route, Scheduled
from cannkit.errors import brief
from cannkit.format.ae_status import KFC_PASSTHROUGH, AeStatus, ScheduleStatus

TYPES_HINT: Final = "valid kernel types are 1 (fwk), 2 (aicpu), 4 (custom), 5 (kfc), 6 (custom-kfc)"
BLOCK_HINT: Final = (
    f"{WITH_BLOCK} gets two arguments, the second is {{blockNum, blockId}}: one that takes a single "
    "argument works by luck, and one with two under another name reads garbage"
)
BAND_HINT: Final = "1000 to 1099 belong to KFC (collective communication): return another code"
OP_NAME_HINT: Final = (
    "KFC sets no name of the operator: `null` in a trace does not mean that it was not run"
)
PLAIN: Final = (AeStatus.TASK_FAIL, AeStatus.TASK_WAIT)  # codes that operators are meant to return
AMBIGUOUS: Final = frozenset(AeStatus) - {AeStatus.SUCCESS, *PLAIN}


def call_hints(event: AeEvent, call: AeCall) -> Iterator[str]:
    """What to know of a call of the engine."""
    status = -1 if call.status is None else call.status
    if status == AeStatus.BAD_PARAM and event.kernel_type not in SUPPORTED:
        yield TYPES_HINT
    if call.resolution is not None:
        yield from resolution_hints(event.kernel_type, call.resolution)
    if status == AeStatus.GET_KERNEL_NAME_FAILED and call.returned is None and not call.notes:
        yield 'the library does not export it: is extern "C" missing, or is it hidden?'
    if call.lib == "kfc":
        if status == AeStatus.INNER_ERROR and call.returned is None:
            yield "the function is neither in that library nor visible in any other"
        yield OP_NAME_HINT
    if call.signature is Signature.BLOCK:
        yield BLOCK_HINT
    if call.found is not None and call.found.provider and not call.is_global:
        yield f"{brief(call.symbol or '')} is not the library's own: {call.found.provider} has it"
    if call.returned is not None and call.lib != "kfc":
        if status in KFC_PASSTHROUGH:
            yield BAND_HINT
        is_wait = call.lib == "fwk" and status == AeStatus.TASK_WAIT  # T31
        if (status in AMBIGUOUS or is_wait) and call.returned.code == status:
            yield f"the function returned {int(status)} itself, which reads as {AeStatus(status).c_name}"


def scheduled_hints(event: AeEvent, scheduled: Scheduled) -> Iterator[str]:
    """What to know of a task that came through the scheduler."""
    if scheduled.route is Route.REJECTED:
        yield CUST_HINT
    if scheduled.route is Route.LOGIC:
        yield "kernelSo is 0: the scheduler runs it itself, as one of 21 logic kernels, no library is asked"
        if scheduled.code == ScheduleStatus.ERROR_NOT_FOUND_LOGICAL_TASK:
            names = near(event.func_name or "")
            yield "this is not a problem of the library" + (
                f"; near: {', '.join(names)}" if names else ""
            )
    if scheduled.call is not None:
        yield from call_hints(event, scheduled.call)
    response, code = scheduled.response, scheduled.code
    if response is not None and code is not None and response.result != code:
        yield f"the scheduler knows no code {code}: it answers {response.result}, which the host's log has"
