"""Files that a command writes: whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping

from cannkit.errors import OutputError, UsageError


def check_outputs(outputs: Mapping[str, str | None], inputs: Iterable[str]) -> None:
    """Refuse to write, by option, over an input, its sidecar, another output or the answer itself.

    Raises UsageError.
    """
    taken: dict[str, str] = {}
    for file in inputs:
        for name in (file, f"{os.path.splitext(file)[0]}.json"):
            taken[os.path.realpath(name)] = "an input"
    for option, path in outputs.items():
        if path is None:
            continue
        if path == "-" or _is_stdout(path):
            raise UsageError(f"{option} {path}: takes the name of a file, stdout has the answer")
        target = os.path.realpath(path)
        special = os.path.exists(path) and not os.path.isfile(path)
        if target in taken and not special:
            raise UsageError(f"{option} {path}: it is {taken[target]}, too")
        taken[target] = f"that of {option}"


def _is_stdout(path: str) -> bool:
    try:
        found, own = os.stat(path), os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):
        return False
    return os.path.samestat(found, own) and not stat.S_ISCHR(own.st_mode)


def write_file(path: str, raw: bytes) -> None:
    """Write a file whole or not at all; raises OutputError.

    A link stays one. What is there and no regular file, as /dev/null, is not replaced but written to.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            # a FIFO that nobody reads must not make it wait
            with open(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb") as special:
                os.set_blocking(special.fileno(), True)
                special.write(raw)
            return
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".cannkit-", delete=False) as file:
            try:
                file.write(raw)
                file.close()
                os.chmod(file.name, 0o666 & ~_umask())
                os.replace(file.name, target)
            except OSError:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise OutputError("cannot write the file", where=path, why=error.strerror or "") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
