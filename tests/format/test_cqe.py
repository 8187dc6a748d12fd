"""Completion entries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.cqe import Cqe


def test_where_things_lie() -> None:
    """LCH-67: 32 bytes; flags in the order that the rule gives."""
    raw = bytes(range(32))
    cqe = Cqe.decode(raw)
    assert Cqe.SIZE == 32
    assert (cqe.stream_id, cqe.task_id, cqe.error_code) == (0x0100, 0x0302, 0x07060504)
    assert (cqe.error_type, cqe.sqe_type, cqe.sq_id, cqe.sq_head) == (8, 9, 0x0B0A, 0x0D0C)
    assert cqe.sqe_index == 0x1716151413121110
    assert cqe.encode() == raw
    flags = [name for name, span, _ in cqe.rows() if 112 <= span.lo < 128]
    assert flags == [
        "match",
        "drop",
        "error_bit",
        "acc_error",
        "next_task_valid",
        "notify_attached",
    ]


@given(st.binary(min_size=32, max_size=32))
def test_decode_then_encode_is_the_identity(raw: bytes) -> None:
    assert Cqe.decode(raw).encode() == raw
