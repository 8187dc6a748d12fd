"""Children: what they inherit, how they end, and that nothing of them stays. OPR-805."""

from __future__ import annotations

import errno
import math
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cannkit.ae.host_end import Cause
from cannkit.errors import InputError, OutputError
from cannkit.ops.child import LOG_KEPT, OUTPUT_KEPT, Ended, run_child

MEMORY = 4 << 30


def shell(text: str, timeout: float = 20, **env: str) -> Ended:
    """A script that waits for its limits, as all children do; $1 is where its log goes."""
    return run_child(
        lambda log, go: [
            "/bin/sh",
            "-c",
            f"head -c 1 </proc/self/fd/{go} >/dev/null; {text}",
            "sh",
            str(log),
        ],
        env={"PATH": os.defpath, **env},
        timeout=timeout,
        memory=MEMORY,
    )


def test_streams() -> None:
    ended = shell("echo out; echo err >&2; echo log >/proc/self/fd/$1; exit 3", NAME="value")
    assert ended[:3] == (Cause.ITSELF, 3, None)
    assert (ended.stdout, ended.stderr, ended.log) == (b"out\n", b"err\n", b"log\n")


def test_what_it_inherits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("SECRET", "value")
    ended = shell("pwd; cat; env; ulimit -c; ulimit -f; ulimit -n; ulimit -v; ls", NAME="value")
    lines = ended.stdout.decode().splitlines()
    assert lines[0].startswith(str(tmp_path))
    assert sorted(lines[1:4]) == ["NAME=value", f"PATH={os.defpath}", f"PWD={lines[0]}"]
    assert lines[4:] == ["0", str((16 << 20) // 512), "256", str(MEMORY >> 10)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answers", [True, False])
def test_it_is_asked_when_time_is_up(answers: bool) -> None:
    """It has a moment, and no more, to say where it is."""
    script = "head -c 1 </proc/self/fd/%d >/dev/null; trap 'echo asked; trap \"\" URG' URG; while :; do sleep 0.02; done"
    asked: list[float] = []

    def has_answered() -> bool:
        asked.append(time.monotonic())
        return answers and len(asked) > 20

    started = time.monotonic()
    ended = run_child(
        lambda log, go: ["/bin/sh", "-c", script % go],
        env={"PATH": os.defpath},
        timeout=0.3,
        memory=MEMORY,
        has_answered=has_answered,
    )
    assert (ended.cause, ended.stdout) == (Cause.TIMEOUT, b"asked\n")
    assert 0.3 <= ended.seconds < 0.5
    assert asked[0] - started >= 0.3
    assert (asked[-1] - asked[0] >= 0.25) != answers
    assert (len(asked) == 21) == answers


def test_a_signal() -> None:
    assert shell("kill -11 $$")[:3] == (Cause.ITSELF, None, 11)


def test_what_is_kept_is_bounded() -> None:
    ended = shell("head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >/proc/self/fd/$1")
    assert (ended.cause, ended.exit) == (Cause.ITSELF, 0)
    assert (len(ended.stdout), len(ended.log)) == (OUTPUT_KEPT, LOG_KEPT)


def test_a_pipe_that_stays_open_is_not_waited_for() -> None:
    """What it left behind holds the pipes; it is ended, too."""
    ended = shell("sleep 60 & exit 4")
    assert (ended.cause, ended.exit) == (Cause.ITSELF, 4)
    assert ended.seconds < 10


def test_time_runs_out() -> None:
    ended = shell("sleep 60", timeout=0.3)
    assert ended.cause is Cause.TIMEOUT
    assert ended.exit is None


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(InputError, match="cannot start a process: No such file"):
        run_child(lambda log, go: ["/nowhere"], env={}, timeout=1, memory=MEMORY)


def test_limits_without_end() -> None:
    ended = run_child(
        lambda log, go: ["/bin/sh", "-c", "ulimit -v"], env={}, timeout=math.inf, memory=1 << 70
    )
    assert ended.exit == 0


def test_limits_that_cannot_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that forbids it: nothing runs without them."""

    def forbidden(child: object, memory: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("cannkit.ops.child._Child._limit", forbidden)
    before, children = threading.active_count(), children_of_ours()
    with pytest.raises(InputError, match="cannot start a process: Operation not permitted"):
        run_child(lambda log, go: ["/bin/sleep", "9"], env={}, timeout=1, memory=MEMORY)
    assert children_of_ours() == children
    assert wait_until(lambda: threading.active_count() <= before)


def children_of_ours() -> set[str]:
    """Processes that this one has, ended ones that nobody waited for among them."""
    found = Path("/proc/self/task").glob("*/children")
    return {number for file in found for number in file.read_text().split()}


def wait_until(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 20
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def test_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(OutputError, match="cannot make a temporary folder"):
        shell("exit 0")


@pytest.mark.parametrize("text", ["exit 0", "kill -9 $$", "exec /nowhere"])
def test_no_descriptor_stays(text: str) -> None:
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    shell(text)
    with pytest.raises(InputError):
        run_child(lambda log, go: ["/nowhere"], env={}, timeout=1, memory=MEMORY)
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_no_pipe_to_be_had() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 4, limits[1]))
        with pytest.raises(InputError, match="cannot start a process: Too many open files"):
            shell("exit 0")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    """A parent that is killed before it says go: the program ends by itself. OPR-810."""
    note = tmp_path / "note"
    text = (
        "import os, sys, signal\n"
        "from cannkit.ops import child\n"
        "child._Child._limit = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"line = 'read x </proc/self/fd/%d && echo went on > {note}; echo ended >> {note}.2'\n"
        "child.run_child(lambda log, go: ['/bin/sh', '-c', line % go], env={}, timeout=9, memory=1<<30)\n"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", text], env=env, check=False)
    assert done.returncode == -9
    assert wait_until((tmp_path / "note.2").exists)
    assert not note.exists()
