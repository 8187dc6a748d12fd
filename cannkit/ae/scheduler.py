"""The scheduler around the engine: gates before a call, judgement and response after it. Spec 05, section 3."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from cannkit.ae.call import AeCall, Note
from cannkit.ae.caller import CallEndedError
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import AeEvent, Argument
from cannkit.ae.logic_kernels import LogicOutcome, judge
from cannkit.format.ae_status import (
    AeStatus,
    CustScheduleStatus,
    ResponseStatus,
    RunMode,
    ScheduleStatus,
)
from cannkit.format.cpu_kernel import LOGIC_TYPES, CpuKernelType

SPECIAL: Final = (AeStatus.END_OF_SEQUENCE, AeStatus.TASK_ABORT, AeStatus.TASK_WAIT)  # AE-304


class Site(IntEnum):
    """AE-305: the places that call the engine."""

    TASK = 1
    KFC = 2
    MODEL_STREAM = 3
    CUST_TASK = 4
    CUST_KFC = 5


SITE_NAMES: Final[Mapping[Site, str]] = {
    Site.TASK: "ExecuteTsKernelTask (aicpusd)",
    Site.KFC: "ExecuteHWTSKFCEventTask (aicpusd)",
    Site.MODEL_STREAM: "AicpuStream::ExecuteTask (aicpusd)",
    Site.CUST_TASK: "CustomOpExecutor::ExecuteKernel (cust-sd)",
    Site.CUST_KFC: "ExecuteHWTSKFCEventTask (cust-sd)",
}
PARSED: Final[Mapping[bool, tuple[int, ...]]] = {  # AE-203: types that the parser takes
    False: (0, 1, 2, 4, 5),
    True: (4, 6),
}


class Route(StrEnum):
    """Where a task went."""

    LOGIC = "logic"
    ENGINE = "engine"
    REJECTED = "rejected"


class LogClass(StrEnum):
    """How the scheduler logs the end of a task; the response does not depend on it (Q-12)."""

    OK = "ok"
    SPECIAL = "special"
    ERROR = "error"


class Response(NamedTuple):
    """AE-306, hwts_response_t: what goes back to the task scheduler."""

    status: ResponseStatus
    result: int


class Scheduled(NamedTuple):
    """What became of a task: which rule sent it where, and the code that the scheduler answers.

    `code` and `response` are None for a logic kernel, which is not run, for a function that was not
    called, and for one that ended its process. `call` is there where the engine was asked, `logic` where it was not.
    """

    site: Site
    rule: str
    route: Route
    code: int | None
    log: LogClass
    response: Response | None
    call: AeCall | None = None
    logic: LogicOutcome | None = None
    notes: tuple[Note, ...] = ()


def site_of(kernel_type: int, *, is_cust_sd: bool) -> Site:
    """AE-302: which site a task of this type comes through."""
    if is_cust_sd:
        return Site.CUST_KFC if kernel_type == CpuKernelType.CUSTOM_KFC else Site.CUST_TASK
    return Site.KFC if kernel_type == CpuKernelType.AICPU_KFC else Site.TASK


def refused_by_parser(kernel_type: int, *, is_cust_sd: bool) -> int | None:
    """AE-301: the code of a type that the parser does not take, None for one that it does."""
    if kernel_type in PARSED[is_cust_sd]:
        return None
    return CustScheduleStatus.ERROR_DRV_ERR if is_cust_sd else ScheduleStatus.ERROR_DRV_ERR


def execute(event: AeEvent, engine: AeEngine) -> Scheduled:
    """AE-302, AE-303: a parsed task to its end. Raises CallEndedError."""
    context = engine.context
    kind = event.kernel_type
    site = site_of(kind, is_cust_sd=context.is_cust_sd)
    notes = _parser_notes(kind, is_cust_sd=context.is_cust_sd)
    if site is Site.TASK:
        if kind in LOGIC_TYPES and event.so_name is None:
            return _logic(event)
        if kind == CpuKernelType.AICPU_CUSTOM and context.run_mode != RunMode.THREAD:
            code = ScheduleStatus.ERROR_INNER_ERROR
            response = respond(code, is_cust_sd=False)
            return Scheduled(site, "AE-303.2", Route.REJECTED, code, LogClass.ERROR, response)
    rule = "AE-303.4" if site is Site.TASK else f"AE-305 #{site.value}"
    try:
        call = engine.call(event)
    except CallEndedError as ended:
        route, log = Route.ENGINE, LogClass.ERROR
        ended.scheduled = Scheduled(site, rule, route, None, log, None, ended.call, notes=notes)
        raise
    if site in (Site.TASK, Site.CUST_TASK):
        engine.session.op_name = None  # AE-304
    status = call.status
    if status is None or not call.is_known:
        return Scheduled(site, rule, Route.ENGINE, None, LogClass.OK, None, call, notes=notes)
    log, response = classify(status, site), respond(status, is_cust_sd=context.is_cust_sd)
    return Scheduled(site, rule, Route.ENGINE, status, log, response, call, notes=notes)


def classify(code: int, site: Site) -> LogClass:
    """AE-304, AE-305: the "ok" sets of the sites. Sites 2 and 5 log nothing: they count as site 1."""
    if code == 0:
        return LogClass.OK
    if site in (Site.MODEL_STREAM, Site.CUST_TASK):
        return LogClass.ERROR
    return LogClass.SPECIAL if code in SPECIAL else LogClass.ERROR


def respond(code: int, *, is_cust_sd: bool) -> Response:
    """AE-306: anything but 0 is a failed task."""
    status = ResponseStatus.TASK_FAIL if code else ResponseStatus.TASK_SUCC
    return Response(status, transform(code, is_cust_sd=is_cust_sd))


def transform(code: int, *, is_cust_sd: bool) -> int:
    """AE-207, TransformInnerErrCode: what is out of range is an inner error."""
    kind = CustScheduleStatus if is_cust_sd else ScheduleStatus
    return kind.ERROR_INNER_ERROR if not 0 <= code <= kind.ERROR_RESERVED else code


def parameters(argument: Argument) -> bytes | None:
    """The bytes at the address of an argument; None for null, empty where nothing is known of them."""
    if not argument.address:
        return None
    for segment in argument.segments:
        if segment.address <= argument.address < segment.address + len(segment.data):
            return segment.data[argument.address - segment.address :]
    return b""


def _logic(event: AeEvent) -> Scheduled:
    """AE-303.1: no engine, and nothing after it."""
    outcome = judge(event.func_name, parameters(event.argument))
    code = outcome.status
    log = LogClass.ERROR if code else LogClass.OK
    response = None if code is None else respond(code, is_cust_sd=False)
    return Scheduled(Site.TASK, "AE-303.1", Route.LOGIC, code, log, response, logic=outcome)


def _parser_notes(kernel_type: int, *, is_cust_sd: bool) -> tuple[Note, ...]:
    """Q-13: what would have happened to the task before."""
    code = refused_by_parser(kernel_type, is_cust_sd=is_cust_sd)
    if code is None:
        return ()
    process = "cust-sd" if is_cust_sd else "aicpusd"
    text = (
        f"the parser of {process} refuses type {kernel_type} before ({code}), and the host gets no "
        "answer in interrupt mode"
    )
    return (Note("Q-13", text),)
