"""Commands as a user starts them, beside a Python that only imports typer."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

import pytest

from cannkit.format.elf_types import (
    HEADER_STRUCT,
    MAGIC,
    SECTION_SIZE,
    SECTION_STRUCT,
    ElfHeader,
    Section,
)
from tests.bench.conftest import Figure
from tests.bench.measure import MS, Run, cannkit, in_pairs, python
from tests.build import OBJECTS
from tests.cli.inputs import vector_object
from tests.cli.runner import FATBIN
from tests.objects import FATBIN_NAME

pytestmark = pytest.mark.bench

ROUNDS: Final = 15
ADD: Final = str(OBJECTS / "AddCustom.o")
RATIOS: Final = {
    ("parse", ADD): 2.5,
    ("parse", ADD, "--json"): 3.5,
    ("--version",): 1.3,
}
CORPUS_SECONDS: Final = 2.5
CORPUS_MIB: Final = 150.0
HOST_SIZE: Final = 1 << 30
HOST_MIB: Final = 64.0


@pytest.mark.parametrize("line", RATIOS, ids=lambda line: Path(line[-1]).name)
def test_start(line: tuple[str, ...], figure: Figure) -> None:
    own, peer = in_pairs(
        lambda: cannkit(*line).seconds, lambda: python("import typer").seconds, ROUNDS
    )
    ratio = own / peer
    shown = " ".join(Path(word).name for word in line)
    figure(
        f"cannkit {shown}: {own * MS:.0f} ms, import typer: {peer * MS:.0f} ms, "
        f"ratio {ratio:.2f} (target {RATIOS[line]})"
    )
    assert ratio <= RATIOS[line]


def test_real_objects_in_json(corpus: Path, figure: Figure) -> None:
    runs = [cannkit("parse", "-r", corpus, "--json") for _ in range(3)]
    peer = python(
        "import sys, pathlib\n"
        f"for path in sorted(pathlib.Path({str(corpus)!r}).rglob('*.o')):\n"
        "    path.read_bytes()\n"
    )
    seconds, peak = median(r.seconds for r in runs), max(r.peak_mib for r in runs)
    figure(
        f"cannkit parse -r CORPUS --json: {seconds:.2f} s (target {CORPUS_SECONDS}), "
        f"{peak:.0f} MiB (target {CORPUS_MIB:.0f}); reading the same bytes: "
        f"{peer.seconds:.2f} s, {peer.peak_mib:.0f} MiB"
    )
    assert seconds <= CORPUS_SECONDS
    assert peak <= CORPUS_MIB


def spread(small: bytes, path: Path, size: int) -> None:
    """Write a host library with all but its header at the end of a sparse file of `size` bytes."""
    header = ElfHeader._make(HEADER_STRUCT["little"].unpack_from(small))
    away = size - len(small)
    names = [Section._make(fields) for fields in _sections(small, header)]
    moved = [s._replace(offset=s.offset + away) if s.type else s for s in names]
    packed = HEADER_STRUCT["little"].pack(*header._replace(shoff=header.shoff + away))
    tail = bytearray(small)
    tail[header.shoff : header.shoff + SECTION_SIZE * len(moved)] = b"".join(
        SECTION_STRUCT["little"].pack(*section) for section in moved
    )
    with path.open("wb") as file:
        file.write(MAGIC + packed[4:6] + b"\1" + packed[7:])
        file.seek(away)
        file.write(tail)


def _sections(raw: bytes, header: ElfHeader) -> list[tuple[int, ...]]:
    table = raw[header.shoff : header.shoff + SECTION_SIZE * header.shnum]
    return list(SECTION_STRUCT["little"].iter_unpack(table))


def test_memory_for_a_large_host_library(tmp_path: Path, figure: Figure) -> None:
    path = tmp_path / "large.so"
    spread((OBJECTS / FATBIN_NAME).read_bytes(), path, HOST_SIZE)
    assert path.stat().st_size == HOST_SIZE
    large, small = cannkit("parse", path), cannkit("parse", FATBIN)
    figure(
        f"host library of 1 GiB: {_told(large)} (target {HOST_MIB:.0f} MiB); "
        f"of 5 kB: {_told(small)}"
    )
    assert large.peak_mib <= HOST_MIB


def test_memory_for_a_large_object(tmp_path: Path, figure: Figure) -> None:
    """An object with a gigabyte behind it is read through a window, its digest piece by piece."""
    path = tmp_path / "large.o"
    path.write_bytes(vector_object("add_0"))
    with path.open("r+b") as file:
        file.truncate(HOST_SIZE)
    large = cannkit("parse", path)
    figure(f"object of 1 GiB: {_told(large)} (target {HOST_MIB:.0f} MiB)")
    assert large.peak_mib <= HOST_MIB


def _told(run: Run) -> str:
    return f"{run.seconds * MS:.0f} ms, {run.peak_mib:.0f} MiB"


def test_spread_is_the_same_library(tmp_path: Path) -> None:
    """The large file holds what the small one does."""
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import open_inputs

    small = OBJECTS / FATBIN_NAME
    spread(small.read_bytes(), tmp_path / "wide.so", 1 << 16)
    found = [
        [bytes(item.data[:]) for item in open_inputs([str(path)]) if isinstance(item, Input)]
        for path in (small, tmp_path / "wide.so")
    ]
    assert found[0] == found[1] != []
