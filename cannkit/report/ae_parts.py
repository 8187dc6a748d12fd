"""The parts of a call of the AI CPU engine in documents: type, scheduler, function, child, logic kernel."""

from __future__ import annotations

from typing import Final, Self

from cannkit.ae.call import AeCall
from cannkit.ae.engine import SUPPORTED
from cannkit.ae.logic_kernels import LogicOutcome
from cannkit.ae.operations import Ended
from cannkit.ae.scheduler import SITE_NAMES, Response, Scheduled, Site
from cannkit.format.ae_event import kernel_type_name
from cannkit.format.ae_status import AeStatus, CustScheduleStatus, ScheduleStatus
from cannkit.report.base import U64, Address, document, printable

SAFE: Final = 1 << 53  # from here on a number is text: it outgrows a double


@document
class KernelTypeEntry:
    """The kernel type of the task; `supported`: a kernel lib serves it."""

    code: int
    name: str
    supported: bool

    @classmethod
    def of(cls, kernel_type: int) -> Self:
        """The entry of a number."""
        return cls(int(kernel_type), kernel_type_name(kernel_type), kernel_type in SUPPORTED)


@document
class ResponseEntry:
    """hwts_response_t: status 0 TASK_SUCC, 1 TASK_FAIL, and the result."""

    status: int
    status_name: str
    result: int

    @classmethod
    def of(cls, response: Response | None) -> Self | None:
        """The entry of a response; None for a task that gets none."""
        if response is None:
            return None
        return cls(int(response.status), response.status.name, response.result)


@document
class SchedulerEntry:
    """The site that took the task, the rule that sent it on, the scheduler's own code.

    `code` is null for a logic kernel that would run, which is not simulated, and where nothing was called.
    """

    site: int
    rule: str
    code: int | None
    name: str | None
    response: ResponseEntry | None
    site_name: str

    @classmethod
    def of(cls, scheduled: Scheduled) -> Self:
        """The entry of what a scheduler did."""
        code = scheduled.code
        return cls(
            int(scheduled.site),
            scheduled.rule,
            code,
            None if code is None else _code_name(scheduled, code),
            ResponseEntry.of(scheduled.response),
            SITE_NAMES[scheduled.site],
        )


@document
class CallEntry:
    """The function. `opname` is what GetOpname answers while it runs, null where nobody set it."""

    symbol: str
    address_found: bool
    signature: str | None
    opname: str | None
    provider: str | None
    is_global: bool

    @classmethod
    def of(cls, call: AeCall | None) -> Self | None:
        """The entry of a call; None where no function was looked for."""
        if call is None or call.symbol is None:
            return None
        return cls(
            printable(call.symbol),
            call.found is not None,
            call.signature.value if call.signature else None,
            None if call.op_name is None else printable(call.op_name),
            printable(call.found.provider) or None if call.found else None,
            call.is_global,
        )


@document
class ChildEntry:
    """The process that ran the library: how it ended, and in which stage of the call."""

    exit: int | None
    signal: int | None
    stage: str
    seconds: float
    output: str | None

    @classmethod
    def of(cls, ended: Ended) -> Self | None:
        """The entry of an end; None where nothing was called, though a library may have been loaded."""
        verdict = ended.verdict
        if verdict is not None:
            return cls(
                verdict.exit,
                verdict.signal,
                verdict.stage.value,
                verdict.seconds,
                printable(verdict.output) or None,
            )
        call = ended.call
        if ended.seconds is None or call is None or call.returned is None:
            return None
        return cls(None, None, "done", ended.seconds, printable(call.returned.output) or None)


@document
class LogicField:
    """A field of the argument of a logic kernel."""

    name: str
    value: int | U64 | Address | str


@document
class LogicEntry:
    """The logic kernel that a task without a library goes to; null fields for an unknown one."""

    name: str | None
    number: int | None
    source: str | None
    does: str | None
    argument: tuple[LogicField, ...] | None
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, outcome: LogicOutcome | None) -> Self | None:
        """The entry of what was found of it."""
        if outcome is None:
            return None
        kernel, argument = outcome.kernel, None
        if outcome.argument is not None:
            record = outcome.argument
            argument = tuple(
                LogicField(span.c_name, _field_value(record.value_of(name), span.is_address))
                for name, span in record.SPANS.items()
            )
        return cls(
            kernel.name if kernel else None,
            kernel.number if kernel else None,
            kernel.source if kernel else None,
            kernel.does if kernel else None,
            argument,
            tuple(map(printable, outcome.remarks)),
        )


def _code_name(scheduled: Scheduled, code: int) -> str:
    """The name of a code of the scheduler: its own, or the engine's, which it hands on."""
    if scheduled.call is not None:
        return AeStatus(code).c_name
    is_cust_sd = scheduled.site in (Site.CUST_TASK, Site.CUST_KFC)
    return (CustScheduleStatus(code) if is_cust_sd else ScheduleStatus(code)).c_name


def _field_value(value: int | bytes, is_address: bool) -> int | str:
    if isinstance(value, bytes):
        return value.hex()
    if is_address:
        return hex(value)
    return value if -SAFE < value < SAFE else str(value)
