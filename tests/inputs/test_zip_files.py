"""Members of a zip that are hashed as they unpack. HAZ-14."""

from __future__ import annotations

import hashlib
import io
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from cannkit.errors import InputError
from cannkit.inputs.files import open_window
from cannkit.inputs.zip_files import ZIP_FLOOR, ZipFiles

LARGE = random.Random(7).randbytes(1 << 20) * 65


def opened(path: Path, *members: tuple[str, bytes], stored: bool = False) -> ZipFiles:
    kind = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", kind, compresslevel=1) as packed:
        for name, raw in members:
            packed.writestr(name, raw)
    return ZipFiles(open_window(str(path)))


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("raw", [b"", b"x", LARGE], ids=["empty", "short", "large"])
def test_digest(tmp_path: Path, raw: bytes, stored: bool) -> None:
    files = opened(tmp_path / "x.zip", ("a", raw), stored=stored)
    (info,) = files
    tracemalloc.start()
    assert files.digest(info, "sha256") == hashlib.sha256(raw).hexdigest()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20


def test_digest_of_a_bomb(tmp_path: Path) -> None:
    files = opened(tmp_path / "x.zip", ("a", bytes(2 << 20)))
    (info,) = files
    with pytest.raises(InputError, match="it has more than 1048576 bytes"):
        files.digest(info, "sha256")


def test_digest_of_one_member_over_and_over(tmp_path: Path) -> None:
    """All reads share one budget."""
    files = opened(tmp_path / "x.zip", ("a", bytes(1 << 20)))
    (info,) = files
    for _ in range(ZIP_FLOOR >> 20):
        files.digest(info, "sha256")
    with pytest.raises(InputError, match="unpacks to more than"):
        files.digest(info, "sha256")
    assert files.spent


def test_digest_of_damaged_data(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("a", LARGE[: 3 << 20])
    raw = bytearray(buffer.getvalue())
    raw[2 << 20] ^= 1
    path = tmp_path / "x.zip"
    path.write_bytes(raw)
    files = ZipFiles(open_window(str(path)))
    (info,) = files
    with pytest.raises(InputError, match="Bad CRC-32"):
        files.digest(info, "sha256")
