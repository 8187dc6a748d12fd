"""`fixtures/tour.sh`: what a newcomer walks through, from a shell, with gcc and jq."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.cli.runner import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def test_tour() -> None:
    """Every step is as the script tells it."""
    for tool in ("gcc", "jq"):
        if shutil.which(tool) is None:
            pytest.skip(f"fixtures/tour.sh needs {tool}")
    found = run(["bash", "fixtures/tour.sh"], env={"CANNKIT": f"{sys.executable} -m cannkit"})
    assert found.code == 0, found.err.decode()
    assert found.err == b""
    lines = found.text.splitlines()
    assert [line[0] for line in lines if line[1:3] == ". "] == list("123456")
    assert lines[-1] == "as told"
