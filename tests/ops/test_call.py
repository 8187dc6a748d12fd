"""Calls as they are prepared: what they are checked for, and the bytes and the memory that they get. Spec 07."""

from __future__ import annotations

from typing import Any, Final

import pytest

from cannkit.errors import CannkitError, FormatError, UsageError
from cannkit.format.call_parts import read_parts
from cannkit.format.ext_info import ExtType, decode_ext, read_shapes
from cannkit.format.node_attr import Attr, AttrKind
from cannkit.format.node_def import DynamicIdx, decode_node_def
from cannkit.format.op_dtypes import OpDtype, find_op_dtype
from cannkit.ops.call import EXT, PARAM, WORKSPACE, CallOptions
from cannkit.ops.description import describe
from cannkit.ops.job import CallKind, JobCall, Region
from cannkit.ops.op_args import TENSOR_LIMIT, OpArg, Role
from cannkit.ops.proto_records import ProtoAttr
from cannkit.ops.raw_call import prepare_raw
from tests.op_calls import ROWS, attr_of
from tests.ops.calling import (
    DYNAMIC,
    F32,
    I64,
    OPTIONAL,
    REQUIRED,
    call,
    floats,
    given,
    info,
    proto,
    unknown,
    wanted,
)

INT: Final = OpDtype.INT32
ADD_JSON: Final = info("Add", [("x", [F32, I64]), ("y", [F32, I64])], [("z", [F32, I64])])
ADD: Final = describe("Add", ADD_JSON, None)
EIGHT: Final = floats(1, 2)
PAIR: Final = (given([2], EIGHT), given([2], EIGHT))


def bytes_of(region: Region) -> bytes:
    """What a region begins with."""
    assert region.data is not None
    return bytes(region.data[0 : len(region.data)])


def named(row: dict[str, Any]) -> Any:
    """A description that has the tensors of a recorded call, its dynamic ones as such."""
    sides = []
    for side, spans in (("inputs", "dym_inputs"), ("outputs", "dym_outputs")):
        dynamic = {idx: (name, num) for name, (idx, num) in row[spans].items()}
        tensors: list[tuple[str, list[OpDtype]]] = []
        at = 0
        while at < len(row[side]):
            name, num = dynamic.get(at, (None, 1))
            tensors.append((f"{name}*" if name else row[side][at]["name"], []))
            at += num
        sides.append(tensors)
    inputs, outputs = sides
    found = info(row["op"], inputs, outputs, shape_type=row["shape_type"] or 1)
    return describe(row["op"], found, None)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "nodedef_hex" in row], ids=lambda row: row["op"]
)
def test_recorded_bytes(row: dict[str, Any]) -> None:
    args = [
        given(each["shape"], bytes.fromhex(each["hex"]), find_op_dtype(each["dtype"]))
        for each in row["inputs"]
    ]
    args += [wanted(each["shape"], find_op_dtype(each["dtype"])) for each in row["outputs"]]
    attrs = {name: attr_of(**attr) for name, attr in row["attrs"].items()}
    found = call(named(row), args, attrs)
    assert found.node_raw.hex() == row["nodedef_hex"]
    assert found.block.hex() == row["param_hex"]
    recorded = decode_ext(bytes.fromhex(row["ext_hex"])).entries
    assert found.ext.entries[:-1] == recorded[:-1]  # their workspace has 4096 bytes
    assert found.remarks == ()


def test_memory() -> None:
    """OPR-104, OPR-106: a block, ext info and workspace; a region for each tensor; addresses in their slots."""
    found = call(ADD, [*PAIR, wanted([2], data=floats(9))], force=True)
    block, ext, *tensors, log = found.regions
    assert [bytes_of(block), bytes_of(ext)] == [found.block, found.ext_raw]
    assert [(bytes_of(each), each.size) for each in tensors] == [
        (EIGHT, 8), (EIGHT, 8), (floats(9), 8)
    ]  # fmt: skip
    assert (log.data, log.size) == (None, WORKSPACE)
    assert found.places == (2, 3, 4)
    parts = read_parts(found.block, found.ext_raw)
    assert [(each.region, each.offset, each.target) for each in found.relocations] == [
        (PARAM, 12, EXT), (PARAM, 20, 2), (PARAM, 28, 3), (PARAM, 36, 4),
        (EXT, next(parts.ext.workspaces())[1], 5),
    ]  # fmt: skip
    assert found.calls == (JobCall(PARAM),)
    assert [found.region_name(number) for number in range(6)] == [
        "the parameter block", "the ext info", "input 0 (x)", "input 1 (y)", "output 0 (z)",
        "the workspace",
    ]  # fmt: skip


