"""cannkit/runtime/args_pool.py: entries, rings and windows for argument blocks. Spec 04, 2.5."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.device import Device
from cannkit.device.memory import DeviceFaultError, SystemSlot
from cannkit.format.status import AclStatus, RtError
from cannkit.runtime.args_pool import (
    CONTEXT_SIZE,
    SLAB,
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
from cannkit.soc import find_soc
from tests.facts import A2_SOC


@pytest.fixture
def device() -> Device:
    return Device(0, find_soc(A2_SOC))


@pytest.fixture
def arena(device: Device) -> Arena:
    return Arena(device)


def pool_of(arena: Arena, size: int, *, has_context: bool = False) -> EntryPool:
    return EntryPool(arena, size, Policy.MIX, ArgsMemoryKind.BAR, has_context=has_context)


def test_arguments_lie_in_their_part_of_the_map(device: Device, arena: Arena) -> None:
    """Spec 03, 6.2."""
    first = device.memory.system_address(SystemSlot.ARGS)
    addresses = [arena.allocate(size)[0] for size in (100, 1 << 20, (1 << 20) + 1)]
    assert addresses[0] == first
    for address in addresses:
        assert device.memory.region_of(address) == "SYS"
        assert not device.memory.holds(address - 1, 1)  # a page between any two is not mapped


def test_views_are_the_memory_of_the_device(device: Device, arena: Arena) -> None:
    place = pool_of(arena, 1024, has_context=True).take()
    assert place.view is not None
    assert place.context_view is not None
    assert (len(place.view), len(place.context_view)) == (1024 - CONTEXT_SIZE, CONTEXT_SIZE)
    place.view[:3] = b"abc"
    place.context_view[:3] = b"xyz"
    assert device.memory.read(place.address, 3) == b"abc"
    device.memory.write(place.context + 3, b"!")
    assert bytes(place.context_view[:4]) == b"xyz!"
    with pytest.raises(DeviceFaultError):
        device.memory.read(place.context - 1, 1)


@pytest.mark.parametrize("size", [1, 100, 256, 6208, 47168, SLAB + 1])
def test_entries_are_apart(arena: Arena, size: int) -> None:
    """LCH-57: and where a context may lie."""
    pool = pool_of(arena, size)
    places = [pool.take() for _ in range(SLAB // size % 300 + 3)]
    starts = sorted(place.address for place in places)
    assert all(after - before >= size for before, after in pairwise(starts))
    assert all(start % 128 == 0 for start in starts)
    assert starts == [place.address for place in places]


def test_entries_are_used_again(device: Device, arena: Arena) -> None:
    pool = pool_of(arena, 1024)
    first, second = pool.take(), pool.take()
    pool.put(first)
    pool.put(second)
    used = device.memory.used
    assert [pool.take(), pool.take()] == [second, first]
    for _ in range(10_000):
        pool.put(pool.take())
    assert device.memory.used == used


def test_the_part_of_the_map_has_an_end(arena: Arena) -> None:
    pool = pool_of(arena, 1 << 30)
    for _ in range(3):
        pool.take()
    with pytest.raises(RtError) as caught:
        pool.take()
    assert caught.value.acl is AclStatus.RT_MEMORY_ALLOCATION


def test_a_ring() -> None:
    """LCH-40, step by step."""
    ring = RingPool(Arena(Device(0, find_soc(A2_SOC))), 64)
    first = ring.take(9)  # 16 bytes
    second = ring.take(40)
    assert first is not None
    assert second is not None
    assert (first.mark, second.mark) == (16, 56)
    assert second.address == first.address + 16
    assert ring.take(8) is None  # it would end where the memory does
    assert ring.take(1) is None
    ring.put(first)
    third = ring.take(8)  # to the start
    assert third is not None
    assert (third.address, third.mark) == (first.address, 8)
    assert ring.take(8) is None  # it would meet the head
    ring.put(second)
    assert ring.take(41) is None
    fourth = ring.take(40)
    assert fourth is not None
    assert fourth.mark == 48
    ring.put(third)
    ring.put(fourth)
    assert ring.take(8) is not None
    assert ring.take(48) is None
    ring.clear()
    assert ring.take(56) is not None


def test_a_launch_that_failed() -> None:
    """What it took is given back although older tasks are still under way."""
    ring = RingPool(Arena(Device(0, find_soc(A2_SOC))), 64)
    older, failed = ring.take(16), ring.take(16)
    assert older is not None
    assert failed is not None
    ring.put(failed)
    assert ring.take(16) == failed
    assert ring.take(40) is None  # what the older one has is not free
    ring.put(older)
    assert (ring.head, ring.tail) == (16, 32)


@given(
    st.lists(st.one_of(st.integers(1, 80), st.sampled_from([None, "newest"])), max_size=200),
    st.integers(16, 256),
)
def test_what_a_ring_gives_never_overlaps(steps: list[int | str | None], size: int) -> None:
    """LCH-40: any order of taking, and giving back the oldest or the newest."""
    ring = RingPool(Arena(Device(0, find_soc(A2_SOC))), size)
    live: list[tuple[Placement, int]] = []
    for step in steps:
        if step is None or isinstance(step, str):
            if live:
                ring.put(live.pop(-1 if step else 0)[0])
            continue
        place = ring.take(step)
        if place is None:
            continue
        assert place.view is not None
        assert len(place.view) >= step
        assert place.mark < size
        for other, length in live:
            assert place.address + step <= other.address or other.address + length <= place.address
        live.append((place, step))


def test_a_window(device: Device, arena: Arena) -> None:
    """LCH-38: a slot for each task that can be under way, by its id."""
    window = Window(arena, 2048, 1024)
    place = window.place(5)
    assert place.address == device.memory.system_address(SystemSlot.ARGS) + 5 * 1024
    assert (place.policy, place.memory) == (Policy.DEFERRED, ArgsMemoryKind.BAR)
    assert window.place(5 + 2048) is place
    assert window.place(65534).address == window.place(65534 % 2048).address
    assert place.view is not None
    assert len(place.view) == 1024


def test_blocks_of_their_own(device: Device) -> None:
    """LCH-39: ad-hoc device allocation."""
    device.start()
    dynamic = Dynamic(device, Policy.GENERIC)
    used = device.memory.used
    place = dynamic.take(50_000)
    assert device.memory.holds(place.address, 50_000)
    assert device.memory.used > used
    dynamic.put(place)
    assert device.memory.used == used


def test_parts_go_home_together(arena: Arena) -> None:
    pool = pool_of(arena, 256)
    first, second = pool.take(), pool.take()
    caller = Placement(Policy.NOCOPY, ArgsMemoryKind.CALLER, 0x1000)
    count = len(pool.free)
    Lent(first, caller, second).put(caller)
    assert len(pool.free) == count + 2
