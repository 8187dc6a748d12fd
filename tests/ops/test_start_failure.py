"""Libraries that are not called: cut, not linked, without the function, ending their process. OPR-701."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from cannkit.errors import FormatError
from cannkit.ops.errors import CannotRunError
from cannkit.ops.toolchain import Missing
from tests.ops.calling import EMULATED, add, call, session, wanted
from tests.ops.library import SOURCES, library, toolchain

SOURCE = "where.c"
DECLARED = 'a function is found that is declared extern "C" __attribute__((visibility("default")))'


def session_of(path: Path | str, emulated: bool, **more: Any) -> Any:
    found = session(emulated, **more)
    found.library = str(path)
    return found


@EMULATED
def test_a_library_that_is_cut(emulated: bool, tmp_path: Path) -> None:
    """It would be loaded, and die of SIGBUS."""
    raw = Path(library(emulated)).read_bytes()
    file = tmp_path / "cut.so"
    file.write_bytes(raw[:4096])
    with pytest.raises(
        FormatError, match=r"segment \d+ ends at byte \d+, the file has 4096"
    ) as error:
        session_of(file, emulated).run(add(1))
    assert (error.value.what, error.value.where) == ("the file is cut", str(file))
    file.write_bytes(raw[:100])
    with pytest.raises(FormatError, match=r"program headers end at byte \d+, the file has 100"):
        session_of(file, emulated).run(add(1))


def test_paths_are_told_as_they_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative ones work, though the process has a folder of its own."""
    raw = Path(library(False)).read_bytes()
    monkeypatch.chdir(tmp_path)
    Path("cut.so").write_bytes(raw[:4096])
    Path("whole.so").write_bytes(raw)
    with pytest.raises(FormatError) as cut:
        session_of("cut.so", False).run(add(1))
    assert cut.value.where == "cut.so"
    assert session_of("whole.so", False).run(add(1)).is_good
    with pytest.raises(CannotRunError, match="has no function Gone") as gone:
        session_of("whole.so", False).run(call("Add", [wanted([1])], function="Gone"))
    assert gone.value.where == "whole.so"


def test_what_is_behind_the_segments_is_not_needed(tmp_path: Path) -> None:
    """Section headers and debug information: no loader reads them."""
    from cannkit.format.code_place import load_segments

    raw = Path(library(False)).read_bytes()
    end = max(each.end for each in load_segments(memoryview(raw)))
    assert end < len(raw)
    file = tmp_path / "whole.so"
    file.write_bytes(raw[:end])
    assert session_of(file, False).run(add(1)).is_good
    file.write_bytes(raw[: end - 1])
    with pytest.raises(FormatError, match="the file is cut"):
        session_of(file, False).run(add(1))


@EMULATED
def test_an_object_that_is_not_linked(emulated: bool, tmp_path: Path) -> None:
    library(emulated)  # skips where there is no compiler
    found = toolchain().cross_compiler() if emulated else toolchain().host_compiler()
    assert not isinstance(found, Missing)
    file = tmp_path / "op.o"
    subprocess.run([*found.command, "-c", "-w", "-o", str(file), str(SOURCES / SOURCE)], check=True)
    with pytest.raises(FormatError, match="it is a relocatable object") as error:
        session_of(file, emulated).run(add(1))
    assert (error.value.what, error.value.where) == ("not a shared library", str(file))
    assert error.value.hint == "link it with -shared"


@EMULATED
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RunCpuKernl", "did you mean RunCpuKernel?"),
        ("runcpukernel", "did you mean RunCpuKernel?"),
        ("Hidden", f"it is in the library, but static or hidden; {DECLARED}"),
        ("touch", f"it is in the library, but static or hidden; {DECLARED}"),
        ("Nothing", f"it does not export Nothing; {DECLARED}"),
    ],
)
def test_a_function_that_is_not_exported(emulated: bool, name: str, hint: str) -> None:
    path = library(emulated, SOURCE, "-g", "-pthread")
    with pytest.raises(CannotRunError) as error:
        session_of(path, emulated).run(call("Add", [wanted([1])], function=name))
    assert (error.value.what, error.value.hint) == (f"the library has no function {name}", hint)


def test_a_function_of_cpp(tmp_path: Path) -> None:
    compiler = toolchain().host_compiler(is_cpp=True)
    if isinstance(compiler, Missing):
        pytest.skip("no C++ compiler")
    source, file = tmp_path / "op.cc", tmp_path / "op.so"
    source.write_text("unsigned RunCpuKernel(void *) { return 0; }")
    subprocess.run([*compiler.command, "-shared", "-fPIC", "-o", file, source], check=True)
    with pytest.raises(CannotRunError) as error:
        session_of(file, False).run(add(1))
    assert error.value.hint is not None
    assert error.value.hint.startswith("exported only as _Z12RunCpuKernelPv: extern")


@EMULATED
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("exit(3)", "the op terminated the process with code 3 in stage load"),
        ("abort()", "crashed in stage load with SIGABRT"),
        ("touch()", "crashed in stage load with SIGSEGV"),
    ],
)
def test_a_constructor_that_prints_and_ends_the_process(emulated: bool, how: str, why: str) -> None:
    path = library(emulated, SOURCE, "-g", "-pthread", f"-DAT_LOAD={how}")
    with pytest.raises(CannotRunError) as error:
        session_of(path, emulated).run(add(1))
    assert error.value.what == "the process ended before any call"
    assert error.value.why == f"{why}; it printed: no such device in slot 7"
    if how != "exit(3)":
        assert error.value.hint is not None
        assert "where.c:" in error.value.hint


def test_what_is_printed_while_it_loads_is_cut() -> None:
    path = library(
        False, SOURCE, "-g", "-pthread", '-DAT_LOAD=for(int i=0;i<5000;i++)puts("much");exit(1)'
    )
    with pytest.raises(CannotRunError) as error:
        session_of(path, False).run(add(1))
    assert error.value.why.endswith("...")
    assert 200 < len(error.value.why) < 400
