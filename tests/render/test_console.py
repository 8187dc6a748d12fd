"""The console: width, colour, and text that cannot do harm. cli.md, section 1; HAZ-18."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.table import Table

from cannkit.render.console import PLAIN_WIDTH, from_file, make_console, write
from cannkit.report.base import printable, safe
from tests.render.screen import pipe, shown, terminal_file

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "COLORTERM", "TTY_COMPATIBLE")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_pipe_has_no_end() -> None:
    console = make_console(file=StringIO())
    assert (console.width, console.is_terminal) == (PLAIN_WIDTH, False)
    assert console.color_system is None


def test_columns_is_that_of_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert make_console(file=StringIO()).width == PLAIN_WIDTH
    with terminal_file() as file:
        assert make_console(file=file).width == 50


@pytest.mark.parametrize(
    ("color", "variables", "pipe_has", "terminal_has"),
    [
        ("auto", {}, False, True),
        ("never", {}, False, False),
        ("always", {}, True, True),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("always", {"NO_COLOR": "1"}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("auto", {"TERM": "dumb"}, False, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ("always", {"TERM": "dumb"}, True, True),
    ],
)
def test_colour(
    color: str,
    variables: dict[str, str],
    pipe_has: bool,
    terminal_has: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with terminal_file() as terminal:
        for file, expected in ((StringIO(), pipe_has), (terminal, terminal_has)):
            console = make_console(color, file=file)
            with console.capture() as captured:
                console.print("x", style="green")
            assert ("32m" in captured.get()) is expected


def test_dumb_terminal_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with terminal_file() as file:
        console = make_console(file=file)
        assert (console.is_terminal, console.width) == (False, PLAIN_WIDTH)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain_0", "plain_0"),
        ("\u52a0\u6cd5_0", "\u52a0\u6cd5_0"),
        ("[red]x[/red]", "[red]x[/red]"),
        (":smile:", ":smile:"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\nb\tc\rd\0e\x7f", r"a\nb\tc\rd\x00e\x7f"),
        ("\u202e\u2066\u200b", r"\u202e\u2066\u200b"),  # bidi marks, zero width
        ("\x9b31m", r"\x9b31m"),  # the C1 way to begin an escape sequence
        ("\U000e0041", r"\U000e0041"),  # a tag: invisible
        ("\u2028", r"\u2028"),
    ],
)
def test_text_of_a_file(text: str, expected: str) -> None:
    assert safe(text) == expected
    assert from_file(text).plain == expected
    assert shown(lambda console: from_file(text), pipe()) == [expected]


def test_bytes_that_are_no_text() -> None:
    name = b"a\xff\xe5\x8a\xa0".decode("utf-8", "surrogateescape")
    assert printable(name) == "a\\xff\u52a0"


def test_pipe_gets_no_padding() -> None:
    """`write` takes off what fills a table up; on a terminal that is its right side."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("a")
    table.add_column("b")
    table.add_row("x", "long")
    table.add_row("y", "s")
    console = pipe()
    write(console, table)
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue() == "a  b\nx  long\ny  s\n"
