"""Files that a command writes: whole or not at all."""

from __future__ import annotations

import os
import tempfile

from cannkit.errors import OutputError


def write_file(path: str, raw: bytes) -> None:
    """Write a file whole or not at all; raises OutputError.

    A link stays one. What is there and no regular file, as /dev/null, is not replaced but written to.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            # a FIFO that nobody reads must not make it wait
            with open(os.open(target, os.O_WRONLY | os.O_NONBLOCK), "wb") as special:
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
