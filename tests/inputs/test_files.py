"""Bytes of files, and the places where files are looked for."""

from __future__ import annotations

import gc
import hashlib
import os
import struct
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, InputError
from cannkit.inputs.files import (
    WHOLE_LIMIT,
    FileWindow,
    HostFiles,
    MemoryFiles,
    cut,
    open_window,
    sha256_hex,
)
from cannkit.inputs.zip_files import ZipFiles

if TYPE_CHECKING:
    from pathlib import Path

    from cannkit.inputs.files import FileView

LARGE = WHOLE_LIMIT + 4096


@pytest.fixture
def large(tmp_path: Path) -> FileWindow:
    path = tmp_path / "large"
    with path.open("wb") as out:
        out.write(b"head")
        out.truncate(LARGE)
        out.seek(LARGE - 4)
        out.write(b"tail")
    return open_window(str(path))


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


class TestFileWindow:
    def test_slices_are_those_of_bytes(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(bytes(range(100)))
        window, raw = open_window(str(tmp_path / "f")), bytes(range(100))
        for span in (slice(0, 4), slice(90, 200), slice(None), slice(7, 3), slice(-3, None)):
            assert bytes(window[span]) == raw[span]
        assert len(window) == 100
        with pytest.raises(ValueError, match="step"):
            window[0:10:2]

    def test_large_span(self, large: FileWindow) -> None:
        """It is read whole, and nobody can write to it."""
        span = large[2:LARGE]
        assert (len(span), bytes(span[:2]), bytes(span[-4:])) == (LARGE - 2, b"ad", b"tail")
        assert not any(bytes(span[2:-4]).strip(b"\0"))
        assert span.readonly

    def test_narrow(self, large: FileWindow) -> None:
        inner = large.narrow(LARGE - 8, 6)
        assert (len(inner), bytes(inner[0:9])) == (6, b"\0\0\0\0ta")
        assert bytes(inner.narrow(4, 99)[0:99]) == b"ta"
        assert len(inner.narrow(7, 1)) == 0

    def test_cut_holds_what_is_small(self, large: FileWindow) -> None:
        assert isinstance(cut(large, 0, WHOLE_LIMIT), memoryview)
        beyond = cut(large, 4, WHOLE_LIMIT + 1)
        assert isinstance(beyond, FileWindow)
        assert len(beyond) == WHOLE_LIMIT + 1

    def test_cut_of_memory_is_no_copy(self) -> None:
        raw = bytearray(b"kernel")
        part = cut(memoryview(raw), 1, 3)
        raw[1] = 0x45
        assert bytes(part[0:3]) == b"Ern"

    def test_sha256(self, large: FileWindow) -> None:
        raw = bytes(large[0:LARGE])
        assert sha256_hex(large) == sha256_hex(memoryview(raw)) == hashlib.sha256(raw).hexdigest()

    def test_file_that_shrinks(self, large: FileWindow) -> None:
        os.truncate(large.name, 100)
        with pytest.raises(InputError, match="became shorter"):
            large[50:150]

    def test_file_closes_with_its_last_window(self, large: FileWindow) -> None:
        path, before = large.name, descriptors()
        window = open_window(path)
        part = window.narrow(0, 4)
        del window
        assert bytes(part[0:4]) == b"head"
        del part
        assert descriptors() == before


class TestHostFiles:
    """HAZ-16."""

    def test_read(self, tmp_path: Path) -> None:
        (tmp_path / "k.json").write_bytes(b"{}")
        assert HostFiles().read(str(tmp_path / "k.json"), 2) == b"{}"

    @pytest.mark.parametrize("name", ["none", "file/none", "x" * 300, "nul\0"])
    def test_missing(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").touch()
        assert HostFiles().read(f"{tmp_path}/{name}", 99) is None

    def test_there_but_not_readable(self, tmp_path: Path) -> None:
        (tmp_path / "loop").symlink_to("loop")
        (tmp_path / "large").write_bytes(b"123")
        os.mkfifo(tmp_path / "fifo")
        expected = {
            ".": "Is a directory",
            "loop": "Too many levels of symbolic links",
            "large": "it has more than 2 bytes",
            "fifo": "not a regular file",
        }
        for name, why in expected.items():
            with pytest.raises(InputError) as caught:
                HostFiles().read(f"{tmp_path}/{name}", 2)
            assert (caught.value.why, caught.value.where) == (why, f"{tmp_path}/{name}")


def test_memory_files() -> None:
    files: FileView = MemoryFiles({"k.json": memoryview(b"{}")})
    assert files.read("k.json", 2) == b"{}"
    assert files.read("./k.json", 2) is None
    with pytest.raises(InputError, match="more than 1 bytes"):
        files.read("k.json", 1)
    assert MemoryFiles().read("", 1) is None


def zip_of(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    with zipfile.ZipFile(path, "w", method) as out:
        for name, data in members.items():
            out.writestr(zipfile.ZipInfo(name), data, method)
    return bytearray(path.read_bytes())


def reopened(path: Path, raw: bytes | bytearray) -> ZipFiles:
    path.write_bytes(raw)
    return ZipFiles(open_window(str(path)))


class TestZipFiles:
    """HAZ-14."""

    def test_read(self, tmp_path: Path) -> None:
        path = tmp_path / "x.whl"
        files = reopened(path, zip_of(path, {"b/k.o": b"kernel", "b/k.json": b"{}", "c/": b""}))
        assert [info.filename for info in files] == ["b/k.o", "b/k.json"]
        assert files.read("b/k.json", 2) == b"{}"
        assert files.read("k.json", 2) is None
        for name, limit in (("b/k.o", 5), ("c", 9)):
            with pytest.raises(InputError):
                files.read(name, limit)

    @pytest.mark.parametrize(
        "name", ["/k.o", "../k.o", "a/../../k.o", "..\\k.o", "C:/k.o", "\\k.o", "a\0.o", "a/\0.o"]
    )
    def test_hostile_names(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "x.zip"
        stand_in = name.replace("\0", "#")
        raw = bytes(zip_of(path, {stand_in: b"kernel"})).replace(stand_in.encode(), name.encode())
        files = reopened(path, raw)
        (info,) = files
        with pytest.raises(InputError, match="its name is absolute") as caught:
            files.whole(info, 99)
        assert caught.value.where == name

    @pytest.mark.parametrize(
        ("at", "change", "why"),
        [
            (8, b"\1\0", "it is encrypted"),
            (10, b"\x63\0", "compression method 99, only stored and deflated are read"),
            (16, b"\1\2\3\4", "Bad CRC-32 for file 'k.o'"),
            (24, struct.pack("<I", 5), "Bad CRC-32 for file 'k.o'"),
        ],
    )
    def test_members_that_cannot_be_read(
        self, tmp_path: Path, at: int, change: bytes, why: str
    ) -> None:
        path = tmp_path / "x.zip"
        raw = zip_of(path, {"k.o": b"kernel" * 9, "l.o": b"other"})
        entry = raw.index(b"PK\1\2")
        raw[entry + at : entry + at + len(change)] = change
        files = reopened(path, raw)
        with pytest.raises(InputError) as caught:
            files.read("k.o", 999)
        assert caught.value.why == why
        assert files.read("l.o", 99) == b"other"

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_methods_that_unpack_without_a_bound(self, tmp_path: Path, method: int) -> None:
        path = tmp_path / "x.zip"
        files = reopened(path, zip_of(path, {"k.o": b"kernel"}, method))
        with pytest.raises(InputError, match=f"compression method {method}"):
            files.read("k.o", 99)

    def test_budget_is_shared_by_overlapping_members(self, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        files = reopened(path, zip_of(path, {f"{i:02}.o": bytes(1 << 20) for i in range(17)}))
        for i in range(16):
            assert len(files.read(f"{i:02}.o", WHOLE_LIMIT) or b"") == 1 << 20
        assert not files.spent
        with pytest.raises(InputError, match=f"unpacks to more than {16 << 20} bytes"):
            files.read("16.o", WHOLE_LIMIT)
        assert files.spent

    def test_a_member_unpacks_to_32_times_its_size(self, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        files = reopened(path, zip_of(path, {"k.o": bytes((1 << 20) + 1)}))
        with pytest.raises(InputError, match="more than 1048576 bytes"):
            files.read("k.o", WHOLE_LIMIT)

    @pytest.mark.parametrize("raw", [b"", b"PK\3\4", b"PK\5\6" + bytes(17)])
    def test_broken(self, tmp_path: Path, raw: bytes) -> None:
        with pytest.raises(InputError, match="not a readable zip"):
            reopened(tmp_path / "x.zip", raw)

    @given(st.data())
    def test_any_damage(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        path = tmp_path_factory.mktemp("zip") / "x.zip"
        raw = zip_of(path, {"k.o": b"kernel" * 9, "l.o": bytes(99)})
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(raw) - 1))
            raw[at] = data.draw(st.sampled_from([0, 1, 8, 9, 12, 14, 99, 0x50, 0xFE, 0xFF]))
        try:
            files = reopened(path, raw[: data.draw(st.integers(len(raw) - 30, len(raw)))])
        except CannkitError:
            return
        for info in files:
            try:
                assert len(files.whole(info, 999)) < 1000
            except CannkitError:
                continue
