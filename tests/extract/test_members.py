"""What is taken out of each container, and that no name or size in it does harm. HAZ-12, HAZ-14."""

from __future__ import annotations

import json
import stat
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

from cannkit.errors import CannkitError, InputError
from cannkit.extract.members import Extraction, Layout, Limits, extract_members, list_members
from cannkit.format.sidecar import MAX_SIZE
from cannkit.inputs.paths import open_inputs
from tests.carriers import archive, fatbin, fatbin_library, fusion_binary, package_library
from tests.cli.runner import FATBIN, ROOT
from tests.extract.test_staging import files, names
from tests.raw import HOST, KERNEL
from tests.raw import archive as raw_archive
from tests.raw import wheel as raw_wheel

LIBRARY: Final = ROOT / FATBIN
OTHER: Final = KERNEL + b"more"
PATH: Final = "ascend910b/add/Add_1"
JSON: Final = json.dumps({"filePath": f"{PATH}.json"}).encode()
HOSTILE_NAMES: Final = {
    "../../evil.o": "evil.o",
    "/etc/cron.d/evil.o": "evil~2.o",
    "C:\\Windows\\evil.o": "evil~3.o",
    "..\\..\\up.o": "up.o",
    "C:drive.o": "C_drive.o",
    "..": "member.o",
    ".": "member~2.o",
    "a/b/": "member~3.o",
    "nul\0name.o": "nul_name.o",
    "line\nbreak.o": "line_break.o",
    "\x1b[31mred.o": "_[31mred.o",
    "CON.o": "_CON.o",
    "aux": "_aux.o",
    "com1.x.o": "_com1.x.o",
    "-rf.o": "_-rf.o",
    "~root.o": "_~root.o",
    ".hidden.o": "hidden.o",
    "left\u202eo.exe": "left_o.exe.o",
    "dots. . .": "dots.o",
    "x" * 300 + ".o": "x" * 200 + ".o",
    "Same.o": "Same.o",
    "same.o": "same~2.o",
    "k~2.o": "k~2.o",
    "k.o": "k.o",
    "k": "k~3.o",
}


def took(path: Path, out: Path, layout: Layout = Layout.FLAT, *, force: bool = False) -> Extraction:
    return extract_members(open_inputs([str(path)]), str(out), layout=layout, force=force)


def listed(path: Path, limits: Limits | None = None) -> Extraction:
    inputs = open_inputs([str(path)])
    return list_members(inputs) if limits is None else list_members(inputs, limits=limits)


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_fatbin(tmp_path: Path) -> None:
    found = took(LIBRARY, tmp_path)
    assert [(member.kind, member.name.rpartition(" ")[2]) for member in found.members] == [
        ("fatbin", "mix"),
        ("fatbin", "aiv"),
        ("fatbin", "aic"),
    ]
    for member in found.members:
        assert member.written is not None
        raw = Path(member.written).read_bytes()
        assert (len(raw), sha256(raw).hexdigest()) == (member.size, member.sha256)
        assert raw.startswith(b"\x7fELF")
    names = [f"ascend910b1.add_kernels.{end}.o" for end in ("0.mix", "1.aiv", "2.aic")]
    assert sorted(files(tmp_path)) == names
    assert (found.errors, found.warnings, found.problem) == ((), (), None)


def test_list_is_the_same_but_for_what_was_written(tmp_path: Path) -> None:
    found = took(LIBRARY, tmp_path)
    members = tuple(member._replace(written=None) for member in found.members)
    assert listed(LIBRARY) == found._replace(members=members)


def test_fusion_binary(tmp_path: Path) -> None:
    path = written(tmp_path / "app", fusion_binary(KERNEL))
    took(path, tmp_path / "out")
    assert files(tmp_path / "out") == {"aicore_binary.o": KERNEL}


@pytest.mark.parametrize("layout", Layout)
def test_package(tmp_path: Path, layout: Layout) -> None:
    """CON-04: the sidecar is one of the files, and stands beside its object."""
    path = written(
        tmp_path / "lib.so", package_library({f"{PATH}.o": KERNEL, f"{PATH}.json": JSON})
    )
    found = took(path, tmp_path / "out", layout)
    flat = PATH.replace("/", "_")
    stem = flat if layout is Layout.FLAT else PATH
    assert files(tmp_path / "out") == {f"{stem}.json": JSON, f"{stem}.o": KERNEL}
    assert [(member.kind, member.name) for member in found.members] == [
        ("aclnn", f"{flat}.o"),
        ("sidecar", f"{flat}.json"),
    ]