def test_in_place() -> None:
    """OPR-309: one buffer, an input and an output; outputs are in the order of the arguments."""
    args = [given([2], EIGHT), given([2], EIGHT, role=Role.INOUT), wanted([2])]
    found = call("Op", args)
    assert [each.name for each in found.tensors] == ["input0", "input1", "output0", "output1"]
    assert found.places == (2, 3, 3, 4)
    assert found.region_name(3) == "input 1 (input1)"


def test_left_out() -> None:
    """OPR-308: a placeholder in the NodeDef, an address of 0."""
    op = describe(
        "Op",
        None,
        proto("Op", [("x", REQUIRED), ("m", OPTIONAL), ("n", OPTIONAL)], [("y", REQUIRED)]),
    )
    found = call(op, [given([2], EIGHT), OpArg(Role.NULL), given([2], EIGHT), wanted([2])])
    assert found.places == (2, None, 3, 4)
    assert [each.offset for each in found.relocations if each.region == PARAM] == [12, 20, 36, 44]
    assert not decode_node_def(found.node_raw).inputs[1].has_shape
    assert len(call(op, [given([2], EIGHT), wanted([2])]).inputs) == 1


def test_empty_tensors_have_an_address() -> None:
    """OPR-105, Q-14."""
    found = call("Op", [given([0, 3], b""), wanted([0])])
    assert [found.regions[place].size for place in found.places if place is not None] == [0, 0]
    assert [each.target for each in found.relocations if each.region == PARAM] == [EXT, 2, 3]


@pytest.mark.parametrize(
    ("count", "dtypes", "told"),
    [
        (0, [], "Op: 1 input is given, the prototype has 2 (x, y); the JSON has 2 (x, y)"),
        (2, [], "Op: 4 inputs are given, the prototype has 2 (x, y); the JSON has 2 (x, y)"),
    ],
)
def test_wrong_counts(count: int, dtypes: list[OpDtype], told: str) -> None:
    op = describe(
        "Op",
        info("Op", [("x", dtypes), ("y", dtypes)], [("z", dtypes)]),
        proto("Op", [("x", REQUIRED), ("y", REQUIRED)], [("z", REQUIRED)]),
    )
    args = [*PAIR[: 1 + bool(count)], *PAIR[: max(count, 0)], wanted([2])]
    with pytest.raises(UsageError) as error:
        call(op, args)
    assert error.value.what == told
    (remark,) = call(op, args, force=True).remarks
    assert (remark.code, remark.message) == ("args-differ", told)
    with pytest.raises(UsageError, match=r"2 outputs are given, the prototype has 1 \(z\)"):
        call(op, [*PAIR, wanted([2]), wanted([2])])


def test_counts_that_one_source_has() -> None:
    """Q-6, OPR-506: the JSON alone is no reason to refuse, nor a prototype that differs from it."""
    (remark,) = call(ADD, [PAIR[0], wanted([2])]).remarks
    assert remark[:2] == ("args-differ", "inputs")
    three = proto("Add", [("x", REQUIRED), ("y", REQUIRED), ("n", REQUIRED)], [("z", REQUIRED)])
    for args in ([*PAIR, wanted([2])], [*PAIR, PAIR[0], wanted([2])]):
        (remark,) = call(describe("Add", ADD_JSON, three), args).remarks
        assert remark.code == "args-differ"
    optional = proto("Add", [("x", REQUIRED), ("y", OPTIONAL), ("n", OPTIONAL)], [("z", REQUIRED)])
    with pytest.raises(UsageError, match=r"has 1 to 3 \(x, y, n\)"):
        call(describe("Add", None, optional), [*PAIR, *PAIR, wanted([2])])


