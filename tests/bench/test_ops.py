"""Numbers to reach of operators: a call as a process, calls a second in a batch, memory of large tensors. Issue 6, section 3."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

import pytest

from cannkit.ops.call import PLAIN, Prepared, description_for, prepare
from cannkit.ops.describe import Package
from cannkit.ops.session import OpSession
from tests.bench.conftest import Figure
from tests.bench.measure import MS, cannkit, python
from tests.ops.calling import EMULATED, RUNNER, add, floats, given, session, wanted
from tests.ops.library import library

pytestmark = pytest.mark.bench

NATIVE_SECONDS: Final = 0.5
EMULATED_SECONDS: Final = 1.5
NATIVE_RATE: Final = 500
EMULATED_RATE: Final = 150
MEMORY_RATIO: Final = 2.2
ROUNDS: Final = 5
CALLS: Final = 2000
MIB: Final = 100
VALUES: Final = "0,.5,-.5,.8"


def one_call(path: str | Path, op: str, *more: str) -> float:
    """Seconds of a whole process, the median of some, once what it needs is compiled."""
    words = [
        word
        for spec in (f"in:f32[4]={VALUES}", "in:f32[4]=1,1,1,2", "out:f32[4]")
        for word in ("--arg", spec)
    ]
    runs = [cannkit("launch", path, "--op", op, *words, *more).seconds for _ in range(ROUNDS + 1)]
    return median(runs[1:])


@pytest.mark.parametrize("form", [(), ("--json",), ("--trace",)], ids=["text", "json", "trace"])
def test_a_native_call(form: tuple[str, ...], figure: Figure) -> None:
    seconds = one_call(library(False), "Add", *form)
    name = " ".join(("launch --op", *form))
    figure(f"{name}, native: {MS * seconds:.0f} ms (target {MS * NATIVE_SECONDS:.0f})")
    assert seconds <= NATIVE_SECONDS


@pytest.mark.corpus
def test_a_call_of_the_real_package(aicpu_package: Path, figure: Figure) -> None:
    seconds = one_call(aicpu_package, "ACosGrad")
    figure(f"launch --op, real package: {MS * seconds:.0f} ms (target {MS * EMULATED_SECONDS:.0f})")
    assert seconds <= EMULATED_SECONDS


def rate(found: OpSession, call: Prepared) -> float:
    """Calls a second, the start of the process included."""
    begin = perf_counter()
    results = [each.is_good for each in found.run_many([call] * CALLS)]
    seconds = perf_counter() - begin
    assert results == [True] * CALLS
    return CALLS / seconds


@EMULATED
def test_a_batch(emulated: bool, figure: Figure) -> None:
    target = EMULATED_RATE if emulated else NATIVE_RATE
    kind = "emulated" if emulated else "native"
    found = rate(session(emulated), add(1, 2, 3, 4))
    figure(f"batch of {CALLS:,}, {kind}: {found:,.0f} calls/s (target {target})")
    assert found >= target


@pytest.mark.corpus
def test_a_batch_of_the_real_package(aicpu_package: Path, figure: Figure) -> None:
    package = Package.of(str(aicpu_package))
    assert package.library is not None
    args = [given([4], floats(0, 0.5, -0.5, 0.8)), given([4], floats(1, 1, 1, 2)), wanted([4])]
    call = prepare(description_for(package, "ACosGrad"), args, {}, PLAIN)
    found = rate(OpSession(package.library, runner=RUNNER), call)
    figure(f"batch of {CALLS:,}, real package: {found:,.0f} calls/s (target {EMULATED_RATE})")
    assert found >= EMULATED_RATE


LARGE: Final = """
import sys, numpy, cannkit
op = cannkit.Operator({path!r}, "Echo")
given = numpy.ones({mib} << 18, numpy.float32)
run = op.run([given], outputs=[("f32", given.shape)])
assert run.outputs[0][-1] == 1
"""
NOTHING: Final = "import numpy, cannkit; cannkit.Operator"


@EMULATED
def test_memory_of_large_tensors(emulated: bool, figure: Figure) -> None:
    """An array in, an array out, and the memory that is shared with the process."""
    used = python(LARGE.format(path=library(emulated), mib=MIB))
    base = python(NOTHING)
    ratio = (used.peak_mib - base.peak_mib) / (2 * MIB)
    kind = "emulated" if emulated else "native"
    figure(
        f"two tensors of {MIB} MiB, {kind}: {used.peak_mib:.0f} MiB resident, {ratio:.2f} times their "
        f"size (target {MEMORY_RATIO}), {used.seconds:.2f} s"
    )
    assert ratio <= MEMORY_RATIO
