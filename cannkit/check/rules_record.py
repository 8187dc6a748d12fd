"""Rules on a wheel as such: its members are those of RECORD. Spec 01, section 11."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.package_subject import PackageRule, PackageSubject
from cannkit.errors import CannkitError, brief
from cannkit.image.package import Package
from cannkit.image.wheel_record import SELF, Row, read_record
from cannkit.inputs.files import NoSuchFileError

K321 = rule(
    "K321",
    "a file differs from its hash in RECORD",
    Level.ERROR,
    why="The file was changed after the wheel was made, or it is damaged.",
    fix="Make the wheel again (`wheel pack` writes RECORD).",
    spec="OPP-06",
)
K322 = rule(
    "K322",
    "a file of RECORD is missing",
    Level.ERROR,
    why="The wheel is incomplete.",
    fix="Make the wheel again (`wheel pack` writes RECORD).",
    spec="OPP-06",
)
K323 = rule(
    "K323",
    "a file is not in RECORD",
    Level.WARNING,
    why="It was added after the wheel was made: installers may refuse it, and do not uninstall it.",
    fix="Make the wheel again (`wheel pack` writes RECORD).",
    spec="OPP-06",
)
K324 = rule(
    "K324",
    "RECORD cannot be used",
    Level.WARNING,
    why="A file that has no hash in it cannot be compared.",
    fix="Make the wheel again (`wheel pack` writes RECORD).",
    spec="OPP-06 HAZ-14",
)


def check_record(subject: PackageSubject) -> Iterator[Finding]:
    """K321 to K324: the members of a wheel are those of its RECORD."""
    package = subject.package
    if package.record is None:
        return
    files, root, place = package.files, package.root, package.place_of(package.record)
    try:
        record = read_record(files, root + package.record)
    except CannkitError as error:
        yield Finding(K324, place, None, error.why or error.what)
        return
    for line in record.broken:
        yield Finding(K324, place, f"line {line}", "it is no row of name, hash and size")
    there = set(files.names) if files.is_zip else None  # to list all of a folder takes long
    for row in dict.fromkeys(record.rows):
        if _leaves(row.name):  # an installer's: scripts lie beside the packages
            continue
        if there is not None and row.name not in there:
            yield _missing(place, row.name)
        elif row.why:
            yield Finding(K324, place, brief(row.name), row.why)
        elif row.digest:
            yield from _compare(package, place, row, row.digest)
    if files.is_zip:
        listed = {row.name for row in record.rows}
        listed |= {f"{package.record.rpartition('/')[0]}/{name}" for name in SELF}
        for name in files.names:
            if name not in listed and not name.endswith("/"):
                yield Finding(K323, package.place_of(name), None, "RECORD does not have it")


def _missing(place: str, name: str) -> Finding:
    return Finding(K322, place, brief(name), f"{brief(name, 512)} is not there")


def _leaves(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/")


def _compare(package: Package, record: str, row: Row, digest: str) -> Iterator[Finding]:
    place = package.place_of(row.name)
    try:
        found = package.files.digest(package.root + row.name, row.algorithm)
    except NoSuchFileError:
        yield _missing(record, row.name)
        return
    except CannkitError as error:
        yield Finding(K324, place, None, f"cannot be compared: {error.why or error.what}")
        return
    if found != digest:
        yield Finding(K321, place, None, f"its {row.algorithm} is {found}, RECORD says {digest}")


PACKAGE_RULES: Final[tuple[PackageRule, ...]] = (check_record,)