def test_dynamic_inputs() -> None:
    op = describe("Cat", info("Cat", [("dim", []), ("x*", []), ("end", [])], [("y*", [])]), None)
    args = [*PAIR, *PAIR, PAIR[0], wanted([2]), wanted([2])]
    node = call(op, args).node
    assert [each.name for each in node.inputs] == ["dim", "x0", "x1", "x2", "end"]
    assert [each.name for each in node.outputs] == ["y0", "y1"]
    assert (node.dym_inputs, node.dym_outputs) == (
        {"x": DynamicIdx(1, 3)},
        {"y": DynamicIdx(0, 2)},
    )
    none = call(op, [*PAIR]).node
    assert none.dym_inputs == {"x": DynamicIdx(1, 0)}
    assert [each.name for each in none.inputs] == ["dim", "end"]
    (remark,) = call(op, [PAIR[0]]).remarks
    assert "the JSON has at least 2 (dim, x, end)" in remark.message


def test_two_dynamic_inputs() -> None:
    op = describe("Op", None, proto("Op", [("a", DYNAMIC), ("b", DYNAMIC)], [("y", REQUIRED)]))
    with pytest.raises(UsageError) as error:
        call(op, [*PAIR, wanted([2])])
    assert str(error.value) == "say by name which input each input belongs to: a, b are dynamic"
    args = [given([2], EIGHT, name=name) for name in "abb"]
    node = call(op, [*args, wanted([2])]).node
    assert [each.name for each in node.inputs] == ["a0", "b0", "b1"]
    assert node.dym_inputs == {"a": DynamicIdx(0, 1), "b": DynamicIdx(1, 2)}


def test_what_outputs_get_unsaid() -> None:
    """OPR-1302: the one data type that is declared, else that of the first input; its shape."""
    found = call(ADD, [*PAIR, wanted(None, None)])
    assert (found.outputs[0].dtype, found.outputs[0].shape) == (F32, (2,))
    one = describe("Op", info("Op", [("x", [F32])], [("y", [I64])]), None)
    assert call(one, [PAIR[0], wanted(None, None)]).outputs[0].size == 16
    other = describe("Op", info("Op", [("x", [F32])], [("y", [I64, INT])]), None)
    with pytest.raises(UsageError) as error:
        call(other, [PAIR[0], wanted(None, None)])
    assert (error.value.what, error.value.hint) == (
        "output 0 (y): say its data type", "one of int64, int32"
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"output 0 \(output0\): say its data type"):
        call("Op", [wanted([1], None)])
    with pytest.raises(UsageError, match=r"output 0 \(output0\): say its shape"):
        call("Op", [wanted(None)])


def test_data_types_that_are_not_declared() -> None:
    args = [given([1], b"\0\0", OpDtype.FLOAT16), given([1], floats(1)), wanted([1])]
    (remark,) = call(ADD, args).remarks
    assert remark == ("dtype-differs", "input 0 (x)", "float16, it is declared for float32, int64")


@pytest.mark.parametrize("data", [b"", bytes(4), bytes(12)])
def test_wrong_sizes(data: bytes) -> None:
    """Q-3."""
    args = [given([2], data), PAIR[0], wanted([2])]
    with pytest.raises(UsageError) as error:
        call(ADD, args)
    assert error.value.what == f"input 0 (x): {len(data)} bytes, float32 2 takes 8"
    found = call(ADD, args, force=True)
    assert found.regions[2].size == len(data)
    assert found.remarks[0].code == "size-differs"


def test_shapes_that_no_tensor_has() -> None:
    for shape in ([-1], [2, -3], [1 << 63]):
        with pytest.raises(UsageError, match="a dimension of "):
            call(ADD, [given(shape, EIGHT), PAIR[0], wanted([2])])
    with pytest.raises(UsageError, match="100 dimensions"):
        call("Op", [wanted([1] * 100)])
    with pytest.raises(UsageError, match="a dimension of -2"):
        call("Op", [PAIR[0], wanted([-2])])
    assert call("Op", [given([1] * 40, bytes(4))]).inputs[0].size == 4


