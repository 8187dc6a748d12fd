"""`cannkit extract` for people: a table of what was embedded, and its totals."""

from __future__ import annotations

from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.console import Lines
from cannkit.render.text import aligned, as_text, columns, plural, size
from cannkit.report.base import safe
from cannkit.report.extract import ExtractDocument

HEADINGS: Final = ("Name", "Kind", "Size", "SHA-256", "Written to")
MOST_ROWS: Final = 1000  # of a table with borders, which takes long to draw


@as_text.register(ExtractDocument)
def extract_text(
    document: ExtractDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """The members, then how many of them, of how many bytes, there are."""
    rows = [
        (each.name, each.kind, size(each.size), each.sha256, each.written or "")
        for each in document.members
    ]
    if len(rows) > MOST_ROWS:
        cells = [HEADINGS, *(tuple(map(safe, row)) for row in rows)]
        right = [heading == "Size" for heading in HEADINGS]
        table: RenderableType = Lines("\n".join(aligned(cells, right)))
    else:
        table = columns(console, "", HEADINGS, rows, ("Size",))
    return Group(table, _totals(document))


def _totals(document: ExtractDocument) -> Text:
    objects = sum(each.kind != "sidecar" for each in document.members)
    counts = [plural(objects, "object")]
    if sidecars := len(document.members) - objects:
        counts.append(plural(sidecars, "sidecar"))
    written = [each for each in document.members if each.written is not None]
    shown = written or document.members
    total = size(sum(each.size for each in shown))
    end = f"; {len(written):,} of {len(document.members):,} files written" if written else ""
    return Text(f"{', '.join(counts)}: {total}{end}", "bold")
