"""cannkit completion: `completions/` has what it prints, and a real shell completes with it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest

from cannkit.soc import soc_names
from tests.cli.conftest import Keep
from tests.cli.runner import OBJECTS, PATH, ROOT, Result, cannkit, command, run, together
from tests.test_readme import COMMANDS

FILES: Final = {"bash": "cannkit.bash", "zsh": "_cannkit", "fish": "cannkit.fish"}
COMPLETIONS: Final = ROOT / "completions"
BANNED: Final = {"lief", "elftools", "pydantic", "pydantic_core", "rich"}

# What readline would do with a line that ends at the cursor: COMP_WORDS, then the function.
ASK: Final = """
source completions/cannkit.bash
spec=$(complete -p cannkit) || exit 9
COMP_WORDS=("$@")
COMP_CWORD=$(( $# - 1 ))
_cannkit_completion cannkit "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
case $spec in *"-o default"*) exit 0;; *) exit 8;; esac
"""


@pytest.mark.parametrize(("shell", "file"), FILES.items())
def test_completion_script(shell: str, file: str, keep: Keep) -> None:
    found = cannkit("completion", shell)
    assert (found.code, found.err) == (0, b"")
    keep(COMPLETIONS / file, found.out)


def test_no_script_is_forgotten() -> None:
    assert {path.name for path in COMPLETIONS.iterdir()} == set(FILES.values())


def ask(*line: str) -> Result:
    """What bash completes for a line."""
    return run(["bash", "--norc", "-c", ASK, "bash", *line])


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.skipif(shutil.which("cannkit", path=PATH) is None, reason="cannkit is not installed")
def test_bash_completes() -> None:
    lines: dict[tuple[str, ...], set[str]] = {
        ("cannkit", "par"): {"parse"},
        ("cannkit", ""): set(COMMANDS),
        ("cannkit", "parse", "--so"): {"--soc"},
        ("cannkit", "parse", "--no"): {"--no-sidecar"},
        ("cannkit", "parse", "--color", ""): {"auto", "always", "never"},
        ("cannkit", "parse", "--soc", "Ascend310P"): {
            name for name in soc_names() if name.startswith("Ascend310P")
        },
        ("cannkit", "soc", "Ascend910B"): {
            name for name in soc_names() if name.startswith("Ascend910B")
        },
        ("cannkit", "so-path", "--kernel-type", "cus"): {"custom", "custom-kfc"},
        ("cannkit", "ae-call", "--run-mode", ""): {"pcie", "socket", "thread"},
        ("cannkit", "ae-call", "--entry", "e"): {"engine"},
        ("cannkit", "schema", "p"): {"parse"},
        ("cannkit", "completion", "z"): {"zsh"},
        # none of ours: `-o default` lets bash complete file names
        ("cannkit", "parse", f"{OBJECTS}/Add"): {""},
    }
    results = together(*(lambda line=line: ask(*line) for line in lines))
    found = {line: set(r.text.splitlines()) for line, r in zip(lines, results, strict=True)}
    assert found == lines
    assert {(r.code, r.err) for r in results} == {(0, b"")}


def test_completing_is_quick() -> None:
    """cli.md, speed: completion imports none of the five."""
    env = {"_CANNKIT_COMPLETE": "complete_bash", "COMP_WORDS": "cannkit soc As", "COMP_CWORD": "2"}
    found = run(command(python=("-X", "importtime")), env=env)
    assert "Ascend910B1" in found.text
    lines = found.err.decode().splitlines()
    assert not BANNED & {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_completions_are_for_the_installed_command() -> None:
    for file in FILES.values():
        assert "_CANNKIT_COMPLETE" in (COMPLETIONS / file).read_text("utf-8")
        assert str(Path.home()) not in (COMPLETIONS / file).read_text("utf-8")
