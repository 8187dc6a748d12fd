"""Tensor and TensorShape of a NodeDef: values and bytes. Spec 07, section 3 (OPR-301)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from cannkit.errors import FormatError
from cannkit.format.proto_wire import (
    I32_RANGE,
    I64_RANGE,
    SHORT,
    U64,
    Fields,
    as_i32,
    as_i64,
    delimited,
    read_fields,
    read_merged,
    varint,
)

ND: Final = 2  # the format when nobody says one (OPR-305)
SMALL_DIMS: Final = (b"\x12\x00", *(b"\x12\x02\x08" + short for short in SHORT[1:]))


class NodeShape(NamedTuple):
    """A TensorShape: dimensions, and the number of the format (OPR-305)."""

    dims: tuple[int, ...] = ()
    data_format: int = ND
    unknown_rank: bool = False


class NodeTensor(NamedTuple):
    """An input or output: its name, data type number (OPR-304), dimensions, number of the format.

    What follows is read by no library (OPR-106, OPR-306). One without a shape (`has_shape`) is a scalar.
    """

    name: str
    dtype: int
    shape: tuple[int, ...]
    data_format: int = ND
    unknown_rank: bool = False
    mem_device: str = ""
    data_ptr: int = 0
    data_size: int = 0
    has_shape: bool = True


PLACEHOLDER: Final = NodeTensor(
    "", 0, (), 0, has_shape=False
)  # OPR-308: an optional input left out


def shape_bytes(dims: Iterable[int], data_format: int, unknown_rank: bool) -> bytes:
    """A TensorShape."""
    raw = b"".join([SMALL_DIMS[dim] if 0 <= dim < 0x80 else _dim_bytes(dim) for dim in dims])
    if unknown_rank:
        raw += b"\x18\x01"
    return raw + number_bytes(b"\x20", data_format, I32_RANGE) if data_format else raw


def tensor_bytes(tensor: NodeTensor) -> bytes:
    """A Tensor."""
    name, dtype, dims, data_format, unknown_rank, device, address, size, has_shape = tensor
    raw = b""
    if has_shape:
        raw = delimited(b"\x0a", shape_bytes(dims, data_format, unknown_rank))
    if dtype:
        raw += number_bytes(b"\x10", dtype, I32_RANGE)
    if device:
        raw += delimited(b"\x1a", device.encode())
    if name:
        raw += delimited(b"\x22", name.encode())
    if address:
        raw += number_bytes(b"\x28", address, range(U64 + 1))
    if size:
        raw += number_bytes(b"\x30", size, range(U64 + 1))
    return raw


def number_bytes(head: bytes, value: int, allowed: range) -> bytes:
    """A varint field behind its key; raises FormatError for a number out of range."""
    if not allowed.start <= value < allowed.stop:  # `in` walks the range when value is an IntEnum
        bits = (allowed.stop - allowed.start - 1).bit_length()
        sign = "signed " if allowed.start else ""
        raise FormatError(f"{value} does not fit in {sign}{bits} bits", rule="OPR-301")
    return head + varint(value)


def read_shape(chunks: Iterable[bytes], where: str) -> NodeShape:
    """The TensorShape in `chunks`; raises FormatError."""
    return _shape(read_merged(chunks, where), where)


def read_tensor(chunks: Iterable[bytes], where: str) -> NodeTensor:
    """The Tensor in `chunks`; raises FormatError."""
    fields = read_merged(chunks, where)
    inner = fields.message(1, where)
    shape = NodeShape(data_format=0) if inner is None else _shape(inner, where)
    return NodeTensor(
        fields.text(4),
        as_i32(fields.number(2)),
        *shape,
        fields.text(3),
        fields.number(5),
        fields.number(6),
        inner is not None,
    )


def _dim_bytes(dim: int) -> bytes:
    return delimited(b"\x12", number_bytes(b"\x08", dim, I64_RANGE))


def _shape(fields: Fields, where: str) -> NodeShape:
    dims = [as_i64(read_fields(raw, where).number(1)) for raw in fields.chunks(2)]
    return NodeShape(tuple(dims), as_i32(fields.number(4)), bool(fields.number(3)))
