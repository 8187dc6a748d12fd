"""Workflow commands of GitHub Actions."""

from __future__ import annotations

from cannkit.check.finding import Finding
from cannkit.render.github import github_text
from cannkit.report.check import CheckDocument
from tests.report.test_check import ERROR, FINDINGS


def test_commands() -> None:
    assert github_text(CheckDocument.of(FINDINGS, files=2)).splitlines() == [
        "::warning file=b.o,title=K101 lone half::kernel k: m1%0Afix: fix 2",
        "::error file=b.o,title=K001 sidecar missing::m3 \\xff%0Afix: fix 1",
        "::notice file=a.o,title=K201 unknown flags::m2%0Afix: fix 3",
        "1 error, 1 warning, 1 note in 2 files",
    ]


def test_members() -> None:
    """The annotation goes to the container."""
    found = Finding(ERROR, "a.whl!op/x.o", None, "m")
    (line, _) = github_text(CheckDocument.of([found], files=1)).splitlines()
    assert line == "::error file=a.whl,title=K001 sidecar missing::op/x.o:%0Am%0Afix: fix 1"


def test_escapes() -> None:
    """Nothing of a file ends a property, a command or a line."""
    rule = ERROR._replace(title="50%, a:b", fix="one\r\ntwo 100%")
    found = Finding(rule, "a,b:100%\n::set-env::.o", "x::y", "100%\r\n::error::z \x1b[1m")
    (line, _) = github_text(CheckDocument.of([found], files=1)).splitlines()
    assert line == (
        "::error file=a%2Cb%3A100%25\\n%3A%3Aset-env%3A%3A.o,title=K001 50%25%2C a%3Ab::"
        "x::y: 100%25\\r\\n::error::z \\x1b[1m%0Afix: one%0D%0Atwo 100%25"
    )


def test_nothing_found() -> None:
    assert github_text(CheckDocument.of([], files=3)) == "nothing found in 3 files\n"
