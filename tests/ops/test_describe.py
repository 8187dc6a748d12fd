"""Packages and descriptions: where parts lie, what is taken from which, and where they disagree. Spec 07, section 5."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cannkit.errors import FormatError, InputError, UsageError
from cannkit.format.node_attr import AttrKind
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.describe import Package
from cannkit.ops.description import joined
from cannkit.ops.errors import CannotRunError
from cannkit.ops.op_json import OpTensor
from cannkit.ops.operator_input import operator_package
from cannkit.ops.package_paths import library_beside, parts_of
from cannkit.ops.proto_records import Presence, ProtoTensor
from cannkit.ops.registered import registered_names
from tests.op_calls import ROWS, attr_of
from tests.ops.library import ENV, library
from tests.ops.packages import PROTO, SO, installed
from tests.packages import CPU_CONFIG, CPU_LIBS


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of ours are kept with those of the other tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", ENV["XDG_CACHE_HOME"])


@pytest.mark.parametrize("part", ["", CPU_CONFIG, CPU_LIBS + SO])
def test_any_part_leads_to_the_others(tmp_path: Path, part: str) -> None:
    root = installed(tmp_path / "vendor")
    package = Package.of(str(root / part))
    assert package.library == str(root / CPU_LIBS / SO)
    assert package.json == str(root / CPU_CONFIG)
    assert package.protos == (str(root / PROTO),)


def test_relative_paths_stay_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path)
    monkeypatch.chdir(tmp_path)
    package = Package.of(CPU_CONFIG)
    assert package == Package(CPU_LIBS + SO, CPU_CONFIG, (PROTO,))
    monkeypatch.chdir(tmp_path / CPU_LIBS)
    package = Package.of(SO)
    assert package.json == "../../config/cust_aicpu_kernel.json"


def test_a_library_without_a_package(tmp_path: Path) -> None:
    package = Package.of(library(False))
    assert (package.json, package.protos, dict(package.ops)) == (None, (), {})
    with pytest.raises(UsageError) as error:
        package.describe("Add")
    assert error.value.hint == "the package has no JSON and no prototypes beside the library"


def test_a_json_without_its_library(tmp_path: Path) -> None:
    root = installed(tmp_path, protos=False)
    (root / CPU_LIBS / SO).unlink()
    package = Package.of(str(root / CPU_CONFIG))
    assert (package.library, package.protos) == (None, ())
    assert list(package.ops) == ["AddN", "All", "Alone"]
    assert package.describe("AddN").why_no_prototype == "the package has none"


def test_the_json_beside_a_library(tmp_path: Path) -> None:
    """CPU-3: the same path with `.json`."""
    root = installed(tmp_path)
    beside = (root / CPU_LIBS / SO).with_suffix(".json")
    (root / CPU_CONFIG).rename(beside)
    assert parts_of(str(root / CPU_LIBS / SO)).json == str(beside)


def test_a_json_that_was_named(tmp_path: Path) -> None:
    root = installed(tmp_path)
    own = tmp_path / "own.json"
    own.write_text('{"B": {"opInfo": {}}}')
    assert list(Package.of(str(root / CPU_LIBS / SO), str(own)).ops) == ["B"]


def test_a_library_folder(tmp_path: Path) -> None:
    root = installed(tmp_path)
    (root / CPU_CONFIG).unlink()
    assert Package.of(str(root)).library == str(root / CPU_LIBS / SO)
    with pytest.raises(InputError, match="no AI CPU operators in this folder"):
        Package.of(str(root / "op_proto"))
    with pytest.raises(InputError, match="No such file"):
        Package.of(str(tmp_path / "none"))


def test_a_folder_as_somebody_builds_it(tmp_path: Path) -> None:
    """A library and its JSON side by side; of two nobody knows which one is meant."""
    for name in ("libone.so", "libtwo.so"):
        (tmp_path / name).write_bytes(b"\x7fELF")
    (tmp_path / "libone.json").write_text("{}")
    found = Package.of(str(tmp_path))
    assert (found.library, found.json) == (
        str(tmp_path / "libone.so"),
        str(tmp_path / "libone.json"),
    )
    (tmp_path / "libtwo.json").write_text("{}")
    with pytest.raises(InputError, match="no AI CPU operators in this folder"):
        Package.of(str(tmp_path))


@pytest.mark.parametrize("name", ["", "../x.so", "a\0b", "/etc/passwd"])
def test_names_of_libraries_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    root = installed(tmp_path)
    assert library_beside(str(root / CPU_CONFIG), name) is None


def test_broken_json(tmp_path: Path) -> None:
    root = installed(tmp_path)
    (root / CPU_CONFIG).write_text("{")
    with pytest.raises(FormatError) as error:
        Package.of(str(root / CPU_CONFIG))
    assert error.value.where == str(root / CPU_CONFIG)


def test_a_description(tmp_path: Path) -> None:
    found = Package.of(str(installed(tmp_path))).describe("All")
    x, mask, n = found.inputs
    assert (x.name, x.presence, x.dtypes, x.unknown_types, x.source) == (
        ("x", Presence.REQUIRED, (OpDtype.FLOAT,), ("DT_FLOAT32",), "both")
    )
    assert (mask.name, mask.presence, mask.dtypes, mask.source) == (
        ("mask", Presence.OPTIONAL, (OpDtype.BOOL,), "prototype")
    )
    assert (n.name, n.presence, n.dtypes, n.source) == ("n", None, (OpDtype.INT64,), "json")
    (y,) = found.outputs
    assert (y.name, y.json_name, y.is_dynamic, y.format) == ("y", "z", True, "ND")
    assert y.types == ("BasicType",)
    assert (found.shape_type, found.workspace_kib, found.function) == (3, 1024, "RunCpuKernel")
    assert [attr.name for attr in found.required_attrs] == ["size", "odd"]
    kinds = {attr.name: (attr.kind, attr.default) for attr in found.attrs}
    assert kinds["dtype"] == (AttrKind.TYPE, 9)
    assert found.differences == (
        "types of 'x' that do not exist: DT_FLOAT32",
        "input 1 is 'n' in the JSON, 'mask' in the prototype CustAll",
        "n: inputs in the JSON, attributes in the prototype CustAll",
        "output 0 is 'z' in the JSON, 'y' in the prototype CustAll",
        "the prototype CustAll is registered twice: n is 7 by default, then 8 by default",
    )


def test_an_operator_without_prototype(tmp_path: Path) -> None:
    found = Package.of(str(installed(tmp_path))).describe("Alone")
    assert found.attrs == ()
    assert found.why_no_prototype == "of 2 prototypes none is of this operator"
    assert found.differences == ("the JSON has two inputs 'x'",)
    assert [each.presence for each in found.inputs] == [None, None]


def test_an_operator_without_json(tmp_path: Path) -> None:
    """OPR-212: kernels that the JSON does not have."""
    root = installed(tmp_path)
    package = Package.of(str(root))
    with pytest.raises(UsageError):
        package.describe("CustAll")
    found = package.describe("CustAll", frozenset({"CustAll"}))
    assert (found.info, found.registered) == (None, True)
    assert found.differences == (
        "the library has a kernel of this name, the JSON does not have it",
    )
    (root / CPU_CONFIG).unlink()
    alone = Package.of(str(root / CPU_LIBS / SO)).describe("CustAll")
    assert [each.source for each in alone.inputs] == ["prototype", "prototype"]


@pytest.mark.parametrize(("name", "near"), [("alone", "Alone"), ("Addn", "AddN"), ("AllO", "All")])
def test_names_that_come_near(tmp_path: Path, name: str, near: str) -> None:
    package = Package.of(str(installed(tmp_path)))
    with pytest.raises(UsageError) as error:
        package.describe(name)
    assert near in (error.value.hint or "")


def test_prototypes_that_cannot_be_read(tmp_path: Path) -> None:
    root = installed(tmp_path)
    (root / PROTO).write_bytes(b"text")
    found = Package.of(str(root)).describe("AddN")
    assert found.why_no_prototype == "it is no 64-bit library, which this machine does not open"
    assert [each.source for each in found.inputs] == ["json"]


def test_the_first_library_of_prototypes_that_can_be_read(tmp_path: Path) -> None:
    root = installed(tmp_path)
    (root / "op_proto/a.so").write_bytes(b"text")
    package = Package.of(str(root))
    assert [Path(each).name for each in package.protos] == ["a.so", "libcust_op_proto.so"]
    assert package.proto == str(root / PROTO)
    assert package.why_no_prototypes == ""


def names(*pairs: tuple[str, bool]) -> tuple[ProtoTensor, ...]:
    return tuple(
        ProtoTensor(name, Presence.DYNAMIC if dynamic else Presence.REQUIRED, ())
        for name, dynamic in pairs
    )


@pytest.mark.parametrize(
    ("json_names", "proto_names", "expected"),
    [
        ("ab", "ab", "ab:ab"),
        ("ba", "ab", "ab:ab"),  # by name
        ("xb", "ab", "ab:xb"),  # by place
        ("xa", "ab", "ab:ax"),
        ("a", "ab", "ab:a-"),
        ("abc", "ca", "cab:cab"),
        ("aa", "ab", "ab:aa"),
        ("", "", ":"),
    ],
)
def test_tensors_of_both_sources(json_names: str, proto_names: str, expected: str) -> None:
    json_tensors = [OpTensor(at, name, ()) for at, name in enumerate(json_names)]
    found = joined(json_tensors, names(*((name, False) for name in proto_names)))
    shown = "".join(each.name for each in found), "".join(each.json_name or "-" for each in found)
    assert ":".join(shown) == expected


@pytest.mark.parametrize("emulated", [False, True])
def test_kernels_that_a_library_has(emulated: bool) -> None:
    names = registered_names(library(emulated))
    assert names is not None
    assert {"Add", "Echo", "Concat", "Attr"} < names


def test_a_library_that_does_not_tell() -> None:
    assert registered_names(library(False, "bounds.c")) is None


def test_a_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(Path(library(False)).read_bytes()[:4096])
    with pytest.raises(FormatError, match="the file is cut"):
        registered_names(str(broken))
    talks = library(False, "where.c", "-g", "-pthread", "-DAT_LOAD=abort()")
    with pytest.raises(CannotRunError, match="SIGABRT; it printed: no such device in slot 7"):
        registered_names(talks)


def test_what_is_taken_for_operators(tmp_path: Path) -> None:
    root = installed(tmp_path)
    assert operator_package(str(root)) is None
    assert operator_package(str(root / "none")) is None
    assert operator_package(library(False)) is None
    for part in (CPU_CONFIG, CPU_LIBS + SO):
        assert operator_package(str(root / part)) == Package.of(str(root))
    (root / CPU_CONFIG).write_text("\ufeff \n{}")
    for part in (CPU_CONFIG, CPU_LIBS + SO):
        assert operator_package(str(root / part)) is None


def test_the_real_package(aicpu_package: Path) -> None:
    package = Package.of(str(aicpu_package))
    assert package.library is not None
    registered = registered_names(package.library)
    assert registered is not None
    assert (len(registered), len(package.ops.keys() - registered)) == (489, 7)
    plain = [n for n in package.ops if not (n.startswith("Cust") and n[4:] in package.ops)]
    found = [package.describe(name) for name in plain]
    without = [each for each in found if each.prototype is None]
    counts = [
        sum(any(part in text for text in each.differences) for each in found)
        for part in (" inputs in the JSON, ", "input 0 is ")
    ]
    assert (len(found), len(without), counts[0] + len(without)) == (245, 7, 44)  # OPR-506
    assert sum(bool(each.attrs) for each in found) == 115  # OPR-507


def test_recorded_calls_have_attributes_of_these_kinds(aicpu_package: Path) -> None:
    """What was recorded for the real package fits what its prototypes say."""
    package = Package.of(str(aicpu_package))
    told = 0
    for row in ROWS:
        if row["op"] not in package.ops or not (found := package.describe(row["op"])).attrs:
            continue  # ReduceSum has no prototype
        kinds = {attr.name: attr.kind for attr in found.attrs}
        given = {name: attr_of(**attr).kind for name, attr in row["attrs"].items()}
        assert given.items() <= kinds.items()
        assert {attr.name for attr in found.required_attrs} <= given.keys()
        told += len(given)
    assert told > 8


def test_libraries_of_prototypes_that_hang(tmp_path: Path) -> None:
    """All of them together have the time that one has."""
    root = installed(tmp_path, protos=False)
    for place in ("", "lib", "lib/linux/a"):
        folder = root / "op_proto" / place
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(library(False, "protos.cc"), folder / "hang.so")
    package = replace(Package.of(str(root)), timeout=0.5)
    assert len(package.protos) == 3
    began = time.monotonic()
    assert package.why_no_prototypes == "it did not end within 0.5 seconds"
    assert time.monotonic() - began < 1.2
