"""`cannkit soc` for people: the table of chips, or one chip in full."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.text import as_text, columns, facts, size
from cannkit.report.soc import SocDocument
from cannkit.soc import CvArch

HEADINGS = ("SoC", "Family", "", "Chip", "Arch", "AI cores", "Cube", "Vector", "UB", "L2", "Memory")
RIGHT = ("AI cores", "Cube", "Vector", "UB", "L2", "Memory")
BYTES = "_bytes"


@as_text.register(SocDocument)
def soc_text(document: SocDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """One chip: its features, then every column of the table that has a value."""
    head = [("soc", document.name), ("family", document.family), ("chip", document.chip)]
    if document.product:
        head.append(("product", document.product))
    head += [
        ("runtime library", document.library or "none"),
        ("cube and vector", CvArch(document.cv_arch).name.lower()),
        ("prefetch unit", size(document.prefetch_unit)),
    ]
    features = [(n.replace("_", " "), "yes" if v else "no") for n, v in document.features.items()]
    table = [
        (name.removesuffix(BYTES).replace("_", " "), _cell(name, value))
        for name, value in document.columns.items()
        if value not in (None, ())
    ]
    return Group(
        facts(head),
        Text("\nRuntime features", "bold"),
        facts(features),
        Text("\nTable", "bold"),
        facts(table),
    )


def socs_text(documents: Sequence[SocDocument], console: Console) -> RenderableType:
    """Every chip on a line."""
    return columns(console, "", HEADINGS, [_row(document) for document in documents], RIGHT)


def _row(document: SocDocument) -> tuple[str, ...]:
    cells = document.columns

    def cell(name: str) -> str:
        return _cell(name, cells[name])

    return (
        document.name,
        document.family,
        document.product or "",
        document.chip,
        cell("npu_arch"),
        cell("ai_core_count"),
        cell("cube_core_count"),
        cell("vector_core_count"),
        cell("ub_bytes"),
        cell("l2_size_bytes"),
        cell("memory_size_bytes"),
    )


def _cell(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, int) and name.endswith(BYTES):
        return size(value) if value else ""
    return "" if value is None else str(value)
