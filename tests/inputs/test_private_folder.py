from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from cannkit.errors import OutputError
from cannkit.inputs.private_folder import make_folder, remove_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return Path(make_folder())


def test_folder_is_this_users_alone(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    remove_folder(str(folder))
    assert not folder.exists()


def test_removes_what_no_recursion_can(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(2500):  # deeper than a path may be long, and than Python recurses
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=inner))
        os.close(here)
        here = inner
    os.close(here)
    remove_folder(str(folder))
    assert not folder.exists()


def test_removes_folders_without_permissions(folder: Path) -> None:
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for each in (inner, inner.parent, folder):
        each.chmod(0)
    remove_folder(str(folder))
    assert not folder.exists()


def test_follows_no_symlink(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").touch()
    (folder / "link").symlink_to(victim)
    (folder / "inner").mkdir()
    (folder / "inner" / "link").symlink_to(victim)
    remove_folder(str(folder))
    assert not folder.exists()
    assert (victim / "file").exists()


@pytest.mark.parametrize("is_link", [True, False])
def test_something_else_in_its_place(folder: Path, tmp_path: Path, is_link: bool) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").touch()
    folder.rmdir()
    if is_link:
        folder.symlink_to(victim)
    else:
        folder.touch()
    remove_folder(str(folder))
    assert not folder.is_symlink()
    assert not folder.exists()
    assert (victim / "file").exists()


def test_removing_what_is_gone_is_no_error(folder: Path) -> None:
    folder.rmdir()
    remove_folder(str(folder))


def test_no_place_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(OutputError) as caught:
        make_folder()
    assert caught.value.hint == "set TMPDIR"
