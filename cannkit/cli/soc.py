"""cannkit soc."""

from __future__ import annotations

from typing import Annotated

import typer

from cannkit.cli.options import Color, ColorWhen, Json, complete_soc

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="SoC version or family; all of them without it.",
        autocompletion=complete_soc,
        show_default=False,
    ),
]


def soc(name: Name = None, json: Json = False, color: Color = ColorWhen.AUTO) -> None:
    """Show the chip table, or all that is known of one chip."""
    from cannkit.report.soc import SocDocument
    from cannkit.soc import all_socs, find_soc

    documents = [SocDocument.of(row) for row in (all_socs() if name is None else [find_soc(name)])]
    if json:
        from cannkit.cli.printers import JsonPrinter

        printer = JsonPrinter(SocDocument.SCHEMA)
        printer.start(many=name is None)
        for document in documents:
            printer.add(document)
        printer.finish()
        return
    from cannkit.render.console import make_console, write
    from cannkit.render.soc import soc_text, socs_text

    console = make_console(color)
    table = socs_text(documents, console) if name is None else soc_text(documents[0], console)
    write(console, table)
