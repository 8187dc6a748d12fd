"""Kernel pools: the recorded answers, and what holds whatever is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.device import Device
from cannkit.device.driver import MemoryRequest
from cannkit.device.kernel_pool import IDLE_LIMIT, POOL_SIZE, KernelPool, KernelPools
from cannkit.device.trace import AllocEvent, EventLog
from cannkit.errors import BugError
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.soc import find_soc
from tests.device.drivers import SOCS, Faults, TestDriver, as_recorded
from tests.device.pools import described
from tests.facts import A2_SOC, rows

Row = dict[str, Any]


def pools_of(device: Device, *, trusting: bool = False) -> KernelPools:
    def allocate(request: MemoryRequest) -> int:
        return device.allocate(
            request.size, memory_type=request.memory_type, read_only=request.read_only
        )

    return KernelPools(
        allocate,
        device.free,
        honours_flag=not device.soc.data_is_read_only,
        trusting=trusting,
    )


@pytest.mark.parametrize("row", rows("pool"), ids=lambda row: f"{row['id']}-{row['style']}")
def test_recorded_pools(row: Row) -> None:
    """POOL-2 to POOL-8, addresses and free lists to the bit, also for hostile releases."""
    log, faults = EventLog(), Faults()
    soc = find_soc(SOCS[row["profile"]])
    device = Device(row["device"], soc, driver=TestDriver.sharing(faults), trace=log)
    pools = pools_of(device, trusting=True)
    pools.start()
    assert as_recorded(log) == row["init"]
    answers = []
    for op in row["ops"]:
        log.clear()
        answer = _answer(op, pools, faults)
        if answer is not None:
            answers.append(answer | ({"ev": as_recorded(log)} if as_recorded(log) else {}))
    assert answers == row["out"]
    assert described(pools) == row["final"]
    log.clear()
    pools.close()
    assert as_recorded(log) == row["teardown"]


def _answer(op: list[Any], pools: KernelPools, faults: Faults) -> dict[str, Any] | None:
    match op:
        case ["a", size, read_only]:
            return {"addr": pools.allocate(size, read_only=read_only) or 0}
        case ["r", address, size]:
            return {"ok": pools.try_release(address, size)}
        case ["c", address]:
            return {"ok": pools.owner(address) is not None}
        case ["i", address]:
            owner = pools.owner(address)
            return {"base": owner.base if owner else None}
        case ["s"]:
            return {"pools": described(pools)}
        case ["f", after, code]:
            faults.plan("alloc", after, code)
            return None
    raise AssertionError(op)


def a2_pools() -> tuple[Device, KernelPools, EventLog]:
    log = EventLog()
    device = Device(0, find_soc(A2_SOC), trace=log)
    device.start()
    return device, device.pools, log


def test_a_pool_is_cut_from_the_front_and_grows_at_the_tail() -> None:
    """POOL-4, POOL-5, EX-DEV-4: first fit, no merging."""
    _, pools, _ = a2_pools()
    blocks = [pools.allocate(size, read_only=False) or 0 for size in (0x2000, 0x7000, 0x4000)]
    assert blocks == [0x12C0_0000_0000, 0x12C0_0000_2000, 0x12C0_0000_9000]
    assert pools.try_release(blocks[1], 0x7000)
    assert pools.try_release(blocks[0], 0x2000)
    assert pools.pools[1].used == 16384
    assert pools.pools[1].free == [
        (0x12C0_0000_D000, 0x1F3000),
        (0x12C0_0000_2000, 0x7000),
        (0x12C0_0000_0000, 0x2000),
    ]
    assert pools.allocate(28672, read_only=False) == 0x12C0_0000_D000


@pytest.mark.parametrize(("size", "fits"), [(0, False), (POOL_SIZE, True), (POOL_SIZE + 1, False)])
def test_a_pool_serves_at_most_its_size(size: int, fits: bool) -> None:
    """POOL-4."""
    _, pools, _ = a2_pools()
    assert (pools.allocate(size, read_only=True) is not None) == fits
    assert len(pools.pools) == 1


def test_read_only_and_writable_blocks_never_share_a_pool() -> None:
    """POOL-4; the driver is asked for memory that the device must not write."""
    _, pools, log = a2_pools()
    addresses = [pools.allocate(4096, read_only=flag) for flag in (True, False)]
    assert addresses == [0x1240_0000_0000, 0x12C0_0000_0000]
    asked = [event.read_only for event in log if isinstance(event, AllocEvent)]
    assert asked == [True, False]


def test_the_front_idle_pools_go_above_five() -> None:
    """POOL-8, EX-DEV-5: the first pool goes although the one just emptied is behind it."""
    _, pools, _ = a2_pools()
    size = 0x150000
    blocks = [pools.allocate(size, read_only=False) or 0 for _ in range(8)]
    counts = []
    for block in blocks:
        pools.try_release(block, size)
        counts.append(len(pools.pools))
    assert counts == [9, 9, 9, 9, 8, 7, 6, 5]
    assert not any(pool.read_only for pool in pools.pools)


@pytest.mark.parametrize(
    ("address", "size"), [(0x12C0_0000_0000, 8192), (0x12C0_0000_0800, 4096), (0x12C0_0000_0800, 0)]
)
def test_a_release_that_is_no_block_is_a_bug_of_ours(address: int, size: int) -> None:
    """POOL-11."""
    _, pools, _ = a2_pools()
    pools.allocate(4096, read_only=False)
    with pytest.raises(BugError, match="never handed out"):
        pools.try_release(address, size)


def test_a_block_released_twice_is_not_the_pools() -> None:
    """POOL-6, POOL-7: a free address belongs to nobody, nor does a foreign one."""
    _, pools, _ = a2_pools()
    block = pools.allocate(4096, read_only=False) or 0
    pools.allocate(4096, read_only=False)
    assert pools.try_release(block, 4096)
    assert not pools.try_release(block, 4096)
    assert not pools.try_release(0x7000_0000, 4096)


def test_a_device_without_memory_for_its_first_pool_does_not_start() -> None:
    """POOL-2: 207001 whatever the driver answered; nothing is left."""
    faults = Faults()
    faults.plan("alloc", 1, RtStatus.DRV_INPUT)
    device = Device(0, find_soc(A2_SOC), driver=TestDriver.sharing(faults))
    with pytest.raises(RtError) as caught:
        device.start()
    assert caught.value.rt is RtStatus.MEMORY_ALLOCATION
    assert caught.value.acl is AclStatus.RT_MEMORY_ALLOCATION
    assert (device.started, device.memory.used, device.pools.pools) == (False, 0, [])


steps = st.lists(
    st.one_of(
        st.tuples(st.integers(1, POOL_SIZE // 4096), st.booleans()),
        st.integers(0, 30),
    ),
    max_size=60,
)


@given(steps)
def test_pools_neither_lose_nor_share_a_byte(steps: list[tuple[int, bool] | int]) -> None:
    """Spec 03, section 14: free and used are 2 MiB, blocks are disjoint and 4 KiB aligned."""
    device, pools, _ = a2_pools()
    live: dict[int, int] = {}
    for step in steps:
        if isinstance(step, int):
            if live:
                address = sorted(live)[step % len(live)]
                assert pools.try_release(address, live.pop(address))
        else:
            size = step[0] * 4096
            address = pools.allocate(size, read_only=step[1]) or 0
            assert address % 4096 == 0
            live[address] = size
        ranges = sorted(live.items())
        for pool in pools.pools:
            _check(pool, ranges)
        assert sum(pool.used for pool in pools.pools) == sum(live.values())
        assert sum(pool.used == 0 for pool in pools.pools) <= max(IDLE_LIMIT, 1)
    device.reset()
    assert device.memory.used == 0


def _check(pool: KernelPool, live: list[tuple[int, int]]) -> None:
    mine = [(at, size) for at, size in live if pool.base <= at < pool.base + POOL_SIZE]
    parts = sorted([*mine, *pool.free])
    assert pool.used == sum(size for _, size in mine)
    assert sum(size for _, size in parts) == POOL_SIZE
    at = pool.base
    for start, size in parts:
        assert start == at
        at += size


def test_a_pool_that_the_driver_does_not_take_back_is_gone() -> None:
    """POOL-8, DEV-25: the failure is told, and ends nothing."""
    faults, log = Faults(), EventLog()
    device = Device(0, find_soc(A2_SOC), driver=TestDriver.sharing(faults), trace=log)
    device.start()
    blocks = [device.pools.allocate(POOL_SIZE, read_only=False) or 0 for _ in range(5)]
    faults.plan("free", 1, 0x07020024)
    assert all(device.pools.try_release(block, POOL_SIZE) for block in blocks)
    assert len(device.pools.pools) == IDLE_LIMIT
    assert as_recorded(log)[-1] == ["free", 0, 0x1240_0000_0000, 0x07020024]
