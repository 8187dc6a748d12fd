"""Rings: where entries lie, when one is full, and how it wraps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.device import Device
from cannkit.device.memory import DeviceFaultError, DeviceMemory, RegionName
from cannkit.device.ring import ENTRY, Ring, Rings
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.soc import all_socs, find_soc
from tests.device.station import SOCS
from tests.facts import A2_SOC, A5_SOC


def entry(number: int) -> bytes:
    return number.to_bytes(4, "little") * 16


def a_ring(depth: int) -> Ring:
    memory = DeviceMemory()
    return Ring(memory, 0, memory.allocate(depth * ENTRY, RegionName.SYS), depth)


def is_full(tail: int, head: int, n: int, depth: int) -> bool:
    """LCH-63, word by word."""
    return (tail < head and tail + n >= head) or (
        tail >= head and tail + n >= depth and (tail + n) % depth >= head
    )


@given(st.integers(8, 40), st.data())
def test_when_a_ring_is_full(depth: int, data: st.DataObject) -> None:
    """LCH-63. LCH-65 differs only where an empty ring is asked for all it has (Q-25)."""
    ring = a_ring(depth)
    ring.head, ring.tail = (
        data.draw(st.integers(0, depth - 1)),
        data.draw(st.integers(0, depth - 1)),
    )
    n = data.draw(st.integers(1, 5))
    assert ring.is_full(n) == is_full(ring.tail, ring.head, n, depth)


@pytest.mark.parametrize(("soc", "depth"), [(A2_SOC, 2048), (A5_SOC, 2049)])
def test_the_last_slot_stays_free(soc: str, depth: int) -> None:
    """STR-4, LCH-61, LCH-64, Q-25: depth - 1 entries; 507002 for one more."""
    device = Device(0, find_soc(soc))
    ring = device.open_queue(0)
    for number in range(depth - 1):
        assert device.submit(0, entry(number)) == number
    assert (ring.count, ring.is_full(), ring.is_full(0)) == (depth - 1, True, False)
    with pytest.raises(RtError, match=f"{depth - 1} of {depth}") as caught:
        device.submit(0, entry(0))
    assert (caught.value.rt, caught.value.acl) == (RtStatus.STREAM_FULL, AclStatus.RT_STREAM_FULL)
    ring.advance()
    assert device.submit(0, entry(7)) == depth - 1
    assert (ring.tail, ring.is_full()) == (0, True)


def test_several_entries_wrap_together() -> None:
    """LCH-62: a task of several entries."""
    ring = a_ring(8)
    ring.head = ring.tail = 6
    assert not ring.is_full(7)
    assert ring.is_full(8)
    assert ring.push(entry(1) + entry(2) + entry(3)) == 6
    assert (ring.tail, ring.count) == (1, 3)
    for number in (1, 2, 3):
        assert ring.peek() == entry(number)
        ring.advance()
    assert ring.count == 0


@given(st.lists(st.integers(-3, 4), max_size=60))
def test_a_ring_is_a_queue(steps: list[int]) -> None:
    ring, queue, number = a_ring(7), list[bytes](), 0
    for step in steps:
        if step > 0 and not ring.is_full(step):
            raws = [entry(number + at) for at in range(step)]
            ring.push(b"".join(raws))
            queue += raws
            number += step
        for _ in range(min(-step, len(queue))):
            assert ring.peek() == queue.pop(0)
            ring.advance()
        assert ring.count == len(queue)
        assert (ring.tail - ring.head) % ring.depth == len(queue)
    assert ring.discard() == len(queue)
    assert ring.count == 0


@pytest.mark.parametrize("soc", SOCS)
def test_entries_lie_in_device_memory(soc: str) -> None:
    """Section 6.2: from SQ_RINGS on; only the host writes there."""
    device = Device(0, find_soc(soc))
    first, second = device.open_queue(0), device.open_queue(9)
    assert first.address == 0x12FE_0000_0000
    assert second.address == 0x12FE_0004_0000
    device.submit(9, entry(1) + entry(2))
    assert device.memory.read(second.address, 128) == entry(1) + entry(2)
    device.memory.write(second.address + 5, b"\xff")
    assert second.peek()[5] == 0xFF
    with pytest.raises(DeviceFaultError, match="must not write"):
        device.memory.write(second.address, b"x", by_device=True)


def test_queues_come_and_go() -> None:
    """A slot is used again, and begins empty and zero."""
    device = Device(0, find_soc(A2_SOC))
    device.open_queue(0)
    ring = device.open_queue(1)
    used = device.memory.used
    device.submit(1, entry(1))
    device.close_queue(1)
    device.close_queue(1)
    assert ring.count == 0
    with pytest.raises(RtError, match="no queue 1") as caught:
        device.submit(1, entry(1))
    assert caught.value.rt is RtStatus.STREAM_NOT_EXIST
    again = device.open_queue(65535)
    assert (again.address, again.peek(), device.memory.used) == (ring.address, bytes(64), used)


@pytest.mark.parametrize("queue", [0, -1, 65536, 1 << 64])
def test_queues_that_cannot_be(queue: int) -> None:
    device = Device(0, find_soc(A2_SOC))
    device.open_queue(0)
    with pytest.raises(RtError, match=f"cannot open queue {queue}") as caught:
        device.open_queue(queue)
    assert caught.value.rt is RtStatus.DRV_INPUT


@pytest.mark.parametrize("size", [0, 1, 63, 65, 127])
def test_a_part_of_an_entry_is_refused(size: int) -> None:
    device = Device(0, find_soc(A2_SOC))
    device.open_queue(0)
    with pytest.raises(RtError, match=f"{size} bytes") as caught:
        device.submit(0, bytes(size))
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID


@pytest.mark.parametrize("soc", [*(soc.name for soc in all_socs()), "CLOUD_V5", "CHIP_XPU"])
def test_rings_of_every_chip_fit_their_places(soc: str) -> None:
    rings = Rings(DeviceMemory(), find_soc(soc))
    first, second = rings.open(0), rings.open(1)
    assert first.address + first.depth * ENTRY <= second.address
    assert len(rings) == 2


def test_a_reset_closes_every_queue() -> None:
    """DEV-25."""
    device = Device(0, find_soc(A2_SOC))
    ring = device.open_queue(4)
    device.submit(4, entry(1))
    device.reset()
    assert (len(device.rings), ring.count, device.memory.used) == (0, 0, 0)
    device.run()
    assert device.open_queue(4).address == ring.address
