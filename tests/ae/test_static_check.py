"""What is told of a library without loading it. AE-1204, AE-1208, Q-17."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from cannkit.ae.static_check import (
    Placed,
    check_library,
    dependencies,
    host_machine,
    missing_export,
    remarks_of,
    unresolved,
)
from cannkit.errors import InputError
from cannkit.format.elf_types import Machine
from cannkit.format.host_library import Export, HostLibrary, read_host_library
from cannkit.inputs.files import open_window
from tests.ae.library import built


def read(path: str) -> Placed:
    return Placed(path, read_host_library(open_window(path)))


def for_machine(path: str, machine: int) -> memoryview:
    raw = bytearray(Path(path).read_bytes())
    raw[18:20] = machine.to_bytes(2, "little")
    return memoryview(bytes(raw))


@pytest.fixture(scope="module")
def ops() -> HostLibrary:
    return read(built("ops")).library


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        (183, "AArch64"),
        (243, "RISC-V"),
        (3, "x86"),
        (0x1029, "Ascend AI Core"),
        (999, "machine 0x3e7"),
    ],
)
def test_machines(machine: int, name: str) -> None:
    checked = check_library(for_machine(built("ops"), machine), Machine.EM_X86_64)
    assert checked.why == f"it is for {name}, this machine is x86-64"
    assert checked.library is not None
    assert check_library(for_machine(built("ops"), machine), None).why == ""


def test_a_library_that_may_be_loaded() -> None:
    checked = check_library(open_window(built("ops")), host_machine())
    assert checked.why == ""
    assert checked.library is not None


def test_programs_and_text() -> None:
    assert (
        check_library(open_window("/bin/ls"), None).why
        == "it is a program (PIE), not a shared library"
    )
    checked = check_library(memoryview(b"#!/bin/sh\n"), None)
    assert checked.library is None
    assert checked.why == (
        "not a shared library: starts with 23212f62, not with the ELF magic 7f454c46"
    )


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(Path(built("ops")).read_bytes())
    window = open_window(str(path))
    path.write_bytes(b"")
    with pytest.raises(InputError, match="became shorter"):
        check_library(window, None)


def test_missing_exports(ops: HostLibrary) -> None:
    """AE-1208: C++ names first, then what comes near."""
    assert missing_export(ops, "my_op") == 'exported only as _Z5my_opPv: extern "C" is missing'
    assert (
        missing_export(ops, "runcpukernel") == "it does not export runcpukernel; near: RunCpuKernel"
    )
    assert missing_export(ops, "code_1001").startswith(
        "it does not export code_1001; near: code_10"
    )
    assert missing_export(ops, "concealed") == "it does not export concealed"
    assert missing_export(ops, "printf") in (
        "it uses printf, but does not define it",
        "it does not export printf",
    )
    assert missing_export(ops, "puts") == "it uses puts, but does not define it"
    assert missing_export(ops, "") == "no symbol has an empty name"
    assert missing_export(ops, "\udcff") == "it does not export \udcff"
    assert len(missing_export(ops, "x" * 100_000)) < 200


def test_mangled_names_of_members_and_of_others(ops: HostLibrary) -> None:
    some = dict(ops.exports)
    some["_ZN4math5helloEv"] = some["_ZN3foo15helloEv"] = some["RunCpuKernel"]
    library = HostLibrary(**{**vars(ops), "exports": some})
    assert missing_export(library, "hello").startswith("exported only as _ZN4math5helloEv: ")


def test_dependencies() -> None:
    """Breadth first, through the run path, each once."""
    ops = built("ops", "-Wl,-soname,libdeep.so", name="libdeep.so")
    folder = str(Path(ops).parent)
    top = read(built("needs", ops, f"-Wl,-rpath,{folder}"))
    names = [Path(each.path).name for each in dependencies(top)]
    assert names[:2] == ["libdeep.so", "libc.so.6"]
    assert len(set(names)) == len(names)
    assert unresolved(top) == ((), ())


def test_dependencies_that_are_missing() -> None:
    ops = built("ops", "-Wl,-soname,libaway.so", name="libaway.so")
    top = read(built("needs", ops))
    names, missing = unresolved(top)
    assert (names, missing) == (("code_201",), ("libaway.so",))
    assert remarks_of(names, missing) == (
        "it needs libaway.so, which is not found on this machine",
    )
    assert unresolved(top, [str(Path(ops).parent)]) == ((), ())


def test_beside_the_library() -> None:
    ops = Path(built("ops", "-Wl,-soname,libbeside.so", name="libbeside.so"))
    path = Path(built("needs", str(ops), "-Wl,-rpath,$ORIGIN"))
    assert unresolved(read(str(path)))[1] == ("libbeside.so",)
    (path.parent / "libbeside.so").write_bytes(ops.read_bytes())
    assert unresolved(read(str(path))) == ((), ())


def test_names_that_nothing_defines(ops: HostLibrary) -> None:
    """Q-17. A weak name may be missing; a library that was opened before defines its names."""
    top = read(built("needs"))
    names, missing = unresolved(top)
    assert (names, missing) == (("code_201",), ())
    assert unresolved(top, (), [ops]) == ((), ())
    assert remarks_of(names, missing) == (
        "nothing that it needs defines code_201: a call that reaches it ends the process",
    )
    (text,) = remarks_of([f"f{at}" for at in range(9)], ())
    assert "f0, f1, f2, f3, f4 and 4 more: a call that reaches one ends" in text


def test_the_c_library_needs_not_be_asked_for() -> None:
    top = read(built("ops", "-nostdlib"))
    assert top.library.needed == ()
    assert "puts" in top.library.undefined
    assert unresolved(top) == ((), ())


def test_libraries_that_need_each_other() -> None:
    first = built("ops", "-Wl,-soname,libround.so", name="libround.so")
    folder = str(Path(first).parent)
    second = built("needs", first, "-Wl,-soname,libtrip.so", name="libtrip.so")
    third = built(
        "ops",
        second,
        "-Wl,-soname,libround.so",
        "-Wl,--no-as-needed",
        "-DROUND",
        name="libround.so",
    )
    top = read(third)
    places = [str(Path(third).parent), str(Path(second).parent), folder]
    found = [Path(each.path).name for each in dependencies(top, places)]
    assert found.count("libtrip.so") <= 1
    assert "libround.so" not in found


def test_what_comes_near_among_many_long_names() -> None:
    """It is found among those that begin alike, in bounded time."""
    some = random.Random(1)
    names = ["".join(some.choices("ab", k=190)) for _ in range(5000)]
    library = HostLibrary(
        Machine.EM_AARCH64, None, False, None, (), (),
        dict.fromkeys([*names, "Run" + names[0][3:]], Export(2, 1)), (), (), (),
    )  # fmt: skip
    begin = time.monotonic()
    assert missing_export(library, "Run" + names[0][3:-1] + "c").count("; near: Run") == 1
    assert time.monotonic() - begin < 5
