"""Numbers to reach: registration of real objects and of a large one, look-ups a second."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from cannkit.image.kernel_object import KernelObject
from cannkit.runtime.program import register
from tests.facts import A2_SOC, A5_SOC, read
from tests.reals import reals
from tests.runtime.programs import Function, object_of

pytestmark = pytest.mark.bench

LOOKUPS = 200_000


def _seconds(call: Callable[[], object], rounds: int = 5) -> float:
    """The best of some rounds: what the machine can do when left alone."""

    def once() -> float:
        start = perf_counter()
        call()
        return perf_counter() - start

    return min(once() for _ in range(rounds))


@pytest.mark.corpus
@pytest.mark.parametrize("soc", [A2_SOC, A5_SOC])
def test_real_objects(soc: str, corpus: Path) -> None:
    """Median at most 0.15 ms for an object that is parsed already."""
    objects = [read(real.data, soc) for real in reals(corpus)]
    times = [_seconds(lambda obj=obj: register(obj), 3) for obj in objects]  # type: ignore[misc]
    milliseconds = median(times) * 1e3
    print(f"register, {soc}: median {milliseconds:.3f} ms, largest {max(times) * 1e3:.3f} ms")  # noqa: T201
    assert milliseconds <= 0.15


def _large(count: int) -> KernelObject:
    return object_of(*(Function(f"k_{count - number}", None) for number in range(count)))


def test_many_kernels() -> None:
    """10,000 kernels in at most 0.5 s, and near-linear from 100 on."""
    objects = {count: _large(count) for count in (100, 1_000, 10_000)}
    times = {count: _seconds(lambda obj=obj: register(obj)) for count, obj in objects.items()}  # type: ignore[misc]
    for count, seconds in times.items():
        print(f"register {count} kernels: {seconds * 1e3:.2f} ms")  # noqa: T201
    assert times[10_000] <= 0.5
    assert times[10_000] / times[100] <= 250


@pytest.mark.parametrize("kind", ["name", "entry"])
def test_look_up(kind: str) -> None:
    """At least 1,000,000 hits a second."""
    program = register(_large(10_000))
    keys = [number * 7919 % 10_000 + 1 for number in range(LOOKUPS)]
    names = [f"k_{key}" for key in keys]

    def by_name() -> None:
        find = program.by_name
        for name in names:
            find(name)

    def by_entry() -> None:
        find = program.by_entry
        for key in keys:
            find(key)

    rate = LOOKUPS / _seconds(by_name if kind == "name" else by_entry)
    print(f"look-up by {kind}: {rate / 1e6:.1f} million a second")  # noqa: T201
    assert rate >= 1_000_000
