"""cannkit in a process of its own, on pipes or on a terminal of a given size.

Nothing of the caller's environment reaches it but PATH: what a test says is all there is.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

ROOT: Final = Path(__file__).parents[2]
OBJECTS: Final = "fixtures/objects"
ADD: Final = f"{OBJECTS}/AddCustom.o"
FATBIN: Final = f"{OBJECTS}/libadd_kernels.so"
BIN: Final = str(Path(sys.executable).parent)
PATH: Final = os.pathsep.join((BIN, os.environ.get("PATH", os.defpath)))
TIMEOUT: Final = 60
_CACHE: Final = TemporaryDirectory(prefix="cannkit-tests-")
CACHE: Final = _CACHE.name  # one for all processes of this test run

ESCAPE: Final = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
BOX: Final = re.compile("[\u2500-\u257f]")


class Result(NamedTuple):
    """What a process answered."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def errors(self) -> list[str]:
        return self.err.decode().splitlines()

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Screen(NamedTuple):
    """What reached a terminal, and what the streams that were not on it took."""

    code: int
    raw: bytes
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """The characters alone, without colours and cursor movements."""
        return ESCAPE.sub(b"", self.raw).replace(b"\r\n", b"\n").decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def all_of(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of some calls in their order, made as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [each.result() for each in [pool.submit(call) for call in calls]]


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """A clean environment, with what a test adds."""
    clean = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "XDG_CACHE_HOME": CACHE}
    return {**clean, **(env or {})}


def command(*args: str | Path, python: Sequence[str] = ()) -> list[str]:
    """The words that start cannkit, with options of Python itself."""
    return [sys.executable, *python, "-m", "cannkit", *map(str, args)]


def cannkit(
    *args: str | Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    python: Sequence[str] = (),
) -> Result:
    """Run cannkit on pipes."""
    return run(command(*args, python=python), stdin=stdin, env=env, cwd=cwd)


def run(
    words: Sequence[str],
    *,
    stdin: bytes = b"",
    stdout: int | IO[bytes] = subprocess.PIPE,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
) -> Result:
    """Run any command as cannkit would be."""
    done = subprocess.run(
        words,
        input=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment(env),
        cwd=cwd,
        timeout=TIMEOUT,
        check=False,
    )
    return Result(done.returncode, done.stdout or b"", done.stderr)


def together(*calls: Callable[[], Result]) -> list[Result]:
    """Some runs at a time."""
    return all_of(calls)


def each(lines: Sequence[Sequence[str]], env: Mapping[str, str] | None = None) -> list[Result]:
    """The results of some command lines in their order."""

    def call(line: Sequence[str]) -> Callable[[], Result]:
        return lambda: cannkit(*line, env=env)

    return together(*map(call, lines))


def terminal(
    *args: str | Path,
    width: int = 80,
    on: str = "out err",
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    pause: float = 0,
) -> Screen:
    """Run cannkit with the streams named by `on` on a terminal of `width` columns.

    With a `pause`, so many seconds lie between the two halves of its input: from when it has
    taken the first one.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with TemporaryFile() as out, TemporaryFile() as err:
        process = subprocess.Popen(
            command(*args),
            stdin=subprocess.PIPE,
            stdout=slave if "out" in on else out,
            stderr=slave if "err" in on else err,
            env=environment({"TERM": "xterm-256color", **(env or {})}),
            cwd=cwd,
        )
        os.close(slave)
        with process, ThreadPoolExecutor(1) as reader:
            screen = reader.submit(_drain, master)
            if pause:
                stdin = _first_half(process, stdin)
                time.sleep(pause)
            process.communicate(stdin, timeout=TIMEOUT)
            raw = screen.result()
        os.close(master)
        out.seek(0)
        err.seek(0)
        return Screen(process.returncode, raw, out.read(), err.read())


def _first_half(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    """Write half of `data` and wait until it is read; the other half."""
    assert process.stdin
    half = len(data) // 2
    process.stdin.write(data[:half])
    process.stdin.flush()
    while struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0]:
        assert process.poll() is None, "ended without reading its input"
        time.sleep(0.01)
    return data[half:]


def _drain(master: int) -> bytes:
    """All that is written to a terminal until its last writer is gone."""
    raw = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # EIO: no process has it open any more
            return raw
        if not part:
            return raw
        raw += part
