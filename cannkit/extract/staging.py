"""Staging: files wait in a hidden folder of the one they go to, until all of them are complete."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from cannkit.errors import OutputError
from cannkit.inputs.files import CHUNK, reason
from cannkit.inputs.rooted_writer import CREATE_FLAGS, ENTER_FLAGS

if TYPE_CHECKING:
    from cannkit.format.elf_types import ByteView

TOP_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC  # a symlink to it is followed, once
PREFIX: Final = ".cannkit-"
FILE_MODE: Final = 0o666  # and the umask
OWN_MODE: Final = 0o700

Parts = tuple[str, ...]
Identity = tuple[int, int]


class Staging:
    """Files on their way to a folder, which is made when the first one comes. Changes.

    All that it does is relative to the folder as it was opened; no symlink below is followed.
    """

    def __init__(self, out: str, *, force: bool = False) -> None:
        self.out = out
        self.written = 0
        self._force = force
        self._paths: list[Parts] = []
        self._made: list[Path] = []
        self._name = ""
        self._top = self._folder = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Take away what is not in its place, and the folder if nothing came to lie in it."""
        for number in range(self.written, len(self._paths)):
            with suppress(OSError):
                os.unlink(str(number), dir_fd=self._folder)
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
        if self._name:
            with suppress(OSError):
                os.rmdir(self._name, dir_fd=self._top)
        if self._top >= 0:
            os.close(self._top)
            self._top = -1
        for made in reversed(self._made):
            with suppress(OSError):  # it is not empty: as it should be
                made.rmdir()

    def shown(self, path: Parts) -> str:
        """A path as the user would write it."""
        return "/".join((self.out.rstrip("/"), *path))

    def add(self, path: Parts, data: ByteView) -> str:
        """Keep a file that is to lie at `path`; its SHA-256.

        Raises OutputError where it cannot be written, InputError where `data` cannot be read.
        """
        with self._telling(path):
            self._open()
            self._paths.append(path)
            name = str(len(self._paths) - 1)
            digest = hashlib.sha256()
            try:
                file = os.open(name, CREATE_FLAGS, FILE_MODE, dir_fd=self._folder)
                with os.fdopen(file, "wb") as out:
                    for at in range(0, len(data), CHUNK):
                        part = data[at : at + CHUNK]
                        digest.update(part)
                        out.write(part)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._folder)
                self._paths.pop()
                raise
        return digest.hexdigest()

    def commit(self, keep: Container[Identity] = ()) -> None:
        """Put all files in their places, in their order; `written` counts them.

        Raises OutputError, before anything is written where files are there that shall not be replaced:
        by `force` a file or link is, but for those to `keep`.
        """
        self._check(keep)
        for number, path, folder in self._walk(make=True):
            with self._telling(path):
                os.rename(str(number), path[-1], src_dir_fd=self._folder, dst_dir_fd=folder)
                self.written = number + 1

    def _check(self, keep: Container[Identity]) -> None:
        there: list[Parts] = []
        for _, path, folder in self._walk(make=False):
            with self._telling(path), suppress(FileNotFoundError):
                found = os.lstat(path[-1], dir_fd=folder)
                if not self._force:
                    there.append(path)
                elif not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
                    raise OSError(errno.EEXIST, "what is there is no regular file")
                elif (found.st_dev, found.st_ino) in keep:
                    raise OSError(errno.EEXIST, "it is an input")
        if there:
            others = f", one of {len(there):,} that do" if len(there) > 1 else ""
            raise OutputError(
                "cannot write the file",
                where=self.shown(there[0]),
                why=f"it exists{others}; nothing was written",
                hint="--force replaces what is there",
            )

    def _walk(self, *, make: bool) -> Iterator[tuple[int, Parts, int]]:
        """Each file, and the folder that it goes to: those that are not there are made or left out."""
        folder, folders = -1, None
        try:
            for number, path in enumerate(self._paths):
                if path[:-1] != folders:
                    if folder >= 0:
                        os.close(folder)
                    folder, folders = -1, path[:-1]
                    with self._telling(path):
                        folder = self._enter(folders, make=make)
                if folder >= 0:
                    yield number, path, folder
        finally:
            if folder >= 0:
                os.close(folder)

    def _enter(self, folders: Parts, *, make: bool) -> int:
        """A folder below the top, entered name by name; -1 where there is none."""
        current = os.dup(self._top)
        try:
            for name in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=current)
                below = os.open(name, ENTER_FLAGS, dir_fd=current)
                os.close(current)
                current = below
        except BaseException as error:
            os.close(current)
            if isinstance(error, FileNotFoundError) and not make:
                return -1
            raise
        return current

    def _open(self) -> None:
        """Make the folder and the one in it where files wait, if that has not been done."""
        if self._folder >= 0:
            return
        self._make()
        self._top = os.open(self.out, TOP_FLAGS)
        name = f"{PREFIX}{os.urandom(8).hex()}"
        os.mkdir(name, OWN_MODE, dir_fd=self._top)
        self._name = name
        self._folder = os.open(name, ENTER_FLAGS, dir_fd=self._top)

    def _make(self) -> None:
        top = Path(self.out)
        for each in reversed((top, *top.parents)):
            if not each.is_dir():
                with suppress(FileExistsError):  # a file: opening it will tell
                    each.mkdir()
                    self._made.append(each)

    @contextmanager
    def _telling(self, path: Parts) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = self.shown(path)
            raise OutputError("cannot write the file", where=where, why=reason(error)) from error
