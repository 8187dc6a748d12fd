"""Attributes of a NodeDef: their kinds, values and bytes. Spec 07, section 3 (OPR-301, OPR-307)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from itertools import groupby
from typing import Any, Final, NamedTuple

from cannkit.errors import FormatError, brief
from cannkit.format.node_tensor import (
    number_bytes,
    read_shape,
    read_tensor,
    shape_bytes,
    tensor_bytes,
)
from cannkit.format.proto_wire import (
    BYTES,
    FIXED32,
    I32_RANGE,
    I64_RANGE,
    VARINT,
    Field,
    Fields,
    as_i32,
    as_i64,
    delimited,
    read_fields,
    read_merged,
)


class AttrKind(StrEnum):
    """What an attribute is, and so the type of its value."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STRING = "string"  # bytes; str is encoded as UTF-8
    TYPE = "type"  # the number of an OpDtype
    INTS = "ints"
    FLOATS = "floats"
    BOOLS = "bools"
    TYPES = "types"
    STRINGS = "strings"
    LISTLIST = "listlist"
    SHAPE = "shape"  # NodeShape
    SHAPES = "shapes"
    TENSOR = "tensor"  # NodeTensor
    TENSORS = "tensors"
    EMPTY = "empty"  # (): a list without elements, whose bytes do not say of what
    MIXED = "mixed"  # a tuple of Attr: a list with elements of several kinds
    NONE = "none"  # None: an entry without value


class Attr(NamedTuple):
    """An attribute: its kind, and a value of the type that belongs to this kind."""

    kind: AttrKind
    value: Any


NO_VALUE: Final = Attr(AttrKind.NONE, None)
EMPTY_LIST: Final = Attr(AttrKind.EMPTY, ())


def attr_bytes(attr: Attr) -> bytes:
    """An AttrValue; its member is written even when it is zero (OPR-302).

    Raises FormatError for a value that is not of the kind or does not fit.
    """
    kind, value = attr
    try:
        if one := _ONE.get(kind):
            return one(value)
        if kind == AttrKind.MIXED:
            parts = {part.kind: part.value for part in value}
        else:
            parts = {AttrKind(kind): value}
        array = b"".join([many(parts[name]) for name, many in _MANY.items() if parts.get(name)])
        return delimited(b"\x0a", array)
    except UnicodeEncodeError:
        raise
    except (AttributeError, OverflowError, TypeError, ValueError, struct.error) as error:
        why = f"{brief(repr(value))} is no value of kind {kind}"
        raise FormatError("cannot encode the attribute", why=why, rule="OPR-307") from error


def read_attr(chunks: Iterable[bytes], where: str) -> Attr:
    """The AttrValue in `chunks`; of several members the last one counts. Raises FormatError."""
    members = [
        field
        for field in read_merged(chunks, where).ordered
        if _MEMBER_WIRES.get(field.number) == field.wire
    ]
    found = NO_VALUE
    for number, run in groupby(members, key=lambda field: field.number):
        found = _read_member(number, list(run), where)
    return found


def _text_bytes(head: bytes, value: bytes | str) -> bytes:
    return delimited(head, value.encode() if isinstance(value, str) else bytes(memoryview(value)))


def _float_bytes(value: float) -> bytes:
    return struct.pack("<f", value)


def _packed_bytes(head: bytes, values: Iterable[int], allowed: range) -> bytes:
    return delimited(head, b"".join([number_bytes(b"", value, allowed) for value in values]))


def _rows_bytes(rows: Iterable[Iterable[int]]) -> bytes:
    return b"".join([delimited(b"\x0a", _row_bytes(row)) for row in rows])


def _row_bytes(row: Iterable[int]) -> bytes:
    values = list(row)
    return _packed_bytes(b"\x0a", values, I64_RANGE) if values else b""


