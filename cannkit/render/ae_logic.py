"""`cannkit ae-call --list-logic` for people: a table."""

from __future__ import annotations

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.text import as_text, columns, plural
from cannkit.report.ae_logic import LogicListDocument

HEADINGS: Final = ("Name", "Argument", "Bytes", "Null", "Does", "Sent by")


@as_text.register(LogicListDocument)
def logic_text(
    document: LogicListDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """The registry in its order."""
    rows = [
        (
            each.name,
            each.argument,
            str(each.size),
            "21001" if each.checks_null else "not checked",
            each.does,
            each.sender or "",
        )
        for each in document.kernels
    ]
    title = Text(plural(len(rows), "logic kernel"), "bold")
    return Group(title, columns(console, "", HEADINGS, rows, ("Bytes",)))
