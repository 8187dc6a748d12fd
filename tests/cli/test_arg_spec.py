"""Arguments as the command line spells them: what is taken, and one line for what is not."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cannkit.api.values import DTYPES
from cannkit.cli.arg_spec import (
    TENSOR_LIMIT,
    TILING_LIMIT,
    ArgSpec,
    Role,
    Rule,
    contents_of,
    parse_spec,
)
from cannkit.errors import ExitCode, InputError, UsageError

F32: Final = DTYPES["f32"]
FOUR: Final = struct.pack("<4f", 1, 2, 3, 4)

WORDS: Final = ("in:", "out:", "inout:", "ws:", "tiling:", "null", "f32", "i8", "c64", "random:",
                "zeros", "0x", "9" * 20)  # fmt: skip
LETTERS: Final = "[],:x@=-0123fzé\0\n"

TAKEN: Final[dict[str, dict[str, Any]]] = {
    "in:f32[4]=1,2,3,4": {"role": Role.IN, "dtype": F32, "shape": (4,), "data": FOUR},
    "in:f32[2, 2]= 1,2, 3 ,4": {"role": Role.IN, "dtype": F32, "shape": (2, 2), "data": FOUR},
    "in:f32:2x2=1,2,3,4": {"role": Role.IN, "dtype": F32, "shape": (2, 2), "data": FOUR},
    "in:f32[2x2]=1,2,3,4": {"role": Role.IN, "dtype": F32, "shape": (2, 2), "data": FOUR},
    "in:float32=1,2,3,4": {"role": Role.IN, "dtype": F32, "data": FOUR},
    "in:i8[]=-1": {"role": Role.IN, "dtype": DTYPES["i8"], "shape": (), "data": b"\xff"},
    "in:i8[0]=": {"role": Role.IN, "dtype": DTYPES["i8"], "shape": (0,), "data": b""},
    "in:f32:2x3@x.bin": {"role": Role.IN, "dtype": F32, "shape": (2, 3), "file": "x.bin"},
    "in:f32@a@b:c.bin": {"role": Role.IN, "dtype": F32, "file": "a@b:c.bin"},
    "in:f32[3]=zeros": {"role": Role.IN, "dtype": F32, "shape": (3,), "rule": Rule.ZEROS},
    "in:f32[3]=ones": {"role": Role.IN, "dtype": F32, "shape": (3,), "rule": Rule.ONES},
    "in:f32:3=arange": {"role": Role.IN, "dtype": F32, "shape": (3,), "rule": Rule.ARANGE},
    "in:f32[3]=random:7": {
        "role": Role.IN, "dtype": F32, "shape": (3,), "rule": Rule.RANDOM, "seed": 7,
    },
    "out:f32[4]": {"role": Role.OUT, "dtype": F32, "shape": (4,)},
    "out:f32:4@y@z": {"role": Role.OUT, "dtype": F32, "shape": (4,), "out": "y@z"},
    "inout:f32@x": {"role": Role.INOUT, "dtype": F32, "file": "x"},
    "inout:f32[4]@x@y": {"role": Role.INOUT, "dtype": F32, "shape": (4,), "file": "x", "out": "y"},
    "inout:f32=1,2,3,4@y": {"role": Role.INOUT, "dtype": F32, "data": FOUR, "out": "y"},
    "inout:f32[2]=zeros": {"role": Role.INOUT, "dtype": F32, "shape": (2,), "rule": Rule.ZEROS},
    "ws:4096": {"role": Role.WORKSPACE, "size": 4096},
    "ws:0x1000": {"role": Role.WORKSPACE, "size": 4096},
    "ws:16k": {"role": Role.WORKSPACE, "size": 16 << 10},
    "ws:2MiB": {"role": Role.WORKSPACE, "size": 2 << 20},
    "ws:1g": {"role": Role.WORKSPACE, "size": 1 << 30},
    "tiling:=0A0b": {"role": Role.TILING, "data": b"\x0a\x0b"},
    "tiling:=0x0a 0b": {"role": Role.TILING, "data": b"\x0a\x0b"},
    "tiling:@t.bin": {"role": Role.TILING, "file": "t.bin"},
    "null": {"role": Role.NULL},
    "u64:18446744073709551615": {
        "role": Role.SCALAR, "dtype": DTYPES["u64"], "shape": (), "data": b"\xff" * 8,
    },
    "i32:-0x2": {
        "role": Role.SCALAR, "dtype": DTYPES["i32"], "shape": (), "data": b"\xfe\xff\xff\xff",
    },
    "f32:1": {"role": Role.SCALAR, "dtype": F32, "shape": (), "data": b"\0\0\x80?"},
    "bool:true": {"role": Role.SCALAR, "dtype": DTYPES["bool"], "shape": (), "data": b"\1"},
}  # fmt: skip

REFUSED: Final = {
    "": "no such kind of argument",
    "in": "no such kind of argument: did you mean in",
    "input:f32[4]=ones": "did you mean in",
    "flaot:1": "did you mean float",
    "null:": "no such kind of argument",
    "in:": "not DTYPE",
    "in:f32": "needs @FILE or =VALUES",
    "in:f32[4": "not DTYPE",
    "in:f32[4]x.bin": "not DTYPE",
    "in:f31[4]=ones": "unknown dtype 'f31'",
    "in:f32[4]@": "no name of a file",
    "in:f32[4]=1,2,3": "3 values, f32[4] takes 4",
    "in:f32[4]=1,2,3,4,5": "5 values, f32[4] takes 4",
    "in:f32[4]=": "0 values, f32[4] takes 4",
    "in:f32[2]=1,": "'' is no f32 value",
    "in:i32[1]=1.5": "'1.5' is no i32 value",
    "in:u8[2]=1,256": "256 does not fit in u8",
    "in:f16[1]=1e5": "does not fit in f16",
    "in:f32[-1]=ones": "'-1' is no shape",
    "in:f32[2,]=ones": "'2,' is no shape",
    "in:f32[a]=ones": "'a' is no shape",
    "in:f32:2:3=ones": "'2:3' is no shape",
    "in:f32=ones": "it needs a shape",
    "in:f32[4]=random": "take a seed",
    "in:f32[4]=random:": "take a seed",
    "in:f32[4]=random:x": "take a seed",
    "in:f32[4]=random:18446744073709551616": "not a number of 64 bits",
    "in:f32[1073741824]=zeros": "more than 1 GiB",
    "in:f32[99999999999999999999,99999999999999999999]=zeros": "more than 1 GiB",
    "out:i64[134217729]": "more than 1 GiB",
    "in:f32[" + ",".join("1" * 33) + "]=ones": "33 dimensions",
    "out:f32": "an output needs a shape",
    "out:f32@y": "an output needs a shape",
    "out:f32[2]@": "no name of a file",
    "out:f32[2]=zeros": "an output starts as zeros",
    "inout:f32[2]": "needs @FILE or =VALUES",
    "inout:f32[2]@x@": "no name of a file",
    "ws:0": "number of bytes",
    "ws:-1": "number of bytes",
    "ws:1.5k": "number of bytes",
    "ws:18446744073709551616": "number of bytes",
    "ws:18446744073709551615g": "number of bytes",
    "tiling:": "tiling data is",
    "tiling:=": "tiling data is",
    "tiling:=abc": "tiling data is",
    "tiling:=xy": "tiling data is",
    "tiling:@": "no name of a file",
    "u64": "no value, as in u64:1",
    "u64:": "'' is no u64 value",
    "u64:-1": "-1 does not fit in u64",
    "u64:18446744073709551616": "does not fit in u64",
    "i32:2147483648": "does not fit in i32",
    "u64:" + "9" * 9000: "is no u64 value",
    # digits of other scripts, and a Kelvin sign
    "in:f32[1]=\uff11": "'\uff11' is no f32 value",
    "in:f32[\uff11]=1": "'\uff11' is no shape",
    "in:f32:\u0661=1": "'\u0661' is no shape",
    "in:f\uff13\uff12[1]=1": "unknown dtype",
    "in:f32[1]=random:\uff11": "take a seed",
    "in:u8[1]=\u0661": "'\u0661' is no u8 value",
    "in:c64[1]=1+\uff11j": "'1+\uff11j' is no c64 value",
    "in:bool[1]=\uff11": "'\uff11' is no bool value",
    "f64:\uff11": "'\uff11' is no f64 value",
    "bf16:1\u0660": "is no bf16 value",
    "i32:\u00b2": "is no i32 value",
    "ws:\uff11": "number of bytes",
    "ws:1\u212a": "number of bytes",
    "tiling:=\uff11\uff11": "tiling data is",
}


@pytest.mark.parametrize("text", TAKEN)
def test_taken(text: str) -> None:
    assert parse_spec(text) == ArgSpec(text=text, **TAKEN[text])


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_refused(text: str) -> None:
    """One line that names the argument, exit 2."""
    with pytest.raises(UsageError) as caught:
        parse_spec(text)
    message = str(caught.value)
    assert REFUSED[text] in message
    assert message.startswith("--arg '" + text[:100])
    assert "\n" not in message
    assert len(message) < 400
    assert caught.value.exit_code is ExitCode.USAGE


@given(st.lists(st.sampled_from((*WORDS, *LETTERS)), max_size=12).map("".join))
@example("in:f32[0,99999999999999999999]=zeros")
def test_any_text_is_taken_or_refused(text: str) -> None:
    """And what is taken without a file makes contents of the size that it states."""
    try:
        spec = parse_spec(text)
    except UsageError:
        return
    if spec.file is None and spec.role is not Role.WORKSPACE:
        contents = contents_of(spec)
        assert contents.size <= TENSOR_LIMIT
        assert contents.data is None or len(contents.data) == contents.size


def test_zeros_are_not_made() -> None:
    contents = contents_of(parse_spec("in:f32[1024,262144]=zeros"))
    assert contents == (None, TENSOR_LIMIT, (1024, 262144))
    assert contents_of(parse_spec("out:u8[5]")) == (None, 5, (5,))
    assert contents_of(parse_spec(f"ws:{1 << 40}")) == (None, 1 << 40, ())
    assert contents_of(parse_spec("null")) == (None, 0, ())


def read(spec: str) -> tuple[bytes, int, tuple[int, ...]]:
    data, size, shape = contents_of(parse_spec(spec))
    assert data is not None
    return bytes(data[0 : len(data)]), size, shape


def test_contents_without_a_file() -> None:
    assert read("in:f32=1,2,3,4") == (FOUR, 16, (4,))
    assert read("in:f32:2x2=1,2,3,4") == (FOUR, 16, (2, 2))
    assert read("in:u8[2,2]=arange") == (bytes(range(4)), 4, (2, 2))
    assert read("in:u8[3]=ones") == (b"\1\1\1", 3, (3,))
    assert read("inout:u8[3]=random:1") == read("in:u8[3]=random:1")
    assert read("tiling:=0a0b") == (b"\x0a\x0b", 2, ())
    assert read("u16:258") == (b"\2\1", 2, ())


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(FOUR)
    assert read(f"in:f32[2,2]@{file}") == (FOUR, 16, (2, 2))
    assert read(f"in:f32@{file}") == (FOUR, 16, (4,))
    assert read(f"inout:i64@{file}@{file}.out") == (FOUR, 16, (2,))
    assert read(f"tiling:@{file}") == (FOUR, 16, ())


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    """Missing, too short, too long, no file at all: exit 3, and the sizes are told."""
    file, empty, huge = tmp_path / "x.bin", tmp_path / "empty", tmp_path / "huge"
    file.write_bytes(bytes(15))
    empty.write_bytes(b"")
    with huge.open("wb") as sparse:
        sparse.truncate(TENSOR_LIMIT + 4)
    wrong = {
        f"in:f32[4]@{file}": "f32[4] takes 16 bytes, the file has 15",
        f"in:f32[3]@{file}": "f32[3] takes 12 bytes, the file has 15",
        f"in:f32@{file}": "15 bytes are no whole f32 values",
        f"in:f32@{huge}": "or more than 1 GiB",
        f"in:f32[4]@{huge}": f"the file has {TENSOR_LIMIT + 4}",
        f"tiling:@{empty}": f"1 to {TILING_LIMIT} bytes, the file 0",
        f"tiling:@{huge}": f"1 to {TILING_LIMIT} bytes",
        f"in:f32[4]@{tmp_path}": "directory",
        f"in:f32[4]@{tmp_path}/nothing": "No such file",
        "in:f32[4]@/dev/zero": "not a regular file",
    }
    for text, why in wrong.items():
        with pytest.raises(InputError) as caught:
            contents_of(parse_spec(text))
        assert why in str(caught.value)
        assert caught.value.exit_code is ExitCode.INPUT
