"""HostCaller: opens libraries of this machine and calls their functions in a child process. Spec 05, AE-1205.

It is no sandbox (AE-1209): the code runs with the rights of the user. This process never loads it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

from cannkit.ae import host_wire as wire
from cannkit.ae.caller import CallEndedError, Found, Opened, Returned, Signature
from cannkit.ae.event import Argument
from cannkit.ae.host_end import EndedError
from cannkit.ae.host_process import HostProcess
from cannkit.ae.host_verdict import Made, verdict_of
from cannkit.ae.static_check import (
    HostedFiles,
    Placed,
    check_library,
    host_machine,
    missing_export,
    missing_globally,
    open_hosted,
    remarks_of,
    unresolved,
)
from cannkit.errors import InputError, UsageError, brief
from cannkit.format.host_library import HostLibrary

TIMEOUT: Final = 10.0
MOST_TIMEOUT: Final = 1e9  # what selectors and limits take
MEMORY: Final = 2 << 30
LEAST_MEMORY: Final = 64 << 20  # the interpreter alone needs about half of it
NUMBER_AND_TEXT: Final = (int, bytes)
U64: Final = (1 << 64) - 1
MOST_MEMORY: Final = 1 << 46
SEPARATORS: Final = ":;\0"  # of LD_LIBRARY_PATH
SIGNATURES: Final = {
    Signature.PARAM: wire.PARAM,
    Signature.BLOCK: wire.BLOCK,
    Signature.ADDRESS: wire.ADDRESS,
}


class HostCaller:
    """A Caller whose calls are real, each within `timeout` seconds and `memory` bytes.

    The child is started with the first library and lives until `close`, or until foreign code ends it:
    from then on everything raises CallEndedError. `lib_path` are folders for LD_LIBRARY_PATH. Symbols of
    the C library and the interpreter are not found globally unless `allow_global` (Q-8). Changes.
    """

    def __init__(
        self,
        files: HostedFiles,
        timeout: float = TIMEOUT,
        memory: int = MEMORY,
        lib_path: Sequence[str] = (),
        allow_global: bool = False,
    ) -> None:
        """Raises UsageError where this machine or a value will not do."""
        if sys.platform != "linux":
            raise UsageError(
                "cannot call real functions", why=f"needs Linux, this is {sys.platform}"
            )
        if not sys.executable:
            raise UsageError(
                "cannot call real functions", why="Python does not know its own interpreter"
            )
        if not 0 < timeout <= MOST_TIMEOUT:
            why = f"{timeout} is no number of seconds above 0, and up to {MOST_TIMEOUT:.0f}"
            raise UsageError("bad timeout", why=why)
        if type(memory) is not int or not LEAST_MEMORY <= memory <= MOST_MEMORY:
            why = f"{memory}: whole bytes, from {LEAST_MEMORY} on"
            raise UsageError("bad memory limit", why=why)
        for folder in lib_path:
            if not folder or any(each in folder for each in SEPARATORS):
                why = "it is empty, or has a colon, a semicolon or a NUL"
                raise UsageError("bad folder of libraries", where=folder, why=why)
        self._refused: dict[str, str] = {}  # global names, and why
        self._files = files
        self._timeout = timeout
        self._memory = memory
        self._lib_path = [str(Path(folder).absolute()) for folder in lib_path]
        self._allow_global = allow_global
        self._machine = host_machine()
        self._process: HostProcess | None = None
        self._libraries: dict[int, HostLibrary] = {}
        self._opens: Counter[int] = Counter()  # of each number: one library may be opened often
        self._unresolved: list[str] = []
        self._made: Made | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the child; nothing happens without one."""
        if self._process is not None:
            self._process.close()

    def open(self, path: str) -> Opened:
        """See Caller; what a look at the file tells is told without loading it (AE-1204)."""
        host = str(Path(self._files.host_path(path)).absolute())
        try:
            checked = check_library(open_hosted(self._files, path), self._machine)
        except InputError as error:
            return Opened(None, error.why)
        if checked.library is None or checked.why:
            return Opened(None, checked.why)
        others = list(self._libraries.values())
        names, missing = unresolved(Placed(host, checked.library), self._lib_path, others)
        self._unresolved += names
        number, why = self._ask(NUMBER_AND_TEXT, wire.OPEN, os.fsencode(host))
        if not number:
            return Opened(None, _text(why).replace(host, path) or "dlopen failed")
        self._libraries[number] = checked.library
        self._opens[number] += 1
        return Opened(number, "", remarks_of(names, missing))

    def close(self, library: int) -> None:
        """See Caller."""
        self._ask((), wire.CLOSE, library)
        self._opens[library] -= 1
        if self._opens[library] <= 0:
            self._libraries.pop(library, None)
            del self._opens[library]

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        number, provider = self._ask(NUMBER_AND_TEXT, wire.FIND, library, _bytes(name))
        return Found(number, Path(_text(provider)).name) if number else None

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        if library is not None:
            return missing_export(self._libraries[library], name)
        return self._refused.get(name) or missing_globally(self._libraries.values(), name)

    def find_global(self, name: str) -> Found | None:
        """See Caller; Q-8: a symbol of the process itself is refused, and `why_missing` says so."""
        allowed = int(self._allow_global)
        number, owner = self._ask(NUMBER_AND_TEXT, wire.FIND_GLOBAL, _bytes(name), allowed)
        provider = Path(_text(owner)).name
        if number:
            return Found(number, provider)
        if provider:
            self._refused[name] = (
                f"{brief(name)} is found in {provider}, which belongs to cannkit's own process,"
                " not to a library that was opened: refused"
            )
        return None

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        """See Caller. Raises InputError when memory of the argument has no place in the child."""
        fields: list[wire.Field] = [argument.address, *block]
        for segment in argument.segments:
            fields += [segment.address, int(segment.is_writable), segment.data]
        if not all(0 <= field <= U64 for field in fields if isinstance(field, int)):
            raise UsageError("an address or a block is no number of 64 bits")
        self._made = Made(signature, argument)
        record = self._record(wire.CALL, function, SIGNATURES[signature], *fields)
        match record:
            case [wire.PLACE, int(number), bytes(why)] if number <= len(argument.segments):
                where = _segment_name(argument, number - 1) if number else None
                text = _text(why)
                raise InputError("cannot place memory of the argument", where=where, why=text)
        try:
            segments, overruns = _after(argument, record)
        except (ValueError, TypeError, LookupError):
            self._reject()
        assert self._process is not None
        code, output = self._process.returned, self._process.take_output()
        if code is None:
            self._reject()
        return Returned(code, segments, overruns, output)

    def _ask(self, kinds: tuple[type, ...], *fields: wire.Field) -> wire.Message:
        """The fields of an answer, of these kinds."""
        kind, *answer = self._record(*fields)
        if kind != wire.ANSWER or tuple(map(type, answer)) != kinds:
            self._reject()
        return answer

    def _reject(self) -> NoReturn:
        """Foreign code has made up an answer; raises CallEndedError."""
        assert self._process is not None
        try:
            self._process.reject()
        except EndedError as error:
            raise CallEndedError(verdict_of(error.end, self._timeout)) from error

    def _record(self, *fields: wire.Field) -> wire.Message:
        """Ask the child, which is started first; raises CallEndedError."""
        try:
            if self._process is None:
                self._process = self._start()
            return self._process.request(*fields)
        except EndedError as error:
            verdict = verdict_of(error.end, self._timeout, self._made, self._unresolved)
            raise CallEndedError(verdict) from error

    def _start(self) -> HostProcess:
        env = {"LC_ALL": "C"}
        if self._lib_path:
            env["LD_LIBRARY_PATH"] = ":".join(self._lib_path)
        return HostProcess(self._timeout, self._memory, env)


