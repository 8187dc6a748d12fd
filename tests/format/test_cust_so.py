"""Records that hand a library over. Spec 03, CPU-5."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format.cust_so import (
    BATCH_ARGS,
    CPU_SO_BUF,
    BatchArgs,
    CpuSoBuf,
    decode_batch_args,
    decode_so_buf,
)

U64 = st.integers(0, (1 << 64) - 1)
U32 = st.integers(0, (1 << 32) - 1)


def test_layouts() -> None:
    """CPU-5: packed, little endian; each field alone, by its offset."""
    assert (CPU_SO_BUF.size, BATCH_ARGS.size) == (24, 12)
    ones = [
        (CpuSoBuf(1, 0, 0, 0), 0),
        (CpuSoBuf(0, 1, 0, 0), 8),
        (CpuSoBuf(0, 0, 1, 0), 12),
        (CpuSoBuf(0, 0, 0, 1), 20),
    ]
    assert [record.encode().index(1) for record, _ in ones] == [at for _, at in ones]
    assert [BatchArgs(1, 0).encode().index(1), BatchArgs(0, 1).encode().index(1)] == [0, 4]


def test_the_worked_example() -> None:
    """EX-DEV-9."""
    load = CpuSoBuf(0x12C000002000, 65536, 0x12C000012000, 24).encode()
    assert load.hex() == "00200000c01200000000010000200100c012000018000000"
    unload = CpuSoBuf(0, 65536, 0x12C000014000, 24).encode()
    assert unload.hex() == "00000000000000000000010000400100c012000018000000"
    assert BatchArgs(1, 0x12C000013000).encode().hex() == "0100000000300100c0120000"


@given(U64, U32, U64, U32)
def test_decode_undoes_encode(so: int, size: int, name: int, length: int) -> None:
    record, args = CpuSoBuf(so, size, name, length), BatchArgs(length, name)
    assert decode_so_buf(record.encode() + b"more") == record
    assert decode_batch_args(args.encode()) == args


@given(st.binary(max_size=23))
def test_a_record_cut_off(raw: bytes) -> None:
    with pytest.raises(FormatError, match="the record takes 24"):
        decode_so_buf(raw)
    if len(raw) < BATCH_ARGS.size:
        with pytest.raises(FormatError, match="the record takes 12"):
            decode_batch_args(raw)
