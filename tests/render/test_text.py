"""What renderers share, and every document on screens of many widths. cli.md, section 1."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest
from rich.cells import cell_len
from rich.text import Text

import cannkit.render.parse_details
import cannkit.render.soc  # noqa: F401 - both register their documents
from cannkit.render.text import as_text, columns, facts, named, plural, size
from cannkit.report.base import Document
from cannkit.report.elf_tables import ParseDetails
from cannkit.report.parse import ParseDocument
from tests.render.screen import Make, pipe, screen, shown
from tests.report.test_json import parse_documents, soc_documents

HEADINGS: Final = ("Name", "Offset", "Empty", "Long heading")
ROWS: Final = (("first_kernel_0", "0x0", "", "one two"), ("b", "0x1a40", "", "three"))
WIDTHS: Final = (40, 80, 120, 200)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (64, "64 B"),
        (4095, "4,095 B"),
        (4097, "4,097 B (4.0 KiB)"),
        (6072, "6,072 B (5.9 KiB)"),
        (1 << 20, "1,048,576 B (1.0 MiB)"),
        ((1 << 30) - 1, "1,073,741,823 B (1024.0 MiB)"),
        (1 << 64, "18,446,744,073,709,551,616 B (16.0 EiB)"),
        (1 << 80, "1,208,925,819,614,629,174,706,176 B (1048576.0 EiB)"),
    ],
)
def test_size(count: int, text: str) -> None:
    """cli.md: decimal bytes, with a human unit beside when above 4 KiB."""
    assert size(count) == text


def test_size_of_just_4_kib() -> None:
    """Above 4 KiB, so not at it."""
    assert size(4096) == "4,096 B"


def test_named_and_plural() -> None:
    assert named(3, "AIV") == "AIV (3)"
    assert [plural(n, "kernel") for n in (0, 1, 1238)] == ["0 kernels", "1 kernel", "1,238 kernels"]


def table() -> Make:
    return lambda console: columns(console, "Title", HEADINGS, ROWS, ("Offset",))


def one_row(name: str, title: str = "") -> Make:
    return lambda console: columns(console, title, HEADINGS[:2], [(name, "0x0")])


def test_columns_in_a_pipe() -> None:
    """A column for each heading that has a value; no box."""
    assert shown(table(), pipe()) == [
        "",
        "Title",
        "Name            Offset  Long heading",
        "first_kernel_0     0x0  one two",
        "b               0x1a40  three",
    ]


def test_columns_on_a_screen() -> None:
    assert [line.rstrip() for line in shown(table(), screen(80))] == [
        "Title",
        "╭────────────────┬────────┬──────────────╮",
        "│ Name           │ Offset │ Long heading │",
        "├────────────────┼────────┼──────────────┤",
        "│ first_kernel_0 │    0x0 │ one two      │",
        "│ b              │ 0x1a40 │ three        │",
        "╰────────────────┴────────┴──────────────╯",
    ]


def test_columns_on_a_narrow_screen_are_blocks() -> None:
    """The name of a row, then its values with their headings; the width that the table needs is
    the least at which it is one."""
    needed = len(shown(table(), screen(80))[1])
    assert shown(table(), screen(needed))[1:] == shown(table(), screen(80))[1:]
    blocks = [line.rstrip() for line in shown(table(), screen(needed - 1))]
    assert blocks == [
        "Title",
        "first_kernel_0",
        "  offset 0x0  long heading one two",
        "b",
        "  offset 0x1a40  long heading three",
    ]


def test_blocks_do_not_part_a_heading_from_its_value() -> None:
    """A pair that fits a line stands in one line."""
    for width in range(24, 36):
        text = "\n".join(shown(table(), screen(width)))
        for pair in ("offset 0x0", "long heading one two", "offset 0x1a40", "long heading three"):
            assert pair in text, width


def test_names_are_never_cut() -> None:
    """A name that is wider than the screen goes on in the next line."""
    name = "k" * 150 + "_0"
    for width in WIDTHS:
        lines = shown(one_row(name), screen(width))
        assert name in "".join(line.strip("\u2502 ") for line in lines)
        assert max(map(cell_len, lines)) <= width
    assert shown(one_row(name), pipe())[-1] == f"{name}  0x0"


def test_wide_characters_count_twice() -> None:
    name = "\u52a0\u6cd5\u7b97\u5b50" * 6 + "_0"  # 50 cells
    fits = 50 + len(" Offset ") + 2 + 3
    assert any("\u2502" in line for line in shown(one_row(name), screen(fits)))
    assert not any("\u2502" in line for line in shown(one_row(name), screen(fits - 1)))


def test_cells_are_no_markup() -> None:
    rows: list[tuple[str | Text, ...]] = [("[bold]x[/bold]", "\x1b[31m"), (Text("kept"), ":smile:")]
    text = "\n".join(shown(lambda c: columns(c, "[red]t", HEADINGS[:2], rows), screen(80)))
    for part in ("[bold]x[/bold]", r"\x1b[31m", ":smile:", "[red]t"):
        assert part in text


def test_facts() -> None:
    lines = shown(lambda console: facts([("a", "1"), ("long name", Text("2"))]), pipe())
    assert lines == ["a          1", "long name  2"]


def test_document_without_a_text() -> None:
    class Other(Document):
        pass

    with pytest.raises(TypeError, match="Other"):
        as_text(Other(), pipe())


def to_text(document: Document, *, raw: bool) -> Make:
    return lambda console: as_text(document, console, raw=raw)


@cache
def every_document() -> tuple[Document, ...]:
    """One of each sort: the fixtures on one chip, and a few chips."""
    found = parse_documents()
    return (*found[: len(found) // 2], *soc_documents()[::24])


@pytest.mark.parametrize("width", WIDTHS)
def test_every_document_on_a_screen(width: int) -> None:
    """Whole at any width, and no line is wider than the screen."""
    for document in every_document():
        lines = shown(to_text(document, raw=True), screen(width))
        assert max(map(cell_len, lines)) <= width
        assert not any("\u2026" in line for line in lines)
        joined = "".join(line.strip("\u2502 ").replace(" ", "") for line in lines)
        if isinstance(document, ParseDocument):
            for kernel in document.kernels:
                if kernel.name.isascii() and kernel.name.isprintable():
                    assert kernel.name.replace(" ", "") in joined


def test_every_document_in_a_pipe() -> None:
    """Nothing wrapped: each kernel on a line of its own, whole, with its core and offset."""
    for document in every_document():
        for raw in (False, True):
            lines = shown(to_text(document, raw=raw), pipe())
            assert not any(line.endswith(" ") for line in lines)
            if not isinstance(document, ParseDocument):
                continue
            for kernel in document.kernels:
                core = named(kernel.func_type, kernel.func_type_name)
                place = f"{kernel.offset:#x}"
                assert any(core in line and place in line for line in lines)


def test_details_show_every_section_and_symbol() -> None:
    for document in every_document():
        if not isinstance(document, ParseDetails):
            continue
        lines = shown(to_text(document, raw=False), pipe())
        for section in document.sections:
            assert any(line.startswith(f"{section.index} ") for line in lines)
        for symbol in document.symbols:
            if symbol.name.isprintable():
                assert any(line.startswith(f"{symbol.name or '-'} ") for line in lines)
