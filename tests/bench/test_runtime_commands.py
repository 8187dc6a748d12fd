"""register, lookup and load as a user starts them, alone and over the whole corpus."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

import pytest

from tests.bench.conftest import Figure
from tests.bench.measure import MS, PYTHON, Run, in_pairs, process, python
from tests.build import OBJECTS
from tests.cli.runner import command

pytestmark = pytest.mark.bench

ROUNDS: Final = 15
ADD: Final = str(OBJECTS / "AddCustom.o")
LOOKUP_SECONDS: Final = 3.0
RATIOS: Final = {
    ("register", ADD): 3.5,
    ("register", ADD, "--json"): 3.5,
    ("lookup", ADD, "--entry", "0"): 3.5,
    ("lookup", ADD, "--entry", "0", "--json"): 3.5,
    ("load", ADD): 3.5,
    ("load", ADD, "--json"): 3.5,
}
PEER: Final = "import typer"


def negative(*args: str | Path) -> Run:
    """A run whose answer is a code of its own: 1 or 4."""
    code = (
        "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode not in (0, 1, 4))"
    )
    return process([*PYTHON, code, *command(*args)])


@pytest.mark.parametrize("line", RATIOS, ids=lambda line: f"{line[0]}-{len(line)}")
def test_start(line: tuple[str, ...], figure: Figure) -> None:
    own, peer = in_pairs(
        lambda: process(command(*line)).seconds, lambda: python(PEER).seconds, ROUNDS
    )
    shown = " ".join(Path(word).name for word in line)
    figure(
        f"cannkit {shown}: {own * MS:.0f} ms, {PEER}: {peer * MS:.0f} ms, "
        f"ratio {own / peer:.2f} (target {RATIOS[line]})"
    )
    assert own / peer <= RATIOS[line]


QUERIES: Final = {
    "a miss by entry": ("--entry", "1168"),
    "a miss by name": ("--name", "OffsetsRang_67fb5b7825e97597c68d8ae6a1db5fc8_0"),
    "all hits by entry": ("--entry", "0", "--all", "--json"),
    "all hits by low bits": ("--pc", "0x12c0c0000000", "--all"),
}


@pytest.mark.parametrize("name", QUERIES)
def test_lookup_over_the_corpus(name: str, corpus: Path, figure: Figure) -> None:
    """At most 3 s, whatever is asked: a miss looks at everything, `--all` loads every hit."""
    runs = [negative("lookup", corpus, *QUERIES[name]) for _ in range(3)]
    seconds = median(run.seconds for run in runs)
    figure(f"cannkit lookup CORPUS, {name}: {seconds:.2f} s (target {LOOKUP_SECONDS:.0f})")
    assert seconds <= LOOKUP_SECONDS


@pytest.mark.parametrize("line", [("register",), ("load",), ("load", "--json")], ids=" ".join)
def test_whole_corpus(line: tuple[str, ...], corpus: Path, figure: Figure) -> None:
    """No target is set; what a directory of 630 objects takes."""
    runs = [negative(line[0], corpus, *line[1:]) for _ in range(3)]
    seconds, peak = median(r.seconds for r in runs), max(r.peak_mib for r in runs)
    figure(f"cannkit {' '.join(line)} CORPUS: {seconds:.2f} s, {peak:.0f} MiB")
