"""Ext info: golden bytes, the bad ones of section 11.8, what comes back. Spec 07, section 4."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format.ext_info import (
    END,
    ExtEntry,
    ExtInfo,
    ExtShape,
    ExtType,
    Record,
    ShapeBack,
    bitmap,
    decode_ext,
    encode_ext,
    input_shapes,
    output_shapes,
    read_shapes,
    session,
    shape_at,
    shape_type,
    workspace,
    workspace_records,
)
from tests.facts import golden
from tests.op_calls import ROWS, ext_of

I32 = st.integers(-(1 << 31), (1 << 31) - 1)
DIM = st.integers(END + 1, (1 << 63) - 1)
DIMS = st.lists(DIM, max_size=8).map(tuple)
SHAPES = st.lists(st.tuples(I32, DIMS), max_size=4)
ENTRY = st.one_of(
    st.builds(shape_type, I32),
    st.builds(bitmap, st.integers(-(1 << 63), (1 << 63) - 1)),
    st.builds(input_shapes, SHAPES),
    st.builds(output_shapes, SHAPES),
    st.builds(workspace, st.integers(0, 1 << 40), st.integers(0, (1 << 64) - 1)),
    st.builds(session, st.integers(0, 9), st.integers(0, (1 << 64) - 1), st.integers(0, 1)),
    st.builds(
        ExtEntry,
        st.sampled_from([ExtType.OP_NAME, ExtType.INVALID, ExtType(-5), ExtType(77)]),
        st.binary(max_size=20),
    ),
)
INFO = st.builds(ExtInfo, st.lists(ENTRY, max_size=5).map(tuple))


def row_of(op: str) -> dict[str, object]:
    (row,) = (row for row in ROWS if row["op"] == op)
    return row


def test_numbers() -> None:
    """OPR-402."""
    assert {kind.name: kind.value for kind in ExtType} == golden("op_types")["ext_types"]


def test_recorded_ext_info() -> None:
    """Section 11: five byte for byte."""
    recorded = [row for row in ROWS if "ext_hex" in row]
    assert [ext_of(row).hex() for row in recorded] == [row["ext_hex"] for row in recorded]
    assert len(recorded) == 5
    for row in ROWS:
        raw = ext_of(row)
        assert encode_ext(decode_ext(raw)) == raw


def test_coalesce() -> None:
    """Section 11.5: the entries and their sizes; the shapes that came back."""
    raw = ext_of(row_of("Coalesce"))
    info = decode_ext(raw)
    sizes = [(entry.type.value, len(entry.value) + 8) for entry in info.entries]
    assert (len(raw), sizes) == (476, [(0, 12), (6, 16), (1, 212), (2, 212), (11, 24)])
    assert read_shapes(info.entries[3]) == (
        ExtShape(9, (2, 3)), ExtShape(0, (3,)), ExtShape(9, (2,)),
    )  # fmt: skip
    slots = info.shape_slots(ExtType.OUTPUT_SHAPE)
    assert slots == (248, 316, 384)
    back = bytearray(raw)
    struct.pack_into("<2q", back, slots[0] + 4, 2, 2)
    struct.pack_into("<q", back, slots[1] + 4, 2)
    shapes = [
        shape_at(bytes(back), slot, rank) for slot, rank in zip(slots, (2, 1, 1), strict=True)
    ]
    assert shapes == [ShapeBack((2, 2), True), ShapeBack((2,), True), ShapeBack((2,), True)]


def test_the_workspace_slot() -> None:
    raw = bytearray(ext_of(row_of("Coalesce")))
    ((size, slot),) = decode_ext(bytes(raw)).workspaces()
    assert (size, slot) == (4096, len(raw) - 8)
    struct.pack_into("<Q", raw, slot, 0x7000)
    assert decode_ext(bytes(raw)).entries[-1] == workspace(4096, 0x7000)
    assert [*ExtInfo((bitmap(1),)).workspaces()] == []


@given(INFO)
def test_decode_undoes_encode(info: ExtInfo) -> None:
    raw = encode_ext(info)
    assert decode_ext(raw) == info
    assert sum(len(entry.value) + 8 for entry in info.entries) == len(raw)
    for entry, at in info.placed():
        assert raw[at : at + len(entry.value)] == entry.value


@given(SHAPES)
def test_shapes(shapes: list[tuple[int, tuple[int, ...]]]) -> None:
    """OPR-403: up to eight dimensions, with an end mark where there are less."""
    info = ExtInfo((bitmap(0), output_shapes(shapes)))
    assert [tuple(shape) for shape in read_shapes(info.entries[1])] == shapes
    for slot, (_, dims) in zip(info.shape_slots(ExtType.OUTPUT_SHAPE), shapes, strict=True):
        assert shape_at(encode_ext(info), slot, len(dims)) == ShapeBack(dims, True)


@given(DIMS, DIMS)
def test_shapes_that_came_back(sent: tuple[int, ...], final: tuple[int, ...]) -> None:
    """OPR-410: written without an end mark: a rank that grew is told, the dimensions are there."""
    raw = bytearray(encode_ext(ExtInfo((output_shapes([(0, sent)]),))))
    struct.pack_into(f"<{len(final)}q", raw, 12, *final)
    back = shape_at(bytes(raw), 8, len(sent))
    assert back.is_whole == (len(final) <= len(sent))
    assert back.shape[: len(final)] == final


@pytest.mark.parametrize("slot", [-1, 9, 1 << 40])
def test_a_slot_elsewhere(slot: int) -> None:
    with pytest.raises(FormatError, match="no shape at offset"):
        shape_at(encode_ext(ExtInfo((output_shapes([(0, ())]),))), slot, 0)


def entry(kind: ExtType, size: int) -> bytes:
    return struct.pack("<iI", kind, size) + bytes(size)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (entry(ExtType.BITMAP, 4), "BITMAP takes 8 bytes, not 4"),
        (entry(ExtType.TOPIC_TYPE, 8), "TOPIC_TYPE takes 4 bytes, not 8"),
        (entry(ExtType.SESSION_INFO, 16), "SESSION_INFO takes 17 bytes, not 16"),
        (entry(ExtType.ASYNCWAIT, 16), "ASYNCWAIT takes 17 bytes, not 16"),
        (entry(ExtType.WORKSPACE_INFO, 8), "WORKSPACE_INFO takes 16 bytes, not 8"),
        (entry(ExtType.SHAPE_TYPE, 8), "SHAPE_TYPE takes 4 bytes, not 8"),
        (entry(ExtType.UNKNOWN_SHAPE_INPUT_INDEX, 3), "a multiple of 4 bytes, not 3"),
        (entry(ExtType.UNKNOWN_SHAPE_OUTPUT_INDEX, 3), "a multiple of 4 bytes, not 3"),
        (entry(ExtType.INPUT_SHAPE, 67), "a multiple of 68 bytes, not 67"),
        (struct.pack("<iI", 4, 20) + b"Sin", "OP_NAME takes 20 bytes, 3 are left"),
        (struct.pack("<iI", 12, 0xFFFFFFF8), "INVALID takes 4294967288 bytes, 0 are left"),
        (entry(ExtType.BITMAP, 8) + bytes(7), "7 loose bytes at offset 16"),
    ],
)
def test_malformed_ext_info(raw: bytes, why: str) -> None:
    """Section 11.8 and Q-2; the last two the library passes over, or never leaves."""
    with pytest.raises(FormatError) as caught:
        decode_ext(raw)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=100))
def test_any_bytes(raw: bytes) -> None:
    try:
        info = decode_ext(raw)
    except FormatError:
        return
    assert encode_ext(info) == raw


def test_what_no_entry_holds() -> None:
    with pytest.raises(FormatError, match="rank 9"):
        input_shapes([(0, (1,) * 9)])
    with pytest.raises(FormatError, match="no entry holds"):
        workspace(-1)
    with pytest.raises(FormatError, match="no entry holds"):
        output_shapes([(0, (1 << 63,))])


HEAD = "CUST_AICPU_OP:2026-08-01-12:00:00.123.456 "


def test_records() -> None:
    """OPR-420: records up to a NUL; the directory of the source file is left out."""
    lines = [
        f"[ERROR] {HEAD}[/b/c/sin.cc:141][Compute:141]:Unsupported input data type [DT_INT32].\n",
        f"[DEBUG] {HEAD}plain\n",
        f"[WARNING] {HEAD}[mul.cc:96][DoCompute:96]:[Mul] failed\nin two lines\n",
        "no record",
        f"[INFO] {HEAD}[sin.cc:1][Comp",  # the buffer was full
    ]
    raw = "\0".join(lines).encode() + bytes(300)
    assert workspace_records(memoryview(raw)) == (
        Record("ERROR", "sin.cc:141: Unsupported input data type [DT_INT32]."),
        Record("DEBUG", "plain"),
        Record("WARNING", "mul.cc:96: [Mul] failed\nin two lines"),
        Record("", "no record"),
        Record("INFO", "[sin.cc:1][Comp"),
    )


def test_records_of_two_blocks() -> None:
    """OPR-903: each block has its part of the workspace."""
    part = f"[INFO] {HEAD}done\n".encode().ljust(100, b"\0")
    assert workspace_records(part * 2) == (Record("INFO", "done"),) * 2
    assert workspace_records(bytes(200)) == ()


@given(st.binary(max_size=300))
def test_any_workspace(raw: bytes) -> None:
    assert all(record.level == "" for record in workspace_records(raw))
