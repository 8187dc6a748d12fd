"""cannkit schema: `fixtures/schema` has what it prints, so that a change shows in review."""

from __future__ import annotations

import json
from typing import Final

import pytest
from jsonschema import Draft202012Validator

from cannkit.errors import ExitCode
from tests.cli.conftest import Keep
from tests.cli.runner import cannkit
from tests.facts import FIXTURES

SCHEMAS: Final = FIXTURES / "schema"
NAMES: Final = (
    "parse",
    "register",
    "lookup",
    "load",
    "launch",
    "launch-op",
    "operators",
    "operator",
    "sqe",
    "so-path",
    "ae-call",
    "ae-call-logic",
    "check",
    "check-rule",
    "check-rules",
    "extract",
    "diff",
    "doctor",
    "soc",
)


@pytest.mark.parametrize("name", NAMES)
def test_schema(name: str, keep: Keep) -> None:
    found = cannkit("schema", name)
    assert (found.code, found.err) == (0, b"")
    Draft202012Validator.check_schema(json.loads(found.out))
    assert found.document["title"] == f"cannkit.{name}/1"
    keep(SCHEMAS / f"{name}.1.json", found.out)


def test_no_schema_is_forgotten() -> None:
    names = {path.name for path in SCHEMAS.iterdir()}
    assert names == {f"{name}.1.json" for name in NAMES}


def test_command_without_a_schema() -> None:
    found = cannkit("schema", "completion")
    assert (found.code, found.out) == (ExitCode.USAGE, b"")
    assert all(name in found.errors[0] for name in NAMES)
