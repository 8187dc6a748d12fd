"""A started device with code, an argument block and a context, and entries that fit it."""

from __future__ import annotations

from typing import Any, Final

from cannkit.device.code_map import FunctionFacts
from cannkit.device.device import Device, DeviceConfig
from cannkit.device.hardware import Completion
from cannkit.device.memory import SystemSlot
from cannkit.device.trace import EventLog, Severity, TaskEvent, Trace, no_trace
from cannkit.format.bits import Record
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.sqe import v100, v200
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC

SOCS: Final = (A2_SOC, A5_SOC)
CODE: Final = 0x1000  # bytes
VECTOR: Final = 0x400  # where the vector function begins
ARGS: Final = 24  # bytes: a pointer, 0, and what is no pointer
CPU_ARGS: Final = 28  # a head and one address


class Station:
    """Changes. `cube` and `vector` are functions, `args` a good argument block, `buffer` memory.

    `cpu_args`, `so_name` and `func_name` are for an AI CPU entry. The queue is 3.
    """

    def __init__(
        self, soc: str = A2_SOC, *, strict: bool = False, lenient: bool = False, listen: bool = True
    ) -> None:
        self.log = EventLog()
        trace: Trace = self.log if listen else no_trace
        config = DeviceConfig(strict=strict, lenient=lenient)
        self.device = Device(0, find_soc(soc), config, trace=trace)
        self.device.start()
        self.memory = self.device.memory
        self.is_v100 = self.device.soc.library == "v100"
        self.base = self.device.allocate(CODE)
        self.cube, self.vector = self.base, self.base + VECTOR
        self.facts = {
            self.cube: FunctionFacts("cube", is_vector=False, args_size=ARGS, pointers=(0, 8)),
            self.vector: FunctionFacts("vector", is_vector=True, args_size=ARGS, pointers=(0, 8)),
        }
        self.publish()
        self.buffer = self.device.allocate(256)
        self.args = self.device.allocate(4096) + 1024
        self.memory.write(self.args, self.buffer.to_bytes(8, "little") + bytes(8) + b"\xff" * 8)
        self.context = self.device.allocate(4096)
        self.names = self.device.allocate(1024)
        self.memory.write(self.names, b"libops.so\0Run\0")
        self.so_name, self.func_name = self.names, self.names + 10
        self.cpu_args = self.device.allocate(4096)
        self.memory.write(self.cpu_args, bytes([CPU_ARGS, 0, 0, 0, 1]))
        self.stack = self.device.stacks[SystemSlot.STACK_32K].address
        self.ring = self.device.open_queue(3)

    def publish(self, **changes: Any) -> None:
        """Load the code again, with other facts of both functions."""
        self.facts = {pc: facts._replace(**changes) for pc, facts in self.facts.items()}
        self.device.code.publish(self.base, CODE, lambda: self.facts)

    def single(self, core: str = "aiv", **fields: Any) -> Record:
        """The entry of a kernel on one kind of core, 4 blocks."""
        is_vector = core == "aiv"
        pc = self.vector if is_vector else self.cube
        if self.is_v100:
            plain: dict[str, Any] = {
                "ffts_type": v100.FftsType.AIV if is_vector else v100.FftsType.AIC,
                "block_dim": 4,
                "stream_id": 3,
                "task_id": 17,
                "kernel_credit": 254,
                "stack_base": self.stack,
                "pc": pc,
                "args_addr": self.args,
            }
            return v100.KernelSqe(**plain | fields)
        plain = {
            "sqe_type": v200.SqeType.AIV if is_vector else v200.SqeType.AIC,
            **self._v200_fields(),
            "ratio": 1,
            f"{core}_pc": pc,
            f"{core}_args_addr": self.args,
        }
        return v200.KernelSqe(**plain | fields)

    def mix(
        self, main: str = "aic", ratio: int = 2, sqe: dict[str, Any] | None = None, **fields: Any
    ) -> Record:
        """The entry of a mix, 4 blocks; `fields` are those of the context where there is one."""
        is_vector = main == "aiv"
        pcs = {"aic_pc": self.cube, "aiv_pc": self.vector, "ratio": ratio}
        args = {"aic_args_addr": self.args, "aiv_args_addr": self.args}
        if not self.is_v100:
            plain = {
                "sqe_type": v200.SqeType.AIV if is_vector else v200.SqeType.AIC,
                **self._v200_fields(),
                "mix": True,
                "pi_mix": True,
            }
            return v200.KernelSqe(**plain | pcs | args | fields)
        kind = v100.ContextType.MIX_AIV if is_vector else v100.ContextType.MIX_AIC
        self.write_context(kind, ratio, **fields)
        plain = {
            "block_dim": 4,
            "stream_id": 3,
            "task_id": 18,
            "kernel_credit": 254,
            "sub_type": kind,
            "stack_base": self.stack,
            "context_addr": self.context,
        }
        return v100.MixSqe(**plain | (sqe or {}))

    def write_context(self, kind: v100.ContextType, ratio: int, **fields: Any) -> None:
        """Write a context of 4 blocks with both sides."""
        plain = {
            "context_type": kind,
            "ratio": ratio,
            "block_dim": 4,
            "aic_args_addr": self.args,
            "aiv_args_addr": self.args,
            "aic_args_size": ARGS,
            "aiv_args_size": ARGS,
            "aic_pc": self.cube,
            "aiv_pc": self.vector,
        } | fields
        for field in ("ratio", "block_dim"):
            plain.setdefault(f"tail_{field}", plain[field])
        for side in ("aic", "aiv"):
            plain.setdefault(f"{side}_tail_pc", plain[f"{side}_pc"])
        self.memory.write(self.context, v100.MixContext(**plain).encode())

    def cpu(self, **fields: Any) -> Record:
        """An AI CPU entry."""
        plain: dict[str, Any] = {
            "block_dim": 1,
            "kernel_type": CpuKernelType.AICPU,
            "kernel_credit": 254,
            "so_name_addr": self.so_name,
            "func_name_addr": self.func_name,
            "args_addr": self.cpu_args,
        }
        if self.is_v100:
            plain |= {"sqe_type": v100.SqeType.AICPU, "stream_id": 3, "task_id": 19}
            return v100.AicpuSqe(**plain | fields)
        plain |= {"sqe_type": v200.SqeType.AICPU_D, "task_sn": 0x1238}
        return v200.AicpuSqe(**plain | fields)

    def run(self, *entries: Record | bytes) -> list[Completion]:
        """Submit entries and let the device run; the completions, taken off the device."""
        for entry in entries:
            raw = entry if isinstance(entry, bytes) else entry.encode()
            self.device.submit(self.ring.queue, raw)
        self.device.run()
        done = list(self.device.completions)
        self.device.completions.clear()
        return done

    def told(self, entry: Record | bytes) -> TaskEvent:
        """Run one entry; what is told of it."""
        self.run(entry)
        event = self.log[-1]
        assert isinstance(event, TaskEvent)
        return event

    def found(self, entry: Record | bytes) -> list[tuple[str, Severity]]:
        """Run one entry; rules and severities of what was found."""
        return [(finding.rule, finding.severity) for finding in self.told(entry).findings]

    def _v200_fields(self) -> dict[str, Any]:
        return {
            "block_dim": 4,
            "task_sn": 0x1234,
            "group_dim": 2,
            "group_block_dim": 2,
            "kernel_credit": 253,
            "stack_base": self.stack,
            "dcu_size": 262_144,
        }
