"""Shared libraries of `tests/ae/c`, each compiled once in a run."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

SOURCES: Final = Path(__file__).parent / "c"
_FOLDER: Final = TemporaryDirectory(prefix="cannkit-tests-")


@cache
def built(source: str, *flags: str, name: str = "") -> str:
    """The library of a source, with more flags for the compiler, under a file name of its own."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = Path(_FOLDER.name, str(built.cache_info().misses))
    folder.mkdir()
    path = folder / (name or f"lib{source}.so")
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(path)]
    command.append(str(SOURCES / f"{source}.c"))
    subprocess.run([*command, *flags], check=True)
    return str(path)


class Here:
    """Files of this machine, each where it says."""

    def host_path(self, path: str) -> str:
        return path
