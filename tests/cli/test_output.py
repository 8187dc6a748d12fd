"""Files that a command writes: found out beforehand, all or none, and nothing left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cannkit.cli.output import (
    Target,
    check_outputs,
    check_targets,
    check_writable,
    write_file,
    write_files,
)
from cannkit.errors import OutputError, UsageError


def target(path: Path | str) -> Target:
    return Target.of(str(path))


def test_checking_leaves_nothing(tmp_path: Path) -> None:
    check_writable(target(tmp_path / "y.bin"))
    check_writable(target("/dev/null"))
    assert list(tmp_path.iterdir()) == []
    old = tmp_path / "old"
    old.write_bytes(b"old")
    check_writable(target(old))
    assert old.read_bytes() == b"old"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """Known before anything is launched; a FIFO that nobody reads does not make it wait."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    file = tmp_path / "file"
    file.touch()
    for path in (tmp_path / "no" / "y.bin", tmp_path, pipe, file / "y.bin", tmp_path / ("n" * 256)):
        with pytest.raises(OutputError):
            check_writable(target(path))
    assert sorted(tmp_path.iterdir()) == [file, pipe]


def test_all_or_none(tmp_path: Path) -> None:
    """The second cannot be written: the first keeps what it had, for it would be half an answer."""
    first = tmp_path / "first"
    first.write_bytes(b"old")
    with pytest.raises(OutputError, match="first"):
        write_files([(target(first), b"new"), (target(first / "y"), b"new")])
    with pytest.raises(OutputError, match="/dev/full"):
        write_files([(target(first), b"new"), (target("/dev/full"), b"new")])
    assert first.read_bytes() == b"old"
    write_files(
        [(target(first), b"new"), (target(tmp_path / "second"), b""), (target("/dev/null"), b"x")]
    )
    assert first.read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_interrupted(tmp_path: Path) -> None:
    def outputs() -> Iterator[tuple[Target, bytes]]:
        yield target(tmp_path / "first"), b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_files(outputs())
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(str(tmp_path / "y"), b"")
    finally:
        os.umask(before)
    assert (tmp_path / "y").stat().st_mode & 0o777 == 0o640


def test_another_folder_moves_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what errors call it. `..` of a link leads out of its target, not of where the link lies."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    monkeypatch.chdir(tmp_path)
    y, up, gone = map(target, ("y", "link/../up", "gone/y"))
    monkeypatch.chdir("a/b")
    write_files([(y, b"1"), (up, b"2")])
    assert ((tmp_path / "y").read_bytes(), (tmp_path / "a/up").read_bytes()) == (b"1", b"2")
    with pytest.raises(OutputError, match=r"\(gone/y\)"):
        check_writable(gone)
    assert target("/y") == ("/y", "/y")


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    (tmp_path / "a").rmdir()
    with pytest.raises(OutputError, match=r"cannot write the file \(y\)"):
        target("y")


@pytest.mark.parametrize(
    "output",
    ["k.o", "k.json", "./k.o", "link.o", "real/k.json", "real/k.o", "b.json", "/dev/stdout", "-"],
)
def test_outputs_that_are_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    """JSN-01: the sidecar of a link lies beside what it leads to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    for name in ("k.o", "b", "real/k.o"):
        (tmp_path / name).touch()
    (tmp_path / "link.o").symlink_to("real/k.o")
    check_outputs({"--image": "new", "--svg": None}, ["k.o", "link.o", "b"])
    if output == "/dev/stdout":
        with (tmp_path / "out").open("w") as out:
            monkeypatch.setattr("sys.stdout", out)
            with pytest.raises(UsageError, match="stdout has the answer"):
                check_outputs({"--image": str(tmp_path / "out")}, [])
        return
    with pytest.raises(UsageError, match=f"^--image {output}: "):
        check_outputs({"--image": output}, ["k.o", "link.o", "b"])


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("y")
    pair = {"--arg 1": target(tmp_path / "y"), "--arg 2": target(tmp_path / "link")}
    with pytest.raises(UsageError, match="it is that of --arg 1, too"):
        check_targets(pair, [])
    check_targets({"--arg 1": target("/dev/null"), "--arg 2": target("/dev/null")}, [])
