"""Names for files: whatever they are made of, they stay where they are put, one for each. HAZ-12."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.extract.names import (
    LONGEST,
    TakenNames,
    Target,
    flat_target,
    opp_target,
    safe_name,
)
from cannkit.format.container import ContainerKind

SECTION: Final = ".ascend.kernel.ascend910b1.add"
HOSTILE_PATHS: Final = (
    "/soc/op/k.json",
    "../op/k.json",
    "soc/../k.json",
    "soc/op/..",
    "soc/./k.json",
    "soc//k.json",
    "soc/op/",
    "soc/op",
    "k.json",
    "soc/op/deep/k.json",
    "bin/soc/op/k.json",
    "soc\\op\\k.json",
    "C:/op/k.json",
    "soc/op/k.json:stream",
    "soc/op/k\0.json",
    "soc/op/k\n.json",
    "soc/op/\x1b[2J.json",
    "soc/op/\ud800.json",
    "soc/op/left\u202eright.json",
    "soc/ . /k.json",
    "",
    7,
    None,
    ["soc", "op", "k.json"],
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("add_0", "add_0"),
        ("\u52a0\u6cd5", "\u52a0\u6cd5"),
        ("", "member"),
        ("...", "member"),
        ("\0\0", "member"),
        ("\udcff", "member"),
        (".hidden", "hidden"),
        ("dots. .", "dots"),
        ("-rf", "_-rf"),
        ("~root", "_~root"),
        ("a:b|c*d", "a_b_c_d"),
        ("tab\tnul\0", "tab_nul_"),
        ("left\u202eright", "left_right"),
        ("CON", "_CON"),
        ("aux.x.y", "_aux.x.y"),
        ("Nul .x", "_Nul .x"),
        ("com1", "_com1"),
        ("LPT\xb9", "_LPT\xb9"),
        ("com", "com"),
        ("console", "console"),
        ("x" * 300, "x" * LONGEST),
        ("\u52a0" * 300, "\u52a0" * (LONGEST // 3)),
        ("x" * (LONGEST - 1) + ".y", "x" * (LONGEST - 1)),
    ],
)
def test_safe_name(text: str, name: str) -> None:
    assert safe_name(text) == name


@given(st.text(st.characters()))
def test_every_name_is_safe(text: str) -> None:
    name = safe_name(text)
    assert name
    assert len(name.encode()) <= LONGEST + 1
    assert name.isprintable()
    assert not re.search(r'[/\\:<>"|?*]|^[-~. ]|[. ]$', name)
    assert safe_name(name) == name


@given(st.text(), st.sampled_from(ContainerKind))
def test_flat_target_is_flat(member: str, kind: ContainerKind) -> None:
    assert flat_target(kind, member).folders == ()


@pytest.mark.parametrize(
    ("kind", "member", "stem"),
    [
        (ContainerKind.FATBIN, f"{SECTION}[0] mix", "ascend910b1.add.0.mix"),
        (ContainerKind.FATBIN, f"{SECTION}[1] unknown(7)", "ascend910b1.add.1.unknown.7"),
        (ContainerKind.FATBIN, f".x{SECTION}/../y[2] aic", "y.2.aic"),
        (ContainerKind.AICORE_BINARY, ".aicore_binary", "aicore_binary"),
        (ContainerKind.ACLNN, "ascend910b_add_Add_1.o", "ascend910b_add_Add_1"),
        (ContainerKind.ARCHIVE, "k.o", "k"),
        (ContainerKind.ARCHIVE, "a[0] mix", "a[0] mix"),
        (ContainerKind.WHEEL, "opp/kernels/k.o", "k"),
        (ContainerKind.WHEEL, "opp\\kernels\\k.bin", "k.bin"),
    ],
)
def test_flat_target(kind: ContainerKind, member: str, stem: str) -> None:
    assert flat_target(kind, member).stem == stem


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("ascend910b/add/Add_1.json", Target(("ascend910b", "add"), "Add_1")),
        ("ascend910b/bin/add/Add_1.json", Target(("ascend910b", "add"), "Add_1")),
        ("a.json/b.o/c.json.json", Target(("a_json", "b_o"), "c.json")),
        ("con/-x/nul.json", Target(("_con", "_-x"), "_nul")),
        ("...a/op/.json", Target(("___a", "op"), "member")),
    ],
)
def test_opp_target(path: str, target: Target) -> None:
    assert opp_target(path) == target


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=repr)
def test_hostile_file_path(path: object) -> None:
    assert opp_target(path) is None


@given(st.text())
def test_opp_target_is_below(text: str) -> None:
    found = opp_target(text)
    assert found is None or all(safe_name(part) == part for part in found.path(""))


def claimed(*stems: str) -> list[str]:
    names = TakenNames()
    return [names.claim(Target((), stem)).stem for stem in stems]


def test_no_name_is_taken_twice() -> None:
    assert claimed("k", "k", "k") == ["k", "k~2", "k~3"]
    assert claimed("k~2", "k", "k", "k~2") == ["k~2", "k", "k~3", "k~2~2"]
    assert claimed("A", "a", "\xc5", "A\u030a") == ["A", "a~2", "\xc5", "A\u030a~2"]


def test_a_name_is_taken_in_one_folder() -> None:
    names = TakenNames()
    assert names.claim(Target(("a",), "k")).stem == "k"
    assert names.claim(Target(("b",), "k")).stem == "k"
    assert names.claim(Target(("B",), "k")).stem == "k~2"


def test_many_of_one_name() -> None:
    """Each search for a free one goes on where the last one ended."""
    found = claimed(*["k"] * 100_000)
    assert (len(set(found)), found[-1]) == (100_000, "k~100000")
