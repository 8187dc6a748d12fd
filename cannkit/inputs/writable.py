"""WritableView, a tree that can be changed, and Overlay: changes that stay in memory."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, NoReturn, Protocol

from cannkit.errors import OutputError
from cannkit.inputs.files import too_large
from cannkit.inputs.real_path import Entry, Kind, Link, LinkLoopError, TreeView, walk, why_missing

if TYPE_CHECKING:
    from typing import Final


class WritableView(TreeView, Protocol):
    """A tree that can be changed. Paths are canonical up to the last name, which is no symlink.

    Each change raises OutputError when it cannot be made; nothing was changed then.
    """

    def mkdir(self, path: str, mode: int) -> None:
        """Make a directory where nothing is."""

    def write(self, path: str, data: bytes, mode: int) -> None:
        """Make a regular file where nothing is, whole or not at all."""

    def symlink(self, path: str, target: str) -> None:
        """Make a symlink where nothing is; its target is a path of this view."""

    def chmod(self, path: str, mode: int) -> None:
        """Change the permissions of a directory or of a regular file."""

    def unlink(self, path: str) -> None:
        """Remove what is no directory."""

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""


class _Made:
    """A directory of the overlay: what is in it is in the overlay, too."""


_MADE: Final = _Made()


class Overlay:
    """A tree with changes that are kept in memory: the tree itself stays as it is."""

    def __init__(self, base: TreeView) -> None:
        self._base = base
        self._changes: dict[str, bytes | Link | _Made | None] = {}  # None: it is gone
        self.modes: dict[str, int] = {}

    def real_path(self, path: str) -> str | None:
        """See PathView."""
        try:
            return walk(path, self.look)
        except LinkLoopError:
            return None

    def why_missing(self, path: str) -> str:
        """See PathView."""
        return why_missing(path, self.look)

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView."""
        real = walk(path, self.look)
        if real is None:
            return None
        data = self._changes.get(real)
        if not isinstance(data, bytes):
            return self._base.read(real, limit)
        if len(data) > limit:
            raise too_large(path, limit)
        return data

    def look(self, path: str) -> Kind | Link | None:
        """See TreeView."""
        if path in self._changes:
            change = self._changes[path]
            if isinstance(change, bytes):
                return Kind.FILE
            return Kind.DIRECTORY if isinstance(change, _Made) else change
        if self._changes.get(_parent(path)) is _MADE:
            return None
        return self._base.look(path)

    def entries(self, path: str) -> tuple[Entry, ...]:
        """See TreeView."""
        below = () if self._changes.get(path) is _MADE else self._base.entries(path)
        found = {entry.name: entry for entry in below}
        for place, change in self._changes.items():
            if _parent(place) == path:
                name = place.rpartition("/")[2]
                kind = self.look(place)
                size = len(change) if isinstance(change, bytes) else 0
                if kind is None:
                    found.pop(name, None)
                else:
                    found[name] = Entry(name, kind if isinstance(kind, Kind) else Kind.OTHER, size)
        return tuple(sorted(found.values()))

    def mkdir(self, path: str, mode: int) -> None:
        """See WritableView."""
        self._make(path, _MADE)
        self.modes[path] = mode

    def write(self, path: str, data: bytes, mode: int) -> None:
        """See WritableView."""
        self._make(path, data)
        self.modes[path] = mode

    def symlink(self, path: str, target: str) -> None:
        """See WritableView."""
        self._make(path, Link(target))

    def chmod(self, path: str, mode: int) -> None:
        """See WritableView."""
        if not isinstance(self.look(path), Kind):
            _fail(path, errno.ENOENT)
        self.modes[path] = mode

    def unlink(self, path: str) -> None:
        """See WritableView."""
        if self.look(path) in (None, Kind.DIRECTORY):
            _fail(path, errno.ENOENT)
        self._changes[path] = None

    def rmdir(self, path: str) -> None:
        """See WritableView."""
        if self.look(path) is not Kind.DIRECTORY:
            _fail(path, errno.ENOTDIR)
        if self.entries(path):
            _fail(path, errno.ENOTEMPTY)
        self._changes[path] = None

    def _make(self, path: str, node: bytes | Link | _Made) -> None:
        if self.look(_parent(path)) is not Kind.DIRECTORY:
            _fail(path, errno.ENOENT)
        if self.look(path) is not None:
            _fail(path, errno.EEXIST)
        self._changes[path] = node


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _fail(path: str, number: int) -> NoReturn:
    raise OutputError("cannot change the tree", where=path, why=os.strerror(number))
