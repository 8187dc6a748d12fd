"""Paths to kernel objects: cli.md section 1, spec 01 section 12, HAZ-13 to HAZ-16."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError, InputError
from cannkit.inputs.contents import Input, Unreadable
from cannkit.inputs.files import FileWindow
from cannkit.inputs.paths import open_inputs
from tests.raw import (
    AARCH64,
    FATBIN,
    HOST,
    JSON,
    KERNEL,
    UNKNOWN,
    X86_64,
    archive,
    elf,
    fatbin_library,
    package_library,
    told,
    wheel,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one(path: str) -> Input:
    (each,) = open_inputs([path])
    assert isinstance(each, Input), each
    return each


def error_of(path: str) -> str:
    inputs = open_inputs([path])
    (each,) = inputs
    assert isinstance(each, Unreadable)
    assert each.file == path
    assert isinstance(each.error, InputError)
    return str(each.error)


class TestPlain:
    @pytest.mark.parametrize(
        "raw",
        [
            KERNEL,
            elf(UNKNOWN),
            elf(AARCH64),  # an AI CPU kernel library
            elf(X86_64, ".ascend.meta.k_0"),  # CON-01
            HOST[:-64] + b"\xff" * 64,  # a broken section table: the reader says why
            HOST[:70],
            b"anything",
        ],
    )
    def test_named_directly(self, here: Path, raw: bytes) -> None:
        (here / "k").write_bytes(raw)
        each = one("k")
        assert isinstance(each.data, memoryview)
        assert (each.file, each.path, each.container, bytes(each.data)) == ("k", "k", None, raw)
        inputs = open_inputs(["k"])
        assert (inputs.plural, inputs.total) == (False, 1)

    def test_sidecar_is_looked_for_on_the_host(self, here: Path) -> None:
        (here / "k.o").write_bytes(KERNEL)
        (here / "k.json").write_bytes(JSON)
        assert one("k.o").files.read("k.json", 99) == JSON

    def test_large_file_is_a_window(self, here: Path) -> None:
        (here / "k.o").write_bytes(KERNEL)
        os.truncate("k.o", 65 << 20)
        assert isinstance(one("k.o").data, FileWindow)

    def test_name_that_is_not_utf8(self, here: Path) -> None:
        name = os.fsdecode(b"\xff.o")
        (here / name).write_bytes(KERNEL)
        assert one(name).file == name

    def test_what_cannot_be_opened(self, here: Path) -> None:
        """HAZ-16: one line with the system's reason; a FIFO does not hang."""
        os.mkfifo("fifo.o")
        (here / "empty.o").touch()
        (here / "loop.o").symlink_to("loop.o")
        assert error_of("fifo.o") == "cannot read the file (fifo.o): not a regular file"
        assert error_of("empty.o") == "cannot read the file (empty.o): it is empty"
        assert error_of("none.o") == "cannot read the file (none.o): No such file or directory"
        assert error_of("/dev/null") == "cannot read the file (/dev/null): not a regular file"
        assert error_of("nul\0") == "cannot read the file (nul\0): embedded null byte"
        assert "Too many levels" in error_of("loop.o")
        assert not open_inputs(["none.o"]).plural

    def test_several_paths_and_one_that_fails(self, here: Path) -> None:
        (here / "k.o").write_bytes(KERNEL)
        inputs = open_inputs(["k.o", "none.o", "k.o"])
        assert told(inputs) == ["k.o", "none.o: No such file or directory", "k.o"]
        assert (inputs.plural, inputs.total) == (True, 3)

    def test_stdin(self) -> None:
        inputs = open_inputs(["-"], stdin=io.BytesIO(KERNEL))
        assert (inputs.plural, inputs.total) == (False, 1)
        (each,) = inputs
        assert isinstance(each, Input)
        assert (each.file, bytes(each.data[0:999])) == ("-", KERNEL)
        assert told(open_inputs(["-"], stdin=io.BytesIO())) == ["-: it is empty"]
        closed = io.BytesIO()
        closed.close()
        assert told(open_inputs(["-"], stdin=closed)) == ["-: I/O operation on closed file."]


