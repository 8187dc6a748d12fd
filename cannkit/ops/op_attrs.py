"""Attributes of a call: values and texts as an operator gets them, checked against its prototype. Spec 07, OPR-307, OPR-1303."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from operator import index
from struct import pack
from types import MappingProxyType
from typing import Any, Final

from cannkit.errors import UsageError, brief
from cannkit.format.node_attr import EMPTY_LIST, Attr, AttrKind
from cannkit.format.op_dtypes import OpDtype, find_op_dtype
from cannkit.ops.call_checks import Checks
from cannkit.ops.description import Description
from cannkit.ops.proto_records import ProtoAttr

TRUE: Final = ("true", "1")
FALSE: Final = ("false", "0")
ROWS: Final = ";"
ITEMS: Final = ","
ITEM_OF: Final = MappingProxyType(  # the kind of an element
    {
        AttrKind.INTS: AttrKind.INT,
        AttrKind.FLOATS: AttrKind.FLOAT,
        AttrKind.BOOLS: AttrKind.BOOL,
        AttrKind.TYPES: AttrKind.TYPE,
        AttrKind.STRINGS: AttrKind.STRING,
        AttrKind.LISTLIST: AttrKind.INTS,
    }
)
KINDS: Final = tuple(dict.fromkeys((*ITEM_OF.values(), *ITEM_OF)))  # what can be written, in words
HINTS: Final = {
    AttrKind.INT: "a whole number",
    AttrKind.FLOAT: "a number",
    AttrKind.BOOL: "true or false",
    AttrKind.TYPE: "a data type, as float32, DT_FLOAT or 0",
    AttrKind.INTS: "rows of whole numbers: 1,2;3,4",
}
LIST_OF: Final = {one: many for many, one in ITEM_OF.items()}


def attr_of(name: str, value: object, kind: AttrKind | None = None) -> Attr:
    """A Python value as an attribute of `kind`, or of the kind that it looks like.

    Raises UsageError for a value that is none.
    """
    if isinstance(value, Attr):
        return value
    value = _plain(value)
    if kind is None:
        kind = _kind_of(value)
        if kind is None:
            what = f"attribute {brief(name)!r}: no kind of attribute has such a value"
            raise UsageError(what, why=brief(repr(value)), hint=f"one of {', '.join(KINDS)}")
        if kind is AttrKind.EMPTY:
            return EMPTY_LIST
    try:
        return Attr(kind, _value(kind, value))
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_value(name, repr(value), kind) from error


def attr_from_text(name: str, text: str, kind: AttrKind) -> Attr:
    """The attribute that a command line tells: elements with commas between, rows with semicolons.

    Raises UsageError for a text that is no value of the kind.
    """
    try:
        return Attr(kind, _read(kind, text.strip()))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _no_value(name, repr(text), kind) from error


def named_attr(key: str, value: object, description: Description) -> tuple[str, Attr]:
    """The attribute of `NAME` or `NAME:KIND` and a Python value; raises UsageError as `attr_of`."""
    name, colon, word = key.partition(":")
    known = {each.name: each.kind for each in description.attrs}
    return name, attr_of(name, value, find_kind(word) if colon else known.get(name))


def kind_of(name: str, description: Description) -> AttrKind:
    """The kind of an attribute by its prototype; raises UsageError where that does not tell it."""
    known = {each.name: each.kind for each in description.attrs}
    kind = known.get(name)
    if kind is not None:
        return kind
    hint = f"give its kind, as {brief(name)}:int: one of {', '.join(KINDS)}"
    if description.prototype is None:
        what, why = f"attribute {brief(name)!r}: which kind?", description.why_no_prototype
        raise UsageError(what, why=f"no prototype tells it: {why}", hint=hint)
    if name in known:
        raise UsageError(f"attribute {brief(name)!r}: which kind?", hint=hint)
    what = f"{brief(description.name)} has no attribute {brief(name)!r}"
    raise UsageError(what, hint=_like([name], list(known)) or f"{_all(known)}; or {hint}")


def find_kind(text: str) -> AttrKind:
    """The kind of a name; raises UsageError with the names that there are."""
    if text not in KINDS:
        raise UsageError(f"unknown kind {brief(text)!r}", hint=f"one of {', '.join(KINDS)}")
    return AttrKind(text)


def checked_attrs(
    description: Description, attrs: Mapping[str, Attr], checks: Checks
) -> Mapping[str, Attr]:
    """The attributes of a call: those given, and the defaults of the prototype for others.

    OPR-1303: one that is missing is an error, as is another kind (Q-4, Q-5); an unknown one is told.
    """
    known = {attr.name: attr for attr in description.attrs}
    if description.prototype is None:
        return attrs
    missing = [attr for attr in description.required_attrs if attr.name not in attrs]
    unknown = [name for name in attrs if name not in known]
    if missing:
        checks.fail(
            "attr-missing",
            "attributes",
            f"{description.name} needs {', '.join(map(_told, missing))}",
            _like(unknown, [attr.name for attr in missing])
            or f"as {missing[0].name}=VALUE; --describe tells all of them",
        )
    for name in unknown:
        hint = _like([name], list(known)) or _all(known)
        checks.warn("attr-unknown", name, f"no attribute of the prototype; {hint}")
    for name, attr in attrs.items():
        wanted = known[name].kind if name in known else None
        is_empty = attr.kind is AttrKind.EMPTY and wanted in ITEM_OF
        if wanted is not None and attr.kind is not wanted and not is_empty:
            what = f"attribute {brief(name)} is {wanted}, {attr.kind} is given"
            why = "the operator would read 0 without a word"
            checks.fail("attr-kind", name, f"{what}: {why}")
    filled = {
        attr.name: Attr(attr.kind, attr.default)
        for attr in description.attrs
        if attr.name not in attrs and attr.kind is not None and attr.default is not None
    }
    return {**attrs, **filled}


def _plain(value: object) -> object:
    """A value of numpy as one of Python; a type of it as its name."""
    if isinstance(value, OpDtype):
        return value
    if isinstance(value, type):
        return _Word(value.__name__)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "itemsize") and hasattr(value, "name"):  # a numpy.dtype
        return _Word(value.name)
    return value


class _Word(str):
    """The name of a data type."""

    __slots__ = ()


def _kind_of(value: Any) -> AttrKind | None:
    match value:
        case OpDtype() | _Word():
            return AttrKind.TYPE
        case bool():
            return AttrKind.BOOL
        case int():
            return AttrKind.INT
        case float():
            return AttrKind.FLOAT
        case str() | bytes():
            return AttrKind.STRING
        case list() | tuple():
            kinds = {_kind_of(_plain(item)) for item in value}
            if kinds == {AttrKind.INT, AttrKind.FLOAT}:
                kinds = {AttrKind.FLOAT}
            if kinds <= {AttrKind.INTS, AttrKind.EMPTY} and AttrKind.INTS in kinds:
                kinds = {AttrKind.INTS}
            if not kinds:
                return AttrKind.EMPTY
            one = kinds.pop()
            return None if kinds or one is None else LIST_OF.get(one)
    return None


def _value(kind: AttrKind, value: Any) -> Any:
    if (item := ITEM_OF.get(kind)) is not None:
        if isinstance(value, str | bytes):
            raise TypeError(kind)
        return tuple(_value(item, _plain(each)) for each in value)
    match kind:
        case AttrKind.BOOL if isinstance(value, bool):
            return value
        case AttrKind.INT if not isinstance(value, bool):
            return _int(index(value))
        case AttrKind.FLOAT if isinstance(value, int | float) and not isinstance(value, bool):
            return _float(float(value))
        case AttrKind.STRING if isinstance(value, str | bytes):
            return value
        case AttrKind.TYPE if not isinstance(value, bool):
            return int(find_op_dtype(value)) if isinstance(value, str) else _int(index(value), 32)
    raise TypeError(kind)


def _int(value: int, bits: int = 64) -> int:
    """A value that a NodeDef has a place for."""
    if not -1 << bits - 1 <= value < 1 << bits - 1:
        raise OverflowError(value)
    return value


def _float(value: float) -> float:
    pack("<f", value)  # OverflowError for one that is out of range
    return value


def _bool(text: str) -> bool:
    if text.lower() not in (*TRUE, *FALSE):
        raise ValueError(text)
    return text.lower() in TRUE


def _type(text: str) -> int:
    return _int(int(text), 32) if text.isdecimal() else int(find_op_dtype(text))


_ONE: Final[Mapping[AttrKind, Callable[[str], Any]]] = {
    AttrKind.INT: lambda text: _int(int(text, 0)),
    AttrKind.FLOAT: lambda text: _float(float(text)),
    AttrKind.BOOL: _bool,
    AttrKind.STRING: str,
    AttrKind.TYPE: _type,
}


def _read(kind: AttrKind, text: str) -> Any:
    if kind in _ONE:
        return _ONE[kind](text)
    if text.startswith("["):
        return _value(kind, json.loads(text))
    between = ROWS if kind is AttrKind.LISTLIST else ITEMS
    return tuple(_read(ITEM_OF[kind], part.strip()) for part in text.split(between) if text)


def _no_value(name: str, shown: str, kind: AttrKind) -> UsageError:
    what = f"attribute {brief(name)!r} is of kind {kind}"
    hint = HINTS.get(ITEM_OF.get(kind, kind))
    return UsageError(what, why=f"{brief(shown)} is no such value", hint=hint)


def _told(attr: ProtoAttr) -> str:
    return f"{attr.name} ({attr.kind})" if attr.kind else attr.name


def _like(given: Iterable[str], names: list[str]) -> str | None:
    near = {name: get_close_matches(name[:64], names, n=1, cutoff=0.6) for name in given}
    told = [f"{brief(name)} may be {found[0]}" for name, found in near.items() if found]
    return "; ".join(told) or None


def _all(names: Iterable[str]) -> str:
    return f"it has {', '.join(names) or 'none'}"
