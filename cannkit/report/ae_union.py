"""The union of HwtsTsKernel in documents: every field of each reading. cli.md, section 8."""

from __future__ import annotations

from typing import Final, Self

from cannkit.format.ae_event import BASE, AeRecord, Reading, TsKernel
from cannkit.format.codec import Span
from cannkit.report.base import U64, Address, document

BYTE: Final = 8
DOUBLE: Final = 53  # bits of a whole number that every JSON reader keeps


@document
class UnionField:
    """A field: where it lies in HwtsTsKernel, and its value, null where a cloud build cuts it off.

    `bit` and `width` are those of a bit field in its byte, null for a whole field.
    """

    name: str
    offset: int
    size: int
    value: int | U64 | Address | None
    bit: int | None
    width: int | None

    @classmethod
    def of(cls, reading: Reading, name: str, span: Span) -> Self:
        """The entry of a field of a reading."""
        at, bit = divmod(span.lo, BYTE)
        is_whole = span.width % BYTE == 0
        size = -(-(bit + span.width) // BYTE)
        return cls(
            name=span.c_name,
            offset=BASE + at,
            size=size,
            value=_value(reading.record, name, span) if at + size <= reading.present else None,
            bit=None if is_whole else bit,
            width=None if is_whole else span.width,
        )


@document
class UnionEntry:
    """A member of the union. `live`: a lib of the engine reads this one; `note` says which."""

    member: str
    live: bool
    fields: tuple[UnionField, ...]
    note: str

    @classmethod
    def of(cls, kernel: TsKernel) -> tuple[Self, ...]:
        """The entries of a task."""
        return tuple(map(cls._of, kernel.readings()))

    @classmethod
    def _of(cls, reading: Reading) -> Self:
        spans = reading.record.SPANS.items()
        fields = tuple(UnionField.of(reading, name, span) for name, span in spans)
        return cls(reading.member.c_name, reading.live, fields, reading.note)


def _value(record: AeRecord, name: str, span: Span) -> int | str:
    value: int = getattr(record, name)
    if span.is_address:
        return hex(value)
    if span.width > DOUBLE:
        return str(value)
    shown = record.value_of(name)
    assert isinstance(shown, int)
    return int(shown)
