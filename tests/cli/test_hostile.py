"""Small files made to cost much: an answer or an error, in 2 seconds and 256 MiB, whatever the view."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cannkit.format.ascend_meta import BINARY_SECTION, FUNCTION_SECTION
from cannkit.format.elf_types import SectionType
from tests.build import ObjectBuilder
from tests.shapes import m0

VIEWS: tuple[list[str], ...] = ([], ["--json"], ["-v"], ["-v", "--json"], ["--raw"])
SECONDS = 4.0  # twice the promise: a test machine may be busy
KIBIBYTES = 256 << 10
LIMIT = 64 << 10

Made = Callable[[Path], Path]


def written(path: Path, raw: bytes) -> Path:
    assert len(raw) <= LIMIT
    path.write_bytes(raw)
    return path


def overlapping_binary_meta(folder: Path) -> Path:
    """500 `.ascend.meta` sections over the same 16 KiB of padding records."""
    builder = m0()
    builder.section("filler", bytes(16 << 10), at=4096)
    for _ in range(500):
        builder.section(
            BINARY_SECTION, b"", SectionType.PROGBITS, at=4096, offset=4096, size=16 << 10
        )
    return written(folder / "binary.o", builder.build())


def kernels_of_one_name(folder: Path) -> Path:
    """800 symbols of one name, and its metadata section of 4000 records."""
    builder = m0()
    builder.section(f"{FUNCTION_SECTION}k_0", b"\7\0\0\0" * 4000, SectionType.NOTE)
    for _ in range(800):
        builder.symbol("k_0")
    return written(folder / "names.o", builder.build())


def names_that_overlap(folder: Path) -> Path:
    """1500 kernels whose names are tails of one string of 4095 bytes that is no UTF-8."""
    builder: ObjectBuilder = m0()
    builder.symbol("\udcff" * 4000)
    for number in range(1500):
        builder.symbol("", name_offset=8 + number)
    return written(folder / "tails.o", builder.build())


def bomb(folder: Path) -> Path:
    """A zip whose member unpacks to 60 MiB of records."""
    path = folder / "bomb.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("k.o", m0().build() + bytes(60 << 20))
    return path


def sidecar_ratio(folder: Path) -> Path:
    """A taskRation of 50,000 characters, held against 300 kernels."""
    builder = m0()
    for number in range(300):
        builder.symbol(f"k_{number}")
    path = written(folder / "k.o", builder.build())
    path.with_suffix(".json").write_text(json.dumps({"taskRation": "9" * 50_000}))
    return path


MADE: tuple[Made, ...] = (
    overlapping_binary_meta,
    kernels_of_one_name,
    names_that_overlap,
    bomb,
    sidecar_ratio,
)


# The peak of a process counts what its parent held when it forked: a small parent counts little.
LAUNCHER = """
import os, sys
status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)[1:]
print(usage.ru_maxrss, os.waitstatus_to_exitcode(status), file=sys.stderr)
"""


def measured(args: list[str]) -> tuple[int, float, int, bytes]:
    """Exit code, seconds, KiB at the peak and stdout of a run."""
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, sys.executable, "-m", "cannkit", *args],
        capture_output=True,
        check=True,
    )
    peak, code = done.stderr.split()[-2:]
    return int(code), time.monotonic() - before, int(peak), done.stdout


@pytest.mark.parametrize("make", MADE)
def test_cost_is_bounded(make: Made, tmp_path: Path) -> None:
    path = str(make(tmp_path))
    for view in VIEWS:
        code, seconds, peak, out = measured(["parse", *view, path])
        assert code in (0, 3), view
        assert seconds < SECONDS, view
        assert peak < KIBIBYTES, view
        if "--json" in view:
            json.loads(out)


def test_a_directory_of_2_gib_is_not_read(tmp_path: Path) -> None:
    """HAZ-14: zipfile would read what the end record claims, at once."""
    path = tmp_path / "k.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("k.o", b"")
    raw = bytearray(path.read_bytes())
    at = raw.rindex(b"PK\5\6")
    raw[at + 12 : at + 16] = (2 << 30).to_bytes(4, "little")
    path.write_bytes(raw)
    code, _, peak, _ = measured(["parse", str(path)])
    assert (code, peak < KIBIBYTES) == (3, True)


@pytest.mark.parametrize("args", [["--json"], []])
def test_full_disk(args: list[str]) -> None:
    """What cannot be written is one line and exit 3, in JSON too."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cannkit", "soc", "Ascend910B1", *args],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    line = b"cannkit: error: cannot write the output: No space left on device\n"
    assert (done.returncode, done.stderr) == (3, line)


def test_closed_streams() -> None:
    """A closed stdout cannot be written; a closed stderr must not leak into the answer."""
    shell = '"$0" -m cannkit soc Ascend910B1 >&-'
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable], capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stderr) == (
        3,
        "cannkit: error: cannot write the output: it is closed\n",
    )
    shell = '"$0" -m cannkit parse --json --bad x 2>&-'
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable], capture_output=True, check=False, text=True
    )
    assert json.loads(done.stdout)["error"]["kind"] == "usage"


def test_name_that_stdout_cannot_encode(tmp_path: Path) -> None:
    builder = m0()
    builder.symbol("k\u4e2d_0")
    path = written(tmp_path / "k.o", builder.build())
    for view in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "cannkit", "parse", *view, str(path)],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0
        assert (b"k\\u4e2d_0" if not view else "k\u4e2d_0".encode()) in done.stdout


def test_command_that_is_no_command_names_no_schema() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cannkit", 'a"b\x1b', "--json"], capture_output=True, check=False
    )
    assert json.loads(done.stdout)["schema"] == "cannkit.error/1"