def test_limits() -> None:
    """Q-19."""
    most = TENSOR_LIMIT // 4
    with pytest.raises(UsageError) as error:
        call("Op", [wanted([most + 1])])
    assert error.value.why == "cannkit hands over at most 1 GiB"
    for shape in ([1 << 31, 1 << 31], [1 << 62, 1 << 62]):
        with pytest.raises(UsageError, match="output 0"):
            call("Op", [wanted(shape)], force=True)
    with pytest.raises(UsageError) as error:
        call("Op", [wanted([most])] * 5)
    assert error.value.why == "cannkit hands over at most 4 GiB"
    assert call("Op", [wanted([1 << 62, 0, 1 << 62])]).outputs[0].size == 0


def test_a_type_without_a_size() -> None:
    """Raw bytes, whatever the shape."""
    args = [given([3], b"some text", OpDtype.STRING), wanted([1], OpDtype.STRING, b"12345")]
    found = call("Op", args)
    assert [found.regions[2].size, found.regions[3].size] == [9, 5]
    with pytest.raises(UsageError) as error:
        call("Op", [wanted([1], OpDtype.STRING)])
    assert error.value.hint == "give raw bytes"
    with pytest.raises(UsageError, match=r"input 0 \(input0\) has no data"):
        call("Op", [OpArg(Role.IN, F32, (1,))])


def test_dynamic_calls() -> None:
    """OPR-404, OPR-406, OPR-407, OPR-408: by the JSON, by an open dimension, or as asked for."""
    three = describe("Op", info("Op", [("x", [])], [("y", [])], shape_type=3), None)
    kinds = [ExtType.SHAPE_TYPE, ExtType.BITMAP, ExtType.INPUT_SHAPE, ExtType.OUTPUT_SHAPE]
    found = call(three, [PAIR[0], wanted([2], I64)])
    assert found.is_dynamic
    assert [each.type for each in found.ext.entries] == [*kinds, ExtType.WORKSPACE_INFO]
    assert [read_shapes(each) for each in found.ext.entries[2:4]] == [
        ((F32, (2,)),), ((I64, (2,)),)
    ]  # fmt: skip
    assert not call(three, [PAIR[0], wanted([2])], is_dynamic=False).is_dynamic
    assert call("Op", [PAIR[0], wanted([2])], is_dynamic=True).is_dynamic
    assert call("Op", [PAIR[0], wanted([2])]).ext.entries[0].type == ExtType.WORKSPACE_INFO
    for op in (three, unknown("Op")):
        assert call(op, [PAIR[0], wanted([2])], is_dynamic=True).ext.entries[0].value[0] == 3


def test_open_dimensions() -> None:
    found = call("Op", [given([2, 3], bytes(24)), given([4], bytes(16)), wanted([-1, 2])])
    (output,) = found.outputs
    assert (output.shape, output.bound, output.size) == ((-1, 2), (6, 2), 48)
    assert found.node.outputs[0].shape == (-1, 2)
    assert read_shapes(found.ext.entries[3])[0].dims == (6, 2)
    assert found.remarks == (("output-bound", "output 0 (output0)", "-1 is taken as at most 6"),)
    with pytest.raises(UsageError, match="a dimension of -1 makes a call dynamic"):
        call("Op", [PAIR[0], wanted([-1])], is_dynamic=False)
    with pytest.raises(UsageError) as error:
        call("Op", [given([1] * 9, bytes(4)), wanted([-1])])
    assert str(error.value) == "a tensor has 9 dimensions: shapes that come back have at most 8"


