"""MemoryTree: files, directories and symlinks that lie in memory. Spec 05, AE-1202 and AE-1207."""

from __future__ import annotations

import errno
import os
from operator import itemgetter
from typing import TYPE_CHECKING

from cannkit.errors import InputError
from cannkit.inputs.files import too_large
from cannkit.inputs.real_path import (
    Entry,
    Kind,
    Link,
    LinkLoopError,
    is_canonical,
    walk,
    why_missing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class MemoryTree:
    """A tree that does not change. What is not behind a symlink resolves in half a microsecond."""

    def __init__(self, entries: Mapping[str, bytes | Link | None]) -> None:
        """Paths and what lies there: content, a symlink, None for a directory; parents are made.

        Raises InputError for a path that is not canonical, and for one below a file or a symlink.
        """
        self._nodes: dict[str, Kind | Link] = {"/": Kind.DIRECTORY}
        self._contents: dict[str, bytes] = {}
        for path, node in entries.items():
            self._add("/" + path.removeprefix("/"), node)
        self._has_links = any(isinstance(node, Link) for node in self._nodes.values())

    def real_path(self, path: str) -> str | None:
        """See PathView."""
        node = self._nodes.get(path)
        if isinstance(node, Kind):  # no directory of a path that has a node is a symlink
            return path
        if node is None and not self._has_links and _is_plain(path):
            return None
        try:
            return walk(path, self._nodes.get)
        except LinkLoopError:
            return None

    def why_missing(self, path: str) -> str:
        """See PathView."""
        return why_missing(path, self._nodes.get) if self._has_links else "no such file"

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView."""
        real = walk(path, self._nodes.get)
        if real is None:
            return None
        data = self._contents.get(real)
        if data is None:
            raise InputError("cannot read the file", where=path, why=os.strerror(errno.EISDIR))
        if len(data) > limit:
            raise too_large(path, limit)
        return data

    def look(self, path: str) -> Kind | Link | None:
        """See TreeView."""
        return self._nodes.get(path)

    def entries(self, path: str) -> tuple[Entry, ...]:
        """See TreeView."""
        if self._nodes.get(path) is not Kind.DIRECTORY:
            why = os.strerror(errno.ENOTDIR)
            raise InputError("cannot list the directory", where=path, why=why)
        top = path.rstrip("/") + "/"
        return tuple(
            Entry(
                place.removeprefix(top),
                node if isinstance(node, Kind) else Kind.OTHER,
                len(self._contents.get(place, b"")),
            )
            for place, node in sorted(self._nodes.items(), key=itemgetter(0))
            if place.rpartition("/")[0] + "/" == top and place != "/"
        )

    def _add(self, path: str, node: bytes | Link | None) -> None:
        if not is_canonical(path):
            raise InputError("cannot place the file", where=path, why="its path is not canonical")
        parents, parent = [], path.rpartition("/")[0]
        while parent and parent not in self._nodes:
            parents.append(parent)
            parent = parent.rpartition("/")[0]
        old = self._nodes.get(path)
        is_new = old is None or (node is None and old is Kind.DIRECTORY)
        if not is_new or self._nodes[parent or "/"] is not Kind.DIRECTORY:
            raise InputError("cannot place the file", where=path, why=os.strerror(errno.EEXIST))
        self._nodes.update(dict.fromkeys(reversed(parents), Kind.DIRECTORY))
        if isinstance(node, bytes):
            self._contents[path] = node
            self._nodes[path] = Kind.FILE
        else:
            self._nodes[path] = node or Kind.DIRECTORY


def _is_plain(path: str) -> bool:
    """Whether nothing is to be left out of `path`; one with a hidden name counts as not plain."""
    return path.startswith("/") and "//" not in path and "/." not in path and path[-1] != "/"
