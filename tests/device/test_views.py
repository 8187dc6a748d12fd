"""Memory looked at in place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.allocation import CHUNK
from cannkit.device.memory import DeviceFaultError, DeviceMemory, FaultReason, RegionName

RW, RO = RegionName.DATA_RW, RegionName.CODE_RO


@pytest.mark.parametrize("size", [64, CHUNK, CHUNK + 1, 5 * CHUNK])
def test_a_view_is_the_memory(size: int) -> None:
    memory = DeviceMemory()
    at = memory.allocate(size, RW)
    memory.write(at + 8, b"before")
    view = memory.view(at, size)
    assert (len(view), view.contiguous, bytes(view[8:14])) == (size, True, b"before")
    view[size - 1] = 7
    memory.write(at + 8, b"after!")
    assert memory.read(at + size - 1, 1) == b"\7"
    assert bytes(view[8:14]) == b"after!"
    memory.fill(at, 9, size)
    assert view[size - 1] == 9
    assert memory.view(at + 3, 4) == b"\t" * 4
    (allocation,) = memory
    assert allocation.stored == size


def test_views_share_and_outlive() -> None:
    memory = DeviceMemory()
    at = memory.allocate(3 * CHUNK, RW)
    one, other = memory.view(at, 100), memory.view(at + 50, 10)
    other[0] = 1
    assert one[50] == 1
    memory.free(at)
    one[50] = 2
    assert other[0] == 2
    with pytest.raises(DeviceFaultError):
        memory.view(at, 1)


def test_a_whole_filled_memory_keeps_its_contents() -> None:
    memory = DeviceMemory()
    at = memory.allocate(3 * CHUNK, RW)
    memory.fill(at, 5, 2 * CHUNK)
    assert memory.view(at, 3 * CHUNK) == b"\5" * (2 * CHUNK) + bytes(CHUNK)


def test_the_device_looks_but_does_not_write_where_it_must_not() -> None:
    """MEM-2."""
    memory = DeviceMemory()
    code, data = memory.allocate(64, RO), memory.allocate(8192, RW)
    memory.protect(data, 4096, read_only=True)
    for address, size, read_only in (
        (code, 64, True),
        (data, 1, True),
        (data + 4095, 2, True),
        (data + 4096, 8, False),
    ):
        assert memory.view(address, size, by_device=True).readonly is read_only
        assert not memory.view(address, size).readonly


def test_views_that_fault() -> None:
    memory = DeviceMemory()
    at = memory.allocate(100, RW)
    for address, size, reason in (
        (at, 101, FaultReason.PAST_END),
        (at + 99, 2, FaultReason.PAST_END),
        (at - 1, 1, FaultReason.UNMAPPED),
        (at + 100, 0, FaultReason.UNMAPPED),
    ):
        with pytest.raises(DeviceFaultError) as caught:
            memory.view(address, size)
        assert caught.value.reason is reason


def test_an_allocation_too_large_to_be_looked_at() -> None:
    """Memory of ours stays in proportion: 4 GiB at most, and pages only where something is."""
    memory = DeviceMemory()
    large = memory.allocate((4 << 30) + 1, RW)
    with pytest.raises(DeviceFaultError, match="too large"):
        memory.view(large, 1)
    memory.write(large, b"still there")
    assert memory.read(large, 5) == b"still"


def test_what_memory_holds() -> None:
    memory = DeviceMemory()
    at = memory.allocate(100, RW)
    empty = memory.allocate(0, RW)
    assert memory.holds(at, 100)
    assert not memory.holds(at, 101)
    assert not memory.holds(at - 1, 1)
    assert not memory.holds(-1, 1)
    assert memory.holds(empty, 0)
    assert not memory.holds(empty, 1)
    assert not memory.holds(empty + 1, 0)


def test_changes_are_counted() -> None:
    memory = DeviceMemory()
    seen = [memory.changes]
    at = memory.allocate(100, RW)
    seen.append(memory.changes)
    memory.write(at, b"x")
    assert memory.changes == seen[-1]
    memory.free(at)
    seen.append(memory.changes)
    memory.reset()
    seen.append(memory.changes)
    assert sorted(set(seen)) == seen


steps = st.lists(
    st.tuples(st.sampled_from(["write", "fill", "view"]), st.integers(0, 2 * CHUNK), st.binary(max_size=40)),
    max_size=12,
)  # fmt: skip


@given(steps)
def test_flat_memory_holds_what_was_written(plan: list[tuple[str, int, bytes]]) -> None:
    size = 2 * CHUNK + 40
    memory, model = DeviceMemory(), bytearray(size)
    base = memory.allocate(size, RW)
    for kind, at, raw in plan:
        if kind == "write":
            memory.write(base + at, raw)
        elif kind == "view":
            memory.view(base + at, len(raw))[:] = raw
        else:
            raw = raw[:1] * len(raw)
            memory.fill(base + at, raw[0] if raw else 0, len(raw))
        model[at : at + len(raw)] = raw
    assert memory.read(base, size) == model
