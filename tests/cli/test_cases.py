"""Every folder of `fixtures/cases`: a command, its exit code, its answer as text and as JSON.

`case.toml` says what runs and why; paths are relative to the project, `{tmp}` is a folder of its own.
`pytest --update-cases` rewrites `expected.*`.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.cli.conftest import Keep
from tests.cli.inputs import CASES, case_files
from tests.cli.runner import Result, cannkit, together

LIMIT: Final = 8 << 10  # house.md, section 9
STDERR: Final = "stderr: "


class Case(NamedTuple):
    """What `case.toml` says."""

    why: str
    command: list[str]
    exit_code: int
    json: bool = True  # whether it takes --json, too


def read_case(folder: Path) -> Case:
    return Case(**tomllib.loads((folder / "case.toml").read_text("utf-8")))


FOLDERS: Final = sorted(path for path in CASES.iterdir() if path.is_dir())


def answer_of(case: Case, tmp: Path, *more: str) -> Result:
    """What the command answers when `{tmp}` is `tmp`, which it calls `{tmp}` again."""
    code, *texts = cannkit(*(word.replace("{tmp}", str(tmp)) for word in case.command), *more)
    return Result(code, *(text.replace(str(tmp).encode(), b"{tmp}") for text in texts))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_case(folder: Path, keep: Keep, tmp_path: Path) -> None:
    case = read_case(folder)
    assert case.why
    calls = [lambda: answer_of(case, tmp_path / "text")]
    if case.json:
        calls.append(lambda: answer_of(case, tmp_path / "json", "--json"))
    text, *answers = together(*calls)
    assert {each.code for each in (text, *answers)} == {case.exit_code}
    errors = "".join(f"{STDERR}{line}\n" for line in text.errors)
    keep(folder / "expected.txt", text.out + errors.encode())
    for answer in answers:
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
