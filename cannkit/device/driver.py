"""Driver: what the runtime asks of the driver of one device, and the simulated one that answers."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from cannkit.device.allocation import Bytes
from cannkit.device.memory import DeviceFaultError, DeviceMemory, RegionName, SystemSlot
from cannkit.device.trace import MemoryType, PrintKind
from cannkit.format.status import RtError, RtStatus

RUNTIME_MODULE: Final = 7  # owner module id of what the runtime allocates
MEMORY_FAULT: Final = RtStatus(0x0701_0026)  # DEVICE_MEM_ERROR -> 507053


class MemoryRequest(NamedTuple):
    """A driver allocation: bytes, memory type word (MEM-4), owner, and "device must not write"."""

    size: int
    memory_type: int = MemoryType.HBM
    module: int = RUNTIME_MODULE
    read_only: bool = False


class CpuLaunch(NamedTuple):
    """A kernel of the AI CPU process; without a so name it is one built into it. CPU-6."""

    kernel: str
    so_name: str | None
    args: bytes


class Driver(Protocol):
    """One device as the runtime sees it through the driver. Each call raises RtError on failure.

    Hand another implementation to `Device` to see what the runtime makes of a driver that fails.
    """

    def allocate(self, request: MemoryRequest) -> int:
        """The address of new device memory."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def copy_to_device(self, address: int, contents: Bytes) -> None:
        """Copy host bytes to the device."""

    def copy_from_device(self, address: int, size: int) -> bytes:
        """The bytes of a range of the device."""

    def advise(self, address: int, size: int, *, read_only: bool) -> None:
        """Tell how the device accesses a range from now on."""

    def print_buffer(self, kind: PrintKind, size: int, *, reader: bool) -> int:
        """The address of a printf buffer, allocated at first need; `reader` starts its thread."""

    def c2c_address(self) -> int:
        """The control address that goes to `g_sysFftsAddr`."""

    def l2_cache_offset(self) -> int:
        """The offset that goes to `g_opL2CacheHintCfg`; DRV_NOT_SUPPORT where there is none."""

    def start_ai_cpu(self) -> None:
        """Make sure that the AI CPU process runs."""

    def launch(self, launch: CpuLaunch) -> None:
        """Queue a kernel of the AI CPU process."""

    def synchronize(self) -> None:
        """Wait for what was launched."""


class SimulatedDriver:
    """The driver over simulated memory. AI CPU launches succeed and do nothing here.

    `has_l2_offset` is false where STARS v2 runs the device. DEV-19.
    """

    def __init__(self, memory: DeviceMemory, *, has_l2_offset: bool = True) -> None:
        self._memory = memory
        self._has_l2_offset = has_l2_offset

    def allocate(self, request: MemoryRequest) -> int:
        """MEM-1: read-only memory comes from CODE_RO, all other from DATA_RW."""
        region = RegionName.CODE_RO if request.read_only else RegionName.DATA_RW
        return self._memory.allocate(request.size, region)

    def free(self, address: int) -> None:
        """Raises RtError INVALID_HANDLE for what is no live allocation."""
        self._memory.free(address)

    def copy_to_device(self, address: int, contents: Bytes) -> None:
        """Raises RtError DEVICE_MEM_ERROR for a range that is not live (MEM-2)."""
        if not len(contents):
            return
        try:
            self._memory.write(address, contents)
        except DeviceFaultError as fault:
            raise copy_error(fault) from fault

    def copy_from_device(self, address: int, size: int) -> bytes:
        """Raises RtError DEVICE_MEM_ERROR for a range that is not live (MEM-2)."""
        try:
            return self._memory.read(address, size)
        except DeviceFaultError as fault:
            raise copy_error(fault) from fault

    def advise(self, address: int, size: int, *, read_only: bool) -> None:
        """Raises RtError DRV_INPUT for a range that is not live."""
        try:
            self._memory.protect(address, size, read_only=read_only)
        except DeviceFaultError as fault:
            raise RtError(RtStatus.DRV_INPUT, "cannot advise", why=str(fault)) from fault

    def print_buffer(self, kind: PrintKind, size: int, *, reader: bool) -> int:
        """A fixed slot; nothing reads it here."""
        slot = SystemSlot.SIMT_PRINTF if kind is PrintKind.SIMT else SystemSlot.SIMD_PRINTF
        return self._memory.place(slot, size)

    def c2c_address(self) -> int:
        """A fixed slot."""
        return self._memory.system_address(SystemSlot.C2C_CONTROL)

    def l2_cache_offset(self) -> int:
        """CHOICE: 0."""
        if not self._has_l2_offset:
            raise RtError(RtStatus.DRV_NOT_SUPPORT, "no L2 cache offset")
        return 0

    def start_ai_cpu(self) -> None:
        """It runs."""

    def launch(self, launch: CpuLaunch) -> None:
        """It succeeds."""

    def synchronize(self) -> None:
        """Nothing is outstanding."""


def copy_error(fault: DeviceFaultError) -> RtError:
    """What a copy answers that faulted: 507053 (MEM-2)."""
    return RtError(MEMORY_FAULT, "cannot copy", where=fault.where, why=fault.why)
