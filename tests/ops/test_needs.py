"""What a library misses, told in full where the loader tells the first thing. OPR-701."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cannkit.ops.build import built_runner
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job
from cannkit.ops.needs import demangled, load_failure, missing_needs
from cannkit.ops.runner import Runner
from tests.ops.library import library, toolchain


@pytest.fixture
def runner() -> str:
    machine = toolchain().machine
    assert machine is not None
    return built_runner(machine, toolchain())


@pytest.fixture
def compiler() -> str:
    found = shutil.which("cc")
    if found is None:
        pytest.skip("a C compiler is missing")
    return found


def versioned(compiler: str, folder: Path, *versions: str) -> None:
    """libown.so with a function of each version; the newest last."""
    lines = [f"{name} {{ global: f_{name}; }};" for name in versions]
    (folder / "map").write_text("\n".join(lines))
    (folder / "own.c").write_text("\n".join(f"void f_{name}(void) {{}}" for name in versions))
    compile_it(
        compiler, folder, "own.c", "libown.so", "-Wl,--version-script=map", "-Wl,-soname,libown.so"
    )


def compile_it(compiler: str, folder: Path, source: str, name: str, *flags: str) -> None:
    command = [compiler, "-shared", "-fPIC", "-w", "-o", name, source, *flags]
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture
def user(compiler: str, tmp_path: Path) -> str:
    """A library that needs version V2 of another one beside it, of which V1 is there."""
    versioned(compiler, tmp_path, "V1", "V2")
    (tmp_path / "user.c").write_text(
        "void f_V1(void); void f_V2(void); void g(void) { f_V1(); f_V2(); }"
    )
    flags = ("-L.", "-lown", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags")
    compile_it(compiler, tmp_path, "user.c", "libuser.so", *flags)
    return str(tmp_path / "libuser.so")


def test_all_is_there(user: str, runner: str) -> None:
    """OPR-703."""
    assert missing_needs(user, "/", runner) == ((), (), ())
    assert missing_needs(library(False), "/", runner) == ((), (), ())


def test_a_version_is_missing(user: str, runner: str, compiler: str, tmp_path: Path) -> None:
    versioned(compiler, tmp_path, "V1")
    needs = missing_needs(user, "/", runner)
    assert (needs.libraries, needs.versions) == ((), (("libown.so", "V2"),))
    with pytest.raises(CannotRunError, match=r"is too old for it: it needs V2 \(libown\.so\)"):
        Runner(toolchain()).run(Job(user), emulate=False)


def test_a_library_is_missing(user: str, runner: str, tmp_path: Path) -> None:
    (tmp_path / "libown.so").unlink()
    needs = missing_needs(user, "/", runner)
    assert needs.libraries == ("libown.so",)
    with pytest.raises(CannotRunError, match=r"it needs libown\.so, which is not in /"):
        Runner(toolchain()).run(Job(user), emulate=False)


def test_all_functions_are_named(compiler: str, runner: str, tmp_path: Path) -> None:
    """OPR-702."""
    names = [f"nobody_{number}" for number in range(10, 22)]
    calls = " ".join(f"{name}();" for name in names)
    declared = " ".join(f"void {name}(void);" for name in names)
    (tmp_path / "many.c").write_text(f"{declared} void g(void) {{ {calls} }}")
    compile_it(compiler, tmp_path, "many.c", "libmany.so")
    path = str(tmp_path / "libmany.so")
    assert set(names) <= set(missing_needs(path, "/", runner).functions)
    with pytest.raises(
        CannotRunError, match=r"nothing defines nobody_10, nobody_11, .*nobody_17 and 4 more"
    ):
        Runner(toolchain()).run(Job(path), emulate=False)
    job = Job(path, bind_now=False)
    assert Runner(toolchain()).run(job, emulate=False).is_whole


def test_the_loader_has_the_last_word(user: str, runner: str) -> None:
    error = load_failure(user, "something odd", "/", runner)
    assert (error.what, error.why) == ("the library cannot be loaded", "something odd")
    assert load_failure("/nowhere.so", "something odd", "/", runner).why == "something odd"


def test_a_sysroot_that_is_hostile(user: str, runner: str, tmp_path: Path) -> None:
    """Anything under the name of a library is passed by."""
    (tmp_path / "libown.so").write_bytes(b"\x7fELF" + b"\xff" * 60)
    assert missing_needs(user, "/", runner).libraries == ("libown.so",)


def test_demangled() -> None:
    if shutil.which("c++filt") is None:
        pytest.skip("c++filt is missing")
    names = ["_ZN5aicpu9SetOpnameEi", "plain", "_Zodd"]
    assert demangled(names) == ["aicpu::SetOpname(int)", "plain", "_Zodd"]
    assert demangled([]) == []
    assert demangled(["a\nb"]) == ["a\nb"]
