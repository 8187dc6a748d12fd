"""`cannkit.parse` on real objects and on large ones, beside pyelftools reading names."""

from __future__ import annotations

import gc
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest
from elftools.elf.elffile import ELFFile

import cannkit
from tests.bench.conftest import Figure
from tests.bench.measure import MS, timed
from tests.cli.inputs import vector_object

pytestmark = pytest.mark.bench

ROUNDS: Final = 5
TARGET_MS: Final = 0.30
SIZES: Final = (10, 100, 1_000, 10_000)
FLAT: Final = 2.5  # of it a half is the garbage collector, which walks what is alive


def names_by_pyelftools(path: Path) -> int:
    """Names of sections and symbols: less than half of what cannkit.parse reads."""
    count = 0
    with path.open("rb") as file:
        elf: Any = ELFFile(file)
        for section in elf.iter_sections():
            count += bool(section.name)
        table = elf.get_section_by_name(".symtab")
        for symbol in table.iter_symbols() if table else ():
            count += bool(symbol.name)
    return count


def test_real_objects(corpus: Path, figure: Figure) -> None:
    paths = sorted(corpus.rglob("*.o"))
    assert len(paths) == 630
    ours: dict[Path, list[float]] = {path: [] for path in paths}
    peer: dict[Path, list[float]] = {path: [] for path in paths}
    for _ in range(ROUNDS):
        for read, times in ((cannkit.parse, ours), (names_by_pyelftools, peer)):
            gc.collect()
            for path in paths:
                times[path].append(timed(read, path))
    own, other = (median(map(median, times.values())) * MS for times in (ours, peer))
    slowest = max(map(median, ours.values())) * MS
    figure(
        f"cannkit.parse: {own:.3f} ms a real object (target {TARGET_MS}), slowest {slowest:.2f} ms; "
        f"pyelftools, names only: {other:.3f} ms"
    )
    assert own <= TARGET_MS


def test_cost_of_a_kernel_stays_flat(tmp_path: Path, figure: Figure) -> None:
    costs: dict[int, float] = {}
    for size in SIZES:
        path = tmp_path / f"{size}.o"
        path.write_bytes(vector_object(*(f"kernel_{at}" for at in range(size))))
        assert len(cannkit.parse(path).kernels) == size
        rounds = max(3, 1_000 // size)
        own = median(timed(cannkit.parse, path) for _ in range(rounds))
        peer = median(timed(names_by_pyelftools, path) for _ in range(rounds))
        costs[size] = own / size
        figure(
            f"{size:>6,} kernels: {own / size * 1e6:6.1f} us each; "
            f"pyelftools, names only: {peer / size * 1e6:6.1f} us each"
        )
    for fewer, more in pairwise(SIZES):
        assert costs[more] <= FLAT * costs[fewer]
