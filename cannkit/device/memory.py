"""DeviceMemory: the simulated memory of one device, sparse and deterministic. Spec 03, section 6."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from typing import ClassVar, Final, NamedTuple

from cannkit.device.allocation import Allocation, Bytes
from cannkit.errors import CannkitError, ExitCode, UsageError
from cannkit.format.status import RtError, RtStatus

PAGE: Final = 1 << 12
HUGE_PAGE: Final = 1 << 21
HUGE_FROM: Final = 1 << 20  # MEM-1: a larger request takes huge pages
GIB: Final = 1 << 30


class RegionName(StrEnum):
    """A part of the address map. Spec 03, section 6.2."""

    CODE_RO = "CODE_RO"
    DATA_RW = "DATA_RW"
    SYS = "SYS"
    HOST = "HOST"


class SystemSlot(IntEnum):
    """Offsets into SYS of what the runtime places at fixed addresses."""

    STACK_32K = 0
    STACK_16K = 0x4000_0000
    STACK_CUSTOM = 0x8000_0000
    STACK_SIMT = 0xC000_0000
    C2C_CONTROL = 0x1_0000_0000
    OVERFLOW = 0x1_1000_0000
    SIMD_PRINTF = 0x2_0000_0000
    SIMT_PRINTF = 0x4_0000_0000
    ARGS = 0x5_0000_0000
    SQ_RINGS = 0x6_0000_0000


class FaultReason(StrEnum):
    """Why an access faulted."""

    UNMAPPED = "no live allocation holds this address"
    PAST_END = "the range crosses the end of its allocation"
    READ_ONLY = "the device must not write here"
    TOO_LARGE = "its allocation is too large to be looked at in one piece"


class DeviceFaultError(CannkitError):
    """An access to memory that the device does not allow (MEM-2); `address` and `size` in bytes.

    The code a caller sees depends on who touched the memory: 507053 for a copy, 507015 or 507035
    for a kernel.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FAULT
    kind: ClassVar[str] = "device-fault"

    def __init__(self, address: int, size: int, reason: FaultReason) -> None:
        super().__init__("memory fault", where=f"{address:#x}, {size} bytes", why=reason)
        self.address = address
        self.size = size
        self.reason = reason


class Region(NamedTuple):
    """Addresses from `base` on, `size` bytes of them."""

    name: RegionName
    base: int
    size: int

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.base + self.size


# CHOICE of section 6.2: base of device 0, distance between devices, bytes for each.
DEVICE_MAP: Final = {
    RegionName.CODE_RO: (0x1240_0000_0000, 0x2_0000_0000, 8 * GIB),
    RegionName.DATA_RW: (0x12C0_0000_0000, 0x40_0000_0000, 224 * GIB),
    RegionName.SYS: (0x12F8_0000_0000, 0x40_0000_0000, 32 * GIB),
}
HOST_REGION: Final = Region(RegionName.HOST, 0x0700_0000_0000, 1 << 40)
ADDRESS_BITS: Final = 48


