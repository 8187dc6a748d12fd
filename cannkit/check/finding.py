"""Finding: what a rule says of a file; Rule: its code, title, and why it matters. cli.md, section 9."""

from __future__ import annotations

from difflib import get_close_matches
from enum import IntEnum
from typing import Final, NamedTuple

from cannkit.errors import UsageError, brief


class Level(IntEnum):
    """How grave a finding is; `--fail-on` compares."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        """As the command line and documents call it."""
        return self.name.lower()


class Rule(NamedTuple):
    """A rule. `code` is stable: K and three digits; `why` it matters, `fix` what to do, `spec` its rules.

    Hundreds: 0 integrity, 1 runtime, 2 chip, 3 package, 4 AI CPU.
    """

    code: str
    title: str
    level: Level
    why: str
    fix: str
    spec: tuple[str, ...] = ()


class Finding(NamedTuple):
    """What a rule found: in which file (and member, behind `!`), where in it, and what."""

    rule: Rule
    file: str
    where: str | None
    message: str


RULES: Final[dict[str, Rule]] = {}


def rule(code: str, title: str, level: Level, *, why: str, fix: str, spec: str = "") -> Rule:
    """Make a rule and remember it: a constant of its code, beside the function that applies it."""
    made = Rule(code, title, level, why, fix, tuple(spec.split()))
    if code in RULES:
        raise UsageError(f"two rules are called {code}")
    RULES[code] = made
    return made


def find_rule(code: str) -> Rule:
    """The rule of a code; raises UsageError with the nearest ones."""
    found = RULES.get(code.upper())
    if found is None:
        near = get_close_matches(code.upper(), RULES, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "`cannkit check --list` lists them"
        raise UsageError(f"unknown rule {brief(code)!r}", hint=hint)
    return found
