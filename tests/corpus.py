"""Real objects: `python -m tests.corpus` fetches the wheel of fbgemm-ascend and unpacks it.

`CANNKIT_CORPUS=all` fetches the wheel of MindSpore, too, once, and keeps its AI CPU operators. The cache
is `$CANNKIT_CORPUS`, where it names a folder, or `cannkit/corpus` below the user's cache folder. A folder
that is there is whole: it gets its name only when everything is in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from shutil import copyfileobj, rmtree
from tempfile import mkdtemp
from typing import Final, NamedTuple
from zipfile import ZipFile, ZipInfo

ALL: Final = "all"


class Source(NamedTuple):
    """A wheel that pip can fetch for another machine, and the folder of it that is kept."""

    requirement: str
    wheel: str
    sha256: str
    platform: str
    kept: str = ""


KERNELS: Final = Source(
    "fbgemm-ascend==1.5.0",
    "fbgemm_ascend-1.5.0-cp311-cp311-manylinux_2_34_x86_64",
    "da25e57997f97c23b940e83e63845701504ef43caf0b6b3f0a2c6ea930224b9f",
    "manylinux_2_34_x86_64",
)
AI_CPU: Final = Source(
    "mindspore==2.7.1",
    "mindspore-2.7.1-cp311-cp311-manylinux1_x86_64",
    "6f889480612e632d43c03a3cae9d48f33a8c2370172a536bed7abc0695be6433",
    "manylinux1_x86_64",
    "mindspore/lib/plugin/ascend/custom_aicpu_ops/",
)
PYTHON: Final = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
MEMBER_LIMIT: Final = 256 << 20  # HAZ-14
TOTAL_LIMIT: Final = 1 << 30


def cache_folder() -> Path:
    """Where corpora are kept."""
    own = os.environ.get("CANNKIT_CORPUS")
    if own and own != ALL:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cannkit" / "corpus"


def find(source: Source = KERNELS) -> Path | None:
    """What is kept of a wheel; None when it was not fetched."""
    folder = cache_folder() / source.wheel / source.kept
    return folder if folder.is_dir() else None


def find_aicpu() -> Path | None:
    """The package of AI CPU operators; None when it was not fetched."""
    return find(AI_CPU)


def fetch(source: Source = KERNELS) -> Path:
    """What is kept of a wheel, fetched unless it is there."""
    if found := find(source):
        return found
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    work = Path(mkdtemp(prefix="fetch-", dir=cache))
    try:
        platform = ("--platform", source.platform, "--only-binary=:all:")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += [*PYTHON, *platform, "--dest", str(work), source.requirement]
        subprocess.run(command, check=True)
        wheel = work / f"{source.wheel}.whl"
        with wheel.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        if digest != source.sha256:
            raise SystemExit(f"{wheel.name} has sha256 {digest}, not {source.sha256}")
        unpack(wheel, work / source.wheel, source.kept)
        try:
            (work / source.wheel).rename(cache / source.wheel)
        except OSError:  # another fetch came first
            if find(source) is None:
                raise
    finally:
        rmtree(work)
    return cache / source.wheel / source.kept


def unpack(wheel: Path, target: Path, kept: str = "") -> None:
    """Unpack what lies below `kept`: regular files only, below `target` only, within the limits of HAZ-14."""
    with ZipFile(wheel) as archive:
        every = (member for member in archive.infolist() if member.filename.startswith(kept))
        members = [member for member in every if not member.is_dir()]
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
    wanted = (KERNELS, AI_CPU) if os.environ.get("CANNKIT_CORPUS") == ALL else (KERNELS,)
    for each in wanted:
        sys.stdout.write(f"{fetch(each)}\n")
