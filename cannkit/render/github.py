"""`cannkit check` as workflow commands of GitHub Actions: annotations on the files of a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.check.baseline import split_place
from cannkit.render.check import said, totals_text
from cannkit.report.base import safe
from cannkit.report.check import CheckDocument, FindingEntry

COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
DATA: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def github_text(document: CheckDocument) -> str:
    """A command for each finding, and a line of totals."""
    titles = {rule.code: rule.title for rule in document.rules}
    return "\n".join([*_commands(document.findings, titles), f"{totals_text(document)}\n"])


def _commands(findings: tuple[FindingEntry, ...], titles: dict[str, str]) -> Iterator[str]:
    for finding in findings:
        file, member = split_place(finding.file)
        title = f"{finding.code} {titles[finding.code]}"
        lines = [f"{safe(member)}:"] if member else []
        lines += [safe(said(finding)), f"fix: {finding.fix}"]
        yield (
            f"::{COMMANDS[finding.level]} file={safe(file).translate(PROPERTY)},"
            f"title={title.translate(PROPERTY)}::{chr(10).join(lines).translate(DATA)}"
        )
