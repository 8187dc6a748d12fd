"""The options that are `cannkit launch`'s alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

MOST_STREAMS = 1024


class SqeView(StrEnum):
    """Values of --sqe."""

    TABLE = "table"
    HEX = "hex"
    NONE = "none"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A kernel object, or what holds some; - is stdin. With --op, --list-ops, --describe "
        "or --cases the library, JSON or folder of AI CPU operators.",
        show_default=False,
    ),
]
KernelName = Annotated[
    str | None, typer.Option("--kernel", metavar="NAME", help="The kernel, by its name.")
]
EntryKey = Annotated[
    str | None,
    typer.Option("--entry", metavar="KEY", help="The kernel by its function entry or tiling key."),
]
Blocks = Annotated[
    int | None,
    typer.Option("--blocks", metavar="N", help="Blocks of the main side.", show_default=False),
]
Args = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="SPEC",
        help="An argument, in order; repeatable. 'in:f32[4]=1,2,3,4', 'in:f32:2x3@FILE', "
        "'in:f32[4]=zeros' (or ones, arange, random:SEED), 'out:f32[4]' or 'out:f32[4]@FILE', "
        "'inout:...', ws:BYTES, tiling:@FILE, tiling:=HEX, null, u64:N, f32:X. Of an AI CPU kernel, where "
        "the first is a tensor, a parameter head comes in front: length, number of addresses, no extended "
        "info, 20 bytes; then all addresses, then values.",
    ),
]
NoCpuHead = Annotated[
    bool,
    typer.Option("--no-cpu-head", help="AI CPU kernel: no parameter head in front of --arg."),
]
ArgsHex = Annotated[
    str | None,
    typer.Option("--args-hex", metavar="HEX|@FILE", help="The whole argument block, as it is."),
]
Grid = Annotated[
    str | None, typer.Option("--grid", metavar="X[,Y,Z]", help="The grid of a SIMT kernel.")
]
Threads = Annotated[
    str | None, typer.Option("--threads", metavar="X[,Y,Z]", help="Threads of a SIMT block.")
]
StreamNumber = Annotated[
    int,
    typer.Option(
        "--stream", metavar="N", min=0, max=MOST_STREAMS - 1, help="Number of the stream."
    ),
]
Repeat = Annotated[
    int, typer.Option("--repeat", metavar="N", min=1, help="Launch N times, show the last.")
]
SchedMode = Annotated[
    str | None,
    typer.Option("--sched-mode", metavar="normal|batch", help="Schedule mode, or its number."),
]
LocalMemory = Annotated[
    str | None,
    typer.Option("--local-memory", metavar="BYTES", help="Dynamic unified buffer of a block."),
]
Timeout = Annotated[
    str | None, typer.Option("--timeout-us", metavar="US", help="Timeout of the task; 0 is never.")
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict/--lenient",
        help="Warnings of the device fail the task, with --op a write beside a tensor; or a batch may be "
        "larger than the device.",
        show_default=False,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODULE:FUNCTION",
        help="Python that runs for each block; MODULE is a file or importable.",
    ),
]
ModelTimeout = Annotated[
    float,
    typer.Option(
        "--model-timeout",
        metavar="SECONDS",
        help="Its time: for the module and for all blocks together.",
    ),
]
AeRoot = Annotated[
    str | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Look the library of an AI CPU kernel up below DIR and really call it, with your "
        "rights and in a process of its own: not for files that you do not trust.",
        show_default=False,
    ),
]
CallTimeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        help="With --root or --op: time for each call.  [default: 10]",
        show_default=False,
    ),
]
CallMemory = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="MIB",
        min=64,
        max=1 << 20,
        help="With --root or --op: memory of the process.  [default: 2048]",
        show_default=False,
    ),
]
Sqe = Annotated[SqeView, typer.Option("--sqe", help="The queue entry; hex: nothing else.")]