def test_archive(tmp_path: Path) -> None:
    """Objects, and what host objects embed; host code itself is not taken."""
    library = fatbin_library("ascend910b1", "add", fatbin([(1, OTHER)]))
    data = archive([("k.o", KERNEL), ("host.o", HOST), ("f.o", library)])
    found = took(written(tmp_path / "lib.a", data), tmp_path / "out")
    assert files(tmp_path / "out") == {"ascend910b1.add.0.aiv.o": OTHER, "k.o": KERNEL}
    assert [member.name for member in found.members] == [
        "k.o",
        "f.o!.ascend.kernel.ascend910b1.add[0] aiv",
    ]


@pytest.mark.parametrize("layout", Layout)
def test_wheel(tmp_path: Path, layout: Layout) -> None:
    members = {
        "opp/a/k.o": KERNEL,
        "opp/a/k.json": JSON,
        "opp/b/k.o": OTHER,
        "opp/plain.bin": KERNEL,
        "lib.so": LIBRARY.read_bytes(),
        "README.md": b"text",
    }
    found = took(written(tmp_path / "x.whl", raw_wheel(**members)), tmp_path / "out", layout)
    first, second = (PATH, "k") if layout is Layout.OPP else ("k", "k~2")
    there = files(tmp_path / "out")
    assert there.pop(f"{first}.json") == JSON
    assert there.pop(f"{first}.o") == KERNEL
    assert there.pop(f"{second}.o") == OTHER
    assert there.pop("plain.bin.o") == KERNEL
    assert len(there) == 3
    assert [member.kind for member in found.members[:4]] == ["wheel", "sidecar", "wheel", "wheel"]
    assert found.members[1].name == "opp/a/k.json"


def test_folder(tmp_path: Path) -> None:
    """What its files embed; a plain object in it is not embedded in anything."""
    source = tmp_path / "in"
    source.mkdir()
    written(source / "a.a", archive([("k.o", KERNEL)]))
    written(source / "b.a", archive([("k.o", OTHER)]))
    written(source / "c.o", KERNEL)
    found = took(source, tmp_path / "out")
    assert files(tmp_path / "out") == {"k.o": KERNEL, "k~2.o": OTHER}
    assert [Path(member.file).name for member in found.members] == ["a.a", "b.a"]


def test_hostile_names(tmp_path: Path) -> None:
    assert len(HOSTILE_NAMES) >= 20
    data = archive([(name, KERNEL) for name in HOSTILE_NAMES], names="bsd")
    path, out = written(tmp_path / "lib.a", data), tmp_path / "out"
    found = took(path, out)
    assert found.errors == ()
    assert [member.name for member in found.members] == list(HOSTILE_NAMES)
    assert [member.written for member in found.members] == [
        f"{out}/{name}" for name in HOSTILE_NAMES.values()
    ]
    assert sorted(files(out)) == sorted(HOSTILE_NAMES.values())
    assert names(tmp_path) == ["lib.a", "out"]


def test_hostile_names_in_a_zip(tmp_path: Path) -> None:
    """HAZ-14: a name that would lead outside is refused, the others are taken."""
    members = {name: KERNEL for name in HOSTILE_NAMES if "\0" not in name and name[-1] != "/"}
    found = took(written(tmp_path / "x.whl", raw_wheel(**members)), tmp_path / "out")
    assert len(found.errors) >= 5
    assert len(found.members) + len(found.errors) == len(members)
    assert {member.written for member in found.members} == {
        f"{tmp_path}/out/{name}" for name in files(tmp_path / "out")
    }
    assert names(tmp_path) == ["out", "x.whl"]


def test_link_in_a_zip(tmp_path: Path) -> None:
    """It becomes a file with the text of the link, and a remark."""
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w") as target:
        link = zipfile.ZipInfo("k.o")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        target.writestr(link, "/etc/passwd")
        target.writestr(zipfile.ZipInfo("k.o.d/../l.o"), KERNEL)
    found = took(path, tmp_path / "out")
    assert files(tmp_path / "out") == {"k.o": b"/etc/passwd"}
    assert [warning.code for warning in found.warnings] == ["not-elf"]


@pytest.mark.parametrize(
    "file_path",
    ["/abs/op/k.json", "../../k.json", "a/../../k.json", "C:/op/k.json", "a\\..\\k.json", "k", 7],
)
def test_hostile_file_path(tmp_path: Path, file_path: object) -> None:
    """HAZ-12: the original tool is led out of its folder."""
    sidecar = json.dumps({"filePath": file_path}).encode()
    path = written(tmp_path / "lib.so", package_library({"k.o": KERNEL, "k.json": sidecar}))
    found = took(path, tmp_path / "out", Layout.OPP)
    assert files(tmp_path / "out") == {"k.json": sidecar, "k.o": KERNEL}
    assert [warning.code for warning in found.warnings] == ["file-path"]
    assert names(tmp_path) == ["lib.so", "out"]


