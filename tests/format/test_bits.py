"""Enumerations that lose nothing, and records whose bits are named."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from cannkit.errors import FormatError
from cannkit.format.ascend_meta import FuncType, ImplicitFeature
from cannkit.format.bits import OpenEnum, Record, bits, record, span_mask


def test_known_number_has_its_name() -> None:
    member = FuncType(3)
    assert member is FuncType.AIV
    assert member.known


@pytest.mark.parametrize("number", [8, 0x2A, 0xFFFF_FFFF, 1 << 64])
def test_unknown_number_keeps_its_value(number: int) -> None:
    member = FuncType(number)
    assert member == number
    assert isinstance(member, FuncType)
    assert member.name == f"UNKNOWN_{number:#x}"
    assert not member.known


def test_unknown_numbers_do_not_become_members() -> None:
    FuncType(77)
    assert 77 not in set(FuncType)
    assert len(FuncType) == 8


def test_unknown_numbers_are_equal_by_value() -> None:
    assert FuncType(77) == FuncType(77)
    assert hash(FuncType(77)) == hash(77)
    assert pickle.loads(pickle.dumps(FuncType.AIC)) is FuncType.AIC


def test_other_types_are_refused() -> None:
    text: Any = "AIV"
    with pytest.raises(ValueError, match="'AIV' is not a valid FuncType"):
        FuncType(text)


def test_mask_of_an_unknown_feature() -> None:
    """BIN-01: a feature up to 32 sets its bit, whatever it means."""
    assert ImplicitFeature(32).mask == 1 << 31


class Color(OpenEnum):
    RED = 1
    GREEN = 2


@record(size=8, c_name="head_t")
class Head(Record):
    """What every entry starts with."""

    kind: Color = bits(0, 0, 3, "type", default=Color.RED)
    is_last: bool = bits(0, 5, 1, "last")
    count: int = bits(0, 8, 16, "count", default=7, doc="how many")


@record(size=8)
class Entry(Head):
    """Two fields more, one of them in two places."""

    kind: Color = bits(0, 0, 3, "type", default=Color.GREEN)
    address: int = bits(1, 8, 12, "low", high=(0, 28, 4, "high"), address=True)
    color: Color = bits(1, 20, 12, "color")


def test_record_has_its_defaults() -> None:
    assert Head() == Head(kind=Color.RED, is_last=False, count=7)
    assert Head().encode() == bytes.fromhex("0107000000000000")
    assert Entry().kind is Color.GREEN
    assert (Head.SIZE, Head.C_NAME, Entry.C_NAME) == (8, "head_t", "")


def test_values_have_their_kinds_after_decoding() -> None:
    entry = Entry.decode(bytes.fromhex("220300a034a29509"))
    assert entry.kind is Color.GREEN
    assert entry.is_last is True
    assert entry.count == 3
    assert entry.address == 0xA5A2
    assert isinstance(entry.color, Color)
    assert entry.color.name == "UNKNOWN_0x99"
    assert entry.residue == 0x34 << 32
    assert entry.encode() == bytes.fromhex("220300a034a29509")


def test_rows_are_in_order_of_bits() -> None:
    rows = list(Entry(address=0xABC).rows())
    assert [name for name, _, _ in rows] == ["kind", "is_last", "count", "address", "color"]
    _, span, value = rows[3]
    assert (span.lo, span.width, span.c_name, span.is_address) == (40, 16, "low/high", True)
    assert span_mask(span) == 0xFFF << 40 | 0xF << 28
    assert value == 0xABC
    assert rows[1][2] is False


def test_bits_without_a_name_are_kept() -> None:
    raw = b"\xff" * 8
    assert Head.decode(raw).encode() == raw
    changed = Head.decode(raw).replace(count=0).encode()
    assert changed == bytes.fromhex("ff0000ffffffffff")
    named = sum(map(span_mask, Head.SPANS.values()))
    full = Head().replace(residue=(1 << 64) - 1)  # where a field lies, the field counts
    assert Head.decode(full.encode()) == full.replace(residue=(1 << 64) - 1 & ~named)


@pytest.mark.parametrize("value", [1 << 16, -1, 1 << 64])
def test_a_value_must_fit(value: int) -> None:
    with pytest.raises(FormatError, match=r"Head: no such count: .* does not fit in 16 bits"):
        Head(count=value).encode()


@pytest.mark.parametrize("size", [0, 7, 9])
def test_the_length_must_fit(size: int) -> None:
    for _ in range(2):  # the first call is the one that generates
        with pytest.raises(FormatError, match=f"Head: {size} bytes: it has 8 bytes"):
            Head.decode(bytes(size))


def test_records_are_values() -> None:
    one, other = Entry(count=1), Entry(count=1)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Entry(count=2)
    assert one != Head(count=1)
    assert Entry.decode(one.encode()) == one
    assert hash(Entry.decode(one.encode())) == hash(one)
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one) == "Entry(kind=0x2, count=0x1)"
    with pytest.raises(AttributeError, match="Entry is frozen"):
        one.count = 2  # type: ignore[misc]


def test_no_other_fields() -> None:
    fields: dict[str, Any] = {"blocks": 1, "count": 1}
    with pytest.raises(TypeError, match="Head has no field blocks"):
        Head(**fields)
    with pytest.raises(TypeError, match="Head has no field blocks"):
        Head().replace(**fields)


def test_fields_may_not_overlap() -> None:
    with pytest.raises(TypeError, match=r"Twice\.more overlaps a field or leaves the record"):

        @record(size=8)
        class Twice(Head):
            more: int = bits(0, 23, 1, "more")


def test_fields_may_not_leave_the_record() -> None:
    with pytest.raises(TypeError, match=r"Wide\.more overlaps a field or leaves the record"):

        @record(size=8)
        class Wide(Head):
            more: int = bits(1, 20, 13, "more")
