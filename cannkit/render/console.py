"""The one place that makes a Console: colour, width, and text that is safe to show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO, Literal

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.report.base import safe

NARROWEST = 20  # a terminal that says it has less is not believed
PLAIN_WIDTH = 1 << 20  # nothing is cut or wrapped where nobody reads on a screen


class _Console(Console):
    """A console that leaves it to the command line what a broken pipe means."""

    def on_broken_pipe(self) -> None:
        """See rich."""
        raise BrokenPipeError


def make_console(color: str = "auto", file: IO[str] | None = None) -> Console:
    """A console on `file` (default stdout), as wide as the terminal or without limit.

    `color` is `auto`, `always` or `never`.
    """
    file = file or sys.stdout
    terminal = file.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    system: Literal["auto", "256"] | None = "auto"
    if color == "never":
        system = None
    elif color == "always" or (not terminal and _forced()):
        system = "256"
    return _Console(
        file=file,
        force_terminal=terminal,
        color_system=system,
        no_color=False if color == "always" else None,
        width=max(shutil.get_terminal_size().columns, NARROWEST) if terminal else PLAIN_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _forced() -> bool:
    return bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")


def from_file(text: str, style: str = "") -> Text:
    """Text that came from a file, ready to print: never markup."""
    return Text(safe(text), style=style)


class Lines(str):
    """Text that goes into a pipe as it is."""

    __slots__ = ()


def is_plain(console: Console) -> bool:
    """Whether nothing but text is wanted: no screen to fit, no colour."""
    return not console.is_terminal and console.color_system is None


def write(console: Console, renderable: RenderableType) -> None:
    """Print to a console; where it is no terminal, without the blanks that pad a table."""
    if is_plain(console) and isinstance(renderable, Group):
        for part in renderable.renderables:
            write(console, part)
    elif is_plain(console) and isinstance(renderable, str | Text):
        console.file.write(f"{renderable}\n")
    elif console.is_terminal:
        console.print(renderable)
    else:
        with console.capture() as capture:
            console.print(renderable)
        lines = capture.get().split("\n")
        console.file.write("\n".join(line.rstrip(" ") for line in lines))


def write_line(console: Console, text: Text) -> None:
    """Print a line that the terminal wraps by itself."""
    if is_plain(console):
        console.file.write(f"{text}\n")
    else:
        console.print(text, soft_wrap=True)
