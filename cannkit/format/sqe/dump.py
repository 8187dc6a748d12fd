"""Entries in what a user pastes: bytes in the right order, a family, a context beside its entry.

Spec 04, section 7 and LCH-60. A mistake about the byte order is found out and told (Q-28).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from cannkit.errors import FormatError, ReadWarning
from cannkit.format.sqe import (
    SQE_SIZE,
    Family,
    decode_sqe,
    guess_family,
    is_context,
    is_plausible,
    v100,
)
from cannkit.format.sqe.log_lines import LogReader
from cannkit.format.sqe.printed import UNITS, Found, stray_digit

MOST_WARNINGS: Final = 20
WINDOW: Final = 16  # entries between that of a mix and its context
ORDER: Final = {1: "bytes", 2: "16-bit words", 4: "32-bit words", 8: "64-bit words"}


class Evidence(StrEnum):
    """Why an entry is taken for one of its family."""

    SOC = "soc"  # somebody said so
    LABEL = "label"  # its log line does
    BYTES = "bytes"  # they look like it
    NONE = "none"  # nothing tells


class Dump(NamedTuple):
    """An entry of 64 bytes, or a context of 128 without its entry, as it lies in memory.

    `line` is where it begins, from 1; `label` that of the log, if there is one.
    """

    raw: bytes
    family: Family | None
    evidence: Evidence
    label: str
    line: int
    notes: tuple[str, ...] = ()
    context: bytes | None = None

    @property
    def is_context(self) -> bool:
        """Whether it is no entry."""
        return len(self.raw) != SQE_SIZE

    @property
    def is_alone(self) -> bool:
        """Whether its other half may still come: the context of a mix, or the mix of a context."""
        return self.is_context or (self.context is None and self.mix is not None)

    @property
    def mix(self) -> v100.MixSqe | None:
        """The entry, if it has a context."""
        if self.is_context or self.family is not Family.V100:
            return None
        sqe = decode_sqe(self.raw, self.family)
        return sqe if isinstance(sqe, v100.MixSqe) else None


class DumpReader:
    """Reads entries out of a text; `warnings` tells what is not complete, and grows meanwhile."""

    def __init__(self, family: Family | None = None) -> None:
        self._family = family
        self._dropped = 0
        self._first = ""  # line
        self._warnings: list[ReadWarning] = []

    @property
    def warnings(self) -> tuple[ReadWarning, ...]:
        """The first of them, and how many more there are."""
        if not self._dropped:
            return tuple(self._warnings)
        more = ReadWarning("more", "further on", f"{self._dropped:,} more of these")
        return *self._warnings, more

    def read(self, lines: Iterable[str | None]) -> Iterator[Dump]:
        """The entries in order, each as soon as its context can no longer come. LCH-80 to LCH-82."""
        window: list[Dump] = []
        for found in self._found(lines):
            dump = self._dump(found)
            partner = next((each for each in reversed(window) if _belong(each, dump)), None)
            if partner is None:
                window.append(dump)
            elif dump.is_context:
                window[window.index(partner)] = partner._replace(context=dump.raw)
            else:
                window.remove(partner)
                window.append(dump._replace(context=partner.raw))
            while window and (len(window) > WINDOW or not window[0].is_alone):
                yield window.pop(0)
        yield from window

    def nothing(self, where: str, hint: str | None = None) -> FormatError:
        """The error of a text without any complete entry."""
        if self._warnings:
            line, why = self._warnings[0].where, self._warnings[0].message
            what = "no complete queue entry found"
            return FormatError(what, where=f"{where}, {line}", why=why, hint=hint)
        stray = stray_digit(self._first)
        why = stray or "neither 64 bytes of hex nor log lines that show an entry"
        return FormatError("no queue entry found", where=where, why=why, hint=hint)

    def _found(self, lines: Iterable[str | None]) -> Iterator[Found]:
        text = LogReader(self._warn)
        for number, line in enumerate(lines, 1):
            self._first = self._first or line or ""
            yield from text.take(number, line)
        yield from text.end()

    def _warn(self, line: int, message: str) -> None:
        if len(self._warnings) < MOST_WARNINGS:
            self._warnings.append(ReadWarning("incomplete", f"line {line}", message))
        else:
            self._dropped += 1

    def _dump(self, found: Found) -> Dump:
        """Found bytes in order, and their family."""
        family = self._family or found.family
        evidence = Evidence.SOC if self._family else Evidence.LABEL if family else Evidence.BYTES
        raw, notes = _ordered(found, family)
        if len(raw) != SQE_SIZE:
            evidence = Evidence.LABEL if found.label else Evidence.BYTES
            return Dump(raw, Family.V100, evidence, found.label, found.line, notes)
        guess = guess_family(raw)
        if family is None and guess is None:
            evidence = Evidence.NONE
        elif family is not None and guess not in (None, family):
            notes = (*notes, f"by its bytes it looks like an entry of {guess}")
        if self._family and found.family not in (None, self._family):
            notes = (*notes, f"the label {found.label!r} is one of {found.family}")
        return Dump(raw, family or guess, evidence, found.label, found.line, notes)


def _ordered(found: Found, family: Family | None) -> tuple[bytes, tuple[str, ...]]:
    """The bytes as memory has them: in the order of print, or in the first that makes sense. Q-28.

    An entry that makes sense to another family stays as it is: then the family is the mistake.
    """
    for unit in sorted(UNITS, key=lambda unit: unit != found.unit):
        raw = found.in_order(unit)
        is_entry = len(raw) == SQE_SIZE
        good = is_plausible(raw, family) if is_entry else is_context(raw)
        if unit == found.unit and (good or (is_entry and is_plausible(raw))):
            return raw, found.notes
        if good:
            note = f"read as {ORDER[unit]}: as {ORDER[found.unit]} it would be byte-swapped"
            return raw, (*found.notes, note)
    return found.in_order(found.unit), found.notes


def _belong(one: Dump, other: Dump) -> bool:
    """Whether of two one is the entry of a mix without its context, and the other its context."""
    if one.is_context == other.is_context:
        return False
    sqe, context = (other.mix, one.raw) if one.is_context else (one.mix, other.raw)
    entry = other if one.is_context else one
    if sqe is None or entry.context is not None:
        return False
    mix = v100.MixContext.decode(context)
    sides = (mix.context_type, v100.ContextType.DCACHE_LOCK)
    return sqe.sub_type in sides and sqe.block_dim == mix.block_dim
