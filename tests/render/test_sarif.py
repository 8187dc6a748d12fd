"""SARIF 2.1.0, judged by the public schema of OASIS (fixtures/golden)."""

from __future__ import annotations

import gzip
import json
from typing import Any, Final
from urllib.parse import unquote, urljoin

import jsonschema
import pytest

import cannkit
from cannkit.check.finding import Finding
from cannkit.render.sarif import sarif_text, uri_of
from cannkit.report.check import CheckDocument
from tests.facts import GOLDEN
from tests.report.test_check import ERROR, FINDINGS

SCHEMA: Final = json.loads(gzip.decompress((GOLDEN / "sarif-2.1.0.schema.json.gz").read_bytes()))
JUDGE: Final = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def run_of(*findings: Finding) -> Any:
    log = json.loads(sarif_text(CheckDocument.of(findings, files=9)))
    assert [error.message for error in JUDGE.iter_errors(log)] == []
    assert log["$schema"] == SCHEMA["id"]
    (run,) = log["runs"]
    return run


def test_the_judge_judges() -> None:
    log = json.loads(sarif_text(CheckDocument.of(FINDINGS, files=9)))
    log["runs"][0]["results"][0]["level"] = "grave"
    del log["runs"][0]["tool"]["driver"]["name"]
    assert len(list(JUDGE.iter_errors(log))) >= 2


def test_log() -> None:
    run = run_of(*FINDINGS)
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("cannkit", cannkit.__version__)
    assert driver["rules"][0] == {
        "id": "K001",
        "shortDescription": {"text": "sidecar missing"},
        "fullDescription": {"text": "why 1"},
        "help": {"text": "why 1\n\nFix: fix 1\n\nSpecification: JSN-01"},
        "defaultConfiguration": {"level": "error"},
    }
    first, second, third = run["results"]
    prints = first.pop("partialFingerprints")
    assert first == {
        "ruleId": "K101",
        "ruleIndex": 1,
        "level": "warning",
        "message": {"text": "kernel k: m1"},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": "b.o"}},
            "logicalLocations": [{"fullyQualifiedName": "kernel k", "kind": "element"}],
        }],
    }  # fmt: skip
    assert "logicalLocations" not in second["locations"][0]
    assert third["level"] == "note"
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert list(prints) == ["cannkitFinding/v1"]


def test_nothing_found() -> None:
    """An empty list: the run did look."""
    run = run_of()
    assert run["results"] == run["tool"]["driver"]["rules"] == []


def test_members() -> None:
    (result,) = run_of(Finding(ERROR, "d/a.whl!op/x.o", "kernel k", "m"))["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "d/a.whl"}
    assert [each["fullyQualifiedName"] for each in location["logicalLocations"]] == [
        "op/x.o", "kernel k",
    ]  # fmt: skip
    assert result["message"]["text"] == "op/x.o: kernel k: m"


def test_fingerprints_tell_findings_apart() -> None:
    one = Finding(ERROR, "a.whl!x.o", "k", "m")
    others = [
        one,
        one._replace(file="b.whl!x.o"),
        one._replace(file="a.whl!y.o"),
        one._replace(where="l"),
        one._replace(message="n"),
        one._replace(rule=ERROR._replace(code="K002")),
    ]
    prints = [
        each["partialFingerprints"]["cannkitFinding/v1"] for each in run_of(*others)["results"]
    ]
    assert len(set(prints)) == len(others)
    assert sarif_text(CheckDocument.of([one], files=1)) == sarif_text(
        CheckDocument.of([one], files=1)
    )


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a/b.o", "a/b.o"),
        ("./a/../b.o", "b.o"),
        ("../b.o", "../b.o"),
        ("/tmp/b.o", "file:///tmp/b.o"),
        ("//tmp/b.o", "file:///tmp/b.o"),
        ("C:x.o", "C%3Ax.o"),
        ("a b#?%.o", "a%20b%23%3F%25.o"),
        ("算子.o", "%E7%AE%97%E5%AD%90.o"),
        ("\\xff.o", "%5Cxff.o"),
        ("-", "-"),
    ],
)
def test_uris(file: str, uri: str) -> None:
    """A relative path stays one: never a scheme, a host, a query or a fragment."""
    assert uri_of(file) == uri
    if not file.startswith("/"):
        whole = urljoin("https://host/q/r/", uri)
        assert whole.startswith("https://host/")
        assert "?" not in whole
        assert unquote(whole).endswith(file.rpartition("../")[2])


def test_hostile_text() -> None:
    evil = "a\x00\x1b[1m\n\ud800\udcff!\u202e%00"
    (result,) = run_of(Finding(ERROR, evil, evil, evil))["results"]
    assert result["message"]["text"].isprintable()
