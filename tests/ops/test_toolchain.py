"""Where tools are looked for, and what is said of those that are missing. OPR-802."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cannkit.ops.toolchain import LOADER, Missing, Tool, Toolchain


def program(folder: Path, name: str, text: str = "#!/bin/sh\necho one 1.2\necho two\n") -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_programs_of_the_path(tmp_path: Path) -> None:
    tools = Toolchain({"PATH": str(tmp_path)})
    assert isinstance(tools.emulator(), Missing)
    assert find_spec("ziglang") or isinstance(tools.host_compiler(is_cpp=True), Missing)
    static = program(tmp_path, "qemu-aarch64-static")
    found = tools.emulator()
    assert isinstance(found, Tool)
    assert (found.command, found.version) == ([str(static)], "one 1.2")
    first = program(tmp_path, "qemu-aarch64")
    assert tools.emulator() == found._replace(path=str(first))
    cross = program(tmp_path, "aarch64-linux-gnu-gcc")
    if os.uname().machine == "x86_64":
        assert tools.cross_compiler() == Tool("a C compiler for AArch64", str(cross))


def test_a_variable_comes_first_and_is_not_looked_past(tmp_path: Path) -> None:
    program(tmp_path, "gcc")
    own = program(tmp_path, "own")
    env = {"PATH": str(tmp_path), "CANNKIT_CC": f"{own} --flag 'a b'"}
    found = Toolchain(env).host_compiler()
    assert isinstance(found, Tool)
    assert found.command == [str(own), "--flag", "a b"]
    missing = Toolchain({**env, "CANNKIT_CC": "nothing -x"}).host_compiler()
    assert isinstance(missing, Missing)
    assert missing.why == "CANNKIT_CC is nothing, which is no program"
    odd = Toolchain({**env, "CANNKIT_CC": "'nothing"}).host_compiler()
    assert isinstance(odd, Missing)


def test_zig_and_clang(tmp_path: Path) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("the compiler for AArch64 is that of the machine")
    clang = program(tmp_path, "clang")
    root = sysroot(tmp_path / "root")
    tools = Toolchain({"PATH": str(tmp_path), "CANNKIT_SYSROOT": str(root)})
    if not find_spec("ziglang"):
        options = ("--target=aarch64-linux-gnu", f"--sysroot={root}")
        assert tools.cross_compiler() == Tool("a C compiler for AArch64", str(clang), options)
    zig = program(tmp_path, "zig")
    found = tools.cross_compiler()
    assert isinstance(found, Tool)
    assert found.command == [str(zig), "cc", "-target", "aarch64-linux-gnu"]


def test_zig_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install ziglang` is enough, its program is on no PATH."""
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").touch()
    zig = program(package, "zig")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = Toolchain({"PATH": "/nowhere"}).host_compiler(is_cpp=True)
    assert isinstance(found, Tool)
    assert found.command == [str(zig), "c++"]


def sysroot(folder: Path) -> Path:
    loader = folder / LOADER
    loader.parent.mkdir(parents=True)
    loader.touch()
    return folder


def test_sysroots(tmp_path: Path) -> None:
    one, two, three = (sysroot(tmp_path / name) for name in ("one", "two", "three"))
    env = {"CANNKIT_SYSROOT": str(one), "QEMU_LD_PREFIX": str(two)}
    tools = Toolchain(env)
    assert tools.find_sysroot() == Tool("an AArch64 sysroot", str(one))
    assert tools.find_sysroot(str(three)) == Tool("an AArch64 sysroot", str(three))
    del env["CANNKIT_SYSROOT"]
    assert tools.find_sysroot() == Tool("an AArch64 sysroot", str(two))
    missing = tools.find_sysroot(str(tmp_path))
    assert isinstance(missing, Missing)
    assert missing.why == f"{tmp_path} has no {LOADER}"
    env["QEMU_LD_PREFIX"] = "/nowhere"
    missing = tools.find_sysroot()
    assert isinstance(missing, Missing)
    assert missing.why == f"/nowhere has no {LOADER} (QEMU_LD_PREFIX)"


def test_survey_tells_all(tmp_path: Path) -> None:
    for name in ("gcc", "qemu-aarch64"):
        program(tmp_path, name)
    program(tmp_path, "g++", "#!/bin/sh\nexit 3\n")
    env = {"PATH": str(tmp_path), "CANNKIT_SYSROOT": "/nowhere", "CANNKIT_AARCH64_CC": "/nowhere"}
    states = Toolchain(env).survey()
    assert [(each.what, each.version) for each in states] == [
        ("a C compiler", "one 1.2"),
        ("a C++ compiler", ""),
        ("a C compiler for AArch64", ""),
        ("the emulator qemu-aarch64", "one 1.2"),
        ("an AArch64 sysroot", ""),
    ]
    assert [each.missing is None for each in states] == [True, True, False, True, False]
    assert all(each.missing.hint for each in states if each.missing)
    assert all((each.tool is None) is (each.missing is not None) for each in states)


def test_here() -> None:
    assert Toolchain().machine is not None
