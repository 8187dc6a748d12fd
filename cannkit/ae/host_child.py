"""The process that runs foreign code: it limits itself, then loads, looks up and calls as asked. AE-1205.

Spec 05. HostCaller starts it in a fresh interpreter. After each stage it says how far it came.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from typing import Final, NoReturn

from cannkit.ae import host_libc as libc
from cannkit.ae import host_wire as wire
from cannkit.ae.host_memory import Mapping, Part, PlaceError

LARGEST_FILE: Final = 16 << 20
MOST_FILES: Final = 64
HIGHEST_PIPE: Final = 1000  # a loop that closes all descriptors up to the limit does not reach it


class Child:
    """Serves requests until its pipe ends. Changes."""

    def __init__(self, requests: int, results: int) -> None:
        self._requests = requests
        self._results = results
        self._process = os.getpid()
        self._token = b""
        self._seconds = 0
        self._before: frozenset[bytes] | None = None  # objects here before the first library
        self._libraries: list[int] = []
        self._functions: list[int] = []

    def serve(self) -> None:
        """Answer requests; raises EOFError at their end, OSError when a pipe is gone."""
        doors = {
            wire.OPEN: self._open,
            wire.CLOSE: self._close,
            wire.FIND: self._find,
            wire.FIND_GLOBAL: self._find_global,
            wire.CALL: self._call,
        }
        self._start(wire.receive(self._requests)[1:])
        while True:
            kind, *fields = wire.receive(self._requests)
            self._limit_cpu()
            doors[kind](fields)

    def _send(self, kind: int, *fields: wire.Field) -> None:
        wire.send(self._results, self._token + wire.encode(kind, *fields))

    def _leave_copy(self) -> None:
        """Foreign code may fork and let both return: only the first goes on here."""
        if os.getpid() != self._process:
            os._exit(0)

    def _start(self, fields: wire.Message) -> None:
        self._token, self._seconds, memory, parent = fields
        libc.restrict()
        libc.print_at_once()
        if os.getppid() != parent:  # it ended before PR_SET_PDEATHSIG
            os._exit(wire.LOST_PIPE)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # as in any other process
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
        _limit(resource.RLIMIT_NOFILE, MOST_FILES)
        _limit(resource.RLIMIT_AS, memory)
        self._send(wire.ANSWER)

    def _limit_cpu(self) -> None:
        """RLIMIT_CPU counts from the start of the process: it moves on with each request."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(used.ru_utime + used.ru_stime) + self._seconds + 1
        soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))

    def _open(self, fields: wire.Message) -> None:
        (path,) = fields
        if self._before is None:
            self._before = frozenset(libc.loaded())
        self._send(wire.STAGE, wire.LOAD)
        handle, why = libc.load(path)
        self._leave_copy()
        libc.flush()
        if handle and handle not in self._libraries:
            self._libraries.append(handle)
        self._send(wire.ANSWER, self._libraries.index(handle) + 1 if handle else 0, why)

    def _close(self, fields: wire.Message) -> None:
        self._send(wire.STAGE, wire.LOAD)
        libc.unload(self._libraries[fields[0] - 1])
        self._leave_copy()
        self._send(wire.ANSWER)

    def _find(self, fields: wire.Message) -> None:
        library, name = fields
        handle = self._libraries[library - 1]
        self._send(wire.STAGE, wire.LOOKUP)  # an IFUNC runs foreign code
        address = libc.look_up(handle, name)
        self._leave_copy()
        provider = libc.owner(address) if address else b""
        if provider == libc.name_of(handle):
            provider = b""
        self._send(wire.ANSWER, self._number(address), provider)

    def _find_global(self, fields: wire.Message) -> None:
        """Q-8: the object that has the name is told, and no function, unless it came with a library."""
        name, is_any_allowed = fields
        self._send(wire.STAGE, wire.LOOKUP)
        address = libc.look_up(None, name)
        self._leave_copy()
        provider = libc.owner(address) if address else b""
        if not is_any_allowed and provider not in self._opened():
            address = 0
        self._send(wire.ANSWER, self._number(address), provider)

    def _opened(self) -> set[bytes]:
        """Objects that are here since the first library was opened."""
        return set() if self._before is None else set(libc.loaded()) - self._before

    def _number(self, address: int) -> int:
        """Addresses stay here: they differ from run to run."""
        if not address:
            return 0
        if address not in self._functions:
            self._functions.append(address)
        return self._functions.index(address) + 1

    def _call(self, fields: wire.Message) -> None:
        function, signature, argument, block_id, blocks, *rest = fields
        triples = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
        parts = [
            Part(number, address, bool(is_writable), data)
            for number, (address, is_writable, data) in enumerate(triples)
        ]
        try:
            memory = Mapping(parts)
        except PlaceError as error:
            number = 0 if error.number is None else error.number + 1
            self._send(wire.PLACE, number, error.why.encode())
            return
        self._send(wire.STAGE, wire.CALLING)
        code = libc.call(self._functions[function - 1], signature, argument, (block_id, blocks))
        self._leave_copy()
        self._send(wire.RETURNED, code)
        libc.flush()
        changed = list(memory.changed())
        overruns = list(memory.overruns())
        memory.unmap()
        pairs = [field for pair in changed for field in pair]
        sides = [field for overrun in overruns for field in overrun]
        self._send(wire.ANSWER, len(changed), *pairs, *sides)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _hide(pipe: int, place: int) -> int:
    """Move a pipe out of the way of foreign code; nothing that is executed inherits it."""
    hidden = os.dup2(pipe, place, inheritable=False)
    os.close(pipe)
    return hidden


def main() -> NoReturn:
    """Serve the pipes that the last two words of the command line name, then end at once."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    pipes = [int(word) for word in sys.argv[-2:]]
    highest = min(soft, HIGHEST_PIPE) - 1
    places = [place for place in range(highest, highest - 4, -1) if place not in pipes]
    requests, results = map(_hide, pipes, places[:2])
    try:
        Child(requests, results).serve()
    except EOFError:
        code = 0
    except OSError:
        code = wire.LOST_PIPE
    except MemoryError:
        code = wire.NO_MEMORY
    os._exit(code)
