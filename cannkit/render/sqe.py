"""Queue entries for people: a table of bits, word by word."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from cannkit.format.bits import WORD
from cannkit.format.sqe.dump import Evidence
from cannkit.render.console import Lines, from_file, is_plain
from cannkit.render.text import aligned, as_text, facts, named
from cannkit.report.sqe import SqeDocument, SqeEntry
from cannkit.report.sqe_fields import ContextEntry, FieldEntry

HEADINGS: Final = ("Word", "Hex", "Bits", "Field", "Value", "Meaning")
NARROWEST: Final = 12  # columns for what a value means
CONTINUED: Final = "upper bits"
SURE: Final = "--soc NAME makes it sure"
FAMILY: Final = {
    Evidence.SOC: "",
    Evidence.LABEL: "by its log line",
    Evidence.BYTES: f"a guess by its bytes: {SURE}",
    Evidence.NONE: f"its bytes do not tell it: {SURE}",
}


class _Row(NamedTuple):
    """A line of the table: bits of one word, and what they belong to."""

    word: int
    lo: int
    high: int
    name: str
    value: str
    meaning: str
    is_zero: bool
    is_odd: bool


@as_text.register(SqeDocument)
def document_text(document: SqeDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """Every entry, blank lines between."""
    parts: list[RenderableType] = []
    for entry in document.sqes:
        parts += [entry_text(entry, console), ""]
    return Group(*parts[:-1])


@as_text.register(SqeEntry)
def entry_text(entry: SqeEntry, console: Console, *, raw: bool = False) -> RenderableType:
    """What an entry is and how that is known, its bits, and those of its context."""
    parts = [_title(entry), facts(_facts(entry)), sqe_table(entry, console)]
    if entry.context is not None:
        parts += [Text("context", "bold"), sqe_table(entry.context, console)]
    return Group(*parts)


def sqe_table(entry: SqeEntry | ContextEntry, console: Console) -> RenderableType:
    """The bits of an entry or a context: each word in hex, and beside it what lies in it."""
    words = struct.unpack(f"<{8 * entry.size // WORD}I", bytes.fromhex(entry.hex))
    rows = sorted((row for field in entry.fields for row in _rows(field)), key=lambda row: row[:2])
    cells = [_cells(row, words, after) for after, row in zip([None, *rows], rows, strict=False)]
    lines = aligned([HEADINGS, *cells], [False] * len(HEADINGS))
    if is_plain(console):
        return Lines("\n".join(lines))
    meaning = lines[0].index(HEADINGS[-1])
    if console.is_terminal and console.width < meaning + NARROWEST:
        return Text("\n".join(lines), overflow="fold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, no_wrap=heading != HEADINGS[-1], overflow="fold")
    for row, texts in zip(rows, cells, strict=True):
        style = "yellow" if row.is_odd else "dim" if row.is_zero else ""
        table.add_row(*(from_file(text, style) for text in texts))
    return table


def _title(entry: SqeEntry) -> Text:
    if entry.arch is None:
        return Text("entry of an unknown family", "bold green")
    what = [entry.arch, entry.record or "", entry.c_name or ""]
    if entry.type is not None and entry.type_name is not None:
        what.append(f"type {named(entry.type, entry.type_name)}")
    return Text(", ".join(what), "bold green")


def _facts(entry: SqeEntry) -> Iterator[tuple[str, RenderableType]]:
    if entry.label:
        yield "from", from_file(f"{entry.label}, line {entry.line}")
    elif entry.line is not None and entry.line > 1:
        yield "from", f"line {entry.line}"
    if told := FAMILY[Evidence(entry.evidence)]:
        yield "family", Text(told, "yellow" if entry.guessed else "")
    if entry.ids is not None:
        stream = entry.ids.stream_id
        yield "stream", "unknown: the entry names none" if stream is None else str(stream)
        yield "task", f"{entry.ids.task_id}"
        if entry.ids.mode != "plain":
            yield "ids", f"exchanged ({entry.ids.mode.replace('_', ' ')})"
    for note in entry.notes:
        yield "note", from_file(note, "yellow")


def _rows(field: FieldEntry) -> Iterator[_Row]:
    """A field in each of its words; the value stands beside its lowest bits."""
    is_zero = field.value in (0, "0", "0x0")
    is_odd = field.name == "reserved"
    value, meaning = str(field.value), field.meaning
    for span in field.bits.split(","):
        first, _, last = span.partition("-")
        lo, end = int(first), int(last or first) + 1
        while lo < end:
            word, at = divmod(lo, WORD)
            width = min(end - lo, WORD - at)
            yield _Row(
                field.word + word, at, at + width - 1, field.name, value, meaning, is_zero, is_odd
            )
            value, meaning = "", CONTINUED
            lo += width


def _cells(row: _Row, words: Sequence[int], after: _Row | None) -> tuple[str, ...]:
    """The texts of a line; the word stands in the first of its lines."""
    begins = after is None or after.word != row.word
    head = (f"w{row.word}", f"{words[row.word]:08x}") if begins else ("", "")
    bits = str(row.lo) if row.lo == row.high else f"{row.lo}-{row.high}"
    return *head, bits, row.name, row.value, row.meaning
