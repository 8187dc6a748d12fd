"""Messages between a caller and its child."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.ae import host_wire as wire

FIELDS = st.lists(st.integers(0, (1 << 64) - 1) | st.binary(max_size=64), min_size=1, max_size=8)


@given(FIELDS)
def test_messages_come_through(fields: wire.Message) -> None:
    assert wire.decode(wire.encode(*fields)[wire.SIZE.size :]) == fields


@given(FIELDS, st.data())
def test_other_bytes_are_no_message(fields: wire.Message, data: st.DataObject) -> None:
    """What decodes is what somebody encoded."""
    raw = bytearray(wire.encode(*fields)[wire.SIZE.size :])
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255))
    del raw[data.draw(st.integers(at, len(raw))) :]
    try:
        decoded = wire.decode(raw)
    except wire.WireError:
        return
    assert wire.encode(*decoded)[wire.SIZE.size :] == raw


def test_the_end_of_a_pipe() -> None:
    reader, writer = os.pipe()
    wire.send(writer, wire.encode(7, b"abc"))
    assert wire.receive(reader) == [7, b"abc"]
    os.write(writer, wire.encode(7, b"abc")[:-1])
    os.close(writer)
    with pytest.raises(EOFError):
        wire.receive(reader)
    os.close(reader)
