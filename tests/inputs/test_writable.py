"""Changes of a tree: on disk below a root, and in memory, which must not differ. Spec 05, AE-1202."""

from __future__ import annotations

import errno
import os
import random
import resource
from typing import TYPE_CHECKING

import pytest

from cannkit.errors import CannkitError, InputError, OutputError
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Entry, Kind, Link
from cannkit.inputs.rooted import RootedFiles
from cannkit.inputs.rooted_writer import RootedWriter
from cannkit.inputs.writable import Overlay
from tests.inputs.test_memory_tree import tree_of
from tests.inputs.test_rooted import grow, random_path

if TYPE_CHECKING:
    from pathlib import Path

    from cannkit.inputs.real_path import TreeView
    from cannkit.inputs.writable import WritableView


def change(view: WritableView, path: str, action: int) -> str:
    """A change, and what came of it."""
    try:
        if action == 0:
            view.mkdir(path, 0o750)
        elif action == 1:
            view.write(path, path.encode(), 0o640)
        elif action == 2:
            view.symlink(path, "/a/../b")
        elif action == 3:
            view.unlink(path)
        elif action == 4:
            view.rmdir(path)
        else:
            view.chmod(path, 0o700)
    except OutputError as error:
        return f"refused: {error.where}"
    return "done"


def told(view: TreeView, path: str) -> object:
    """All that a view tells of a path."""
    real = view.real_path(path)
    if real is None:
        return None
    kind = view.look(real)
    try:
        return real, kind, view.entries(real) if kind is Kind.DIRECTORY else view.read(real, 99)
    except CannkitError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(60))
def test_disk_and_overlay_agree(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    grow(tmp_path, rng)
    disk: WritableView = RootedWriter(str(tmp_path))
    base = tree_of(tmp_path)
    overlay: WritableView = Overlay(base)
    before = [told(base, random_path(random.Random(i))) for i in range(40)]
    for _ in range(60):
        parent = disk.real_path(random_path(rng))
        assert parent == overlay.real_path(parent or "none")
        if parent is not None:
            path, action = parent.rstrip("/") + "/" + rng.choice("abc"), rng.randrange(6)
            if action == 5 and isinstance(disk.look(path), Link):
                continue
            assert change(disk, path, action) == change(overlay, path, action), (path, action)
            assert told(disk, path) == told(overlay, path)
    for _ in range(60):
        path = random_path(rng)
        assert told(disk, path) == told(overlay, path), path
    assert before == [told(base, random_path(random.Random(i))) for i in range(40)]


class TestEntries:
    def test_what_is_in_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "d/sub").mkdir(parents=True)
        (tmp_path / "d/file").write_bytes(b"123")
        (tmp_path / "d/link").symlink_to("file")
        os.mkfifo(tmp_path / "d/fifo")
        expected = (
            Entry("fifo", Kind.OTHER),
            Entry("file", Kind.FILE, 3),
            Entry("link", Kind.OTHER),
            Entry("sub", Kind.DIRECTORY),
        )
        files = RootedFiles(str(tmp_path))
        assert files.entries("/d") == expected
        assert files.entries("/") == (Entry("d", Kind.DIRECTORY),)
        (tmp_path / "d/fifo").unlink()
        assert tree_of(tmp_path).entries("/d") == expected[1:]
        assert tree_of(tmp_path).entries("/") == (Entry("d", Kind.DIRECTORY),)

    @pytest.mark.parametrize("path", ["/none", "/file"])
    def test_no_directory(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "file").touch()
        for view in (RootedFiles(str(tmp_path)), tree_of(tmp_path)):
            with pytest.raises(InputError, match="cannot list the directory"):
                view.entries(path)


class TestOverlay:
    def test_a_directory_in_place_of_a_symlink(self, tmp_path: Path) -> None:
        """What the symlink led to is not in it."""
        (tmp_path / "real").mkdir()
        (tmp_path / "real/file").write_bytes(b"old")
        (tmp_path / "link").symlink_to("real")
        overlay = Overlay(RootedFiles(str(tmp_path)))
        overlay.unlink("/link")
        overlay.mkdir("/link", 0o750)
        assert overlay.real_path("/link/file") is None
        assert overlay.entries("/link") == ()
        assert overlay.real_path("/real/file") == "/real/file"
        assert (tmp_path / "link").is_symlink()

    def test_limits_and_modes(self) -> None:
        overlay = Overlay(MemoryTree({"/loop": Link("loop")}))
        overlay.write("/file", b"1234", 0o640)
        with pytest.raises(InputError, match="more than 3 bytes"):
            overlay.read("/file", 3)
        assert overlay.real_path("/loop") is None
        overlay.chmod("/file", 0o600)
        assert overlay.modes == {"/file": 0o600}


class TestRootedWriter:
    def test_modes_are_not_those_of_the_umask(self, tmp_path: Path) -> None:
        writer = RootedWriter(str(tmp_path))
        old = os.umask(0o077)
        try:
            writer.mkdir("/d", 0o750)
            writer.write("/d/f", b"1", 0o640)
        finally:
            os.umask(old)
        assert (tmp_path / "d").stat().st_mode & 0o7777 == 0o750
        assert (tmp_path / "d/f").stat().st_mode & 0o7777 == 0o640

    @pytest.mark.parametrize("action", range(6))
    def test_no_symlink_is_followed(self, tmp_path: Path, action: int) -> None:
        """Neither one in the way, nor a directory that became one after it was resolved."""
        root, outside = tmp_path / "root", tmp_path / "outside"
        (root / "real").mkdir(parents=True)
        (outside / "d").mkdir(parents=True)
        (outside / "f").write_bytes(b"outside")
        (root / "link").symlink_to(outside)
        (root / "dangling").symlink_to(outside / "new")
        before = sorted(tmp_path.rglob("*"))
        writer = RootedWriter(str(root))
        for path in ("/link/new", "/link/f", "/link/d", "/real/../../outside/f"):
            assert change(writer, path, action) == f"refused: {path}"
        if action in (0, 1, 2, 5):
            assert change(writer, "/dangling", action) == "refused: /dangling"
        assert sorted(tmp_path.rglob("*")) == before
        assert (outside / "d").stat().st_mode & 0o777 != 0o700

    def test_a_file_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        writer = RootedWriter(str(tmp_path))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(OutputError) as caught:
                writer.write("/f", bytes(10000), 0o640)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (caught.value.where, caught.value.why) == ("/f", os.strerror(errno.EFBIG))
        assert list(tmp_path.iterdir()) == []

    def test_descriptors_are_closed(self, tmp_path: Path) -> None:
        (tmp_path / "a/b/c").mkdir(parents=True)
        writer = RootedWriter(str(tmp_path))
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        writer.write("/a/b/c/f", b"1", 0o640)
        for path in ("/a/b/c/f", "/a/none/f", "/a/b/c/f/g", "/nul\0", "/"):
            assert change(writer, path, 1) == f"refused: {path}"
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
