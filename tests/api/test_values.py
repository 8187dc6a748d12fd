"""Typed values: every dtype there and back, what fits, and contents that only a rule decides."""

from __future__ import annotations

import math
import struct
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.api.values import (
    CHUNK,
    DTYPES,
    SPELLINGS,
    Dtype,
    Kind,
    arange,
    find_dtype,
    ones,
    pack,
    parse_value,
    part_of,
    random,
    unpack,
)
from cannkit.errors import UsageError

INTEGERS: Final = [dtype for dtype in DTYPES.values() if dtype.kind is Kind.INT]
FLOATS: Final = [dtype for dtype in DTYPES.values() if dtype.kind is Kind.FLOAT]
every = pytest.mark.parametrize("dtype", DTYPES.values(), ids=lambda dtype: dtype.name)


def bounds(dtype: Dtype) -> tuple[int, int]:
    """The smallest integer and the largest."""
    return (0 if dtype.name.startswith("u") else -dtype.whole), dtype.whole - 1


@every
def test_sizes(dtype: Dtype) -> None:
    """The number in a name is that of its bits."""
    bits = "".join(filter(str.isdigit, dtype.name)) or "8"
    assert dtype.size == int(bits) // 8
    assert dtype.size == struct.calcsize(f"<{dtype.code}") * (
        2 if dtype is not part_of(dtype) else 1
    )
    assert struct.calcsize(dtype.view) == part_of(dtype).size


def test_names() -> None:
    for name, dtype in SPELLINGS.items():
        assert find_dtype(name) is find_dtype(name.upper()) is dtype
    assert find_dtype("float32") is DTYPES["f32"]
    assert find_dtype("uint16") is DTYPES["u16"]  # not what numpy holds a bf16 in
    with pytest.raises(UsageError) as caught:
        find_dtype("f31")
    assert "f32" in (caught.value.hint or "")
    with pytest.raises(UsageError) as caught:
        find_dtype("0" * 9000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.name)
def test_integers_fit_or_are_refused(dtype: Dtype) -> None:
    low, high = bounds(dtype)
    for value in (low, high, 0):
        assert parse_value(dtype, str(value)) == value
        assert unpack(dtype, pack(dtype, [value])) == (value,)
    assert parse_value(dtype, hex(high)) == high
    for value in (low - 1, high + 1, 1 << 64, -(1 << 64)):
        with pytest.raises(UsageError, match=f"{value} does not fit in {dtype.name}"):
            parse_value(dtype, str(value))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_floats(dtype: Dtype) -> None:
    for text in ("nan", "inf", "-inf", "-0.0", "1.5"):
        value = float(text)
        (back,) = unpack(dtype, pack(dtype, [parse_value(dtype, text)]))
        assert isinstance(back, float)
        assert back == value or (math.isnan(back) and math.isnan(value))
        assert math.copysign(1, back) == math.copysign(1, value)


def test_floats_that_do_not_fit() -> None:
    largest = {"f16": 65504.0, "bf16": 2.0**127 * (2 - 2.0**-7), "f32": 2.0**127 * (2 - 2.0**-23)}
    for name, value in largest.items():
        dtype = DTYPES[name]
        assert unpack(dtype, pack(dtype, [value])) == (value,)
        for beyond in (value * 1.01, -value * 1.01, 1e300):
            with pytest.raises(UsageError, match=f"does not fit in {name}"):
                pack(dtype, [1.0, beyond])


def test_bf16_is_the_upper_half_of_a_float() -> None:
    """Rounded to nearest, ties to even."""
    words = {1.0: 0x3F80, 1.00390625: 0x3F80, 1.01171875: 0x3F82, 1.004: 0x3F81, -2.0: 0xC000}
    for value, word in words.items():
        assert pack(DTYPES["bf16"], [value]) == word.to_bytes(2, "little")


@pytest.mark.parametrize("text", ["", "x", "1_0", "1.5", "0x", "--1", "9" * 81, "1 2", "true", "٣"])
def test_no_integer(text: str) -> None:
    with pytest.raises(UsageError, match="is no i32 value"):
        parse_value(DTYPES["i32"], text)


@pytest.mark.parametrize(
    ("name", "text", "raw"),
    [
        ("bool", "true", "01"),
        ("bool", "0", "00"),
        ("i8", "-0x80", "80"),
        ("u16", " 258 ", "0201"),
        ("f32", "1e0", "0000803f"),
        ("c64", "1+2j", "0000803f00000040"),
        ("c64", "3", "0000404000000000"),
    ],
)
def test_text(name: str, text: str, raw: str) -> None:
    dtype = DTYPES[name]
    assert pack(dtype, [parse_value(dtype, text)]).hex() == raw


@pytest.mark.parametrize(("name", "text"), [("bool", "2"), ("f32", "1_0"), ("c64", "i")])
def test_no_value(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"is no {name} value"):
        parse_value(DTYPES[name], text)


@every
def test_made_by_rule(dtype: Dtype) -> None:
    """Sizes are right, and nothing but dtype, count and seed decides."""
    for count in (0, 1, 7, CHUNK + 3):
        for raw in (ones(dtype, count), arange(dtype, count), random(dtype, count, 5)):
            assert len(raw) == count * dtype.size
    assert set(unpack(dtype, ones(dtype, 9))) == {1}
    assert random(dtype, 64, 5) == random(dtype, 64, 5) != random(dtype, 64, 6)


def test_random_is_the_same_for_good() -> None:
    """What a user noted down once comes again, whatever the version."""
    assert random(DTYPES["f32"], 3, 1).hex() == "9e343bbfc0ba0d3ed4e2313f"
    assert random(DTYPES["i32"], 2, 1).hex() == "f5b165224a58b791"


@every
def test_arange_is_exact(dtype: Dtype) -> None:
    """0, 1, 2 and on; from 0 again where the next one could not be told from another."""
    count = min(dtype.whole, CHUNK * 4) + 3
    expected = [at % dtype.whole for at in range(count)]
    assert list(unpack(dtype, arange(dtype, count))) == expected


@given(st.sampled_from(FLOATS), st.integers(1, 300), st.integers(0, 2**64 - 1))
def test_random_floats(dtype: Dtype, count: int, seed: int) -> None:
    values = [float(value.real) for value in unpack(dtype, random(dtype, count, seed))]
    assert all(-1 <= value < 1 for value in values)


@given(st.sampled_from(list(DTYPES.values())), st.binary(max_size=400))
def test_bytes_there_and_back(dtype: Dtype, raw: bytes) -> None:
    """Any bytes are values, and most values are those bytes: a NaN or a bool may be spelled anew."""
    raw = raw[: len(raw) - len(raw) % dtype.size]
    values = unpack(dtype, raw)
    assert len(values) * dtype.size == len(raw)
    again = unpack(dtype, pack(dtype, values))
    assert str(again) == str(values)
    if dtype.kind is Kind.INT:
        assert pack(dtype, values) == raw
