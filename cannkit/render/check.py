"""`cannkit check` for people: findings by file, how to fix them, what is missing, and the rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cannkit.render.console import from_file, is_plain
from cannkit.render.text import as_text, columns, facts, plural
from cannkit.report.check import (
    CheckDocument,
    FindingEntry,
    MatrixEntry,
    RuleDocument,
    RuleListDocument,
)

STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}
WIDTH: Final = max(map(len, STYLES))
MARKS: Final = ("✓", "✗")
ASCII_MARKS: Final = ("+", "x")
ALL_ROWS: Final = 40  # of more operators only those with a gap are shown
MOST_CELLS: Final = 20_000


@as_text.register(CheckDocument)
def check_text(document: CheckDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """Findings by file, a fix for each rule, the matrix, and the totals; `raw`: all of the matrix."""
    parts: list[RenderableType] = []
    for file, findings in groupby(document.findings, lambda finding: finding.file):
        parts += [from_file(file, "bold"), *_findings(list(findings), console), ""]
    if document.rules:
        fixes = [(rule.code, Text(f"{rule.title}: {rule.fix}")) for rule in document.rules]
        parts += [Text("How to fix", "bold"), Padding(facts(fixes), (0, 0, 0, 2)), ""]
    if document.matrix is not None:
        parts += [*_matrix(document.matrix, console, raw=raw), ""]
    failed = bool(document.exit_code)
    parts.append(Text(totals_text(document), STYLES["error"] if failed else "bold"))
    return Group(*parts)


def said(finding: FindingEntry) -> str:
    """Where in the file, and what."""
    return f"{finding.where}: {finding.message}" if finding.where else finding.message


def totals_text(document: CheckDocument) -> str:
    """`2 errors, 1 note in 630 files`."""
    totals = document.totals
    counts = [(totals.errors, "error"), (totals.warnings, "warning"), (totals.notes, "note")]
    found = ", ".join(plural(count, noun) for count, noun in counts if count)
    known = f" ({totals.baseline:,} known by the baseline)" if totals.baseline else ""
    return f"{found or 'nothing found'} in {plural(totals.files, 'file')}{known}"


def _findings(findings: list[FindingEntry], console: Console) -> Iterator[RenderableType]:
    """The findings of a file; on a screen a long message stays in its column."""
    rows = [
        (Text(each.level.ljust(WIDTH), STYLES[each.level]), Text(each.code), from_file(said(each)))
        for each in findings
    ]
    if is_plain(console):
        for level, code, text in rows:
            yield Text.assemble("  ", level, "  ", code, "  ", text)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    yield Padding(table, (0, 0, 0, 2))


def _matrix(matrix: MatrixEntry, console: Console, *, raw: bool) -> Iterator[RenderableType]:
    """Operators by SoCs: a tick where there are kernels."""
    gaps: dict[str, set[str]] = {}
    for op, soc in matrix.missing:
        gaps.setdefault(op, set()).add(soc)
    ops = [op for op in matrix.ops if raw or len(matrix.ops) <= ALL_ROWS or op in gaps]
    shown = list(islice(ops, max(MOST_CELLS // max(len(matrix.socs), 1), 1)))
    good, bad = MARKS if console.encoding.startswith("utf") else ASCII_MARKS
    rows = [
        [from_file(op), *(_mark(soc in gaps.get(op, ()), good, bad) for soc in matrix.socs)]
        for op in shown
    ]
    title = f"{plural(len(matrix.ops), 'operator')} on {plural(len(matrix.socs), 'SoC')}"
    missing = f"{len(matrix.missing):,} without kernels" if matrix.missing else "all have kernels"
    yield Text(f"{title}: {missing}", "bold")
    if rows and matrix.socs:
        heads = [from_file(soc).plain for soc in matrix.socs]
        yield columns(console, "", ("Operator", *heads), rows)
    if left := len(ops) - len(shown):
        yield Text(f"... and {left:,} more", "dim")
    if left := len(matrix.ops) - len(ops):
        yield Text(f"{plural(left, 'operator')} with kernels for every SoC", "dim")


def _mark(is_missing: bool, good: str, bad: str) -> Text:
    return Text(bad, STYLES["error"]) if is_missing else Text(good, "green")


@as_text.register(RuleDocument)
def rule_text(document: RuleDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """One rule: why it matters, and what to do."""
    head = Text.assemble((document.code, "bold"), " ", document.title)
    pairs = [
        ("level", Text(document.level, STYLES[document.level])),
        ("why", Text(document.why)),
        ("fix", Text(document.fix)),
    ]
    if document.spec:
        pairs.append(("rules", Text(", ".join(document.spec))))
    return Group(head, Padding(facts(pairs), (0, 0, 0, 2)))


@as_text.register(RuleListDocument)
def rules_text(
    document: RuleListDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """A line for each rule."""
    rows = [
        (rule.code, Text(rule.level, STYLES[rule.level]), rule.title) for rule in document.rules
    ]
    return columns(console, "", ("Rule", "Level", "Title"), rows)
