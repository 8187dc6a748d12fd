"""Attributes from Python values and from texts. Spec 07, OPR-307 and OPR-1303."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cannkit.errors import UsageError
from cannkit.format.node_attr import EMPTY_LIST, Attr, AttrKind, attr_bytes
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.description import describe
from cannkit.ops.op_attrs import (
    KINDS,
    attr_from_text,
    attr_of,
    find_kind,
    kind_of,
    named_attr,
)
from cannkit.ops.proto_records import ProtoAttr
from tests.ops.calling import proto


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int", "-7", -7),
        ("int", "0x10", 16),
        ("float", "1e-3", 0.001),
        ("float", "inf", float("inf")),
        ("bool", "True", True),
        ("bool", "0", False),
        ("string", "NHWC", "NHWC"),
        ("string", "", ""),
        ("type", "int64", 9),
        ("type", "DT_INT64", 9),
        ("type", "9", 9),
        ("type", "dt:77", 77),
        ("ints", "1, 2,3", (1, 2, 3)),
        ("ints", "", ()),
        ("ints", "[1, -2]", (1, -2)),
        ("floats", "1,2.5", (1.0, 2.5)),
        ("floats", "[1, 2.5]", (1.0, 2.5)),
        ("bools", "true,false", (True, False)),
        ("types", "f32,i8", (0, 2)),
        ("types", '["f32", 9]', (0, 9)),
        ("strings", "a,b c", ("a", "b c")),
        ("strings", '["a,b", ""]', ("a,b", "")),
        ("listlist", "1,2;3", ((1, 2), (3,))),
        ("listlist", "[[1, 2], [], [3]]", ((1, 2), (), (3,))),
        ("listlist", "", ()),
    ],
)
def test_texts(kind: str, text: str, value: object) -> None:
    found = attr_from_text("name", text, find_kind(kind))
    assert found == Attr(AttrKind(kind), value)
    assert attr_bytes(found)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("int", "1.5"), ("int", ""), ("float", "x"), ("bool", "yes"), ("bool", "2"), ("type", "int65"),
        ("ints", "1,,2"), ("ints", "[1"), ("ints", "[true]"), ("ints", '["1"]'), ("ints", "[[1]]"),
        ("ints", '{"a": 1}'), ("floats", "[null]"), ("bools", "[1]"), ("strings", "[1]"),
        ("listlist", "[1]"), ("listlist", "1;x"), ("ints", "[" * 100_000),
    ],
)  # fmt: skip
def test_bad_texts(kind: str, text: str) -> None:
    with pytest.raises(UsageError) as error:
        attr_from_text("name", text, AttrKind(kind))
    assert len(str(error.value)) < 300


def test_kinds() -> None:
    assert KINDS[0] == "int"
    with pytest.raises(UsageError) as error:
        find_kind("integer")
    assert error.value.hint == f"one of {', '.join(KINDS)}"


@pytest.mark.parametrize(
    ("value", "kind", "plain"),
    [
        (True, "bool", True),
        (3, "int", 3),
        (np.int8(3), "int", 3),
        (np.bool_(True), "bool", True),
        (0.5, "float", 0.5),
        (np.float32(0.5), "float", 0.5),
        ("a", "string", "a"),
        (b"a", "string", b"a"),
        (OpDtype.BF16, "type", 27),
        (np.int32, "type", 3),
        (np.dtype(np.float64), "type", 11),
        ([1, 2], "ints", (1, 2)),
        (np.array([1, 2], np.int16), "ints", (1, 2)),
        ((1, 2.5), "floats", (1.0, 2.5)),
        ([True, False], "bools", (True, False)),
        (["a", b"b"], "strings", ("a", b"b")),
        ([np.int32, OpDtype.INT8], "types", (3, 2)),
        ([[1, 2], []], "listlist", ((1, 2), ())),
        (np.array([[1, 2], [3, 4]]), "listlist", ((1, 2), (3, 4))),
        ([], "empty", ()),
    ],
)
def test_values(value: object, kind: str, plain: object) -> None:
    found = attr_of("name", value)
    assert tuple(found) == (AttrKind(kind), plain)
    assert attr_bytes(found)
    if kind != "empty":
        assert attr_of("name", value, AttrKind(kind)) == found


def test_values_of_a_known_kind() -> None:
    assert attr_of("n", 1, AttrKind.FLOAT) == Attr(AttrKind.FLOAT, 1.0)
    assert attr_of("n", "int64", AttrKind.TYPE) == Attr(AttrKind.TYPE, 9)
    assert attr_of("n", 9, AttrKind.TYPE) == Attr(AttrKind.TYPE, 9)
    assert attr_of("n", [], AttrKind.INTS) == Attr(AttrKind.INTS, ())
    assert attr_of("n", range(3), AttrKind.INTS) == Attr(AttrKind.INTS, (0, 1, 2))
    assert attr_of("n", EMPTY_LIST) is EMPTY_LIST


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1, AttrKind.BOOL), (True, AttrKind.INT), (True, AttrKind.FLOAT), (1.5, AttrKind.INT),
        ("1", AttrKind.INT), ("ab", AttrKind.STRINGS), (3, AttrKind.INTS), ([1.5], AttrKind.INTS),
        (1, AttrKind.STRING), (True, AttrKind.TYPE), ("int65", AttrKind.TYPE), (1, AttrKind.TENSOR),
        (10**400, AttrKind.FLOAT), (1e39, AttrKind.FLOAT), (1 << 63, None), (-(1 << 63) - 1, AttrKind.INT),
        (1 << 31, AttrKind.TYPE), ([1, 1 << 63], None), ([1e39], AttrKind.FLOATS), (None, None), ({}, None), ([1, "a"], None), ([[["a"]]], None),
        ([1, None], None),
    ],
)  # fmt: skip
def test_values_of_no_kind(value: Any, kind: AttrKind | None) -> None:
    with pytest.raises(UsageError):
        attr_of("name", value, kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("9223372036854775808", "int"), ("1e39", "float"), ("1,99999999999999999999", "ints"), ("2147483648", "type")],
)  # fmt: skip
def test_texts_out_of_range(text: str, kind: str) -> None:
    with pytest.raises(UsageError, match="attribute 'name' is of kind"):
        attr_from_text("name", text, AttrKind(kind))


def test_values_at_the_ends_of_the_range() -> None:
    for value in (-(1 << 63), (1 << 63) - 1):
        assert attr_of("n", value) == attr_from_text("n", str(value), AttrKind.INT)
    assert attr_of("n", float("inf")).value == attr_from_text("n", "inf", AttrKind.FLOAT).value
    assert len(KINDS) == len(set(KINDS))


def test_who_tells_the_kind() -> None:
    """OPR-508: who calls, then the prototype, then the value itself."""
    op = describe("Op", None, proto("Op", [], [], ProtoAttr("n", AttrKind.FLOAT, True, None)))
    kinds = [named_attr(key, 2, op)[1].kind for key in ("n:int", "n", "other")]
    assert kinds == [AttrKind.INT, AttrKind.FLOAT, AttrKind.INT]
    assert kind_of("n", op) is AttrKind.FLOAT
    with pytest.raises(UsageError, match="Op has no attribute 'm'"):
        kind_of("m", op)
    with pytest.raises(UsageError, match="attribute 'm': which kind\\?: no prototype tells it"):
        kind_of("m", describe("Op", None, None, "the package has none"))
