"""The document of `cannkit diff`: what changed between two objects or packages. cli.md, section 9."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, Self

from cannkit.diff.change import Change, Effect, Value
from cannkit.diff.packages import Difference
from cannkit.diff.side import Side
from cannkit.inputs.contents import place_of
from cannkit.report.base import Document, ErrorEntry, FileError, document, printable

EffectWord = Literal["breaking", "behaviour", "size"]


@document
class ChangeEntry:
    """One difference. `kind` names the fact, `subject` what has it; null stands for what is not there.

    A kernel, object, operator or SoC that is gone or new has what it is found by, or how many kernels or
    objects it holds. `file` is the object by its path below A, null where both are one object.
    """

    class_: EffectWord
    kind: str
    subject: str
    before: int | str | tuple[str, ...] | None
    after: int | str | tuple[str, ...] | None
    file: str | None
    kernel: str | None

    @classmethod
    def of(cls, change: Change) -> Self:
        """The entry of a change."""
        return cls(
            class_=change.effect.value,
            kind=printable(change.kind),
            subject=printable(change.subject),
            before=_value(change.before),
            after=_value(change.after),
            file=None if change.file is None else printable(change.file),
            kernel=None if change.kernel is None else printable(change.kernel),
        )


@document
class DiffTotals:
    """How many changes of each class there are, and how many objects."""

    breaking: int
    behaviour: int
    size: int
    objects_a: int
    objects_b: int
    compared: int


@document
class DiffDocument(Document):
    """All changes, breaking ones first. `errors` are objects that could not be read, on either side."""

    SCHEMA: ClassVar[str] = "cannkit.diff/1"
    changes: tuple[ChangeEntry, ...]
    error: ErrorEntry | None
    a: str
    b: str
    totals: DiffTotals
    errors: tuple[FileError, ...]

    @classmethod
    def of(cls, names: tuple[str, str], sides: tuple[Side, Side], found: Difference) -> Self:
        """The document of a comparison of two arguments by their names."""
        changes = found.changes
        counts = Counter(change.effect for change in changes)
        a, b = sides
        totals = DiffTotals(
            breaking=counts[Effect.BREAKING],
            behaviour=counts[Effect.BEHAVIOUR],
            size=counts[Effect.SIZE],
            objects_a=len(a.members),
            objects_b=len(b.members),
            compared=found.compared,
        )
        return cls(
            changes=tuple(map(ChangeEntry.of, changes)),
            error=None,
            a=printable(names[0]),
            b=printable(names[1]),
            totals=totals,
            errors=tuple(_errors(sides)),
        )

    def fails(self, fail_on: str) -> bool:
        """Whether there is a change that `--fail-on` asks for."""
        if fail_on == "breaking":
            return self.totals.breaking > 0
        return fail_on == "any" and bool(self.changes)


def _errors(sides: Sequence[Side]) -> Iterable[FileError]:
    return (FileError.of(place_of(item), error) for side in sides for item, error in side.errors)


def _value(value: Value) -> Value:
    if isinstance(value, str):
        return printable(value)
    return tuple(map(printable, value)) if isinstance(value, tuple) else value
