"""RootedWriter: changes below a directory, as if it were `/`, and nowhere else. Spec 05, AE-1202."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from cannkit.errors import OutputError
from cannkit.inputs.files import OPEN_FLAGS, reason
from cannkit.inputs.real_path import is_canonical
from cannkit.inputs.rooted import RootedFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
ENTER_FLAGS: Final = os.O_DIRECTORY | os.O_CLOEXEC | NO_LINK | getattr(os, "O_PATH", 0)
CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | NO_LINK


class RootedWriter(RootedFiles):
    """A WritableView of a directory. A directory that became a symlink meanwhile is not entered."""

    def mkdir(self, path: str, mode: int) -> None:
        """See WritableView."""
        with self._parent(path) as (parent, name):
            os.mkdir(name, mode, dir_fd=parent)
            try:
                _set_mode(parent, name, mode)  # whatever the umask is
            except BaseException:
                os.rmdir(name, dir_fd=parent)
                raise

    def write(self, path: str, data: bytes, mode: int) -> None:
        """See WritableView."""
        with self._parent(path) as (parent, name):
            file = os.open(name, CREATE_FLAGS, mode, dir_fd=parent)
            try:
                with os.fdopen(file, "wb") as out:
                    out.write(data)
                    os.fchmod(file, mode)
            except BaseException:
                os.unlink(name, dir_fd=parent)
                raise

    def symlink(self, path: str, target: str) -> None:
        """See WritableView."""
        with self._parent(path) as (parent, name):
            os.symlink(target, name, dir_fd=parent)

    def chmod(self, path: str, mode: int) -> None:
        """See WritableView."""
        with self._parent(path) as (parent, name):
            _set_mode(parent, name, mode)

    def unlink(self, path: str) -> None:
        """See WritableView."""
        with self._parent(path) as (parent, name):
            os.unlink(name, dir_fd=parent)

    def rmdir(self, path: str) -> None:
        """See WritableView."""
        with self._parent(path) as (parent, name):
            os.rmdir(name, dir_fd=parent)

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The directory of `path`, entered name by name, and the last name."""
        if not is_canonical(path):
            raise OutputError("cannot change the tree", where=path, why="its path is not canonical")
        *names, last = path.split("/")[1:]
        directory = -1
        try:
            directory = os.open(self.root, ENTER_FLAGS)
            for name in names:
                below = os.open(name, ENTER_FLAGS, dir_fd=directory)
                os.close(directory)
                directory = below
            yield directory, last
        except OSError as error:
            raise OutputError("cannot change the tree", where=path, why=reason(error)) from error
        finally:
            if directory >= 0:
                os.close(directory)


def _set_mode(parent: int, name: str, mode: int) -> None:
    file = os.open(name, OPEN_FLAGS | NO_LINK, dir_fd=parent)
    try:
        os.fchmod(file, mode)
    finally:
        os.close(file)
