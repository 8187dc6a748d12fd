"""Staging: all files or none, each whole, nothing outside of the folder. HAZ-12."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from cannkit.errors import InputError, OutputError
from cannkit.extract.staging import Staging
from cannkit.inputs.files import open_window

DATA = b"kernel" * 500_000


def put(out: Path, *paths: tuple[str, ...], data: bytes = DATA, force: bool = False) -> None:
    with Staging(str(out), force=force) as staging:
        for path in paths:
            assert staging.add(path, memoryview(data)) == sha256(data).hexdigest()
        staging.commit()


def files(folder: Path) -> dict[str, bytes]:
    """All that lies below a folder, hidden or not; of a link where it leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = b"-> " + os.fsencode(path.readlink())
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_files_and_folders(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    put(out, ("k.o",), ("soc", "op", "k.o"), ("k.json",), ("soc", "op", "l.o"))
    paths = ["k.json", "k.o", "soc/op/k.o", "soc/op/l.o"]
    assert files(out) == dict.fromkeys(paths, DATA)
    assert names(out) == ["k.json", "k.o", "soc"]


def test_nothing_added(tmp_path: Path) -> None:
    put(tmp_path / "out")
    assert names(tmp_path) == []


def test_nothing_is_there_before_all_is(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    with Staging(str(out)) as staging:
        staging.add(("k.o",), memoryview(DATA))
        assert not (out / "k.o").exists()
    assert names(tmp_path) == []


def test_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()

    def stopped() -> None:
        with Staging(str(out)) as staging:
            staging.add(("k.o",), memoryview(DATA))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert names(tmp_path) == ["out"]
    assert names(out) == []


def test_data_that_cannot_be_read(tmp_path: Path) -> None:
    """It is left out; the others are not."""
    source, out = tmp_path / "source", tmp_path / "out"
    source.write_bytes(DATA)
    window = open_window(str(source))
    source.write_bytes(b"short")
    with Staging(str(out)) as staging:
        staging.add(("a.o",), memoryview(b"a"))
        with pytest.raises(InputError, match="shorter"):
            staging.add(("k.o",), window)
        staging.add(("b.o",), memoryview(b"b"))
        staging.commit()
    assert files(out) == {"a.o": b"a", "b.o": b"b"}


def test_does_not_replace(tmp_path: Path) -> None:
    for name in ("k.o", "l.o"):
        (tmp_path / name).write_bytes(b"old")
    before = files(tmp_path)
    with pytest.raises(OutputError) as caught:
        put(tmp_path, ("a.o",), ("k.o",), ("l.o",))
    error = caught.value
    assert error.why == "it exists, one of 2 that do; nothing was written"
    assert (error.where, error.hint) == (f"{tmp_path}/k.o", "--force replaces what is there")
    assert files(tmp_path) == before


def test_force(tmp_path: Path) -> None:
    (tmp_path / "k.o").write_bytes(b"old")
    put(tmp_path, ("a.o",), ("k.o",), force=True)
    assert files(tmp_path) == {"a.o": DATA, "k.o": DATA}


def test_link_in_place_of_a_file(tmp_path: Path) -> None:
    """Not followed: without --force refused, with it replaced."""
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.write_bytes(b"mine")
    (out / "k.o").symlink_to(victim)
    (out / "l.o").symlink_to(tmp_path / "nothing")
    for name in ("k.o", "l.o"):
        with pytest.raises(OutputError, match="it exists"):
            put(out, (name,))
    put(out, ("k.o",), ("l.o",), force=True)
    assert files(out) == {"k.o": DATA, "l.o": DATA}
    assert files(tmp_path)["victim"] == b"mine"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("force", [False, True])
def test_link_in_place_of_a_folder(tmp_path: Path, force: bool) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    (elsewhere / "op").mkdir(parents=True)
    (out / "soc").symlink_to(elsewhere)
    with pytest.raises(OutputError) as caught:
        put(out, ("a.o",), ("soc", "op", "k.o"), force=force)
    assert caught.value.why == "Not a directory"
    assert files(out) == {"soc": b"-> " + os.fsencode(elsewhere)}
    assert names(elsewhere / "op") == []


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_no_regular_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    (tmp_path / "k.o").mkdir() if kind == "folder" else os.mkfifo(tmp_path / "k.o")
    with pytest.raises(OutputError, match="no regular file"):
        put(tmp_path, ("a.o",), ("k.o",), force=True)
    assert names(tmp_path) == ["k.o"]


def test_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "soc").write_bytes(b"mine")
    with pytest.raises(OutputError, match="Not a directory"):
        put(tmp_path, ("soc", "k.o"), force=True)
    assert files(tmp_path) == {"soc": b"mine"}


def test_input_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k.o"
    path.write_bytes(b"mine")
    found = path.stat()
    with Staging(str(tmp_path), force=True) as staging:
        staging.add(("k.o",), memoryview(DATA))
        with pytest.raises(OutputError, match="it is an input"):
            staging.commit({(found.st_dev, found.st_ino)})
    assert files(tmp_path) == {"k.o": b"mine"}


def test_folder_that_is_a_link(tmp_path: Path) -> None:
    """It is resolved, once: what it leads to later does not matter."""
    link, first, second = tmp_path / "link", tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    link.symlink_to(first)
    with Staging(str(link)) as staging:
        staging.add(("k.o",), memoryview(DATA))
        link.unlink()
        link.symlink_to(second)
        staging.add(("soc", "l.o"), memoryview(DATA))
        staging.commit()
    assert files(first) == {"k.o": DATA, "soc/l.o": DATA}
    assert files(second) == {}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("file", "Not a directory"),
        ("dangling", "No such file or directory"),
        ("loop", "Too many levels of symbolic links"),
        ("file/below", "Not a directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_folder_that_is_none(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    with pytest.raises(OutputError) as caught:
        put(tmp_path / name, ("k.o",))
    assert caught.value.why == why
    assert names(tmp_path) == before


def test_files_are_closed(tmp_path: Path) -> None:
    before = len(names(Path("/proc/self/fd")))
    put(tmp_path / "out", ("k.o",), ("soc", "op", "k.o"))
    with pytest.raises(OutputError):
        put(tmp_path / "out", ("soc", "op", "k.o"))
    assert len(names(Path("/proc/self/fd"))) == before


def test_user_says_the_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        put(tmp_path / "out", ("soc", "k.o"))
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"out": 0o750, "soc": 0o750, "k.o": 0o640}
