"""Records: generated code is the plain loop over their spans, and what is encoded comes back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format.bits import OpenEnum, Record, Span, record, span_mask
from cannkit.format.codec import Piece
from cannkit.format.cqe import Cqe
from cannkit.format.sqe import (
    Family,
    IdMode,
    decode_sqe,
    exchange_ids,
    guess_family,
    restore_ids,
    v100,
)
from tests.sqe import ALL_RECORDS

KINDS = [*ALL_RECORDS, Cqe]
IDS = [f"{kind.__module__.rpartition('.')[2]}-{kind.__name__}" for kind in KINDS]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=IDS)
SIZES = (1, 4, 8, 15, 64)


class Ten(OpenEnum):
    """Few names for many numbers."""

    ONE = 1
    TEN = 10


def by_loop(kind: type[Record], raw: bytes) -> dict[str, int]:
    """house.md, section 5: the record as a number, field by field."""
    number, values = int.from_bytes(raw, "little"), {}
    for name, span in kind.SPANS.items():
        value = done = 0
        for piece in span.pieces:
            value |= (number >> piece.lo & (1 << piece.width) - 1) << done
            done += piece.width
        values[name] = value
        number &= ~span_mask(span)
    return values | {"residue": number}


def back_by_loop(kind: type[Record], values: dict[str, int]) -> bytes:
    number = values["residue"]
    for name, span in kind.SPANS.items():
        done = 0
        for piece in span.pieces:
            number |= (values[name] >> done & (1 << piece.width) - 1) << piece.lo
            done += piece.width
    return number.to_bytes(kind.SIZE, "little")


def raw_of(kind: type[Record]) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=kind.SIZE, max_size=kind.SIZE)


def values_of(kind: type[Record]) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries(
        {name: st.integers(0, (1 << span.width) - 1) for name, span in kind.SPANS.items()}
    )


@each_kind
@given(data=st.data())
def test_bytes_come_back(kind: type[Record], data: st.DataObject) -> None:
    """LCH-90: bits without a name survive."""
    raw = data.draw(raw_of(kind))
    entry = kind.decode(raw)
    assert entry.encode() == raw
    assert {name: int(value) for name, value in vars(entry).items()} == by_loop(kind, raw)
    assert back_by_loop(kind, vars(entry)) == raw
    for name, span, value in entry.rows():
        assert type(value) is span.kind
        assert getattr(entry, name) is value or span.kind not in (int, bool)


@each_kind
@given(data=st.data())
def test_values_come_back(kind: type[Record], data: st.DataObject) -> None:
    values = data.draw(values_of(kind))
    made: Any = kind
    entry = made(**values)
    again = kind.decode(entry.encode())
    assert again == entry
    assert hash(again) == hash(entry)
    assert again.residue == 0


@each_kind
@given(data=st.data())
@settings(max_examples=25)
def test_a_value_that_does_not_fit_is_an_error(kind: type[Record], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(kind.SPANS)))
    limit = 1 << kind.SPANS[name].width
    value = data.draw(st.integers(limit) | st.integers(max_value=-1))
    with pytest.raises(FormatError, match=f"no such {name}"):
        kind().replace(**{name: value}).encode()


@st.composite
def any_record(draw: st.DrawFn) -> type[Record]:
    """A record whose fields lie anywhere in it, in pieces or not, and are of any kind."""
    size = draw(st.sampled_from(SIZES))
    cuts = sorted(draw(st.sets(st.integers(0, 8 * size), min_size=2, max_size=24)))
    free = [
        Piece(lo, min(high - lo, 64), f"c{lo}")
        for lo, high in pairwise(cuts)
        if draw(st.booleans())
    ]
    free = draw(st.permutations(free))
    fields: dict[str, Any] = {}
    kinds: dict[str, type[int]] = {}
    while free:
        pieces = [free.pop() for _ in range(draw(st.integers(1, min(2, len(free)))))]
        name = f"f{len(fields)}"
        fields[name] = Span(tuple(pieces), 0, "", is_address=False)
        wide = sum(piece.width for piece in pieces) > 1
        kinds[name] = draw(st.sampled_from([int, Ten] if wide else [int, bool, Ten]))
    made = type("Made", (Record,), {**fields, "__annotations__": kinds})
    return record(size=size)(made)


@given(any_record(), st.data())
@settings(max_examples=200)
def test_any_layout(kind: type[Record], data: st.DataObject) -> None:
    """The generator does not depend on how fields lie to bytes, to words and to each other."""
    raw = data.draw(raw_of(kind))
    entry = kind.decode(raw)
    assert {name: int(value) for name, value in vars(entry).items()} == by_loop(kind, raw)
    assert entry.encode() == raw
    values = data.draw(values_of(kind))
    assert kind().replace(**values).encode() == back_by_loop(kind, values | {"residue": 0})


@given(st.binary(min_size=64, max_size=64), st.sampled_from(Family))
def test_any_entry(raw: bytes, family: Family) -> None:
    """Any 64 bytes are an entry of either family, and lose nothing."""
    assert decode_sqe(raw, family).encode() == raw
    assert guess_family(raw) in (None, *Family)


IDS_16 = st.integers(0, 0xFFFF)


@given(IDS_16, IDS_16, st.sampled_from(IdMode))
def test_exchanged_ids(stream: int, task: int, mode: IdMode) -> None:
    """LCH-73: what can be told comes back."""
    carried = exchange_ids(v100.MixSqe(stream_id=stream, task_id=task), mode)
    found = restore_ids(v100.MixSqe.decode(carried.encode()))
    if mode is IdMode.SOFTWARE_QUEUE:
        assert found == (stream & 0x7FFF, task, mode)
    elif stream < 1 << 12:  # those above look like another mode, or lose bits
        assert found == (stream, task, mode)


@given(st.binary(min_size=64, max_size=64))
def test_a_mix_with_any_ids(raw: bytes) -> None:
    """Reading ids never fails, and what is said of them is possible."""
    sqe = v100.MixSqe.decode(raw)
    ids = restore_ids(sqe)
    plain = sqe.replace(stream_id=ids.stream_id, task_id=ids.task_id)
    assert exchange_ids(plain, ids.mode).encode()[:4] == raw[:4]
    assert max(ids[:2]) <= 0xFFFF
