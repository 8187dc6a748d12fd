"""Device: memory, driver, kernel pools and stacks of one device. Spec 03, sections 1, 3, 8."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Final

from cannkit.device.allocation import Bytes
from cannkit.device.driver import RUNTIME_MODULE, CpuLaunch, Driver, MemoryRequest, SimulatedDriver
from cannkit.device.executor import Executor
from cannkit.device.hardware import DeviceConfig as DeviceConfig
from cannkit.device.hardware import Hardware
from cannkit.device.hardware import Range as Range
from cannkit.device.kernel_pool import KernelPools
from cannkit.device.memory import DeviceMemory
from cannkit.device.ring import Ring, Rings
from cannkit.device.stacks import die_count, plan_stacks, simd_print_size, simt_print_size
from cannkit.device.trace import (
    Advice,
    AdviseEvent,
    AllocEvent,
    CopyEvent,
    CopyKind,
    FreeEvent,
    LaunchEvent,
    MemoryType,
    PrintBufferEvent,
    PrintKind,
    SystemEvent,
    Trace,
    no_trace,
)
from cannkit.device.traits import traits_of
from cannkit.format.status import RtError, RtStatus
from cannkit.soc import Soc

if TYPE_CHECKING:
    from cannkit.device.stars import Stars

MAX_DEVICES: Final = 64  # DEV-1, RT_MAX_DEV_NUM
NAME_PAGE: Final = 4096

IGNORED_BY_ADVICE: Final = (RtStatus.DRV_NOT_SUPPORT, RtStatus.DRV_INPUT)  # DEV-17


def simulated_driver(memory: DeviceMemory, soc: Soc) -> Driver:
    """The driver of a device unless another one is handed in."""
    return SimulatedDriver(memory, has_l2_offset=soc.library in ("", "v100"))


class Device(Hardware):
    """One device of the process. Changes.

    It is usable between `start` and `reset`, and may be started again: addresses are never given
    out twice. What goes through it is told to `trace` in order. `lock` is held by whoever loads,
    unloads or resets. The constructor raises RtError DEVICE_ID for an id outside 0..63, UsageError
    for a base address that cannot be.
    """

    def __init__(
        self,
        device_id: int,
        soc: Soc,
        config: DeviceConfig | None = None,
        *,
        driver: Callable[[DeviceMemory, Soc], Driver] = simulated_driver,
        trace: Trace = no_trace,
        make_ai_cpu: Callable[[Hardware], Executor] | None = None,
    ) -> None:
        if not 0 <= device_id < MAX_DEVICES:
            why = f"ids are 0..{MAX_DEVICES - 1}"
            raise RtError(RtStatus.DEVICE_ID, f"no device {device_id}", why=why)
        super().__init__(device_id, soc, config, trace, make_ai_cpu)
        self.lock = RLock()
        self.driver = driver(self.memory, soc)
        self.pools = KernelPools(
            lambda request: self._allocate(request),
            self.free,
            honours_flag=not soc.data_is_read_only,
        )
        self.started = False
        self.rings = Rings(self.memory, soc)
        self._stars: Stars | None = None

    @property
    def has_pools(self) -> bool:
        """POOL-1."""
        return self.soc.has_memory_pool and self.config.use_pool

    def start(self) -> None:
        """Init and Start: the first kernel pool, then the stack regions. DEV-2, POOL-2, STK-2.

        Does nothing on a started device. Raises RtError MEMORY_ALLOCATION without memory for the
        pool, INVALID_VALUE for stack sizes the chip does not allow, DRV_OUT_MEMORY for others.
        """
        with self.lock:
            if self.started:
                return
            try:
                if self.has_pools:
                    self.pools.start()
                self._place_stacks()
            except RtError:
                self.reset()
                raise
            self.started = True

    def reset(self) -> None:
        """DEV-25: free the pools in order; all other memory dies with the device."""
        with self.lock:
            self.pools.close()
            self.rings.clear()
            self.memory.reset()
            self.code.clear()
            self.models.clear()
            vars(self).pop("ai_cpu", None)  # its processes end with the device
            self.completions.clear()
            self.stacks = {}
            self.custom_stack = 0
            self.started = False

    def allocate(
        self, size: int, *, memory_type: int = MemoryType.HBM, read_only: bool = False
    ) -> int:
        """The address of `size` new bytes. Raises RtError of the driver, DRV_OUT_MEMORY above all."""
        return self._allocate(MemoryRequest(size, memory_type, RUNTIME_MODULE, read_only))

    def free(self, address: int) -> None:
        """Give an allocation back to the driver. Raises RtError of the driver."""
        try:
            self.driver.free(address)
        except RtError as error:
            self.trace(FreeEvent(self.id, address, error.rt))
            raise
        self.trace(FreeEvent(self.id, address))

    def allocate_image(self, size: int, *, read_only: bool) -> tuple[int, bool]:
        """Memory for an image of `size` bytes with its padding: address, and whether a pool has it.

        DEV-14 steps 6 and 7: from a pool where one will do, else 4096 bytes more from the driver.
        """
        if self.has_pools:
            address = self.pools.allocate(pool_size(size), read_only=read_only)
            if address is not None:
                return address, True
        return self.allocate(size + ALIGN, read_only=read_only), False

    def release_image(self, address: int, size: int) -> None:
        """Give the memory of an image back to its pool, else to the driver. DEV-23."""
        if not self.pools.try_release(address, pool_size(size)):
            self.free(address)

    def copy_to_device(
        self, address: int, contents: Bytes, *, file_offset: int | None = None
    ) -> None:
        """Copy host bytes; `file_offset` is told to the trace. Raises RtError of the driver."""
        event = CopyEvent(self.id, address, CopyKind.HOST_TO_DEVICE, contents, file_offset)
        try:
            self.driver.copy_to_device(address, contents)
        except RtError as error:
            self.trace(event._replace(status=error.rt))
            raise
        self.trace(event)

    def copy_from_device(self, address: int, size: int) -> bytes:
        """The bytes of a range, copied to the host. Raises RtError of the driver."""
        kind = CopyKind.DEVICE_TO_HOST
        try:
            contents = self.driver.copy_from_device(address, size)
        except RtError as error:
            self.trace(CopyEvent(self.id, address, kind, b"", status=error.rt))
            raise
        self.trace(CopyEvent(self.id, address, kind, contents))
        return contents

    def advise(self, block: Range, advice: Advice, asked: Range) -> None:
        """Advise the driver of a block; `asked` is the range CANN names. DEV-17.

        Raises RtError of the driver, but for the two codes that are ignored.
        """
        event = AdviseEvent(self.id, *block, advice, asked)
        try:
            self.driver.advise(*block, read_only=advice is Advice.READONLY)
        except RtError as error:
            self.trace(event._replace(status=error.rt))
            if error.rt not in IGNORED_BY_ADVICE:
                raise
        else:
            self.trace(event)

    def print_buffer(self, kind: PrintKind, *, reader: bool) -> int:
        """The address of a printf buffer, allocated at first need. Raises RtError. STK-8."""
        config = self.config.stacks
        event = PrintBufferEvent(self.id, kind, reader)
        try:
            size = (
                simd_print_size(self.soc, config)
                if kind is PrintKind.SIMD
                else simt_print_size(config)
            )
            address = self.driver.print_buffer(kind, size, reader=reader)
        except RtError as error:
            self.trace(event._replace(status=error.rt))
            raise
        self.trace(event)
        return address

    def launch_cpu(self, launch: CpuLaunch) -> None:
        """Launch a kernel of the AI CPU process. Raises RtError of the driver."""
        event = LaunchEvent(self.id, *launch)
        try:
            self.driver.launch(launch)
        except RtError as error:
            self.trace(event._replace(status=error.rt))
            raise
        self.trace(event)

    def open_queue(self, queue: int) -> Ring:
        """The ring of a new queue. Raises RtError DRV_INPUT for one that is open, or no 16 bits."""
        with self.lock:
            return self.rings.open(queue)

    def close_queue(self, queue: int) -> None:
        """Drop a queue and what waits in it; nothing happens where none is open."""
        with self.lock:
            self.rings.close(queue)

    def submit(self, queue: int, raw: bytes) -> int:
        """Queue entries of 64 bytes each; the position of the first. LCH-62.

        Raises RtError: STREAM_NOT_EXIST without the queue, INVALID_VALUE for a part of an entry,
        STREAM_FULL (507002) without room.
        """
        with self.lock:
            return self.rings.submit(queue, raw)

    def run(self) -> None:
        """Let the scheduler work off every queue; see `completions`. Raises what interrupts it."""
        with self.lock:
            if self._stars is None:
                from cannkit.device.stars import Stars  # here, for only a launch needs it

                self._stars = Stars(self)
            self._stars.run(self.rings)

    def name_memory_type(self, size: int) -> int:
        """CPU-2: the kind of memory that holds a name of an AI CPU kernel."""
        if traits_of(self.soc).names_in_hbm:
            return MemoryType.HBM
        if self.config.has_numa_ts:
            return MemoryType.TS
        return MemoryType.TS | HUGE_ONLY if size > NAME_PAGE else MemoryType.HBM

    def _allocate(self, request: MemoryRequest) -> int:
        event = AllocEvent(self.id, *request, address=None)
        try:
            address = self.driver.allocate(request)
        except RtError as error:
            self.trace(event._replace(status=error.rt))
            raise
        self.trace(event._replace(address=address))
        return address

    def _place_stacks(self) -> None:
        dies = self.config.dies or die_count(self.soc)
        plan = plan_stacks(self.soc, self.config.stacks, dies)
        stacks = {}
        for slot, size in plan.regions.items():
            address = self.memory.place(slot, size)
            self.trace(SystemEvent(self.id, slot.name, address, size))
            stacks[slot] = Range(address, size)
        self.stacks, self.custom_stack = stacks, plan.custom


ALIGN: Final = 4096  # DEV-15, INSTR_ALIGN_SIZE
HUGE_ONLY: Final = 0x800  # policy bit of the memory type word, MEM-4


def pool_size(size: int) -> int:
    """DEV-14 step 6: the size of a pool block for `size` bytes of image and padding."""
    return -(-size // ALIGN) * ALIGN
