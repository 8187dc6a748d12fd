"""RootedFiles: the files below a directory, as if it were `/`. Spec 05, AE-1202."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from cannkit.errors import InputError
from cannkit.inputs.files import MISSING, read_host, reason
from cannkit.inputs.real_path import PATH_LIMIT, Entry, Kind, Link, LinkLoopError, walk, why_missing

if TYPE_CHECKING:
    from typing import Final

KINDS: Final = {stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFREG: Kind.FILE}


class RootedFiles:
    """The files below a directory: no path and no symlink leads out of it."""

    def __init__(self, root: str) -> None:
        """Raises InputError when `root` is no directory; it may be a symlink to one."""
        try:
            self.root = os.path.realpath(root, strict=True) if root else root
            is_directory = os.path.isdir(self.root)
        except (OSError, ValueError) as error:
            raise InputError("cannot use the root", where=root, why=reason(error)) from error
        if not is_directory:
            why = os.strerror(errno.ENOTDIR if root else errno.ENOENT)
            raise InputError("cannot use the root", where=root, why=why)
        self._base = self.root.rstrip("/")

    def real_path(self, path: str) -> str | None:
        """See PathView."""
        try:
            return walk(path, self.look)
        except LinkLoopError:
            return None

    def why_missing(self, path: str) -> str:
        """See PathView."""
        return why_missing(path, self.look)

    def host_path(self, path: str) -> str:
        """Where a path that `real_path` returned lies on this machine."""
        return self._base + path

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView."""
        real = walk(path, self.look)
        if real is None:
            return None
        # what becomes a symlink after it was resolved is not followed
        flags = getattr(os, "O_NOFOLLOW", 0)
        return read_host(self._base + real, limit, name=path, extra_flags=flags)

    def look(self, path: str) -> Kind | Link | None:
        """See TreeView."""
        host = self._base + path
        try:
            mode = os.lstat(host).st_mode
            if stat.S_ISLNK(mode):
                return Link(os.readlink(host))
        except OSError as error:
            too_long = error.errno == errno.ENAMETOOLONG and len(os.fsencode(host)) >= PATH_LIMIT
            if error.errno in MISSING and not too_long:
                return None
            raise InputError("cannot look up the file", where=path, why=reason(error)) from error
        return KINDS.get(stat.S_IFMT(mode), Kind.OTHER)

    def entries(self, path: str) -> tuple[Entry, ...]:
        """See TreeView."""
        try:
            with os.scandir(self._base + path) as found:
                return tuple(sorted(map(_entry, found)))
        except OSError as error:
            raise InputError("cannot list the directory", where=path, why=reason(error)) from error


def _entry(found: os.DirEntry[str]) -> Entry:
    if found.is_file(follow_symlinks=False):
        return Entry(found.name, Kind.FILE, found.stat(follow_symlinks=False).st_size)
    return Entry(found.name, Kind.DIRECTORY if found.is_dir(follow_symlinks=False) else Kind.OTHER)
