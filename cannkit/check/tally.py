"""Tally: what the parts of a run have found, added up in bounded memory."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from cannkit.check.finding import Finding, Rule
from cannkit.check.matrix import Coverage
from cannkit.errors import CannkitError

MOST_OF_A_RULE: Final = 25_000  # GitHub takes as many results of one run
MOST_COVERED: Final = 1 << 19  # operators, and their SoCs, in all packages
NO_COVERAGE: Final = Coverage(frozenset(), frozenset(), frozenset(), frozenset())


class Failure(NamedTuple):
    """What was named and is not there, or a bug of ours: no finding."""

    place: str
    error: CannkitError


class Checked(NamedTuple):
    """What came of a part of the work, in the order of the inputs.

    `cut` are rules that found more than MOST_OF_A_RULE, each with the first file that is left out.
    """

    findings: tuple[Finding, ...] = ()
    objects: int = 0
    libraries: int = 0
    packages: int = 0
    failures: tuple[Failure, ...] = ()
    coverage: Coverage = NO_COVERAGE
    cut: tuple[tuple[Rule, str], ...] = ()


class Tally:
    """A sum of parts."""

    def __init__(self) -> None:
        self.objects = self.libraries = self.packages = 0
        self.findings: list[Finding] = []
        self.failures: list[Failure] = []
        self.cut: dict[Rule, str] = {}
        self._counts: Counter[str] = Counter()
        self._ops: set[str] = set()
        self._socs: set[str] = set()
        self._declared: set[tuple[str, str]] = set()
        self._built: set[tuple[str, str]] = set()

    def add(self, part: Checked) -> None:
        """Add what came of the next part."""
        self.objects += part.objects
        self.libraries += part.libraries
        self.packages += part.packages
        self.failures += part.failures
        for finding in part.findings:
            self._counts[finding.rule.code] += 1
            if self._counts[finding.rule.code] <= MOST_OF_A_RULE:
                self.findings.append(finding)
            else:
                self.cut.setdefault(finding.rule, finding.file)
        for rule, file in part.cut:
            self.cut.setdefault(rule, file)
        ops, socs, declared, built = part.coverage
        if len(self._ops) + len(self._declared) + len(self._built) < MOST_COVERED:
            self._ops |= ops
            self._socs |= socs
            self._declared |= declared
            self._built |= built

    @property
    def coverage(self) -> Coverage:
        """What all packages have together."""
        return Coverage(
            frozenset(self._ops),
            frozenset(self._socs),
            frozenset(self._declared),
            frozenset(self._built),
        )

    @property
    def checked(self) -> Checked:
        """The sum as a part."""
        return Checked(
            tuple(self.findings),
            self.objects,
            self.libraries,
            self.packages,
            tuple(self.failures),
            self.coverage,
            tuple(self.cut.items()),
        )
