"""Fields of a queue entry or of a mix context in documents. cli.md, section 6."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, Self

from cannkit.format.bits import WORD, Record, Span, span_mask
from cannkit.format.sqe import RECORDS, v100
from cannkit.report.base import U64, Address, document
from cannkit.report.sqe_meaning import meaning_of

DOUBLE: Final = 53  # bits of a whole number that every JSON reader keeps
HEADER_WORDS: Final = 2
HEADERS: Final = tuple(records["header"] for records in RECORDS.values())


@document
class FieldEntry:
    """A field, and what its value means.

    `bits` are counted from bit 0 of `word` on; `0-31,64-79` lies in two places, its lowest bits in
    the first. An address is `0x` text, another value of 64 bits decimal text. `reserved` are bits
    without a name that are set; `w2` is a whole word of which nothing is known.
    """

    word: int
    bits: str
    name: str
    value: int | U64 | Address
    meaning: str
    c_name: str | None

    @classmethod
    def of(cls, record: Record, name: str, span: Span, value: int) -> Self:
        """The entry of a field of a record."""
        word = min(piece.lo for piece in span.pieces) // WORD
        return cls(
            word=word,
            bits=",".join(_range(piece.lo - word * WORD, piece.width) for piece in span.pieces),
            name=name,
            value=_plain(value, span),
            meaning=meaning_of(record, name, span, value),
            c_name=span.c_name,
        )

    @classmethod
    def all_of(cls, record: Record) -> tuple[Self, ...]:
        """The fields of a record from the lowest bit on, and what else is set."""
        known = HEADER_WORDS if type(record) in HEADERS else 8 * record.SIZE // WORD
        rest = record.encode()[known * WORD // 8 :]
        fields = [cls.of(record, *row) for row in record.rows()]
        fields += [*cls.reserved_of(record, known), *cls.words_of(rest, known)]
        return tuple(sorted(fields, key=_place))

    @classmethod
    def reserved_of(cls, record: Record, words: int) -> Iterator[Self]:
        """Bits without a name that are set in the first words."""
        named = sum(map(span_mask, record.SPANS.values()))
        for word in range(words):
            lo, end = word * WORD, (word + 1) * WORD
            while lo < end:
                width = next((at for at in range(end - lo) if named >> lo + at & 1), end - lo)
                if value := record.residue >> lo & (1 << width) - 1:
                    bits = _range(lo % WORD, width)
                    yield cls(word, bits, "reserved", value, "not 0 as it should be", None)
                lo += max(width, 1)

    @classmethod
    def words_of(cls, raw: bytes, first: int = 0) -> Iterator[Self]:
        """Words of which nothing is known."""
        for at, (word,) in enumerate(struct.iter_unpack("<I", raw), first):
            yield cls(at, _range(0, WORD), f"w{at}", word, "", None)


@document
class ContextEntry:
    """The context of a mix."""

    size: int
    hex: str
    fields: tuple[FieldEntry, ...]

    @classmethod
    def of(cls, context: v100.MixContext) -> Self:
        """The entry of a context."""
        raw = context.encode()
        return cls(len(raw), raw.hex(), FieldEntry.all_of(context))


def _place(field: FieldEntry) -> tuple[int, int]:
    return field.word, min(int(bits.split("-")[0]) for bits in field.bits.split(","))


def _plain(value: int, span: Span) -> int | str:
    if span.is_address:
        return hex(value)
    return str(value) if span.width > DOUBLE else int(value)


def _range(lo: int, width: int) -> str:
    return str(lo) if width == 1 else f"{lo}-{lo + width - 1}"
