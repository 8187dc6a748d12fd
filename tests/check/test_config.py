"""Selection of rules by prefixes, and the settings of a project."""

from __future__ import annotations

import tomllib
from pathlib import Path
from time import monotonic
from typing import Any, Final

import pytest

from cannkit.check.config import (
    FILE_LIMIT,
    Config,
    PathIgnore,
    Selection,
    config_of,
    find_config,
    read_config,
    select_rules,
)
from cannkit.check.finding import Finding, Level, Rule
from cannkit.errors import CannkitError, InputError, UsageError

CODES: Final = ("K001", "K002", "K012", "K101", "K110", "K201")


def taken(selection: Selection) -> list[str]:
    return [code for code in CODES if selection.takes_code(code)]


def parsed(text: str, file: str = "pyproject.toml") -> Config | None:
    return config_of(tomllib.loads(text), CODES, file)


def settings(text: str) -> Config:
    config = parsed(f"[tool.cannkit.check]\n{text}")
    assert config is not None
    return config


def finding(code: str, file: str) -> Finding:
    return Finding(Rule(code, "t", Level.ERROR, "why", "fix"), file, None, "m")


@pytest.mark.parametrize(
    ("select", "ignore", "left"),
    [
        ((), (), CODES),
        (("K0",), (), ("K001", "K002", "K012")),
        (("K0,K101",), (), ("K001", "K002", "K012", "K101")),
        (("K0", " K201 "), (), ("K001", "K002", "K012", "K201")),
        ((), ("K",), ()),
        ((), ("K1",), ("K001", "K002", "K012", "K201")),
        (("K012",), ("K0",), ("K012",)),  # the longer prefix wins
        (("K0",), ("K012",), ("K001", "K002")),
        (("K012",), ("K012",), ()),  # of two that are as long, what is left out
    ],
)
def test_longest_prefix_wins(
    select: tuple[str, ...], ignore: tuple[str, ...], left: tuple[str, ...]
) -> None:
    assert taken(select_rules(Config(), CODES, select=select, ignore=ignore)) == list(left)


def test_command_line_over_project() -> None:
    project = Config(select=("K0", "K1"), ignore=("K012",))
    assert taken(select_rules(project, CODES)) == ["K001", "K002", "K101", "K110"]
    assert taken(select_rules(project, CODES, ignore=["K1"])) == ["K001", "K002"]
    assert taken(select_rules(project, CODES, select=["K012"])) == ["K012"]


@pytest.mark.parametrize(
    ("prefix", "hint"),
    [
        ("K013", "did you mean K"),
        ("K0122", "did you mean K012, "),
        ("", "`cannkit check --list` lists all rules"),
        ("pedantic", "`cannkit check --list` lists all rules"),
    ],
)
def test_unknown_codes(prefix: str, hint: str) -> None:
    with pytest.raises(UsageError, match="unknown rule") as caught:
        select_rules(Config(), CODES, select=[prefix])
    assert caught.value.where == "--select"
    assert (caught.value.hint or "").startswith(hint)


