"""Files of a package where they lie: a folder of this machine, or the members of a wheel. OPP-06."""

from __future__ import annotations

import os
import posixpath
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cannkit.errors import CannkitError
from cannkit.format.elf_types import HEADER_SIZE, ByteView, Machine
from cannkit.inputs.contents import host_contents, is_zip, machine_of
from cannkit.inputs.files import (
    WHOLE_LIMIT,
    FileWindow,
    NoSuchFileError,
    hex_digest,
    is_directory,
    open_window,
    read_host,
)
from cannkit.inputs.paths import walk_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zipfile import ZipInfo

    from cannkit.inputs.zip_files import ZipFiles

ZIP_ENDS = (".whl", ".zip")


class PackageFiles(Protocol):
    """A folder or a wheel: its files by names with `/`."""

    @property
    def place(self) -> str:
        """What the user calls it."""

    @property
    def is_zip(self) -> bool:
        """Whether it is a wheel or another zip."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""

    def place_of(self, name: str) -> str:
        """A file as findings call it."""

    def read(self, name: str, limit: int) -> bytes | None:
        """See FileView."""

    def open(self, name: str) -> ByteView:
        """A file to read from; raises InputError where it cannot be read, NoSuchFileError for none."""

    def digest(self, name: str, algorithm: str) -> str:
        """The digest of a file in hex by an algorithm of hashlib; raises like `open`."""


class FolderFiles:
    """The files below a folder. A link to a file counts, one to a folder does not, as for objects."""

    is_zip = False

    def __init__(self, place: str) -> None:
        self.place = place
        self._digests: dict[str, str] = {}  # many links may lead to one file

    def __reduce__(self) -> tuple[type[FolderFiles], tuple[str]]:
        return FolderFiles, (self.place,)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """See PackageFiles; a folder that cannot be listed counts as empty."""
        start = len(self.place_of(""))
        found = (path for path, error in walk_directory(self.place) if error is None)
        return tuple(sorted(path[start:] for path in found if Path(path).is_file()))

    def place_of(self, name: str) -> str:
        """See PackageFiles."""
        return os.path.join(self.place, name)  # noqa: PTH118 (keeps the folder as the user gave it)

    def read(self, name: str, limit: int) -> bytes | None:
        """See PackageFiles."""
        return read_host(self.place_of(name), limit)

    def open(self, name: str) -> FileWindow:
        """See PackageFiles."""
        return open_window(self.place_of(name))

    def digest(self, name: str, algorithm: str) -> str:
        """See PackageFiles."""
        key = f"{algorithm}:{os.path.realpath(self.place_of(name))}"
        if key not in self._digests:
            self._digests[key] = hex_digest(self.open(name), algorithm)
        return self._digests[key]


class WheelFiles:
    """The members of a wheel. Of two with one name the last counts, as for who installs it.

    It is opened when it is first read, in each process that it is sent to anew.
    """

    is_zip = True

    def __init__(self, place: str) -> None:
        self.place = place

    def __reduce__(self) -> tuple[type[WheelFiles], tuple[str]]:
        return WheelFiles, (self.place,)

    @cached_property
    def _files(self) -> ZipFiles:
        from cannkit.inputs.zip_files import ZipFiles  # zipfile takes long to load

        return ZipFiles(open_window(self.place))

    @cached_property
    def _members(self) -> dict[str, ZipInfo]:
        return {info.orig_filename: info for info in self._files}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """See PackageFiles."""
        return tuple(sorted(self._members))

    def place_of(self, name: str) -> str:
        """See PackageFiles."""
        return f"{self.place}!{name}"

    def read(self, name: str, limit: int) -> bytes | None:
        """See PackageFiles."""
        info = self._members.get(name)
        return None if info is None else self._files.whole(info, limit)

    def open(self, name: str) -> memoryview:
        """See PackageFiles; HAZ-14: one of more than 64 MiB cannot be read."""
        return memoryview(self._files.whole(self._member(name), WHOLE_LIMIT))

    def digest(self, name: str, algorithm: str) -> str:
        """See PackageFiles; of any size, piece by piece."""
        return self._files.digest(self._member(name), algorithm)

    def _member(self, name: str) -> ZipInfo:
        info = self._members.get(name)
        if info is None:
            raise NoSuchFileError("cannot read the member", where=name, why="no such member")
        return info


class LoneLibrary:
    """A library of AI CPU operators by itself, as if it were all of a package."""

    is_zip = False

    def __init__(self, place: str) -> None:
        self.place = place
        self.names = (f"op_impl/cpu/{posixpath.basename(place)}",)

    def place_of(self, name: str) -> str:
        """See PackageFiles."""
        return self.place

    def read(self, name: str, limit: int) -> bytes | None:
        """See FileView."""
        return read_host(self.place, limit)

    def open(self, name: str) -> FileWindow:
        """See PackageFiles."""
        return open_window(self.place)

    def digest(self, name: str, algorithm: str) -> str:
        """See PackageFiles."""
        return hex_digest(self.open(name), algorithm)


def files_at(path: str) -> Iterator[PackageFiles]:
    """The folder, wheel or AI CPU library at `path`, and the wheels in a folder; nothing for anything else."""
    try:
        if not is_directory(path):
            yield from _wheel(path)
            yield from _library(path)
            return
    except CannkitError:  # what reads the objects tells of it
        return
    yield (folder := FolderFiles(path))
    for name in folder.names:
        if name.endswith(ZIP_ENDS):
            try:
                yield from _wheel(folder.place_of(name))
            except CannkitError:
                continue


def _wheel(path: str) -> Iterator[WheelFiles]:
    if is_zip(bytes(open_window(path)[0:4]), path, named=True):
        files = WheelFiles(path)
        if files.names:  # here, for a broken one raises now
            yield files


def _library(path: str) -> Iterator[LoneLibrary]:
    window = open_window(path)
    is_aarch64 = machine_of(bytes(window[0:HEADER_SIZE])) == Machine.EM_AARCH64
    if is_aarch64 and host_contents(path, window) is None:
        yield LoneLibrary(path)
