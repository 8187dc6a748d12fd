"""A path, `-`, a directory, archive, wheel or host library: its kernel objects, one at a time."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, Protocol

from cannkit.errors import FormatError, InputError
from cannkit.format.elf_types import HEADER_SIZE, HOST_MACHINES, Machine
from cannkit.inputs.contents import (
    Input,
    NothingInsideError,
    Place,
    Unreadable,
    host_contents,
    is_archive,
    is_zip,
    machine_of,
    objects_in,
)
from cannkit.inputs.files import (
    WHOLE_LIMIT,
    FileWindow,
    HostFiles,
    MemoryFiles,
    is_directory,
    link_target,
    open_window,
    reason,
    too_large,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

STDIN = "-"
STDIN_LIMIT = 1 << 30  # HAZ-16
CHUNK = 1 << 20


class Source(Protocol):
    """Inputs one after the other; `plural` says whether the answer is a list."""

    @property
    def plural(self) -> bool:
        """Whether the answer is a list."""

    @property
    def total(self) -> int | None:
        """How many there will be, where that is cheap to say."""

    def __iter__(self) -> Iterator[Input | Unreadable]: ...


@dataclass(frozen=True)
class Inputs:
    """The objects that paths stand for; nothing is opened before it is asked for."""

    paths: tuple[str, ...]
    stdin: BinaryIO | None = None

    @cached_property
    def plural(self) -> bool:
        """Whether the answer is a list: not for one plain object, even one that is missing."""
        if len(self.paths) != 1 or is_directory(self.paths[0]):
            return True
        return _survey(self.paths[0], named=True)[0]

    @cached_property
    def total(self) -> int | None:
        """How many there will be; None where only unpacking an archive would tell."""
        return _sum(_survey(path, named=True)[1] for path in self.paths)

    def __iter__(self) -> Iterator[Input | Unreadable]:
        """The objects in the order of paths and members. What cannot be opened does not raise."""
        for path in self.paths:
            if path == STDIN:
                yield from _from_stdin(self.stdin)
            elif is_directory(path):
                yield from objects_below(path)
            else:
                yield from _from_file(path, named=True)


def open_inputs(
    paths: Sequence[str], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> Inputs:
    """The objects of `paths`; `stdin` stands in for the standard input.

    A directory is always walked, so `recursive` changes nothing (cli.md: implied).
    """
    return Inputs(tuple(paths), stdin)


def _from_file(path: str, *, named: bool) -> Iterator[Input | Unreadable]:
    place = Place(path, None, HostFiles(), link_target(path))
    try:
        window = _open(path)
    except InputError as error:
        if named:
            yield place.failed(error)
        return
    yield from objects_in(place, window, named=named)


def objects_below(root: str) -> Iterator[Input | Unreadable]:
    """Every `*.o`, readable or not, and what else holds kernels by its content."""
    nothing = True
    for path, error in walk_directory(root):
        found = iter([Unreadable(path, None, error)]) if error else objects_found(path)
        for each in found:
            nothing = False
            yield each
    if nothing:
        error = NothingInsideError(root, "a directory without kernel objects")
        yield Unreadable(root, None, error)


def objects_found(path: str) -> Iterator[Input | Unreadable]:
    """The objects in a file of a directory: none in one that is no kernel object."""
    return _from_file(path, named=path.endswith(".o"))


def walk_directory(root: str) -> list[tuple[str, InputError | None]]:
    """The files below `root`, sorted as bytes, and the directories that cannot be listed."""
    found: list[tuple[str, InputError | None]] = []
    todo = [root]
    while todo:
        directory = todo.pop()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    elif not (entry.is_symlink() and is_directory(entry.path)):
                        found.append((entry.path, None))
        except OSError as error:
            why = reason(error)
            found.append(
                (directory, InputError("cannot list the directory", where=directory, why=why))
            )
    return sorted(found, key=lambda each: os.fsencode(each[0]))


def _open(path: str) -> FileWindow:
    window = open_window(path)
    if not len(window):
        raise InputError("cannot read the file", where=path, why="it is empty")
    return window


def _from_stdin(stream: BinaryIO | None) -> Iterator[Input | Unreadable]:
    """One object, whatever it holds."""
    place = Place(STDIN, None, MemoryFiles(), STDIN)
    try:
        yield place.opened(_read_stdin(stream))
    except InputError as error:
        yield place.failed(error)


def _read_stdin(stream: BinaryIO | None) -> memoryview:
    what, raw = "cannot read the standard input", bytearray()
    if stream is None:
        if sys.stdin is None:  # closed before Python began
            raise InputError(what, where=STDIN, why="it is closed")
        stream = sys.stdin.buffer
    try:
        while part := stream.read(CHUNK):
            raw += part
            if len(raw) > STDIN_LIMIT:
                raise too_large(STDIN, STDIN_LIMIT)
    except (OSError, ValueError) as error:  # ValueError: closed
        raise InputError(what, where=STDIN, why=reason(error)) from error
    if not raw:
        raise InputError(what, where=STDIN, why="it is empty")
    return memoryview(raw).toreadonly()


def _survey(path: str, *, named: bool) -> tuple[bool, int | None]:
    """Whether `path` is a container, and how many objects it stands for if that is cheap to say."""
    if path == STDIN:
        return False, 1
    if is_directory(path):
        counts = (
            1 if error else _survey(each, named=each.endswith(".o"))[1]
            for each, error in walk_directory(path)
        )
        total = _sum(counts)
        return True, None if total is None else max(total, 1)
    try:
        window = _open(path)
        head = bytes(window[0:HEADER_SIZE])
        if is_archive(head, named=named) or is_zip(head, path, named=named):
            return True, None
        machine = machine_of(head)
        found = host_contents(path, window) if machine in HOST_MACHINES else None
    except NothingInsideError:
        return True, int(named)
    except FormatError:
        return True, 1
    except InputError:
        return False, int(named)
    if found is not None:
        return True, len(found)
    return False, int(named or machine == Machine.EM_ASCEND_AI_CORE)


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


class NamedFiles:
    """Files as they are named, not looked into: those of AI CPU programs need not even exist."""

    def __init__(self, paths: Sequence[str], *, read: bool) -> None:
        self._paths = paths
        self._read = read
        self.plural = len(paths) != 1
        self.total = len(paths)

    def __iter__(self) -> Iterator[Input | Unreadable]:
        files = HostFiles()
        for path in self._paths:
            raw: bytes | None = b""
            try:
                if self._read:
                    raw = files.read(path, WHOLE_LIMIT)
                    if raw is None:
                        raise InputError("cannot read the file", where=path, why="no such file")
            except InputError as error:
                yield Unreadable(path, None, error)
                continue
            yield Input(path, memoryview(raw or b""), None, files, path)
