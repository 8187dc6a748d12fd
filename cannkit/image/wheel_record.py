"""RECORD of a wheel: the hash of every member. OPP-06, and the packaging standard of wheels."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from typing import Final, NamedTuple

from cannkit.image.package_files import PackageFiles

RECORD_LIMIT: Final = 64 << 20
ALGORITHMS: Final = {"sha256": 32, "sha384": 48, "sha512": 64}  # "sha256 or better": bytes
SELF: Final = ("RECORD", "RECORD.jws", "RECORD.p7s")  # these have no hash


class Row(NamedTuple):
    """A member: its digest in hex, None where RECORD has none, by `algorithm`; `why` it cannot be compared."""

    name: str
    digest: str | None
    algorithm: str = "sha256"
    why: str = ""


class Record(NamedTuple):
    """The rows, and the numbers of lines that are none."""

    rows: tuple[Row, ...]
    broken: tuple[int, ...]


def read_record(files: PackageFiles, name: str) -> Record:
    """The rows of a RECORD; raises InputError where it cannot be read."""
    raw = files.read(name, RECORD_LIMIT) or b""
    rows: list[Row] = []
    broken: list[int] = []
    lines = csv.reader(io.StringIO(raw.decode("utf-8", "surrogateescape"), newline=""))
    try:
        for row in lines:
            if len(row) == 3 and row[0]:
                rows.append(_row(row[0], row[1]))
            elif row:
                broken.append(lines.line_num)
    except csv.Error:  # a field that has no end
        broken.append(lines.line_num)
    return Record(tuple(rows), tuple(broken))


def _row(name: str, text: str) -> Row:
    if not text:
        return Row(name, None)
    algorithm, _, digest = text.partition("=")
    size = ALGORITHMS.get(algorithm)
    if size is None:
        return Row(
            name, None, why=f"its hash is none of sha256, sha384 and sha512 but {algorithm[:16]!r}"
        )
    try:
        raw = base64.b64decode(digest + "=" * (-len(digest) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != size:
        return Row(name, None, why=f"its hash is not {size} bytes in base64")
    return Row(name, raw.hex(), algorithm)
