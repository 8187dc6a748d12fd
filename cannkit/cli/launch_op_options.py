"""The options of `cannkit launch` that are for operators of AI CPU packages alone. cli.md, section 6."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Final

import typer

from cannkit.cli.ae_call_options import EmulateName, EmulateWhen, Sysroot

__all__ = ["EmulateName", "EmulateWhen", "Sysroot"]

OpName = Annotated[
    str | None,
    typer.Option(
        "--op",
        metavar="NAME",
        help="Really run this operator of an AI CPU package: FILE is its library, its JSON or its folder. Its code "
        "runs with your rights, in a process of its own: not for files that you do not trust.",
        show_default=False,
    ),
]
OpAttrs = Annotated[
    list[str] | None,
    typer.Option(
        "--attr",
        metavar="NAME[:KIND]=VALUE",
        help="With --op: an attribute; repeatable. KIND is int, float, bool, string, type, ints, floats, "
        "bools, types, strings or listlist, and is needed where no prototype of the package tells it.",
        show_default=False,
    ),
]
ListOps = Annotated[
    bool, typer.Option("--list-ops", help="List the operators of the package, and stop.")
]
Describe = Annotated[
    str | None,
    typer.Option(
        "--describe",
        metavar="NAME",
        help="Tell what an operator takes, and how that is known, and stop.",
        show_default=False,
    ),
]
ExtHex = Annotated[
    str | None,
    typer.Option(
        "--ext-hex",
        metavar="HEX|@FILE",
        help="With --op and --args-hex: the ext info beside the argument block.",
        show_default=False,
    ),
]
OpJson = Annotated[
    str | None,
    typer.Option(
        "--op-json",
        metavar="FILE",
        help="With --op: the JSON of the package's operators, where it lies elsewhere.",
        show_default=False,
    ),
]
OpLibrary = Annotated[
    str | None,
    typer.Option(
        "--library",
        metavar="FILE",
        help="With --op and a JSON: the library, where it lies elsewhere.",
        show_default=False,
    ),
]
Dynamic = Annotated[
    bool | None,
    typer.Option(
        "--dynamic/--static",
        help="With --op: shapes of outputs come back, or do not.",
        show_default=False,
    ),
]
Session = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID[:KERNEL[:FLAG]]",
        help="With --op: the library keeps the context of the call under these numbers.",
        show_default=False,
    ),
]
DataFormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FMT",
        help="With --op: data format of all tensors.  [default: ND]",
        show_default=False,
    ),
]
Cases = Annotated[
    str | None,
    typer.Option(
        "--cases",
        metavar="FILE.jsonl",
        help="Run many operators in one process, a JSON line in and out for each; - is stdin. "
        '{"op": "Add", "args": ["in:f32[2]=1,2", ...], "attrs": {"NAME": ...}}',
        show_default=False,
    ),
]
Trace = Annotated[
    bool,
    typer.Option(
        "--trace", help="With --op: through the simulated runtime, device and AI CPU engine."
    ),
]
Align = Annotated[
    int | None,
    typer.Option(
        "--align",
        metavar="N",
        help="With --op: alignment of tensors in bytes; 4 finds reads past an end that 64 forgives.  "
        "[default: 64]",
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="With --op: call it although an attribute or a size is wrong."),
]

CHOOSERS: Final = ("op", "list_ops", "describe", "cases")  # parameters that ask for an operator
ALONE: Final = (  # parameters that only an operator has
    *("attr", "ext_hex", "op_json", "library", "emulate", "sysroot", "dynamic", "session"),
    *("data_format", "align", "trace", "force"),
)


def option_given(context: typer.Context, names: Container[str]) -> str | None:
    """The first option among parameters of these names that is on the command line."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in names and source is not None and source.name == "COMMANDLINE":
            return max(parameter.opts, key=len)
    return None
