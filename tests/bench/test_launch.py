"""Numbers to reach: launches a second, through the whole path, and the command beside `parse`."""

from __future__ import annotations

import ctypes
import tracemalloc
from collections.abc import Callable
from time import perf_counter

import pytest

from cannkit.api.runtime import Runtime
from tests.api.launching import VECTOR
from tests.api.runtimes import kernels
from tests.bench.measure import cannkit, in_pairs
from tests.build import OBJECTS
from tests.facts import A2_SOC, A5_SOC

pytestmark = pytest.mark.bench

COUNT = 40_000
ROUNDS = 5
Launch = Callable[[], object]


class PeerSqe(ctypes.Structure):
    """The same entry as a C programmer in a hurry would fill it from Python: no check, no device."""

    _pack_ = 1
    _fields_ = (
        *[(f"h{at}", ctypes.c_uint16) for at in range(8)],
        *[(f"w{at}", ctypes.c_uint32) for at in range(12)],
    )


def fill() -> bytes:
    sqe = PeerSqe()
    for at in range(8):
        setattr(sqe, f"h{at}", at)
    for at in range(12):
        setattr(sqe, f"w{at}", at)
    return bytes(sqe)


def rate(launch: Launch, finish: Launch) -> float:
    """Launches a second, the best of a few rounds that each end with a synchronise."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = perf_counter()
        for _ in range(COUNT):
            launch()
        finish()
        best = min(best, perf_counter() - begin)
    return COUNT / best


@pytest.mark.parametrize(("soc", "least"), [(A2_SOC, 100_000), (A5_SOC, 70_000)])
def test_launches(soc: str, least: int) -> None:
    """At least 40,000 a second in full, `least` prepared: an AIV kernel with 8 arguments."""
    runtime = Runtime(soc)
    function = runtime.load_from_data(kernels(VECTOR)).get_function("vec_0")
    args = [runtime.malloc(4096) for _ in range(8)]
    prepared = runtime.prepare(function, 8, args)
    full = rate(lambda: runtime.launch(function, 8, args), runtime.synchronize)
    fast = rate(lambda: prepared(args), runtime.synchronize)
    peer = rate(fill, lambda: None)
    print(  # noqa: T201
        f"{soc}: {full:,.0f} launches a second, prepared {fast:,.0f};"
        f" ctypes only fills 64 bytes {peer:,.0f} times"
    )
    assert full >= 40_000
    assert fast >= least


def test_memory_is_flat() -> None:
    """The ring wraps and argument memory is used again: nothing grows from launch to launch."""
    runtime = Runtime(A2_SOC)
    function = runtime.load_from_data(kernels(VECTOR)).get_function("vec_0")
    args = [runtime.malloc(4096) for _ in range(8)]
    for _ in range(5_000):
        runtime.launch(function, 8, args)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(20_000):
        runtime.launch(function, 8, args)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"20,000 launches: {after - before:+,} B")  # noqa: T201
    assert after - before < 4 << 20


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_command(form: tuple[str, ...]) -> None:
    """The whole process: at most 1.6 times `cannkit parse` on the same object."""
    path = OBJECTS / "AddCustom.o"
    args = [word for at in range(5) for word in ("--arg", "null")]
    ours, peer = in_pairs(
        lambda: cannkit("launch", path, "--blocks", "8", *args, *form).seconds,
        lambda: cannkit("parse", path, *form).seconds,
        9,
    )
    print(f"launch {' '.join(form)}: {ours:.3f} s, parse {peer:.3f} s")  # noqa: T201
    assert ours <= 1.6 * peer
