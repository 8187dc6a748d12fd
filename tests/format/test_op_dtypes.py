"""Data types and formats of AI CPU operators. Spec 07, OPR-304, OPR-305 and OPR-1304."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import UsageError
from cannkit.format.op_dtypes import DT_NAMES, DataFormat, OpDtype, find_format, find_op_dtype
from tests.facts import golden

WORDS = """
f16/float16 1, f32/float32 0, f64/float64 11, bf16/bfloat16 27, i8 2, i16 6, i32 3, i64 9, u8 4, u16 7, u32 8,
u64 10, bool 12, c64/complex64 16, c128/complex128 17, int8 2, int64 9, uint16 7, double 11, qint8 18
"""


def test_numbers_and_sizes() -> None:
    """OPR-304, OPR-305."""
    facts = golden("op_types")
    assert {dtype.name: [dtype.value, dtype.size] for dtype in OpDtype} == facts["dtypes"]
    assert {form.name: form.value for form in DataFormat} == facts["formats"]


def test_names_of_the_command_line() -> None:
    """OPR-1304."""
    for words, number in (item.split() for item in WORDS.replace("\n", " ").split(", ")):
        for word in words.split("/"):
            assert find_op_dtype(word) is OpDtype(int(number)), word
            assert find_op_dtype(word.upper()) is OpDtype(int(number))


def test_names_of_json_files() -> None:
    """OPR-304: DT_BF16 in JSON is DT_BFLOAT16 in the header; OPR-503: names that no reader knows."""
    assert DT_NAMES["DT_FLOAT"] is OpDtype.FLOAT
    assert DT_NAMES["DT_BF16"] is DT_NAMES["DT_BFLOAT16"] is OpDtype.BF16
    assert not {"DT_FLOAT32", "DT_COMPLEXT64", "DT_QINT64"} & set(DT_NAMES)
    assert all(find_op_dtype(name) is dtype for name, dtype in DT_NAMES.items())


@given(st.integers(0, (1 << 31) - 1))
def test_a_word_finds_its_type(number: int) -> None:
    dtype = OpDtype(number)
    assert find_op_dtype(dtype.word) == find_op_dtype(f"dt:{number}") == number
    assert dtype.known or (dtype.word == f"dt:{number}" and dtype.size is None)


def test_every_word_finds_its_type() -> None:
    assert [find_op_dtype(dtype.word) for dtype in OpDtype] == list(OpDtype)
    assert [find_format(form.name.lower()) for form in DataFormat] == list(DataFormat)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("DT_FLOAT32", "DT_FLOAT"),
        ("flaot32", "float32"),
        ("dt:", "dt:NUMBER"),
        ("dt:2147483648", "dt:NUMBER"),
        ("dt:" + "9" * 5000, "dt:NUMBER"),
        ("dt:-1", "dt:NUMBER"),
        ("", "dt:NUMBER"),
        ("?" * 100_000, "dt:NUMBER"),
    ],
)
def test_a_type_that_is_none(text: str, hint: str) -> None:
    with pytest.raises(UsageError, match="unknown data type") as caught:
        find_op_dtype(text)
    assert hint in (caught.value.hint or "")
    assert len(str(caught.value)) < 250


def test_a_format_that_is_none() -> None:
    with pytest.raises(UsageError, match="unknown format 'NCWH'") as caught:
        find_format("NCWH")
    assert "NCHW" in (caught.value.hint or "")
