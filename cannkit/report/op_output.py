"""An output of an operator's call in the document of `cannkit launch --op`. cli.md, section 6."""

from __future__ import annotations

import hashlib
from typing import Final, Self

from cannkit.api.values import SPELLINGS
from cannkit.ops.result import OutputBack
from cannkit.report.base import document, printable
from cannkit.report.outputs import MOST_VALUES, Number, Output, OutputEntry

FIRST: Final = 8  # values of a large output


@document
class OpOutputEntry:
    """An output, with the shape that came back. `values` as in `cannkit.launch/1`, `first` of a large one.

    `rest` counts bytes of its buffer behind that shape, which mean nothing; not `shape_known` when the
    operator wrote a rank that leaves it in doubt.
    """

    index: int
    name: str
    dtype: str
    shape: tuple[int, ...]
    values: tuple[Number, ...] | None
    sha256: str
    file: str | None
    first: tuple[Number, ...] | None
    size: int
    rest: int
    shape_known: bool

    @classmethod
    def of(cls, index: int, output: OutputBack, file: str | None) -> Self:
        """The entry of an output."""
        data, dtype = output.filled, SPELLINGS.get(output.dtype.word)
        values = first = None
        if dtype is not None:
            is_small = len(data) <= MOST_VALUES * dtype.size
            part = bytes(data if is_small else data[: FIRST * dtype.size])
            found = OutputEntry.of(Output(index, dtype, output.shape, part, None)).values
            values, first = (found, None) if is_small else (None, found)
        return cls(
            index=index,
            name=printable(output.name),
            dtype=output.dtype.word,
            shape=output.shape,
            values=values,
            sha256=hashlib.sha256(data).hexdigest(),
            file=None if file is None else printable(file),
            first=first,
            size=len(data),
            rest=len(output.data) - len(data),
            shape_known=output.is_whole,
        )
