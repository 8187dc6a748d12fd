"""Bytes of files, whole or through a window, and FileView: a place where files are looked for."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import stat
import weakref
from typing import TYPE_CHECKING, Protocol

from cannkit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cannkit.format.elf_types import ByteView

WHOLE_LIMIT = 64 << 20  # larger spans are not held
FILE_LIMIT = 4 << 30  # HAZ-16
LINK_LIMIT = 40  # as in Linux
CHUNK = 1 << 20
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


class NoSuchFileError(InputError):
    """There is no file of this name."""


class FileWindow:
    """A span of an open file, read piece by piece; the file closes with its last window."""

    __slots__ = ("_file", "_offset", "_size", "name")

    def __init__(self, file: _OpenFile, name: str, offset: int, size: int) -> None:
        self._file = file
        self._offset = offset
        self._size = size
        self.name = name

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, span: slice, /) -> memoryview:
        """The bytes of a span, clamped as for any sequence.

        Raises InputError when the file cannot be read or has become shorter.
        """
        start, stop, step = span.indices(self._size)
        if step != 1:
            raise ValueError("a window is cut without a step")
        if stop - start > WHOLE_LIMIT:
            return self._sparse(start, stop)
        left, at, parts = max(stop - start, 0), self._offset + start, []
        while left:
            try:
                part = os.pread(self._file.fd, left, at)
            except OSError as error:
                raise _unreadable(self.name, error) from error
            if not part:
                raise InputError(
                    "cannot read the file", where=self.name, why="it became shorter meanwhile"
                )
            parts.append(part)
            left, at = left - len(part), at + len(part)
        return memoryview(parts[0] if len(parts) == 1 else b"".join(parts))

    def _sparse(self, start: int, stop: int) -> memoryview:
        """A large span: its pages of zeros take no memory, as they take none in a sparse file."""
        try:
            held = mmap.mmap(-1, stop - start, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError as error:
            raise MemoryError(f"{stop - start} bytes") from error
        for at in range(start, stop, CHUNK):
            part = self[at : min(at + CHUNK, stop)]
            if bytes(part) != bytes(len(part)):
                held[at - start : at - start + len(part)] = part
        return memoryview(held).toreadonly()

    def narrow(self, offset: int, size: int) -> FileWindow:
        """A window of this window, clamped to it; nothing is read."""
        start = min(offset, self._size)
        return FileWindow(
            self._file, self.name, self._offset + start, min(size, self._size - start)
        )

    def duplicate(self) -> int:
        """A file descriptor of the caller's own."""
        return os.dup(self._file.fd)


class _OpenFile:
    """A file descriptor that closes when nobody refers to it any more."""

    __slots__ = ("__weakref__", "fd")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        weakref.finalize(self, os.close, fd)


def open_window(path: str, *, name: str | None = None, extra_flags: int = 0) -> FileWindow:
    """A window of the whole regular file at `path`, called `name` in errors.

    Raises NoSuchFileError when it is missing, InputError when it is unreadable, too large or no regular
    file (HAZ-16); a FIFO or a device does not make it wait.
    """
    name = name or path
    try:
        file = _OpenFile(os.open(path, OPEN_FLAGS | extra_flags))
        state = os.fstat(file.fd)
    except OSError as error:
        raise _unreadable(name, error) from error
    except ValueError as error:  # a NUL in the name: no file has one
        raise NoSuchFileError("cannot read the file", where=name, why=str(error)) from error
    if not stat.S_ISREG(state.st_mode):
        why = os.strerror(errno.EISDIR) if stat.S_ISDIR(state.st_mode) else "not a regular file"
        raise InputError("cannot read the file", where=name, why=why)
    if state.st_size > FILE_LIMIT:
        raise too_large(name, FILE_LIMIT)
    return FileWindow(file, name, 0, state.st_size)


def is_directory(path: str) -> bool:
    """Whether `path` leads to a directory; not, when that cannot be told."""
    return os.path.isdir(path)


def link_target(path: str) -> str:
    """Where the file at `path` really lies: JSN-01, a sidecar stands beside the link's target."""
    for _ in range(LINK_LIMIT):
        try:
            target = os.readlink(path)
        except (OSError, ValueError):  # no symlink, or not there: opening it will tell
            return path
        path = os.path.join(os.path.dirname(path), target)
    return path


def cut(data: ByteView, offset: int, size: int) -> ByteView:
    """A span of `data`: without a copy where it is in memory, as a window where it is large."""
    if isinstance(data, FileWindow) and size > WHOLE_LIMIT:
        return data.narrow(offset, size)
    return data[offset : offset + size]


def sha256_hex(data: ByteView) -> str:
    """The SHA-256 of `data`; raises InputError when a window cannot be read."""
    return hex_digest(data, "sha256")


def hex_digest(data: ByteView, algorithm: str) -> str:
    """The digest of `data` by an algorithm of hashlib; raises InputError when a window cannot be read."""
    digest = hashlib.new(algorithm)
    if isinstance(data, memoryview):
        digest.update(data)
        return digest.hexdigest()
    for at in range(0, len(data), CHUNK):
        digest.update(data[at : at + CHUNK])
    return digest.hexdigest()


def too_large(name: str, limit: int) -> InputError:
    """The error for a file or a member of more than `limit` bytes."""
    return InputError("cannot read the file", where=name, why=f"it has more than {limit} bytes")


def reason(error: Exception) -> str:
    """Why, without the path, which the user knows: `strerror` of an OSError."""
    text = error.strerror if isinstance(error, OSError) else str(error)
    return text or type(error).__name__


class FileView(Protocol):
    """Where a reader may look for files: the host, a directory, a mapping, a zip."""

    def read(self, path: str, limit: int) -> bytes | None:
        """The bytes of `path`, or None where there is no such file.

        Raises InputError when it is there, but is no regular file, cannot be read, or has more
        than `limit` bytes.
        """


class PathView(FileView, Protocol):
    """A view of a tree of directories and symlinks, as if its top were `/`. Spec 05, AE-1202."""

    def real_path(self, path: str) -> str | None:
        """realpath(3): where `path` really lies, None where it does not exist.

        A relative path is taken against `/`; `..` and absolute symlinks stay inside the view. None is
        also a path of 4096 bytes, a name of 256, more than 40 symlinks. Raises InputError where it
        cannot be told, for a directory may not be searched.
        """

    def why_missing(self, path: str) -> str:
        """Why `real_path` finds nothing there, in a few words. Raises as it."""


class HostFiles:
    """The files of this machine."""

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView."""
        return read_host(path, limit)


class MemoryFiles:
    """Files that are already bytes; a path is found only as it is spelled."""

    def __init__(self, files: Mapping[str, ByteView] | None = None) -> None:
        self.files = files or {}

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView."""
        data = self.files.get(path)
        if data is None:
            return None
        if len(data) > limit:
            raise too_large(path, limit)
        return bytes(data[0 : len(data)])


def read_host(
    path: str, limit: int, *, name: str | None = None, extra_flags: int = 0
) -> bytes | None:
    """The bytes of a file of this machine, called `name` in errors; see FileView.read."""
    try:
        window = open_window(path, name=name, extra_flags=extra_flags)
    except NoSuchFileError:
        return None
    if len(window) > limit:
        raise too_large(window.name, limit)
    return bytes(window[0 : len(window)])


def _unreadable(name: str, error: OSError) -> InputError:
    kind = NoSuchFileError if error.errno in MISSING else InputError
    return kind("cannot read the file", where=name, why=reason(error))
