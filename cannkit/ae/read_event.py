"""read_event: what the AI CPU makes of a queue entry and of what it points to. Spec 05, AE-301; spec 04, 4.4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from cannkit.ae.event import NULL, AeEvent, Argument, Segment
from cannkit.device.allocation import Allocation
from cannkit.device.memory import DeviceMemory
from cannkit.errors import FormatError
from cannkit.format.ae_structs import AicpuParamHead, FwkOperateParam
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.sqe import v100, v200

LONGEST_NAME: Final = 255  # LCH-41
FWK_TYPE: Final = 4  # bytes in front of the operate block, AE-101
WORD: Final = 8
BEHIND: Final = (
    1 << 16
)  # bytes from the parameters on that a function may look at, where they are many
MOST_BYTES: Final = 128 << 20  # of all segments: a process of its own holds them a few times
MOST_SEGMENTS: Final = 4096
WHOLE: Final[Mapping[int, int]] = MappingProxyType({})  # every allocation is in use to its end

AicpuSqe = v100.AicpuSqe | v200.AicpuSqe


class Arrival(NamedTuple):
    """An event as it arrives, and which memory it points to is not handed on, in words."""

    event: AeEvent
    left_out: tuple[str, ...] = ()


def read_event(
    sqe: AicpuSqe, memory: DeviceMemory, block_id: int = 0, extents: Mapping[int, int] = WHOLE
) -> Arrival:
    """AE-301: the event of one block, with the fields that its kernel type has.

    Each of the `block_dim` blocks of an entry is an event of its own (AE-106, OPR-902). Addresses have 48
    bits in an entry. `extents` are the bytes of allocations that are in use, by their addresses. Raises DeviceFaultError for an address outside live memory, FormatError for a name
    that is no string of up to 255 bytes.
    """
    kind = sqe.kernel_type
    if kind == CpuKernelType.FWK:
        return _framework(sqe, memory, extents)
    collected = Collected(memory, extents)
    if sqe.args_addr:
        collected.add_block(sqe.args_addr, _length(sqe.args_addr, memory))
        collected.add_all(_addresses(sqe.args_addr, memory))
    event = AeEvent(
        kind,
        read_name(sqe.so_name_addr, memory),
        read_name(sqe.func_name_addr, memory),
        Argument(sqe.args_addr, collected.segments()),
        block_id,
        sqe.block_dim,
    )
    return Arrival(event, tuple(collected.left_out))


def read_name(address: int, memory: DeviceMemory) -> str | None:
    """The C string at an address, None for null. Raises as `read_event` does."""
    if not address:
        return None
    allocation = memory.allocation_at(address)
    size = (
        LONGEST_NAME + 1 if allocation is None else min(LONGEST_NAME + 1, allocation.end - address)
    )
    text, end, _ = memory.read(address, size).partition(b"\0")
    if not end:
        why = f"no string of up to {LONGEST_NAME} bytes"
        raise FormatError("cannot read a name", where=f"{address:#x}", why=why)
    return text.decode("utf-8", "surrogateescape")


class Collected:
    """Ranges of device memory that a function is to see, one for each allocation. Changes."""

    def __init__(self, memory: DeviceMemory, extents: Mapping[int, int]) -> None:
        self.left_out: list[str] = []
        self._memory = memory
        self._extents = extents
        self._ranges: dict[int, tuple[Allocation, int, int]] = {}
        self._size = 0
        self._too_many = 0

    def add_block(self, address: int, size: int) -> None:
        """Parameters: their allocation, of a large one `size` bytes and what comes right behind."""
        allocation = self._memory.allocation_at(address)
        if allocation is None:
            return
        start, end = allocation.address, allocation.end
        if allocation.size > BEHIND:
            start, end = address, min(end, address + max(size, BEHIND))
        self._add(allocation, start, end)

    def add_all(self, addresses: Iterable[int]) -> None:
        """The allocations that addresses point into; what points nowhere is no memory of a device."""
        for address in addresses:
            allocation = self._memory.allocation_at(address)
            if allocation is not None:
                start = allocation.address
                size = min(allocation.size, self._extents.get(start, allocation.size))
                self._add(allocation, start, start + size)
        if self._too_many:
            self.left_out.append(f"{self._too_many} allocations behind the first {MOST_SEGMENTS}")

    def segments(self) -> tuple[Segment, ...]:
        """Their bytes now."""
        return tuple(
            Segment(
                start,
                self._memory.read(start, end - start),
                is_writable=not allocation.is_protected(start, end - start),
            )
            for allocation, start, end in self._ranges.values()
        )

    def _add(self, allocation: Allocation, start: int, end: int) -> None:
        known = self._ranges.get(allocation.address)
        held = 0
        if known is not None:
            held = known[2] - known[1]
            start, end = min(start, known[1]), max(end, known[2])
        elif len(self._ranges) >= MOST_SEGMENTS:
            self._too_many += 1
            return
        more = end - start - held
        if self._size + more > MOST_BYTES:
            what = (
                f"{allocation.size} bytes at {allocation.address:#x}: more than {MOST_BYTES} in all"
            )
            if what not in self.left_out:
                self.left_out.append(what)
            return
        self._ranges[allocation.address] = allocation, start, end
        self._size += more


def _length(address: int, memory: DeviceMemory) -> int:
    """LCH-42: how many bytes the parameters have, as far as they say so."""
    if not memory.holds(address, AicpuParamHead.SIZE):
        return 0
    head = AicpuParamHead.decode(memory.read(address, AicpuParamHead.SIZE))
    return max(head.length, AicpuParamHead.SIZE + WORD * head.io_addr_num)


def _addresses(address: int, memory: DeviceMemory) -> Iterator[int]:
    """LCH-42: where the tensors lie that parameters list, and the extended info."""
    if not memory.holds(address, AicpuParamHead.SIZE):
        return  # of a logic kernel, which has no head
    head = AicpuParamHead.decode(memory.read(address, AicpuParamHead.SIZE))
    size = WORD * head.io_addr_num
    if memory.holds(address + AicpuParamHead.SIZE, size):
        listed = memory.read(address + AicpuParamHead.SIZE, size)
        for at in range(0, size, WORD):
            yield int.from_bytes(listed[at : at + WORD], "little")
    if head.ext_info_length:
        yield head.ext_info_addr


def _framework(sqe: AicpuSqe, memory: DeviceMemory, extents: Mapping[int, int]) -> Arrival:
    """AE-301, type 1: `kernel` is paramBase; names and blocks are not read."""
    kernel = sqe.args_addr
    if not kernel:
        return Arrival(AeEvent(sqe.kernel_type, argument=NULL))
    fwk_type = int.from_bytes(memory.read(kernel, FWK_TYPE), "little")
    operate = kernel + FWK_TYPE
    collected = Collected(memory, extents)
    collected.add_block(kernel, FWK_TYPE + FwkOperateParam.SIZE)
    if memory.holds(operate, FwkOperateParam.SIZE):
        block = FwkOperateParam.decode(memory.read(operate, FwkOperateParam.SIZE))
        addresses = (getattr(block, name) for name, span in block.SPANS.items() if span.is_address)
        collected.add_all(addresses)
    argument = Argument(operate, collected.segments())
    event = AeEvent(sqe.kernel_type, argument=argument, fwk_type=fwk_type)
    return Arrival(event, tuple(collected.left_out))
