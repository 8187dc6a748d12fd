"""The tours of `fixtures`: what a newcomer walks through, from a shell."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.cli.runner import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


@pytest.mark.parametrize(
    ("script", "tools", "steps"),
    [
        ("tour.sh", ("gcc", "jq"), "123456"),
        ("ci.sh", ("jq",), "12345"),
        ("operators.sh", ("gcc", "jq"), "1234567"),
    ],
)
def test_tour(script: str, tools: tuple[str, ...], steps: str) -> None:
    """Every step is as the script tells it."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"fixtures/{script} needs {tool}")
    found = run(["bash", f"fixtures/{script}"], env={"CANNKIT": f"{sys.executable} -m cannkit"})
    assert found.code == 0, found.err.decode()
    assert found.err == b""
    lines = found.text.splitlines()
    assert [line[0] for line in lines if line[1:3] == ". "] == list(steps)
    assert lines[-1] == "as told"
