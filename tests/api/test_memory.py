"""Memory calls through a Runtime: each reaches the one it stands for. Spec 03, section 6.3."""

from __future__ import annotations

from typing import Any, cast

from cannkit.api.runtime import Runtime
from cannkit.device.trace import AllocEvent, CopyKind
from cannkit.runtime.malloc_policy import MallocPolicy
from tests.api.runtimes import refused, world
from tests.facts import A2_SOC


def test_round_trip() -> None:
    """From the host to the device and back."""
    rt = Runtime(A2_SOC)
    address, back = rt.malloc(64), bytearray(64)
    rt.memcpy(address, 64, bytes(range(64)), 64, CopyKind.HOST_TO_DEVICE)
    rt.memset(address, 64, 0xFF, 4)
    assert rt.memcpy_async(back, 64, address, 64) == (64,)
    assert back == b"\xff" * 4 + bytes(range(4, 64))
    pinned = rt.malloc_host(64)
    rt.memcpy(pinned, 64, address, 64)
    rt.free(address)
    rt.free_host(pinned)
    with refused(107017):
        rt.free(address)
    with refused(107017):
        rt.free_host(pinned)


def test_sizes() -> None:
    """EX-DEV-11: 160 bytes for 100 with padding, 128 without."""
    rt, log, _ = world()
    for call in (rt.malloc, rt.malloc_align32, rt.malloc_with_cfg, rt.malloc_cached):
        call(100)
        with refused(100000):
            call(0)
    assert [event.size for event in log if isinstance(event, AllocEvent)] == [160, 128, 128, 160]
    with refused(207000):
        rt.malloc_cached(100, MallocPolicy.HUGE_ONLY)


def test_each_thread_and_device() -> None:
    rt = Runtime(A2_SOC)
    first = rt.malloc(32)
    rt.set_device(1)
    second = rt.malloc(32)
    assert second - first == 0x40_0000_0000
    rt.free(first)  # any device of the process
    rt.reset_device(1)
    for call in (
        lambda: rt.malloc(32),
        lambda: rt.memcpy(second, 32, b"x", 1),
        lambda: rt.memset(second, 32, 0, 1),
    ):
        with refused(107002):
            call()
    with refused(107017):
        rt.free(second)


def test_targets_that_cannot_be_written() -> None:
    """Memory of the caller that Python keeps from writing is no target."""
    rt = Runtime(A2_SOC)
    address = rt.malloc(64)
    for target in (b"abc", memoryview(bytearray(3)).toreadonly()):
        with refused(107000):
            rt.memcpy(cast("Any", target), 3, address, 3)
        with refused(107000):
            rt.memset(cast("Any", target), 3, 0, 3)
