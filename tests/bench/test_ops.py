"""Numbers to reach of operators: a call as a process, calls a second in a batch, memory of large tensors.

The peers: the same call by hand, with ctypes and bytes that somebody has made; the emulator alone.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Final

import pytest

from cannkit.format.node_attr import Attr, AttrKind
from cannkit.ops.call import PLAIN, Prepared, description_for, prepare
from cannkit.ops.describe import Package
from cannkit.ops.session import OpSession
from cannkit.ops.toolchain import Tool
from tests.bench.conftest import Figure
from tests.bench.measure import MS, cannkit, in_pairs, process, python
from tests.ops.calling import EMULATED, RUNNER, add, call, floats, given, session, wanted
from tests.ops.library import library, toolchain

pytestmark = pytest.mark.bench

NATIVE_SECONDS: Final = 0.5
EMULATED_SECONDS: Final = 1.5
NATIVE_RATE: Final = 500
EMULATED_RATE: Final = 150
MEMORY_RATIO: Final = 2.2
ROUNDS: Final = 5
CALLS: Final = 2000
MIB: Final = 100
X: Final = floats(0, 0.5, -0.5, 0.8)
Y: Final = floats(1, 1, 1, 2)
WORDS: Final = tuple(
    word
    for spec in ("in:f32[4]=0,.5,-.5,.8", "in:f32[4]=1,1,1,2", "out:f32[4]")
    for word in ("--arg", spec)
)
DEMO: Final = "../../fixtures/aicpu_ops/demo_ops.c"  # it needs nothing that stands for the device
ALPHA: Final = Attr(AttrKind.FLOAT, 2.0)
BY_HAND: Final = """
import ctypes
function = ctypes.CDLL({path!r}).RunCpuKernel
memory = [ctypes.create_string_buffer(bytes.fromhex(data), size) for data, size in {regions!r}]
for region, offset, target, addend in {relocations!r}:
    value = ctypes.addressof(memory[target]) + addend
    ctypes.memmove(ctypes.addressof(memory[region]) + offset, value.to_bytes(8, "little"), 8)
for _ in range({times}):
    assert function(memory[0]) == 0
"""


def axpy() -> Prepared:
    return call("Axpy", [given([4], X), given([4], Y), wanted([4])], {"alpha": ALPHA})


def by_hand(times: int) -> float:
    """Seconds of a process that makes the call itself."""
    prepared = axpy()
    regions = [
        (b"" if each.data is None else bytes(each.data[0 : len(each.data)]), max(each.size, 1))
        for each in prepared.regions
    ]
    code = BY_HAND.format(
        path=library(False, DEMO),
        regions=[(data.hex(), size) for data, size in regions],
        relocations=[tuple(each) for each in prepared.relocations],
        times=times,
    )
    return python(code).seconds


@pytest.mark.parametrize("form", [(), ("--json",), ("--trace",)], ids=["text", "json", "trace"])
def test_a_native_call(form: tuple[str, ...], figure: Figure) -> None:
    line = (
        "launch",
        library(False, DEMO),
        "--op",
        "Axpy",
        "--attr",
        "alpha:float=2",
        *WORDS,
        *form,
    )
    seconds, peer = in_pairs(lambda: cannkit(*line).seconds, lambda: by_hand(1), ROUNDS)
    name = " ".join(("launch --op", *form))
    target = f"target {MS * NATIVE_SECONDS:.0f}"
    figure(f"{name}, native: {MS * seconds:.0f} ms ({target}); by hand {MS * peer:.0f} ms")
    assert seconds <= NATIVE_SECONDS


@pytest.mark.corpus
def test_a_call_of_the_real_package(aicpu_package: Path, figure: Figure) -> None:
    tools = toolchain()
    qemu, root = tools.emulator(), tools.find_sysroot()
    assert isinstance(qemu, Tool)
    assert isinstance(root, Tool)
    alone = (*qemu.command, "-L", root.path, f"{root.path}/lib/ld-linux-aarch64.so.1", "--version")
    line = ("launch", aicpu_package, "--op", "ACosGrad", *WORDS)
    seconds, peer = in_pairs(lambda: cannkit(*line).seconds, lambda: process(alone).seconds, ROUNDS)
    target = f"target {MS * EMULATED_SECONDS:.0f}"
    figure(
        f"launch --op, real package: {MS * seconds:.0f} ms ({target}); qemu alone {MS * peer:.0f} ms"
    )
    assert seconds <= EMULATED_SECONDS


def rate(found: OpSession, made: Prepared) -> float:
    """Calls a second, the start of the process included."""
    begin = perf_counter()
    results = [each.is_good for each in found.run_many([made] * CALLS)]
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


def test_a_batch_beside_a_loop(figure: Figure) -> None:
    """The loop has no limits, no guard pages and no process to lose."""
    found = rate(OpSession(library(False, DEMO), runner=RUNNER), axpy())
    many = 200 * CALLS
    peer = many / (by_hand(many + 1) - by_hand(1))
    figure(f"batch of {CALLS:,}, Axpy: {found:,.0f} calls/s; by hand {peer:,.0f}")
    assert found >= NATIVE_RATE


@pytest.mark.corpus
def test_a_batch_of_the_real_package(aicpu_package: Path, figure: Figure) -> None:
    package = Package.of(str(aicpu_package))
    assert package.library is not None
    args = [given([4], X), given([4], Y), wanted([4])]
    made = prepare(description_for(package, "ACosGrad"), args, {}, PLAIN)
    found = rate(OpSession(package.library, runner=RUNNER), made)
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
