"""cannkit/runtime/arg_values.py: what a user gives a kernel, and the block it makes."""

from __future__ import annotations

from typing import Any

import pytest

from cannkit.errors import UsageError
from cannkit.runtime.arg_values import (
    NULL_ARG,
    ArgKind,
    BlockBuilder,
    Slot,
    SlotOrigin,
    UserArg,
    block_arg,
    listed,
    place_of,
    user_arg,
    whole_block,
)
from cannkit.runtime.args import ArgsEx, Placeholder

USER, TILING = SlotOrigin.USER, SlotOrigin.TILING


class Index:
    """A number that is no int, as numpy has them."""

    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (0x1000, UserArg(ArgKind.ADDRESS, address=0x1000)),
        (2**64 - 1, UserArg(ArgKind.ADDRESS, address=2**64 - 1)),
        (Index(), UserArg(ArgKind.ADDRESS, address=7)),
        (None, NULL_ARG),
        (b"\x01\x02", UserArg(ArgKind.SCALAR, b"\x01\x02", size=2)),
        (bytearray(b"\x01"), UserArg(ArgKind.SCALAR, b"\x01", size=1)),
        (memoryview(bytes(4)).cast("I"), UserArg(ArgKind.SCALAR, bytes(4), size=4)),
        (UserArg(ArgKind.IN, label="x"), UserArg(ArgKind.IN, label="x")),
    ],
)
def test_values(value: object, meant: UserArg) -> None:
    assert user_arg(value, "it") == meant


def test_tiling_data() -> None:
    assert user_arg(b"ab", "it", is_tiling=True) == UserArg(ArgKind.TILING, b"ab", size=2)


@pytest.mark.parametrize("value", [1.5, "text", [1], object(), 2 + 0j])
def test_what_is_no_argument(value: object) -> None:
    with pytest.raises(UsageError, match=f"it is a {type(value).__name__}"):
        user_arg(value, "it")


@pytest.mark.parametrize("value", [-1, 2**64, 10**4000, UserArg(ArgKind.OUT, address=-8)])
def test_numbers_that_do_not_fit(value: object) -> None:
    with pytest.raises(UsageError, match="it does not fit in 64 bits") as caught:
        user_arg(value, "it")
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize(
    "fields",
    [
        {"address": "0x1000"},
        {"address": 2**64},
        {"size": -1},
        {"shape": (2, -1)},
        {"shape": (2**64,)},
        {"shape": (1.5,)},
        {"data": "text"},
        {"data": bytearray(8)},
    ],
)
def test_fields_that_make_no_sense(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="it "):
        user_arg(UserArg(ArgKind.IN)._replace(**fields), "it")


def test_words() -> None:
    """8 bytes by value may stand for an address; a float may not."""
    word = UserArg(ArgKind.SCALAR, (5).to_bytes(8, "little"), dtype="u64")
    assert word.is_word
    assert word.word == 5
    assert not word._replace(dtype="f64").is_word
    assert not word._replace(data=bytes(4)).is_word
    assert not UserArg(ArgKind.SCALAR).is_word
    assert UserArg(ArgKind.IN, address=9).word == 9


@pytest.mark.parametrize("args", [5, None, "abc", {1: 2}, {1}])
def test_what_is_no_list(args: Any) -> None:
    with pytest.raises(UsageError, match=f"arguments are a {type(args).__name__}, not a list"):
        listed(args)


def test_places() -> None:
    arg = UserArg(ArgKind.IN, label="in:f32[4]")
    assert place_of(4, 5, "workspace") == "argument 4 of 5 (workspace)"
    assert place_of(1, 2, "input", arg) == "argument 1 of 2 (input), in:f32[4]"
    assert place_of(1, 2, "input", 0x1000) == "argument 1 of 2 (input)"
    assert len(place_of(1, 1, "input", arg._replace(label="x" * 9999))) < 200


def test_a_block() -> None:
    """LCH-22: the table first, then what it points at."""
    block = BlockBuilder()
    block.word(0x1000, "input", USER, 0)
    block.pointer(b"tile!", "tiling", TILING, 1)
    block.value(b"\x07", "scalar", USER, 2)
    block.pointer(b"list", "input", SlotOrigin.PLACEHOLDER, 3)
    assert block.size == 32
    args, slots = block.finish()
    content = (0x1000).to_bytes(8, "little") + bytes(8) + b"\x07" + bytes(15)
    content += b"tile!\0\0\0list"
    assert args == ArgsEx(content, 44, (Placeholder(24, 40),), Placeholder(8, 32))
    assert slots == (
        Slot(0, 8, "input", USER, 0),
        Slot(8, 8, "tiling", TILING, 1),
        Slot(16, 1, "scalar", USER, 2),
        Slot(24, 8, "input", SlotOrigin.PLACEHOLDER, 3),
        Slot(32, 5, "tiling data", TILING, 1),
        Slot(40, 4, "input data", SlotOrigin.PLACEHOLDER, 3),
    )


def test_a_second_tiling_is_a_placeholder() -> None:
    block = BlockBuilder()
    block.pointer(b"1", "tiling", TILING, 0)
    block.pointer(b"2", "tiling", TILING, 1)
    args, _ = block.finish()
    assert (args.tiling, args.placeholders) == (Placeholder(0, 16), (Placeholder(8, 24),))


def test_a_block_of_the_user() -> None:
    assert block_arg(bytearray(b"abc")) == UserArg(ArgKind.SCALAR, b"abc", size=3)
    args, slots = whole_block(memoryview(b"abc"))
    assert args == ArgsEx(b"abc", 3)
    assert slots == (Slot(0, 3, "block", USER, 0),)
