"""Prototypes in the text of an op_proto header: their inputs and outputs, for no code is run. Spec 07, OPR-507."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cannkit.ops.proto_records import Presence, ProtoTensor, Prototype

_without_comments: Final = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL).sub
_words: Final = re.compile(
    r"\bREG_OP\s*\(\s*(\w+)|\.\s*((?:DYNAMIC_|OPTIONAL_)?INPUT|(?:DYNAMIC_)?OUTPUT)\s*\(\s*(\w+)"
    r"|\b(OP_END_FACTORY_REG)\b"
).finditer
MOST_TENSORS: Final = 256  # of an operator
PRESENCE: Final[Mapping[str, Presence]] = {
    "INPUT": Presence.REQUIRED,
    "OUTPUT": Presence.REQUIRED,
    "OPTIONAL_INPUT": Presence.OPTIONAL,
    "DYNAMIC_INPUT": Presence.DYNAMIC,
    "DYNAMIC_OUTPUT": Presence.DYNAMIC,
}


def header_prototypes(text: str) -> Mapping[str, Prototype]:
    """The operators of a header, those only that end with OP_END_FACTORY_REG; without types and attributes."""
    found: dict[str, Prototype] = {}
    name, tensors = "", list[tuple[str, ProtoTensor]]()
    for each in _words(_without_comments(" ", text)):
        if each[1]:
            name, tensors = each[1], []
        elif each[4] and name:
            inputs = tuple(tensor for kind, tensor in tensors if kind.endswith("INPUT"))
            outputs = tuple(tensor for kind, tensor in tensors if kind.endswith("OUTPUT"))
            found.setdefault(name, Prototype(name, inputs, outputs, ()))
            name = ""
        elif each[2] and len(tensors) < MOST_TENSORS:
            tensors.append((each[2], ProtoTensor(each[3], PRESENCE[each[2]], ())))
    return found
