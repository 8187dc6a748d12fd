"""Values of an operator's outputs as text: short, and never another value of the type."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.api.values import DTYPES, find_dtype, pack, unpack
from cannkit.render.launch_op import nested, value_text


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("float32", struct.unpack("f", struct.pack("f", 0.1))[0], "0.1"),
        ("float32", -1.154700517654419, "-1.1547005"),
        ("float32", 3.0, "3"),
        ("float32", 16777216.0, "16777216"),
        ("float16", 0.0999755859375, "0.1"),
        ("bfloat16", 0.10009765625, "0.1"),
        ("float16", 65504.0, "6.55e+04"),
        ("bfloat16", 1.5, "1.5"),
        ("float64", 90.50966799187809, "90.50966799187809"),
        ("float64", 1e300, "1e+300"),
        ("float32", "NaN", "NaN"),
        ("int64", "9007199254740993", "9007199254740993"),
        ("bool", True, "true"),
        ("complex64", (1.0, -2.0), "1-2j"),
        ("complex64", (0.5, "NaN"), "0.5+NaNj"),
    ],
)
def test_a_value(dtype: str, value: object, text: str) -> None:
    assert value_text(dtype, value) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@given(data=st.data())
def test_text_is_the_value(name: str, data: st.DataObject) -> None:
    """Reading the text gives the same bytes back."""
    dtype = DTYPES[name]
    raw = data.draw(st.binary(min_size=dtype.size, max_size=dtype.size))
    (value,) = unpack(dtype, raw)
    assert isinstance(value, float)
    if value == value and abs(value) != float("inf"):
        word = "bfloat16" if name == "bf16" else dtype.numpy
        text = value_text(word, value)
        assert pack(find_dtype(name), [float(text)]) == raw


@pytest.mark.parametrize(
    ("count", "shape", "text"),
    [
        (1, (), "0"),
        (0, (0,), "[]"),
        (3, (3,), "[0, 1, 2]"),
        (4, (2, 2), "[[0, 1], [2, 3]]"),
        (0, (2, 0), "[[], []]"),
        (4, (1, 2, 2), "[[[0, 1], [2, 3]]]"),
    ],
)
def test_brackets(count: int, shape: tuple[int, ...], text: str) -> None:
    assert nested([str(number) for number in range(count)], shape) == text
