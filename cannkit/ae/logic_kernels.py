"""Logic kernels: what the scheduler runs itself for tasks without a library. Spec 05, AE-401 to AE-403."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from cannkit.ae import logic_args as args
from cannkit.ae.context import byte_length, cut_bytes
from cannkit.errors import brief
from cannkit.format.ae_event import AeRecord
from cannkit.format.ae_status import ScheduleStatus
from cannkit.format.ae_structs import BatchLoadOpFromBufArgs, LoadOpFromBufArgs

LONGEST_NAME: Final = 30  # AE-401: bytes that are copied, and so compared
LENGTH: Final = 4  # bytes in front of a head that say how long all of it is


class Limit(NamedTuple):
    """What a field has to be; `status` where the chapter tells the code of another value."""

    field: str
    allowed: range
    status: ScheduleStatus | None = None


class LogicKernel(NamedTuple):
    """A row of AE-402. `length` is what the head must say; `checks_null`: a null paramBase is seen."""

    number: int
    name: str
    file: str
    argument: type[AeRecord]
    does: str
    sender: str | None = None
    length: int | None = None
    checks_null: bool = True
    limits: tuple[Limit, ...] = ()

    @property
    def source(self) -> str:
        """The file that has it."""
        return f"hwts_kernel_{self.file}.cpp"


class LogicOutcome(NamedTuple):
    """What becomes of a task without a library. `status` None: it would run, which is not simulated."""

    status: ScheduleStatus | None
    kernel: LogicKernel | None = None
    argument: AeRecord | None = None
    remarks: tuple[str, ...] = ()


BAD_PARAMETER: Final = ScheduleStatus.ERROR_PARAMETER_NOT_VALID
FIRST_TYPE: Final = (Limit("msg_type", range(1)),)
MAGIC: Final = (Limit("magic", range(0xABCD, 0xABCE)),)
TWO_SCHEDULERS: Final = (Limit("ts_id", range(2)),)
TARGETS: Final = (Limit("target", range(2), BAD_PARAMETER),)
LIBRARIES: Final = (Limit("so_num", range(1, 1025)),)
CONFIG: Final = args.ModelConfigArgs.SIZE
REDEPLOY: Final = args.ReDeployConfig

# fmt: off
LOGIC_KERNELS: Final = (
    LogicKernel(1, "endGraph", "model_control", args.ModelArgs,
                "ends the run of a graph and wakes the stream that waits for it", "model feature"),
    LogicKernel(2, "recordNotify", "model_control", args.NotifyArgs, "records a notify and wakes the stream that waits for it"),
    LogicKernel(3, "activeEntryStream", "model_control", args.StreamArgs, "sets a stream of a graph to work", "model feature"),
    LogicKernel(4, "AICPUModelStop", "model_control", REDEPLOY, "stops graphs; one that fails: 1", checks_null=False),
    LogicKernel(5, "AICPUModelClearInputAndRestart", "model_control", REDEPLOY,
                "empties the input queues of graphs and starts them again; one that fails: 1", checks_null=False),
    LogicKernel(6, "AicpuCfgExtInfo", "model_process", args.AicpuExtendInfo,
                "keeps which graph of the graph engine a graph of the runtime is", "model feature", limits=FIRST_TYPE),
    LogicKernel(7, "AicpuModelConfig", "model_process", args.ModelConfigArgs,
                "keeps queues and fault handling of a graph, listens to the queues", length=CONFIG),
    LogicKernel(8, "AicpuModelShapeConfig", "model_process", args.ModelConfigArgs, "keeps the tensors of a graph", length=CONFIG),
    LogicKernel(9, "AicpuModelEschedPriority", "model_process", args.PriorityArgs,
                "sets priorities of process and events", length=args.PriorityArgs.SIZE, limits=MAGIC),
    LogicKernel(10, "CheckKernelSupported", "model_process", args.CheckKernelSupportedConfig,
                "writes whether there is a kernel: of these after tsKernel:, else of those in graphs", "aicpu_timeout",
                checks_null=False),
    LogicKernel(11, "ProcessDataException", "model_process", args.DataFlowExceptionNotify,
                "marks or ends a data exception of graphs"),
    LogicKernel(12, "CfgLogAddr", "dfx", args.AicpuConfigMsg, "sets the buffer of the error log; always 0",
                "device/aicpu_err_msg.cc", limits=TWO_SCHEDULERS),
    LogicKernel(13, "DumpDataInfo", "dfx", args.DumpArgs, "dumps data of operators of unknown shape", "adump",
                length=args.DumpArgs.SIZE),
    LogicKernel(14, "SetAicpuDfx", "dfx", args.AicpuDfxInfo,
                "keeps an address for tools, or sends it to cust-sd and waits up to 5 s", limits=TARGETS),
    LogicKernel(15, "loadOpFromBuf", "cust_so", LoadOpFromBufArgs, "writes a custom library, starts or tells cust-sd"),
    LogicKernel(16, "batchLoadsoFrombuf", "cust_so", BatchLoadOpFromBufArgs,
                "writes custom libraries, starts or tells cust-sd", "kernel/program.cc, one at a time", limits=LIBRARIES),
    LogicKernel(17, "deleteCustOp", "cust_so", BatchLoadOpFromBufArgs,
                "removes custom libraries, and their folder when it is empty", "kernel/program.cc, one at a time",
                limits=LIBRARIES),
    LogicKernel(18, "CreateQueue", "queue", args.CreateQueueArgs,
                "makes a queue and listens to it; a group of buffers first where there is none",
                length=args.CreateQueueArgs.SIZE),
    LogicKernel(19, "DestroyQueue", "queue", args.DestroyQueueArgs, "removes a queue", length=args.DestroyQueueArgs.SIZE),
    LogicKernel(20, "SomaMemMng", "soma", args.SomaMemMng, "takes memory of a pool or gives it back; failure: 1", "soma API",
                checks_null=False),
    LogicKernel(21, "CloseAicpuMonitor", "close_monitor", args.MonitorArgs,
                "turns the watch over the time of operators off or on", "aicpu_timeout, when tsKernel:CloseAicpuMonitor is supported"),
)
# fmt: on
BY_NAME: Final = {kernel.name: kernel for kernel in LOGIC_KERNELS}


def find(name: str) -> LogicKernel | None:
    """The kernel of a name, of which no more than 30 bytes count. AE-401."""
    return BY_NAME.get(cut_bytes(name, LONGEST_NAME))


def near(name: str) -> tuple[str, ...]:
    """Names that are most like one that is none."""
    from difflib import get_close_matches

    known = {name.lower(): name for name in BY_NAME}
    close = get_close_matches(cut_bytes(name, LONGEST_NAME).lower(), known, n=3)
    return tuple(known[match] for match in close)


def judge(name: str | None, param: bytes | None, *, is_message_queue: bool = False) -> LogicOutcome:
    """What a task without a library comes to. `param` is what lies at paramBase, None for null."""
    if name is None:
        return LogicOutcome(BAD_PARAMETER, remarks=("kernelName is null",))
    kernel = find(name)
    if kernel is None:
        return LogicOutcome(
            ScheduleStatus.ERROR_NOT_FOUND_LOGICAL_TASK, remarks=tuple(_unknown(name))
        )
    cut = tuple(_cut(name))
    if is_message_queue and kernel.file == "cust_so":  # AE-402, rows 15 to 17
        remark = f"{kernel.name} does not run in message-queue mode"
        return LogicOutcome(ScheduleStatus.ERROR_INNER_ERROR, kernel, None, (*cut, remark))
    if param is None:
        remark = "paramBase is null"
        if not kernel.checks_null:
            remark += ", which the original does not check: it crashes"
        return LogicOutcome(BAD_PARAMETER, kernel, None, (*cut, remark))
    size = kernel.argument.SIZE
    argument = kernel.argument.decode(param[:size]) if len(param) >= size else None
    faults = tuple(_faults(kernel, param, argument))
    status = next((fault.status for fault in faults if fault.status is not None), None)
    return LogicOutcome(status, kernel, argument, (*cut, *(fault.remark for fault in faults)))


class _Fault(NamedTuple):
    """What is wrong with an argument, and the code where the chapter tells it."""

    remark: str
    status: ScheduleStatus | None = None


def _faults(kernel: LogicKernel, param: bytes, argument: AeRecord | None) -> Iterator[_Fault]:
    size = kernel.argument.SIZE
    if argument is None:
        code = None if kernel.length is None else BAD_PARAMETER
        yield _Fault(f"paramBase has {len(param)} bytes, {kernel.name} reads {size}", code)
        return
    if len(param) > size:
        yield _Fault(f"paramBase has {len(param)} bytes, {kernel.name} reads {size} of them")
    stated = int.from_bytes(param[:LENGTH], "little")
    if kernel.length is not None and stated != kernel.length:
        yield _Fault(f"length is {stated}, must be {kernel.length}", BAD_PARAMETER)
    for limit in kernel.limits:
        value: int = getattr(argument, limit.field)
        if value not in limit.allowed:
            must = f"must be {_allowed(limit.allowed)}"
            yield _Fault(f"{limit.field} is {value}, {must}", limit.status)


def _allowed(values: range) -> str:
    first, last = values.start, values.stop - 1
    return str(first) if first == last else f"{first} to {last}"


def _cut(name: str) -> Iterator[str]:
    """Q-5: silently in the original."""
    if byte_length(name) > LONGEST_NAME:
        yield f"only the first {LONGEST_NAME} bytes of {brief(name)!r} are compared"


def _unknown(name: str) -> Iterator[str]:
    yield f"no logic kernel is called {brief(name)!r}"
    yield from _cut(name)
    if close := near(name):
        yield f"the nearest: {', '.join(close)}"
