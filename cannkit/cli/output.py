"""Files that a command writes: whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from cannkit.errors import OutputError, UsageError


class Target(NamedTuple):
    """A file to write: `path` as the user calls it, and `place`, which no change of folder moves."""

    path: str
    place: str

    @classmethod
    def of(cls, path: str) -> Target:
        """The target of a path. Raises OutputError where the current folder is gone."""
        if os.path.isabs(path):
            return cls(path, path)
        try:
            return cls(path, os.path.join(os.getcwd(), path))
        except OSError as error:
            raise _cannot_write(path, error) from error


def check_outputs(outputs: Mapping[str, str | None], inputs: Iterable[str]) -> None:
    """Refuse to write, by option, over an input, its sidecar, another output or the answer itself.

    Raises UsageError.
    """
    targets = {option: path for option, path in outputs.items() if path is not None}
    for option, path in targets.items():
        if path == "-" or _is_stdout(path):
            raise UsageError(f"{option} {path}: takes the name of a file, stdout has the answer")
    check_targets({option: Target.of(path) for option, path in targets.items()}, inputs)


def check_targets(targets: Mapping[str, Target], inputs: Iterable[str]) -> None:
    """Refuse to write, by option, over an input, its sidecar or another target. Raises UsageError."""
    taken = {os.path.realpath(name): "an input" for file in inputs for name in _with_sidecar(file)}
    for option, (path, place) in targets.items():
        real = os.path.realpath(place)
        if real in taken and not _is_special(place):
            raise UsageError(f"{option} {path}: it is {taken[real]}, too")
        taken[real] = f"that of {option}"


def _with_sidecar(file: str) -> Iterator[str]:
    """An input, and where its sidecar may lie: JSN-01, beside the target of a link; LDR-10."""
    for name in (file, os.path.realpath(file)):
        yield name
        yield f"{os.path.splitext(name)[0]}.json"
        yield f"{name.rpartition('.')[0]}.json"


def _is_stdout(path: str) -> bool:
    try:
        found, own = os.stat(path), os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):
        return False
    return os.path.samestat(found, own) and not stat.S_ISCHR(own.st_mode)


def check_writable(target: Target) -> None:
    """Find out whether a file can be written, with one beside it that goes again; raises OutputError."""
    try:
        if _is_special(target.place):
            os.close(_open_special(target.place))
            return
        with suppress(FileNotFoundError):
            os.stat(target.place)  # a name that is too long or leads in circles
        staged = _Staged(target)
        try:
            staged.write(b"")
        finally:
            staged.drop()
    except OSError as error:
        raise _cannot_write(target.path, error) from error


def write_file(path: str, raw: bytes) -> None:
    """Write a file whole or not at all; raises OutputError.

    A link stays one. What is there and no regular file, as /dev/null, is not replaced but written to.
    """
    write_files([(Target.of(path), raw)])


def write_files(files: Iterable[tuple[Target, bytes]]) -> None:
    """Write files whole, and all of them or none; raises OutputError. See `write_file`."""
    staged: list[_Staged] = []
    path = ""
    try:
        for target, raw in files:
            path = target.path
            if _is_special(target.place):
                with open(_open_special(target.place), "wb") as special:
                    os.set_blocking(special.fileno(), True)
                    special.write(raw)
            else:
                staged.append(_Staged(target))
                staged[-1].write(raw)
        for each in staged:
            path = each.path
            each.commit()
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        for each in staged:
            each.drop()


class _Staged:
    """A file that waits, under another name, beside the one it will replace."""

    def __init__(self, target: Target) -> None:
        self.path = target.path
        self._target = os.path.realpath(target.place)
        self._name = f"{os.path.dirname(self._target)}/.cannkit-{os.urandom(8).hex()}"

    def write(self, raw: bytes) -> None:
        """Make it. Raises OSError."""
        with open(self._name, "xb") as file:
            file.write(raw)

    def commit(self) -> None:
        """Put it in its place. Raises OSError."""
        os.replace(self._name, self._target)

    def drop(self) -> None:
        """Take it away, unless it is in its place."""
        with suppress(OSError):
            os.unlink(self._name)


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _open_special(path: str) -> int:
    """A FIFO that nobody reads must not make it wait. Raises OSError."""
    return os.open(path, os.O_WRONLY | os.O_NONBLOCK)


def _cannot_write(path: str, error: OSError) -> OutputError:
    return OutputError("cannot write the file", where=path, why=error.strerror or "")
