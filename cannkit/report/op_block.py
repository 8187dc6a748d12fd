"""The bytes of an operator's call, field by field: parameter block, NodeDef, ext info. Spec 07, OPR-1305."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from cannkit.errors import brief
from cannkit.format.ext_info import ExtEntry, ExtType, read_shapes
from cannkit.format.node_attr import Attr
from cannkit.format.node_tensor import NodeTensor
from cannkit.format.op_dtypes import DataFormat, OpDtype
from cannkit.ops.call import Prepared
from cannkit.report.base import document, printable

HEAD: tuple[tuple[str, int, int], ...] = (  # OPR-101: name, offset, size
    ("length", 0, 4),
    ("ioAddrNum", 4, 4),
    ("extInfoLength", 8, 4),
    ("extInfoAddr", 12, 8),
)
IO_AT = 20
WORD = 8


@document
class BlockField:
    """A field of the parameter block, and what it is about."""

    offset: int
    size: int
    name: str
    value: str


@document
class NodeTensorEntry:
    """A tensor of the NodeDef."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    format: str

    @classmethod
    def of(cls, tensor: NodeTensor) -> Self:
        """The entry of a tensor."""
        dtype, form = OpDtype(tensor.dtype).word, DataFormat(tensor.data_format).name
        return cls(printable(tensor.name), dtype, tensor.shape, form)


@document
class NodeAttrEntry:
    """An attribute of the NodeDef, its value as text."""

    name: str
    kind: str
    value: str

    @classmethod
    def of(cls, name: str, attr: Attr) -> Self:
        """The entry of an attribute."""
        return cls(printable(name), attr.kind.value, printable(brief(_attr_text(attr.value), 256)))


@document
class ExtEntryEntry:
    """An entry of the ext info, its value in words."""

    number: int
    name: str
    length: int
    value: str

    @classmethod
    def of(cls, entry: ExtEntry) -> Self:
        """The entry of an entry."""
        text = brief(_ext_text(entry), 512)
        return cls(int(entry.type), entry.type.name, len(entry.value), text)


@document
class CallBytesEntry:
    """What a call is made of; addresses are those of its tensors, zero in the bytes."""

    fields: tuple[BlockField, ...]
    inputs: tuple[NodeTensorEntry, ...]
    outputs: tuple[NodeTensorEntry, ...]
    attrs: tuple[NodeAttrEntry, ...]
    ext: tuple[ExtEntryEntry, ...]

    @classmethod
    def of(cls, call: Prepared) -> Self:
        """The entry of a call."""
        node = call.node
        return cls(
            fields=tuple(_fields(call)),
            inputs=tuple(map(NodeTensorEntry.of, node.inputs)),
            outputs=tuple(map(NodeTensorEntry.of, node.outputs)),
            attrs=tuple(NodeAttrEntry.of(*each) for each in sorted(node.attrs.items())),
            ext=tuple(map(ExtEntryEntry.of, call.ext.entries)),
        )


def _fields(call: Prepared) -> Iterable[BlockField]:
    for name, offset, size in HEAD:
        number = int.from_bytes(call.block[offset : offset + size], "little")
        value = "of the ext info" if name == "extInfoAddr" and call.ext_raw else str(number)
        yield BlockField(offset, size, name, value)
    count = len(call.tensors)
    for slot, place in enumerate(call.places):
        what = "null" if place is None else f"of {call.region_name(place)}"
        yield BlockField(IO_AT + WORD * slot, WORD, f"io address {slot}", what)
    at = IO_AT + WORD * count
    yield BlockField(at, 4, "NodeDef length", str(len(call.node_raw)))
    yield BlockField(at + 4, len(call.node_raw), "NodeDef", f"of {brief(call.op)}")


def _attr_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"[{', '.join(map(_attr_text, value[:64]))}{', ...' if len(value) > 64 else ''}]"
    return str(value)


def _ext_text(entry: ExtEntry) -> str:
    kind, value = entry
    if kind in (ExtType.INPUT_SHAPE, ExtType.OUTPUT_SHAPE):
        return " ".join(
            f"{OpDtype(shape.dtype).word}[{','.join(map(str, shape.dims))}]"
            for shape in read_shapes(entry)
        )
    if kind == ExtType.WORKSPACE_INFO:
        return f"{int.from_bytes(value[:8], 'little')} bytes"
    if kind in (ExtType.SHAPE_TYPE, ExtType.BITMAP, ExtType.UPDATE_ADDR, ExtType.TOPIC_TYPE):
        return str(int.from_bytes(value, "little"))
    if kind == ExtType.SESSION_INFO:
        session, kernel = (int.from_bytes(value[at : at + 8], "little") for at in (0, 8))
        return f"session {session}, kernel {kernel}, flag {value[16]}"
    return value.hex()
