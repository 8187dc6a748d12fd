"""Simulated memory: where things lie, what they cost, and what faults."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.allocation import CHUNK
from cannkit.device.memory import (
    HUGE_PAGE,
    PAGE,
    DeviceFaultError,
    DeviceMemory,
    FaultReason,
    HostMemory,
    RegionName,
    SystemSlot,
)
from cannkit.errors import ExitCode, UsageError
from cannkit.format.status import AclStatus, RtError, RtStatus

RW, RO = RegionName.DATA_RW, RegionName.CODE_RO
GIB = 1 << 30


def fault(caught: pytest.ExceptionInfo[DeviceFaultError]) -> FaultReason:
    return caught.value.reason


@pytest.mark.parametrize(
    ("device", "code", "data", "system"),
    [
        (0, 0x1240_0000_0000, 0x12C0_0000_0000, 0x12F8_0000_0000),
        (1, 0x1242_0000_0000, 0x1300_0000_0000, 0x1338_0000_0000),
        (63, 0x12BE_0000_0000, 0x2280_0000_0000, 0x22B8_0000_0000),
    ],
)
def test_the_map_of_a_device(device: int, code: int, data: int, system: int) -> None:
    """Section 6.2."""
    memory = DeviceMemory(device)
    assert memory.allocate(1, RO) == code
    assert memory.allocate(1, RW) == data
    assert memory.place(SystemSlot.SIMD_PRINTF, 64) == system + 0x2_0000_0000
    assert memory.place(SystemSlot.SIMT_PRINTF, 64) == system + 0x4_0000_0000
    assert memory.region_of(system - 1) is RW
    assert HostMemory().allocate(1, RegionName.HOST) == 0x0700_0000_0000


def test_regions_of_all_devices_are_apart() -> None:
    """Section 6.2: also below 2^48."""
    regions = sorted(
        (region.base, region.end)
        for device in range(64)
        for region in DeviceMemory(device).regions.values()
    )
    for (_, end), (base, _) in pairwise(regions):
        assert end <= base
    assert regions[-1][1] < 1 << 48


def test_a_base_moves_the_whole_map() -> None:
    memory = DeviceMemory(3, base=0x1000_0000_0000)
    assert memory.allocate(1, RO) == 0x1000_0000_0000
    assert memory.allocate(1, RW) == 0x1080_0000_0000
    assert memory.system_address(SystemSlot.STACK_32K) == 0x10B8_0000_0000


@pytest.mark.parametrize("base", [0, -4096, 0x1000, 0x1001, 1 << 47, (1 << 48) - 4096, 1 << 60])
def test_a_base_that_cannot_be(base: int) -> None:
    if base in (0x1000, 1 << 47):
        assert DeviceMemory(base=base).allocate(1, RO) == base
        return
    with pytest.raises(UsageError, match="no usable base"):
        DeviceMemory(base=base)


def test_the_cursor_rounds_and_never_goes_back() -> None:
    """MEM-1: 4 KiB up to 1 MiB, 2 MiB above; nothing is given out twice."""
    memory = DeviceMemory()
    base = 0x12C0_0000_0000
    assert memory.allocate(1, RW) == base
    assert memory.allocate(PAGE + 1, RW) == base + PAGE
    big = memory.allocate((1 << 20) + 1, RW)
    assert big == base + HUGE_PAGE
    assert memory.used == PAGE + 2 * PAGE + HUGE_PAGE
    memory.free(big)
    assert memory.used == 3 * PAGE
    assert memory.allocate(1 << 20, RW) == base + 2 * HUGE_PAGE


def test_nothing_of_no_bytes() -> None:
    """MEM-1: the rounded cursor, which stays; the next allocation has the same address."""
    memory = DeviceMemory()
    empty = memory.allocate(0, RW)
    assert memory.allocate(0, RW) == memory.allocate(8, RW) == empty
    memory.write(empty, b"x")
    memory.free(empty)
    memory.free(empty)
    assert memory.read(empty, 1) == b"x"
    memory.free(empty)
    with pytest.raises(RtError):
        memory.free(empty)


def test_memory_runs_out_by_capacity_and_by_region() -> None:
    """MEM-1: 207001."""
    small = DeviceMemory(capacity=2 * PAGE)
    first = small.allocate(PAGE, RW)
    for size in (PAGE + 1, 64 * GIB):
        with pytest.raises(RtError, match="bytes are free") as caught:
            small.allocate(size, RO)
        assert caught.value.rt is RtStatus.DRV_OUT_MEMORY
        assert caught.value.acl is AclStatus.RT_MEMORY_ALLOCATION
    small.free(first)
    small.allocate(2 * PAGE, RW)
    large = DeviceMemory()
    large.allocate(8 * GIB, RO)
    with pytest.raises(RtError, match="CODE_RO is used up"):
        large.allocate(1, RO)
    assert large.allocate(224 * GIB, RW)


def test_a_terabyte_costs_what_was_written() -> None:
    memory = DeviceMemory()
    at = memory.allocate(200 * GIB, RW)
    memory.write(at + 100 * GIB, b"here")
    memory.fill(at, 7, 1 << 24)
    memory.fill(at, 0, 1 << 20)
    (allocation,) = memory
    assert memory.read(at + 100 * GIB - 1, 6) == b"\0here\0"
    assert memory.read(at + (1 << 20) - 1, 2) == b"\0\7"
    assert allocation.stored <= CHUNK


def test_zeros_cost_nothing_and_overwrite_what_was_there() -> None:
    memory = DeviceMemory()
    at = memory.allocate(GIB, RW)
    (allocation,) = memory
    memory.write(at, bytes(4 * CHUNK))
    assert allocation.stored == 0
    memory.write(at + CHUNK, b"there")
    memory.write(at, bytes(CHUNK + 2))
    assert memory.read(at + CHUNK - 1, 8) == b"\0\0\0ere\0\0"
    memory.fill(at, 7, 2 * CHUNK)
    memory.write(at, bytes(2 * CHUNK))
    assert memory.read(at, 2 * CHUNK) == bytes(2 * CHUNK)


@pytest.mark.parametrize("at", [None, 0x12C0_0000_0801])
def test_an_allocation_is_found_by_any_address_in_it(at: int | None) -> None:
    memory = DeviceMemory()
    start = memory.allocate(100, RW, at=at)
    found = [memory.allocation_at(start + step) for step in (-1, 0, 99, 100)]
    assert [bool(each) for each in found] == [False, True, True, False]


def test_a_place_of_choice_must_be_free() -> None:
    memory = DeviceMemory()
    start = memory.allocate(2 * PAGE, RW)
    for at in (start + PAGE, start - PAGE):
        with pytest.raises(RtError, match="in use"):
            memory.allocate(2 * PAGE, RW, at=at)


def test_accesses_that_fault() -> None:
    """MEM-2."""
    memory = DeviceMemory()
    code, data = memory.allocate(PAGE, RO), memory.allocate(100, RW)
    memory.write(code, b"host")
    with pytest.raises(DeviceFaultError) as caught:
        memory.write(code, b"device", by_device=True)
    assert fault(caught) is FaultReason.READ_ONLY
    assert caught.value.exit_code is ExitCode.FAULT
    with pytest.raises(DeviceFaultError) as caught:
        memory.write(data + 99, b"two")
    assert fault(caught) is FaultReason.PAST_END
    for address in (0, data - 1, data + 100):
        with pytest.raises(DeviceFaultError) as caught:
            memory.read(address, 1)
        assert fault(caught) is FaultReason.UNMAPPED
    memory.free(data)
    with pytest.raises(DeviceFaultError, match="no live allocation"):
        memory.fill(data, 1, 1)


def test_a_block_is_protected_by_itself() -> None:
    """Q-4: its neighbours keep what they have."""
    memory = DeviceMemory()
    pool = memory.allocate(HUGE_PAGE, RW)
    for block in range(3):
        memory.protect(pool + block * PAGE, PAGE, read_only=True)
    memory.protect(pool + PAGE, PAGE, read_only=False)
    memory.write(pool + PAGE, b"free", by_device=True)
    for at in (pool + PAGE - 1, pool + 2 * PAGE, pool):
        with pytest.raises(DeviceFaultError, match="must not write"):
            memory.write(at, b"no", by_device=True)
    memory.write(pool, b"host")


@pytest.mark.parametrize(
    ("offset", "why"), [(8, "lies inside"), (PAGE, "not the address of a live")]
)
def test_only_the_start_of_an_allocation_is_freed(offset: int, why: str) -> None:
    """MEM-5: 107017."""
    memory = DeviceMemory()
    at = memory.allocate(100, RW)
    with pytest.raises(RtError, match=why) as caught:
        memory.free(at + offset)
    assert caught.value.acl is AclStatus.RT_INVALID_HANDLE


def test_a_reset_drops_memory_but_not_the_cursor() -> None:
    """DEV-25."""
    memory = DeviceMemory(capacity=PAGE)
    first = memory.allocate(PAGE, RW)
    memory.reset()
    assert (memory.used, list(memory)) == (0, [])
    assert memory.allocate(PAGE, RW) == first + PAGE


def test_a_system_slot_is_placed_once() -> None:
    memory = DeviceMemory()
    first = memory.place(SystemSlot.SIMD_PRINTF, 4096)
    assert memory.place(SystemSlot.SIMD_PRINTF, 4096) == first
    assert memory.used == 4096
    assert memory.allocate(1, RW) == 0x12C0_0000_0000


writes = st.lists(
    st.tuples(
        st.integers(0, 3 * CHUNK - 1),
        st.binary(max_size=40) | st.tuples(st.integers(0, 255), st.integers(0, 3 * CHUNK)),
    ),
    max_size=12,
)


@given(writes)
def test_memory_holds_what_was_written(steps: list[tuple[int, bytes | tuple[int, int]]]) -> None:
    size = 3 * CHUNK
    memory, model = DeviceMemory(), bytearray(size)
    base = memory.allocate(size, RW)
    for at, what in steps:
        if isinstance(what, bytes):
            raw = what[: size - at]
            memory.write(base + at, raw)
        else:
            value, count = what[0], min(what[1], size - at)
            raw = bytes([value]) * count
            memory.fill(base + at, value, count)
        model[at : at + len(raw)] = raw
    assert memory.read(base, size) == model


@given(st.lists(st.tuples(st.sampled_from([RO, RW]), st.integers(1, 1 << 23)), max_size=30))
def test_allocations_are_apart(requests: list[tuple[RegionName, int]]) -> None:
    memory = DeviceMemory()
    for region, size in requests:
        address = memory.allocate(size, region)
        assert address % (PAGE if size <= 1 << 20 else HUGE_PAGE) == 0
    live = list(memory)
    assert len(live) == len(requests)
    for one, other in pairwise(live):
        assert one.address + one.rounded <= other.address
    for allocation in live[::2]:
        memory.free(allocation.address)
    assert memory.used == sum(allocation.rounded for allocation in memory)
