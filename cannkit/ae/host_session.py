"""Processes of a session: ended all together, and told from those of others. Spec 05, AE-1205, AE-1206."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Self

PROC: Final = Path("/proc")
POLITE: Final = 2.0  # seconds between SIGTERM and SIGKILL
HUNT: Final = 2.0  # seconds for stragglers, which may go on forking
PAUSE: Final = 0.005
STATE_FIELD, SESSION_FIELD, START_FIELD = 0, 3, 19  # of /proc/<pid>/stat behind the name


def has_ended(pid: int) -> bool:
    """Whether a child of this process is no more; its number stays taken until it is waited for."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return found is not None


class Mark(NamedTuple):
    """By what the processes of a session are known.

    Its leader and when that began (clock ticks since boot), its folder, the pipe that it prints to,
    of which this process and its forks have the other end.
    """

    leader: int
    began: int
    folder: str
    pipe: str

    @classmethod
    def of(cls, leader: int, folder: str, pipe: int) -> Self:
        """The mark of a session; `pipe` is this process's end."""
        try:
            began = int(_stat(PROC / str(leader))[START_FIELD])
        except (OSError, ValueError, IndexError):
            began = 0
        return cls(leader, began, folder, f"pipe:[{os.fstat(pipe).st_ino}]")


def end_session(mark: Mark, *, politely: bool) -> None:
    """End a session and what came of it, first with SIGTERM when `politely`.

    A process that left the session is known by its command line, its folder, or the pipe that it prints
    to. One that has given up all of them is not found.
    """
    leader = mark.leader
    if politely:
        _signal_group(leader, signal.SIGTERM)
        until = time.monotonic() + POLITE
        while not has_ended(leader) and time.monotonic() < until:
            time.sleep(PAUSE)
    _signal_group(leader, signal.SIGKILL)
    until = time.monotonic() + HUNT
    while True:
        left = [pid for pid in _members(mark) if pid != leader]
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not left or time.monotonic() > until:
            return
        time.sleep(PAUSE)


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _members(mark: Mark) -> Iterator[int]:
    """Processes that are not dead yet, and that came of the session."""
    own, own_session = str(os.getpid()), os.getsid(0)
    for process in PROC.iterdir():
        if not process.name.isdecimal() or process.name == own:
            continue
        with suppress(OSError, ValueError, IndexError):  # it ended meanwhile, or is another user's
            words = _stat(process)
            if words[STATE_FIELD] in (b"Z", b"X") or int(words[START_FIELD]) < mark.began:
                continue
            session = int(words[SESSION_FIELD])
            if session == own_session:  # nothing enters a session from outside
                continue
            if session == mark.leader or _bears(process, mark):
                yield int(process.name)


def _bears(process: Path, mark: Mark) -> bool:
    """Whether a process that left the session shows where it comes from."""
    if os.fsencode(mark.folder) in (process / "cmdline").read_bytes().split(b"\0"):
        return True
    if str((process / "cwd").readlink()).startswith(mark.folder):
        return True
    descriptors = (process / "fd").iterdir()
    return any(_link(each) == mark.pipe and _is_written(process, each.name) for each in descriptors)


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _is_written(process: Path, number: str) -> bool:
    """Whether a descriptor was opened for writing: a pipe has the same name at both ends."""
    try:
        words = (process / "fdinfo" / number).read_bytes().split()
        return int(words[words.index(b"flags:") + 1], 8) & os.O_ACCMODE != os.O_RDONLY
    except (OSError, ValueError, IndexError):  # it was closed meanwhile
        return False


def _stat(process: Path) -> list[bytes]:
    """What the kernel tells of a process behind its name."""
    return (process / "stat").read_bytes().rpartition(b")")[2].split()
