"""The document of `cannkit diff`: its keys, its values, and what --fail-on asks of it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from cannkit.diff.change import Change, Effect
from cannkit.diff.packages import Difference, compare_sides
from cannkit.report.diff import DiffDocument
from cannkit.report.json import document_json, entry_json, json_schema
from tests.build import OBJECTS
from tests.cli.inputs import vector_object
from tests.diff.sides import side

KEYS = ["class", "kind", "subject", "before", "after"]  # cli.md, section 9: these first


@cache
def document() -> DiffDocument:
    """Two operators against two others, and an object that cannot be read."""
    names = ("AddCustom", "GatherCustom", "MatmulCustom")
    files = {path.name: path.read_bytes() for path in OBJECTS.iterdir()}
    a = {name: data for name, data in files.items() if name.startswith(names)}
    b = {name: data for name, data in a.items() if not name.startswith("Matmul")}
    b |= {"AddCustom.o": vector_object("AddCustom_0"), "broken.o": b"\x7fELF"}
    sides = side(a), side(b)
    return DiffDocument.of(("a", "b\udcff"), sides, compare_sides(*sides, single=False))


def test_text_is_what_the_schema_s_own_serializer_writes() -> None:
    kind: TypeAdapter[Any] = TypeAdapter(DiffDocument)
    assert entry_json(document()) == kind.dump_json(document()).replace(b'"class_":', b'"class":')


def test_it_follows_its_schema() -> None:
    Draft202012Validator(json_schema(DiffDocument)).validate(json.loads(document_json(document())))


def test_keys() -> None:
    found = json.loads(document_json(document()))
    assert list(found) == ["schema", "changes", "error", "a", "b", "totals", "errors"]
    assert found["schema"] == "cannkit.diff/1"
    assert found["b"] == "b\\xff"
    assert {tuple(list(each)[: len(KEYS)]) for each in found["changes"]} == {tuple(KEYS)}
    classes = [each["class"] for each in found["changes"]]
    assert classes == sorted(classes, key=list(Effect).index)  # the gravest first
    totals = found["totals"]
    assert [totals[effect] for effect in Effect] == [classes.count(effect) for effect in Effect]
    assert (totals["objects_a"], totals["objects_b"], totals["compared"]) == (3, 3, 2)
    (error,) = found["errors"]
    assert error["file"] == "top/broken.o"


@pytest.mark.parametrize(
    ("effects", "breaking", "either"),
    [((), False, False), (("size", "behaviour"), False, True), (("breaking",), True, True)],
)
def test_fail_on(effects: tuple[str, ...], breaking: bool, either: bool) -> None:
    changes = tuple(Change(Effect(each), "code", "k_0", "1", "2") for each in effects)
    made = DiffDocument.of(("a", "b"), (side({}), side({})), Difference(changes, 1))
    assert made.fails("breaking") is breaking
    assert made.fails("any") is either
    assert made.fails("never") is False


def test_texts_can_be_written_anywhere() -> None:
    """cli.md, section 1: JSON is UTF-8 whatever a file is called."""
    change = Change(
        Effect.SIZE, "meta.\udcff", "a\udcff", ("\ud800",), "\udcfe", "f\udcff", "k\udcff"
    )
    made = DiffDocument.of(("a", "b"), (side({}), side({})), Difference((change,), 1))
    (entry,) = json.loads(document_json(made))["changes"]
    assert entry["subject"] == "a\\xff"
    assert entry["before"] == ["\\ud800"]
    assert entry["after"] == "\\xfe"
    assert (entry["file"], entry["kernel"]) == ("f\\xff", "k\\xff")
