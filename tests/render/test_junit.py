"""JUnit XML, read back by the parser of the standard library and by junitparser."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from junitparser import JUnitXml

from cannkit.check.finding import Finding, Level
from cannkit.render.junit import junit_text
from cannkit.report.check import CheckDocument
from tests.report.test_check import ERROR, FINDINGS


def read(document: CheckDocument) -> ET.Element:
    text = junit_text(document)
    assert text.startswith("<?xml")
    assert JUnitXml.fromstring(text.encode()).tests == len(document.findings) + 1
    return ET.fromstring(text)


def test_suites() -> None:
    """A suite for each file, a test for each finding."""
    root = read(CheckDocument.of(FINDINGS, files=2))
    assert root.attrib == {
        "name": "cannkit check", "tests": "4", "failures": "1", "errors": "0", "skipped": "0",
        "time": "0.0",
    }  # fmt: skip
    assert [suite.get("name") for suite in root] == ["b.o", "a.o", "cannkit check"]
    assert [(case.get("classname"), case.get("name")) for case in root.iter("testcase")] == [
        ("b.o", "K101 lone half (kernel k)"),
        ("b.o", "K001 sidecar missing"),
        ("a.o", "K201 unknown flags"),
        ("cannkit check", "totals"),
    ]
    (failure,) = root.iter("failure")
    assert failure.attrib == {"message": "m3 \\xff", "type": "error"}
    assert failure.text == "error: m3 \\xff\nfix: fix 1"
    assert [each.text for each in root.iter("system-out")] == [
        "warning: kernel k: m1\nfix: fix 2", "note: m2\nfix: fix 3",
        "1 error, 1 warning, 1 note in 2 files",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fail_on", "failures"), [(None, 0), (Level.ERROR, 1), (Level.WARNING, 2), (Level.NOTE, 3)]
)
def test_red_as_the_exit_code(fail_on: Level | None, failures: int) -> None:
    document = CheckDocument.of(FINDINGS, files=2, fail_on=fail_on)
    assert len(list(read(document).iter("failure"))) == failures
    assert bool(document.exit_code) == bool(failures)


def test_nothing_found() -> None:
    """A report without a test would count as broken."""
    root = read(CheckDocument.of([], files=3))
    assert [each.text for each in root.iter("system-out")] == ["nothing found in 3 files"]


def test_hostile_text() -> None:
    evil = "]]><a b='\"&\x00\x1b\ufffe\uffff\ud800\n"
    root = read(CheckDocument.of([Finding(ERROR, evil, evil, evil)], files=1))
    (failure,) = root.iter("failure")
    assert failure.get("message") == "]]><a b='\"&\\x00\\x1b\\ufffe\\uffff\\ud800\\n"
