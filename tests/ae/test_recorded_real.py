"""The recorded rows for real: their files on a disk, a C library of their functions, a child that calls.

What `test_recorded` asks of the rules alone is asked here of RootedFiles, `prober` and HostCaller too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.ae.engine import AeEngine
from cannkit.ae.host_caller import HostCaller
from cannkit.ae.so_path import read_settings
from cannkit.ae.so_walk import Attempt, resolve
from cannkit.ae.survey import ask, prober
from cannkit.format.ae_status import AeStatus
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.rooted import RootedFiles
from tests.ae.library import built
from tests.ae.recorded import Event, asked, canonical, context_of
from tests.ae.test_recorded import AE_CALL, SO_PATH, carry_out

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

Row = Mapping[str, Any]
LONG_NAMES: Final = {"LONGEST": 200, "TOO_LONG": 201}


@pytest.fixture(scope="module")
def library() -> str:
    return built("recorded", *(f'-D{name}="{"a" * size}"' for name, size in LONG_NAMES.items()))


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """An empty directory; what lies in it may be too deep for Python to remove."""
    yield tmp_path
    subprocess.run(["rm", "-rf", tmp_path], check=True)


def laid_out(row: Row, root: Path, library: str) -> RootedFiles:
    """The files of a row below a directory."""
    for path, kind in row["files"]:
        place = root / canonical(path).lstrip("/")
        folder = place if kind == "dir" else place.parent
        for each in reversed((folder, *folder.parents)):  # one has 1500 names: no recursion
            each.mkdir(exist_ok=True)
        if kind == "dir":
            continue
        if kind == "so":
            shutil.copy(library, place)  # no link: the loader would take two paths for one library
        elif kind.startswith("link:"):
            place.symlink_to(kind.removeprefix("link:"))
        else:
            place.write_text("" if kind == "empty" else "text\n")
    return RootedFiles(str(root))


def paths_of(log: list[Event]) -> list[tuple[str, str | None]]:
    """Each path that was asked for, and where it leads."""
    return [(event[1], event[2]) for event in asked(log) if event[0] == "realpath"]


def tried(attempts: tuple[Attempt, ...]) -> list[tuple[str, str | None]]:
    return [(attempt.path, attempt.real_path) for attempt in attempts]


@pytest.mark.parametrize("row", AE_CALL, ids=lambda row: f"{row['id']}-{row['kind']}")
def test_session_as_recorded(row: Row, root: Path, library: str) -> None:
    """AE-501 to AE-509, AE-1205: the same status from code that really runs."""
    files = laid_out(row, root, library)
    answers: list[int | None] = []
    with HostCaller(files) as caller:
        engine = AeEngine(context_of(row), files, caller)
        for step in row["calls"]:
            if "custSd" in step:
                engine.context = engine.context._replace(is_cust_sd=step["custSd"])
            answers.append(carry_out(engine, step))
    if "crash" in row:  # where the original ends, cannkit answers
        assert answers == [*row["status"], AeStatus.BAD_PARAM]
    else:
        assert answers == row["status"]


@pytest.mark.parametrize("row", SO_PATH, ids=lambda row: str(row["id"]))
def test_search_as_recorded(row: Row, root: Path, library: str) -> None:
    """AE-1202, AE-1203: the same paths and status from symlinks and files of a disk."""
    files = laid_out(row, root, library)
    context = context_of(row)
    settings = read_settings(context)
    assert settings.status == row["init"]
    if row["load"] is not None:
        walked = resolve(row["type"], row["so"], settings, context, files, prober(files))
        assert walked.status == row["load"]
        assert tried(walked.attempts) == paths_of(row["attempts"])
    answer = ask(CpuKernelType(row["type"]), row["so"], context, files, prober(files))
    assert answer.call_status == row["callStatus"]
