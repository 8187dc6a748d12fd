"""What a renderable looks like on a screen of a given width, or in a pipe: no device needed."""

from __future__ import annotations

import os
import pty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import IO

from rich.console import Console, RenderableType

from cannkit.render.console import PLAIN_WIDTH, write

Make = Callable[[Console], RenderableType]


def screen(width: int) -> Console:
    """A terminal without colours, that keeps what is written to it."""
    return Console(
        file=StringIO(),
        force_terminal=True,
        color_system=None,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={"TERM": "xterm"},
    )


def pipe() -> Console:
    """The same without a terminal."""
    return Console(
        file=StringIO(), width=PLAIN_WIDTH, color_system=None, highlight=False, markup=False
    )


def shown(make: Make, console: Console) -> list[str]:
    """The lines of what is made for a console, and written to it."""
    write(console, make(console))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue().splitlines()


@contextmanager
def terminal_file() -> Iterator[IO[str]]:
    """A text file that is a terminal."""
    master, slave = pty.openpty()
    try:
        with os.fdopen(slave, "w", encoding="utf-8") as file:
            yield file
    finally:
        os.close(master)