class TestHostLibrary:
    def test_fatbin(self, here: Path) -> None:
        """CON-02."""
        (here / "lib.so").write_bytes(fatbin_library())
        inputs = open_inputs(["lib.so"])
        assert told(inputs) == [f"fatbin {FATBIN}[0] aiv"]
        assert (inputs.plural, inputs.total) == (True, 1)
        assert bytes(one("lib.so").data[0:999]) == KERNEL
        assert one("lib.so").files.read("lib.json", 99) is None

    def test_package_brings_its_sidecar(self, here: Path) -> None:
        """CON-04."""
        (here / "lib.so").write_bytes(package_library())
        each = one("lib.so")
        assert told(open_inputs(["lib.so"])) == ["aclnn k_1.o"]
        assert (each.path, bytes(each.data[0:999])) == ("k_1.o", KERNEL)
        assert each.files.read("k_1.json", 99) == JSON

    def test_empty_fatbin_is_an_empty_answer(self, here: Path) -> None:
        """S42."""
        (here / "lib.so").write_bytes(fatbin_library(count=0))
        inputs = open_inputs(["lib.so"])
        assert (told(inputs), inputs.plural, inputs.total) == ([], True, 0)

    def test_broken_fatbin(self, here: Path) -> None:
        """S41."""
        (here / "lib.so").write_bytes(fatbin_library(count=17))
        inputs = open_inputs(["lib.so"])
        (each,) = inputs
        assert isinstance(each, Unreadable)
        assert isinstance(each.error, FormatError)
        assert (inputs.plural, inputs.total) == (True, 1)

    def test_nothing_inside(self, here: Path) -> None:
        (here / "lib.so").write_bytes(HOST)
        text = "no kernel object inside (lib.so): a host library for x86-64"
        assert error_of("lib.so") == text
        assert open_inputs(["lib.so"]).plural


class TestDirectory:
    def test_walk(self, here: Path) -> None:
        files = {
            "d/a/k.o": KERNEL,
            "d/a.o": KERNEL,
            "d/b.o": b"?",
            "d/content": KERNEL,
            "d/empty.o": b"",
            "d/k.json": JSON,
            "d/lib.a": archive(**{"k.o": KERNEL}),
            "d/lib.so": fatbin_library(),
            "d/py.so": HOST,
            "d/aicpu.so": elf(AARCH64),
            "d/thin.a": b"!<thin>\n",
            "d/x.whl": wheel(**{"k.o": KERNEL}),
            "d/x.zip": wheel(t=b"?"),
            "elsewhere/k.o": KERNEL,
        }
        for name, raw in files.items():
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_bytes(raw)
        (here / "d/dir.o").symlink_to("../elsewhere")
        (here / "d/link.o").symlink_to("../elsewhere/k.o")
        os.mkfifo("d/fifo")
        inputs = open_inputs(["d"])
        assert told(inputs) == [
            "d/a.o",
            "d/a/k.o",
            "d/b.o",
            "d/content",
            "d/empty.o: it is empty",
            "archive k.o",
            f"fatbin {FATBIN}[0] aiv",
            "d/link.o",
            "wheel k.o",
        ]
        assert (inputs.plural, inputs.total) == (True, None)
        for name in ("lib.a", "x.whl", "x.zip"):
            (here / "d" / name).unlink()
        assert open_inputs(["d"]).total == len(told(open_inputs(["d"]))) == 7

    def test_nothing_found(self, here: Path) -> None:
        (here / "d").mkdir()
        (here / "d/py.so").write_bytes(HOST)
        assert error_of("d") == "no kernel object inside (d): a directory without kernel objects"
        assert open_inputs(["d"]).total == 1


@given(st.binary(max_size=200), st.sampled_from([b"", b"PK\3\4", b"!<arch>\n", HOST, KERNEL]))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, tail: bytes, head: bytes) -> None:
    """No bytes raise anything: what cannot be read is Unreadable."""
    path = tmp_path_factory.mktemp("any") / "k.o"
    path.write_bytes(head + tail)
    assert told(open_inputs([str(path)]))
    path.write_bytes(head[: len(head) - len(tail)] + tail)
    inputs = open_inputs([str(path.parent)])
    told(inputs)
    assert inputs.plural


MEASURE = """
import resource, sys
from cannkit.inputs.paths import open_inputs
list(open_inputs([sys.argv[1]]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for each in open_inputs([sys.argv[2]]):
    print(each.container.member, len(each.data))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("library", [fatbin_library(), package_library()])
def test_host_library_of_a_gibibyte(here: Path, library: bytes) -> None:
    """It is never held: only its tables and the kernel inside are read."""
    (here / "small.so").write_bytes(library)
    (at,) = struct.unpack_from("<Q", library, 40)
    moved = bytearray(library[:at])
    struct.pack_into("<Q", moved, 40, 1 << 30)
    with (here / "large.so").open("wb") as out:
        out.write(moved)
        out.seek(1 << 30)
        out.write(library[at:])
    command = [sys.executable, "-c", MEASURE, "small.so", "large.so"]
    path = os.pathsep.join(sys.path)
    run = subprocess.run(
        command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    first, growth = run.stdout.splitlines()
    assert first.endswith(f" {len(KERNEL)}")
    assert int(growth) < 8 << 10  # KiB
