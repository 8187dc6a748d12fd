"""Memory calls of the ACL. Spec 03, section 6.3."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.device import Device
from cannkit.device.memory import HostMemory
from cannkit.device.trace import AllocEvent, CopyKind
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.acl_memory import AclMemory
from cannkit.runtime.malloc_policy import MallocPolicy, memory_type_of, padded_size
from cannkit.runtime.pointers import PIECE
from cannkit.soc import all_socs, find_soc
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.loading import Process

RW = 0x12C0_0000_0000
H2H, H2D, D2H, D2D, DEFAULT, HBUF = CopyKind


class Setting:
    """Two devices and their memory calls."""

    def __init__(self, soc: str = A2_SOC) -> None:
        self.process = Process(soc)
        self.device, self.other = self.process.device(0), self.process.device(1)
        self.host = HostMemory()
        self.acl = AclMemory(self.host, {0: self.device, 1: self.other})

    def malloc(self, size: int, device: Device | None = None) -> int:
        return self.acl.malloc(size, device=device or self.device)


def code(call: Callable[[], object]) -> int:
    with pytest.raises(RtError) as caught:
        call()
    return int(caught.value.acl)


@pytest.mark.parametrize(
    ("soc", "policy", "align32", "size", "padded"),
    [
        (A2_SOC, 0, False, 100, 160),
        (A5_SOC, 0, False, 100, 128),
        (A2_SOC, 0, False, 1, 64),
        (A5_SOC, 0, False, 1, 32),
        (A2_SOC, 6, False, 100, 128),
        (A2_SOC, 7, False, 1, 32),
        (A2_SOC, 2, True, 100, 128),
        ("CHIP_XPU", 0, False, 32, 64),
    ],
)
def test_padding(soc: str, policy: int, align32: bool, size: int, padded: int) -> None:
    """MEM-3, EX-DEV-11."""
    assert padded_size(size, find_soc(soc), policy, align32=align32) == padded


def test_padding_of_every_chip() -> None:
    """MEM-3: 0, 16 or 32 by the chip table."""
    found = {padded_size(33, soc) - 64 for soc in all_socs()}
    assert found <= {0, 32}
    for soc in all_socs():
        padding = {"Ascend950": 0, "Ascend350": 0, "Ascend035": 16}.get(soc.family, 32)
        assert padded_size(1, soc) == (31 + 1 + padding) // 32 * 32


def test_what_malloc_refuses() -> None:
    """MEM-3: before anything else is looked at."""
    acl, device = Setting().acl, Setting().device
    for size in (0, -1, (1 << 64) - 62, 1 << 70):
        assert code(lambda size=size: acl.malloc(size, device=device)) == 100000  # type: ignore[misc]
    for call in (acl.malloc, acl.malloc_with_cfg):
        assert code(lambda call=call: call(0, device=None)) == 100000  # type: ignore[misc]
        assert code(lambda call=call: call(1, device=None)) == 107002  # type: ignore[misc]
    assert code(lambda: acl.malloc_host(0)) == 100000


def test_an_allocation_on_the_device() -> None:
    """MEM-3, MEM-4."""
    setting = Setting()
    assert setting.malloc(100) == RW
    at = setting.acl.malloc(100, MallocPolicy.ACCESS_USER_SPACE_READONLY, device=setting.device)
    assert setting.acl.malloc_with_cfg(33, device=setting.device) == RW + 0x1000
    asked = [event for event in setting.process.log if isinstance(event, AllocEvent)]
    assert [(e.size, e.memory_type, e.read_only) for e in asked] == [
        (160, 0x402, False),
        (160, 0x100402, True),
        (64, 0x402, False),
    ]
    assert at == 0x1240_0020_0000


@pytest.mark.parametrize(
    ("policy", "word"),
    [(0, 0x402), (1, 0x802), (2, 0x1002), (6, 0x10002), (0x1000, 0x402), (77, 0x402)],
)
def test_memory_type_words(policy: int, word: int) -> None:
    """MEM-4: a policy without a number of its own counts as the default."""
    assert memory_type_of(policy) == word


def test_out_of_memory_is_tried_once_more() -> None:
    """MEM-3: 207001 after one retry; other errors at once."""
    setting = Setting()
    faults = setting.process.faults
    faults.plan("alloc", 1, RtStatus.DRV_OUT_MEMORY)
    assert setting.malloc(8) == RW
    faults.plan("alloc", 1, RtStatus.DRV_OUT_MEMORY)
    faults.plan("alloc", 2, RtStatus.DRV_OUT_MEMORY)
    assert code(lambda: setting.malloc(8)) == 207001
    faults.plan("alloc", 1, RtStatus.DRV_INPUT)
    assert code(lambda: setting.malloc(8)) == 107000
    assert code(lambda: setting.malloc(100 << 30)) == 207001


def test_cached_memory() -> None:
    """MEM-5, in the order of its checks."""
    setting = Setting()

    def cached(size: int, policy: int) -> int:
        return setting.acl.malloc_cached(size, policy, device=setting.device)

    assert code(lambda: cached(0, 0)) == 100000
    assert code(lambda: cached((1 << 50) + 1, 0)) == 107000
    assert code(lambda: cached(1, MallocPolicy.HUGE_FIRST)) == 207000
    assert cached(1, MallocPolicy.NORMAL_ONLY) == RW


def test_free() -> None:
    """MEM-5: null, unknown, interior, twice, what the runtime itself holds."""
    setting = Setting()
    acl, at = setting.acl, setting.malloc(100)
    pool = setting.device.pools.pools[0].base
    assert [code(lambda a=a: acl.free(a)) for a in (None, 0)] == [100000] * 2  # type: ignore[misc]
    for address in (at + 32, 0x1234, pool):
        assert code(lambda a=address: acl.free(a)) == 107017  # type: ignore[misc]
    acl.free(at)
    assert code(lambda: acl.free(at)) == 107017
    other = setting.malloc(8, setting.other)
    acl.free(other)
    host = acl.malloc_host(8)
    acl.free_host(host)
    assert code(lambda: acl.free_host(host)) == 107017
    assert code(lambda: acl.free_host(None)) == 100000


def test_a_reset_takes_the_allocations() -> None:
    setting = Setting()
    lost, kept = setting.malloc(8), setting.malloc(8, setting.other)
    setting.process.loader.reset(setting.device)
    setting.acl.reset(setting.device)
    setting.device.start()
    assert code(lambda: setting.acl.free(lost)) == 107017
    setting.acl.free(kept)


def test_the_checks_of_a_copy_in_order() -> None:
    """MEM-6: each step passes what the one before refuses."""
    setting = Setting()
    acl, device = setting.acl, setting.device
    at = setting.malloc(64)

    def copy(
        target: int | bytearray | None,
        limit: int,
        source: int | bytes | None,
        count: int,
        kind: int = H2D,
        current: Device | None = None,
        *,
        captured: bool = False,
    ) -> None:
        acl.memcpy(target, limit, source, count, kind, device=current, captured=captured)

    copy(None, 0, None, 0, 99)
    assert code(lambda: copy(None, 0, None, 1, 99)) == 100000
    assert code(lambda: copy(0, 0, b"x", 1, 99)) == 100000
    assert code(lambda: copy(at, 0, b"x", 1, 99)) == 100000
    assert code(lambda: copy(at, 0, b"x", 1)) == 107000
    assert code(lambda: copy(at, 1, b"xy", 2)) == 107000
    copy(at, 64, at, 64)
    assert code(lambda: copy(at, 64, b"x", 1)) == 107002
    assert code(lambda: copy(at, 64, b"x", 1, H2D, device, captured=True)) == 107030
    assert code(lambda: copy(at, 64, b"x", 1, D2H, device)) == 107000
    assert code(lambda: copy(at, 64, b"short", 6, H2D, device)) == 107000
    assert code(lambda: copy(bytearray(5), 64, at, 6, D2H, device)) == 107000
    assert code(lambda: acl.memset(bytearray(5), 64, 0, 6, device=device)) == 107000


def test_bytes_travel_every_way() -> None:
    """MEM-6, MEM-9: by kind and by DEFAULT, across devices and through pinned memory."""
    setting = Setting()
    acl, device = setting.acl, setting.device
    first, second = setting.malloc(64), setting.malloc(64, setting.other)
    pinned, back = acl.malloc_host(64), bytearray(4)
    for kinds in ((HBUF, D2D, D2H, H2H), (DEFAULT,) * 4):
        acl.memcpy(first, 64, b"abcd", 4, kinds[0], device=device)
        acl.memcpy(second + 4, 60, first, 4, kinds[1], device=device)
        acl.memcpy(pinned, 64, second + 4, 4, kinds[2], device=device)
        acl.memcpy(back, 4, pinned, 4, kinds[3], device=device)
        assert back == b"abcd"
        acl.memset(first, 64, 0x161, 64, device=device)
        assert device.memory.read(first, 64) == b"a" * 64
    acl.memset(back, 4, 0x62, 2, device=device)
    acl.memset(pinned, 64, 0, 1, device=device)
    assert (bytes(back), setting.host.read(pinned, 2)) == (b"bbcd", b"\0b")


@pytest.mark.parametrize("kind", [H2H, H2D, D2H, D2D, HBUF])
def test_the_direction_must_be_that_of_the_pointers(kind: CopyKind) -> None:
    """MEM-9: 107000, with both places named."""
    setting = Setting()
    at, pinned = setting.malloc(64), setting.acl.malloc_host(64)
    places: list[int] = [at, pinned]
    right = {H2H: (pinned, pinned), H2D: (pinned, at), D2H: (at, pinned), D2D: (at, at)}
    for source in places:
        for target in places:
            if (source, target) == right.get(kind, right[H2D]):
                setting.acl.memcpy(target + 8, 8, source, 8, kind, device=setting.device)
                continue
            with pytest.raises(RtError, match=r"from .* to ") as caught:
                setting.acl.memcpy(target + 8, 8, source, 8, kind, device=setting.device)
            assert caught.value.acl == 107000
    nowhere = 0x1234
    for k in (kind, DEFAULT):
        with pytest.raises(RtError, match="no memory of this process"):
            setting.acl.memcpy(nowhere, 8, source, 8, k, device=setting.device)


def test_memory_that_is_not_live() -> None:
    """MEM-2: 507053 on a copy."""
    setting = Setting()
    acl, device, at = setting.acl, setting.device, setting.malloc(64)
    pinned = acl.malloc_host(8)
    calls: list[Callable[[], object]] = [
        lambda: acl.memcpy(at + 90, 64, b"x" * 32, 32, H2D, device=device),
        lambda: acl.memcpy(bytearray(32), 32, at + 90, 32, D2H, device=device),
        lambda: acl.memcpy(pinned, 64, b"x" * 32, 32, H2H, device=device),
        lambda: acl.memcpy(bytearray(32), 32, pinned, 32, H2H, device=device),
        lambda: acl.memset(at + 90, 64, 1, 32, device=device),
    ]
    assert [code(call) for call in calls] == [507053] * len(calls)
    acl.free(at)
    assert code(lambda: acl.memcpy(at, 8, b"12345678", 8, H2D, device=device)) == 507053


def test_the_checks_of_a_memset() -> None:
    """MEM-8."""
    setting = Setting()
    acl, at = setting.acl, setting.malloc(64)
    acl.memset(None, 0, 0, 0, device=None)
    assert code(lambda: acl.memset(None, 0, 0, 1, device=None)) == 100000
    assert code(lambda: acl.memset(at, 1, 0, 2, device=None)) == 107000
    assert code(lambda: acl.memset(at, 2, 0, 2, device=None)) == 107002
    assert code(lambda: acl.memset(0x1234, 2, 0, 2, device=setting.device)) == 107000


def test_an_asynchronous_copy() -> None:
    """MEM-7: pieces of 64 MiB; what it refuses."""
    setting = Setting()
    acl, device = setting.acl, setting.device
    size = 2 * PIECE + 5
    first, second = setting.malloc(size), setting.malloc(size)
    pinned = acl.malloc_host(8)

    def copy(
        target: int | bytearray, source: int | bytes, count: int, *, captured: bool = False
    ) -> tuple[int, ...]:
        return acl.memcpy_async(
            target, count, source, count, DEFAULT, device=device, captured=captured
        )

    assert copy(second, first, 0) == ()
    assert copy(second, first, size) == (PIECE, PIECE, 5)
    assert code(lambda: copy(bytearray(4), pinned, 4)) == 207000
    assert code(lambda: copy(first, b"data", 4, captured=True)) == 107000
    assert copy(first, pinned, 4, captured=True) == (4,)
    assert code(lambda: copy(second, first, (4 << 40) + 1)) == 107000
    assert code(lambda: acl.memcpy_async(0, 1, first, 1, device=device)) == 100000
    assert code(lambda: acl.memcpy_async(first, 1, second, 1, device=None)) == 107002


@given(st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=60)), max_size=10))
def test_what_goes_there_comes_back(steps: list[tuple[int, bytes]]) -> None:
    setting = Setting()
    acl, device, size = setting.acl, setting.device, 256
    at, model = setting.malloc(size), bytearray(size)
    for offset, raw in steps:
        raw = raw[: size - offset]
        acl.memcpy(at + offset, size - offset, raw, len(raw), device=device)
        model[offset : offset + len(raw)] = raw
    back = bytearray(size)
    acl.memcpy(back, size, at, size, device=device)
    assert back == model
