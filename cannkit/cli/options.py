"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

import typer


class ColorWhen(StrEnum):
    """Values of --color."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class FlowName(StrEnum):
    """Values of --flow."""

    NEW = "new"
    OLD = "old"


def complete_soc(incomplete: str) -> list[str]:
    """SoC versions, and families as operator packages spell them."""
    from cannkit.soc import family_names, soc_names

    return [name for name in (*soc_names(), *family_names()) if name.startswith(incomplete)]


def number(text: str | None, option: str) -> int | None:
    """A decimal or `0x` number of 64 bits given to an option; raises UsageError."""
    from cannkit.errors import UsageError, brief

    if text is None:
        return None
    if not re.fullmatch("[0-9]+|0[xX][0-9a-fA-F]+", text):
        raise UsageError(f"{option} {brief(text)!r}: neither a decimal nor a 0x number")
    value = int(text, 0) if text[:2].lower() == "0x" else int(text) if len(text) < 99 else 1 << 64
    if value >= 1 << 64:
        raise UsageError(f"{option} {brief(text)}: not a number of 64 bits")
    return value


def magic_number(text: str | None) -> int | None:
    """The number of a magic given by name (elf, aivec, aicube) or number; raises UsageError."""
    from cannkit.errors import UsageError
    from cannkit.runtime.load_options import Magic

    if text is None:
        return None
    names = {"elf": Magic.ELF, "aivec": Magic.ELF_AIVEC, "aicube": Magic.ELF_AICUBE}
    if text.lower() in names:
        return names[text.lower()]
    try:
        value = int(text, 0)
    except ValueError:
        hint = f"one of {', '.join(names)}, or a number"
        raise UsageError(f"unknown magic {text!r}", hint=hint) from None
    if not 0 <= value < 1 << 32:
        raise UsageError(f"--magic {text}: not a number of 32 bits")
    return value


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

FromData = Annotated[
    bool, typer.Option("--from-data", help="Load from memory: no sidecar is read.")
]
FlowOption = Annotated[
    FlowName, typer.Option("--flow", help="By handle, or by host stubs and modules as of old.")
]
CpuMode = Annotated[
    int | None,
    typer.Option(
        "--cpu-mode",
        min=0,
        max=2,
        metavar="0|1|2",
        help="AI CPU program: 0 JSON, 1 library and JSON, 2 library from memory.",
    ),
]
