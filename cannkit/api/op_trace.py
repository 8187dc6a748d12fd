"""OpTrace: a call of an operator through the whole simulated stack, from the program to the answer. Spec 07, OPR-1301.

The tensors lie in the memory of the simulated device. The AI CPU gets the entry, finds the library by its
path, and hands the block to the runner, which has the same memory at the same addresses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import monotonic
from typing import Final, NamedTuple

from cannkit.ae.ae_run import AeRun
from cannkit.ae.context import AeContext, unique_vf
from cannkit.ae.read_event import MOST_BYTES
from cannkit.ae.so_path import place, read_settings
from cannkit.api.ai_cpu import AiCpu
from cannkit.api.function import FunctionHandle
from cannkit.api.op_caller import OpCaller
from cannkit.api.runtime import Runtime
from cannkit.device.trace import AiCpuEvent, CopyKind, Event, EventLog, TaskEvent
from cannkit.errors import UsageError
from cannkit.format.cpu_kernel import CUST_TYPES
from cannkit.format.status import RtError
from cannkit.inputs.files import FileView, HostFiles
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.ops.call import EXT, PARAM, Prepared
from cannkit.ops.describe import Package
from cannkit.ops.description import Description
from cannkit.ops.result import CallEnd, OpResult, result_of
from cannkit.ops.runner import LogLine
from cannkit.ops.session import OpSession
from cannkit.runtime.launched import Launched
from cannkit.soc import DEFAULT_SOC

LINE: Final = 64
JSON_PATH: Final = "/op.json"
CUSTOM: Final = "CUSTAICPUKernel"


class OpTrace(NamedTuple):
    """A call through the stack as far as it came. `launched` is None where the runtime refused it.

    `program` is the JSON that was registered: of the package, or one of our own. `blocks` is what the engine
    tells of each block, `task` what the device tells of the entry, `ring` head and tail of the stream at
    submission, `addresses` where each region of the call lies on the device, but for the block. `error` is
    how it ended for the host, on the device where `is_fault`. `result` is None where no block was called.
    """

    runtime: Runtime
    program: str
    function: FunctionHandle
    launched: Launched | None
    ring: tuple[int, int]
    blocks: tuple[AiCpuEvent, ...]
    task: TaskEvent | None
    events: tuple[Event, ...]
    addresses: Mapping[int, int]
    so_path: str
    error: RtError | None
    is_fault: bool
    result: OpResult | None

    def __repr__(self) -> str:
        end = "completed" if self.error is None else str(self.error)
        return f"<OpTrace of {self.function.kernel.name}: {end}>"

    @property
    def run(self) -> AeRun | None:
        """The engine's account of the last block."""
        story = self.blocks[-1].story if self.blocks else None
        return story if isinstance(story, AeRun) else None


def trace_call(
    package: Package,
    description: Description,
    prepared: Prepared,
    session: OpSession,
    soc: str | None = None,
) -> OpTrace:
    """Register, load, launch and run a call on a simulated chip.

    Raises UsageError for an unknown chip and too large tensors, RtError where the program is refused,
    CannotRunError where the library cannot be run here; how the call itself ends is told.
    """
    if (size := sum(region.size for region in prepared.regions)) > MOST_BYTES:
        why = f"{size:,} bytes, at most {MOST_BYTES:,} are handed on"
        raise UsageError("the tensors of a call through the stack are too large", why=why)
    context = AeContext(vf=unique_vf(0))
    place_of_so = _OnePath()
    caller = OpCaller(session, prepared)
    ai_cpu = AiCpu(context, place_of_so, lambda: caller, extents=caller.extents, clock=monotonic)
    files, path = _program(package, description, prepared, session.library)
    log = EventLog()
    runtime = Runtime(soc or DEFAULT_SOC, files=files, trace=log, ai_cpu=ai_cpu)
    function = runtime.load_from_file(path, cpu_mode=0).get_function(prepared.op)
    place_of_so.path = _so_path(function, context)
    block = _placed(runtime, prepared, caller)
    launched, error, is_fault, ring = None, None, False, (0, 0)
    try:
        stream = runtime.default_stream
        launched = runtime.launch(function, len(prepared.calls), block)
        ring = stream.ring.head, stream.ring.tail
        is_fault = True
        runtime.synchronize()
        is_fault = False
    except RtError as refusal:
        error = refusal
    if caller.error is not None:
        raise caller.error
    return OpTrace(
        runtime,
        path,
        function,
        launched,
        ring,
        tuple(event for event in log if isinstance(event, AiCpuEvent)),
        next((event for event in reversed(log) if isinstance(event, TaskEvent)), None),
        tuple(log),
        caller.addresses,
        place_of_so.path,
        error,
        is_fault,
        _result(runtime, prepared, caller),
    )


