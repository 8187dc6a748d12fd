"""Prototypes out of a library of our own, run as those of real packages are. OPR-507."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from cannkit.errors import FormatError, InputError
from cannkit.format.node_attr import AttrKind
from cannkit.ops.child import LARGEST_FILE
from cannkit.ops.errors import CannotRunError
from cannkit.ops.proto_records import MOST_FACTS, Presence, ProtoAttr, Prototype, read_records
from cannkit.ops.prototypes import LARGEST, read_prototypes
from tests.ops.library import library, toolchain

QUICK = 0.4
PHNUM = 56  # e_phnum


def protos(*flags: str) -> str:
    return library(False, "protos.cc", *flags)


def called(name: str, folder: Path) -> str:
    """The library by another name, which it behaves by."""
    return str(shutil.copy(protos(), folder / name))


def read(path: str, timeout: float = 10.0, memory: int = 1 << 30) -> Mapping[str, Prototype]:
    return read_prototypes(path, timeout, memory, toolchain())


def test_operators_and_how_often_they_are_registered() -> None:
    found = read(protos())
    assert {name: each.registrations for name, each in found.items()} == {"AddN": 1, "CustAll": 3}
    (variant,) = found["CustAll"].variants
    assert [attr.default for attr in variant.attrs if attr.name == "n"] == [8]
    assert variant.inputs == found["CustAll"].inputs


def test_tensors() -> None:
    add, everything = read(protos()).values()
    assert add.inputs == (("x", Presence.DYNAMIC, ("NumberType", "DT_VARIANT")),)
    assert add.outputs == (("y", Presence.REQUIRED, ("NumberType", "DT_VARIANT")),)
    assert everything.inputs == (
        ("x", Presence.REQUIRED, ("DT_FLOAT", "DT_INT32")),
        ("mask", Presence.OPTIONAL, ("DT_BOOL",)),
    )
    assert everything.outputs == (("y", Presence.DYNAMIC, ("BasicType",)),)


def test_attributes_of_every_kind() -> None:
    add, everything = read(protos()).values()
    assert add.attrs == (ProtoAttr("N", AttrKind.INT, True, None),)
    assert everything.attrs == (
        ProtoAttr("n", AttrKind.INT, False, 7),
        ProtoAttr("scale", AttrKind.FLOAT, False, 0.100000001),
        ProtoAttr("flag", AttrKind.BOOL, False, True),
        ProtoAttr("mode", AttrKind.STRING, False, "a b%\né"),
        ProtoAttr("empty", AttrKind.STRING, False, ""),
        ProtoAttr("dtype", AttrKind.TYPE, False, 9),
        ProtoAttr("value", AttrKind.TENSOR, False, None),
        ProtoAttr("ints", AttrKind.INTS, False, (-1, (1 << 63) - 1)),
        ProtoAttr("none", AttrKind.INTS, False, ()),
        ProtoAttr("floats", AttrKind.FLOATS, False, (1.5, -2.0)),
        ProtoAttr("bools", AttrKind.BOOLS, False, (True, False)),
        ProtoAttr("types", AttrKind.TYPES, False, (12, 9)),
        ProtoAttr("strings", AttrKind.STRINGS, False, ("a", "", "b c")),
        ProtoAttr("rows", AttrKind.LISTLIST, False, ((1, 2), (), (3,))),
        ProtoAttr("size", AttrKind.INTS, True, None),
        ProtoAttr("odd", None, True, None),
    )


def test_libraries_of_the_product_and_folders_of_the_build_are_not_needed(tmp_path: Path) -> None:
    """The loader would not find libgraph.so, and would run the one that the library's RPATH leads to."""
    shutil.copy(library(False, "protos.cc", "-Wl,-soname,libgraph.so"), tmp_path / "libgraph.so")
    found = protos("-Wl,--no-as-needed", f"-L{tmp_path}", "-lgraph", f"-Wl,-rpath,{tmp_path}")
    needed = subprocess.run(["readelf", "-d", found], capture_output=True, text=True, check=True)
    assert "[libgraph.so]" in needed.stdout
    assert str(tmp_path) in needed.stdout
    (tmp_path / "libgraph.so").write_bytes(b"no library")
    assert len(read(found)) == 2


