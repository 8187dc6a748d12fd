"""Every folder of `fixtures/cases`: a command, its exit code, its answer as text and as JSON.

`case.toml` says what runs and why; paths are relative to the project. `pytest --update-cases`
rewrites `expected.*`.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.cli.conftest import Keep
from tests.cli.inputs import CASES, case_files
from tests.cli.runner import cannkit, together

LIMIT: Final = 8 << 10  # house.md, section 9
STDERR: Final = "stderr: "


class Case(NamedTuple):
    """What `case.toml` says."""

    why: str
    command: list[str]
    exit_code: int


def read_case(folder: Path) -> Case:
    return Case(**tomllib.loads((folder / "case.toml").read_text("utf-8")))


FOLDERS: Final = sorted(path for path in CASES.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case(folder: Path, keep: Keep) -> None:
    case = read_case(folder)
    assert case.why
    text, answer = together(
        lambda: cannkit(*case.command), lambda: cannkit(*case.command, "--json")
    )
    assert (text.code, answer.code) == (case.exit_code, case.exit_code)
    errors = "".join(f"{STDERR}{line}\n" for line in text.errors)
    keep(folder / "expected.txt", text.out + errors.encode())
    keep(folder / "expected.json", answer.out)
    assert next(iter(json.loads(answer.out))) == "schema"


def test_inputs_of_cases() -> None:
    """house.md, section 9: small, and made again byte for byte."""
    found = {
        path.relative_to(CASES).as_posix(): path.read_bytes()
        for path in CASES.glob("*/*")
        if path.name != "case.toml" and path.stem != "expected"
    }
    assert found == case_files(), "run `python -m tests.cli.inputs`"
    assert max(map(len, found.values())) <= LIMIT
