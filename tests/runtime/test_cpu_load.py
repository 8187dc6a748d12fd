"""AI CPU programs on a device. EX-DEV-9."""

from __future__ import annotations

import pytest

from cannkit.format.status import RtStatus
from tests.runtime.loading import (
    Process,
    cpu_program,
    refused,
)

RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000
CODE = RtStatus(0x07020024)  # 507052, some failure of a driver


def test_the_library_of_a_cpu_program() -> None:
    """EX-DEV-9, CPU-2, CPU-5, CPU-6."""
    process = Process()
    device, loader = process.device(), process.loader
    program = cpu_program("RunAddCustom")
    loaded = loader.prepare(program, device)
    told = process.told()
    assert [event[:3] for event in told if event[0] == "alloc"] == [
        ["alloc", 0, size] for size in (25, 13, 65536, 24, 24)
    ]
    assert [e[-1] for e in told if e[0] == "alloc"] == [
        RW + at for at in (0, 0x1000, 0x2000, 0x12000, 0x13000)
    ]
    copied = "00200000c012000000000100" + "00200100c012000018000000"
    assert ["copy", RW + 0x13000, 24, "bytes", copied] in told
    assert ["launch", "batchLoadsoFrombuf", None, "0100000000300100c0120000"] in told
    freed = [event[2] for event in told if event[0] == "free"]
    assert freed == [RW + at for at in (0x2000, 0x12000, 0x13000)]
    assert loaded.names.addresses(program.kernels[0]) == (RW, RW + 0x1000)
    loader.prepare(program, device)
    assert process.told() == []
    loader.unload(program)
    told = process.told()
    assert [event[2] for event in told if event[0] == "free"] == [
        RW + at for at in (0, 0x1000, 0x14000, 0x15000)
    ]
    copied = "0000000000000000" + "00000100" + "00400100c012000018000000"
    assert ["copy", RW + 0x15000, 24, "bytes", copied] in told
    assert ["launch", "deleteCustOp", None, "0100000000500100c0120000"] in told


def test_names_are_copied_once_for_each_text() -> None:
    """CPU-2, DEV-23: freed in byte order."""
    process = Process()
    device, loader = process.device(), process.loader
    program = cpu_program("b", "a", mode=0)
    program.enter(cpu_program("b", so_name="a.so", mode=0).kernels)
    loader.prepare(program, device)
    told = process.told()
    assert [bytes.fromhex(str(e[-1])) for e in told if e[0] == "copy"] == [
        b"libcust_aicpu_kernels.so\0",
        b"a\0",
        b"b\0",
    ]
    loader.unload(program)
    assert [event[0] for event in process.told()] == ["free"] * 3


@pytest.mark.parametrize("mode", [0, None])
def test_no_library_is_sent_without_one(mode: int | None) -> None:
    """CPU-5."""
    process = Process()
    program = cpu_program("f")
    program.cpu_mode = mode
    process.loader.prepare(program, process.device())
    assert process.kinds() == ["alloc", "copy", "alloc", "copy"]


def test_libraries_that_are_refused() -> None:
    """Q-17: an empty name, an empty library."""
    process = Process()
    device = process.device()
    for program in (cpu_program("f", so_name=""), cpu_program("f", library=b"")):
        refused(RtStatus.INVALID_VALUE, 107000, process.loader.prepare, program, device)
        assert "launch" not in process.kinds()
    assert [
        allocation.region for allocation in device.memory if allocation.region == "DATA_RW"
    ] == []


@pytest.mark.parametrize(
    ("kind", "number"),
    [("alloc", n) for n in range(1, 6)]
    + [("copy", n) for n in range(1, 6)]
    + [("launch", 1), ("sync", 1), ("aicpusd", 1)],
)
def test_a_failed_preparation_leaves_nothing(kind: str, number: int) -> None:
    """Q-23, Q-27: names and library are taken back, one try, its error; the next call works."""
    process = Process()
    device, program = process.device(), cpu_program("f")
    used = device.memory.used
    process.faults.plan(kind, number, CODE)
    refused(CODE, 507052, process.loader.prepare, program, device)
    assert device.memory.used == used
    assert process.loader.prepare(program, device).prepared


def test_a_failed_preparation_keeps_what_was_there() -> None:
    """Q-23: a name that a registration stored, an image that a global loaded."""
    process = Process()
    device, loader, program = process.device(), process.loader, cpu_program()
    kernel = program.make_function("f", "Op")
    loader.store_names(program, kernel, device)
    program.enter([kernel])
    process.faults.plan("launch", 1, CODE)
    refused(CODE, 507052, loader.prepare, program, device)
    assert loader.on(program, device).names.addresses(kernel) == (RW, RW + 0x1000)


def test_a_function_registered_late_is_known_everywhere() -> None:
    """Q-30, CPU-3."""
    process = Process()
    devices = [process.device(number) for number in range(3)]
    loader, program = process.loader, cpu_program("f")
    for device in devices[:2]:
        loader.prepare(program, device)
    kernel = program.make_function("late", "OpLate")
    loader.store_names(program, kernel, devices[0])
    known = [loader.on(program, device).names.addresses(kernel) for device in devices]
    assert [bool(names) for names in known] == [True, True, False]
