"""Packages in folders and wheels: what is found, and hostile ones."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path

import pytest

from cannkit.image.package import Package, find_packages
from cannkit.image.package_config import Binary, Declared
from cannkit.image.wheel_record import Row, read_record
from tests import corpus
from tests.packages import (
    CPU_LIBS,
    DIST_INFO,
    HASH,
    KERNEL,
    TBE,
    below,
    cpu_vendor,
    folder,
    library,
    to_json,
    vendor,
    wheel,
)

STEM = f"{KERNEL}ascend910b/addcustom/AddCustom_{HASH}"


def only(path: str) -> Package:
    (found,) = find_packages(path)
    return found


def test_a_vendor_tree(tmp_path: Path) -> None:
    place = folder(tmp_path / "acme", vendor())
    found = only(place)
    assert (found.name, found.root, found.place) == ("acme", "", place)
    assert not found.is_wheel
    assert found.socs == ("ascend910b",)
    assert found.ops == {"ascend910b": ("AddCustom",)}
    info = f"{TBE}config/ascend910b/aic-ascend910b-ops-info.json"
    assert found.declared == (Declared(info, "ascend910b", "AddCustom"),)
    config = f"{KERNEL}config/ascend910b/"
    pair = f"{STEM}.o", f"{STEM}.json"
    assert found.binaries == (
        Binary(f"{config}addcustom.json", "ascend910b", None, *pair),
        Binary(f"{config}binary_info_config.json", "ascend910b", "AddCustom", *pair),
    )
    assert found.problems == ()
    assert found.kernels == (f"{STEM}.o",)
    assert found.built == {("AddCustom", "ascend910b")}
    (api,) = found.api_libraries
    assert api.library is not None
    assert set(api.library.exports) == {"aclnnAddCustom", "aclnnAddCustomGetWorkspaceSize"}
    assert list(found.api_headers) == ["op_api/include/aclnn_demo.h"]
    assert found.place_of("x.o") == f"{place}/x.o"


def test_ai_cpu_operators(tmp_path: Path) -> None:
    found = only(folder(tmp_path, cpu_vendor()))
    assert found.cpu_configs == ("op_impl/cpu/config/cust_aicpu_kernel.json",)
    (each,) = found.cpu_libraries
    assert (each.name, each.file_name) == (
        f"{CPU_LIBS}libcust_cpu_kernels.so",
        "libcust_cpu_kernels.so",
    )
    assert each.library is not None
    assert each.unversioned == ()


def test_vendors_and_the_wheel_itself(tmp_path: Path) -> None:
    files = below("p/opp/vendors/b", vendor()) | below("p/opp/vendors/a", cpu_vendor())
    path = wheel(tmp_path / "demo.whl", files)
    first, second, whole = find_packages(path)
    assert (first.name, first.root) == ("a", "p/opp/vendors/a/")
    assert second.place == f"{path}!p/opp/vendors/b"
    assert second.place_of("y") == f"{path}!p/opp/vendors/b/y"
    assert second.kernels == (f"{STEM}.o",)
    assert (whole.name, whole.record, whole.is_wheel) == ("demo-1.0", f"{DIST_INFO}RECORD", True)
    assert whole.place == path
    assert (whole.socs, whole.binaries, whole.cpu_configs) == ((), (), ())


def test_packages_go_to_other_processes(tmp_path: Path) -> None:
    files = below("v/a", vendor())
    for path in (wheel(tmp_path / "demo.whl", files), folder(tmp_path / "f", files)):
        before = find_packages(path)[0]
        after = pickle.loads(pickle.dumps(before))
        assert (after.place, after.configs, after.ops) == (before.place, before.configs, before.ops)
        assert after.files.names == before.files.names


def test_wheels_in_a_folder(tmp_path: Path) -> None:
    wheel(tmp_path / "demo.whl", below("v/a", vendor()))
    (tmp_path / "broken.whl").write_bytes(b"PK\3\4" + bytes(40))
    first, _ = find_packages(str(tmp_path))
    assert first.place == f"{tmp_path}/demo.whl!v/a"


def test_an_installed_wheel(tmp_path: Path) -> None:
    """RECORD counts where it has brought a package; that of another wheel does not."""
    files = below("p/vendors/a", vendor())
    with zipfile.ZipFile(wheel(tmp_path / "demo.whl", files)) as archive:
        archive.extractall(tmp_path / "env" / "site-packages")
    other = tmp_path / "env" / "site-packages" / "other-2.dist-info"
    other.mkdir()
    (other / "RECORD").write_text("other/__init__.py,,\n")
    vendor_tree, whole = find_packages(str(tmp_path / "env"))
    assert vendor_tree.name == "a"
    assert (whole.name, whole.root) == ("demo-1.0", "site-packages/")


@pytest.mark.parametrize("what", ["missing", "empty folder", "text", "no package", "broken zip"])
def test_nothing_is_found(tmp_path: Path, what: str) -> None:
    path = tmp_path / "it"
    if what == "empty folder":
        path.mkdir()
    elif what == "text":
        path.write_text("hello")
    elif what == "no package":
        folder(path, {"op_proto/inc/x.h": b"", "op_impl/a.txt": b"", "kernel/a.o": b""})
    elif what == "broken zip":
        path.write_bytes(b"PK\3\4 and no more")
    assert find_packages(str(path)) == ()


def test_a_name_that_is_no_path(tmp_path: Path) -> None:
    assert find_packages("a\0b") == ()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"{", "Expecting property name"),
        (b"[]", "its root is not an object"),
        (b"[" * 100_000, "more than 64 levels"),
        (b'{"a":NaN}', "NaN is not JSON"),
        (b"\xff", "utf-8"),
        (b" " * ((16 << 20) + 1), "more than 16777216 bytes"),
    ],
)
def test_configurations_that_cannot_be_read(tmp_path: Path, raw: bytes, why: str) -> None:
    config = f"{KERNEL}config/ascend910b/binary_info_config.json"
    found = only(folder(tmp_path, vendor() | {config: raw}))
    (problem,) = found.problems
    assert problem.config == config
    assert why in problem.why


@pytest.mark.parametrize(
    "value",
    [{"A": 1}, {"A": {"binaryList": {}}}, {"A": {"binaryList": []}}, {"A": None}, {}],
)
def test_configurations_without_binaries(tmp_path: Path, value: object) -> None:
    config = f"{KERNEL}config/ascend910b/binary_info_config.json"
    found = only(folder(tmp_path, {config: to_json(value)}))
    assert (found.binaries, found.problems) == ((), ())


@pytest.mark.parametrize("item", [1, None, {}, {"binPath": "a.o"}, {"binPath": 1, "jsonPath": "a"}])
def test_binaries_without_files(tmp_path: Path, item: object) -> None:
    config = f"{KERNEL}config/ascend910b/binary_info_config.json"
    found = only(folder(tmp_path, {config: to_json({"A": {"binaryList": [item]}})}))
    assert found.binaries == ()
    assert found.problems[0].where == "A, binaryList[0]"


def test_paths_that_lead_out(tmp_path: Path) -> None:
    """They are nowhere in the package, even where they would hit a file of the machine."""
    (tmp_path / "secret.o").write_bytes(b"x")
    paths = {"binPath": "../" * 5 + "secret.o", "jsonPath": "/etc/passwd"}
    files = {f"{KERNEL}config/s/binary_info_config.json": to_json({"A": {"binaryList": [paths]}})}
    found = only(folder(tmp_path / "v", files))
    (binary,) = found.binaries
    assert binary.kernel not in found.name_set
    assert binary.sidecar not in found.name_set
    assert found.built == frozenset()


def test_links_to_files_count_wherever_they_lie(tmp_path: Path) -> None:
    """As in a build tree of links: objects are read through them, too. Links to folders are not walked."""
    real = folder(tmp_path / "real", vendor())
    place = tmp_path / "v"
    for name in vendor():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).symlink_to(f"{real}/{name}")
    (place / "op_impl/again").symlink_to(place / "op_impl")  # a loop of folders
    (place / KERNEL / "ascend910b/AddCustom.o").symlink_to("AddCustom.o")  # and of files
    os.mkfifo(place / KERNEL / "ascend910b/pipe.o")
    found = only(str(place))
    assert found.ops == {"ascend910b": ("AddCustom",)}
    assert found.kernels == (f"{STEM}.o",)
    assert found.built == {("AddCustom", "ascend910b")}
    assert found.api_libraries[0].library is not None


def test_a_link_to_a_file_of_the_package(tmp_path: Path) -> None:
    place = folder(tmp_path, vendor())
    Path(f"{place}/{KERNEL}ascend910b/addcustom/Same_0.o").symlink_to(f"AddCustom_{HASH}.o")
    assert len(only(place).kernels) == 2


def test_hostile_names_in_a_wheel(tmp_path: Path) -> None:
    """Nothing of such a member is read; the package is told of its names only."""
    files = below("/abs", vendor()) | below("../up", cpu_vendor())
    path = wheel(tmp_path / "demo.whl", files)
    up, absolute, _ = find_packages(path)
    assert absolute.binaries == ()
    assert {"absolute, or has" in problem.why for problem in absolute.problems} == {True}
    assert [each.library for each in up.cpu_libraries] == [None]


def test_a_bomb(tmp_path: Path) -> None:
    config = f"{KERNEL}config/s/binary_info_config.json"
    path = wheel(tmp_path / "demo.whl", {config: b" " * (15 << 20)})
    found, _ = find_packages(path)
    assert "more than" in found.problems[0].why


def test_many_vendors(tmp_path: Path) -> None:
    files = {f"v{number}/op_api/lib/x.so": b"" for number in range(20_000)}
    assert len(find_packages(wheel(tmp_path / "demo.whl", files))) == 20_001


def test_a_library_that_is_none(tmp_path: Path) -> None:
    found = only(folder(tmp_path, cpu_vendor(libraries={"liba.so": b"text", "libb.so.1": b""})))
    assert [(each.file_name, each.library) for each in found.cpu_libraries] == [
        ("liba.so", None),
        ("libb.so.1", None),
    ]
    assert all(each.why for each in found.cpu_libraries)


def test_names_without_a_version(tmp_path: Path) -> None:
    data = library(
        "f",
        undefined=["own", "other"],
        versioned={"memcpy": ("libc.so.6", "GLIBC_2.17"), "sin": ("libm.so.6", "GLIBC_2.17")},
    )
    found = only(folder(tmp_path, cpu_vendor(libraries={"liba.so": data})))
    assert found.cpu_libraries[0].unversioned == ("own", "other")


@pytest.mark.parametrize(
    ("line", "rows", "broken"),
    [
        ("a,sha256=" + "A" * 43 + ",1", (Row("a", "00" * 32),), ()),
        ('"a,b",,', (Row("a,b", None),), ()),
        ("a,sha512=" + "A" * 86 + ",1", (Row("a", "00" * 64, "sha512"),), ()),
        (
            "a,md5=xx,1",
            (Row("a", None, why="its hash is none of sha256, sha384 and sha512 but 'md5'"),),
            (),
        ),
        ("a,sha256=+/,1", (Row("a", None, why="its hash is not 32 bytes in base64"),), ()),
        ("a,sha256=é,1", (Row("a", None, why="its hash is not 32 bytes in base64"),), ()),
        ("a,b", (), (1,)),
        ("", (), ()),
        ('"a' + "x" * 200_000, (), (1,)),
    ],
)
def test_rows_of_record(
    tmp_path: Path, line: str, rows: tuple[Row, ...], broken: tuple[int, ...]
) -> None:
    path = wheel(tmp_path / "demo.whl", {"a": b""}, f"{line}\n".encode())
    (whole,) = find_packages(path)
    assert whole.record is not None
    assert read_record(whole.files, whole.record) == (rows, broken)


@pytest.mark.corpus
def test_corpus() -> None:
    found = find_packages(str(corpus.find()))
    assert len(found) == 70
    assert {problem for package in found for problem in package.problems} == set()
    assert sum(len(package.kernels) for package in found) == 630
    assert sum(package.is_wheel for package in found) == 1
