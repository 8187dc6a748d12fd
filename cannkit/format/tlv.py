"""The TLV walk, and the language of a TLV table. Spec 01, section 4.

A table maps a type to an `Entry`: the struct layout of the value and the names of its fields. The
reader decodes with it, the builder of test objects encodes with it, the report names fields by it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from cannkit.format.elf_types import PREFIX, ByteOrder

HEAD = 4  # TLV-01: u16 type, u16 length of the value
HEAD_STRUCT = {order: struct.Struct(prefix + "HH") for order, prefix in PREFIX.items()}

Kind = Callable[[int], int]


def wide(value: int) -> int:
    """Mark a field as a 64-bit value that is no size: JSON writes it as text."""
    return value


class Tlv(NamedTuple):
    """One record: `offset` is that of its header in the file, `raw` the value's bytes."""

    type: int
    offset: int
    raw: bytes

    @property
    def is_padding(self) -> bool:
        """TLV-03: four zero bytes, put between records by the linker."""
        return self.type == 0 and not self.raw


class Entry:
    """The value of one TLV type: fields of fixed width, named in the order of the layout."""

    __slots__ = ("_kinds", "_structs", "fields", "size")

    def __init__(self, layout: str, **fields: Kind) -> None:
        self._structs = {order: struct.Struct(prefix + layout) for order, prefix in PREFIX.items()}
        self.fields: Mapping[str, Kind] = fields
        self.size = self._structs["little"].size
        self._kinds = {name: kind for name, kind in fields.items() if kind not in (int, wide)}

    def fits(self, length: int) -> bool:
        """Whether a value of `length` bytes is as long as the format says."""
        return length == self.size

    def decode(self, raw: bytes, order: ByteOrder) -> dict[str, int] | None:
        """The fields of a value; None when it is too short to hold them (HAZ-06)."""
        if len(raw) < self.size:
            return None
        numbers = self._structs[order].unpack_from(raw)
        value: dict[str, int] = dict(zip(self.fields, numbers, strict=True))
        for name, kind in self._kinds.items():
            value[name] = kind(value[name])
        return value

    def encode(self, order: ByteOrder, **values: int) -> bytes:
        """The bytes of a value; a field that is not given is 0."""
        return self._structs[order].pack(*(values.get(name, 0) for name in self.fields))


class UintEntry(Entry):
    """One unsigned integer as wide as the record is long. FUN-10: 1 to 8 bytes, cut to u32."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__("I", **{name: int})
        self.name = name

    def fits(self, length: int) -> bool:
        """Whether the runtime reads an integer of this width."""
        return 1 <= length <= 8

    def decode(self, raw: bytes, order: ByteOrder) -> dict[str, int]:
        """The integer; 0 for a width the runtime does not read."""
        value = int.from_bytes(raw, order) & 0xFFFF_FFFF if self.fits(len(raw)) else 0
        return {self.name: value}


def walk(section: memoryview, order: ByteOrder, base: int) -> tuple[list[Tlv], int]:
    """The records of a section that starts at file offset `base`, and the bytes they take.

    TLV-02: a record that does not fit ends the walk, and so do 4 bytes or less at the end.
    """
    unpack = HEAD_STRUCT[order].unpack_from
    records: list[Tlv] = []
    size = len(section)
    at = 0
    while size - at > HEAD:  # runtime: an empty last TLV is not read
        kind, length = unpack(section, at)
        end = at + HEAD + length
        if end > size:
            break
        records.append(Tlv(kind, base + at, bytes(section[at + HEAD : end])))
        at = end
    return records, at


def encode_tlv(kind: int, value: bytes, order: ByteOrder) -> bytes:
    """A record with its header."""
    return HEAD_STRUCT[order].pack(kind, len(value)) + value
