"""A child process that runs foreign code: limited, watched, ended with all it has started. Spec 07, OPR-805."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from cannkit.ae.host_end import Cause
from cannkit.ae.host_session import Mark, end_session, has_ended
from cannkit.ae.host_start import start, undisturbed
from cannkit.errors import InputError
from cannkit.inputs.files import reason
from cannkit.inputs.private_folder import make_folder, remove_folder

OUTPUT_KEPT: Final = 64 << 10  # of each: what is printed, and what goes to stderr
LOG_KEPT: Final = 4 << 20
OUTPUT_LIMIT: Final = 16 << 20
CHUNK: Final = 1 << 16
TICK, SHORT_TICK = 0.05, 0.0005
LARGEST_FILE: Final = 16 << 20
MOST_FILES: Final = 256
MOST: Final = 1 << 62
MOST_SECONDS: Final = 1e9
LEAST_MEMORY: Final = 384 << 20  # OPR-805: with 256 MiB the emulator starts now and then
ASK: Final = signal.SIGURG  # for the place of a hang; who does not know it ignores it
ANSWER: Final = 0.3  # seconds that there are for it
ANSWER_TICK: Final = 0.002


class Ended(NamedTuple):
    """How a child ended: `exit` or `signal` is None. What it wrote is cut at its limits."""

    cause: Cause
    exit: int | None
    signal: int | None
    seconds: float
    stdout: bytes
    stderr: bytes
    log: bytes


class _Stream:
    """A pipe that is read as it comes: `data` has its start, `size` counts all. Changes."""

    def __init__(self, kept: int) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.data = bytearray()
        self.size = 0
        self.is_open = True
        self._kept = kept

    def read(self) -> None:
        """Take what is there."""
        while self.is_open and self.size <= OUTPUT_LIMIT:
            try:
                part = os.read(self.reader, CHUNK)
            except BlockingIOError:
                return
            self.is_open = bool(part)
            self.data += part[: max(self._kept - len(self.data), 0)]
            self.size += len(part)


def run_child(
    command: Callable[[int, int], list[str]],
    *,
    pass_fds: tuple[int, ...] = (),
    env: Mapping[str, str],
    timeout: float,
    memory: int,
    has_answered: Callable[[], bool] | None = None,
) -> Ended:
    """Run a program in a session of its own, in an empty folder, with stdin closed and no core file.

    `command` gets two descriptors that the program inherits: where its log goes, and where it reads one
    byte once its limits are set. `memory` bounds its address space. With `has_answered` it is asked with a
    signal where it is when time is up, and has a moment to note it. Raises InputError or OutputError where it
    does not start; nothing of it is left when this returns.
    """
    with undisturbed():
        child = _Child(command, pass_fds, env, timeout, memory)
    try:
        cause = child.watch()
        politely = cause is Cause.TIMEOUT
        seconds = child.seconds
        if politely and has_answered is not None:
            child.ask(has_answered)
        return child.end(cause, seconds, politely=politely)
    finally:
        with undisturbed():
            child.close()


class _Child:
    """A process with its folder and pipes. Changes."""

    def __init__(
        self,
        command: Callable[[int, int], list[str]],
        pass_fds: tuple[int, ...],
        env: Mapping[str, str],
        timeout: float,
        memory: int,
    ) -> None:
        self._started = time.monotonic()
        self._timeout = min(timeout, MOST_SECONDS)
        self._folder = make_folder()
        self._fds: list[int] = []
        try:
            self._begin(command, pass_fds, env, memory)
        except (OSError, ValueError, RuntimeError) as error:  # no thread: RuntimeError
            self._close_all()
            raise InputError("cannot start a process", why=reason(error)) from error

    def _begin(
        self,
        command: Callable[[int, int], list[str]],
        pass_fds: tuple[int, ...],
        env: Mapping[str, str],
        memory: int,
    ) -> None:
        self._streams = tuple(self._stream(kept) for kept in (OUTPUT_KEPT, OUTPUT_KEPT, LOG_KEPT))
        out, err, log = self._streams
        go, ours = os.pipe()
        self._fds += [go, ours]
        self._child, self._done = start(
            command(log.writer, go),
            stdin=subprocess.DEVNULL,
            stdout=out.writer,
            stderr=err.writer,
            pass_fds=(*pass_fds, log.writer, go),
            env=dict(env),
            cwd=self._folder,
            start_new_session=True,
        )
        try:
            self._mark = Mark.of(self._child.pid, self._folder, out.reader)
            self._limit(memory)
        except BaseException:  # it waits for its limits: nothing foreign has run
            self._child.kill()
            self._child.wait()
            self._done.set()
            raise
        with suppress(BrokenPipeError):
            os.write(ours, b"g")
        for stream in self._streams:
            self._close(stream.writer)
        self._close(go)

    def _stream(self, kept: int) -> _Stream:
        stream = _Stream(kept)
        self._fds += [stream.reader, stream.writer]
        return stream

    def _close(self, fd: int) -> None:
        self._fds.remove(fd)
        os.close(fd)

    def _limit(self, memory: int) -> None:
        """Limits of a process that waits for them: the emulator obeys its own, not those of its guest."""
        seconds = (int(-(-self._timeout // 1)) + 1) * (os.cpu_count() or 1)
        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: LARGEST_FILE,
            resource.RLIMIT_NOFILE: MOST_FILES,
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_AS: max(memory, LEAST_MEMORY),
        }
        for kind, value in limits.items():
            _, hard = resource.getrlimit(kind)
            least = min(value, MOST if hard == resource.RLIM_INFINITY else hard)
            with suppress(ProcessLookupError):
                resource.prlimit(self._child.pid, kind, (least, least))

    def watch(self) -> Cause:
        """Wait for its end, reading what it writes; why it has to be ended, where it does not itself."""
        deadline, closing = self._started + self._timeout, SHORT_TICK
        while True:
            has_gone = has_ended(self._child.pid)  # asked first: what it wrote before is read
            poll = select.poll()
            for stream in self._streams:
                stream.read()
                if stream.size > OUTPUT_LIMIT:
                    return Cause.OUTPUT
                if stream.is_open:
                    poll.register(stream.reader, select.POLLIN)
            if has_gone:
                return Cause.ITSELF
            left = deadline - time.monotonic()
            if left <= 0:
                return Cause.TIMEOUT
            tick = TICK  # an end is seen, though others hold its pipes open
            if not any(stream.is_open for stream in self._streams):  # it is about to end, mostly
                tick = closing = min(2 * closing, TICK)
            poll.poll(1000 * min(left, tick))

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self._started

    def ask(self, has_answered: Callable[[], bool]) -> None:
        """Have it note where it is; where it does not, nothing is lost but that."""
        with suppress(ProcessLookupError):
            os.kill(self._child.pid, ASK)
        until = time.monotonic() + ANSWER
        while not (has_answered() or has_ended(self._child.pid) or time.monotonic() > until):
            time.sleep(ANSWER_TICK)

    def end(self, cause: Cause, seconds: float, *, politely: bool) -> Ended:
        """End it with all that it has started, and tell how it ended after `seconds`."""
        end_session(self._mark, politely=politely)
        code = self._child.wait()
        for stream in self._streams:
            stream.read()
        out, err, log = (bytes(stream.data) for stream in self._streams)
        number = -code if code < 0 else None
        return Ended(cause, None if code < 0 else code, number, seconds, out, err, log)

    def close(self) -> None:
        """Leave nothing behind."""
        if self._child.returncode is None:
            end_session(self._mark, politely=False)
            self._child.wait()
        self._done.set()
        self._close_all()

    def _close_all(self) -> None:
        for fd in self._fds:
            os.close(fd)
        self._fds.clear()
        remove_folder(self._folder)
