"""Images in device memory: pools, sizes, alignment, advice. EX-DEV-1, 2, 5 to 7."""

from __future__ import annotations

import pytest

from cannkit.device.memory import DeviceFaultError
from cannkit.device.trace import AdviseEvent
from cannkit.format.status import RtStatus
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.loading import (
    Process,
    image_program,
    refused,
)

RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000
CODE = RtStatus(0x07020024)  # 507052, some failure of a driver


def test_a5_images_by_their_data_section() -> None:
    """EX-DEV-1: read-only images share the first pool, a writable one makes a second."""
    process = Process(A5_SOC)
    devices = process.device(0), process.device(1)
    sizes = ((15948, False), (26616, False), (90376, True))
    images = [image_program(size, soc=A5_SOC, writable=w) for size, w in sizes]
    bases = [[process.loader.load(p, d).base for p in images] for d in devices]
    assert bases == [
        [RO, RO + 0x5000, RW],
        [0x1242_0000_0000, 0x1242_0000_5000, 0x1300_0000_0000],
    ]
    pools = devices[0].pools.pools
    assert [(pool.used, pool.free) for pool in pools] == [
        (49152, [(RO + 0xC000, 0x1F4000)]),
        (94208, [(RW + 0x17000, 0x1E9000)]),
    ]


def test_without_pools() -> None:
    """EX-DEV-2."""
    process = Process(A5_SOC, pool=False)
    device = process.device()
    for size, writable in ((15948, False), (26616, False), (90376, True)):
        process.loader.load(image_program(size, soc=A5_SOC, writable=writable), device)
    asked = [event[2:] for event in process.told() if event[0] == "alloc"]
    assert asked == [
        [21324, 2, 7, True, RO],
        [31992, 2, 7, True, RO + 0x6000],
        [95752, 2, 7, False, RW],
    ]


@pytest.mark.parametrize(
    ("size", "a2", "a5"),
    [
        (1, 4096, 4096),
        (2816, 4096, 4096),
        (2817, 4096, 8192),
        (4096, 4096, 8192),
        (4097, 8192, 8192),
        (2095872, 2097152, 2097152),
        (2095873, 2097152, -2101249),
        (2097152, 2097152, -2102528),
        (2097153, -2101249, -2102529),
    ],
)
def test_sizes_at_the_edges(size: int, a2: int, a5: int) -> None:
    """EX-DEV-6, POOL-9; negative: a direct allocation of so many bytes."""
    for soc, expected in ((A2_SOC, a2), (A5_SOC, a5)):
        process = Process(soc)
        device = process.device()
        loaded = process.loader.load(image_program(size, soc=soc), device)
        assert loaded.image is not None
        used = sum(pool.used for pool in device.pools.pools)
        asked = [event[2] for event in process.told() if event[0] == "alloc"]
        assert (used or -asked[0]) == expected  # type: ignore[operator]
        assert loaded.image.from_pool == (expected > 0)
        assert device.memory.read(loaded.aligned, size) == loaded.program.image()


@pytest.mark.parametrize(
    ("base", "aligned"), [(0, 0), (1, 0x1000), (0x200, 0x1000), (0xFFF, 0x1000)]
)
def test_a_direct_allocation_is_aligned_up(base: int, aligned: int) -> None:
    """EX-DEV-7, DEV-14 step 8, Q-15: the advice stays inside of the allocation."""
    process = Process("Ascend310P3")
    device = process.device()
    process.faults.next_address = RW + base
    loaded = process.loader.load(image_program(4104, soc="Ascend310P3"), device)
    assert (loaded.base, loaded.aligned) == (RW + base, RW + aligned)
    advice = [event for event in process.log if isinstance(event, AdviseEvent)]
    assert all(event.address + event.size <= RW + base + 8200 for event in advice)
    assert {event.asked for event in advice} == {(RW + aligned, 8200)}


def test_a_read_only_image_may_not_be_written_by_the_device() -> None:
    """DEV-16, DEV-17, MEM-2: no image is read-only where the chip says so of its data."""
    for soc, read_only in (("MC62CM12A", False), (A2_SOC, True)):
        process = Process(soc)
        device = process.device()
        loaded = process.loader.load(image_program(100, soc=soc), device)
        if read_only:
            with pytest.raises(DeviceFaultError, match="must not write"):
                device.memory.write(loaded.aligned, b"x", by_device=True)
        else:
            device.memory.write(loaded.aligned, b"x", by_device=True)


@pytest.mark.parametrize("number", [1, 2])
def test_advice_that_fails_fails_the_load(number: int) -> None:
    """DEV-17, step 11: nothing is left; the copy is made before the second advice only."""
    process = Process()
    device, program = process.device(), image_program(100)
    process.faults.plan("advise", number, CODE)
    refused(CODE, 507052, process.loader.load, program, device)
    assert ("copy" in process.kinds()) == (number == 2)
    assert sum(pool.used for pool in device.pools.pools) == 0
    assert process.loader.load(program, device).base == RO + 0x1000


@pytest.mark.parametrize(
    ("kind", "code", "acl"),
    [("copy", CODE, 507052), ("alloc", RtStatus.DRV_OUT_MEMORY, 207001)],
)
def test_a_driver_that_fails(kind: str, code: RtStatus, acl: int) -> None:
    """DEV-14 steps 7 and 11: the driver's code, unchanged."""
    process = Process(pool=False)
    device, program = process.device(), image_program(100)
    process.faults.plan(kind, 1, code)
    used = device.memory.used
    refused(code, acl, process.loader.load, program, device)
    assert device.memory.used == used
    assert process.loader.on(program, device).image is None


def test_a_full_pool_is_left_for_the_driver() -> None:
    """DEV-14 step 7: no new pool, then a direct allocation."""
    process = Process()
    device = process.device()
    process.faults.plan("alloc", 1, RtStatus.DRV_OUT_MEMORY)
    loaded = process.loader.load(image_program(100, writable=True), device)
    assert loaded.image is not None
    assert not loaded.image.from_pool
