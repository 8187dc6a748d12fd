"""cannkit extract on pipes and terminals: each option, both layouts, every exit code."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from tests.carriers import archive, package_library
from tests.cli.runner import ADD, BOX, ESCAPE, FATBIN, Result, cannkit, each, terminal
from tests.extract.test_staging import names
from tests.raw import KERNEL
from tests.raw import archive as raw_archive

NAMES: Final = [f"ascend910b1.add_kernels.{end}.o" for end in ("0.mix", "1.aiv", "2.aic")]


def extract(*args: str | Path) -> Result:
    return cannkit("extract", *args)


def answer(*args: str | Path, code: int = 0) -> dict[str, Any]:
    found = extract(*args, "--json")
    assert found.code == code, found.err
    return found.document


def package(folder: Path) -> Path:
    """A host library of an operator with its sidecar."""
    sidecar = json.dumps({"filePath": "ascend910b/add/Add_1.json"}).encode()
    path = folder / "libcust_opapi.so"
    path.write_bytes(package_library({"x/Add_1.o": KERNEL, "x/Add_1.json": sidecar}))
    return path


def test_writes(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    found = extract(FATBIN, "--out", out)
    assert (found.code, found.err) == (0, b"")
    assert names(out) == NAMES
    lines = found.text.splitlines()
    assert lines[0].split() == ["Name", "Kind", "Size", "SHA-256", "Written", "to"]
    for name, line in zip(NAMES, lines[1:-1], strict=True):
        raw = (out / name).read_bytes()
        assert line.endswith(f"fatbin  {len(raw):,} B  {sha256(raw).hexdigest()}  {out}/{name}")
    assert lines[-1] == "3 objects: 3,944 B; 3 of 3 files written"


def test_lists(tmp_path: Path) -> None:
    found = extract(package(tmp_path), "--list")
    assert (found.code, found.err) == (0, b"")
    assert [line.split()[:2] for line in found.text.splitlines()] == [
        ["Name", "Kind"],
        ["x_Add_1.o", "aclnn"],
        ["x_Add_1.json", "sidecar"],
        ["1", "object,"],
    ]
    assert names(tmp_path) == ["libcust_opapi.so"]


def test_json(tmp_path: Path) -> None:
    document = answer(FATBIN, "--out", tmp_path)
    assert list(document) == ["schema", "members", "error", "errors", "warnings"]
    assert document["schema"] == "cannkit.extract/1"
    assert [member["written"] for member in document["members"]] == [
        f"{tmp_path}/{name}" for name in NAMES
    ]
    listed = answer(FATBIN, "--list")
    assert [{**member, "written": None} for member in document["members"]] == listed["members"]


def test_same_bytes_each_time(tmp_path: Path) -> None:
    line = ("extract", FATBIN, "--out", str(tmp_path), "--force", "--json")
    assert cannkit(*line).out == cannkit(*line).out


def test_layouts(tmp_path: Path) -> None:
    path = package(tmp_path)
    flat, opp = tmp_path / "flat", tmp_path / "opp"
    assert extract(path, "--out", flat, "--layout", "flat").code == 0
    assert extract(path, "--out", opp, "--layout", "opp").code == 0
    assert names(flat) == ["x_Add_1.json", "x_Add_1.o"]
    assert names(opp) == ["ascend910b"]
    assert names(opp / "ascend910b" / "add") == ["Add_1.json", "Add_1.o"]


def test_does_not_replace(tmp_path: Path) -> None:
    (tmp_path / NAMES[1]).write_bytes(b"mine")
    found = extract(FATBIN, "--out", tmp_path)
    assert (found.code, found.out) == (3, b"")
    place = f"{tmp_path}/{NAMES[1]}"
    assert found.errors == [
        f"cannkit: error: cannot write the file ({place}): it exists; nothing was written",
        "hint: --force replaces what is there",
    ]
    assert names(tmp_path) == [NAMES[1]]
    document = answer(FATBIN, "--out", tmp_path, code=3)
    assert document["error"]["where"] == place
    assert [member["written"] for member in document["members"]] == [None] * 3
    assert extract(FATBIN, "--out", tmp_path, "--force").code == 0
    assert names(tmp_path) == NAMES
    assert (tmp_path / NAMES[1]).read_bytes() != b"mine"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """The rest is taken, the exit code tells."""
    path, out = tmp_path / "lib.a", tmp_path / "out"
    path.write_bytes(raw_archive(**{"k.o": KERNEL, "l.o": KERNEL})[:-9])
    found = extract(path, "--out", out)
    assert found.code == 3
    assert names(out) == ["k.o"]
    assert found.text.splitlines()[-1].endswith("1 of 1 files written")
    (error,) = found.errors
    assert error.startswith(f"cannkit: error: archive member leaves the file ({path}")
    document = answer(path, "--list", code=3)
    assert (document["error"], len(document["members"])) == (None, 1)
    assert [failed["file"] for failed in document["errors"]] == [str(path)]


def test_warnings(tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(raw_archive(**{"k.o": b"text"}))
    loud, quiet = extract(path, "--list"), extract(path, "--list", "-q")
    assert loud.errors == [f"cannkit: warning: {path}!k.o: it is no ELF file [not-elf]"]
    assert (quiet.err, quiet.out, quiet.code) == (b"", loud.out, 0)


@pytest.mark.parametrize("last", [["--list"], ["--out", "/dev/null/x"]])
def test_nothing_inside(last: list[str]) -> None:
    found = extract(ADD, *last)
    assert (found.code, found.out) == (3, b"")
    assert found.errors == [
        f"cannkit: error: nothing embedded inside ({ADD}): it is no container",
        "hint: name an archive, wheel or host library that holds kernel objects",
    ]
    document = answer(ADD, *last, code=3)
    assert document["schema"] == "cannkit.extract/1"
    assert document["error"]["kind"] == "input"


def test_exit_codes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    lines = {
        ("nothing.so", "--list"): 3,
        (FATBIN, "--out", str(file)): 3,
        (FATBIN, "--out", ""): 3,
        (FATBIN,): 2,
        (FATBIN, "--force"): 2,
        (FATBIN, "--list", "--out", str(tmp_path)): 2,
        (FATBIN, "--list", "--layout", "deep"): 2,
        ("--list",): 2,
        (FATBIN, FATBIN, "--list"): 2,
    }
    found = each([("extract", *line) for line in lines])
    assert [result.code for result in found] == list(lines.values())
    assert all(result.err.startswith(b"cannkit: error: ") for result in found)
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("width", [60, 250])
def test_terminal(tmp_path: Path, width: int) -> None:
    """A table with borders where there is room; a digest is never cut."""
    screen = terminal("extract", FATBIN, "--out", str(tmp_path), width=width)
    assert screen.code == 0
    assert ESCAPE.search(screen.raw)
    assert bool(BOX.search(screen.text)) is (width == 250)
    squeezed = "".join(screen.text.split())
    for name in NAMES:
        assert sha256((tmp_path / name).read_bytes()).hexdigest() in squeezed


def test_names_cannot_drive_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(archive([("\x1b[2J\u202ek.o", KERNEL)] * 1001, names="bsd"))
    for last in (["--list"], ["--out", str(tmp_path / "out")]):
        screen = terminal("extract", str(path), *last, width=250)
        assert screen.code == 0
        assert b"\x1b[2J" not in screen.raw
        assert "\u202e" not in screen.text
        assert r"\x1b[2J\u202ek.o" in screen.text
