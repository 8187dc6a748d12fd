"""The documents of check: order, totals, the exit code, and their schema."""

from __future__ import annotations

import json
from typing import Any, Final

import jsonschema
import pytest

from cannkit.check.finding import Finding, Level, Rule
from cannkit.check.matrix import Matrix, Missing
from cannkit.errors import ExitCode
from cannkit.report.base import Document
from cannkit.report.check import CheckDocument, RuleDocument, RuleListDocument
from cannkit.report.json import document_json, json_schema

ERROR: Final = Rule("K001", "sidecar missing", Level.ERROR, "why 1", "fix 1", ("JSN-01",))
WARNING: Final = Rule("K101", "lone half", Level.WARNING, "why 2", "fix 2")
NOTE: Final = Rule("K201", "unknown flags", Level.NOTE, "why 3", "fix 3")
FINDINGS: Final = (
    Finding(WARNING, "b.o", "kernel k", "m1"),
    Finding(NOTE, "a.o", None, "m2"),
    Finding(ERROR, "b.o", None, "m3 \udcff"),
)


MATRIX: Final = Matrix(("Add", "Mul"), ("ascend910b",), (Missing("Mul", "ascend910b", True),))


def answer(document: Document) -> Any:
    """Its JSON, which follows its schema."""
    parsed = json.loads(document_json(document))
    jsonschema.validate(parsed, json_schema(type(document)))
    return parsed


def test_document() -> None:
    """Findings of a file stand together, in the order of files."""
    parsed = answer(CheckDocument.of(FINDINGS, files=3, matrix=MATRIX, baseline=4))
    assert list(parsed) == ["schema", "findings", "matrix", "totals", "errors", "fail_on", "rules"]
    assert parsed["schema"] == "cannkit.check/1"
    assert parsed["findings"] == [
        {"code": "K101", "level": "warning", "file": "b.o", "where": "kernel k", "message": "m1",
         "fix": "fix 2"},
        {"code": "K001", "level": "error", "file": "b.o", "where": None, "message": "m3 \\xff",
         "fix": "fix 1"},
        {"code": "K201", "level": "note", "file": "a.o", "where": None, "message": "m2",
         "fix": "fix 3"},
    ]  # fmt: skip
    assert parsed["matrix"] == {
        "ops": ["Add", "Mul"], "socs": ["ascend910b"], "missing": [["Mul", "ascend910b"]],
    }  # fmt: skip
    assert parsed["totals"] == {"files": 3, "errors": 1, "warnings": 1, "notes": 1, "baseline": 4}
    assert parsed["fail_on"] == "error"
    assert [rule["code"] for rule in parsed["rules"]] == ["K001", "K101", "K201"]


def test_nothing_found() -> None:
    parsed = answer(CheckDocument.of([], files=0))
    assert parsed["findings"] == parsed["rules"] == []
    assert parsed["matrix"] is None


@pytest.mark.parametrize(
    ("findings", "fail_on", "code"),
    [
        (FINDINGS, Level.ERROR, ExitCode.NEGATIVE),
        (FINDINGS, None, ExitCode.OK),
        (FINDINGS[:2], Level.ERROR, ExitCode.OK),
        (FINDINGS[:2], Level.WARNING, ExitCode.NEGATIVE),
        (FINDINGS[1:2], Level.WARNING, ExitCode.OK),
        (FINDINGS[1:2], Level.NOTE, ExitCode.NEGATIVE),
        ((), Level.NOTE, ExitCode.OK),
    ],
)
def test_exit_code(findings: tuple[Finding, ...], fail_on: Level | None, code: ExitCode) -> None:
    assert CheckDocument.of(findings, files=1, fail_on=fail_on).exit_code == code


def test_rules() -> None:
    assert answer(RuleDocument.of(ERROR)) == {
        "schema": "cannkit.check-rule/1", "code": "K001", "title": "sidecar missing",
        "level": "error", "why": "why 1", "fix": "fix 1", "spec": ["JSN-01"],
    }  # fmt: skip
    parsed = answer(RuleListDocument.of([NOTE, ERROR]))
    assert parsed["schema"] == "cannkit.check-rules/1"
    assert [rule["code"] for rule in parsed["rules"]] == ["K001", "K201"]
