"""The one place that makes a Console: colour, width, and text that is safe to show."""

from __future__ import annotations

import os
import sys
from typing import IO, Literal

from rich.console import Console, RenderableType
from rich.text import Text

from cannkit.report.base import safe

PLAIN_WIDTH = 1 << 20  # nothing is cut or wrapped where nobody reads on a screen


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
    return Console(
        file=file,
        force_terminal=terminal,
        color_system=system,
        no_color=False if color == "always" else None,
        width=None if terminal else PLAIN_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _forced() -> bool:
    return bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")


def from_file(text: str, style: str = "") -> Text:
    """Text that came from a file, ready to print: never markup."""
    return Text(safe(text), style=style)


def write(console: Console, renderable: RenderableType) -> None:
    """Print to a console; where it is no terminal, without the blanks that pad a table."""
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as capture:
        console.print(renderable)
    lines = capture.get().split("\n")
    console.file.write("\n".join(line.rstrip(" ") for line in lines))
