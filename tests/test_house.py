"""The promises of house.md about the code itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pytest

import cannkit
from tests.facts import golden

PACKAGE: Final = Path(cannkit.__file__).parent
MODULES: Final = {
    str(path.relative_to(PACKAGE)): path.read_text("utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}
LINES: Final = 300
RULE: Final = re.compile(r"\b[A-Z]{2,4}-[0-9]{1,4}\b")
NO_RULES: Final = {"UTF-8", "SHA-256"}

# Section 8, rule 10: one door for each library; the rest of cannkit does not know of it.
DOORS: Final = {
    "pydantic": {"report/json.py"},
    "pydantic_core": {"report/json.py"},
    "elftools": set(),
    "lief": set(),
    "ctypes": {"ae/host_libc.py"},
    "junitparser": {"render/junit.py"},
}
LAYERS_OF: Final = {  # cli/ and render/ are the only layers that know these
    "rich": re.compile(r"render/.*|cli/(?:printers|progress)\.py"),
    "typer": re.compile(r"cli/.*"),
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    for name, text in MODULES.items():
        yield name, ast.parse(text)


def imports(tree: ast.Module) -> set[str]:
    """Top-level packages that a module imports anywhere in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def calls(tree: ast.Module, name: str) -> int:
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(tree)
    )


def subclasses(tree: ast.Module, name: str) -> int:
    return sum(
        isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == name for base in node.bases)
        for node in ast.walk(tree)
    )


def test_rules_are_those_of_the_specification() -> None:
    """Section 8, rule 3: a rule that the code names is one that the specification states."""
    known = {rule for chapter in ("01", "02", "03", "04", "05", "06", "07") for rules in golden("rules")[chapter].values()
             for rule in rules}  # fmt: skip
    cited = {
        (name, rule)
        for name, text in MODULES.items()
        for rule in set(RULE.findall(text)) - NO_RULES
    }
    assert {pair for pair in cited if pair[1] not in known} == set()
    assert len({rule for _, rule in cited}) > 50  # the pattern does find them


def test_modules_are_short() -> None:
    """Section 3."""
    lengths = {name: text.count("\n") for name, text in MODULES.items()}
    long = {name: length for name, length in lengths.items() if length > LINES}
    assert not long


@pytest.mark.parametrize("library", DOORS)
def test_one_door_for_each_library(library: str) -> None:
    assert {name for name, tree in trees() if library in imports(tree)} <= DOORS[library]


@pytest.mark.parametrize("library", LAYERS_OF)
def test_layers_of_a_library(library: str) -> None:
    """Section 6: only render knows rich, and the printers that carry it to stdout."""
    names = {name for name, tree in trees() if library in imports(tree)}
    assert names
    assert {name for name in names if not LAYERS_OF[library].fullmatch(name)} == set()


def test_one_place_prints() -> None:
    """Section 10: `print` only in cli; there only the driver does."""
    assert {name for name, tree in trees() if calls(tree, "print")} == {"cli/driver.py"}


def test_one_place_makes_a_console() -> None:
    """Section 6: only render/console.py makes a Console, or a class of one."""
    made = {name for name, tree in trees() if calls(tree, "Console") or subclasses(tree, "Console")}
    assert made == {"render/console.py"}


def test_text_of_a_file_is_never_markup() -> None:
    """Section 6: never a markup string."""
    banned = ("from_markup", "markup=True", "rich.markup")
    found = {name for name, text in MODULES.items() if any(word in text for word in banned)}
    assert found == set()


def test_inner_packages_are_empty() -> None:
    """Section 3: other `__init__.py` files are empty (but `sqe/`)."""
    inits = {name for name in MODULES if name.endswith("/__init__.py")}
    assert {name for name in inits if MODULES[name]} <= {"format/sqe/__init__.py"}


def test_every_module_says_what_lives_in_it() -> None:
    """Section 8, rule 14."""
    silent = {name for name, tree in trees() if MODULES[name] and not ast.get_docstring(tree)}
    assert silent == set()


def test_modules_of_the_command_line_load_late() -> None:
    """Section 7: a command imports working layers inside its function."""
    working = ("cannkit.format", "cannkit.image", "cannkit.report", "cannkit.render", "cannkit.api")
    for name, tree in trees():
        if not name.startswith("cli/"):
            continue
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith(working), name


def test_version() -> None:
    """Section 7: a literal, the same as that of the package."""
    (literal,) = (
        node.value
        for node in ast.parse(MODULES["__init__.py"]).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"
    )
    assert isinstance(literal, ast.Constant)
    assert literal.value == cannkit.__version__ == version("cannkit")


def test_public_names() -> None:
    """cli.md, section 10: the names are loaded on first use, and are all there."""
    assert set(dir(cannkit)) == set(cannkit.__all__)
    for name in cannkit.__all__:
        assert getattr(cannkit, name)
    with pytest.raises(AttributeError, match="nothing"):
        cannkit.nothing  # noqa: B018
