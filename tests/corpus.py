"""The real objects: `python -m tests.corpus` fetches the wheel of fbgemm-ascend and unpacks it.

The cache is `$CANNKIT_CORPUS`, or `cannkit/corpus` below the user's cache folder. A folder that is
there is whole: it gets its name only when everything is in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path, PurePosixPath
from shutil import copyfileobj, rmtree
from tempfile import mkdtemp
from typing import Final
from zipfile import ZipFile, ZipInfo

REQUIREMENT: Final = "fbgemm-ascend==1.5.0"
WHEEL: Final = "fbgemm_ascend-1.5.0-cp311-cp311-manylinux_2_34_x86_64"
WHEEL_SHA256: Final = "da25e57997f97c23b940e83e63845701504ef43caf0b6b3f0a2c6ea930224b9f"
PLATFORM: Final = (
    *("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"),
    *("--platform", "manylinux_2_34_x86_64", "--only-binary=:all:"),
)
MEMBER_LIMIT: Final = 256 << 20  # HAZ-14
TOTAL_LIMIT: Final = 1 << 30


def cache_folder() -> Path:
    """Where corpora are kept."""
    if own := os.environ.get("CANNKIT_CORPUS"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cannkit" / "corpus"


def find() -> Path | None:
    """The unpacked wheel; None when it was not fetched."""
    folder = cache_folder() / WHEEL
    return folder if folder.is_dir() else None


def fetch() -> Path:
    """The unpacked wheel, fetched unless it is there."""
    if found := find():
        return found
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    work = Path(mkdtemp(prefix="fetch-", dir=cache))
    try:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *PLATFORM]
        subprocess.run([*command, "--dest", str(work), REQUIREMENT], check=True)
        wheel = work / f"{WHEEL}.whl"
        digest = sha256(wheel.read_bytes()).hexdigest()
        if digest != WHEEL_SHA256:
            raise SystemExit(f"{wheel.name} has sha256 {digest}, not {WHEEL_SHA256}")
        unpack(wheel, work / WHEEL)
        try:
            (work / WHEEL).rename(cache / WHEEL)
        except OSError:  # another fetch came first
            if find() is None:
                raise
    finally:
        rmtree(work)
    return cache / WHEEL


def unpack(wheel: Path, target: Path) -> None:
    """Unpack regular files only, below `target` only, within the limits of HAZ-14."""
    with ZipFile(wheel) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if sum(member.file_size for member in members) > TOTAL_LIMIT:
            raise SystemExit(f"{wheel.name} unpacks to more than {TOTAL_LIMIT} bytes")
        for member in members:
            place = target / safe_name(member)
            place.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, place.open("xb") as sink:
                copyfileobj(source, sink)


def safe_name(member: ZipInfo) -> PurePosixPath:
    """The path of a member; raises SystemExit for one that is no plain file below the root."""
    name = PurePosixPath(member.filename)
    kind = member.external_attr >> 28  # upper half: st_mode, its type in the upper 4 bits
    outside = name.is_absolute() or ".." in name.parts or "\\" in member.filename
    if outside or kind not in (0, 8) or member.file_size > MEMBER_LIMIT:
        raise SystemExit(f"will not unpack {member.filename!r}")
    return name


if __name__ == "__main__":
    sys.stdout.write(f"{fetch()}\n")
