"""cannkit extract."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cannkit.cli.options import Color, ColorWhen, Json, Quiet


class LayoutName(StrEnum):
    """Values of --layout."""

    FLAT = "flat"
    OPP = "opp"


Carrier = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A host library, archive or wheel, or a directory of them.",
        show_default=False,
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="Write below DIR, which is made if it is missing."),
]
List = Annotated[bool, typer.Option("--list", help="Write nothing, only tell what is inside.")]
LayoutOption = Annotated[
    LayoutName,
    typer.Option("--layout", help="All in DIR, or as the sidecar says: <soc>/<op>/<stem>.o."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]


def extract(
    file: Carrier,
    out: Out = None,
    list_: List = False,
    layout: LayoutOption = LayoutName.FLAT,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Write the kernel objects that a file embeds to a folder."""
    from cannkit.cli.driver import print_error
    from cannkit.cli.printers import JsonPrinter, Printer, TextPrinter
    from cannkit.errors import UsageError
    from cannkit.extract.members import Layout, extract_members, list_members
    from cannkit.inputs.paths import open_inputs
    from cannkit.report.extract import ExtractDocument

    if out is not None and list_:
        raise UsageError("--out and --list exclude each other")
    if out is None and not list_:
        raise UsageError("--out DIR is missing", hint="or --list, which writes nothing")
    if json:
        printer: Printer = JsonPrinter(ExtractDocument.SCHEMA)
    else:
        import cannkit.render.extract  # noqa: F401  (it registers with as_text)

        printer = TextPrinter(color, quiet=quiet)
    printer.start(many=False)
    inputs = open_inputs([file])
    if out is None:
        found = list_members(inputs)
    else:
        found = extract_members(inputs, out, layout=Layout(layout), force=force)
    document = ExtractDocument.of(found)
    printer.add(document)
    if not json:
        for failed in document.errors:
            print_error(failed.error)
    return document.exit_code
