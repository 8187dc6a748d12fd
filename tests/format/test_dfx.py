"""The nested argument records. Spec 01, section 7."""

from __future__ import annotations

import pytest

from cannkit.format import dfx as module
from cannkit.format.dfx import (
    UNKNOWN_SIZE,
    DfxArg,
    PointerType,
    TensorType,
    encode_dfx,
    read_dfx,
    runtime_arg_count,
)
from tests.facts import golden
from tests.shapes import word

T, P = TensorType, PointerType

# Spec 13.1: INPUT, INPUT, OUTPUT, WORKSPACE, TILING 56, as they stand in the file.
W1 = bytes.fromhex(
    "00050002 0000000000010002 ffffffffffffffff 00050002 0000000000010002 ffffffffffffffff"
    "00050002 0000000000010003 ffffffffffffffff 00050001 0000000000010004"
    "00050002 0000000000010007 0000000000000038"
)


def args(*records: tuple[int, ...]) -> tuple[DfxArg, ...]:
    found = read_dfx(encode_dfx([(5, words) for words in records]))
    assert found.problem is None
    return found.args


@pytest.mark.parametrize("name", ["TensorType", "PointerType"])
def test_enumerations_are_the_golden_ones(name: str) -> None:
    members = getattr(module, name)
    assert {m.name: m.value for m in members} == golden("kernel_meta")["enums"][name]


def test_records_of_a_real_kernel() -> None:
    found = read_dfx(W1)
    assert [arg.tensor_type for arg in found.args] == [
        T.INPUT,
        T.INPUT,
        T.OUTPUT,
        T.WORKSPACE,
        T.TILING,
    ]
    assert {arg.pointer_type for arg in found.args} == {P.LEVEL_1}
    assert (found.problem, found.arg_info_count, found.tiling_size) == (None, 5, 56)
    assert runtime_arg_count(W1) == 5
    assert encode_dfx([(arg.type, arg.words) for arg in found.args]) == W1


def test_always_big_endian() -> None:
    """DFX-01."""
    assert encode_dfx([(5, (word(T.TILING), 56))]) == W1[-20:]
    assert word(T.TILING) == 0x10007


def test_dynamic_sizes_are_unknown() -> None:
    """DFX-04: -1 is no size; a kernel is dynamic if it has a TILING record."""
    found = args(
        (word(T.INPUT), UNKNOWN_SIZE),
        (word(T.INPUT, P.LEVEL_2_WITH_SHAPE), UNKNOWN_SIZE, 16),
        (word(T.WORKSPACE),),
        (word(T.TILING), 40),
    )
    assert [arg.size for arg in found] == [None] * 4
    assert [arg.dtype_size for arg in found] == [None, 16, None, None]
    assert [arg.dims for arg in found] == [None] * 4
    assert [arg.tiling_size for arg in found] == [None, None, None, 40]


def test_static_records_have_sizes_and_dims() -> None:
    found = args((word(T.OUTPUT), 96, 2, 3, 8), (word(T.WORKSPACE), 1024), (word(T.FFTS),))
    assert [arg.size for arg in found] == [96, 1024, None]
    assert [arg.dims for arg in found] == [(3, 8), None, None]


def test_static_list_has_an_element_size() -> None:
    (found,) = args((word(T.INPUT, P.LEVEL_2_WITH_SHAPE), UNKNOWN_SIZE, 4))
    assert (found.dtype_size, found.dims) == (4, None)


def test_unknown_numbers_are_kept() -> None:
    (found,) = args((0x0009_00C8, 7))
    assert (found.tensor_type, found.pointer_type) == (200, 9)
    assert found.words == (0x0009_00C8, 7)


@pytest.mark.parametrize(
    ("raw", "count", "problem"),
    [
        (W1[:-1], 4, "record at 72 says 2 words, 15 bytes are left"),
        (W1 + b"\0\5", 5, "2 bytes left at 92"),
        (W1 + bytes(4), 6, "no words"),
        (b"\0", 0, "1 bytes left at 0"),
    ],
)
def test_malformed_value_is_told(raw: bytes, count: int, problem: str) -> None:
    found = read_dfx(raw)
    assert len(found.args) == count
    assert found.problem is not None
    assert problem in found.problem


def test_empty_value_has_no_records() -> None:
    found = read_dfx(b"")
    assert (found.args, found.problem, found.tiling_size) == ((), None, None)


class TestRuntimeCount:
    """DFX-09: the remainder starts 4 too small, so the last record never fits."""

    @pytest.mark.parametrize("count", range(1, 12))
    def test_well_formed(self, count: int) -> None:
        raw = encode_dfx([(5, (1,) * (1 + at % 3)) for at in range(count)])
        assert runtime_arg_count(raw) == count

    @pytest.mark.parametrize(("length", "count"), [(0, 0), (1, None), (3, None), (4, 1), (8, 1)])
    def test_short(self, length: int, count: int | None) -> None:
        """HAZ-07: with 1 to 3 bytes the original reads far outside."""
        assert runtime_arg_count(bytes(length)) == count

    def test_last_record_of_another_type_counts(self) -> None:
        assert runtime_arg_count(encode_dfx([(5, (1,)), (9, (1,))])) == 2
        assert runtime_arg_count(encode_dfx([(9, (1,)), (5, (1,))])) == 1

    def test_length_wraps_at_16_bits(self) -> None:
        """HAZ-07: 8192 words are 0 bytes to the original, so it goes on inside them."""
        inner = encode_dfx([(5, (1,)), (5, (1,))])
        raw = bytes.fromhex("00052000") + inner
        assert runtime_arg_count(raw) == 3
        assert read_dfx(raw).arg_info_count == 0