def test_settings() -> None:
    config = settings("""
        select = ["K0", "K1"]
        ignore = ["K012"]
        fail-on = "warning"
        soc = "Ascend910B1"
        device-glibc = "2.34"
        per-path-ignores = {"./old/" = ["K1"], "*.so" = ["K001", "K2"]}
    """)
    assert config == Config(
        ("K0", "K1"), ("K012",), "warning", "Ascend910B1", "2.34",
        (PathIgnore("old/*", ("K1",)), PathIgnore("*.so", ("K001", "K2"))), "pyproject.toml",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('selct = ["K0"]', "unknown key 'selct'"),
        ('fail_on = "error"', "unknown key 'fail_on'"),
        ('select = ["K9"]', "unknown rule 'K9' (pyproject.toml, select)"),
        ('per-path-ignores = {"a" = ["X"]}', "unknown rule 'X' (pyproject.toml, 'a')"),
        ('select = "K0"', "select (pyproject.toml): not a list of texts"),
        ("ignore = [1]", "ignore (pyproject.toml): not a list of texts"),
        ('fail-on = "notes"', "'notes' is none of error, warning, never"),
        ("soc = 1", "soc (pyproject.toml): not a text"),
        ('device-glibc = "new"', "'new' is no version"),
        (
            f'per-path-ignores = {{"{"[" * 600}" = ["K0"]}}',
            "per-path-ignores (pyproject.toml): a path has more than 512 characters",
        ),
        ('per-path-ignores = ["a"]', "per-path-ignores (pyproject.toml): not a table"),
    ],
)
def test_settings_that_make_no_sense(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(text)
    assert words in str(caught.value)


def test_near_key() -> None:
    with pytest.raises(UsageError) as caught:
        settings("fail_on = 1")
    assert caught.value.hint == "did you mean fail-on?"


def test_tables_of_both_files() -> None:
    named = '[tool.cannkit.check]\nsoc = "a"'
    short = '[check]\nsoc = "a"'
    assert parsed("[tool.ruff]") is None
    assert parsed("[tool.cannkit]") is None
    assert parsed(short) is None  # a pyproject is not ours
    for text in (named, short):
        config = parsed(text, "x/cannkit.toml")
        assert config == Config(soc="a", file="x/cannkit.toml")
    assert parsed("", "cannkit.toml") == Config(file="cannkit.toml")
    with pytest.raises(UsageError, match="keep one"):
        parsed(f"{named}\n{short}", "cannkit.toml")
    with pytest.raises(UsageError, match="unknown key 'chek'"):
        parsed("[chek]", "cannkit.toml")
    with pytest.raises(UsageError, match="not a table"):
        parsed("tool = 1")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_nearest_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pyproject without our table is passed over; a cannkit.toml comes before a pyproject."""
    pyproject = '[tool.cannkit.check]\nsoc = "{}"'
    write(tmp_path / "pyproject.toml", pyproject.format("top"))
    write(tmp_path / "a/pyproject.toml", "[tool.ruff]")
    write(tmp_path / "b/pyproject.toml", pyproject.format("no"))
    write(tmp_path / "b/cannkit.toml", '[check]\nsoc = "b"')
    write(tmp_path / "b/x.o", "")
    monkeypatch.chdir(tmp_path)
    assert find_config("a/b/c.o", CODES) == Config(soc="top", file="pyproject.toml")
    assert find_config("b", CODES) == Config(soc="b", file="b/cannkit.toml")
    assert find_config("b/x.o", CODES) == Config(soc="b", file="b/cannkit.toml")
    assert find_config("-", CODES).soc == "top"
    assert find_config(f"{tmp_path}/b", CODES).file == f"{tmp_path}/b/cannkit.toml"
    monkeypatch.chdir(tmp_path / "a")
    assert find_config("x.o", CODES).file == "../pyproject.toml"


def test_no_settings() -> None:
    assert find_config("/" + "a/" * 2000, CODES) == Config()
    assert read_config("/nowhere/cannkit.toml", CODES) is None


@pytest.mark.parametrize(
    ("glob", "file", "is_ignored"),
    [
        ("old/*", "p/old/ascend910b/x.o", True),
        ("old/*", "p/new/x.o", False),
        ("x.o", "p/old/x.o", True),
        ("*.whl", "p/dist/a.whl!op/x.o", True),
        ("dist/a.whl!op/*", "p/dist/a.whl!op/x.o", True),
        ("op/*.o", "p/dist/a.whl!op/x.o", True),
        ("a.whl", "p/dist/a.whl!op/x.o", True),
        ("*/ascend310p/*", "p/k/ascend310p/x.o", True),
        ("../q/*", "q/x.o", True),
        ("[z-a]", "p/z", False),
    ],
)
def test_ignores_of_paths(glob: str, file: str, is_ignored: bool) -> None:
    """Globs count from the folder of the settings."""
    project = Config(per_path_ignores=(PathIgnore(glob, ("K1",)),), file="p/pyproject.toml")
    selection = select_rules(project, CODES)
    assert selection.takes(finding("K101", file)) is not is_ignored
    assert selection.takes(finding("K001", file))


def test_ignored_rule_is_no_finding() -> None:
    selection = select_rules(Config(), CODES, ignore=["K1"])
    assert not selection.takes(finding("K101", "x.o"))


N: Final = FILE_LIMIT // 2
HOSTILE: Final[dict[str, Any]] = {
    "dotted": ".".join(["a"] * N) + "=1",
    "quoted": ".".join(['"a"'] * (N // 2)) + "=1",
    "nested": "x=" + "[" * N,
    "wide": "\n".join(f"a{i}." + ".".join(["a"] * 60) + "=1" for i in range(N // 70)),
    "word": "a" * N * 2,
    "quotes": '"' * N * 2,
    "number": "x=" + "1" * N,
    "bytes": b"\xff\xfe",
    "large": " " * (FILE_LIMIT + 1),
    "key": f"[check]\n{'k' * N} = 1",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_settings(name: str, tmp_path: Path) -> None:
    text = HOSTILE[name]
    file = tmp_path / "cannkit.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    begin = monotonic()
    with pytest.raises(CannkitError) as caught:
        read_config(str(file), CODES)
    assert monotonic() - begin < 5
    assert len(str(caught.value)) < 600


def test_unreadable_settings(tmp_path: Path) -> None:
    (tmp_path / "cannkit.toml").mkdir()
    with pytest.raises(InputError):
        read_config(str(tmp_path / "cannkit.toml"), CODES)