def test_bound_at_once() -> None:
    """What nobody defines may be missing, even in a library that asks for all of it."""
    assert len(read(protos("-Wl,-z,now"))) == 2


def test_a_library_larger_than_the_files_that_it_may_write() -> None:
    path = protos("-DLARGE")
    assert Path(path).stat().st_size > LARGEST_FILE
    assert len(read(path)) == 2


def test_a_library_that_is_too_large(tmp_path: Path) -> None:
    path = called("sparse.so", tmp_path)
    os.truncate(path, LARGEST + 1)
    with pytest.raises(InputError):
        read(path)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("crash.so", "loading it ended the process with SIGSEGV"),
        ("exit.so", "loading it ended the process with exit code 3: cannot go on"),
        ("hang.so", "it did not end within 0.4 seconds"),
        ("flood.so", "it writes without end"),
        ("grows.so", "loading it ended the process with SIGSEGV"),
    ],
)
def test_libraries_that_do_not_end_well(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = tmp_path / "children"
    children.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(children))
    path = called(name, tmp_path)
    with pytest.raises(CannotRunError) as error:
        read(path, QUICK if name == "hang.so" else 10.0, 256 << 20)
    assert (error.value.where, error.value.why) == (path, why)
    assert list(children.iterdir()) == []


@pytest.mark.parametrize("name", ["forged.so", "cut.so"])
def test_libraries_that_lie(name: str, tmp_path: Path) -> None:
    path = called(name, tmp_path)
    with pytest.raises(FormatError) as error:
        read(path)
    assert error.value.where == path


def test_a_library_that_cannot_be_opened(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    raw = bytearray(Path(protos()).read_bytes())
    raw[PHNUM : PHNUM + 2] = bytes(2)
    broken.write_bytes(raw)
    with pytest.raises(CannotRunError) as error:
        read(str(broken))
    assert error.value.where == str(broken)
    assert "object file has no loadable segments" in error.value.why


def test_what_is_no_library_for_this_machine(tmp_path: Path) -> None:
    text = tmp_path / "a.so"
    text.write_text("text")
    with pytest.raises(CannotRunError, match="it is no 64-bit library"):
        read(str(text))
    with pytest.raises(InputError, match="No such file"):
        read(str(tmp_path / "none.so"))


def test_a_library_for_another_machine() -> None:
    with pytest.raises(CannotRunError, match=r"it is for .*, which this machine does not open"):
        read(library(True, "protos.cc"))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"op A\n",
        b"op A\nin x\nend\n",
        b"in x y\nend\n",
        b"op\nend\n",
        b"op A\nattr n\nend\n",
        b"op A\nattr n Int\nend\n",
        b"op A\nattr n Int 1 2\nend\n",
        b"op A\nattr n Int x\nend\n",
        b"op A\nattr n ListInt 1 x\nend\n",
        b"op A\nattr n Wide 1\nend\n",
        b"op A\nreq n Int 1\nend\n",
        b"op A\nwhat n Int\nend\n",
        b"op A\nattr n Int " + b"9" * 9999 + b"\nend\n",
        b"op A\n" + b"in x y\n" * (MOST_FACTS + 1) + b"end\n",
        b"op A\n" * 9 + b"end\n",
        b"\xff\xfe\0\n",
    ],
)
def test_records_that_are_none(raw: bytes) -> None:
    with pytest.raises(FormatError):
        read_records(raw)


def test_the_real_package(aicpu_package: Path) -> None:
    try:
        found = read(str(aicpu_package / "op_proto/libcust_op_proto.so"))
    except CannotRunError as error:  # it is for x86-64
        pytest.skip(str(error))
    assert (len(found), sum(each.registrations for each in found.values())) == (1079, 2207)
