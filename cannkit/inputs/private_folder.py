"""A folder of this process alone, made and removed whatever foreign code has done to it."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from itertools import count
from typing import Final

from cannkit.errors import OutputError
from cannkit.inputs.files import reason

PREFIX: Final = "cannkit-"
ENTER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
MINE: Final = 0o700


def make_folder() -> str:
    """An empty folder in the one for temporary files. Raises OutputError where none can be made."""
    try:
        return tempfile.mkdtemp(prefix=PREFIX)
    except OSError as error:
        why = reason(error)
        raise OutputError("cannot make a temporary folder", why=why, hint="set TMPDIR") from error


def remove_folder(path: str) -> None:
    """Remove a folder with all that is in it, however deep; no symlink is followed.

    What cannot be removed stays.
    """
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):  # somebody put something else in its place
            os.unlink(path)
            return
        os.chmod(path, MINE)
        top = os.open(path, ENTER)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(path)


def _empty(top: int) -> None:
    """Each folder in it gives its own folders to `top` first: no path grows, and nothing nests."""
    numbers = count()
    while names := os.listdir(top):
        for name in names:
            if not _removed(name, top):
                _flatten(name, top, numbers)


def _flatten(name: str, top: int, numbers: count[int]) -> None:
    os.chmod(name, MINE, dir_fd=top)
    folder = os.open(name, ENTER, dir_fd=top)
    try:
        for inner in os.listdir(folder):
            if not _removed(inner, folder):
                os.chmod(inner, MINE, dir_fd=folder)
                new = f"{PREFIX}{next(numbers)}"
                os.rename(inner, new, src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _removed(name: str, folder: int) -> bool:
    """Remove a file or an empty folder; false for a folder that has something in it."""
    if not stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
        os.unlink(name, dir_fd=folder)
        return True
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True
