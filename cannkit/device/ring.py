"""Ring: the submission queue of a stream, in device memory. Spec 03, STR-4; spec 04, 5.1 and 5.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.device.memory import DeviceMemory, RegionName, SystemSlot
from cannkit.format.status import RtError, RtStatus
from cannkit.soc import Soc

ENTRY: Final = 64  # bytes
DEPTHS: Final = {"v200": 2049}  # LCH-64; where the SoC table has none
DEPTH: Final = 2048  # LCH-61
STRIDE: Final = 1 << 18  # CHOICE: bytes between rings, enough for the deepest of the SoC table
QUEUES: Final = 1 << 16  # sqId of LCH-67


class Ring:
    """`depth` entries of 64 bytes from `address` on; `tail` is written next, `head` read next. Changes.

    The entries lie in device memory, where only the host may write. A ring that `stops_on_failure`
    drops what waits behind a task that failed (spec 03, section 9, CHOICE).
    """

    __slots__ = ("_view", "address", "depth", "head", "queue", "stops_on_failure", "tail")

    def __init__(self, memory: DeviceMemory, queue: int, address: int, depth: int) -> None:
        self.queue = queue
        self.address = address
        self.depth = depth
        self.head = 0
        self.tail = 0
        self.stops_on_failure = False
        self._view = memory.view(address, depth * ENTRY)

    @property
    def count(self) -> int:
        """Entries that wait."""
        return (self.tail - self.head) % self.depth

    def is_full(self, entries: int = 1) -> bool:
        """Whether `entries` more have no room; one slot stays free. LCH-63; LCH-65 with Q-25."""
        return (self.tail - self.head) % self.depth + entries >= self.depth

    def push(self, raw: bytes) -> int:
        """Write entries behind the others; the position of the first. There must be room."""
        first = tail = self.tail
        if len(raw) == ENTRY:
            self._view[tail * ENTRY : (tail + 1) * ENTRY] = raw
            self.tail = (tail + 1) % self.depth
            return first
        for at in range(0, len(raw), ENTRY):
            self._view[tail * ENTRY : (tail + 1) * ENTRY] = raw[at : at + ENTRY]
            tail = (tail + 1) % self.depth
        self.tail = tail
        return first

    def peek(self) -> bytes:
        """The 64 bytes at the head, as they are in memory now."""
        at = self.head * ENTRY
        return bytes(self._view[at : at + ENTRY])

    def advance(self) -> None:
        """The entry at the head is done."""
        self.head = (self.head + 1) % self.depth

    def discard(self) -> int:
        """Drop what waits; how many entries that were."""
        dropped = self.count
        self.head = self.tail
        return dropped


class Rings:
    """The rings of one device by queue. Changes. They lie in a system slot, one behind the other."""

    def __init__(self, memory: DeviceMemory, soc: Soc) -> None:
        depth = soc.facts.get("effective_sq_depth_tasks")
        self.depth = depth if isinstance(depth, int) else DEPTHS.get(soc.library, DEPTH)
        self._memory = memory
        self._base = memory.system_address(SystemSlot.SQ_RINGS)
        self._open: dict[int, Ring] = {}
        self._used = 0  # slots that ever held a ring
        self._free: list[int] = []

    def __iter__(self) -> Iterator[Ring]:
        """In order of their queues."""
        return iter([self._open[queue] for queue in sorted(self._open)])

    def __getitem__(self, queue: int) -> Ring:
        return self._open[queue]

    def __len__(self) -> int:
        return len(self._open)

    def open(self, queue: int) -> Ring:
        """A new ring. Raises RtError DRV_INPUT for a queue that is open, or has no 16 bits."""
        if queue in self._open or not 0 <= queue < QUEUES:
            why = "it is open" if queue in self._open else f"queues are 0..{QUEUES - 1}"
            raise RtError(RtStatus.DRV_INPUT, f"cannot open queue {queue}", why=why)
        slot = self._free.pop() if self._free else self._used
        address = self._base + slot * STRIDE
        size = self.depth * ENTRY
        self._memory.allocate(size, RegionName.SYS, at=address)
        self._memory.protect(address, size, read_only=True)
        self._used = max(self._used, slot + 1)
        self._open[queue] = Ring(self._memory, queue, address, self.depth)
        return self._open[queue]

    def close(self, queue: int) -> None:
        """Drop a ring and what waits in it; nothing happens where none is open."""
        ring = self._open.pop(queue, None)
        if ring is not None:
            ring.discard()
            self._memory.free(ring.address)
            self._free.append((ring.address - self._base) // STRIDE)

    def clear(self) -> None:
        """Drop all; their memory dies with the device."""
        for ring in self._open.values():
            ring.discard()
        self._open.clear()
        self._free.clear()
        self._used = 0

    def submit(self, queue: int, raw: bytes) -> int:
        """Write entries to a ring; the position of the first.

        Raises RtError: STREAM_NOT_EXIST, INVALID_VALUE for a part of an entry, STREAM_FULL.
        """
        ring = self._open.get(queue)
        if ring is not None and len(raw) == ENTRY and not ring.is_full():
            return ring.push(raw)
        if ring is None:
            raise RtError(RtStatus.STREAM_NOT_EXIST, "cannot submit", why=f"no queue {queue}")
        entries, rest = divmod(len(raw), ENTRY)
        if rest or not entries:
            why = f"{len(raw)} bytes, an entry has {ENTRY}"
            raise RtError(RtStatus.INVALID_VALUE, "cannot submit", why=why)
        if ring.is_full(entries):
            why = f"{ring.count} of {ring.depth} entries wait in queue {queue}"
            raise RtError(RtStatus.STREAM_FULL, f"no room for {entries} entries", why=why)
        return ring.push(raw)
