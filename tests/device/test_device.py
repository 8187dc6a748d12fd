"""Device: start, reset, and what it tells of what it asks the driver."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cannkit.device.device import Device, DeviceConfig, Range
from cannkit.device.driver import CpuLaunch, Driver
from cannkit.device.memory import SystemSlot
from cannkit.device.stacks import StackConfig
from cannkit.device.trace import (
    Advice,
    AllocEvent,
    EventLog,
    FreeEvent,
    PrintKind,
    SystemEvent,
)
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.soc import all_socs, find_soc
from tests.device.drivers import Faults, TestDriver, as_recorded
from tests.facts import A2_SOC, A5_SOC

GIB = 1 << 30


def a_device(soc: str = A2_SOC, config: DeviceConfig | None = None) -> tuple[Device, EventLog]:
    log = EventLog()
    return Device(0, find_soc(soc), config, trace=log), log


@pytest.mark.parametrize("number", [-1, 64])
def test_ids(number: int) -> None:
    """DEV-1, DEV-2."""
    with pytest.raises(RtError) as caught:
        Device(number, find_soc(A2_SOC))
    assert caught.value.acl is AclStatus.RT_INVALID_DEVICEID
    assert Device(63, find_soc(A2_SOC)).id == 63


def test_start_makes_a_pool_and_stacks_once() -> None:
    """DEV-2, POOL-2, STK-2."""
    device, log = a_device()
    device.start()
    device.start()
    assert as_recorded(log) == [["alloc", 0, 1 << 21, 2, 7, True, 0x1240_0000_0000]]
    placed = [(e.slot, e.address, e.size) for e in log if isinstance(e, SystemEvent)]
    assert placed == [
        ("STACK_32K", 0x12F8_0000_0000, 2_457_600),
        ("STACK_16K", 0x12F8_4000_0000, 1_228_800),
    ]
    assert device.stacks[SystemSlot.STACK_16K] == Range(0x12F8_4000_0000, 1_228_800)


@pytest.mark.parametrize("soc", [soc.name for soc in all_socs()] + ["MC62CM12A", "CLOUD_V5"])
def test_every_chip_starts_and_leaves_nothing(soc: str) -> None:
    """POOL-1."""
    device, _ = a_device(soc)
    device.start()
    assert len(device.pools.pools) == device.soc.has_memory_pool
    device.reset()
    assert (device.started, device.memory.used, device.stacks) == (False, 0, {})


def test_a_device_that_cannot_start_leaves_nothing() -> None:
    """STK-4: SetDevice fails."""
    stacks = StackConfig(custom=200_000)
    device, log = a_device(config=DeviceConfig(stacks=stacks))
    with pytest.raises(RtError, match="EE1011") as caught:
        device.start()
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID
    assert isinstance(log[-1], FreeEvent)
    assert (device.started, device.memory.used) == (False, 0)


def test_a_custom_stack() -> None:
    """EX-DEV-10."""
    device, _ = a_device(config=DeviceConfig(stacks=StackConfig(custom=40_000)))
    device.start()
    assert device.custom_stack == 49152
    assert device.stacks[SystemSlot.STACK_CUSTOM] == Range(0x12F8_8000_0000, 3_686_400)


def test_a_reset_frees_pools_and_starts_behind_them() -> None:
    """DEV-25."""
    device, log = a_device()
    device.start()
    device.allocate(4096)
    log.clear()
    device.reset()
    assert as_recorded(log) == [["free", 0, 0x1240_0000_0000]]
    device.start()
    assert device.pools.pools[0].base == 0x1240_0020_0000
    assert device.allocate(1) == 0x12C0_0000_1000


def test_a_small_device_runs_out_of_memory() -> None:
    """MEM-1: 207001, by memory_size_bytes of the SoC."""
    device, log = a_device("Ascend310P3")
    device.start()
    with pytest.raises(RtError) as caught:
        device.allocate(25 * GIB)
    assert caught.value.rt is RtStatus.DRV_OUT_MEMORY
    assert log[-1] == AllocEvent(0, 25 * GIB, 2, 7, False, None, RtStatus.DRV_OUT_MEMORY)


def test_where_an_image_goes() -> None:
    """DEV-14 steps 6 and 7, POOL-9, EX-DEV-6: the last size in a pool, the first beside it."""
    device, log = a_device()
    device.start()
    log.clear()
    assert device.allocate_image(2_097_152, read_only=False) == (0x12C0_0000_0000, True)
    address, from_pool = device.allocate_image(2_097_153, read_only=False)
    assert (address, from_pool) == (0x12C0_0020_0000, False)
    assert as_recorded(log)[-1][2] == 2_101_249
    device.release_image(address, 2_097_153)
    device.release_image(0x12C0_0000_0000, 2_097_152)
    assert as_recorded(log)[-1] == ["free", 0, 0x12C0_0020_0000]


@pytest.mark.parametrize("code", [0x0702001D, 0x07020004])
def test_advice_that_a_driver_does_not_know_is_ignored(code: int) -> None:
    """DEV-17."""
    faults, log = Faults(), EventLog()
    faults.plan("advise", 1, code)
    device = Device(0, find_soc(A2_SOC), driver=TestDriver.sharing(faults), trace=log)
    at = device.allocate(4096)
    device.advise(Range(at, 4096), Advice.READONLY, Range(at, 4096))
    assert as_recorded(log)[-1] == ["advise", 0, at, 4096, 2, code]
    faults.plan("advise", 1, 0x07020003)
    with pytest.raises(RtError):
        device.advise(Range(at, 4096), Advice.READONLY, Range(at, 4096))


@pytest.mark.parametrize("kind", ["free", "copy", "print", "launch"])
def test_a_call_that_fails_is_told_with_its_code(kind: str) -> None:
    faults, log = Faults(), EventLog()
    device = Device(0, find_soc(A2_SOC), driver=TestDriver.sharing(faults), trace=log)
    at = device.allocate(8)
    calls: dict[str, Callable[[], object]] = {
        "free": lambda: device.free(at),
        "copy": lambda: device.copy_to_device(at, b"12345678"),
        "print": lambda: device.print_buffer(PrintKind.SIMD, reader=True),
        "launch": lambda: device.launch_cpu(CpuLaunch("k", None, b"args")),
    }
    faults.plan(kind, 1, 0x07020010)
    with pytest.raises(RtError):
        calls[kind]()
    assert as_recorded(log)[-1][-1] == 0x07020010
    calls[kind]()
    assert as_recorded(log)[-1][-1] != 0x07020010


def test_copies_there_and_back() -> None:
    """MEM-2: 507053 outside of live memory."""
    device, log = a_device()
    at = device.allocate(8)
    device.copy_to_device(at, b"12345678")
    assert device.copy_from_device(at + 2, 3) == b"345"
    with pytest.raises(RtError) as caught:
        device.copy_to_device(at + 4, b"12345")
    assert caught.value.acl == 507053
    with pytest.raises(RtError) as caught:
        device.copy_from_device(at - 1, 1)
    assert caught.value.acl == 507053
    assert [event.status is None for event in log[1:]] == [True, True, False, False]  # type: ignore[union-attr]


def test_the_l2_offset_by_scheduler() -> None:
    """DEV-19: 0 by our choice; STARS v2 has none."""
    drivers: list[Driver] = [a_device(soc)[0].driver for soc in (A2_SOC, "Ascend310P3", A5_SOC)]
    assert [drivers[0].l2_cache_offset(), drivers[1].l2_cache_offset()] == [0, 0]
    with pytest.raises(RtError) as caught:
        drivers[2].l2_cache_offset()
    assert caught.value.rt is RtStatus.DRV_NOT_SUPPORT


def test_printf_buffers_are_placed_at_first_need() -> None:
    """STK-8, section 6.2."""
    device, _ = a_device(A5_SOC)
    assert device.print_buffer(PrintKind.SIMD, reader=True) == 0x12FA_0000_0000
    assert device.print_buffer(PrintKind.SIMT, reader=True) == 0x12FC_0000_0000
    used = device.memory.used
    device.print_buffer(PrintKind.SIMT, reader=False)
    assert device.memory.used == used
    assert device.driver.c2c_address() == 0x12F9_0000_0000


def test_where_names_of_ai_cpu_kernels_lie() -> None:
    """CPU-2."""
    without = DeviceConfig(has_numa_ts=False)
    assert a_device(A2_SOC)[0].name_memory_type(8) == 0x2
    assert a_device("Ascend310P3")[0].name_memory_type(8) == 0x40
    assert a_device("Ascend310P3", without)[0].name_memory_type(4096) == 0x2
    assert a_device("Ascend310P3", without)[0].name_memory_type(4097) == 0x840
