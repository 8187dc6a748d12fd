"""MemoryTree, held against the same tree on disk. Spec 05, AE-1202 and AE-1207."""

from __future__ import annotations

import random
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from cannkit.errors import InputError
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Link
from cannkit.inputs.rooted import RootedFiles
from tests.inputs.test_rooted import grow, random_path

if TYPE_CHECKING:
    from pathlib import Path

    from cannkit.inputs.files import PathView


def tree_of(root: Path) -> MemoryTree:
    """What lies below a directory, as a MemoryTree."""
    entries: dict[str, bytes | Link | None] = {}
    for place in root.rglob("*"):
        path = f"/{place.relative_to(root)}"
        if place.is_symlink():
            entries[path] = Link(str(place.readlink()))
        else:
            entries[path] = None if place.is_dir() else place.read_bytes()
    return MemoryTree(entries)


@pytest.mark.parametrize("seed", range(1000, 1120))
def test_the_disk_agrees(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    grow(tmp_path, rng)
    disk, tree = RootedFiles(str(tmp_path)), tree_of(tmp_path)
    for path in {random_path(rng) for _ in range(80)}:
        assert tree.real_path(path) == disk.real_path(path), path
        try:
            expected: object = disk.read(path, 99)
        except InputError as error:
            expected = (error.where, error.why)
        try:
            actual: object = tree.read(path, 99)
        except InputError as error:
            actual = (error.where, error.why)
        assert actual == expected, path


def test_read() -> None:
    tree: PathView = MemoryTree({"/a/k.so": b"kernel", "b": Link("a/./k.so"), "/c": None})
    assert tree.read("/b", 6) == tree.read("a//k.so", 6) == b"kernel"
    assert tree.real_path("c/..") == "/"
    assert tree.real_path("/c") == "/c"
    assert tree.read("/c/k.so", 6) is None
    with pytest.raises(InputError, match="more than 5 bytes"):
        tree.read("/b", 5)
    with pytest.raises(InputError, match="Is a directory"):
        tree.read("/c", 5)


@pytest.mark.parametrize("path", ["", "/none", "/k/", "/k/..", "/.k", "/\0", "/empty", "x" * 4096])
def test_missing(path: str) -> None:
    links = {"/empty": Link(""), "/loop": Link("loop")}
    assert MemoryTree({"/k": b""}).real_path(path) is None
    assert MemoryTree({"/k": b"", **links}).real_path(path) is None


def test_a_directory_may_be_told_twice() -> None:
    assert MemoryTree({"/a/b": b"", "/a": None, "/": None}).real_path("/a/b") == "/a/b"


@pytest.mark.parametrize(
    "entries",
    [
        {"/a/../b": b""},
        {"/a/": None},
        {"//a": b""},
        {"/a/./b": b""},
        {"/" + "x" * 256: b""},
        {"/a\0": b""},
        {"/": b""},
        {"/a": b"", "/a/b": b""},
        {"/a/b": b"", "/a": b""},
        {"/a": Link("c"), "/a/b": b""},
        {"/a/b": b"", "/a": Link("c")},
        {"/a": b"1", "a": b"2"},
    ],
)
def test_trees_that_cannot_be(entries: dict[str, bytes | Link | None]) -> None:
    with pytest.raises(InputError, match="cannot place the file"):
        MemoryTree(entries)


def test_deep_tree() -> None:
    path = "/a" * 2047
    tree = MemoryTree({path: b"", "/l": Link("a/" * 2047)})
    assert tree.real_path(path + "/") is None
    assert tree.real_path(path) == path
    assert tree.real_path("l") is None
    assert tree.real_path(path + "/.") is None


@pytest.mark.bench
def test_speed() -> None:
    """50,000 resolutions of three paths in a second leave 6 microseconds for a path."""
    tree = MemoryTree(
        {
            "/usr/lib64/aicpu_kernels/0/aicpu_kernels_device/libk.so": b"",
            "/home/CustAiCpuUser/lib/libk.so.0.0.123": b"",
            "/home/CustAiCpuUser/cust_aicpu_0_0_123/libk.so": Link(
                "/home/CustAiCpuUser/lib/libk.so.0.0.123"
            ),
        }
    )
    paths = (
        "/usr/lib64/aicpu_kernels/0/aicpu_kernels_device/libk.so",
        "/usr/lib64/aicpu_kernels/0/aicpu_kernels_device/123_0/libx.so",
        "/home/CustAiCpuUser/cust_aicpu_0_0_123/libk.so",
    )
    begin, count = perf_counter(), 20_000
    for _ in range(count):
        for path in paths:
            tree.real_path(path)
    took = (perf_counter() - begin) / count
    print(f"{took * 1e6:.1f} us for {len(paths)} paths")  # noqa: T201
    assert took < 20e-6
