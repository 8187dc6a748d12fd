"""Ext info: the entries beside a parameter block, and what the library writes back. Spec 07, section 4."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from cannkit.errors import FormatError
from cannkit.format.bits import OpenEnum

HEAD: Final = struct.Struct("<iI")  # OPR-401: infoType, infoLen
SHAPE: Final = struct.Struct("<i8q")  # OPR-403: type, dims
RANK: Final = 8
END: Final = -(1 << 63)  # the dimension that ends a list of less than 8
I64_MAX: Final = (1 << 63) - 1
ADDRESS_AT: Final = 8  # of the workspace, in its entry


class ExtType(OpenEnum):
    """What an entry is, `FWK_ADPT_EXT_<name>` (OPR-402)."""

    SHAPE_TYPE = 0
    INPUT_SHAPE = 1
    OUTPUT_SHAPE = 2
    UPDATE_ADDR = 3
    OP_NAME = 4
    SESSION_INFO = 5
    BITMAP = 6
    TOPIC_TYPE = 7
    ASYNCWAIT = 8
    UNKNOWN_SHAPE_INPUT_INDEX = 9
    UNKNOWN_SHAPE_OUTPUT_INDEX = 10
    WORKSPACE_INFO = 11
    INVALID = 12


LENGTHS: Final = {  # OPR-402: bytes of the value
    ExtType.SHAPE_TYPE: 4,
    ExtType.UPDATE_ADDR: 4,
    ExtType.SESSION_INFO: 17,
    ExtType.BITMAP: 8,
    ExtType.TOPIC_TYPE: 4,
    ExtType.ASYNCWAIT: 17,
    ExtType.WORKSPACE_INFO: 16,
}
MULTIPLES: Final = {
    ExtType.INPUT_SHAPE: SHAPE.size,
    ExtType.OUTPUT_SHAPE: SHAPE.size,
    ExtType.UNKNOWN_SHAPE_INPUT_INDEX: 4,
    ExtType.UNKNOWN_SHAPE_OUTPUT_INDEX: 4,
}


class ExtEntry(NamedTuple):
    """One entry: its type and the bytes of its value."""

    type: ExtType
    value: bytes


class ExtShape(NamedTuple):
    """A ShapeAndType (OPR-403): the data type, which the library ignores, and the dimensions."""

    dtype: int
    dims: tuple[int, ...]


class ExtInfo(NamedTuple):
    """The entries in their order. Offsets are those of the encoded bytes."""

    entries: tuple[ExtEntry, ...]

    def placed(self) -> Iterator[tuple[ExtEntry, int]]:
        """Each entry, and the offset of its value."""
        at = 0
        for entry in self.entries:
            at += HEAD.size
            yield entry, at
            at += len(entry.value)

    def workspaces(self) -> Iterator[tuple[int, int]]:
        """The size of each workspace, bytes, and the offset of its address."""
        for entry, at in self.placed():
            if entry.type == ExtType.WORKSPACE_INFO:
                yield int.from_bytes(entry.value[:ADDRESS_AT], "little"), at + ADDRESS_AT

    def shape_slots(self, kind: ExtType) -> tuple[int, ...]:
        """The offset of each ShapeAndType of the INPUT_SHAPE or OUTPUT_SHAPE entries."""
        return tuple(
            slot
            for entry, at in self.placed()
            if entry.type == kind
            for slot in range(at, at + len(entry.value), SHAPE.size)
        )


def shape_type(number: int) -> ExtEntry:
    """SHAPE_TYPE: 1 inferable, 2 needs constant values, 3 shape range, 4 needs computation."""
    return ExtEntry(ExtType.SHAPE_TYPE, _pack("<i", number))


def bitmap(bits: int) -> ExtEntry:
    """BITMAP: bit 0 set says that the shapes are static."""
    return ExtEntry(ExtType.BITMAP, _pack("<q", bits))


def input_shapes(shapes: Iterable[tuple[int, Sequence[int]]]) -> ExtEntry:
    """INPUT_SHAPE: data type and dimensions of each input; raises FormatError above rank 8."""
    return ExtEntry(ExtType.INPUT_SHAPE, b"".join([_shape(*shape) for shape in shapes]))


def output_shapes(shapes: Iterable[tuple[int, Sequence[int]]]) -> ExtEntry:
    """OUTPUT_SHAPE: data type and upper bound of each output; raises FormatError above rank 8."""
    return ExtEntry(ExtType.OUTPUT_SHAPE, b"".join([_shape(*shape) for shape in shapes]))


def workspace(size: int, address: int = 0) -> ExtEntry:
    """WORKSPACE_INFO: the buffer for log records (OPR-420)."""
    return ExtEntry(ExtType.WORKSPACE_INFO, _pack("<QQ", size, address))


def session(session_id: int, kernel_id: int, flag: int) -> ExtEntry:
    """SESSION_INFO: the cached context that a call takes (OPR-210)."""
    return ExtEntry(ExtType.SESSION_INFO, _pack("<QQB", session_id, kernel_id, flag))


def encode_ext(info: ExtInfo) -> bytes:
    """The entries one behind the other."""
    return b"".join([HEAD.pack(kind, len(value)) + value for kind, value in info.entries])


def decode_ext(raw: bytes | memoryview) -> ExtInfo:
    """The entries of `raw`.

    Raises FormatError for what the library refuses or reads past its end, and for loose bytes (Q-2).
    """
    entries: list[ExtEntry] = []
    at, size = 0, len(raw)
    while at < size:
        if size - at < HEAD.size:
            raise _bad(f"{size - at} loose bytes at offset {at}")
        number, length = HEAD.unpack_from(raw, at)
        kind = ExtType(number)
        at += HEAD.size
        if length > size - at:
            raise _bad(f"{kind.name} takes {length} bytes, {size - at} are left")
        if length != LENGTHS.get(kind, length):
            raise _bad(f"{kind.name} takes {LENGTHS[kind]} bytes, not {length}")
        if length % MULTIPLES.get(kind, 1):
            raise _bad(f"{kind.name} takes a multiple of {MULTIPLES[kind]} bytes, not {length}")
        entries.append(ExtEntry(kind, bytes(raw[at : at + length])))
        at += length
    return ExtInfo(tuple(entries))


class ShapeBack(NamedTuple):
    """A shape that the library wrote; not `is_whole` when its rank, and so the shape, is in doubt."""

    shape: tuple[int, ...]
    is_whole: bool


def read_shapes(entry: ExtEntry) -> tuple[ExtShape, ...]:
    """What an INPUT_SHAPE or OUTPUT_SHAPE entry says."""
    return tuple(ExtShape(dtype, _dims(dims)) for dtype, *dims in SHAPE.iter_unpack(entry.value))


def shape_at(raw: bytes | memoryview, slot: int, rank: int) -> ShapeBack:
    """The shape in the entry at `slot`, written over one of `rank` dimensions (OPR-410).

    The library writes no end mark. Where that of the old shape is gone, the rank has grown, and what
    follows the new dimensions is stale. Raises FormatError when the entry is not in `raw`.
    """
    if not 0 <= slot <= len(raw) - SHAPE.size:
        raise _bad(f"no shape at offset {slot}, there are {len(raw)} bytes")
    _, *dims = SHAPE.unpack_from(raw, slot)
    return ShapeBack(_dims(dims), rank >= RANK or dims[rank] == END)


class Record(NamedTuple):
    """A log record of a custom operator; `level` is empty for text that is no record."""

    level: str
    text: str


_RECORD: Final = re.compile(r"\[([A-Z]+)\] CUST_AICPU_OP:\d{4}-\d\d-\d\d-[0-9:.]+ (.*)", re.DOTALL)
_SOURCE: Final = re.compile(r"\[(?:[^\]\n]*/)?([^\]/\n]+:\d+)\]\[[^\]\n]*\]:?\s*")


def workspace_records(raw: bytes | memoryview) -> tuple[Record, ...]:
    """The records in a workspace (OPR-420); a source file stands without its directory."""
    texts = bytes(raw).rstrip(b"\0").split(b"\0")
    return tuple(_record(text.decode("utf-8", "replace")) for text in texts if text)


def _record(line: str) -> Record:
    found = _RECORD.fullmatch(line)
    level, text = found.groups() if found else ("", line)
    if source := _SOURCE.match(text):
        text = f"{source[1]}: {text[source.end() :]}"
    return Record(level, text.rstrip("\n"))


def _shape(dtype: int, dims: Sequence[int]) -> bytes:
    if len(dims) > RANK:
        raise _bad(f"a shape of rank {len(dims)}, at most {RANK} dimensions have a place")
    tail = (END, *[0] * (RANK - 1 - len(dims))) if len(dims) < RANK else ()
    return _pack("<i8q", dtype, *dims, *tail)


def _dims(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(dims[: dims.index(END)]) if END in dims else tuple(dims)


def _pack(layout: str, *values: int) -> bytes:
    try:
        return struct.pack(layout, *values)
    except struct.error as error:
        raise _bad(f"no entry holds {', '.join(map(str, values))}") from error


def _bad(why: str) -> FormatError:
    return FormatError("malformed ext info", why=why, rule="OPR-401")
