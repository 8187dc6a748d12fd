"""ZipFiles: the members of a wheel or another zip as a FileView, read in place. HAZ-14."""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import weakref
import zipfile
import zlib
from typing import TYPE_CHECKING

from cannkit.errors import InputError
from cannkit.inputs.files import CHUNK, FILE_LIMIT, FileWindow, reason, too_large

if TYPE_CHECKING:
    from collections.abc import Iterator

ZIP_RATIO = 32  # kernel objects pack ten to one, the most regular JSON beside them 24 to one
MEMBER_FLOOR = 1 << 20  # what any member may unpack to
ZIP_FLOOR = 16 << 20  # what any zip may unpack to
LARGEST_DIRECTORY = 64 << 20
END_OF_DIRECTORY = b"PK\5\6"
END_OF_DIRECTORY_64 = b"PK\6\6"
NO_SIZE = 0xFFFF_FFFF  # the size is that of the record for large zips
LONGEST_END = (1 << 16) + 22 + 20 + 56  # comment, end record, and its two companions for large zips

ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
    MemoryError,
)
"""All that zipfile raises on hostile bytes; UnicodeDecodeError is a ValueError."""


class ZipFiles:
    """The members of a zip. HAZ-14: sizes are not believed, and all reads share one budget."""

    def __init__(self, window: FileWindow) -> None:
        """Read the central directory; raises InputError when it is broken."""
        self._limit = self._left = max(ZIP_FLOOR, ZIP_RATIO * len(window))
        _check_directory(window)
        stream = os.fdopen(window.duplicate(), "rb")
        weakref.finalize(self, stream.close)
        try:
            self._zip = zipfile.ZipFile(stream)
        except ZIP_ERRORS as error:
            raise InputError("not a readable zip", where=window.name, why=reason(error)) from error

    def __iter__(self) -> Iterator[zipfile.ZipInfo]:
        """The members that are no directories, in the order of the central directory."""
        return (info for info in self._zip.infolist() if not info.orig_filename.endswith("/"))

    @property
    def spent(self) -> bool:
        """Whether the budget has run out: a bomb, or members that overlap."""
        return self._left < 0

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView."""
        members = self._zip.NameToInfo
        if path not in members:
            if f"{path}/" in members:
                raise InputError(
                    "cannot read the member", where=path, why=os.strerror(errno.EISDIR)
                )
            return None
        return self.whole(members[path], limit)

    def whole(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        """A member, its checksum verified; raises InputError like `head`, and above `limit`."""
        # zipfile gives no more than file_size, and then checks the sum
        return self.head(info, _checked_size(info, limit))

    def digest(self, info: zipfile.ZipInfo, algorithm: str) -> str:
        """The digest of a member of any size, in hex, as it unpacks; raises InputError like `head`."""
        digest = hashlib.new(algorithm)
        for part in self._parts(info, _checked_size(info, FILE_LIMIT), CHUNK):
            digest.update(part)
        return digest.hexdigest()

    def head(self, info: zipfile.ZipInfo, size: int) -> bytes:
        """The first `size` bytes of a member.

        Raises InputError for a name, an encryption, a method or data that will not do, and when
        the budget has run out.
        """
        return b"".join(self._parts(info, size, size))

    def _parts(self, info: zipfile.ZipInfo, size: int, step: int) -> Iterator[bytes]:
        name = info.orig_filename  # `filename` ends at a NUL
        if why := _why_not(name, info):
            raise InputError("cannot read the member", where=name, why=why)
        self._left -= min(size, info.file_size)
        if self.spent:
            why = f"the archive unpacks to more than {self._limit} bytes"
            raise InputError("cannot read the member", where=name, why=why)
        try:
            with self._zip.open(info) as stream:
                while size > 0 and (part := stream.read(min(step, size))):
                    size -= len(part)
                    yield part
        except ZIP_ERRORS as error:
            raise InputError("cannot read the member", where=name, why=reason(error)) from error


def _checked_size(info: zipfile.ZipInfo, limit: int) -> int:
    """What a member says that it unpacks to; raises InputError above `limit`, and for a bomb."""
    limit = min(limit, max(MEMBER_FLOOR, ZIP_RATIO * info.compress_size))
    if info.file_size > limit:
        raise too_large(info.orig_filename, limit)
    return info.file_size


def _check_directory(window: FileWindow) -> None:
    """Refuse a central directory that zipfile would read whole, of a size that no zip has."""
    tail = bytes(window[max(0, len(window) - LONGEST_END) : len(window)])
    sizes = []
    at = tail.rfind(END_OF_DIRECTORY)
    if 0 <= at <= len(tail) - 16:
        sizes.append(struct.unpack_from("<I", tail, at + 12)[0])
    at = tail.rfind(END_OF_DIRECTORY_64)
    if 0 <= at <= len(tail) - 48:
        sizes.append(struct.unpack_from("<Q", tail, at + 40)[0])
    if any(LARGEST_DIRECTORY < size < NO_SIZE for size in sizes):
        why = f"its directory has {max(sizes)} bytes, at most {LARGEST_DIRECTORY} are read"
        raise InputError("not a readable zip", where=window.name, why=why)


def _why_not(name: str, info: zipfile.ZipInfo) -> str:
    """HAZ-14: why a member is not even opened."""
    parts = name.replace("\\", "/").split("/")
    if "\0" in name or ".." in parts or parts[0] == "" or parts[0].endswith(":"):
        return "its name is absolute, or has `..` or NUL in it"
    if info.flag_bits & 1:
        return "it is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # zipfile unpacks the others without a bound on memory
        return f"compression method {info.compress_type}, only stored and deflated are read"
    return ""
