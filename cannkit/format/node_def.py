"""NodeDef: the description of one call of an AI CPU operator, and its bytes. Spec 07, section 3.

`decode_node_def` reads what protobuf reads; `encode_node_def` writes the canonical form (OPR-302), so
bytes in that form come out as they went in, and others describe the same call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cannkit.errors import FormatError, brief
from cannkit.format.node_attr import Attr, attr_bytes, read_attr
from cannkit.format.node_tensor import NodeTensor, number_bytes, read_tensor, tensor_bytes
from cannkit.format.proto_wire import (
    I32_RANGE,
    Fields,
    as_i32,
    delimited,
    malformed,
    read_fields,
    read_merged,
)

NODE_DEF_LIMIT: Final = 1 << 18  # bytes; a usual one has some hundreds


class DynamicIdx(NamedTuple):
    """Where the tensors of a dynamic input or output are: the index of the first, and their number."""

    idx: int
    num: int


NO_DYNAMIC: Final[Mapping[str, DynamicIdx]] = MappingProxyType({})


class NodeDef(NamedTuple):
    """One call: the operator's name, attributes, tensors in the order of their addresses."""

    op: str
    attrs: Mapping[str, Attr]
    inputs: tuple[NodeTensor, ...]
    outputs: tuple[NodeTensor, ...]
    dym_inputs: Mapping[str, DynamicIdx] = NO_DYNAMIC
    dym_outputs: Mapping[str, DynamicIdx] = NO_DYNAMIC


def encode_node_def(node: NodeDef) -> bytes:
    """The canonical bytes; raises FormatError for a value that has no place in them."""
    try:
        parts = [delimited(b"\x12", node.op.encode())] if node.op else []
        if node.attrs:
            parts += _entries(b"\x1a", node.attrs, attr_bytes)
        parts += [delimited(b"\x22", tensor_bytes(tensor)) for tensor in node.inputs]
        parts += [delimited(b"\x2a", tensor_bytes(tensor)) for tensor in node.outputs]
        if node.dym_inputs:
            parts += _entries(b"\x32", node.dym_inputs, _dynamic_bytes)
        if node.dym_outputs:
            parts += _entries(b"\x3a", node.dym_outputs, _dynamic_bytes)
    except UnicodeEncodeError as error:
        why = f"{brief(str(error.object))!a} has no UTF-8 form"
        raise FormatError("cannot encode the NodeDef", why=why, rule="OPR-303") from None
    return b"".join(parts)


def decode_node_def(raw: bytes | memoryview) -> NodeDef:
    """The call that `raw` describes; unknown fields are ignored.

    Raises FormatError for bytes that the library does not parse (OPR-303), and above 256 KiB.
    """
    if len(raw) > NODE_DEF_LIMIT:
        raise malformed("NodeDef", f"{len(raw)} bytes, cannkit reads {NODE_DEF_LIMIT}")
    fields = read_fields(bytes(raw), "NodeDef")
    return NodeDef(
        fields.text(2),
        {name: read_attr(value, where) for name, value, where in _pairs(fields, 3, "attribute")},
        _tensors(fields, 4, "input"),
        _tensors(fields, 5, "output"),
        {name: _dynamic(value, where) for name, value, where in _pairs(fields, 6, "dym_inputs")},
        {name: _dynamic(value, where) for name, value, where in _pairs(fields, 7, "dym_outputs")},
    )


def _entries(
    head: bytes, pairs: Mapping[str, Any], value_bytes: Callable[[Any], bytes]
) -> list[bytes]:
    """The entries of a map, sorted by the bytes of their keys; key and value are always written."""
    return [
        delimited(head, delimited(b"\x0a", name) + delimited(b"\x12", value_bytes(value)))
        for name, value in sorted(
            [(name.encode(), value) for name, value in pairs.items()], key=lambda pair: pair[0]
        )
    ]


def _pairs(fields: Fields, number: int, what: str) -> Iterator[tuple[str, list[bytes], str]]:
    """Key, value and a name for errors of each entry of a map; a later one with the same key wins."""
    for raw in fields.chunks(number):
        entry = read_fields(raw, f"{what} of the NodeDef")
        name = entry.text(1)
        yield name, entry.chunks(2), f"{what} {brief(name)!r} of the NodeDef"


def _tensors(fields: Fields, number: int, what: str) -> tuple[NodeTensor, ...]:
    return tuple(
        [
            read_tensor([raw], f"{what} {at} of the NodeDef")
            for at, raw in enumerate(fields.chunks(number))
        ]
    )


def _dynamic_bytes(span: DynamicIdx) -> bytes:
    idx, num = span
    raw = number_bytes(b"\x08", idx, I32_RANGE) if idx else b""
    return raw + number_bytes(b"\x10", num, I32_RANGE) if num else raw


def _dynamic(chunks: list[bytes], where: str) -> DynamicIdx:
    fields = read_merged(chunks, where)
    return DynamicIdx(as_i32(fields.number(1)), as_i32(fields.number(2)))
