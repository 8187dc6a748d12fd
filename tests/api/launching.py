"""Runtimes with kernels that can be launched, and bytes that go to a device."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cannkit.api.binary import BinaryHandle
from cannkit.api.function import FunctionHandle
from cannkit.api.runtime import Runtime
from cannkit.device.device import DeviceConfig
from cannkit.device.trace import EventLog, TaskEvent
from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.sqe import v100, v200
from tests.api.runtimes import kernels
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.programs import Function

Sqe = v100.KernelSqe | v100.MixSqe | v200.KernelSqe
MIX: Final = (
    Function("op_0_mix_aic", FuncType.MIX_AIC_MAIN, 0, 0x10, ratio=(1, 2), args=3),
    Function("op_0_mix_aiv", FuncType.MIX_AIC_MAIN, 0x10, 0x10, ratio=(1, 2), args=3),
)
VECTOR: Final = Function("vec_0", FuncType.AIV, 0, 0x10, args=8)
CUBE: Final = Function("cube_0", FuncType.AIC, 0, 0x10, args=3)
PLAIN: Final = Function("plain_0", FuncType.AIV, 0, 0x10)


class Bench(NamedTuple):
    """A runtime with one kernel of one binary, eight buffers on the device, and what it was told."""

    runtime: Runtime
    binary: BinaryHandle
    function: FunctionHandle
    buffers: list[int]
    log: EventLog

    @property
    def tasks(self) -> list[TaskEvent]:
        """What the device executed."""
        return [event for event in self.log if isinstance(event, TaskEvent)]

    def poke(self, address: int, data: bytes) -> None:
        """Change device memory behind the runtime's back."""
        self.runtime.devices[0].memory.write(address, data)


def bench(*functions: Function, soc: str = A2_SOC, config: DeviceConfig | None = None) -> Bench:
    found = functions or (VECTOR,)
    log = EventLog()
    runtime = Runtime(soc, config=config, trace=log)
    binary = runtime.load_from_data(kernels(*found))
    name = found[0].name.removesuffix("_mix_aic").removesuffix("_mix_aiv")
    buffers = [runtime.malloc(4096) for _ in range(8)]
    return Bench(runtime, binary, binary.get_function(name), buffers, log)


def decoded(raw: bytes, soc: str = A2_SOC) -> Any:
    if soc == A5_SOC:
        return v200.KernelSqe.decode(raw)
    is_mix = raw[8] & 7 == v100.FftsType.MIX
    return v100.MixSqe.decode(raw) if is_mix else v100.KernelSqe.decode(raw)


def simt_function(name: str = "simt_0", **extra: Any) -> Function:
    return Function(name, FuncType.AIV, 0, 0x10, vf_type=VfType.SIMT_VF, ub_size=1024, **extra)
