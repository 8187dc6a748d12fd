"""Extraction from what is large, and of very many."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from cannkit.format.container import AR_MAGIC
from tests.bench.conftest import Figure
from tests.bench.measure import cannkit
from tests.bench.test_commands import HOST_MIB, HOST_SIZE, spread
from tests.build import OBJECTS
from tests.carriers import archive
from tests.objects import FATBIN_NAME
from tests.shapes import m0

pytestmark = pytest.mark.bench

MANY: Final = 100_000
MANY_MIB: Final = 250.0


def test_memory_for_a_large_host_library(tmp_path: Path, figure: Figure) -> None:
    path = tmp_path / "large.so"
    spread((OBJECTS / FATBIN_NAME).read_bytes(), path, HOST_SIZE)
    run = cannkit("extract", path, "--list")
    figure(
        f"cannkit extract --list on 1 GiB: {run.seconds:.2f} s, "
        f"{run.peak_mib:.0f} MiB (target {HOST_MIB:.0f} MiB)"
    )
    assert run.peak_mib <= HOST_MIB


def test_many_members(tmp_path: Path, figure: Figure) -> None:
    """Of one name, all of them."""
    path, out = tmp_path / "many.a", tmp_path / "out"
    one = archive([("k.o", m0().build())])
    path.write_bytes(AR_MAGIC + one.removeprefix(AR_MAGIC) * MANY)
    run = cannkit("extract", path, "--out", out)
    figure(f"cannkit extract of {MANY:,} members: {run.seconds:.1f} s, {run.peak_mib:.0f} MiB")
    assert sum(1 for _ in out.iterdir()) == MANY
    assert run.peak_mib <= MANY_MIB
