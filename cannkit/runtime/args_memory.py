"""ArgsMemory: where the argument blocks of a device are placed. Spec 04, LCH-36 to LCH-41, LCH-57."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, Protocol

from cannkit.device.device import Device
from cannkit.device.host_profile import Attach
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.args_pool import (
    CONTEXT_SIZE,
    Arena,
    ArgsMemoryKind,
    Dynamic,
    EntryPool,
    Lent,
    Placement,
    Policy,
    RingPool,
    Window,
)

ALLOCATOR: Final = 6208  # LCH-39, bytes of an entry
SUPER: Final = 15360
MAX: Final = ALLOCATOR + 40960
UB_POOL: Final = 4096  # LCH-38
UB_SUPER: Final = 16384
NAME: Final = 256  # LCH-41
CONTEXT_BUFFER: Final = 256  # LCH-57
DEFERRED: Final = 1024  # LCH-38, bytes of a slot in the window of a stream
TASK_SLOTS: Final = 2048  # LCH-61
POOL_SIZE: Final = 1024 * 2049  # LCH-40, bytes of the pool of a stream
POOL_STREAMS: Final = 8
SHARE: Final = 2  # the windows of streams take no more than this part of what is left

V200: Final = ("v200", "v201")
BAR, POOL, CALLER = ArgsMemoryKind.BAR, ArgsMemoryKind.POOL, ArgsMemoryKind.CALLER


class ArgsKind(Enum):
    """Whose arguments they are."""

    PLAIN = auto()  # AI Core, one entry
    MIX = auto()  # AI Core with a context, on v100
    CPU = auto()  # AI CPU by kernel or by names
    CPU_EX = auto()  # AI CPU, names in the block


class Loader(Protocol):
    """Chooses the place of a block."""

    def place(
        self, stream: int, kind: ArgsKind, size: int, pointer: int | None, slot: int, captured: bool
    ) -> Placement:
        """The place; a `pointer` is device memory of the caller, which is not copied."""

    def close_stream(self, stream: int) -> None:
        """A stream has gone; nothing of it is under way."""


class ArgsMemory:
    """The argument memory of one device. Changes.

    What is released is used again. A capturing stream, and an update of what it captured, is
    `captured`.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.reset()

    def place(
        self,
        stream_id: int,
        kind: ArgsKind,
        size: int,
        *,
        pointer: int | None = None,
        task_slot: int = 0,
        captured: bool = False,
    ) -> Placement:
        """The place of a block of `size` bytes; with `pointer` only that of a context, if any.

        `task_slot` is the id of the task. Raises RtError: 207001 without memory, 107000 for an AI
        CPU block that the original would cut (Q-15).
        """
        return self._loader.place(stream_id, kind, size, pointer, task_slot, captured)

    def release(self, placement: Placement) -> None:
        """The task is done; of one stream in the order they were placed."""
        if placement.home is not None:
            placement.home.put(placement)

    def place_name(self, name: bytes) -> int:
        """The address of a name as the AI CPU reads it, the same for the same name. LCH-41.

        Raises RtError (107000) for one of more than 255 bytes, which the original would cut (Q-15).
        """
        found = self._names.get(name)
        if found is None:
            if len(name) >= NAME or b"\0" in name:
                why = f"{len(name)} bytes, at most {NAME - 1} and no NUL; the original would cut it"
                raise RtError(RtStatus.INVALID_VALUE, "unusable name of an AI CPU kernel", why=why)
            place = self._name_entries.take()
            assert place.view is not None
            place.view[: len(name)] = name
            found = self._names[name] = place.address
        return found

    def close_stream(self, stream_id: int) -> None:
        """A stream has gone and gives back what it had for itself."""
        self._loader.close_stream(stream_id)

    def reset(self) -> None:
        """The device was reset: nothing is placed."""
        arena, device = Arena(self._device), self._device
        self._names: dict[bytes, int] = {}
        self._name_entries = EntryPool(arena, NAME, Policy.CPU, ArgsMemoryKind.ALLOCATOR)
        self._loader: Loader
        if device.soc.library not in V200:
            self._loader = UmaLoader(device, arena)
            return
        limit = device.config.host.bar_limit
        if device.config.host.attach is Attach.UB:
            self._loader = StreamPools(UbLoader(device, arena), arena, limit)
        else:
            self._loader = StreamPools(PcieLoader(device, arena), arena, limit)


class Ladder:
    """Pools by size of their entries, smallest first, then blocks of their own."""

    def __init__(
        self, device: Device, arena: Arena, policy: Policy, *steps: tuple[int, ArgsMemoryKind]
    ) -> None:
        self._pools = [EntryPool(arena, size, policy, memory) for size, memory in steps]
        self._dynamic = Dynamic(device, policy)

    def take(self, size: int) -> Placement:
        """A place in the smallest entry that holds `size` bytes. Raises RtError (207001)."""
        for pool in self._pools:
            if size <= pool.size:
                return pool.take()
        return self._dynamic.take(size)


