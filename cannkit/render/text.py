"""A document as rich renderables: one `@as_text.register` for each kind, and what they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cannkit.render.console import PLAIN_WIDTH, Lines, from_file, is_plain
from cannkit.report.base import Document

KIB = 1024
WIDEST_COLUMN = 160
WIDEST_PANEL = 120
INDENT = 2
UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@singledispatch
def as_text(document: Document, console: Console, *, raw: bool = False) -> RenderableType:
    """What a person sees of `document` on `console`; `raw` adds the bytes of records."""
    raise TypeError(f"no text for {type(document).__name__}")


def size(count: int) -> str:
    """Bytes in decimal, with a unit beside them from 4 KiB on: `6,072 B (5.9 KiB)`."""
    text = f"{count:,} B"
    if count <= 4 * KIB:
        return text
    value, unit = count / KIB, 0
    while value >= KIB and unit < len(UNITS) - 1:
        value, unit = value / KIB, unit + 1
    return f"{text} ({value:.1f} {UNITS[unit]})"


def named(number: int, name: str) -> str:
    """A number with its name: `AIV (3)`."""
    return f"{name} ({number})"


def plural(count: int, noun: str) -> str:
    """`1 kernel`, `1,238 kernels`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def facts(pairs: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names and values, one pair a line."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, value)
    return table


def titled(
    title: str, pairs: Iterable[tuple[str, RenderableType]], console: Console
) -> RenderableType:
    """Facts under a title; on a screen in a panel, with the title above it where it is too long."""
    name, table = from_file(title, "bold"), facts(pairs)
    if not console.is_terminal:
        return Group(name, table)
    width = min(console.width, WIDEST_PANEL)
    if name.cell_len + len("╭─  ─╮") > width:
        name.overflow = "fold"
        return Group(name, Panel(table, border_style="dim", width=width))
    return Panel(table, title=name, title_align="left", border_style="dim", width=width)


def columns(
    console: Console,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    right: Sequence[str] = (),
) -> RenderableType:
    """A table of `rows`; where the screen is too narrow for it, one block of facts for each row.

    Columns that are empty in every row are left out. The first column names the row.
    """
    kept = [i for i in range(len(headings)) if i == 0 or any(str(row[i]) for row in rows)]
    if is_plain(console):
        cells = [[headings[i] for i in kept], *([str(_cell(row[i])) for i in kept] for row in rows)]
        table_lines = aligned(cells, [headings[i] in right for i in kept])
        return Lines("\n".join(["", title, *table_lines] if title else table_lines))
    table = Table(
        title=title if console.is_terminal else None,
        title_justify="left",
        title_style="bold",
        box=box.ROUNDED if console.is_terminal else None,
        border_style="dim",
        header_style="bold",
        padding=(0, 1) if console.is_terminal else (0, 2, 0, 0),
        pad_edge=console.is_terminal,
    )
    for i in kept:
        table.add_column(
            headings[i], justify="right" if headings[i] in right else "left", no_wrap=True
        )
    for row in rows:
        table.add_row(*(_cell(row[i]) for i in kept))
    if not console.is_terminal:
        return Group("", Text(title), table) if title else table
    unbounded = console.options.update(width=PLAIN_WIDTH)
    if Measurement.get(console, unbounded, table).maximum <= console.width:
        return table
    return Group(
        Text(title, style="bold"), *(_block(headings, row, kept, console.width) for row in rows)
    )


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Rows as lines: columns two blanks apart, as wide as the widest cell that is not a monster."""
    widths = [min(max(map(cells_of, column)), WIDEST_COLUMN) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [
            " " * (width - cells_of(cell)) + cell
            if to_right
            else cell + " " * (width - cells_of(cell))
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip(" "))
    return lines


def cells_of(text: str) -> int:
    """How many columns of a screen a text takes: two for a Chinese character."""
    return len(text) if text.isascii() else cell_len(text)


def _cell(value: str | Text) -> Text:
    return value if isinstance(value, Text) else from_file(value)


def _block(
    headings: Sequence[str], row: Sequence[str | Text], kept: Sequence[int], width: int
) -> RenderableType:
    """A row as its name and, indented below it, lines of whole `heading value` pairs."""
    lines = [Text()]
    for i in kept[1:]:
        if not str(row[i]):
            continue
        pair = Text.assemble((f"{headings[i].lower()} ", "dim"), _cell(row[i]))
        if lines[-1] and lines[-1].cell_len + 2 + pair.cell_len > width - INDENT:
            lines.append(Text())
        lines[-1].append("  " if lines[-1] else "").append_text(pair)
    return Group(_cell(row[0]), Padding(Group(*lines), (0, 0, 0, INDENT)))
