"""`.pre-commit-hooks.yaml`: what other projects run before a commit."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.cli.runner import PATH, ROOT, cannkit, run

MANIFEST: Final = ROOT / ".pre-commit-hooks.yaml"
PREK: Final = shutil.which("prek", path=PATH)


def value(key: str) -> str:
    """What the one hook says; each of its keys is a line."""
    (found,) = re.findall(rf"^(?:- |  ){key}: (.*)$", MANIFEST.read_text("utf-8"), re.MULTILINE)
    return str(found)


@pytest.mark.skipif(PREK is None, reason="prek is not installed")
def test_manifest_is_valid(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "PREK_HOME": str(tmp_path)}
    found = run([str(PREK), "validate-manifest", str(MANIFEST)], env=env)
    assert found.code == 0, found.err.decode()


def test_entry_is_a_command() -> None:
    """With the name of a file behind it, as the hook is called."""
    program, *words = value("entry").split()
    assert program == "cannkit"
    assert cannkit(*words, "fixtures/objects/AddCustom.o").code == 0


@pytest.mark.parametrize("name", ["op/k.o", "dist/op-1.0-py3-none-any.whl"])
def test_files_that_are_checked(name: str) -> None:
    assert re.search(value("files"), name)


@pytest.mark.parametrize("name", ["op/k.json", "k.o.txt", "solo", "libop.so"])
def test_files_that_are_not(name: str) -> None:
    assert not re.search(value("files"), name)


def test_the_readme_names_the_hook() -> None:
    assert f"- id: {value('id')}\n" in (ROOT / "README.md").read_text("utf-8")
