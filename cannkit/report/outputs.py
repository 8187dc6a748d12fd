"""What a kernel or an operator wrote, in documents. cli.md, section 6."""

from __future__ import annotations

import hashlib
from math import isfinite
from typing import Final, NamedTuple, Self

from cannkit.api.values import Dtype, Kind, Value, unpack
from cannkit.report.base import document, printable

MOST_VALUES: Final = 64  # elements that are listed
WIDE: Final = 8  # bytes of an integer that outgrows a double
NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

Number = bool | int | float | str | tuple[float | str, float | str]


class Output(NamedTuple):
    """What an output of the user's argument `argument` holds at the end, and the file it goes to."""

    argument: int
    dtype: Dtype
    shape: tuple[int, ...]
    data: bytes
    file: str | None


@document
class OutputEntry:
    """An output by the number of its argument, from 0 on.

    `values` are there up to 64: numbers, those of i64 and u64 as decimal text, what is not finite as
    NaN, Infinity or -Infinity, and two for each complex number.
    """

    index: int
    dtype: str
    shape: tuple[int, ...]
    values: tuple[Number, ...] | None
    sha256: str
    file: str | None

    @classmethod
    def of(cls, output: Output) -> Self:
        """The entry of an output."""
        dtype, data = output.dtype, output.data
        few = len(data) <= MOST_VALUES * dtype.size
        return cls(
            index=output.argument,
            dtype=dtype.name,
            shape=output.shape,
            values=tuple(_number(dtype, v) for v in unpack(dtype, data)) if few else None,
            sha256=hashlib.sha256(data).hexdigest(),
            file=None if output.file is None else printable(output.file),
        )


def _number(dtype: Dtype, value: Value) -> Number:
    """A value as JSON has it."""
    if isinstance(value, complex):
        return _finite(value.real), _finite(value.imag)
    if dtype.kind is Kind.INT:
        return str(value) if dtype.size == WIDE else int(value)
    return _finite(value) if isinstance(value, float) else value


def _finite(value: float) -> float | str:
    return value if isfinite(value) else NOT_FINITE[str(value)]