def test_attributes() -> None:
    """OPR-1303, Q-4, Q-5: kinds, what is required and what it is else come from the prototype."""
    attrs = [
        ProtoAttr("axis", AttrKind.INT, True, None),
        ProtoAttr("names", AttrKind.STRINGS, True, None),
        ProtoAttr("keep_dims", AttrKind.BOOL, False, False),
        ProtoAttr("value", AttrKind.TENSOR, False, None),
        ProtoAttr("odd", None, False, None),
    ]
    op = describe("Op", None, proto("Op", [("x", REQUIRED)], [("y", REQUIRED)], *attrs))
    args = [PAIR[0], wanted([2])]
    axis, names = Attr(AttrKind.INT, 1), Attr(AttrKind.EMPTY, ())
    found = call(op, args, {"axis": axis, "names": names, "odd": axis})
    keep = Attr(AttrKind.BOOL, False)
    assert found.node.attrs == {"axis": axis, "names": names, "odd": axis, "keep_dims": keep}
    assert found.remarks == ()
    with pytest.raises(UsageError) as error:
        call(op, args, {"axes": axis})
    assert error.value.what == "Op needs axis (int), names (strings)"
    assert error.value.hint == "axes may be axis"
    found = call(op, args, {"axes": axis}, force=True)
    assert [each[:2] for each in found.remarks] == [
        ("attr-missing", "attributes"), ("attr-unknown", "axes")
    ]  # fmt: skip
    assert found.remarks[1].message == "no attribute of the prototype; axes may be axis"
    wrong = {"axis": Attr(AttrKind.BOOL, True), "names": names}
    with pytest.raises(UsageError) as error:
        call(op, args, wrong)
    assert error.value.what == (
        "attribute axis is int, bool is given: the operator would read 0 without a word"
    )
    assert call(op, args, wrong, force=True).remarks[0].code == "attr-kind"
    anything = {"any": axis}
    assert call(ADD, [*PAIR, wanted([2])], anything).node.attrs == anything


def test_blocks() -> None:
    """OPR-902, OPR-904, Q-15."""
    args = [*PAIR, wanted([2])]
    name = "RunCpuKernelWithBlock"
    several = call("Add", args, function=name, blocks=3)
    assert several.calls == tuple(JobCall(PARAM, CallKind.BLOCK, 3, each) for each in range(3))
    assert call("Add", args, function=name).calls == (JobCall(PARAM, CallKind.BLOCK, 1, 0),)
    one = call("Add", args, blocks=3)
    assert (len(one.calls), one.remarks[0].code) == (1, "blocks-ignored")
    for blocks in (0, -1, 1 << 20):
        with pytest.raises(UsageError, match="blocks"):
            call("Add", args, function=name, blocks=blocks)


def test_options() -> None:
    args = [*PAIR, wanted([2])]
    found = call("Add", args, align=1, data_format=1, session=(7, 8, 1))
    assert {each.align for each in found.regions[2:5]} == {1}
    assert {each.data_format for each in (*found.node.inputs, *found.node.outputs)} == {1}
    assert [each.type for each in found.ext.entries] == [
        ExtType.SESSION_INFO, ExtType.WORKSPACE_INFO
    ]  # fmt: skip
    for align in (0, 3, 8192):
        with pytest.raises(UsageError, match="alignment"):
            call("Add", args, align=align)
    with pytest.raises(CannkitError):
        call("Add", args, {"n": Attr(AttrKind.INT, 1 << 64)})


def test_raw_bytes() -> None:
    """The same call by its bytes; Q-1 and Q-2 are told before anything runs."""
    made = call(ADD, [*PAIR, wanted([2])])
    data = [given([9], EIGHT), given([], EIGHT), OpArg(Role.OUT)]
    block, ext = memoryview(made.block), memoryview(made.ext_raw)
    found = prepare_raw(block, ext, data)
    assert (found.regions, found.relocations) == (made.regions, made.relocations)
    assert [each.name for each in found.tensors] == ["x", "y", "z"]
    with pytest.raises(FormatError, match="malformed parameter block"):
        prepare_raw(block[:-1], ext, data)
    with pytest.raises(FormatError, match="malformed ext info"):
        prepare_raw(
            block, memoryview(made.ext_raw[:4] + b"\xf8\xff\xff\xff" + made.ext_raw[8:]), data
        )
    with pytest.raises(UsageError, match="inputs that are given: 1: the NodeDef has 2"):
        prepare_raw(block, ext, data[1:])
    with pytest.raises(UsageError, match="4 bytes, float32 2 takes 8"):
        prepare_raw(block, ext, [given([2], floats(1)), *data[1:]])
    blocks = prepare_raw(block, ext, data, CallOptions("RunCpuKernelWithBlock", 2))
    assert len(blocks.calls) == 2
    huge = made.ext_raw[:8] + (1 << 40).to_bytes(8, "little") + bytes(8)
    with pytest.raises(UsageError, match="a workspace of"):
        prepare_raw(block, memoryview(huge), data)


