"""Callers by way of the runner: RunnerCaller, and RoutedCaller, which takes it for other machines' code.

Spec 05, AE-608 and AE-704, by way of the runner of spec 07 (OPR-801).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.ae.caller import CallEndedError, Caller, Found, Opened, Returned, Signature
from cannkit.ae.event import Argument, Segment
from cannkit.ae.static_check import (
    HostedFiles,
    Placed,
    check_library,
    dependencies,
    host_machine,
    missing_export,
    missing_globally,
    open_hosted,
)
from cannkit.errors import CannkitError, InputError, sentence
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import Machine
from cannkit.ops.job import CallKind, Job, JobCall, Region
from cannkit.ops.needs import FOLDERS
from cannkit.ops.runner import MEMORY, TIMEOUT, Emulate, Outcome, Runner, decide
from cannkit.ops.toolchain import Tool, Toolchain

KINDS: Final = {
    Signature.PARAM: CallKind.PARAM,
    Signature.BLOCK: CallKind.BLOCK,
    Signature.ADDRESS: CallKind.PARAM,
}
REMARK: Final = (
    "each call runs under the emulator in a process of its own: the library keeps no state"
)


class Span(NamedTuple):
    """Bytes from `start` to `stop` that share pages, and the segments among them by their numbers."""

    start: int
    stop: int
    parts: tuple[tuple[int, Segment], ...]

    def region(self) -> Region:
        """The memory of these segments, zeros between them; it is constant where all of them are."""
        data = bytearray(self.stop - self.start)
        for _, segment in self.parts:
            at = segment.address - self.start
            data[at : at + len(segment.data)] = segment.data
        is_writable = any(segment.is_writable for _, segment in self.parts)
        return Region(memoryview(data), len(data), 1, self.start, is_writable)


def spans_of(argument: Argument) -> list[Span]:
    """The segments of an argument, those that share a page together; empty ones have no memory."""
    found: list[Span] = []
    ordered = sorted(
        (each for each in enumerate(argument.segments) if each[1].data), key=lambda e: e[1].address
    )
    for number, segment in ordered:
        start, stop = segment.address, segment.address + len(segment.data)
        last = found[-1] if found else None
        if last is not None and start // mmap.PAGESIZE <= (last.stop - 1) // mmap.PAGESIZE:
            parts = (*last.parts, (number, segment))
            found[-1] = Span(last.start, max(last.stop, stop), parts)
        else:
            found.append(Span(start, stop, ((number, segment),)))
    return found


class RunnerCaller:
    """A Caller whose calls the runner makes: it has the functions of the device's process. Changes.

    Opening loads a library once to see that it can be; each call runs in a process of its own, in `timeout`
    seconds and `memory` bytes beside its argument. What cannot be run here does not open, and says why.
    """

    def __init__(
        self,
        files: HostedFiles,
        sysroot: str | None = None,
        timeout: float = TIMEOUT,
        memory: int = MEMORY,
        emulate: Emulate = Emulate.ALWAYS,
    ) -> None:
        self._files = files
        self._emulate = emulate
        self._sysroot = sysroot
        self._timeout = timeout
        self._memory = memory
        self._toolchain = Toolchain()
        self._runner = Runner(self._toolchain)
        self._libraries: dict[int, Placed] = {}
        self._functions: list[tuple[Placed, str]] = []
        self._last = 0

    def open(self, path: str) -> Opened:
        """See Caller."""
        host = str(Path(self._files.host_path(path)).absolute())
        try:
            checked = check_library(open_hosted(self._files, path), None)
        except InputError as error:
            return Opened(None, error.why)
        if checked.library is None or checked.why:
            return Opened(None, checked.why)
        try:
            outcome = self._run(Job(host, bind_now=False), checked.library.machine)
        except CannkitError as error:
            machine, here = checked.library.machine, self._toolchain.machine
            why = sentence(error.what, None, error.why)
            why += f" ({error.hint})" if error.hint else ""
            if machine != here:
                own = "another one" if here is None else machine_name(here)
                why = f"it is for {machine_name(machine)}, this machine is {own}: {why}"
            return Opened(None, why)
        self._check(outcome)
        self._last += 1
        self._libraries[self._last] = Placed(host, checked.library)
        return Opened(self._last, "", (REMARK,))

    def close(self, library: int) -> None:
        """See Caller."""
        del self._libraries[library]

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        placed = self._libraries[library]
        if name in placed.library.exports:
            return self._found(placed, name)
        for needed in dependencies(placed, self._folders()):
            if name in needed.library.exports:
                return self._found(placed, name, Path(needed.path).name)
        return None

    def find_global(self, name: str) -> Found | None:
        """See Caller: of libraries that were opened; what they need is left out (Q-8)."""
        for placed in self._libraries.values():
            if name in placed.library.exports:
                return self._found(placed, name, Path(placed.path).name)
        return None

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        if library is not None:
            return missing_export(self._libraries[library].library, name)
        return missing_globally((each.library for each in self._libraries.values()), name)

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        """See Caller. Raises CannotRunError where memory of the argument has no place."""
        placed, name = self._functions[function]
        spans = spans_of(argument)
        call = JobCall(None, KINDS[signature], block[1], block[0], argument.address)
        regions = tuple(span.region() for span in spans)
        outcome = self._run(
            Job(placed.path, name, regions, calls=(call,), bind_now=False), placed.library.machine
        )
        self._check(outcome)
        code = outcome.calls[0].ret
        assert code is not None  # the run is whole
        after = dict(after_of(spans, outcome))
        segments = tuple(
            after.get(number, segment.data) for number, segment in enumerate(argument.segments)
        )
        overruns = tuple(overruns_of(spans, outcome))
        return Returned(code, segments, overruns, outcome.printed)

    def _found(self, placed: Placed, name: str, provider: str = "") -> Found:
        self._functions.append((placed, name))
        return Found(len(self._functions) - 1, provider)

    def _folders(self) -> tuple[str, ...]:
        """Where the loader of the sysroot looks."""
        root = self._toolchain.find_sysroot(self._sysroot)
        return (
            tuple(f"{root.path}/{folder}" for folder in FOLDERS) if isinstance(root, Tool) else ()
        )

    def _run(self, job: Job, machine: Machine) -> Outcome:
        return self._runner.run(
            job,
            emulate=decide(machine, self._emulate, self._toolchain),
            sysroot=self._sysroot,
            timeout=self._timeout,
            memory=self._memory,
        )

    def _check(self, outcome: Outcome) -> None:
        """Raises CallEndedError for a process that did not end by itself."""
        verdict = outcome.verdict(self._timeout)
        if verdict is not None:
            raise CallEndedError(verdict)


class RoutedCaller:
    """A Caller that hands libraries for this machine to `host`, others to `emulated`. Changes.

    With Emulate.ALWAYS all of them are emulated.
    """

    def __init__(
        self, files: HostedFiles, host: Caller, emulated: Caller, emulate: Emulate = Emulate.AUTO
    ) -> None:
        self._files = files
        self._callers = (host, emulated)
        self._emulate = emulate
        self._libraries: dict[int, tuple[Caller, int]] = {}
        self._functions: list[tuple[Caller, int]] = []
        self._last = 0

    def open(self, path: str) -> Opened:
        """See Caller."""
        caller = self._callers[self._is_foreign(path)]
        opened = caller.open(path)
        if opened.library is None:
            return opened
        self._last += 1
        self._libraries[self._last] = caller, opened.library
        return opened._replace(library=self._last)

    def close(self, library: int) -> None:
        """See Caller."""
        caller, number = self._libraries.pop(library)
        caller.close(number)

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        caller, number = self._libraries[library]
        return self._routed(caller, caller.find(number, name))

    def find_global(self, name: str) -> Found | None:
        """See Caller."""
        for caller in self._used():
            if found := self._routed(caller, caller.find_global(name)):
                return found
        return None

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        if library is not None:
            caller, number = self._libraries[library]
            return caller.why_missing(number, name)
        return next((why for each in self._used() if (why := each.why_missing(None, name))), "")

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned | None:
        """See Caller."""
        caller, number = self._functions[function]
        return caller.call(number, signature, argument, block)

    def _is_foreign(self, path: str) -> bool:
        if self._emulate is Emulate.ALWAYS:
            return True
        try:
            checked = check_library(open_hosted(self._files, path), None)
        except InputError:  # the caller tells it
            return False
        library = checked.library
        return library is not None and library.machine == Machine.EM_AARCH64 != host_machine()

    def _routed(self, caller: Caller, found: Found | None) -> Found | None:
        if found is None:
            return None
        self._functions.append((caller, found.function))
        return found._replace(function=len(self._functions) - 1)

    def _used(self) -> Iterable[Caller]:
        """Callers that have a library, and the first in any case."""
        used = [caller for caller, _ in self._libraries.values()]
        return [each for each in self._callers if each in used] or self._callers[:1]


def after_of(spans: Iterable[Span], outcome: Outcome) -> Iterator[tuple[int, bytes]]:
    """The numbers of segments, and their bytes after a run whose regions are the spans."""
    for index, span in enumerate(spans):
        raw = outcome.memory.region(index)
        for number, segment in span.parts:
            at = segment.address - span.start
            yield number, bytes(raw[at : at + len(segment.data)])


def overruns_of(spans: list[Span], outcome: Outcome) -> Iterator[str]:
    """What was written beside the spans, in words."""
    for each in outcome.overruns:
        span = spans[each.region]
        at = span.stop if each.where == "behind" else span.start
        yield f"{each.size} bytes {each.where} {at:#x} were written"
