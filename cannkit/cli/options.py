"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cannkit.soc import DEFAULT_SOC


class ColorWhen(StrEnum):
    """Values of --color."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def complete_soc(incomplete: str) -> list[str]:
    """SoC versions, and families as operator packages spell them."""
    from cannkit.soc import family_names, soc_names

    return [name for name in (*soc_names(), *family_names()) if name.startswith(incomplete)]


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Kernel objects, directories, archives, wheels or host libraries; - is stdin.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
SocName = Annotated[
    str,
    typer.Option(
        "--soc",
        metavar="NAME",
        envvar="CANNKIT_SOC",
        help="SoC version or family whose rules apply.",
        autocompletion=complete_soc,
    ),
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Show more.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No warnings and no progress.")]
Color = Annotated[ColorWhen, typer.Option("--color", help="Colour the output.")]

__all__ = ["DEFAULT_SOC", "Color", "ColorWhen", "Files", "Json", "Quiet", "SocName", "Verbose"]
