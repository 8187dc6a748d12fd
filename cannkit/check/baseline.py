"""The baseline: findings of an old project that are known and no longer reported."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from cannkit.check.finding import Finding
from cannkit.errors import InputError
from cannkit.inputs.files import NoSuchFileError, read_host

SCHEMA: Final = "cannkit.check-baseline/1"
FILE_LIMIT: Final = 64 << 20
DIGEST_SIZE: Final = 16  # hex digits
DIGEST: Final = re.compile(r"\b[0-9a-f]{64,128}\b")  # in a message: another one with every build


class Known(NamedTuple):
    """A finding as a baseline holds it; `file` counts from the folder of the baseline."""

    file: str
    code: str
    digest: str


class Baseline(NamedTuple):
    """What is known, and the folder that its paths count from."""

    folder: str
    known: frozenset[Known]

    def split(self, findings: Iterable[Finding]) -> tuple[list[Finding], int]:
        """The findings that are new, in their order, and how many are known."""
        every = list(findings)
        new = [each for each in every if _known(each, self.folder) not in self.known]
        return new, len(every) - len(new)


def split_place(place: str) -> tuple[str, str | None]:
    """File and member of a finding: `a.whl!op/x.o` is of two parts, the member None for a plain file."""
    file, mark, member = place.partition("!")
    return file, member if mark else None


def digest_of(where: str | None, message: str) -> str:
    """What two findings of one rule in one file differ by: the same as long as the cause is the same."""
    text = f"{where or ''}\0{DIGEST.sub('', message)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_SIZE]


def baseline_json(findings: Iterable[Finding], file: str) -> bytes:
    """The baseline of these findings as bytes of `file`: a line each, in the order of file, rule, digest."""
    known = sorted({_known(finding, _folder(file)) for finding in findings})
    lines = ",\n    ".join(json.dumps(each._asdict()) for each in known)
    inside = f"\n    {lines}\n  " if known else ""
    return f'{{\n  "schema": "{SCHEMA}",\n  "findings": [{inside}]\n}}\n'.encode()


def read_baseline(file: str) -> Baseline:
    """The baseline in `file`; raises InputError where it is missing or is none."""
    data = read_host(file, FILE_LIMIT)
    if data is None:
        why = "no such file"
        hint = f"`--write-baseline {file}` makes it"
        raise NoSuchFileError("cannot read the baseline", where=file, why=why, hint=hint)
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        why = "it is not JSON"
        raise InputError("cannot read the baseline", where=file, why=why) from error
    return Baseline(_folder(file), frozenset(_entries(parsed, file)))


def _entries(parsed: Any, file: str) -> Iterable[Known]:
    if not isinstance(parsed, dict) or parsed.get("schema") != SCHEMA:
        why = f'it has no "schema": "{SCHEMA}"'
        raise InputError("cannot read the baseline", where=file, why=why)
    entries = parsed.get("findings")
    for entry in entries if isinstance(entries, list) else [None]:
        values = [entry.get(key) for key in Known._fields] if isinstance(entry, dict) else [None]
        if not all(isinstance(value, str) for value in values):
            why = '"findings" is not a list of objects with file, code and digest'
            raise InputError("cannot read the baseline", where=file, why=why)
        yield Known(*values)


def _folder(file: str) -> str:
    return posixpath.dirname(os.path.abspath(file))  # noqa: PTH100 (keeps links)


def _known(finding: Finding, folder: str) -> Known:
    file, member = split_place(finding.file)
    if file != "-":
        file = posixpath.relpath(file, folder)
    place = file if member is None else f"{file}!{member}"
    return Known(place, finding.rule.code, digest_of(finding.where, finding.message))
