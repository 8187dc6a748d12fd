"""README and CONTRIBUTING tell what is true: samples, snippets, commands, options and keys."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
SAMPLE = re.compile(r"(```console\n\$ ((?:[^\n]*\\\n)*[^\n]*\n))(.*?)(```\n)", re.DOTALL)
COMMANDS = (
    *("parse", "register", "lookup", "load", "launch", "sqe"),
    *("so-path", "ae-call", "check", "extract", "diff", "doctor", "soc", "schema", "completion"),
)
WITH_OPTIONS = [name for name in COMMANDS if name != "sqe"] + ["sqe decode", "sqe encode"]
WITH_SCHEMA = [name for name in COMMANDS if name not in ("schema", "completion")]


BUILD = re.compile(r"^(?:gcc|cp) .*$", re.MULTILINE)


def run(*args: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cannkit", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_samples_are_real_output(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    for command in BUILD.findall(text):
        subprocess.run(shlex.split(command), cwd=tmp_path, check=True)

    def answer(sample: re.Match[str]) -> str:
        return run(*shlex.split(sample[2].replace("\\\n", " "))[1:], cwd=tmp_path)

    fresh = SAMPLE.sub(lambda m: m[1] + answer(m) + m[4], text)
    if request.config.getoption("--update-cases"):
        README.write_text(fresh, "utf-8")
    assert SAMPLE.search(text)
    assert README.read_text("utf-8") == fresh


def test_python_snippets_run() -> None:
    snippets = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert snippets
    for snippet in snippets:
        subprocess.run([sys.executable, "-c", snippet], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_readme_tells_each_command(name: str) -> None:
    assert f"`cannkit {name} " in README.read_text("utf-8")


def test_readme_tells_no_other_command() -> None:
    listed = re.findall(r"^  ([\w-]+) ", run("--help").partition("Commands:")[2], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


def test_summaries_are_whole() -> None:
    """`cannkit --help` cuts none of them on a screen of 80 columns."""
    assert "..." not in run("--help").partition("Commands:")[2]


def section_of(name: str) -> str:
    text = CONTRIBUTING.read_text("utf-8")
    return text.partition(f"### cannkit {name}")[2].partition("### ")[0]


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_contract_tells_each_option(name: str) -> None:
    shown = set(
        re.findall(
            r"(?<![\w-])(--?[a-z][a-z-]*)", run(*name.split(), "--help").partition("Options:")[2]
        )
    )
    table = "\n".join(re.findall(r"^\| (`-[^|]*)\|", section_of(name), re.MULTILINE))
    told = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", table))
    assert told == shown - {"-h", "--help"}


@pytest.mark.parametrize("name", WITH_SCHEMA)
def test_contract_tells_the_keys_of_the_schema(name: str) -> None:
    entry = json.loads(run("schema", name))["$defs"]["entry"]
    told = re.search(
        r"^Keys of a result [^:]*: (.*?)\.$", section_of(name), re.MULTILINE | re.DOTALL
    )
    assert told
    assert re.findall(r"`(\w+)`", told[1]) == list(entry["properties"])
