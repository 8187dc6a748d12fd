"""Programs in the cache: made once, whole or not at all, and nobody else's. OPR-810."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

import pytest

from cannkit.errors import OutputError
from cannkit.ops.build import built_proto_reader, built_runner
from cannkit.ops.errors import CannotRunError
from cannkit.ops.toolchain import Missing, Toolchain


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def tools(cache: Path, **env: str) -> Toolchain:
    found = Toolchain({**os.environ, "XDG_CACHE_HOME": str(cache), **env})
    if isinstance(found.host_compiler(), Missing) and "CANNKIT_CC" not in env:
        pytest.skip("a C compiler is missing")
    return found


def build(found: Toolchain) -> str:
    machine = found.machine
    assert machine is not None
    return built_runner(machine, found)


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "compiler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def files(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


def test_it_is_made_once(cache: Path) -> None:
    path = Path(build(tools(cache)))
    state = path.stat()
    assert state.st_mode & 0o777 == 0o700
    assert path.is_relative_to(cache / "cannkit/native")
    assert build(tools(cache)) == str(path)
    assert path.stat() == state
    assert files(cache) == ["runner"]


def test_many_at_once(cache: Path) -> None:
    found = tools(cache)
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: build(found), range(8)))
    assert len(paths) == 1
    assert files(cache) == ["runner"]
    (native,) = (cache / "cannkit/native").iterdir()
    assert len(list(native.iterdir())) == 1


def test_what_is_there_serves_without_a_compiler(cache: Path) -> None:
    path = build(tools(cache))
    assert build(tools(cache, CANNKIT_CC="/nowhere")) == path


def test_no_compiler(cache: Path) -> None:
    with pytest.raises(
        CannotRunError, match="a C compiler is missing: CANNKIT_CC is /nowhere"
    ) as caught:
        build(tools(cache, CANNKIT_CC="/nowhere"))
    assert "apt-get install gcc" in (caught.value.hint or "")


def test_a_failure_shows_the_compiler_s_words(cache: Path, tmp_path: Path) -> None:
    compiler = script(tmp_path, "for i in 1 2 3 4 5 6 7 8; do echo bad $i; done; exit 1")
    with pytest.raises(CannotRunError, match=r"cannot compile runner\.c") as caught:
        build(tools(cache, CANNKIT_CC=compiler))
    assert caught.value.why.startswith("bad 1\nbad 2")
    assert "bad 8" not in caught.value.why
    assert files(cache) == []


@pytest.mark.parametrize(("text", "why"), [("exit 0", "code 0"), ("kill -9 $$", "code -9")])
def test_a_compiler_that_makes_nothing(cache: Path, tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CannotRunError, match=f"it ended with {why}"):
        build(tools(cache, CANNKIT_CC=script(tmp_path, text)))


def test_a_compiler_that_does_not_end(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cannkit.ops.build.COMPILE_LIMIT", 0.2)
    with pytest.raises(CannotRunError, match="timed out"):
        build(tools(cache, CANNKIT_CC=script(tmp_path, "exec sleep 20")))
    assert files(cache) == []


@pytest.mark.parametrize("stopped", [False, True])
def test_nothing_is_left_of_a_compiler(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """A compiler is several processes; time is up for all of them, and Ctrl-C ends all."""
    pid, limit = tmp_path / "pid", 20 if stopped else 0.5
    monkeypatch.setattr("cannkit.ops.build.COMPILE_LIMIT", limit)
    compiler = script(tmp_path, f"sleep 30 & echo $! >{pid}; wait")
    timer = Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    if stopped:
        timer.start()
    with pytest.raises(KeyboardInterrupt if stopped else CannotRunError):
        build(tools(cache, CANNKIT_CC=compiler))
    end = time.monotonic() + 5
    while is_alive(int(pid.read_text())) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(int(pid.read_text()))
    assert files(cache) == []


def test_a_compiler_that_was_exchanged(cache: Path, tmp_path: Path) -> None:
    first = build(tools(cache, CANNKIT_CC=script(tmp_path, 'exec cc "$@"')))
    second = build(tools(cache, CANNKIT_CC=script(tmp_path, 'exec  cc "$@"')))
    assert first != second


def test_a_file_that_others_can_write_is_made_again(cache: Path, tmp_path: Path) -> None:
    path = Path(build(tools(cache)))
    path.chmod(0o777)
    with pytest.raises(CannotRunError, match="a C compiler is missing"):
        build(tools(cache, CANNKIT_CC="/nowhere"))
    assert build(tools(cache)) == str(path)
    assert path.stat().st_mode & 0o777 == 0o700
    assert files(cache) == ["runner"]


@pytest.mark.parametrize("share", [0, 0.01, 0.2, 0.5])
def test_a_part_of_a_program_is_made_again(cache: Path, share: float) -> None:
    """A disk that was full, or a machine that went off, leaves one."""
    path = Path(build(tools(cache)))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert build(tools(cache)) == str(path)
    assert path.read_bytes() == whole
    assert files(cache) == ["runner"]


def test_what_cannot_be_started_is_made_again(cache: Path) -> None:
    path = Path(build(tools(cache)))
    path.chmod(0o600)
    assert build(tools(cache)) == str(path)
    assert os.access(path, os.X_OK)
    path.unlink()
    path.mkdir()
    assert build(tools(cache)) == str(path)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("no folder")
    assert build(tools(cache)) == str(path)
    assert files(cache) == ["runner"]


def test_a_compiler_that_makes_no_program(cache: Path, tmp_path: Path) -> None:
    text = 'for word; do test "$last" = -o && echo junk > "$word"; last=$word; done'
    with pytest.raises(CannotRunError, match="it made no program for"):
        build(tools(cache, CANNKIT_CC=script(tmp_path, text)))
    assert files(cache) == []


def test_a_cache_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(OutputError, match="cannot keep a program") as caught:
        build(tools(tmp_path / "cache"))
    assert "XDG_CACHE_HOME" in (caught.value.hint or "")


def test_a_relative_cache_counts_as_none(tmp_path: Path) -> None:
    path = build(tools(Path("relative"), HOME=str(tmp_path)))
    assert Path(path).is_relative_to(tmp_path / ".cache/cannkit/native")


def test_a_relative_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = build(tools(Path(), XDG_CACHE_HOME="", HOME="home"))
    assert Path(path).is_relative_to(tmp_path / "home/.cache/cannkit/native")


def test_a_compiler_that_makes_no_position_independent_code(cache: Path, tmp_path: Path) -> None:
    """As zig and some distributions have it: a loadable program is asked for."""
    compiler = script(tmp_path, 'exec c++ -no-pie -fno-pie "$@"')
    found = tools(cache, CANNKIT_CXX=compiler)
    if isinstance(found.host_compiler(is_cpp=True), Missing):
        pytest.skip("a C++ compiler is missing")
    assert Path(built_proto_reader(found)).is_file()


def test_zig_keeps_its_own_beside_ours(cache: Path, tmp_path: Path) -> None:
    """There may be no HOME, or one that cannot be written."""
    told = tmp_path / "told"
    names = "$ZIG_GLOBAL_CACHE_DIR $ZIG_LOCAL_CACHE_DIR"
    build(tools(cache, CANNKIT_CC=script(tmp_path, f'echo "{names}" >{told}; exec cc "$@"')))
    assert set(told.read_text().split()) == {str(cache / "cannkit/zig")}