class UmaLoader:
    """v100: BAR slots, entries and windows. LCH-37 to LCH-39."""

    def __init__(self, device: Device, arena: Arena) -> None:
        host = device.config.host
        allocator, large = (ALLOCATOR, ArgsMemoryKind.ALLOCATOR), (MAX, ArgsMemoryKind.MAX)
        bar = ((host.bar_limit, BAR),) if host.bar_usable else ()
        self._has_bar = host.bar_usable
        self._mix_limit = host.bar_limit - CONTEXT_SIZE if host.bar_usable else -1
        self._mix = EntryPool(arena, host.bar_limit, Policy.MIX, BAR, has_context=True)
        self._no_mix = Ladder(device, arena, Policy.NO_MIX, *bar, allocator, large)
        self._cpu_ex = Ladder(device, arena, Policy.CPU_EX, *bar, allocator, large)
        steps = allocator, (SUPER, ArgsMemoryKind.SUPER)
        self._cpu = Ladder(device, arena, Policy.CPU, *steps)
        self._contexts = EntryPool(
            arena, CONTEXT_BUFFER, Policy.NOCOPY, ArgsMemoryKind.ALLOCATOR, has_context=True
        )
        self._arena = arena
        self._least_left = arena.left // SHARE
        self._windows: dict[int, Window | None] = {}
        self._spare: list[Window] = []

    def place(
        self, stream: int, kind: ArgsKind, size: int, pointer: int | None, slot: int, captured: bool
    ) -> Placement:
        """See Loader."""
        if kind is ArgsKind.MIX:
            if size <= self._mix_limit and not captured:
                place = self._mix.take()
                if pointer is None:
                    return place
                return place._replace(address=pointer, view=None, home=Lent(place))
            return self._with_context(self._plain(stream, size, pointer, slot, captured))
        if pointer is not None or kind is ArgsKind.PLAIN:
            return self._plain(stream, size, pointer, slot, captured)
        if kind is ArgsKind.CPU_EX:
            return self._cpu_ex.take(size)
        if size > SUPER:
            why = f"{size} bytes, the original would copy {SUPER} of them"
            raise RtError(RtStatus.INVALID_VALUE, "too many arguments of an AI CPU kernel", why=why)
        return self._cpu.take(size)

    def close_stream(self, stream: int) -> None:
        """See Loader."""
        window = self._windows.pop(stream, None)
        if window is not None:
            self._spare.append(window)

    def _plain(
        self, stream: int, size: int, pointer: int | None, slot: int, captured: bool
    ) -> Placement:
        if pointer is not None:
            return Placement(Policy.NOCOPY, CALLER, pointer)
        if size <= DEFERRED and not captured:
            window = self._windows.get(stream) or self._open_window(stream)
            if window is not None:
                return window.place(slot)
        return self._no_mix.take(size)

    def _with_context(self, place: Placement) -> Placement:
        """LCH-57: a context in a buffer of its own."""
        context = self._contexts.take()
        return place._replace(
            context=context.context,
            context_view=context.context_view,
            home=Lent(place, context),
        )

    def _open_window(self, stream: int) -> Window | None:
        """The window of a stream, None for good where there is no BAR or no room for one more."""
        if stream not in self._windows:
            window = None
            if self._has_bar and self._spare:
                window = self._spare.pop()
            elif self._has_bar and self._arena.left > self._least_left:
                window = Window(self._arena, TASK_SLOTS, DEFERRED)
            self._windows[stream] = window
        return self._windows[stream]


class StreamPools:
    """v200: the pool of a stream for small blocks (LCH-37), else what another loader chooses."""

    def __init__(self, other: Ladder, arena: Arena, limit: int) -> None:
        self._other = other
        self._arena = arena
        self._limit = limit
        self._pools: dict[int, RingPool] = {}
        self._spare: list[RingPool] = []

    def place(
        self, stream: int, kind: ArgsKind, size: int, pointer: int | None, slot: int, captured: bool
    ) -> Placement:
        """See Loader."""
        if pointer is not None:
            return Placement(Policy.NOCOPY, CALLER, pointer)
        if size <= self._limit and not captured:
            pool = self._pools.get(stream) or self._open_pool(stream)
            place = pool.take(size) if pool is not None else None
            if place is not None:
                return place
        return self._other.take(size)

    def close_stream(self, stream: int) -> None:
        """See Loader."""
        pool = self._pools.pop(stream, None)
        if pool is not None:
            pool.clear()
            self._spare.append(pool)

    def _open_pool(self, stream: int) -> RingPool | None:
        if not self._spare and len(self._pools) >= POOL_STREAMS:
            return None
        pool = self._spare.pop() if self._spare else RingPool(self._arena, POOL_SIZE)
        self._pools[stream] = pool
        return pool


class PcieLoader(Ladder):
    """v200 on PCIe: by size alone. LCH-39."""

    def __init__(self, device: Device, arena: Arena) -> None:
        host = device.config.host
        super().__init__(
            device,
            arena,
            Policy.GENERIC,
            *(((host.bar_limit, BAR),) if host.bar_usable else ()),
            (ALLOCATOR, ArgsMemoryKind.ALLOCATOR),
            (SUPER, ArgsMemoryKind.SUPER),
            (MAX, ArgsMemoryKind.MAX),
        )


class UbLoader(Ladder):
    """v200 on UB. LCH-38."""

    def __init__(self, device: Device, arena: Arena) -> None:
        steps = (UB_POOL, POOL), (UB_SUPER, ArgsMemoryKind.SUPER)
        super().__init__(device, arena, Policy.UB, *steps)
