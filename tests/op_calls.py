"""The recorded calls of real AI CPU operators, as the values that cannkit makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from cannkit.format.ext_info import (
    ExtInfo,
    bitmap,
    encode_ext,
    input_shapes,
    output_shapes,
    shape_type,
    workspace,
)
from cannkit.format.node_attr import Attr, AttrKind
from cannkit.format.node_def import DynamicIdx, NodeDef, encode_node_def
from cannkit.format.node_tensor import NodeTensor
from cannkit.format.op_dtypes import find_op_dtype
from cannkit.format.param_block import encode_block
from tests.facts import rows

WORKSPACE: Final = 4096  # bytes, in every recorded call
ROWS: Final = rows("op_calls")


def call_of(row: Mapping[str, Any]) -> NodeDef:
    """The NodeDef of a row."""
    return NodeDef(
        row["op"],
        {name: attr_of(**attr) for name, attr in row["attrs"].items()},
        tuple(tensors_of(row["inputs"], row["data_format"])),
        tuple(tensors_of(row["outputs"], row["data_format"])),
        {name: DynamicIdx(*span) for name, span in row["dym_inputs"].items()},
        {name: DynamicIdx(*span) for name, span in row["dym_outputs"].items()},
    )


def attr_of(kind: str, value: Any) -> Attr:
    """An attribute; `list_int` of a row is `ints` here."""
    if kind.startswith("list_"):
        return Attr(AttrKind(kind.removeprefix("list_") + "s"), tuple(value))
    return Attr(AttrKind(kind), value)


def tensors_of(tensors: Iterable[Mapping[str, Any]], data_format: int) -> Iterable[NodeTensor]:
    """The tensors of a row."""
    for tensor in tensors:
        dtype = find_op_dtype(tensor["dtype"])
        yield NodeTensor(tensor["name"], dtype, tuple(tensor["shape"]), data_format)


def ext_of(row: Mapping[str, Any]) -> bytes:
    """The ext info of a row: OPR-408."""
    node = call_of(row)
    entries = [workspace(WORKSPACE)]
    if row["shape_type"] is not None:
        entries = [
            shape_type(row["shape_type"]),
            bitmap(0),
            input_shapes((tensor.dtype, tensor.shape) for tensor in node.inputs),
            output_shapes((tensor.dtype, tensor.shape) for tensor in node.outputs),
            *entries,
        ]
    return encode_ext(ExtInfo(tuple(entries)))


def block_of(row: Mapping[str, Any]) -> bytes:
    """The parameter block of a row, its addresses zero."""
    n_io = len(row["inputs"]) + len(row["outputs"])
    return encode_block(n_io, encode_node_def(call_of(row)), len(ext_of(row)))
