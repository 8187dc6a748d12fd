"""Prototypes of operators, and the lines in which native/proto_reader.cc tells them. Spec 07, OPR-507."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import unquote

from cannkit.errors import FormatError, brief
from cannkit.format.node_attr import AttrKind

MOST_OPS: Final = 1 << 14  # CANN itself has a tenth of that
MOST_FACTS: Final = 1 << 10  # of one operator
MOST_VARIANTS: Final = 8  # of one operator
TYPE_GROUP: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").findall


class Presence(StrEnum):
    """Whether an input or output has to be there."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    DYNAMIC = "dynamic"


class ProtoTensor(NamedTuple):
    """An input or output; `types` are `DT_` names and names of groups of types: `BasicType`."""

    name: str
    kind: Presence
    types: tuple[str, ...]


class ProtoAttr(NamedTuple):
    """An attribute. `kind` is None for one that cannot be told, `default` for none and for a tensor.

    A default is a value of the kind: a type is its number, a list a tuple.
    """

    name: str
    kind: AttrKind | None
    required: bool
    default: Any


class Prototype(NamedTuple):
    """An operator as the first of its `registrations` has it; `variants` are later ones that differ."""

    name: str
    inputs: tuple[ProtoTensor, ...]
    outputs: tuple[ProtoTensor, ...]
    attrs: tuple[ProtoAttr, ...]
    registrations: int = 1
    variants: tuple[Prototype, ...] = ()


def _bool(text: str) -> bool:
    return bool(int(text))


def _row(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


ONE: Final[Mapping[str, tuple[AttrKind, Callable[[str], Any]]]] = {  # OPR-307
    "Int": (AttrKind.INT, int),
    "Float": (AttrKind.FLOAT, float),
    "Bool": (AttrKind.BOOL, _bool),
    "String": (AttrKind.STRING, unquote),
    "Type": (AttrKind.TYPE, int),
}
MANY: Final[Mapping[str, tuple[AttrKind, Callable[[str], Any]]]] = {
    "ListInt": (AttrKind.INTS, int),
    "ListFloat": (AttrKind.FLOATS, float),
    "ListBool": (AttrKind.BOOLS, _bool),
    "ListString": (AttrKind.STRINGS, unquote),
    "ListType": (AttrKind.TYPES, int),
    "ListListInt": (AttrKind.LISTLIST, _row),
}
BARE: Final = {"Tensor": AttrKind.TENSOR, "ListTensor": AttrKind.TENSORS}
KINDS: Final[Mapping[str, AttrKind]] = {
    **{word: kind for word, (kind, _) in (*ONE.items(), *MANY.items())},
    **BARE,
}
PRESENCE: Final = {
    "in": Presence.REQUIRED,
    "opt": Presence.OPTIONAL,
    "dynin": Presence.DYNAMIC,
    "out": Presence.REQUIRED,
    "dynout": Presence.DYNAMIC,
}
OUTPUTS: Final = ("out", "dynout")


def read_records(raw: bytes) -> Mapping[str, Prototype]:
    """The prototypes that the lines tell, by name. They come from foreign code: nothing is believed.

    Raises FormatError for what is no such line, too much of it, or an end that is missing.
    """
    found: dict[str, Prototype] = {}
    makers: dict[str, list[_Maker]] = {}
    again: dict[str, int] = {}
    maker: _Maker | None = None
    types: dict[str, tuple[str, ...]] = {}
    is_whole = False
    for line in raw.decode("ascii", "replace").splitlines():
        kind, *fields = line.split(" ")
        if kind == "end":
            is_whole = True
            break
        name = unquote(fields[0]) if fields else _reject(line)
        if kind == "op":
            maker = _Maker()
            variants = makers.setdefault(name, [])
            variants.append(maker)
            if len(makers) > MOST_OPS or len(variants) > MOST_VARIANTS:
                raise FormatError("too many prototypes", why=f"of {brief(name)}", rule="OPR-507")
        elif kind == "again":
            again[name] = again.get(name, 0) + 1
        elif maker is None or len(maker.tensors) + len(maker.attrs) >= MOST_FACTS:
            _reject(line)
        elif kind in PRESENCE and len(fields) == 2:
            text = fields[1]
            if text not in types:
                types[text] = _types(unquote(text))
            maker.tensors.append((kind, ProtoTensor(name, PRESENCE[kind], types[text])))
        else:
            maker.attrs.append(_attr(kind, name, fields[1:]) or _reject(line))
    if not is_whole:
        raise FormatError("the prototypes are not complete", rule="OPR-507")
    for name, each in makers.items():
        first, *others = (maker.made(name) for maker in each)
        count = len(each) + again.get(name, 0)
        found[name] = first._replace(registrations=count, variants=tuple(others))
    return found


class _Maker:
    """What was told of one registration."""

    def __init__(self) -> None:
        self.tensors: list[tuple[str, ProtoTensor]] = []
        self.attrs: list[ProtoAttr] = []

    def made(self, name: str) -> Prototype:
        """As a prototype."""
        inputs = tuple(tensor for kind, tensor in self.tensors if kind not in OUTPUTS)
        outputs = tuple(tensor for kind, tensor in self.tensors if kind in OUTPUTS)
        return Prototype(name, inputs, outputs, tuple(self.attrs))


def _types(text: str) -> tuple[str, ...]:
    """`TensorType({DT_FLOAT, BasicType()})` as its names."""
    return tuple(
        dict.fromkeys(word for word in TYPE_GROUP(text) if word not in ("TensorType", "ge"))
    )


def _attr(kind: str, name: str, fields: Sequence[str]) -> ProtoAttr | None:
    if not fields:
        return None
    word, *values = fields
    if kind == "req" and not values:
        return ProtoAttr(name, KINDS.get(unquote(word)), True, None)
    if kind != "attr":
        return None
    try:
        if word in ONE:
            (value,) = values
            return ProtoAttr(name, ONE[word][0], False, ONE[word][1](value))
        if word in MANY:
            return ProtoAttr(name, MANY[word][0], False, tuple(map(MANY[word][1], values)))
    except ValueError:
        return None
    return ProtoAttr(name, BARE[word], False, None) if word in BARE and not values else None


def _reject(line: str) -> NoReturn:
    why = f"not a record: {brief(line, 64)!r}"
    raise FormatError("the prototypes cannot be read", why=why, rule="OPR-507")
