"""cannkit doctor: what is here, what is missing, and the exit code of each. Spec 07, OPR-802."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cannkit.errors import ExitCode
from tests.cli.runner import BOX, Result, cannkit, terminal
from tests.ops.library import need_emulation

ABILITIES = ("native", "emulation", "prototypes", "arrays")
PYTHON = str(Path(sys.executable).parent)


def doctor(tmp_path: Path, *more: str | Path, **env: str) -> Result:
    """Ask with a cache of the test's own."""
    return cannkit("doctor", *more, env={"XDG_CACHE_HOME": str(tmp_path), **env})


def test_all_is_here(tmp_path: Path) -> None:
    need_emulation()
    found = doctor(tmp_path, "--json", *(f"--require={name}" for name in ABILITIES[:3]))
    assert (found.code, found.err) == (0, b"")
    answer = found.document
    assert list(answer) == ["schema", "machine", "abilities", "tools", "cache"]
    assert [each["name"] for each in answer["abilities"]] == list(ABILITIES)
    assert all(each["works"] for each in answer["abilities"][:3])
    assert all(each["path"] for each in answer["tools"])
    compiler, *_, sysroot = answer["tools"]
    assert os.access(compiler["path"], os.X_OK)
    assert compiler["version"]
    assert (sysroot["command"], sysroot["version"]) == (None, None)
    cache = answer["cache"]
    assert cache["path"] == str(tmp_path / "cannkit/native")
    assert (cache["writable"], cache["programs"] >= 2, cache["size"] > 0) == (True, True, True)


def test_nothing_is_here(tmp_path: Path) -> None:
    """The command that gets it is told for each."""
    empty = {"PATH": str(tmp_path / "empty"), "CANNKIT_SYSROOT": str(tmp_path)}
    found = doctor(tmp_path, **empty)
    assert (found.code, found.err) == (ExitCode.NEGATIVE, b"")
    words = " ".join(found.text.split())
    assert "native does not work" in words
    assert "a C compiler is missing" in words
    assert "to change that: apt-get install gcc libc6-dev, or set CANNKIT_CC" in words
    assert "the emulator qemu-aarch64 is missing" in words
    assert "apt-get install qemu-user gcc-aarch64-linux-gnu" in words
    assert f"{tmp_path} has no lib/ld-linux-aarch64.so.1 (CANNKIT_SYSROOT)" in words
    assert not BOX.search(found.text)


def test_only_what_is_required(tmp_path: Path) -> None:
    """Without qemu native calls work: that is 0, unless emulation is asked for."""
    gone = {"CANNKIT_QEMU": "/nonexistent/qemu"}
    assert doctor(tmp_path, **gone).code == 0
    asked = doctor(tmp_path, "--require", "emulation", "--json", **gone)
    assert asked.code == ExitCode.NEGATIVE
    emulation = asked.document["abilities"][1]
    assert (emulation["works"], emulation["required"]) == (False, True)
    assert "CANNKIT_QEMU is /nonexistent/qemu, which is no program" in emulation["why"]


def test_a_folder_that_is_no_sysroot(tmp_path: Path) -> None:
    found = doctor(tmp_path, "--sysroot", tmp_path, "--require", "emulation")
    assert found.code == ExitCode.NEGATIVE
    assert "has no lib/ld-linux-aarch64.so.1" in found.text


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho broken >&2; exit 3\n"])
def test_a_compiler_that_does_not_work(tmp_path: Path, text: str) -> None:
    """It is tried, not looked for alone."""
    compiler = tmp_path / "broken-cc"
    compiler.write_text(text)
    compiler.chmod(0o755)
    found = doctor(tmp_path, CANNKIT_CC=str(compiler))
    assert found.code == ExitCode.NEGATIVE
    assert "cannot compile runner.c" in found.text


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("")
    found = doctor(place)
    assert found.code == ExitCode.NEGATIVE
    assert "set XDG_CACHE_HOME to a folder that can be written" in found.text


def test_on_a_terminal(tmp_path: Path) -> None:
    screen = terminal("doctor", env={"XDG_CACHE_HOME": str(tmp_path)})
    assert screen.code == 0
    assert all(len(line) <= 80 for line in screen.lines)
    assert b"\x1b[32mworks" in screen.raw
    assert "native" in screen.text


def test_what_makes_no_sense() -> None:
    assert cannkit("doctor", "--require", "luck").code == ExitCode.USAGE
