"""cannkit completion."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


Name = Annotated[Shell, typer.Argument(metavar="SHELL", show_default=False)]


def completion(shell: Name) -> None:
    """Print the completion script for bash, zsh or fish."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from cannkit.cli.driver import COMPLETE_VAR, PROG, say

    script = get_completion_script(prog_name=PROG, complete_var=COMPLETE_VAR, shell=shell.value)
    say(script + "\n")
