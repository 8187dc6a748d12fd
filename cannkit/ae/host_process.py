"""HostProcess: a child that runs foreign code, asked through a pipe, watched and ended. Spec 05, AE-1205."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NoReturn

from cannkit.ae import host_wire as wire
from cannkit.ae.caller import Stage
from cannkit.ae.host_end import Cause, End, EndedError
from cannkit.ae.host_session import Mark, end_session, has_ended
from cannkit.ae.host_start import start, undisturbed
from cannkit.errors import InputError
from cannkit.inputs.files import reason
from cannkit.inputs.private_folder import make_folder, remove_folder

OUTPUT_KEPT: Final = 64 << 10
OUTPUT_LIMIT: Final = 64 << 20
CHUNK: Final = 1 << 16
SPARE: Final = 1 << 20
U32: Final = 0xFFFF_FFFF
TICK: Final = 0.05  # a child that ended is seen, though others hold its pipes open
GRACE: Final = 1.0  # between the end of the result pipe and that of the process
BOOT: Final = (
    "import sys; sys.path.append(sys.argv[1]); from cannkit.ae.host_child import main; main()"
)
ROOT: Final = str(Path(__file__).parents[2])
STAGES: Final = {wire.LOAD: Stage.LOAD, wire.LOOKUP: Stage.LOOKUP, wire.CALLING: Stage.CALL}


class HostProcess:
    """A fresh interpreter in a session of its own, with an empty folder as its working directory.

    It is ended by `close`, by the first error of `request`, or with this object. Making one raises
    InputError, OutputError or EndedError when it does not start. Changes.
    """

    def __init__(self, timeout: float, memory: int, env: Mapping[str, str]) -> None:
        self.stage = Stage.START
        self._timeout = timeout
        self._token = os.urandom(wire.TOKEN_SIZE)
        self._buffer = bytearray()  # of the result pipe
        self._pending = memoryview(b"")  # of the request
        self.returned: int | None = None
        self._output = bytearray()
        self._printed = 0
        self._results_open = self._output_open = True
        self._ended: End | None = None
        self._owner = os.getpid()
        with undisturbed():
            self._begin(env)
        seconds = int(-(-timeout // 1))
        self.request(wire.START, self._token, seconds, memory, os.getpid())

    def _begin(self, env: Mapping[str, str]) -> None:
        """Folder, pipes, process, and who ends them all."""
        folder = make_folder()
        pipes: list[int] = []
        try:
            for _ in range(3):
                pipes += os.pipe()
            child_requests, self._requests, self._results, child_results, *prints = pipes
            self._prints, child_prints = prints
            theirs = child_requests, child_results
            # the folder's name makes the command line one of its own
            command = [sys.executable, "-I", "-S", "-B", "-c", BOOT, ROOT, folder]
            self._child, done = start(
                [*command, *map(str, theirs)],
                stdin=subprocess.DEVNULL,
                stdout=child_prints,
                stderr=child_prints,
                pass_fds=theirs,
                env=dict(env),
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError, RuntimeError) as error:  # no thread: RuntimeError
            for pipe in pipes:
                os.close(pipe)
            remove_folder(folder)
            why, where = reason(error), sys.executable
            raise InputError("cannot start a process", where=where, why=why) from error
        for pipe in (*theirs, child_prints):
            os.close(pipe)
        ours = self._requests, self._results, self._prints
        for pipe in ours:
            os.set_blocking(pipe, False)
        self._mark = Mark.of(self._child.pid, folder, self._prints)
        self._finish = weakref.finalize(
            self, _finish, self._child, self._mark, ours, done, self._owner
        )

    def close(self) -> None:
        """End the process; nothing happens where it has ended."""
        if self._ended is None:
            self._ended = End(Cause.STOPPED, self.stage, None, None, 0.0, "")
        self._finish()

    def take_output(self) -> str:
        """What was printed since this was asked last."""
        text = self._output.decode("utf-8", "replace")
        more = self._printed - len(self._output)
        self._output.clear()
        self._printed = 0
        return f"{text}... ({more} bytes more)" if more else text

    def request(self, *fields: wire.Field) -> wire.Message:
        """Send a request and wait for its answer, whose time counts from here.

        Raises EndedError when the process ends or is ended instead, and ever after. A fork of this
        process may ask nothing: there it is as closed.
        """
        if os.getpid() != self._owner:
            self.close()
        if self._ended is not None:
            raise EndedError(self._ended)
        self._started = time.monotonic()
        self._deadline = self._started + self._timeout
        self._pending = memoryview(wire.encode(*fields))
        self._longest = len(self._pending) + SPARE  # memory comes back, and a little more
        self.returned = None
        try:
            return self._wait()
        except EndedError:
            raise
        except BaseException:  # Ctrl-C
            self.close()
            raise

    def _wait(self) -> wire.Message:
        while True:
            has_gone = has_ended(self._child.pid)  # asked first: what it wrote before is read
            self._read_results()
            answer = self._answer()
            if answer is not None:
                self._read_output()
                return answer
            if has_gone:
                self._end(Cause.ITSELF)
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._end(Cause.TIMEOUT if self._results_open else Cause.CLOSED, politely=True)
            self._poll(min(left, TICK))

    def _poll(self, seconds: float) -> None:
        """Until something happens or time is over."""
        poll = select.poll()
        if self._results_open:
            poll.register(self._results, select.POLLIN)
        if self._output_open:
            poll.register(self._prints, select.POLLIN)
        if self._pending:
            poll.register(self._requests, select.POLLOUT)
        happened = dict(poll.poll(1000 * seconds))
        if self._requests in happened:
            self._write()
        if self._prints in happened:
            self._read_output()

    def _write(self) -> None:
        try:
            self._pending = self._pending[os.write(self._requests, self._pending) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # its end will show
            self._pending = memoryview(b"")

    def _read_results(self) -> None:
        while self._results_open:
            try:
                part = os.read(self._results, CHUNK)
            except BlockingIOError:
                return
            self._buffer += part
            if len(self._buffer) > self._longest + CHUNK:  # no answer is as long
                self._end(Cause.GARBLED)
            if not part:
                self._results_open = False
                self._deadline = min(self._deadline, time.monotonic() + GRACE)

    def _read_output(self) -> None:
        while self._output_open:
            try:
                part = os.read(self._prints, CHUNK)
            except BlockingIOError:
                return
            self._output_open = bool(part)
            self._output += part[: OUTPUT_KEPT - len(self._output)]
            self._printed += len(part)
            if self._printed > OUTPUT_LIMIT:
                self._end(Cause.OUTPUT)

    def _answer(self) -> wire.Message | None:
        """Take records until one answers the request; raises EndedError for what is no record."""
        head = wire.TOKEN_SIZE + wire.SIZE.size
        while True:
            start = self._buffer[: wire.TOKEN_SIZE]
            if start != self._token[: len(start)]:
                self._end(Cause.GARBLED)
            if len(self._buffer) < head:
                return None
            (size,) = wire.SIZE.unpack_from(self._buffer, wire.TOKEN_SIZE)
            if size > self._longest:
                self._end(Cause.GARBLED)
            if len(self._buffer) < head + size:
                return None
            try:
                record = wire.decode(self._buffer[head : head + size])
            except wire.WireError:
                self._end(Cause.GARBLED)
            del self._buffer[: head + size]
            match record:
                case [wire.STAGE, int(stage)] if stage in STAGES:
                    self.stage = STAGES[stage]
                case [wire.RETURNED, int(code)] if code <= U32:
                    self.stage, self.returned = Stage.DONE, code
                case [wire.ANSWER | wire.PLACE, *_]:
                    return record
                case _:
                    self._end(Cause.GARBLED)

    def reject(self) -> NoReturn:
        """End the process for an answer that cannot be; raises EndedError."""
        self._end(Cause.GARBLED)

    def _end(self, cause: Cause, *, politely: bool = False) -> NoReturn:
        """Make an end, if it has not come; raises EndedError."""
        seconds = round(time.monotonic() - self._started, 2)
        end_session(self._mark, politely=politely)
        code = self._child.wait()
        if cause is not Cause.OUTPUT:
            self._read_output()
        is_lost = cause is Cause.ITSELF and code == wire.LOST_PIPE
        self._ended = End(
            Cause.CLOSED if is_lost else cause,
            self.stage,
            None if code < 0 else code,
            -code if code < 0 else None,
            seconds,
            self.take_output(),
            self.returned,
        )
        self._finish()
        raise EndedError(self._ended)


def _finish(
    child: subprocess.Popen[bytes],
    mark: Mark,
    pipes: tuple[int, ...],
    done: threading.Event,
    owner: int,
) -> None:
    """End a process and all that belongs to it; a fork of ours has nothing to end."""
    if os.getpid() != owner:
        return
    with undisturbed():
        if child.returncode is None:
            end_session(mark, politely=False)
            child.wait()
        done.set()
        for pipe in pipes:
            os.close(pipe)
        remove_folder(mark.folder)
