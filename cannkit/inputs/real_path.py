"""TreeView, a tree of files, and walk(): how a path is followed in it. Spec 05, AE-1202."""

from __future__ import annotations

import errno
import os
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from cannkit.errors import InputError
from cannkit.inputs.files import LINK_LIMIT, PathView

if TYPE_CHECKING:
    from collections.abc import Callable

PATH_LIMIT: Final = 4096  # PATH_MAX: a path has fewer bytes
NAME_LIMIT: Final = 255  # NAME_MAX


class Kind(Enum):
    """What lies at a path that is no symlink."""

    DIRECTORY = "directory"
    FILE = "regular file"
    OTHER = "no regular file"


class Link(NamedTuple):
    """A symlink."""

    target: str


class Entry(NamedTuple):
    """A name in a directory and what has it: a symlink counts as OTHER, and only a file has a size."""

    name: str
    kind: Kind
    size: int = 0


@runtime_checkable
class TreeView(PathView, Protocol):
    """A PathView that can tell what lies where. Its paths are canonical up to the last name."""

    def look(self, path: str) -> Kind | Link | None:
        """What lies at `path`, None for nothing. Raises InputError where it cannot be told."""

    def entries(self, path: str) -> tuple[Entry, ...]:
        """What is in the directory `path`, by name. Raises InputError where it cannot be read."""


class LinkLoopError(InputError):
    """A path leads through more than 40 symlinks."""


def walk(path: str, look: Callable[[str], Kind | Link | None]) -> str | None:
    """The canonical path of `path`, None where there is no such file.

    `look` tells what lies at a path whose directories are no symlinks; the path starts with `/`, and
    None is nothing. Raises LinkLoopError, and what `look` raises.
    """
    if not path or "\0" in path or _size(path) >= PATH_LIMIT:
        return None
    todo, here, links = path.split("/")[::-1], "", 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            here = here.rpartition("/")[0]  # `..` of the root is the root
            continue
        child = f"{here}/{part}"
        if len(child) > NAME_LIMIT // 4 and not _fits(part, child):
            return None
        node = look(child)
        if isinstance(node, Link):
            links += 1
            if links > LINK_LIMIT:
                raise LinkLoopError(
                    "cannot read the file", where=path, why=os.strerror(errno.ELOOP)
                )
            if not node.target:
                return None
            if node.target.startswith("/"):
                here = ""
            todo += node.target.split("/")[::-1]
        elif node is None or (todo and node is not Kind.DIRECTORY):
            return None
        else:
            here = child
    return here or "/"


def why_missing(path: str, look: Callable[[str], Kind | Link | None]) -> str:
    """Why `walk` finds nothing at `path`: which symlink leads nowhere. Raises what `look` raises."""
    todo, here, link = path.split("/")[::-1], "", ""
    for _ in range(PATH_LIMIT):
        if not todo:
            break
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            here = here.rpartition("/")[0]
            continue
        node = look(f"{here}/{part}")
        if isinstance(node, Link):
            what = "it" if f"{here}/{part}" == path else f"{here}/{part}"
            link = f"{what} is a symlink to {node.target}"
            here = "" if node.target.startswith("/") else here
            todo += node.target.split("/")[::-1]
        elif node is None or (todo and node is not Kind.DIRECTORY):
            return f"{link}, which is not there" if link else "no such file"
        else:
            here = f"{here}/{part}"
    return "a loop of symlinks" if todo else "no such file"


def is_canonical(path: str) -> bool:
    """Whether `walk` may return `path`, where all of its directories are there."""
    names = path.split("/")[1:]
    return path == "/" or (
        path.startswith("/")
        and "\0" not in path
        and _size(path) < PATH_LIMIT
        and all(name not in ("", ".", "..") and _size(name) <= NAME_LIMIT for name in names)
    )


def _size(text: str) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # no file has such a name
        return PATH_LIMIT


def _fits(part: str, child: str) -> bool:
    return _size(part) <= NAME_LIMIT and _size(child) < PATH_LIMIT
