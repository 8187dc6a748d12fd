"""RootedFiles, with the kernel as judge of how a path is followed. Spec 05, AE-1202."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from cannkit.errors import InputError
from cannkit.inputs.rooted import RootedFiles

if TYPE_CHECKING:
    from cannkit.inputs.files import PathView

OPENAT2: Final = 437
RESOLVE_NO_MAGICLINKS: Final = 0x02
RESOLVE_IN_ROOT: Final = 0x10
NOBODY: Final = 65534
NAMES: Final = ("a", "b", "c", ".", "..", "", ".h")


def kernel_real_path(root: Path, path: str) -> str | None:
    """What Linux itself makes of a path below a root."""
    how = struct.pack("<QQQ", os.O_PATH | os.O_CLOEXEC, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)
    top = os.open(root, os.O_PATH)
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        fd = libc.syscall(OPENAT2, top, os.fsencode(path or ""), how, len(how))
    finally:
        os.close(top)
    if fd < 0:
        if ctypes.get_errno() == errno.ENOSYS:
            pytest.skip("this kernel has no openat2")
        return None
    try:
        return os.readlink(f"/proc/self/fd/{fd}").removeprefix(str(root)) or "/"  # noqa: PTH115
    finally:
        os.close(fd)


def random_path(rng: random.Random) -> str:
    path = "/".join(rng.choice(NAMES) for _ in range(rng.randint(1, 6)))
    return "/" * rng.randint(0, 2) + path


def grow(root: Path, rng: random.Random) -> None:
    """Directories, files and symlinks, some of them dangling, loops, or leading up and out."""
    for _ in range(rng.randint(3, 14)):
        place = root.joinpath(*(rng.choice("abc") for _ in range(rng.randint(1, 3))))
        try:
            kind = rng.randrange(3)
            if kind == 0:
                place.mkdir()
            elif kind == 1:
                place.write_bytes(bytes(str(place.relative_to(root)), "ascii"))
            else:
                place.symlink_to(random_path(rng) or ".")
        except OSError:  # its parent is missing, a file or a loop, or it is there already
            continue


@pytest.mark.parametrize("seed", range(120))
def test_the_kernel_agrees(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    outside = tmp_path / "a"
    outside.write_bytes(b"outside")
    root = tmp_path / "root"
    root.mkdir()
    grow(root, rng)
    files: PathView = RootedFiles(str(root))
    for path in {random_path(rng) for _ in range(60)}:
        real = files.real_path(path)
        assert real == kernel_real_path(root, path), path
        if real is not None and (root / real[1:]).is_file():
            assert files.read(path, 99) == files.read(real, 99)
            assert files.read(path, 99) != b"outside"


class TestRead:
    @pytest.fixture
    def files(self, tmp_path: Path) -> RootedFiles:
        root = tmp_path / "root"
        (root / "lib").mkdir(parents=True)
        (root / "lib/k.so").write_bytes(b"inside")
        (root / "secret").write_bytes(b"inside too")
        (tmp_path / "secret").write_bytes(b"outside")
        (root / "up").symlink_to("../secret")
        (root / "absolute").symlink_to(f"{tmp_path}/secret")
        (root / "rooted").symlink_to("/lib/./k.so")
        (root / "chain").symlink_to("lib/../rooted")
        (root / "out").symlink_to("..")
        (root / "loop").symlink_to("loop")
        return RootedFiles(str(root))

    @pytest.mark.parametrize(
        "path", ["lib/k.so", "/lib/k.so", "lib//../lib/k.so", "rooted", "chain", "../lib/k.so"]
    )
    def test_inside(self, files: RootedFiles, path: str) -> None:
        assert files.read(path, 99) == b"inside"
        assert files.real_path(path) == "/lib/k.so"
        assert Path(files.host_path("/lib/k.so")).read_bytes() == b"inside"

    @pytest.mark.parametrize("path", ["../secret", "up", "out/secret", "/../../secret"])
    def test_the_root_has_no_parent(self, files: RootedFiles, path: str) -> None:
        assert files.read(path, 99) == b"inside too"
        assert files.real_path(path) == "/secret"

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "absolute",
            "none",
            "lib/none",
            "nul\0",
            "lib/k.so/",
            "lib/k.so/.",
            "x\ud800",
            "x" * 256,
        ],
    )
    def test_missing(self, files: RootedFiles, path: str) -> None:
        assert files.read(path, 99) is None
        assert files.real_path(path) is None

    def test_errors_name_the_path_that_was_asked_for(self, files: RootedFiles) -> None:
        for path in ("lib", "loop"):
            with pytest.raises(InputError) as caught:
                files.read(path, 99)
            assert caught.value.where == path
        assert files.real_path("loop") is None


class TestLimits:
    def test_forty_links(self, tmp_path: Path) -> None:
        (tmp_path / "0").touch()
        for i in range(1, 42):
            (tmp_path / str(i)).symlink_to(str(i - 1))
        files = RootedFiles(str(tmp_path))
        assert files.real_path("40") == "/0" == kernel_real_path(tmp_path, "40")
        assert files.real_path("41") is None is kernel_real_path(tmp_path, "41")

    def test_lengths(self, tmp_path: Path) -> None:
        """Of bytes: two for an umlaut."""
        (tmp_path / ("ü" * 127 + "x")).touch()
        (tmp_path / "dots").symlink_to("/" + "./" * 2047)
        files = RootedFiles(str(tmp_path))
        for path in (
            "ü" * 127 + "x",
            "ü" * 128,
            "/" + "./" * 2047,
            "." + "/." * 2047,
            "./" * 2048,
            "dots",
        ):
            assert files.real_path(path) == kernel_real_path(tmp_path, path), path

    def test_names_that_are_no_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "\udcff").write_bytes(b"k")
        files = RootedFiles(str(tmp_path))
        assert files.real_path("\udcff") == "/\udcff"
        assert files.read("\udcff", 1) == b"k"

    def test_result_of_4096_bytes(self, tmp_path: Path) -> None:
        """A path that only a symlink makes short."""
        name, last = "x" * 200, "y" * 75
        home = Path.cwd()
        os.chdir(tmp_path)
        try:
            for part in [name] * 20 + [last]:
                Path(part).mkdir()
                os.chdir(part)
        finally:
            os.chdir(home)
        (tmp_path / "short").symlink_to(f"{name}/" * 18)
        files = RootedFiles(str(tmp_path))
        assert files.real_path(f"short/{name}/{name}/{last}") is None
        with pytest.raises(InputError, match="too long"):  # the path on this machine is
            files.real_path(f"short/{name}/{name}/{last[1:]}")


class TestRoot:
    @pytest.mark.parametrize("root", ["", "none", "file", "loop", "nul\0", "file/."])
    def test_no_directory(self, tmp_path: Path, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("file").touch()
        Path("loop").symlink_to("loop")
        with pytest.raises(InputError, match="cannot use the root") as caught:
            RootedFiles(root)
        assert caught.value.where == root

    def test_a_symlink_is_followed_once(self, tmp_path: Path) -> None:
        (tmp_path / "one").mkdir()
        (tmp_path / "two").mkdir()
        (tmp_path / "one/k").write_bytes(b"one")
        (tmp_path / "root").symlink_to("one")
        files = RootedFiles(f"{tmp_path}/root")
        (tmp_path / "root").unlink()
        (tmp_path / "root").symlink_to("two")
        assert files.read("/k", 9) == b"one"

    def test_slash(self, tmp_path: Path) -> None:
        (tmp_path / "k").write_bytes(b"kernel")
        (tmp_path / "link").symlink_to("k")
        files = RootedFiles("/")
        assert files.real_path("/..//") == "/"
        assert files.real_path(f"{tmp_path}/link") == f"{tmp_path.resolve()}/k"
        assert files.read(f"{tmp_path}/link", 9) == b"kernel"
        assert files.host_path(f"{tmp_path}/k") == f"{tmp_path}/k"


def test_directory_that_may_not_be_searched(tmp_path: Path) -> None:
    """Cannot be told, which is not the same as missing."""
    (tmp_path / "shut/in").mkdir(parents=True)
    (tmp_path / "shut/in").chmod(0o755)
    (tmp_path / "shut").chmod(0)
    code = (
        "import os, sys\n"
        "from cannkit.errors import InputError\n"
        "from cannkit.inputs.rooted import RootedFiles\n"
        "files = RootedFiles(sys.argv[1])\n"
        f"if os.getuid() == 0: os.chroot(sys.argv[1]); files = RootedFiles('/'); os.setuid({NOBODY})\n"
        "assert files.real_path('/none') is None\n"
        "try: files.real_path('/shut/in')\n"
        "except InputError as error: print(error.where, error.why)\n"
    )
    tmp_path.chmod(0o755)
    try:
        told = subprocess.run(
            [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True
        ).stdout
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert told == "/shut/in Permission denied\n"


def test_why_a_path_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("/no/where")
    (tmp_path / "to_dangling").symlink_to("dangling")
    (tmp_path / "loop").symlink_to("loop")
    files = RootedFiles(str(tmp_path))
    assert files.why_missing("/missing") == "no such file"
    assert files.why_missing("/file/missing") == "no such file"
    assert files.why_missing("/dangling") == "it is a symlink to /no/where, which is not there"
    assert (
        files.why_missing("/to_dangling")
        == "/dangling is a symlink to /no/where, which is not there"
    )
    assert files.why_missing("/loop") == "a loop of symlinks"
    assert files.why_missing("/dir/../loop/x") == "a loop of symlinks"
