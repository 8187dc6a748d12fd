"""Hardware: what the scheduler of a device sees of it, and how it was set up. Spec 04, section 6."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cannkit.device.code_map import CodeMap
from cannkit.device.executor import AbsentAicpu, Executor, HostModels
from cannkit.device.host_profile import HostProfile
from cannkit.device.memory import DeviceMemory, SystemSlot
from cannkit.device.stacks import StackConfig
from cannkit.device.trace import Trace
from cannkit.soc import Soc

if TYPE_CHECKING:  # here, for only a task that fails needs one
    from cannkit.format.cqe import Cqe


class Range(NamedTuple):
    """Bytes of device memory."""

    address: int
    size: int


class DeviceConfig(NamedTuple):
    """How a device is set up.

    `use_pool` false switches the kernel pools of a pool chip off, `dies` overrides the count by
    the SoC, `has_numa_ts` tells whether the driver has memory of the task scheduler, `base` moves
    the address map, `stacks` is what `aclInit` was given, taken as it is when the device starts
    (Q-18). `strict` makes errors of the warnings about entries, `lenient` lets a batch ask for more
    cores than there are (Q-11).
    """

    use_pool: bool = True
    dies: int | None = None
    has_numa_ts: bool = True
    base: int | None = None
    stacks: StackConfig = StackConfig()
    host: HostProfile = HostProfile()
    strict: bool = False
    lenient: bool = False


class Completion(NamedTuple):
    """A completion entry, and a line for people."""

    cqe: Cqe
    note: str


class Hardware:
    """Memory, loaded code and cores of one device, and the completions it wrote. Changes.

    `models` runs kernels, `ai_cpu` what is for the AI CPU; another executor may be put there.
    What happens is told to `trace` in order. `make_ai_cpu` makes that executor at first need.
    """

    def __init__(
        self,
        device_id: int,
        soc: Soc,
        config: DeviceConfig | None,
        trace: Trace,
        make_ai_cpu: Callable[[Hardware], Executor] | None = None,
    ) -> None:
        self.id = device_id
        self.soc = soc
        self.config = config or DeviceConfig()
        self.trace = trace
        capacity = soc.facts.get("memory_size_bytes")
        self.memory = DeviceMemory(
            device_id,
            capacity=capacity if isinstance(capacity, int) else None,
            base=self.config.base,
        )
        self.stacks: Mapping[SystemSlot, Range] = {}
        self.custom_stack = 0
        self.code = CodeMap()
        self.models = HostModels()
        self.completions: deque[Completion] = deque()
        self._make_ai_cpu = make_ai_cpu

    @cached_property
    def ai_cpu(self) -> Executor:
        """Runs the tasks of the AI CPU; without an engine none of them does anything."""
        return AbsentAicpu() if self._make_ai_cpu is None else self._make_ai_cpu(self)
