"""Queue entry and device memory to an event. AE-301, LCH-42, LCH-43."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from cannkit.ae.event import NULL, AeEvent, Segment
from cannkit.ae.read_event import BEHIND, MOST_BYTES, MOST_SEGMENTS, Arrival, read_event
from cannkit.device.memory import DeviceFaultError
from cannkit.errors import FormatError
from cannkit.format.ae_structs import FwkOperateParam
from cannkit.format.cpu_kernel import CpuKernelType
from tests.device.station import SOCS, Station
from tests.facts import A2_SOC

FAR = 0x1234_5678
FWK = CpuKernelType.FWK


def head(*addresses: int, length: int | None = None, ext: tuple[int, int] = (0, 0)) -> bytes:
    size = 20 + 8 * len(addresses) if length is None else length
    return struct.pack(f"<IIIQ{len(addresses)}Q", size, len(addresses), *ext, *addresses)


def arrival(station: Station, block: int = 0, **fields: Any) -> Arrival:
    entry: Any = station.cpu(**fields)
    return read_event(entry, station.memory, block)


def event(station: Station, **fields: Any) -> AeEvent:
    found = arrival(station, **fields)
    assert found.left_out == ()
    return found.event


def addresses(found: AeEvent) -> list[int]:
    return [segment.address for segment in found.argument.segments]


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kind", [0, 2, 4, 5, 6])
def test_fields(soc: str, kind: int) -> None:
    """AE-301: names, parameters, block."""
    station = Station(soc)
    found = event(station, kernel_type=kind, block_dim=0xFFFF)
    assert found[:3] == (kind, "libops.so", "Run")
    assert (found.block_id, found.block_num, found.fwk_type) == (0, 0xFFFF, None)
    assert found.argument.address == station.cpu_args
    assert arrival(station, 7, block_dim=9).event[4:6] == (7, 9)


def test_null_pointers() -> None:
    found = event(Station(), so_name_addr=0, func_name_addr=0, args_addr=0)
    assert found[1:4] == (None, None, NULL)


@pytest.mark.parametrize("soc", SOCS)
def test_a_framework_task(soc: str) -> None:
    """AE-301, AE-703: the number at `kernel`, and the address behind it; no names, no block."""
    station = Station(soc)
    operate = FwkOperateParam(io_addr=station.buffer + 8, ext_info_addr=FAR).encode()
    station.memory.write(station.cpu_args, b"\x0a\0\0\0" + operate)
    found = event(station, kernel_type=FWK)
    assert (found.fwk_type, found.so_name, found.func_name) == (10, None, None)
    assert found.argument.address == station.cpu_args + 4
    assert addresses(found) == [station.cpu_args, station.buffer]
    short = station.device.allocate(4)
    station.memory.write(short, b"\0\0\0\0")
    found = event(station, kernel_type=FWK, args_addr=short)
    assert (found.fwk_type, addresses(found)) == (0, [short])
    assert event(station, kernel_type=FWK, args_addr=0).fwk_type is None


def test_what_the_parameters_point_to() -> None:
    """LCH-42: each allocation once, whole; what points nowhere is left to the function."""
    station = Station()
    other = station.device.allocate(32)
    station.memory.write(other, bytes(range(32)))
    block = head(
        station.buffer + 100, other + 31, FAR, 0, station.buffer, ext=(8, station.context + 8)
    )
    station.memory.write(station.cpu_args, block)
    found = event(station)
    assert addresses(found) == [station.cpu_args, station.buffer, other, station.context]
    assert found.argument.segments[2] == Segment(other, bytes(range(32)))
    station.memory.write(station.cpu_args, head(ext=(0, station.context)))
    assert addresses(event(station)) == [station.cpu_args]


def test_memory_that_the_device_may_not_write() -> None:
    station = Station()
    station.memory.protect(station.buffer, 256, read_only=True)
    station.memory.write(station.cpu_args, head(station.buffer))
    assert [each.is_writable for each in event(station).argument.segments] == [True, False]


def test_parameters_in_a_large_pool() -> None:
    """From the parameters on: all of them, or 64 KiB."""
    station = Station()
    pool = station.device.allocate(1 << 20)
    station.memory.write(pool + 256, head(length=28))
    (found,) = event(station, args_addr=pool + 256).argument.segments
    assert (found.address, len(found.data)) == (pool + 256, BEHIND)
    station.memory.write(pool + 256, head(length=300_000))
    (found,) = event(station, args_addr=pool + 256).argument.segments
    assert len(found.data) == 300_000
    station.memory.write(pool + 256, head(length=0xFFFF_FFFF))
    (found,) = event(station, args_addr=pool + 256).argument.segments
    assert found.address + len(found.data) == pool + (1 << 20)
    station.memory.write(pool + 256, head(pool))
    (found,) = event(station, args_addr=pool + 256).argument.segments
    assert (found.address, len(found.data)) == (pool, 1 << 20)


def test_an_allocation_that_is_larger_than_its_tensor() -> None:
    """Only the bytes in use are handed on; a size that cannot be counts as none."""
    station = Station()
    station.memory.write(station.cpu_args, head(station.buffer + 4, station.context))
    whole = station.memory.allocation_at(station.context)
    assert whole is not None
    extents = {station.buffer: 16, station.context: 1 << 40, FAR: 1}
    entry: Any = station.cpu()
    found = read_event(entry, station.memory, extents=extents).event.argument.segments
    assert [len(each.data) for each in found[1:]] == [16, whole.size]


def test_too_much_memory() -> None:
    station = Station()
    large, small = station.device.allocate(MOST_BYTES), station.device.allocate(16)
    station.memory.write(station.cpu_args, head(large, small, large))
    found = arrival(station)
    assert addresses(found.event) == [station.cpu_args, small]
    assert found.left_out == (f"{MOST_BYTES} bytes at {large:#x}: more than {MOST_BYTES} in all",)


def test_too_many_allocations() -> None:
    station = Station()
    count = MOST_SEGMENTS + 2
    many = [station.device.allocate(8) for _ in range(count)]
    args = station.device.allocate(20 + 8 * count)
    station.memory.write(args, head(*many))
    found = arrival(station, args_addr=args)
    assert addresses(found.event) == [args, *many[: MOST_SEGMENTS - 1]]
    assert found.left_out == (f"3 allocations behind the first {MOST_SEGMENTS}",)


def test_a_head_that_lies() -> None:
    """Its numbers are those of anybody; a logic kernel has none at all."""
    station = Station()
    for raw in (b"\xff" * 20, head(FAR)[:4] + b"\xff" * 4):
        station.memory.write(station.cpu_args, raw)
        assert addresses(event(station)) == [station.cpu_args]
    short = station.device.allocate(4)
    assert addresses(event(station, so_name_addr=0, args_addr=short)) == [short]


@pytest.mark.parametrize("field", ["so_name_addr", "func_name_addr"])
def test_names(field: str) -> None:
    station = Station(A2_SOC)
    at = station.device.allocate(300)
    station.memory.write(at, b"n\xff" + b"m" * 253)
    found = event(station, **{field: at})
    assert "n\udcff" + "m" * 253 in found[1:3]
    station.memory.write(at, b"n" * 256)
    with pytest.raises(FormatError, match="no string of up to 255 bytes"):
        arrival(station, **{field: at})
    station.memory.write(at + 298, b"nm")
    with pytest.raises(FormatError, match=f"{at + 298:#x}"):
        arrival(station, **{field: at + 298})
    with pytest.raises(DeviceFaultError):
        arrival(station, **{field: FAR})


def test_what_is_not_there() -> None:
    """Parameters that are not there are for the function to find out."""
    station = Station()
    with pytest.raises(DeviceFaultError):
        arrival(station, kernel_type=FWK, args_addr=FAR)
    assert event(station, args_addr=FAR).argument == (FAR, ())
