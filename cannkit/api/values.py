"""Typed values: the dtypes of arguments, their bytes, and contents made up by a rule. cli.md, 6."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain
from math import isfinite
from random import Random
from typing import Final, NamedTuple

from cannkit.errors import UsageError, brief

Value = bool | int | float | complex

LONGEST_NUMBER: Final = 80  # characters; more is no number that any dtype holds
CHUNK: Final = 1 << 14  # values that are made at a time
TRUTH: Final = {"0": False, "1": True, "false": False, "true": True}
INTEGER: Final = re.compile("[+-]?([0-9]+|0[xX][0-9a-fA-F]+)")


class Kind(StrEnum):
    """What the values of a dtype are."""

    BOOL = "bool"
    INT = "integer"
    FLOAT = "float"
    COMPLEX = "complex"


class Dtype(NamedTuple):
    """A kind of number: its size in bytes, and how others spell it.

    `code` is that of struct for a part of it, of which a complex number has two; `view` that of a
    memoryview and `numpy` the name there, each the nearest there is. Whole numbers from 0 to `whole`
    are exact, to `whole` itself as the first one beyond the range of an integer.
    """

    name: str
    size: int
    kind: Kind
    code: str
    view: str
    numpy: str
    whole: int
    aliases: tuple[str, ...] = ()


# fmt: off
DTYPES: Final = {dtype.name: dtype for dtype in (
    #     name  size kind   struct view numpy        whole    other names
    Dtype("bool", 1, Kind.BOOL,    "?", "?", "bool",       1 << 1),
    Dtype("i8",   1, Kind.INT,     "b", "b", "int8",       1 << 7),
    Dtype("i16",  2, Kind.INT,     "h", "h", "int16",      1 << 15),
    Dtype("i32",  4, Kind.INT,     "i", "i", "int32",      1 << 31, ("int",)),
    Dtype("i64",  8, Kind.INT,     "q", "q", "int64",      1 << 63, ("long",)),
    Dtype("u8",   1, Kind.INT,     "B", "B", "uint8",      1 << 8),
    Dtype("u16",  2, Kind.INT,     "H", "H", "uint16",     1 << 16),
    Dtype("u32",  4, Kind.INT,     "I", "I", "uint32",     1 << 32),
    Dtype("u64",  8, Kind.INT,     "Q", "Q", "uint64",     1 << 64),
    Dtype("f16",  2, Kind.FLOAT,   "e", "H", "float16",    1 << 11, ("half", "fp16")),
    Dtype("bf16", 2, Kind.FLOAT,   "H", "H", "uint16",     1 << 8,  ("bfloat16",)),
    Dtype("f32",  4, Kind.FLOAT,   "f", "f", "float32",    1 << 24, ("float", "fp32")),
    Dtype("f64",  8, Kind.FLOAT,   "d", "d", "float64",    1 << 53, ("double", "fp64")),
    Dtype("c64",  8, Kind.COMPLEX, "f", "f", "complex64",  1 << 24),
    Dtype("c128", 16, Kind.COMPLEX, "d", "d", "complex128", 1 << 53),
)}
# fmt: on
BF16: Final = DTYPES["bf16"]
SPELLINGS: Final = {
    name: dtype
    for dtype in DTYPES.values()
    for name in (dtype.name, *dtype.aliases, *((dtype.numpy,) if dtype is not BF16 else ()))
}


def find_dtype(name: str) -> Dtype:
    """The dtype of a name, `f32` or `float32`. Raises UsageError with the nearest names."""
    found = SPELLINGS.get(name.lower())
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(name.lower()[:LONGEST_NUMBER], SPELLINGS, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"one of {', '.join(DTYPES)}"
    raise UsageError(f"unknown dtype {brief(name)!r}", hint=hint)


def parse_value(dtype: Dtype, text: str) -> Value:
    """The value that a text states; whole numbers may be `0x` ones.

    Raises UsageError for what is no such number, or does not fit.
    """
    try:
        if len(text) > LONGEST_NUMBER or "_" in text or not text.isascii():
            raise ValueError
        value = PARSERS[dtype.kind](text.strip())
    except (ValueError, KeyError):
        raise UsageError(f"{brief(text)!r} is no {dtype.name} value") from None
    pack(dtype, (value,))
    return value


def _integer(text: str) -> int:
    found = INTEGER.fullmatch(text)
    if not found:
        raise ValueError(text)
    return int(text, 16 if found[1][:2].lower() == "0x" else 10)


def _truth(text: str) -> bool:
    return TRUTH[text.lower()]


PARSERS: Final[dict[Kind, Callable[[str], Value]]] = {
    Kind.BOOL: _truth,
    Kind.INT: _integer,
    Kind.FLOAT: float,
    Kind.COMPLEX: complex,
}


def pack(dtype: Dtype, values: Sequence[Value]) -> bytes:
    """Little-endian bytes of values. Raises UsageError for one that does not fit."""
    parts: Sequence[Value] = values
    if dtype.kind is Kind.COMPLEX:
        parts = list(chain.from_iterable((v.real, v.imag) for v in map(complex, values)))
    try:
        if dtype is BF16:
            parts = [_bf16_word(float(value.real)) for value in values]
        return struct.pack(f"<{len(parts)}{dtype.code}", *parts)
    except (struct.error, OverflowError):
        wrong = next((value for value in values if not _fits(dtype, value)), values)
        raise UsageError(f"{brief(str(wrong))} does not fit in {dtype.name}") from None


def _fits(dtype: Dtype, value: Value) -> bool:
    try:
        if dtype is BF16:
            _bf16_word(float(value.real))
        else:
            parts = (value,) if dtype.kind is not Kind.COMPLEX else (value.real, value.imag)
            struct.pack(f"<{len(parts)}{dtype.code}", *parts)
    except (struct.error, OverflowError):
        return False
    return True


def unpack(dtype: Dtype, raw: bytes | bytearray | memoryview) -> tuple[Value, ...]:
    """The values in whole multiples of the dtype's size."""
    count = len(raw) // struct.calcsize(f"<{dtype.code}")
    parts: tuple[Value, ...] = struct.unpack(f"<{count}{dtype.code}", raw)
    if dtype is BF16:
        words = struct.pack(f"<{count}I", *(int(part.real) << 16 for part in parts))
        return struct.unpack(f"<{count}f", words)
    if dtype.kind is Kind.COMPLEX:
        return tuple(map(complex, parts[::2], parts[1::2]))
    return parts


