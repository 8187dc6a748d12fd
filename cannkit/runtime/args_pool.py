"""Device memory that argument blocks are placed in: entries of one size, and rings. Spec 04, 2.5."""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from cannkit.device.device import Device
from cannkit.device.memory import (
    HUGE_FROM,
    HUGE_PAGE,
    PAGE,
    RegionName,
    SystemSlot,
    round_up,
)
from cannkit.format.status import RtError, RtStatus

CONTEXT_SIZE: Final = 128  # LCH-57: context of a MIX task
ALIGN: Final = 128  # of every entry, as a context needs it
SLAB: Final = 1 << 18  # bytes that a pool of entries grows by, or one entry
WORD: Final = 8


class Policy(StrEnum):
    """How a block gets to the device, and who chose the place. LCH-36 to LCH-40."""

    NOCOPY = "nocopy"
    MIX = "mix"  # LP_MIX
    NO_MIX = "no_mix"  # LP_NO_MIX
    CPU = "cpu"  # LP_CPU_KRN
    CPU_EX = "cpu_ex"  # LP_CPU_KRN_EX
    DEFERRED = "deferred"
    STREAM_POOL = "stream_pool"
    GENERIC = "generic"
    UB = "ub"


class ArgsMemoryKind(StrEnum):
    """What kind of device memory a block lies in. LCH-38, LCH-39."""

    BAR = "bar"
    ALLOCATOR = "allocator"
    SUPER = "super"
    MAX = "max"
    DYNAMIC = "dynamic"
    POOL = "pool"
    CALLER = "caller"


class Placement(NamedTuple):
    """Where the argument block of one task lies, until it is released.

    `address` is that of the block, `context` that of the 128 bytes of a MIX, 0 where there is none.
    `view` and `context_view` are their live bytes, None where the memory is the caller's or the
    driver's. `mark` is for `home`, to which it goes back.
    """

    policy: Policy
    memory: ArgsMemoryKind
    address: int
    context: int = 0
    view: memoryview | None = None
    context_view: memoryview | None = None
    home: Home | None = None
    mark: int = 0


class Home(Protocol):
    """What a placement is given back to."""

    def put(self, placement: Placement) -> None:
        """Take it back."""


class Arena:
    """The part of SYS that is for arguments, handed out once. Changes."""

    def __init__(self, device: Device) -> None:
        self._memory = device.memory
        self._next = self._memory.system_address(SystemSlot.ARGS)
        self._end = self._memory.system_address(SystemSlot.SQ_RINGS)

    @property
    def left(self) -> int:
        """Bytes that nobody has."""
        return max(self._end - self._next, 0)

    def allocate(self, size: int) -> tuple[int, memoryview]:
        """`size` bytes: their address and themselves. A page that is not mapped comes after them.

        Raises RtError: MEMORY_ALLOCATION (207001), DRV_OUT_MEMORY.
        """
        rounded = round_up(size, PAGE if size <= HUGE_FROM else HUGE_PAGE)
        if rounded > self.left:
            why = f"{size} bytes, {self.left} are left for arguments"
            raise RtError(RtStatus.MEMORY_ALLOCATION, "no room for kernel arguments", why=why)
        address = self._memory.allocate(size, RegionName.SYS, at=self._next)
        self._next += rounded + PAGE
        return address, self._memory.view(address, size)


class EntryPool:
    """Entries of `size` bytes, made as needed and used again. Changes.

    The context of a MIX comes first in an entry where there is one.
    """

    def __init__(
        self,
        arena: Arena,
        size: int,
        policy: Policy,
        memory: ArgsMemoryKind,
        *,
        has_context: bool = False,
    ) -> None:
        self.size = size
        self.policy = policy
        self.memory = memory
        self.free: list[Placement] = []
        self._arena = arena
        self._lead = CONTEXT_SIZE if has_context else 0

    def take(self) -> Placement:
        """An entry that nobody has. Raises RtError (207001) without memory."""
        if not self.free:
            self._grow()
        return self.free.pop()

    def put(self, placement: Placement) -> None:
        """See Home."""
        self.free.append(placement)

    def _grow(self) -> None:
        size, lead = self.size, self._lead
        step = round_up(max(size, 1), ALIGN)
        total = step * max(SLAB // step, 1)
        base, view = self._arena.allocate(total)
        for at in reversed(range(0, total, step)):
            self.free.append(
                Placement(
                    self.policy,
                    self.memory,
                    base + at + lead,
                    base + at if lead else 0,
                    view[at + lead : at + size],
                    view[at : at + lead] if lead else None,
                    self,
                )
            )


class RingPool:
    """LCH-40: the argument memory of one stream of A5. Changes.

    It is given back in the order it was taken, or the newest first where a launch failed.
    """

    def __init__(self, arena: Arena, size: int) -> None:
        self.size = size
        self.head = 0
        self.tail = 0
        self._live: deque[int] = deque()  # where each ends, oldest first
        self._base, self._view = arena.allocate(size)

    def take(self, size: int) -> Placement | None:
        """Room for `size` bytes, None where there is none now."""
        needed = -(-size // WORD) * WORD
        head, tail = self.head, self.tail
        if head <= tail:
            if tail + needed < self.size:
                start = tail
            elif needed < head:
                start = 0
            else:
                return None
        elif tail + needed < head:
            start = tail
        else:
            return None
        end = self.tail = start + needed
        self._live.append(end)
        return Placement(
            Policy.STREAM_POOL,
            ArgsMemoryKind.POOL,
            self._base + start,
            0,
            self._view[start:end],
            None,
            self,
            end,
        )

    def put(self, placement: Placement) -> None:
        """See Home."""
        live, mark = self._live, placement.mark
        if live[0] == mark:
            live.popleft()
            self.head = mark
        elif live[-1] == mark:
            live.pop()
            self.tail = placement.address - self._base

    def clear(self) -> None:
        """Nothing is taken."""
        self.head = self.tail = 0
        self._live.clear()


class Window:
    """The BAR window of one stream of v100: a slot for each task that can be under way. Changes."""

    def __init__(self, arena: Arena, slots: int, slot_size: int) -> None:
        self._slot_size = slot_size
        self._base, self._view = arena.allocate(slots * slot_size)
        self._places: list[Placement | None] = [None] * slots

    def place(self, slot: int) -> Placement:
        """The slot of a task, which is its own until the ring has gone round."""
        slot %= len(self._places)
        found = self._places[slot]
        if found is None:
            at = slot * self._slot_size
            view = self._view[at : at + self._slot_size]
            found = self._places[slot] = Placement(
                Policy.DEFERRED, ArgsMemoryKind.BAR, self._base + at, 0, view
            )
        return found


class Dynamic:
    """Blocks of their own from the driver, for what is too large for any entry."""

    def __init__(self, device: Device, policy: Policy) -> None:
        self._device = device
        self._policy = policy

    def take(self, size: int) -> Placement:
        """A new block. Raises RtError of the driver."""
        address = self._device.allocate(size)
        return Placement(self._policy, ArgsMemoryKind.DYNAMIC, address, home=self)

    def put(self, placement: Placement) -> None:
        """See Home. Raises RtError of the driver."""
        self._device.free(placement.address)


class Lent:
    """Placements that make up another one, and go home with it."""

    def __init__(self, *parts: Placement) -> None:
        self._parts = parts

    def put(self, placement: Placement) -> None:
        """See Home."""
        for part in self._parts:
            if part.home is not None:
                part.home.put(part)
