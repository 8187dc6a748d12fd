"""Options of `cannkit ae-call` alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cannkit.cli.ae_options import U32


class Entry(StrEnum):
    """Values of --entry."""

    SCHEDULER = "scheduler"
    ENGINE = "engine"


class EmulateWhen(StrEnum):
    """Values of --emulate."""

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


So = Annotated[
    str | None,
    typer.Option(
        "--so",
        metavar="NAME",
        help="kernelSo: the file name of the library; without it a null pointer.",
        show_default=False,
    ),
]
SoFile = Annotated[
    str | None,
    typer.Option(
        "--so-file",
        metavar="PATH",
        help="Put a copy of this library where the engine looks for it, in a root of its own.",
        show_default=False,
    ),
]
Func = Annotated[
    str | None,
    typer.Option(
        "--func",
        metavar="NAME",
        help="kernelName: the function; without it a null pointer.",
        show_default=False,
    ),
]
Param = Annotated[
    str | None,
    typer.Option(
        "--param",
        metavar="HEX|@FILE",
        help="The bytes that paramBase points to.",
        show_default=False,
    ),
]
BlockId = Annotated[int, typer.Option("--block-id", metavar="N", min=0, max=U32, help="The block.")]
BlockNum = Annotated[
    int, typer.Option("--block-num", metavar="N", min=0, max=U32, help="How many blocks there are.")
]
Event = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="HEX|@FILE",
        help="The task as 72 or 56 bytes instead of its parts.",
        show_default=False,
    ),
]
Cloud = Annotated[bool, typer.Option("--cloud", help="The task of a cloud build: 56 bytes.")]
EntryName = Annotated[
    Entry, typer.Option("--entry", help="Begin at the scheduler, or at aeCallInterface.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="Time for each step of a call.")
]
Memory = Annotated[
    int, typer.Option("--memory", metavar="MIB", min=64, max=1 << 20, help="Memory of the child.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Load and call nothing: show what would be called.")
]
Returns = Annotated[
    str | None,
    typer.Option(
        "--returns",
        metavar="N",
        help="Call nothing: pretend that the function returned N.",
        show_default=False,
    ),
]
AllowGlobal = Annotated[
    bool, typer.Option("--allow-global", help="KFC finds functions of the C library, too.")
]
Script = Annotated[
    str | None,
    typer.Option(
        "--script",
        metavar="FILE.jsonl",
        help="Operations, one a line, in one process: call, close, batch, clear, addWhite, delWhite.",
        show_default=False,
    ),
]


ListLogic = Annotated[
    bool,
    typer.Option("--list-logic", help="List the kernels of tasks without a library, and stop."),
]
EmulateName = Annotated[
    EmulateWhen,
    typer.Option(
        "--emulate", help="Run the library under qemu: when it is for AArch64, and this is not."
    ),
]
Sysroot = Annotated[
    str | None,
    typer.Option(
        "--sysroot",
        metavar="DIR",
        help="Where the emulator finds libraries of AArch64.",
        show_default=False,
    ),
]
