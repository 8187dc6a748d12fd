"""The document of extract: the keys of the contract, text and schema agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from cannkit.errors import ExitCode
from cannkit.extract.members import extract_members, list_members
from cannkit.inputs.paths import open_inputs
from cannkit.report.extract import ExtractDocument
from cannkit.report.json import document_json, json_schema
from tests.cli.runner import FATBIN, ROOT
from tests.raw import KERNEL, archive

LIBRARY: Final = str(ROOT / FATBIN)
DOCUMENT: Final = ["schema", "members", "error", "errors", "warnings"]
MEMBER: Final = ["name", "kind", "size", "sha256", "written"]  # cli.md, section 9


@pytest.fixture
def documents(tmp_path: Path) -> list[ExtractDocument]:
    """A list, what was written, what was refused, and half of an archive with a name that is no UTF-8."""
    out = str(tmp_path / "out")
    broken = tmp_path / "lib.a"
    broken.write_bytes(archive(**{"x.o": KERNEL, "l.o": KERNEL})[:-9].replace(b"x.o", b"\xff.o"))
    found = [
        list_members(open_inputs([LIBRARY])),
        extract_members(open_inputs([LIBRARY]), out),
        extract_members(open_inputs([LIBRARY]), out),
        list_members(open_inputs([str(broken)])),
    ]
    return list(map(ExtractDocument.of, found))


def texts(documents: list[ExtractDocument]) -> list[dict[str, Any]]:
    return [json.loads(document_json(document)) for document in documents]


def test_keys(documents: list[ExtractDocument]) -> None:
    for text in texts(documents):
        assert list(text) == DOCUMENT
        assert [list(member) for member in text["members"]] == [MEMBER] * len(text["members"])


def test_schema(documents: list[ExtractDocument]) -> None:
    checker = Draft202012Validator(json_schema(ExtractDocument))
    assert [list(checker.iter_errors(text)) for text in texts(documents)] == [[]] * len(documents)


def test_text_is_that_of_pydantic(documents: list[ExtractDocument]) -> None:
    adapter = TypeAdapter(ExtractDocument)
    for document, text in zip(documents, texts(documents), strict=True):
        del text["schema"]
        assert json.loads(adapter.dump_json(document)) == text


def test_exit_codes(documents: list[ExtractDocument]) -> None:
    codes = [document.exit_code for document in documents]
    assert codes == [ExitCode.OK, ExitCode.OK, ExitCode.INPUT, ExitCode.INPUT]
    assert [document.has_content for document in documents] == [True, True, False, True]


def test_what_is_told(documents: list[ExtractDocument]) -> None:
    listed, written, refused, broken = texts(documents)
    assert [member["written"] for member in listed["members"] + refused["members"]] == [None] * 6
    assert all(Path(member["written"]).is_file() for member in written["members"])
    assert refused["error"]["kind"] == "output"
    assert broken["members"][0]["name"] == r"\xff.o"
    assert broken["errors"][0]["error"]["kind"] == "format"
