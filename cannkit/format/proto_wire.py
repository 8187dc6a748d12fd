"""The wire format of protobuf: varints, fields, what a reader makes of them. Spec 07, section 3.

As much of it as the messages of an AI CPU operator need. A reader takes the fields of one message
apart (`read_fields`) and asks for them by number; a field of another wire type than asked for is one
that the message does not have.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from cannkit.errors import FormatError

VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)  # wire types
FIXED_SIZE: Final = {FIXED64: 8, FIXED32: 4}
DEPTH: Final = 100  # of groups in groups, as in protobuf
LONGEST_VARINT: Final = 10
LONGEST_KEY: Final = 5
U32: Final = (1 << 32) - 1
U64: Final = (1 << 64) - 1
I32_RANGE: Final = range(-(1 << 31), 1 << 31)
I64_RANGE: Final = range(-(1 << 63), 1 << 63)
SHORT: Final = tuple(bytes([number]) for number in range(0x80))


def varint(value: int) -> bytes:
    """A number of up to 64 bits; a negative one takes 10 bytes (OPR-302)."""
    if 0 <= value < 0x80:
        return SHORT[value]
    rest = value & U64
    raw = bytearray()
    while rest > 0x7F:
        raw.append(rest & 0x7F | 0x80)
        rest >>= 7
    raw.append(rest)
    return bytes(raw)


def key(number: int, wire: int) -> bytes:
    """What stands before the value of field `number`."""
    return varint(number << 3 | wire)


def delimited(head: bytes, value: bytes) -> bytes:
    """A field of bytes, text or a message behind its key."""
    size = len(value)
    return head + (SHORT[size] if size < 0x80 else varint(size)) + value


class Field(NamedTuple):
    """One field as it stands in a message: `value` is a number, or the bytes of a `BYTES` field."""

    number: int
    wire: int
    value: int | bytes


class Fields:
    """The fields of one message, asked for by number."""

    __slots__ = ("_where", "ordered")

    def __init__(self, ordered: list[Field], where: str) -> None:
        self.ordered = ordered
        self._where = where

    def chunks(self, number: int) -> list[bytes]:
        """Every value of a repeated field of bytes or messages."""
        return [
            field.value
            for field in self.ordered
            if field.number == number and isinstance(field.value, bytes)
        ]

    def message(self, number: int, where: str) -> Fields | None:
        """The fields of a message field, None when it is not there."""
        found = self.chunks(number)
        return read_merged(found, where) if found else None

    def text(self, number: int) -> str:
        """A string field, the last one given; raises FormatError when it is not UTF-8."""
        texts = [self._utf8(raw) for raw in self.chunks(number)]
        return texts[-1] if texts else ""

    def number(self, number: int) -> int:
        """A varint field, 0 when it is not there: 64 bits without sign."""
        found = 0
        for field in self.ordered:
            if field.number == number and field.wire == VARINT:
                found = int(field.value)
        return found

    def numbers(self, number: int) -> list[int]:
        """A repeated varint field, packed or not."""
        found: list[int] = []
        for field in self.ordered:
            if field.number != number:
                continue
            if isinstance(field.value, bytes):
                found += self._packed(field.value)
            elif field.wire == VARINT:
                found.append(field.value)
        return found

    def floats(self, number: int) -> list[float]:
        """A repeated float field, packed or not."""
        raw: list[bytes] = []
        for field in self.ordered:
            if field.number != number:
                continue
            if isinstance(field.value, bytes):
                if len(field.value) % 4:
                    raise malformed(self._where, "packed floats that end within one")
                raw.append(field.value)
            elif field.wire == FIXED32:
                raw.append(field.value.to_bytes(4, "little"))
        return [value for (value,) in struct.iter_unpack("<f", b"".join(raw))]

    def _utf8(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise malformed(self._where, "text that is not UTF-8") from None

    def _packed(self, raw: bytes) -> Iterator[int]:
        at = 0
        while at < len(raw):
            value, at = _varint_at(raw, at, self._where)
            yield value


def read_fields(raw: bytes, where: str) -> Fields:
    """The fields of a message; `where` names it in errors.

    Raises FormatError for what protobuf does not parse (OPR-303).
    """
    ordered: list[Field] = []
    groups: list[int] = []
    at, size = 0, len(raw)
    while at < size:
        head, after = _varint_at(raw, at, where)
        number, wire = head >> 3, head & 7
        if not number or head > U32 or after - at > LONGEST_KEY:
            raise malformed(where, f"a field that has no number at offset {at}")
        at = after
        value: int | bytes = 0
        if wire == VARINT:
            value, at = _varint_at(raw, at, where)
        elif wire == BYTES or wire in FIXED_SIZE:
            length = FIXED_SIZE.get(wire, 0)
            if not length:
                length, at = _varint_at(raw, at, where)
            if length > size - at:
                why = f"field {number} takes {length} bytes, {size - at} are left"
                raise malformed(where, why)
            value = raw[at : at + length]
            at += length
            if wire != BYTES:
                value = int.from_bytes(value, "little")
        elif wire == GROUP:
            if len(groups) == DEPTH:
                raise malformed(where, f"more than {DEPTH} groups within each other")
            groups.append(number)
            continue
        elif wire == GROUP_END and groups and groups[-1] == number:
            groups.pop()
            continue
        else:
            raise malformed(where, f"field {number} has wire type {wire}")
        if not groups:  # no message here has groups: what is in one is unknown
            ordered.append(Field(number, wire, value))
    if groups:
        raise malformed(where, f"the group of field {groups[-1]} has no end")
    return Fields(ordered, where)


def read_merged(chunks: Iterable[bytes], where: str) -> Fields:
    """A message that stands more than once: protobuf reads the later fields behind the earlier."""
    return Fields([field for raw in chunks for field in read_fields(raw, where).ordered], where)


def as_i32(value: int) -> int:
    """A varint as an int32 field reads it."""
    return ((value & U32) ^ 1 << 31) - (1 << 31)


def as_i64(value: int) -> int:
    """A varint as an int64 field reads it."""
    return (value ^ 1 << 63) - (1 << 63)


def packed(values: Iterable[int]) -> bytes:
    """Varints one after the other."""
    return b"".join(map(varint, values))


def malformed(where: str, why: str) -> FormatError:
    """The error of bytes that are no such message."""
    return FormatError(f"malformed {where}", why=why, rule="OPR-303")


def _varint_at(raw: bytes, at: int, where: str) -> tuple[int, int]:
    """The number at `at`, and where the next thing starts; bits above 64 are dropped."""
    if at < len(raw) and raw[at] < 0x80:
        return raw[at], at + 1
    value = shift = 0
    for end, byte in enumerate(raw[at : at + LONGEST_VARINT], at + 1):
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & U64, end
        shift += 7
    why = "a number goes on" if len(raw) - at >= LONGEST_VARINT else "it ends within a number"
    raise malformed(where, why)
