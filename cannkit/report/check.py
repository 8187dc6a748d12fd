"""The documents of `cannkit check`: what was found, what is missing, and the rules. cli.md, section 9."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import ClassVar, Literal, Self

from cannkit.check.finding import Finding, Level, Rule
from cannkit.check.matrix import Matrix
from cannkit.errors import CannkitError, ExitCode
from cannkit.report.base import Document, FileError, document, printable

LevelWord = Literal["note", "warning", "error"]
WORDS: dict[Level, LevelWord] = {
    Level.NOTE: "note",
    Level.WARNING: "warning",
    Level.ERROR: "error",
}


@document
class RuleDocument(Document):
    """A rule, as `--explain` and `--list` tell it, too."""

    SCHEMA: ClassVar[str] = "cannkit.check-rule/1"
    code: str
    title: str
    level: LevelWord
    why: str
    fix: str
    spec: tuple[str, ...]

    @classmethod
    def of(cls, rule: Rule) -> Self:
        """The document of a rule."""
        return cls(rule.code, rule.title, WORDS[rule.level], rule.why, rule.fix, rule.spec)


@document
class RuleListDocument(Document):
    """All rules, in the order of their codes."""

    SCHEMA: ClassVar[str] = "cannkit.check-rules/1"
    rules: tuple[RuleDocument, ...]

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Self:
        """The document of rules."""
        return cls(tuple(map(RuleDocument.of, sorted(rules))))


@document
class FindingEntry:
    """What a rule found. `file` has the member of a container behind a `!`."""

    code: str
    level: LevelWord
    file: str
    where: str | None
    message: str
    fix: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """The entry of a finding."""
        rule = finding.rule
        return cls(
            rule.code,
            WORDS[rule.level],
            printable(finding.file),
            None if finding.where is None else printable(finding.where),
            printable(finding.message),
            rule.fix,
        )


@document
class MatrixEntry:
    """Operators by SoCs: every pair has kernels but the `missing` ones."""

    ops: tuple[str, ...]
    socs: tuple[str, ...]
    missing: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, matrix: Matrix) -> Self:
        """The entry of a matrix."""
        return cls(
            tuple(map(printable, matrix.ops)),
            tuple(map(printable, matrix.socs)),
            tuple((printable(op), printable(soc)) for op, soc, _ in matrix.missing),
        )


@document
class TotalsEntry:
    """How many objects and libraries there were, and findings; `baseline` are known ones that are not shown."""

    files: int
    errors: int
    warnings: int
    notes: int
    baseline: int


@document
class CheckDocument(Document):
    """The answer. `errors` are paths without anything to check, `rules` those that found something."""

    SCHEMA: ClassVar[str] = "cannkit.check/1"
    findings: tuple[FindingEntry, ...]
    matrix: MatrixEntry | None
    totals: TotalsEntry
    errors: tuple[FileError, ...]
    fail_on: LevelWord | Literal["never"]
    rules: tuple[RuleDocument, ...]

    @classmethod
    def of(
        cls,
        findings: Iterable[Finding],
        *,
        files: int,
        matrix: Matrix | None = None,
        failures: Iterable[tuple[str, CannkitError]] = (),
        baseline: int = 0,
        fail_on: Level | None = Level.ERROR,
    ) -> Self:
        """The document of findings by file, in the order given; a `fail_on` of None: nothing fails."""
        by_file: dict[str, list[Finding]] = {}
        for finding in findings:
            by_file.setdefault(finding.file, []).append(finding)
        every = tuple(chain.from_iterable(by_file.values()))
        counts = Counter(finding.rule.level for finding in every)
        return cls(
            tuple(map(FindingEntry.of, every)),
            None if matrix is None else MatrixEntry.of(matrix),
            TotalsEntry(
                files, counts[Level.ERROR], counts[Level.WARNING], counts[Level.NOTE], baseline
            ),
            tuple(FileError.of(*each) for each in failures),
            "never" if fail_on is None else WORDS[fail_on],
            RuleListDocument.of({finding.rule for finding in every}).rules,
        )

    def fails(self, finding: FindingEntry) -> bool:
        """Whether a finding is at or above the fail level."""
        words = tuple(WORDS.values())
        return self.fail_on != "never" and words.index(finding.level) >= words.index(self.fail_on)

    @property
    def exit_code(self) -> ExitCode:
        """Negative where a finding fails."""
        return ExitCode.NEGATIVE if any(map(self.fails, self.findings)) else ExitCode.OK
