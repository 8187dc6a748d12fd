"""check for people: by file, a fix once for each rule, what is missing, in a pipe and on a screen."""

from __future__ import annotations

from io import BytesIO, TextIOWrapper

import pytest
from rich.console import Console

from cannkit.check.finding import Finding, Level
from cannkit.check.matrix import Matrix, Missing
from cannkit.render.check import check_text
from cannkit.render.console import write
from cannkit.render.text import as_text
from cannkit.report.base import Document
from cannkit.report.check import CheckDocument, RuleDocument, RuleListDocument
from tests.render.screen import Make, pipe, screen, shown
from tests.report.test_check import ERROR, FINDINGS, MATRIX, NOTE, WARNING


def text_of(document: Document) -> Make:
    return lambda console: as_text(document, console)


def test_in_a_pipe() -> None:
    document = CheckDocument.of([*FINDINGS, FINDINGS[0]], files=1234, matrix=MATRIX, baseline=2)
    assert shown(text_of(document), pipe()) == [
        "b.o",
        "  warning  K101  kernel k: m1",
        "  error    K001  m3 \\xff",
        "  warning  K101  kernel k: m1",
        "",
        "a.o",
        "  note     K201  m2",
        "",
        "How to fix",
        "  K001  sidecar missing: fix 1",
        "  K101  lone half: fix 2",
        "  K201  unknown flags: fix 3",
        "",
        "2 operators on 1 SoC: 1 without kernels",
        "Operator  ascend910b",
        "Add       ✓",
        "Mul       ✗",
        "",
        "1 error, 2 warnings, 1 note in 1,234 files (2 known by the baseline)",
    ]


def test_nothing_found() -> None:
    document = CheckDocument.of([], files=1, matrix=Matrix(("Add",), ("ascend910b",), ()))
    lines = shown(text_of(document), pipe())
    assert lines[0] == "1 operator on 1 SoC: all have kernels"
    assert lines[-1] == "nothing found in 1 file"
    assert shown(text_of(CheckDocument.of([], files=0)), pipe()) == ["nothing found in 0 files"]


def test_long_names_stay_whole_in_a_pipe() -> None:
    name = "k" * 300
    document = CheckDocument.of([Finding(ERROR, name, name, name)], files=1)
    assert shown(text_of(document), pipe())[:2] == [name, f"  error    K001  {name}: {name}"]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_on_a_screen(width: int) -> None:
    long = Finding(ERROR, "d/" + "f" * 90, "kernel " + "k" * 90, "words " * 30)
    document = CheckDocument.of([long, *FINDINGS], files=3, matrix=MATRIX)
    lines = shown(text_of(document), screen(width))
    assert max(map(len, lines)) <= width
    assert "".join(lines).count("✗") == 1


def test_hostile_text() -> None:
    """Nothing of a file drives the terminal, or makes a line of its own."""
    evil = "a\x1b[31m\n::error::[bold]"
    matrix = Matrix((evil,), (evil,), (Missing(evil, evil, False),))
    document = CheckDocument.of([Finding(ERROR, evil, evil, evil)], files=1, matrix=matrix)
    for console in (pipe(), screen(200)):
        text = "\n".join(shown(text_of(document), console))
        assert "\x1b[31m" not in text
        assert not any(line.startswith("::") for line in text.splitlines())
        assert "[bold]" in text


def test_many_operators() -> None:
    """Of many only those with a gap; `raw` shows all, but a bound of them."""
    ops = tuple(f"Op{i}" for i in range(100))
    document = CheckDocument.of(
        [], files=1, matrix=Matrix(ops, ("a", "b"), (Missing("Op7", "b", False),))
    )
    assert shown(text_of(document), pipe())[:4] == [
        "100 operators on 2 SoCs: 1 without kernels",
        "Operator  a  b",
        "Op7       ✓  ✗",
        "99 operators with kernels for every SoC",
    ]
    assert len(shown(lambda console: check_text(document, console, raw=True), pipe())) == 104
    socs = tuple(f"s{i}" for i in range(1000))
    wide = CheckDocument.of(
        [], files=1, matrix=Matrix(ops, socs, tuple(Missing(op, "s1", False) for op in ops))
    )
    assert "... and 80 more" in shown(text_of(wide), pipe())


def test_ascii() -> None:
    """A terminal that knows no UTF-8."""
    file = TextIOWrapper(BytesIO(), encoding="ascii")
    console = Console(file=file, width=200, color_system=None, force_terminal=False)
    write(console, as_text(CheckDocument.of([], files=1, matrix=MATRIX), console))
    file.seek(0)
    assert file.read().splitlines()[2:4] == ["Add       +", "Mul       x"]


def test_rule() -> None:
    assert shown(text_of(RuleDocument.of(ERROR)), pipe()) == [
        "K001 sidecar missing",
        "  level  error",
        "  why    why 1",
        "  fix    fix 1",
        "  rules  JSN-01",
    ]


def test_rules() -> None:
    assert shown(text_of(RuleListDocument.of([NOTE, WARNING])), pipe()) == [
        "Rule  Level    Title",
        "K101  warning  lone half",
        "K201  note     unknown flags",
    ]


def test_failure_is_red() -> None:
    for level, style in ((Level.ERROR, "bold red"), (None, "bold")):
        document = CheckDocument.of(FINDINGS, files=1, fail_on=level)
        group = check_text(document, screen(80))
        assert getattr(group, "renderables")[-1].style == style  # noqa: B009
