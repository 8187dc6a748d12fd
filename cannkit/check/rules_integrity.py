"""Rules of integrity: can the object be read, do its parts fit together. K001 to K099. Spec 01."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, Rule, rule
from cannkit.check.rules_image import OBJECT_RULES as IMAGE_RULES
from cannkit.check.rules_meta import OBJECT_RULES as RECORD_RULES
from cannkit.check.rules_sidecar import OBJECT_RULES as SIDECAR_RULES
from cannkit.check.subject import ObjectSubject, UnreadableSubject
from cannkit.errors import sentence

K003 = rule(
    "K003",
    "unreadable object",
    Level.ERROR,
    why="Neither the runtime nor cannkit can make anything of the file.",
    fix="Build or copy it again; a file that was cut off ends before its section headers.",
    spec="ELF-01 SEC-03",
)
K004 = rule(
    "K004",
    "a part of the object lies outside the file",
    Level.ERROR,
    why="The runtime does not check this and reads beyond the object's end.",
    fix="Build the object again; do not strip or patch it.",
    spec="HAZ-04 HAZ-06 HAZ-08 HAZ-15",
)
K045 = rule(
    "K045",
    "symbol table skipped",
    Level.WARNING,
    why="The runtime looks for kernels in another table, if there is one.",
    fix="Build the object again; do not strip or patch it.",
    spec="SYM-02",
)
K046 = rule(
    "K046",
    "byte order not given",
    Level.NOTE,
    why="The runtime reads the object as little endian.",
    fix="Set EI_DATA to 1.",
    spec="ELF-01",
)
K047 = rule(
    "K047",
    "SONAME cannot be read",
    Level.WARNING,
    why="The runtime reads it beyond the file's end.",
    fix="Build the object again.",
    spec="SEC-10 HAZ-08",
)
K048 = rule(
    "K048",
    "container is odd",
    Level.WARNING,
    why="The library that embeds the object was not packed as the toolkit does.",
    fix="Pack the kernels again.",
    spec="CON-02",
)
K049 = rule(
    "K049",
    "more remarks than are told",
    Level.NOTE,
    why="An object with so many remarks may hide another one.",
    fix="Repair what is told first.",
)

REMARKS: Final[Mapping[str, Rule]] = {
    "symbol-table": K045,
    "byte-order": K046,
    "dynamic-extent": K047,
    "fatbin-type": K048,
    "fatbin-tail": K048,
    "more-warnings": K049,
}


def check_unreadable(subject: UnreadableSubject) -> Iterator[Finding]:
    """K003: an object that cannot be read."""
    error = subject.error
    where = None if error.where == subject.item.file else error.where
    yield Finding(K003, subject.place, where, sentence(error.what, None, error.why))


def check_extents(subject: ObjectSubject) -> Iterator[Finding]:
    """K004: what cannkit refuses because the runtime would read out of bounds."""
    for refusal in subject.obj.refusals:
        if not refusal.rt:
            yield Finding(K004, subject.place, None, f"{refusal.message} ({refusal.rule})")


def check_remarks(subject: ObjectSubject) -> Iterator[Finding]:
    """K045 to K049: what the readers of the file and its container remarked."""
    for code, where, message in subject.obj.warnings:
        found = REMARKS.get(code)
        if found is not None:
            yield Finding(found, subject.place, where, message)


OBJECT_RULES: Final = (
    *SIDECAR_RULES,
    check_extents,
    check_remarks,
    *RECORD_RULES,
    *IMAGE_RULES,
)