_BOOL_RANGE: Final = range(2)
_Bytes = Callable[[Any], bytes]
_ONE: Final[Mapping[AttrKind, _Bytes]] = {
    AttrKind.STRING: lambda value: _text_bytes(b"\x12", value),
    AttrKind.INT: lambda value: number_bytes(b"\x18", value, I64_RANGE),
    AttrKind.FLOAT: lambda value: b"\x25" + _float_bytes(value),
    AttrKind.BOOL: lambda value: number_bytes(b"\x28", value, _BOOL_RANGE),
    AttrKind.TYPE: lambda value: number_bytes(b"\x30", value, I32_RANGE),
    AttrKind.SHAPE: lambda value: delimited(b"\x3a", shape_bytes(*value)),
    AttrKind.TENSOR: lambda value: delimited(b"\x42", tensor_bytes(value)),
    AttrKind.LISTLIST: lambda value: delimited(b"\x4a", _rows_bytes(value)),
    AttrKind.NONE: lambda _: b"",
}
_MANY: Final[Mapping[AttrKind, _Bytes]] = {  # in number order
    AttrKind.STRINGS: lambda values: b"".join([_text_bytes(b"\x12", value) for value in values]),
    AttrKind.INTS: lambda values: _packed_bytes(b"\x1a", values, I64_RANGE),
    AttrKind.FLOATS: lambda values: delimited(b"\x22", b"".join(map(_float_bytes, values))),
    AttrKind.BOOLS: lambda values: _packed_bytes(b"\x2a", values, _BOOL_RANGE),
    AttrKind.TYPES: lambda values: _packed_bytes(b"\x32", values, I32_RANGE),
    AttrKind.SHAPES: lambda values: b"".join(
        [delimited(b"\x3a", shape_bytes(*value)) for value in values]
    ),
    AttrKind.TENSORS: lambda values: b"".join(
        [delimited(b"\x42", tensor_bytes(value)) for value in values]
    ),
}
_MEMBER_WIRES: Final = {
    1: BYTES, 2: BYTES, 3: VARINT, 4: FIXED32, 5: VARINT, 6: VARINT, 7: BYTES, 8: BYTES, 9: BYTES
}  # fmt: skip


def _read_member(number: int, run: list[Field], where: str) -> Attr:
    """The value of a member that stands in `run`, once or several times in a row."""
    last = run[-1].value
    if isinstance(last, int):
        return _read_number(number, last)
    chunks = [field.value for field in run if isinstance(field.value, bytes)]
    if number == 2:
        return Attr(AttrKind.STRING, last)
    if number == 7:
        return Attr(AttrKind.SHAPE, read_shape(chunks, where))
    if number == 8:
        return Attr(AttrKind.TENSOR, read_tensor(chunks, where))
    if number == 9:
        rows = [read_fields(raw, where) for raw in read_merged(chunks, where).chunks(1)]
        return Attr(AttrKind.LISTLIST, tuple(tuple(map(as_i64, row.numbers(1))) for row in rows))
    return _read_array(read_merged(chunks, where), where)


def _read_number(number: int, value: int) -> Attr:
    if number == 3:
        return Attr(AttrKind.INT, as_i64(value))
    if number == 4:
        return Attr(AttrKind.FLOAT, struct.unpack("<f", value.to_bytes(4, "little"))[0])
    if number == 5:
        return Attr(AttrKind.BOOL, bool(value))
    return Attr(AttrKind.TYPE, as_i32(value))


def _read_array(array: Fields, where: str) -> Attr:
    parts = [
        Attr(AttrKind.STRINGS, tuple(array.chunks(2))),
        Attr(AttrKind.INTS, tuple(map(as_i64, array.numbers(3)))),
        Attr(AttrKind.FLOATS, tuple(array.floats(4))),
        Attr(AttrKind.BOOLS, tuple(map(bool, array.numbers(5)))),
        Attr(AttrKind.TYPES, tuple(map(as_i32, array.numbers(6)))),
        Attr(AttrKind.SHAPES, tuple(read_shape([raw], where) for raw in array.chunks(7))),
        Attr(AttrKind.TENSORS, tuple(read_tensor([raw], where) for raw in array.chunks(8))),
    ]
    filled = [part for part in parts if part.value]
    if len(filled) > 1:
        return Attr(AttrKind.MIXED, tuple(filled))
    return filled[0] if filled else EMPTY_LIST
