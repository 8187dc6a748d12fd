"""Numbers to reach of the runner: a process for one call, calls a second in one, memory beside the tensors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import Final

import pytest

from cannkit.ops.job import Job
from cannkit.ops.runner import Runner
from tests.bench.conftest import Figure
from tests.ops.library import TENSORS, Data, call, joined, library, toolchain

pytestmark = pytest.mark.bench

ROUNDS: Final = 20
ONE_NATIVE: Final = 0.015  # seconds, of the half that the whole command may take
CALLS: Final = 500
RATES: Final = {False: 500, True: 150}  # a second
TENSOR: Final = 100 << 20
MOST_MEMORY: Final = 2.2  # times the tensors
TICK: Final = 0.002

both = pytest.mark.parametrize("emulated", [False, True], ids=["native", "emulated"])


def echo(emulated: bool, data: bytes) -> Job:
    """One float32 tensor in, the same out."""
    shape = (len(data) // 4,)
    return call(library(emulated), "Echo", [Data(0, shape, data)], [Data(0, shape)])


@both
def test_one_call(figure: Figure, emulated: bool) -> None:
    runner, job = Runner(toolchain()), echo(emulated, bytes(64))
    times = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        assert runner.run(job, emulate=emulated).is_whole
        times.append(perf_counter() - begin)
    median = sorted(times)[ROUNDS // 2]
    kind = "under qemu" if emulated else f"native (target {1000 * ONE_NATIVE:g})"
    figure(f"runner, one call {kind}: {1000 * median:.1f} ms, best {1000 * min(times):.1f}")
    assert emulated or min(times) <= ONE_NATIVE


@both
def test_many_calls(figure: Figure, emulated: bool) -> None:
    """Each with buffers of its own, start-up and all."""
    runner, job = Runner(toolchain()), joined(*[echo(emulated, bytes(64))] * CALLS)
    begin = perf_counter()
    assert runner.run(job, emulate=emulated, timeout=60).is_whole
    rate = CALLS / (perf_counter() - begin)
    kind = "under qemu" if emulated else "native"
    figure(f"runner, calls a second {kind}: {rate:,.0f} (target {RATES[emulated]})")
    assert rate >= RATES[emulated]


@both
def test_memory(figure: Figure, emulated: bool) -> None:
    """A tensor of 100 MiB in, one out: what this process and its children hold, shared pages once."""
    data = bytes([1]) * TENSOR
    runner, job = Runner(toolchain()), echo(emulated, data)
    assert runner.run(echo(emulated, bytes(64)), emulate=emulated).is_whole
    before = resident() - TENSOR
    with peak() as seen:
        outcome = runner.run(job, emulate=emulated, timeout=60)
        assert outcome.memory.region(TENSORS + 1) == data
    ratio = (max(seen) - before) / (2 * TENSOR)
    kind = "under qemu" if emulated else "native"
    figure(f"runner, memory {kind}: {ratio:.2f} of the tensors (target {MOST_MEMORY})")
    assert ratio <= MOST_MEMORY


@contextmanager
def peak() -> Iterator[list[int]]:
    """What is resident, looked at again and again."""
    seen: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.append(resident())
            sleep(TICK)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def resident() -> int:
    """Bytes that this process and its children hold."""
    children = [
        Path("/proc", pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
    ]
    return sum(map(share, [Path("/proc/self"), *children]))


def share(process: Path) -> int:
    """The proportional set size of a process; 0 for one that has ended."""
    with suppress(OSError):
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0