def _bf16_word(value: float) -> int:
    """The upper half of a binary32, rounded to nearest, ties to even; a NaN stays one."""
    (word,) = struct.unpack("<I", struct.pack("<f", value))
    if value != value:
        return int(word >> 16 | 0x40)
    word = int(word + 0x7FFF + (word >> 16 & 1) >> 16)
    if word & 0x7FFF == 0x7F80 and isfinite(value):
        raise OverflowError(value)
    return word


def ones(dtype: Dtype, count: int) -> bytes:
    """The bytes of `count` ones."""
    return pack(dtype, (1,)) * count


def arange(dtype: Dtype, count: int) -> bytes:
    """0, 1, 2 and on, from 0 again where the dtype ends being exact."""
    period = min(count, dtype.whole)
    cycle = b"".join(
        pack(dtype, range(at, min(at + CHUNK, period))) for at in range(0, period, CHUNK)
    )
    rounds, rest = divmod(count, period or 1)
    return cycle * rounds + cycle[: rest * dtype.size]


def random(dtype: Dtype, count: int, seed: int) -> bytes:
    """Values that only dtype, count and seed decide.

    Integers take any value of their dtype, floats and both parts of a complex lie in [-1, 1), with
    as many binary places as leave each of them exact.
    """
    source, pieces = Random(seed), []  # noqa: S311  (test data, no secret)
    part = part_of(dtype)
    bits, half = part.whole.bit_length() - 1, part.whole >> 1
    for at in range(0, count, CHUNK):
        size = min(CHUNK, count - at)
        if dtype.kind is Kind.INT:
            pieces.append(source.randbytes(size * dtype.size))
        elif dtype.kind is Kind.BOOL:
            pieces.append(bytes(byte & 1 for byte in source.randbytes(size)))
        else:
            parts = range(size * dtype.size // part.size)
            pieces.append(pack(part, [source.getrandbits(bits) / half - 1 for _ in parts]))
    return b"".join(pieces)


@cache
def part_of(dtype: Dtype) -> Dtype:
    """The dtype of either part of a complex number; any other is its own."""
    if dtype.kind is not Kind.COMPLEX:
        return dtype
    return next(each for each in DTYPES.values() if each.code == dtype.code)
