"""Documents as JSON: text and schema agree, and the keys are those of the contract.

The text comes from pydantic_core without a schema; pydantic, which makes the schema, is the judge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from cannkit.errors import CannkitError, FormatError
from cannkit.image.reader import SidecarChoice, read_input
from cannkit.inputs.contents import Input, Unreadable
from cannkit.inputs.paths import open_inputs
from cannkit.report.ae_call import AeCallDocument
from cannkit.report.ae_logic import LogicListDocument
from cannkit.report.base import Document
from cannkit.report.check import CheckDocument, RuleDocument, RuleListDocument
from cannkit.report.diff import DiffDocument
from cannkit.report.doctor import DoctorDocument
from cannkit.report.elf_tables import ParseDetails
from cannkit.report.extract import ExtractDocument
from cannkit.report.json import document_json, entry_json, json_schema
from cannkit.report.launch import LaunchDocument
from cannkit.report.launch_op import LaunchOpDocument
from cannkit.report.load import LoadDocument
from cannkit.report.lookup import LookupDocument
from cannkit.report.operators import OperatorDocument, OperatorsDocument
from cannkit.report.parse import ParseDocument
from cannkit.report.register import RegisterDocument
from cannkit.report.so_path import SoPathDocument
from cannkit.report.soc import SocDocument
from cannkit.report.sqe import SqeDocument
from cannkit.soc import all_socs, find_soc
from tests.build import OBJECTS
from tests.cli.inputs import CASES, case_inputs
from tests.facts import A2_SOC, A5_SOC, golden

DOCUMENTS: Final = (
    ParseDocument,
    RegisterDocument,
    LookupDocument,
    LoadDocument,
    SocDocument,
    SqeDocument,
    LaunchDocument,
    SoPathDocument,
    AeCallDocument,
    LogicListDocument,
    CheckDocument,
    RuleDocument,
    RuleListDocument,
    ExtractDocument,
    DiffDocument,
    DoctorDocument,
    LaunchOpDocument,
    OperatorDocument,
    OperatorsDocument,
)
STEPS_INTO: Final = frozenset({"raw", "value", "args"})  # not of the contract's lists


@cache
def parse_documents() -> tuple[ParseDocument, ...]:
    """The documents of every fixture, readable or not, on an A2 and on an A5, with -v and without."""
    paths = [str(OBJECTS), str(OBJECTS / "nothing.o")]
    paths += [str(CASES / name / "input.o") for name in case_inputs()]
    return tuple(
        document
        for soc in (A2_SOC, A5_SOC)
        for item in open_inputs(paths)
        for document in _documents(item, soc)
    )


def _documents(item: Input | Unreadable, soc: str) -> Iterator[ParseDocument]:
    if isinstance(item, Unreadable):
        yield ParseDocument.failed(item, item.error)
        return
    try:
        obj = read_input(item, find_soc(soc), SidecarChoice())
    except CannkitError as error:
        yield ParseDocument.failed(item, error)
        return
    document = ParseDocument.of(obj)
    yield document
    yield ParseDetails.with_tables(document, obj)


@cache
def soc_documents() -> tuple[SocDocument, ...]:
    return tuple(map(SocDocument.of, all_socs()))


def documents() -> Iterator[Document]:
    yield from parse_documents()
    yield from soc_documents()


@cache
def validator(kind: type[Document]) -> Draft202012Validator:
    schema = json_schema(kind)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_fixtures_are_of_every_sort() -> None:
    """What the other tests below are tried on."""
    found = parse_documents()
    assert len(found) > 40
    assert {d.exit_code for d in found} == {0, 3}
    assert {d.error.kind for d in found if d.error} == {"input", "format"}
    assert {d.verdict.from_file.accepted for d in found if d.verdict} == {True, False}
    assert any(isinstance(d, ParseDetails) for d in found)


def test_text_is_what_the_schema_s_own_serializer_writes() -> None:
    kinds: dict[type[Document], TypeAdapter[Any]] = {
        kind: TypeAdapter(kind) for kind in (ParseDocument, ParseDetails, SocDocument)
    }
    for document in documents():
        kind = kinds[type(document)]
        assert entry_json(document) == kind.dump_json(document)
        body = kind.dump_json(document, indent=2)
        head = b'{\n  "schema": "%s",' % document.SCHEMA.encode()
        assert document_json(document) == head + body[1:] + b"\n"


def test_documents_follow_the_schema() -> None:
    """One alone and many; -v too, whose tables are more keys of the same document."""
    for kind, found in ((ParseDocument, parse_documents()), (SocDocument, soc_documents())):
        check = validator(kind)
        for document in found:
            check.validate(json.loads(document_json(document)))
        entries = [json.loads(entry_json(document)) for document in found]
        check.validate({"schema": kind.SCHEMA, "results": entries})


def test_details_have_a_schema_of_their_own() -> None:
    check = validator(ParseDetails)
    for document in parse_documents():
        if isinstance(document, ParseDetails):
            check.validate(json.loads(document_json(document)))


def test_expected_answers_follow_the_schema() -> None:
    """Those of fixtures/cases, usage errors among them."""
    kinds = {kind.SCHEMA: kind for kind in DOCUMENTS}
    found = [json.loads(path.read_bytes()) for path in CASES.glob("*/expected.json")]
    assert any(list(answer) == ["schema", "error"] for answer in found)
    assert any(list(answer) == ["schema", "results"] for answer in found)
    for answer in found:
        validator(kinds[answer["schema"]]).validate(answer)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (["size"], "1"),
        (["schema"], "cannkit.soc/1"),
        (["kernels", 0, "function_entry"], "0x10"),
        (["kernels", 0, "entry_kind"], "other"),
        (["kernels", 0, "task_ratio"], [1]),
        (["elf", "endian"], "middle"),
        (["verdict", "from_file", "rt"], 107000),
    ],
)
def test_schema_refuses(path: list[str | int], wrong: object) -> None:
    """A schema that takes everything would make the tests above say nothing."""
    answer = json.loads(document_json(parse_documents()[0]))
    assert validator(ParseDocument).is_valid(answer)
    *way, last = path
    node = answer
    for step in way:
        node = node[step]
    assert last in node if isinstance(node, dict) else True
    node[last] = wrong
    assert not validator(ParseDocument).is_valid(answer)


@pytest.mark.parametrize("key", ["schema", "file", "kernels", "error"])
def test_schema_asks_for_every_key(key: str) -> None:
    answer = json.loads(document_json(parse_documents()[0]))
    del answer[key]
    assert not validator(ParseDocument).is_valid(answer)


def shapes(node: object, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """The keys of every object in a document, with where it stands: `kernels[].meta[]`."""
    if isinstance(node, dict):
        yield path, list(node)
        for key in node.keys() - STEPS_INTO:
            yield from shapes(node[key], f"{path}.{key}".removeprefix("."))
    elif isinstance(node, list):
        for value in node:
            yield from shapes(value, f"{path}[]")


def test_keys_are_those_of_the_contract() -> None:
    """cli.md, section 2: these keys, in this order."""
    known = golden("parse_keys")["keys"]
    seen = set()
    for document in parse_documents():
        if isinstance(document, ParseDetails):  # two tables more, which the contract leaves open
            continue
        for path, keys in shapes(json.loads(document_json(document))):
            assert keys == known[path], path
            seen.add(path)
    assert seen == known.keys()


def test_details_add_keys_at_the_end() -> None:
    known = golden("parse_keys")["keys"][""]
    for document in parse_documents():
        if isinstance(document, ParseDetails):
            assert list(json.loads(document_json(document))) == [*known, "sections", "symbols"]


def test_soc_keys() -> None:
    for document in soc_documents():
        keys = list(json.loads(document_json(document)))
        assert keys[:5] == ["schema", "name", "family", "product", "chip"]
        assert keys[-1] == "columns"


def test_text_is_utf8_whatever_the_names_are() -> None:
    """HAZ-18: names are arbitrary bytes; a lone surrogate would be no UTF-8."""
    found = [d for d in parse_documents() if "odd-names" in d.file]
    assert found
    for document in found:
        assert "\\xff" in json.loads(document_json(document).decode())["kernels"][6]["name"]


def test_error_of_a_file_without_a_name_in_unicode() -> None:
    item = Unreadable("no\udcffname", None, FormatError("not an object", where="x\udcfe"))
    document = ParseDocument.failed(item, item.error)
    answer = json.loads(document_json(document))
    assert answer["file"] == r"no\xffname"
    assert answer["error"]["where"] == r"no\xffname, x\xfe"
    validator(ParseDocument).validate(answer)
