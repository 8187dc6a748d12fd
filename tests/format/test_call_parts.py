"""Block, NodeDef and ext info against each other, the calls of section 11.8. Spec 07, section 2."""

from __future__ import annotations

import struct

import pytest

from cannkit.errors import FormatError
from cannkit.format.call_parts import count_elements, read_parts
from cannkit.format.ext_info import (
    I64_MAX,
    ExtEntry,
    ExtInfo,
    ExtType,
    bitmap,
    encode_ext,
    input_shapes,
    output_shapes,
    shape_type,
    workspace,
)
from cannkit.format.node_def import NodeDef, encode_node_def
from cannkit.format.node_tensor import NodeTensor
from cannkit.format.param_block import encode_block
from tests.op_calls import ROWS, block_of, call_of, ext_of

FOUR = [(0, (4,))]
SHAPES = (input_shapes(FOUR), output_shapes(FOUR))


def sin(
    *entries: ExtEntry,
    n_io: int = 2,
    op: str = "Sin",
    dims: tuple[int, ...] = (4,),
    out: tuple[int, ...] = (4,),
) -> tuple[bytes, bytes]:
    """Sin(float32[4]): its block and its ext info."""
    node = NodeDef(op, {}, (NodeTensor("x", 0, dims),), (NodeTensor("y", 0, out),))
    ext = encode_ext(ExtInfo(entries))
    return encode_block(n_io, encode_node_def(node), len(ext)), ext


def wait(kind: int) -> ExtEntry:
    return ExtEntry(ExtType.ASYNCWAIT, bytes([kind]) + bytes(16))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_recorded_calls_fit(row: dict[str, object]) -> None:
    node = call_of(row)
    parts = read_parts(block_of(row), ext_of(row))
    assert parts.is_dynamic == (row["shape_type"] is not None)
    assert parts.input_shapes == tuple(tensor.shape for tensor in node.inputs)
    assert parts.output_shapes == tuple(tensor.shape for tensor in node.outputs)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (sin(shape_type(3)), "ext info gives 0 input shapes, the NodeDef 1 inputs"),
        (sin(*SHAPES, shape_type(3)), "ext info gives 0 input shapes"),
        (sin(shape_type(3), SHAPES[0]), "ext info gives 0 output shapes"),
        (sin(shape_type(3), *SHAPES, SHAPES[0]), "ext info gives 2 input shapes"),
        (sin(shape_type(3), input_shapes([(0, (-1,))]), SHAPES[1]), "input 0 has a dimension"),
        (sin(wait(1)), "ASYNCWAIT of type 1"),
        (sin(wait(3)), "ASYNCWAIT of type 3"),
        (sin(n_io=1), "1 io addresses for 2 tensors"),
        (sin(n_io=3), "3 io addresses for 2 tensors"),
        (sin(op=""), "names no operator"),
        (sin(dims=(-1,)), "input 0 has a dimension below 0"),
        (sin(out=(-2,)), "output 0 has a dimension below 0"),
        (sin(dims=(1 << 61,)), "input 0 has more bytes"),
        (sin(out=(1 << 40, 1 << 40)), "output 0 has more bytes"),
        ((sin(workspace(8))[0], b""), "the block says 24 bytes of ext info, there are 0"),
        ((sin()[0], sin(workspace(8))[1]), "the block says 0 bytes of ext info, there are 24"),
    ],
)
def test_calls_that_the_library_refuses(call: tuple[bytes, bytes], why: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_parts(*call)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_calls_that_run() -> None:
    """Section 11.8, those that returned 0."""
    for call in (sin(), sin(wait(0)), sin(wait(2)), sin(workspace(8))):
        assert not read_parts(*call).is_dynamic
    static = read_parts(*sin(shape_type(3), bitmap(1), dims=(3,)))
    assert (static.is_dynamic, static.input_shapes) == (False, ((3,),))
    dynamic = read_parts(*sin(bitmap(0), *SHAPES, dims=(-1,), out=(-1,)))
    assert (dynamic.is_dynamic, dynamic.input_shapes) == (True, ((4,),))
    raw = bytearray(sin()[0])
    struct.pack_into("<I", raw, 8, 7)
    assert read_parts(bytes(raw)).ext.entries == ()  # OPR-401: less than 8 bytes are no entry


def test_an_output_may_be_open() -> None:
    """OPR-405, OPR-202 step 8."""
    open_shape = output_shapes([(0, (-1,))])
    assert read_parts(*sin(shape_type(3), SHAPES[0], open_shape)).output_shapes == ((-1,),)
    listed = ExtEntry(ExtType.UNKNOWN_SHAPE_OUTPUT_INDEX, bytes(4))
    assert read_parts(*sin(listed, out=(-1,))).output_shapes == ((-1,),)


def test_elements() -> None:
    assert [count_elements(dims) for dims in ((), (2, 3), (0, 5), (2, -1))] == [1, 6, 0, None]
    assert count_elements([1 << 62, 4]) == count_elements([1 << 62] * 4) == I64_MAX
