"""The union of HwtsTsKernel for people: its bytes, and beside them what each reading makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from cannkit.format.ae_event import BASE, TsKernel, kernel_type_name, read_spans
from cannkit.render.console import Lines, is_plain
from cannkit.render.text import aligned, named
from cannkit.report.ae_union import UnionEntry

ROW: Final = 8  # bytes; no field crosses one
HEADINGS: Final = ("Offset", "Bytes", "Read")
TAG: Final = len("00 00 00 00")  # of row 0: what is behind the kernel type is padding
LIVE: Final = "bold green"
Row = tuple[str, ...]


def union_text(entries: Sequence[UnionEntry], raw: bytes, console: Console) -> RenderableType:
    """A row for each 8 bytes. `*` marks the live reading, `Read` the bytes that the engine reads.

    A screen too narrow for all readings gets the live one alone. Raises FormatError where `raw` is
    no HwtsTsKernel.
    """
    number = TsKernel.decode(raw).kernel_type
    tag = named(number, kernel_type_name(number))
    title = Text(f"HwtsTsKernel, {len(raw)} bytes, kernelType {tag}", "bold")
    notes = [
        Text(f"{entry.member}: {entry.note}", LIVE if entry.live else "dim") for entry in entries
    ]
    rows = tuple(_rows(entries, raw, number))
    lines = _lines(rows)
    if console.is_terminal and (width := len(max(lines, key=len))) > console.width:
        hidden = ", ".join(entry.member for entry in entries if not entry.live)
        notes.append(Text(f"{hidden}: in a pipe, or in {width} columns", "dim"))
        entries = tuple(entry for entry in entries if entry.live)
        rows = tuple(_rows(entries, raw, number))
        lines = _lines(rows)
    if is_plain(console):
        return Lines("\n".join([str(title), *lines, *map(str, notes)]))
    if console.is_terminal and len(max(lines, key=len)) > console.width:
        return Group(title, _narrow(rows), *notes)
    return Group(title, _table(rows, entries), *notes)


def _lines(rows: Sequence[Row]) -> list[str]:
    return aligned(rows, [False] * len(rows[0]))


def _rows(entries: Sequence[UnionEntry], raw: bytes, kernel_type: int) -> Iterator[Row]:
    """The headings, and the lines: of a row as many as the reading with most fields in it needs."""
    yield *HEADINGS, *(f"{entry.member} *" if entry.live else entry.member for entry in entries)
    yield "0x00", raw[:ROW].hex(" "), "yes", *(f"kernelType {kernel_type}" for _ in entries)
    for at in range(BASE, len(raw), ROW):
        head = (f"{at:#04x}", raw[at : at + ROW].hex(" "), _is_read(at - BASE, kernel_type))
        cells = [
            [
                f"{field.name} {field.value}"
                for field in entry.fields
                if field.offset // ROW * ROW == at
            ]
            for entry in entries
        ]
        yield *head, *(cell[0] if cell else "" for cell in cells)
        for more in zip_longest(*(cell[1:] for cell in cells), fillvalue=""):
            yield "", "", "", *more


def _is_read(at: int, kernel_type: int) -> str:
    """AE-103: whether the engine reads 8 bytes, always or where it sees the kernel name first."""
    if not _covers(read_spans(kernel_type), at):
        return ""
    return "yes" if _covers(read_spans(kernel_type, is_cached=True), at) else "if new"


def _covers(spans: tuple[tuple[int, int], ...], at: int) -> bool:
    return any(first <= at < end for first, end in spans)


def _narrow(rows: Sequence[Row]) -> Text:
    """What is read below its bytes."""
    at = len(HEADINGS)
    lines = []
    for head, row in zip(_lines([row[:at] for row in rows]), rows, strict=True):
        lines += [*([head] if head else []), *(f"  {cell}" for cell in row[at:] if cell)]
    return Text("\n".join(lines), overflow="fold")


def _table(rows: Sequence[Row], entries: Sequence[UnionEntry]) -> Table:
    """With colours: the live reading stands out, bytes that are read are underlined."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=True)
    for heading, entry in zip(rows[0][len(HEADINGS) :], entries, strict=True):
        table.add_column(heading, style=LIVE if entry.live else "dim", no_wrap=True)
    for offset, raw, read, *cells in rows[1:]:
        shown = Text(raw)
        if read:
            shown.stylize("underline", 0, TAG if offset == rows[1][0] else None)
        table.add_row(offset, shown, read, *map(Text, cells))
    return table
