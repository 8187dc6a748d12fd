"""The fetcher of real objects: what it will not unpack, and where it looks."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest

from tests import corpus


def wheel(folder: Path, *members: ZipInfo) -> Path:
    path = folder / "w.whl"
    with ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, b"data")
    return path


def test_plain_members_are_unpacked(tmp_path: Path) -> None:
    corpus.unpack(wheel(tmp_path, ZipInfo("a/b.o"), ZipInfo("c/")), tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert files == [tmp_path / "out" / "a" / "b.o"]


def test_only_what_is_kept_is_unpacked(tmp_path: Path) -> None:
    path = wheel(tmp_path, ZipInfo("a/b.o"), ZipInfo("a/c/d.o"), ZipInfo("e.o"))
    corpus.unpack(path, tmp_path / "out", "a/c/")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert files == [tmp_path / "out" / "a" / "c" / "d.o"]


def link(name: str) -> ZipInfo:
    member = ZipInfo(name)
    member.external_attr = 0o120777 << 16
    return member


@pytest.mark.parametrize(
    "member",
    [
        ZipInfo("/abs.o"),
        ZipInfo("../up.o"),
        ZipInfo("a/../../up.o"),
        ZipInfo("a\\b.o"),
        link("l.o"),
    ],
    ids=lambda member: member.filename,
)
def test_hostile_member_is_refused(tmp_path: Path, member: ZipInfo) -> None:
    """HAZ-14."""
    with pytest.raises(SystemExit, match="will not unpack"):
        corpus.unpack(wheel(tmp_path, member), tmp_path / "out")


def test_size_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HAZ-14."""
    monkeypatch.setattr(corpus, "TOTAL_LIMIT", 7)
    with pytest.raises(SystemExit, match="more than 7 bytes"):
        corpus.unpack(wheel(tmp_path, ZipInfo("a"), ZipInfo("b")), tmp_path / "out")


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CANNKIT_CORPUS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert corpus.cache_folder() == tmp_path / "cannkit" / "corpus"
    monkeypatch.setenv("CANNKIT_CORPUS", str(tmp_path / "own"))
    assert corpus.cache_folder() == tmp_path / "own"
    assert corpus.find() is None
    (tmp_path / "own" / corpus.KERNELS.wheel).mkdir(parents=True)
    assert corpus.fetch() == corpus.find() == tmp_path / "own" / corpus.KERNELS.wheel


def test_all_is_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CANNKIT_CORPUS", "all")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert corpus.cache_folder() == tmp_path / "cannkit" / "corpus"
    assert corpus.find_aicpu() is None
    folder = corpus.cache_folder() / corpus.AI_CPU.wheel / corpus.AI_CPU.kept
    folder.mkdir(parents=True)
    assert corpus.find_aicpu() == folder
