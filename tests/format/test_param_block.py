"""The parameter block, good ones and those of section 11.8. Spec 07, section 1."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format.param_block import (
    EXT_SLOT,
    ParamBlock,
    decode_block,
    encode_block,
    io_slot,
)
from tests.op_calls import ROWS, block_of, ext_of

SIN = bytes.fromhex(
    "4300000002000000000000000000000000000000"
    + "00" * 16
    + "1b000000120353696e22090a0412020804220178 2a090a0412020804220179".replace(" ", "")
)


def with_u32(at: int, value: int, raw: bytes = SIN) -> bytes:
    return raw[:at] + struct.pack("<I", value) + raw[at + 4 :]


def test_recorded_blocks() -> None:
    """Section 11: five of the 20 byte for byte."""
    golden = [row for row in ROWS if "param_hex" in row]
    assert [block_of(row).hex() for row in golden] == [row["param_hex"] for row in golden]
    assert len(golden) == 5
    for row in ROWS:
        raw = block_of(row)
        block = decode_block(raw)
        assert (block.length, block.ext_length) == (len(raw), len(ext_of(row)))
        assert len(block.addresses) == len(row["inputs"]) + len(row["outputs"])


def test_slots() -> None:
    """OPR-101: an address written into its slot is read as that address."""
    raw = bytearray(encode_block(3, b"\x12\x01S", 24))
    struct.pack_into("<Q", raw, EXT_SLOT, 0x1000)
    for at in range(3):
        struct.pack_into("<Q", raw, io_slot(at), 0x2000 + at)
    addresses = (0x2000, 0x2001, 0x2002)
    assert decode_block(bytes(raw)) == ParamBlock(51, 24, 0x1000, addresses, b"\x12\x01S")


@given(st.integers(0, 40), st.binary(min_size=1), st.integers(0, (1 << 32) - 1), st.binary())
def test_decode_undoes_encode(n_io: int, node_def: bytes, ext_length: int, more: bytes) -> None:
    """OPR-103: names and ext info may stand behind a block."""
    raw = encode_block(n_io, node_def, ext_length)
    assert decode_block(raw + more) == ParamBlock(
        len(raw), ext_length, 0, (0,) * n_io, node_def, more
    )


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "0 bytes, the head takes 20"),
        (SIN[:19], "19 bytes, the head takes 20"),
        (with_u32(0, 0), "take 40 bytes, its head says 0"),
        (with_u32(0, 19), "take 40 bytes, its head says 19"),
        (with_u32(0, 20), "take 40 bytes, its head says 20"),
        (with_u32(0, 35), "its head says 35"),
        (with_u32(0, 36), "its head says 36"),
        (with_u32(0, 39), "its head says 39"),
        (with_u32(0, 40), "a NodeDef of 27 bytes, 0 are left"),
        (with_u32(0, 0xFFFFFFFF), "its head says 4294967295 bytes, there are 67"),
        (with_u32(4, 0), "its NodeDef is empty"),
        (with_u32(4, 1), "its NodeDef is empty"),
        (with_u32(4, 3), "a NodeDef of 168370798 bytes, 19 are left"),
        (with_u32(4, 0x20000000), "536870912 io addresses take 4294967320 bytes"),
        (with_u32(36, 0), "its NodeDef is empty"),
        (with_u32(36, 28), "a NodeDef of 28 bytes, 27 are left"),
        (with_u32(36, 0x7FFFFFFF), "a NodeDef of 2147483647 bytes"),
        (with_u32(36, 0xFFFFFFFF), "a NodeDef of 4294967295 bytes"),
    ],
)
def test_malformed_blocks(raw: bytes, why: str) -> None:
    """Section 11.8 and Q-1: what the library refuses, and what makes it crash."""
    with pytest.raises(FormatError) as caught:
        decode_block(raw)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=80))
def test_any_bytes(raw: bytes) -> None:
    try:
        block = decode_block(raw)
    except FormatError:
        return
    assert io_slot(len(block.addresses)) + 4 + len(block.node_def) <= block.length <= len(raw)


@pytest.mark.parametrize(("n_io", "ext_length"), [(-1, 0), (0, -1), (0, 1 << 32), (1 << 29, 0)])
def test_what_no_block_holds(n_io: int, ext_length: int) -> None:
    with pytest.raises(FormatError, match="no parameter block holds this"):
        encode_block(n_io, b"\x12\x01S", ext_length)
