"""Arguments of an operator as the command line spells them. Spec 07, OPR-1302 and OPR-1304."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.cli.op_arg_spec import parse_op_spec
from cannkit.errors import CannkitError, UsageError
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.op_args import OpArg, Role


def raw(arg: OpArg) -> bytes | None:
    return None if arg.data is None else bytes(arg.data[0 : len(arg.data)])


@pytest.mark.parametrize(
    ("text", "role", "dtype", "shape", "data"),
    [
        ("in:f32[2]=1,2", Role.IN, OpDtype.FLOAT, (2,), "0000803f00000040"),
        ("in:float32:2x1=1,2", Role.IN, OpDtype.FLOAT, (2, 1), "0000803f00000040"),
        ("in:DT_INT8=1,2,-1", Role.IN, OpDtype.INT8, (3,), "0102ff"),
        ("in:bfloat16[]=1", Role.IN, OpDtype.BF16, (), "803f"),
        ("in:c128[1]=1+2j", Role.IN, OpDtype.COMPLEX128, (1,), "000000000000f03f" + "0000000000000040"),
        ("in:f16[0]=", Role.IN, OpDtype.FLOAT16, (0,), ""),
        ("in:u8[4]=zeros", Role.IN, OpDtype.UINT8, (4,), "00000000"),
        ("in:dt:4[2]=hex:0102", Role.IN, OpDtype.UINT8, (2,), "0102"),
        ("in:dt:35=hex:0102", Role.IN, OpDtype.FLOAT8_E5M2, (2,), "0102"),
        ("in:string[1]=hex:0102", Role.IN, OpDtype.STRING, (1,), "0102"),
        ("inout:i16[1]=5", Role.INOUT, OpDtype.INT16, (1,), "0500"),
        ("out:f64[-1,3]", Role.OUT, OpDtype.DOUBLE, (-1, 3), None),
        ("out:dt:99[2]", Role.OUT, OpDtype(99), (2,), None),
        ("out:i64", Role.OUT, OpDtype.INT64, None, None),
        ("out:auto", Role.OUT, None, None, None),
        ("null", Role.NULL, None, None, None),
    ],
)  # fmt: skip
def test_what_they_are(
    text: str, role: Role, dtype: OpDtype | None, shape: tuple[int, ...] | None, data: str | None
) -> None:
    arg = parse_op_spec(text).arg
    assert (arg.role, arg.dtype, arg.shape, arg.name) == (role, dtype, shape, "")
    assert raw(arg) == (None if data is None else bytes.fromhex(data))


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "x.bin"
    file.write_bytes(bytes(8))
    given_ = parse_op_spec(f"in:i32[2]@{file}")
    assert (given_.arg.shape, raw(given_.arg), given_.file) == ((2,), bytes(8), str(file))
    assert parse_op_spec(f"in:i32@{file}").arg.shape == (2,)
    assert parse_op_spec(f"in:dt:36@{file}").arg.shape == (8,)
    assert parse_op_spec("out:f32[2]@y.bin").out == "y.bin"
    assert parse_op_spec("out:auto@y.bin").out == "y.bin"
    both = parse_op_spec(f"inout:i32[2]@{file}@y.bin")
    assert (both.file, both.out) == (str(file), "y.bin")
    assert parse_op_spec("inout:u8[1]=hex:00@y.bin").out == "y.bin"
    with pytest.raises(CannkitError):
        parse_op_spec(f"in:i32[3]@{file}")
    with pytest.raises(CannkitError):
        parse_op_spec(f"in:i32@{tmp_path}/gone")


def test_a_name() -> None:
    """Which of several dynamic inputs a tensor belongs to."""
    assert parse_op_spec("in(x):f32[1]=1").arg.name == "x"


@pytest.mark.parametrize(
    "text",
    [
        "", "in", "in:", "in:f32", "in:f32[1]", "in:f33[1]=1", "in:f32[1=1", "in:f32[a]=1", "in:f32[1]=x",
        "in:f32[-1]=1", "in:f32[1]=hex:0", "in:f32[1]=hex:00", "in:string=hex:00", "in:dt:35[1]=1",
        "in:dt:99999999999[1]=1", "in:f32[1]=hex:00000000@y", "out:f32[1]=1", "out:f32[1]@", "out:auto@", "out:auto=1",
        "ws:10", "u64:5", "tiling:=00", "nul", "in(a b):f32[1]=1", "out:f32[" + "1," * 40 + "1]",
        "out:f32[999999999999]", "in:i8[1]=random",
    ],
)  # fmt: skip
def test_what_they_are_not(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_op_spec(text)
    assert caught.value.what.startswith("--arg ")


@given(
    st.text("inoutf32dt:[]=@,x-1hex()zeros ", max_size=40)
    | st.builds(
        "{}:{}[{}]={}".format,
        st.sampled_from(["in", "out", "inout"]),
        st.sampled_from(["f32", "dt:3", "dt:77", "DT_BOOL", "string"]),
        st.text("0123456789,x-", max_size=12),
        st.text("0123456789,.-ehx:", max_size=12),
    )
)
def test_nothing_else_is_raised(text: str) -> None:
    """Whatever is written is an argument or an error of ours."""
    try:
        parse_op_spec(text)
    except CannkitError:
        return