def round_up(value: int, granule: int) -> int:
    """`value` rounded up to a multiple of `granule`."""
    return -(-value // granule) * granule


def device_regions(device_id: int, base: int | None = None) -> tuple[Region, ...]:
    """CODE_RO, DATA_RW and SYS of a device; `base` moves its CODE_RO there and the others along.

    Raises UsageError for a base that is no multiple of 4096, is 0, or leaves the 48 address bits.
    """
    regions = [
        Region(name, first + device_id * stride, size)
        for name, (first, stride, size) in DEVICE_MAP.items()
    ]
    if base is not None:
        shift = base - DEVICE_MAP[RegionName.CODE_RO][0]
        regions = [
            Region(name, first + shift, size) for name, (first, _, size) in DEVICE_MAP.items()
        ]
        if base <= 0 or base % PAGE or regions[-1].end >> ADDRESS_BITS:
            limit = (1 << ADDRESS_BITS) - (regions[-1].end - base)
            why = f"it must be a multiple of {PAGE:#x} in {PAGE:#x}..{limit:#x}"
            raise UsageError(f"no usable base address: {base:#x}", why=why)
    return tuple(regions)


class AddressSpace:
    """Live allocations in a few regions, a bump cursor for each (MEM-1). Changes.

    A freed range is not used again, so a use after free is seen. `capacity` limits the sum of live
    sizes, each rounded up to its granule; None is no limit. `changes` grows with every change of
    what is live.
    """

    def __init__(self, regions: tuple[Region, ...], capacity: int | None = None) -> None:
        self.regions = {region.name: region for region in regions}
        self.capacity = capacity
        self.used = 0
        self.changes = 0
        self._cursors = {region.name: region.base for region in regions}
        self._live: dict[int, Allocation] = {}
        self._starts: list[int] = []
        self._empty: Counter[int] = Counter()  # allocations of 0 bytes: an address, no memory

    def __iter__(self) -> Iterator[Allocation]:
        """Live allocations in address order."""
        return map(self._live.__getitem__, self._starts)

    def allocate(self, size: int, region: RegionName, at: int | None = None) -> int:
        """Address of `size` new bytes, zero; `at` an address of the caller's choice.

        0 bytes give the rounded cursor and take nothing. Raises RtError: DRV_OUT_MEMORY when the
        capacity or the region is exhausted, DRV_INPUT when `at` meets a live allocation.
        """
        self.changes += 1
        granule = PAGE if size <= HUGE_FROM else HUGE_PAGE
        rounded = round_up(size, granule)
        address = round_up(self._cursors[region], granule) if at is None else at
        if size == 0:
            self._empty[address] += 1
            return address
        if self.capacity is not None and self.used + rounded > self.capacity:
            left = self.capacity - self.used
            raise _out_of_memory(size, f"{left} of {self.capacity} bytes are free")
        if address + rounded > self.regions[region].end:
            raise _out_of_memory(size, f"the region {region} is used up")
        if at is None:
            self._cursors[region] = address + rounded
        elif self._overlaps(at, rounded):
            raise RtError(
                RtStatus.DRV_INPUT, "cannot place an allocation", why=f"{at:#x} is in use"
            )
        host_only = region is RegionName.CODE_RO
        self._live[address] = Allocation(address, size, rounded, region, host_only=host_only)
        insort(self._starts, address)
        self.used += rounded
        return address

    def free(self, address: int) -> None:
        """Give an allocation back. Raises RtError INVALID_HANDLE for any other address (MEM-5)."""
        self.changes += 1
        if self._empty[address]:
            self._empty[address] -= 1
            return
        allocation = self._live.pop(address, None)
        if allocation is None:
            inside = self.allocation_at(address)
            why = f"{address:#x} " + (
                f"lies inside the allocation at {inside.address:#x}"
                if inside
                else "is not the address of a live allocation"
            )
            raise RtError(RtStatus.INVALID_HANDLE, "cannot free memory", why=why)
        del self._starts[bisect_right(self._starts, address) - 1]
        self.used -= allocation.rounded

    def reset(self) -> None:
        """Drop every allocation; the cursors stay, so no address comes twice."""
        self.changes += 1
        self._live.clear()
        self._starts.clear()
        self._empty.clear()
        self.used = 0

    def region_of(self, address: int) -> RegionName | None:
        """The region an address belongs to, live or not."""
        for region in self.regions.values():
            if region.base <= address < region.end:
                return region.name
        return None

    def allocation_at(self, address: int) -> Allocation | None:
        """The live allocation that holds an address."""
        at = bisect_right(self._starts, address)
        if not at:
            return None
        allocation = self._live[self._starts[at - 1]]
        return allocation if address < allocation.end else None

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes; unwritten ones are 0. Raises DeviceFaultError."""
        return self._range(address, size).read(address, size)

    def write(self, address: int, data: Bytes, *, by_device: bool = False) -> None:
        """Write bytes; a write `by_device` is refused in CODE_RO and in read-only blocks.

        Raises DeviceFaultError (MEM-2).
        """
        allocation = self._range(address, len(data))
        if by_device and allocation.is_protected(address, len(data)):
            raise DeviceFaultError(address, len(data), FaultReason.READ_ONLY)
        allocation.write(address, data)

    def view(self, address: int, size: int, *, by_device: bool = False) -> memoryview:
        """The live bytes of a range of one allocation; `by_device` read-only where it must be.

        The allocation is kept in one piece from then on. Raises DeviceFaultError, also above 4 GiB.
        """
        allocation = self._range(address, size)
        try:
            view = allocation.view(address, size)
        except MemoryError as error:
            raise DeviceFaultError(address, size, FaultReason.TOO_LARGE) from error
        return view.toreadonly() if by_device and allocation.is_protected(address, size) else view

    def holds(self, address: int, size: int) -> bool:
        """Whether `size` bytes lie in one live allocation; 0 bytes do at its address too."""
        allocation = self.allocation_at(address)
        if allocation is None:
            return not size and self._empty.get(address, 0) > 0
        return address + size <= allocation.end

    def fill(self, address: int, value: int, size: int) -> None:
        """Set `size` bytes to one value, at the cost of a few bytes for each 64 KiB."""
        self._range(address, size).fill(address, value, size)

    def protect(self, address: int, size: int, *, read_only: bool) -> None:
        """Let the device write to a range, or not. Raises DeviceFaultError."""
        self._range(address, size).protect(address, size, read_only=read_only)

    def _range(self, address: int, size: int) -> Allocation:
        allocation = self.allocation_at(address)
        if allocation is None:
            raise DeviceFaultError(address, size, FaultReason.UNMAPPED)
        if not 0 <= size <= allocation.end - address:
            raise DeviceFaultError(address, size, FaultReason.PAST_END)
        return allocation

    def _overlaps(self, address: int, size: int) -> bool:
        after = bisect_right(self._starts, address)
        if after < len(self._starts) and self._starts[after] < address + size:
            return True
        return self.allocation_at(address) is not None


class DeviceMemory(AddressSpace):
    """The memory of device `device_id`: `capacity` bytes, None for as much as the map holds."""

    def __init__(
        self, device_id: int = 0, *, capacity: int | None = None, base: int | None = None
    ) -> None:
        super().__init__(device_regions(device_id, base), capacity)

    def system_address(self, slot: SystemSlot) -> int:
        """The fixed address of a system slot, whether something is placed there or not."""
        return self.regions[RegionName.SYS].base + slot

    def place(self, slot: SystemSlot, size: int) -> int:
        """The address of a system slot, `size` bytes live from there on; a second call finds it.

        Raises RtError DRV_OUT_MEMORY like `allocate`.
        """
        address = self.system_address(slot)
        if self.allocation_at(address) is None:
            self.allocate(size, RegionName.SYS, at=address)
        return address


class HostMemory(AddressSpace):
    """Pinned host memory of the process."""

    def __init__(self) -> None:
        super().__init__((HOST_REGION,))


def _out_of_memory(size: int, why: str) -> RtError:
    return RtError(RtStatus.DRV_OUT_MEMORY, f"cannot allocate {size} bytes", why=why)
