"""The TLV walk and the language of a TLV table. Spec 01, section 4."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from cannkit.format.ascend_meta import FunctionMeta
from cannkit.format.elf_types import PREFIX
from cannkit.format.tlv import Entry, Tlv, UintEntry, encode_tlv, walk
from tests.facts import A5_SOC, read_fixture
from tests.objects import PRINTF, SIMT_GATHER

if TYPE_CHECKING:
    from cannkit.format.elf_types import ByteOrder

BASE = 0x400


def walked(raw: bytes) -> tuple[list[tuple[int, bytes]], int]:
    records, taken = walk(memoryview(raw), "little", BASE)
    return [(record.type, record.raw) for record in records], taken


@pytest.mark.parametrize("order", PREFIX)
def test_records_come_with_their_place(order: ByteOrder) -> None:
    raw = (
        encode_tlv(7, b"abcd", order) + encode_tlv(0x102, b"", order) + encode_tlv(9, b"xy", order)
    )
    records, taken = walk(memoryview(raw), order, BASE)
    assert records == [Tlv(7, BASE, b"abcd"), Tlv(0x102, BASE + 8, b""), Tlv(9, BASE + 12, b"xy")]
    assert taken == len(raw)


def test_head_is_type_then_length_of_the_value() -> None:
    """TLV-01."""
    assert encode_tlv(0x0102, bytes(3), "little") == bytes.fromhex("02010300 000000")
    assert encode_tlv(0x0102, bytes(3), "big") == bytes.fromhex("01020003 000000")


def test_last_empty_record_is_not_read() -> None:
    """TLV-02: the walk goes on while more than 4 bytes are left."""
    record = encode_tlv(1, b"\3", "little")
    assert walked(record + encode_tlv(2, b"", "little")) == ([(1, b"\3")], len(record))
    assert walked(encode_tlv(2, b"", "little")) == ([], 0)


@pytest.mark.parametrize("tail", [b"", b"\1", b"\1\0\0", b"\1\0\0\0"])
def test_up_to_4_trailing_bytes_are_ignored(tail: bytes) -> None:
    record = encode_tlv(1, b"\3", "little")
    assert walked(record + tail) == ([(1, b"\3")], len(record))


def test_truncated_record_ends_the_walk() -> None:
    record = encode_tlv(1, b"\3", "little")
    assert walked(record + struct.pack("<HH", 2, 9) + bytes(8)) == ([(1, b"\3")], len(record))
    assert walked(record + struct.pack("<HH", 2, 8) + bytes(8))[1] == len(record) + 12


def test_padding_is_4_zero_bytes() -> None:
    """TLV-03: a record of type 0 with a value is none."""
    records, _ = walk(memoryview(bytes(8) + encode_tlv(0, b"\1", "little")), "little", 0)
    assert [record.is_padding for record in records] == [True, True, False]


def test_linker_pads_before_entry_and_vector_types() -> None:
    """TLV-03: seen only before types 14 and 12, on A5; the fixtures have both."""
    followed = set()
    for operator in (SIMT_GATHER, PRINTF):
        for kernel in read_fixture(operator.stem, A5_SOC).kernels:
            tlvs = [record.tlv for record in kernel.records]
            pairs = pairwise(tlvs)
            followed |= {b.type for a, b in pairs if a.is_padding and not b.is_padding}
    assert followed == {FunctionMeta.FUNCTION_ENTRY_INFO, FunctionMeta.AIV_TYPE_FLAG}


def test_entry_reads_a_value_that_is_too_long() -> None:
    """TLV-04: the runtime reads fixed widths, whatever the length says."""
    entry = Entry("HH", low=int, high=int)
    assert entry.decode(b"\1\0\2\0\xff", "little") == {"low": 1, "high": 2}
    assert not entry.fits(5)
    assert entry.fits(4)


@pytest.mark.parametrize("length", range(4))
def test_entry_keeps_off_a_value_that_is_too_short(length: int) -> None:
    """HAZ-06."""
    assert Entry("HH", low=int, high=int).decode(bytes(length), "little") is None


def test_entry_encodes_what_is_not_given_as_0() -> None:
    assert Entry("B3xI", flag=int, key=int).encode("big", key=5) == bytes(7) + b"\5"


@pytest.mark.parametrize("length", range(1, 9))
def test_integer_of_record_width(length: int) -> None:
    """FUN-10: 1 to 8 bytes, cut to u32."""
    entry = UintEntry("size")
    raw = bytes(range(1, length + 1))
    assert entry.decode(raw, "little") == {"size": int.from_bytes(raw[:4], "little")}
    assert entry.decode(raw, "big") == {"size": int.from_bytes(raw[-4:], "big")}
    assert entry.fits(length)


@pytest.mark.parametrize("length", [0, 9, 12])
def test_integer_of_no_width_is_0(length: int) -> None:
    entry = UintEntry("size")
    assert entry.decode(b"\xff" * length, "little") == {"size": 0}
    assert not entry.fits(length)
