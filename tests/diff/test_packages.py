"""Folders and wheels: which object is which, and what is gone with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from cannkit.diff.change import Change, Effect
from cannkit.diff.packages import Difference, compare_sides
from cannkit.diff.side import read_side
from cannkit.inputs.paths import open_inputs
from tests import corpus
from tests.build import OBJECTS
from tests.cli.inputs import vector_object
from tests.compiled import a2_object, a5_object
from tests.diff.sides import SOC, compared, side
from tests.packages import AARCH64, X86_64, library
from tests.shapes import Kernel, Operator
from tests.sidecars import json_bytes, sidecar_keys

ONE, TWO, THREE = ("1" * 32, "2" * 32, "3" * 32)
OPP: Final = "vendors/demo/op_impl/ai_core/tbe/kernel"


def package(
    *entries: tuple[str, str, str], soc: str = "ascend910b", **facts: Any
) -> dict[str, bytes]:
    """An opp tree: operators as (type, hash, dtype code of its simplified key)."""
    files: dict[str, bytes] = {}
    for kind, digest, code in entries:
        operator = Operator(f"{kind}_{digest}", soc, (Kernel(0),), **facts)
        data = (a5_object if operator.is_a5 else a2_object)(operator)
        keys = sidecar_keys(operator, data)
        keys["supportInfo"]["simplifiedKey"] = [f"{kind}/d=0,p=0/{code},2"]
        path = f"{OPP}/{soc}/{kind.lower()}/{operator.stem}"
        files |= {f"{path}.o": data, f"{path}.json": json_bytes(keys)}
    return files


def told(found: Difference) -> list[tuple[str, str, str]]:
    return [(each.effect.value, each.kind, each.subject) for each in found.changes]


def test_the_same() -> None:
    files = package(("Add", ONE, "1"), ("Mul", ONE, "1"))
    assert compared(files, files) == Difference((), 2)


def test_an_operator_gone_and_new() -> None:
    """One line for all its objects."""
    both = package(("Add", ONE, "1"), ("Mul", ONE, "1"), ("Mul", TWO, "2"))
    one = package(("Add", ONE, "1"))
    assert compared(both, one).changes == (
        Change(Effect.BREAKING, "op", "ascend910b/mul", 2, None),
    )
    assert told(compared(one, both)) == [("behaviour", "op", "ascend910b/mul")]


def test_an_object_gone_and_new() -> None:
    both = package(("Add", ONE, "1"), ("Add", TWO, "2"))
    one = package(("Add", ONE, "1"))
    path = f"{OPP}/ascend910b/add/Add_{TWO}.o"
    (gone,) = compared(both, one).changes
    assert (gone.effect.value, gone.kind, gone.subject, gone.file) == (
        "breaking",
        "object",
        path,
        path,
    )
    assert (gone.before, gone.after) == (1, None)
    assert told(compared(one, both)) == [("behaviour", "object", path)]


def test_a_soc_gone_and_new() -> None:
    one = package(("Add", ONE, "1"))
    both = one | package(("Add", ONE, "1"), ("Mul", ONE, "1"), soc="ascend950")
    (gone,) = compared(both, one).changes
    assert (gone.effect.value, gone.kind, gone.subject, gone.before) == (
        "breaking",
        "soc",
        "ascend950",
        2,
    )
    assert told(compared(one, both)) == [("behaviour", "soc", "ascend950")]


def test_another_soc() -> None:
    """A2 beside A3: the folder has another name, the objects are the same but one."""
    a = package(("Add", ONE, "1"), ("Mul", ONE, "1"), ("Sub", ONE, "1"))
    b = package(("Add", ONE, "1"), soc="ascend910_93") | package(
        ("Mul", ONE, "1"), ("Div", ONE, "1"), soc="ascend910_93", tiling=48
    )
    found = compared(a, b)
    assert [each for each in told(found) if each[1] in ("soc", "op", "object")] == [
        ("breaking", "soc", "ascend910b"),
        ("breaking", "op", "ascend910b/sub"),
        ("behaviour", "op", "ascend910_93/div"),
    ]
    (change,) = (each for each in found.changes if each.kind == "tiling_size")
    assert (change.before, change.after) == (40, 48)
    assert change.file == f"{OPP}/ascend910b/mul/Mul_{ONE}.o"
    assert found.compared == 2


def test_another_hash_in_the_name() -> None:
    """The simplified key tells which object it was; kernels are matched by their keys."""
    a = package(("Add", ONE, "1"), ("Add", TWO, "2"))
    b = package(("Add", THREE, "1"), ("Add", TWO, "2"), tiling=40)
    path, new = (f"{OPP}/ascend910b/add/Add_{digest}.o" for digest in (ONE, THREE))
    assert compared(a, b).changes == (Change(Effect.BEHAVIOUR, "path", path, path, new, path),)
    longer = package(("Add", THREE, "1"), ("Add", TWO, "2"), tiling=48)
    kinds = [(each.kind, each.file) for each in compared(a, longer).changes]
    assert ("tiling_size", path) in kinds
    assert ("path", path) in kinds
    assert not {kind for kind, _ in kinds} & {"object", "kernel", "name"}


def test_another_hash_without_a_sidecar() -> None:
    """The same keys and arguments, and nobody else who has them."""

    def objects(*entries: tuple[str, str, str], **facts: Any) -> dict[str, bytes]:
        files = package(*entries, **facts)
        return {path: data for path, data in files.items() if path.endswith(".o")}

    flags = 0x0094_0000
    a, b = objects(("Add", ONE, "1")), objects(("Add", THREE, "1"), flags=flags)
    assert sorted(each.kind for each in compared(a, b).changes) == ["flags", "path"]
    a |= objects(("Add", TWO, "2"))
    b |= objects(("Add", "4" * 32, "2"), flags=flags)
    kinds = [each.kind for each in compared(a, b).changes]
    assert kinds == ["object"] * 4  # which of the two is which cannot be told


def test_another_folder() -> None:
    """The same operator for the same SoC below another vendor."""
    a = package(("Add", ONE, "1"))
    b = {path.replace("demo", "other"): data for path, data in a.items()}
    assert [(c.effect.value, c.kind) for c in compared(a, b).changes] == [("behaviour", "path")]


def test_objects_without_operators() -> None:
    a = {"x.o": vector_object("x_0"), "y.o": vector_object("y_0", "y_1")}
    b = {"x.o": vector_object("x_0"), "z.o": vector_object("z_0")}
    assert [(c.kind, c.subject, c.before, c.after) for c in compared(a, b).changes] == [
        ("object", "y.o", 2, None),
        ("object", "z.o", None, 1),
    ]


def test_two_objects_whatever_they_are_called() -> None:
    a, b = {"x.o": vector_object("x_0")}, {"z.o": vector_object("x_0")}
    assert compared(a, b, single=True) == Difference((), 1)
    assert len(compared(a, b).changes) == 2


def test_an_object_that_cannot_be_read_is_not_gone() -> None:
    whole = {"x.o": vector_object("x_0"), "y.o": vector_object("y_0")}
    broken = whole | {"y.o": vector_object("y_0")[:100]}
    assert compared(whole, broken) == Difference((), 1)
    assert [item.file for item, _ in side(broken).errors] == ["top/y.o"]


def wheel(path: Path, files: dict[str, bytes]) -> str:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return str(path)


def folder(path: Path, files: dict[str, bytes]) -> str:
    for name, data in files.items():
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return str(path)


def opened(a: str, b: str) -> Difference:
    first, second = (read_side(path, open_inputs([path]), SOC) for path in (a, b))
    assert not first.errors + second.errors
    return compare_sides(first, second, single=False)


def test_wheels_and_folders(tmp_path: Path) -> None:
    """A wheel is its unpacked folder."""
    a = package(("Add", ONE, "1"), ("Mul", ONE, "1"))
    b = package(("Add", ONE, "1"))
    wheels = wheel(tmp_path / "a.whl", a), wheel(tmp_path / "b.whl", b)
    folders = folder(tmp_path / "a", a), folder(tmp_path / "b/", b)
    assert opened(wheels[0], folders[0]) == Difference((), 2)
    assert opened(wheels[0], f"{folders[0]}/") == Difference((), 2)
    gone = [("breaking", "op", "ascend910b/mul")]
    assert told(opened(*wheels)) == told(opened(*folders)) == gone
    assert told(opened(wheels[0], folders[1])) == gone


@pytest.mark.parametrize("machine", [X86_64, AARCH64])
def test_what_holds_no_kernels_does_not_count(machine: int, tmp_path: Path) -> None:
    """Folders of a build have objects for the host, too."""
    files = {"x.o": vector_object("x_0"), "CMakeFiles/x.cpp.o": library("f", machine=machine)}
    for path in (folder(tmp_path / "a", files), wheel(tmp_path / "a.zip", files)):
        assert opened(path, path) == Difference((), 1)
    del files["x.o"]
    place = folder(tmp_path / "host", files)
    found = read_side(place, open_inputs([place]), SOC)
    assert (found.members, len(found.errors)) == ((), 1)


def test_a_host_library() -> None:
    library = str(OBJECTS / "libadd_kernels.so")
    assert opened(library, library) == Difference((), 3)


@pytest.mark.corpus
def test_corpus() -> None:
    """A3 has the objects of A2 in a folder of another name, but for three operators; A5 has its own."""
    root = corpus.find()
    assert root is not None
    opp = root / "fbgemm_ascend" / "opp"
    found = opened(str(opp / "A2"), str(opp / "A3"))
    assert found.compared == 151
    assert told(found) == [
        ("breaking", "soc", "ascend910b"),
        ("breaking", "op", "ascend910b/jagged_to_padded_dense_v2"),
        ("breaking", "op", "ascend910b/offsets_range"),
        ("breaking", "op", "ascend910b/segment_sum_csr"),
    ]
    assert opened(str(root), str(root)) == Difference((), 630)
    kinds = {
        (each.effect.value, each.kind) for each in opened(str(opp / "A2"), str(opp / "A5")).changes
    }
    assert ("breaking", "flags") in kinds
    assert ("behaviour", "path") not in kinds


def test_the_sidecar_is_that_of_the_member() -> None:
    files = package(("Add", ONE, "1"))
    path = next(path for path in files if path.endswith(".json"))
    keys = json.loads(files[path]) | {"opParaSize": 99}
    (change,) = compared(files, files | {path: json_bytes(keys)}).changes
    assert (change.kind, change.before, change.after) == ("sidecar.opParaSize", 40, 99)