def test_an_output_is_of_the_type_of_an_input_that_is_declared_alike() -> None:
    """OPR-1302: not of that of an axis in front."""
    types = [OpDtype.INT32, F32]
    split = describe(
        "Split", info("Split", [("axis", [OpDtype.INT32]), ("x", types)], [("y*", types)]), None
    )
    axis, x = given([], bytes(4), OpDtype.INT32), given([1], floats(1))
    assert call(split, [axis, x, wanted([1], None)]).outputs[0].dtype is F32
    other = describe(
        "Other",
        info("Other", [("axis", [OpDtype.INT32]), ("x", types)], [("y", [*types, I64])]),
        None,
    )
    with pytest.raises(UsageError, match=r"output 0 \(y\): say its data type"):
        call(other, [axis, x, wanted([1], None)])
    as_x = describe("As", info("As", [("x", types)], [("y", types)]), None)
    found = call(as_x, [given([1], bytes(8), I64), wanted([1], None)])
    assert found.outputs[0].dtype is I64  # the operator says what it thinks of it


def test_names_say_which_one_an_argument_is() -> None:
    args = [given([2], EIGHT, name="x"), given([2], EIGHT, name="y"), wanted([2], name="z")]
    assert [each.name for each in call(ADD, args).tensors] == ["x", "y", "z"]
    with pytest.raises(UsageError, match="input 0 is x, not y") as error:
        call(ADD, [args[1], args[0], args[2]])
    assert error.value.hint == "the inputs in their order: x, y"
    with pytest.raises(UsageError, match="output 0 is z, not q"):
        call(ADD, [*args[:2], wanted([2], name="q")])


def test_shapes_that_are_guessed_are_told() -> None:
    """OPR-1302: of the first input, which may not be that of the output."""
    auto = wanted(None, None)
    assert call(ADD, [*PAIR, auto]).remarks == ()
    wide = call(ADD, [given([2], EIGHT), given([1, 2], EIGHT), auto])
    assert wide.remarks == (
        ("shape-guessed", "output 0 (z)", "its shape [2] is a guess: that of x"),
    )
    place = describe("ArgMax", info("ArgMax", [("x", [F32])], [("place", [INT])]), None)
    assert [each.code for each in call(place, [PAIR[0], auto]).remarks] == ["shape-guessed"]


def test_dynamic_inputs_that_only_the_prototype_has() -> None:
    """OPR-506: of the same name in both, so their counts do not differ."""
    json = info("AddN", [("x", [F32])], [("y", [F32])])
    count = ProtoAttr("N", AttrKind.INT, False, 1)
    op = describe("AddN", json, proto("AddN", [("x", DYNAMIC)], [("y", REQUIRED)], count))
    args = [*PAIR, given([2], EIGHT), wanted([2])]
    assert call(op, args, {"N": Attr(AttrKind.INT, 3)}).remarks == ()
    assert call(op, args).remarks == (
        ("count-differs", "N", "it is 1 by default, x has 3 tensors"),
    )


def test_a_required_input_that_is_not_given() -> None:
    """OPR-308: a placeholder is for an optional one; the shape of an output is that of another input."""
    op = describe("Op", None, proto("Op", [("x", REQUIRED), ("y", OPTIONAL)], [("z", REQUIRED)]))
    found = call(op, [OpArg(Role.NULL), given([2], EIGHT), wanted(None)])
    assert found.remarks == (("input-missing", "input 0 (x)", "the prototype requires it"),)
    assert found.outputs[0].shape == (2,)
    assert call(op, [given([2], EIGHT), OpArg(Role.NULL), wanted([2])]).remarks == ()
    with pytest.raises(UsageError, match="there is no input that has one"):
        call(op, [OpArg(Role.NULL), OpArg(Role.NULL), wanted(None)])
