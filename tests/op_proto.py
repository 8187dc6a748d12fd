"""The schema of a NodeDef (OPR-301) for the protobuf library, which judges our bytes."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from google.protobuf import (  # type: ignore[import-untyped]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

PACKAGE: Final = "aicpuops"
SCHEMA: Final = """
NodeDef
  2 op string
  3 attrs map AttrValue
  4 inputs repeated Tensor
  5 outputs repeated Tensor
  6 dym_inputs map DynamicIdx
  7 dym_outputs map DynamicIdx
Tensor
  1 tensor_shape TensorShape
  2 tensor_type int32
  3 mem_device string
  4 name string
  5 data_ptr uint64
  6 data_size uint64
TensorShape
  2 dim repeated Dim
  3 unknown_rank bool
  4 data_format int32
Dim
  1 size int64
AttrValue
  1 array oneof ArrayValue
  2 s oneof bytes
  3 i oneof int64
  4 f oneof float
  5 b oneof bool
  6 type oneof int32
  7 shape oneof TensorShape
  8 tensor oneof Tensor
  9 list_list_int oneof ListListInt
ArrayValue
  2 s repeated bytes
  3 i repeated int64
  4 f repeated float
  5 b repeated bool
  6 type repeated int32
  7 shape repeated TensorShape
  8 tensor repeated Tensor
ListListInt
  1 list_list_i repeated ListInt
ListInt
  1 list_i repeated int64
DynamicIdx
  1 idx int32
  2 num int32
"""


@cache
def node_def_class() -> Any:
    """The class that the protobuf library makes of the schema."""
    file = descriptor_pb2.FileDescriptorProto(
        name="node_def.proto", package=PACKAGE, syntax="proto3"
    )
    message = None
    for line in SCHEMA.strip().splitlines():
        if not line.startswith(" "):
            message = file.message_type.add(name=line)
        else:
            _add_field(message, line.split())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.NodeDef"))


def _add_field(message: Any, words: list[str]) -> None:
    number, name, *label, kind = words
    field = message.field.add(name=name, number=int(number), label=field_class().LABEL_OPTIONAL)
    _set_type(field, kind)
    if label == ["oneof"]:
        if not message.oneof_decl:
            message.oneof_decl.add(name="value")
        field.oneof_index = 0
    elif label:
        field.label = field.LABEL_REPEATED
    if label == ["map"]:
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        for at, (part, part_kind) in enumerate((("key", "string"), ("value", kind)), 1):
            _set_type(entry.field.add(name=part, number=at, label=field.LABEL_OPTIONAL), part_kind)
        field.type_name = f".{PACKAGE}.{message.name}.{entry.name}"


def _set_type(field: Any, kind: str) -> None:
    if kind[0].islower():
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"


def field_class() -> Any:
    """The class of a field of a schema."""
    return descriptor_pb2.FieldDescriptorProto