class _OnePath:
    """A PathView with one library, where the engine looks first. Changes."""

    def __init__(self) -> None:
        self.path = ""

    def real_path(self, path: str) -> str | None:
        """See PathView."""
        return path if path == self.path else None

    def why_missing(self, path: str) -> str:
        """See PathView."""
        return "no such file"

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView: what it is, only the runner looks at."""
        return b"" if path == self.path else None


def _so_path(function: FunctionHandle, context: AeContext) -> str:
    """AE-603: where the engine looks first for the library of a registered function."""
    cpu = function.kernel.cpu
    assert cpu is not None
    custom = context._replace(is_cust_sd=cpu.kernel_type in CUST_TYPES)
    placement = place(cpu.kernel_type, cpu.kernel_so, read_settings(custom), custom)
    return (placement.directory or "") + cpu.kernel_so


def _program(
    package: Package, description: Description, prepared: Prepared, library: str
) -> tuple[FileView, str]:
    """The JSON that is registered: that of the package, or where it says something else one of our own."""
    info = description.info
    if package.json is not None and info is not None and info.function == prepared.function:
        return HostFiles(), package.json
    so_name = library.rpartition("/")[2]
    keys = (
        info.keys if info else {"opKernelLib": CUSTOM, "kernelSo": so_name, "userDefined": "True"}
    )
    op = {"opInfo": {**keys, "functionName": prepared.function}}
    return MemoryTree({JSON_PATH: json.dumps({prepared.op: op}).encode()}), JSON_PATH


def _placed(runtime: Runtime, prepared: Prepared, caller: OpCaller) -> bytes:
    """Put ext info, workspace and tensors into device memory; the block with their addresses.

    The workspace lies behind the ext info: the AI CPU is handed what the block points to.
    """
    addresses, regions, log = caller.addresses, prepared.regions, prepared.workspace
    ext_size = -(-len(prepared.ext_raw) // LINE) * LINE
    behind = 0 if log is None else regions[log].size
    addresses[EXT] = runtime.malloc(max(ext_size + behind, 1))
    caller.extents[addresses[EXT]] = ext_size + behind
    if log is not None:
        addresses[log] = addresses[EXT] + ext_size
    for number in sorted({each for each in prepared.places if each is not None}):
        region = regions[number]
        addresses[number] = runtime.malloc(max(region.size, 1))
        caller.extents[addresses[number]] = region.size
        if region.data is not None and len(region.data):
            data = region.data[0 : len(region.data)]
            runtime.memcpy(addresses[number], region.size, data, len(data), CopyKind.HOST_TO_DEVICE)
    block, ext = bytearray(prepared.block), bytearray(prepared.ext_raw)
    for each in prepared.relocations:
        assert each.target is not None
        value = (addresses[each.target] + each.addend).to_bytes(8, "little")
        (block if each.region == PARAM else ext)[each.offset : each.offset + 8] = value
    if ext:
        runtime.memcpy(addresses[EXT], len(ext), bytes(ext), len(ext), CopyKind.HOST_TO_DEVICE)
    return bytes(block)


def _result(runtime: Runtime, prepared: Prepared, caller: OpCaller) -> OpResult | None:
    """What came of the call, with what is in device memory now."""
    if not caller.outcomes:
        return None

    def region(number: int) -> memoryview:
        size = prepared.regions[number].size
        data = bytearray(size)
        if size:
            address = caller.addresses[number]
            runtime.memcpy(data, size, address, size, CopyKind.DEVICE_TO_HOST)
        return memoryview(data).toreadonly()

    runs = caller.outcomes
    lines = (line for run in runs for line in run.logs)
    end = CallEnd(
        region,
        tuple(run.calls[0].ret for run in runs),
        sum(run.calls[0].ns for run in runs) / 1e9,
        caller.verdict,
        tuple(LogLine(line.module, line.level, line.text) for line in lines),
        tuple(caller.overruns),
        runs[-1].emulated,
    )
    return result_of(prepared, end)