def _after(argument: Argument, record: wire.Message) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    """Memory after a call, and what was written beside it; raises for an answer that cannot be."""
    kind, count, *rest = record
    segments = [segment.data for segment in argument.segments]
    for index, data in zip(rest[: 2 * count : 2], rest[1 : 2 * count : 2], strict=True):
        if len(data) != len(segments[index]):
            raise ValueError("memory of another size")
        segments[index] = bytes(data)
    runs = rest[2 * count :]
    overruns = [
        _overrun(argument, *row)
        for row in zip(runs[::4], runs[1::4], runs[2::4], runs[3::4], strict=True)
    ]
    if kind != wire.ANSWER:
        raise ValueError("no answer")
    return tuple(segments), tuple(overruns)


def _segment_name(argument: Argument, index: int) -> str:
    """What a segment is called: the one that the function gets is the parameter block."""
    segment = argument.segments[index]
    if segment.address <= argument.address < segment.address + len(segment.data):
        return "the parameter block"
    return f"the segment at {segment.address:#x}"


def _overrun(argument: Argument, index: int, side: int, offset: int, count: int) -> str:
    place = {wire.BEFORE: "before", wire.BEHIND: "behind", wire.INSIDE: "of read-only memory in"}
    sign = "-" if side == wire.BEFORE else "+"
    what, were = ("byte", "was") if count == 1 else ("bytes", "were")
    where = f"{argument.segments[index].address:#x}{sign}{offset:#x}"
    name = _segment_name(argument, index)
    return f"{count} {what} {place[side]} {name} {were} written ({where})"


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
