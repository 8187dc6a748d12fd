"""check, extract and diff as a user starts them, over the whole corpus and straight on its wheel."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copytree
from statistics import median
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.bench.conftest import Figure
from tests.bench.measure import MS, Run, cannkit, in_pairs, python
from tests.build import OBJECTS

pytestmark = pytest.mark.bench

ROUNDS: Final = 3
COPIES: Final = 10
FOLDER_SECONDS: Final = 6.0
WHEEL_SECONDS: Final = 8.0
SPEED_UP: Final = 1.6
PEAK_MIB: Final = 200.0
DIFF_RATIO: Final = 4.0
START_RATIO: Final = 3.5
ADD: Final = str(OBJECTS / "AddCustom.o")
NEVER: Final = ("--fail-on", "never")
HASHES: Final = """
import hashlib, pathlib, sys
for path in sorted(pathlib.Path({!r}).rglob("*")):
    if path.is_file():
        hashlib.sha256(path.read_bytes()).hexdigest()
"""
SPIN: Final = "for number in range(60_000_000): pass"
SPIN_TWICE: Final = f"import os; pid = os.fork()\n{SPIN}\nif pid: os.waitpid(pid, 0)"


@pytest.fixture(scope="module")
def wheel(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as the wheel that it came from."""
    path = tmp_path_factory.mktemp("wheel") / f"{corpus.name}.whl"
    with ZipFile(path, "w", ZIP_DEFLATED) as packed:
        for each in sorted(corpus.rglob("*")):
            packed.write(each, each.relative_to(corpus))
    return path


def told(runs: list[Run]) -> tuple[float, float]:
    """Seconds, and the most memory."""
    return median(run.seconds for run in runs), max(run.peak_mib for run in runs)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github"])
def test_corpus(form: str, corpus: Path, figure: Figure) -> None:
    runs = [cannkit("check", corpus, *NEVER, "--format", form) for _ in range(ROUNDS)]
    peer = python(HASHES.format(str(corpus)))
    seconds, peak = told(runs)
    figure(
        f"cannkit check CORPUS --format {form}: {seconds:.2f} s (target {FOLDER_SECONDS:.0f}), "
        f"{peak:.0f} MiB (target {PEAK_MIB:.0f}); sha256 of its files: "
        f"{peer.seconds:.2f} s, {peer.peak_mib:.0f} MiB"
    )
    assert seconds <= FOLDER_SECONDS
    assert peak <= PEAK_MIB


def test_wheel(wheel: Path, figure: Figure) -> None:
    seconds, peak = told([cannkit("check", wheel, *NEVER) for _ in range(ROUNDS)])
    peer, _ = told([cannkit("parse", wheel) for _ in range(ROUNDS)])
    figure(
        f"cannkit check WHEEL ({wheel.stat().st_size >> 20} MiB): {seconds:.2f} s "
        f"(target {WHEEL_SECONDS:.0f}), {peak:.0f} MiB (target {PEAK_MIB:.0f}); parse: {peer:.2f} s"
    )
    assert seconds <= WHEEL_SECONDS
    assert peak <= PEAK_MIB


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core")
def test_jobs(corpus: Path, tmp_path: Path, figure: Figure) -> None:
    """The corpus ten times: two processes against one."""
    for number in range(COPIES):
        copytree(corpus, tmp_path / str(number), copy_function=os.link)
    best = {"1": float("inf"), "2": float("inf")}
    alone = together = float("inf")
    peak = 0.0
    for _ in range(ROUNDS):
        for jobs in best:
            run = cannkit("check", tmp_path, *NEVER, "--jobs", jobs)
            best[jobs], peak = min(best[jobs], run.seconds), max(peak, run.peak_mib)
        alone = min(alone, python(SPIN).seconds)
        together = min(together, python(SPIN_TWICE).seconds)
    cores = min(2 * alone / together, 2.0)  # what the machine gives two processes just now
    one, two = best.values()
    target = SPEED_UP * cores / 2
    figure(
        f"cannkit check of {COPIES} corpora: {one:.2f} s, --jobs 2: {two:.2f} s, "
        f"{one / two:.2f} times faster (target {SPEED_UP}, of {cores:.1f} free cores {target:.2f}), "
        f"{peak:.0f} MiB a process"
    )
    assert one / two >= target
    assert peak <= PEAK_MIB


def test_diff(wheel: Path, figure: Figure) -> None:
    """Of the wheel with itself: it reads it twice."""
    ours, peer = in_pairs(
        lambda: cannkit("diff", wheel, wheel).seconds,
        lambda: cannkit("parse", wheel).seconds,
        ROUNDS,
    )
    figure(
        f"cannkit diff WHEEL WHEEL: {ours:.2f} s, parse WHEEL: {peer:.2f} s, "
        f"ratio {ours / peer:.2f} (target {DIFF_RATIO})"
    )
    assert ours / peer <= DIFF_RATIO


@pytest.mark.parametrize("line", [("check", ADD, *NEVER), ("diff", ADD, ADD)], ids=" ".join)
def test_start(line: tuple[str, ...], figure: Figure) -> None:
    ours, peer = in_pairs(
        lambda: cannkit(*line).seconds, lambda: python("import typer").seconds, 15
    )
    figure(
        f"cannkit {line[0]} AddCustom.o: {ours * MS:.0f} ms, import typer: {peer * MS:.0f} ms, "
        f"ratio {ours / peer:.2f} (target {START_RATIO})"
    )
    assert ours / peer <= START_RATIO