@pytest.mark.parametrize(
    ("sidecar", "codes"),
    [(b"[]", []), (b"{}", []), (b"{", ["file-path"]), (b"\xff", ["file-path"])],
)
def test_sidecar_without_a_path(tmp_path: Path, sidecar: bytes, codes: list[str]) -> None:
    path = written(tmp_path / "lib.so", package_library({"k.o": KERNEL, "k.json": sidecar}))
    found = took(path, tmp_path / "out", Layout.OPP)
    assert files(tmp_path / "out") == {"k.json": sidecar, "k.o": KERNEL}
    assert [warning.code for warning in found.warnings] == codes


def test_one_path_for_two_objects(tmp_path: Path) -> None:
    """Each sidecar stays beside its own object."""
    second = json.dumps({"filePath": f"{PATH}.json", "x": 1}).encode()
    members = {"a/k.o": KERNEL, "a/k.json": JSON, "b/k.o": OTHER, "b/k.json": second}
    took(written(tmp_path / "x.whl", raw_wheel(**members)), tmp_path / "out", Layout.OPP)
    assert files(tmp_path / "out") == {
        f"{PATH}.json": JSON,
        f"{PATH}.o": KERNEL,
        f"{PATH}~2.json": second,
        f"{PATH}~2.o": OTHER,
    }


def test_sidecar_that_is_too_large(tmp_path: Path) -> None:
    files_inside = {"k.o": KERNEL, "k.json": bytes(MAX_SIZE + 1)}
    found = took(written(tmp_path / "lib.so", package_library(files_inside)), tmp_path / "out")
    assert files(tmp_path / "out") == {"k.o": KERNEL}
    assert [failed.place for failed in found.errors] == [f"{tmp_path}/lib.so!k.json"]


def test_archive_that_is_cut_off(tmp_path: Path) -> None:
    data = raw_archive(**{"k.o": KERNEL, "l.o": KERNEL})[:-9]
    found = took(written(tmp_path / "lib.a", data), tmp_path / "out")
    assert files(tmp_path / "out") == {"k.o": KERNEL}
    assert [failed.place for failed in found.errors] == [f"{tmp_path}/lib.a"]


def test_zip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        target.writestr("bomb.o", KERNEL + bytes(60 << 20))
    found = took(path, tmp_path / "out")
    assert (found.members, len(found.errors)) == ((), 1)
    assert names(tmp_path) == ["x.whl"]


def test_zip_bomb_of_many(tmp_path: Path) -> None:
    """Each member would do, all together do not; it ends there."""
    path = tmp_path / "x.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for number in range(40):
            target.writestr(f"{number}.o", KERNEL + bytes((1 << 20) - len(KERNEL)))
    found = took(path, tmp_path / "out")
    assert len(found.errors) == 1
    assert 0 < sum(member.size for member in found.members) <= 16 << 20


@pytest.mark.parametrize("limits", [Limits(members=2), Limits(size=2 * len(KERNEL))])
def test_limits(tmp_path: Path, limits: Limits) -> None:
    path = written(tmp_path / "lib.a", archive([(f"{n}.o", KERNEL) for n in range(3)]))
    with pytest.raises(InputError, match="too much inside"):
        listed(path, limits)
    with pytest.raises(InputError, match="too much inside"):
        extract_members(open_inputs([str(path)]), str(tmp_path / "out"), limits=limits)
    assert names(tmp_path) == ["lib.a"]


def test_many(tmp_path: Path) -> None:
    path = written(tmp_path / "lib.a", archive([("k.o", KERNEL)] * 3000))
    found = took(path, tmp_path / "out")
    assert len({member.written for member in found.members}) == 3000
    assert len(names(tmp_path / "out")) == 3000


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("k.o", KERNEL, "nothing embedded inside"),
        ("note.txt", b"text", "nothing embedded inside"),
        ("lib.so", HOST, "no kernel object inside"),
        ("lib.a", raw_archive(**{"h.o": HOST}), "no kernel object inside"),
        ("x.whl", raw_wheel(**{"a.py": b""}), "no kernel object inside"),
        ("thin.a", b"!<thin>\n", "thin archive"),
        ("empty", b"", "cannot read the file"),
    ],
)
def test_nothing_inside(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    path = written(tmp_path / name, data)
    with pytest.raises(CannkitError) as caught:
        listed(path)
    assert caught.value.what == what
    with pytest.raises(CannkitError) as caught:
        took(path, tmp_path / "out")
    assert caught.value.what == what
    assert names(tmp_path) == [name]


def test_does_not_replace(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = took(LIBRARY, out)
    again = took(LIBRARY, out)
    assert again.problem is not None
    assert [member.written for member in again.members] == [None] * 3
    assert took(LIBRARY, out, force=True) == first


def test_input_is_not_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "k.o", archive([("k.o", KERNEL)]))
    before = path.read_bytes()
    found = took(path, tmp_path, force=True)
    assert found.problem is not None
    assert found.problem.why == "it is an input"
    assert files(tmp_path) == {"k.o": before}
