"""Rules on the AI CPU libraries of a package: whether the device can load them. Spec 05, section 6; 07, section 7."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.package_subject import PackageRule, PackageSubject
from cannkit.errors import UsageError, brief
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import Machine
from cannkit.format.host_library import HostLibrary

SHOWN: Final = 5
MOST_LIBRARIES: Final = 64  # of those that one needs
VERSIONED: Final = re.compile(  # these give each of their names a version
    r"(?:libc|libm|libdl|libpthread|librt|libutil|libresolv|libstdc\+\+|libgcc_s|libgomp|libatomic"
    r"|ld-linux-aarch64)\.so\.[0-9]+"
).fullmatch
# OPR-701, OPR-702: the process of the device has these
PROVIDED: Final = re.compile(
    r"_ZNK?5aicpu.*|DlogRecord|CheckLogLevel|DlogVaList|dlog_getlevel|dlog_setlevel|DlogFlush"
    r"|v?(?:f|s|sn|w|fw|sw)?(?:printf|scanf)(?:_truncated)?_s|gets_s"
    r"|(?:mem|wmem|str|wcs)(?:cpy|move|set|ncpy|cat|ncat|tok)_s|mmSysGetEnv|AicpuGetBlock(?:Idx|Num)"
).fullmatch
_glibc = re.compile(r"GLIBC_([0-9]{1,4}(?:\.[0-9]{1,4}){0,3})").fullmatch
_version = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}").fullmatch

K405 = rule(
    "K405",
    "an AI CPU library is none that the device can load",
    Level.ERROR,
    why="The AI CPU is AArch64: for anything else the loader says that there is no such file (11002).",
    fix="Build it as a shared library with the AArch64 compiler of the toolkit (hcc).",
    spec="AE-1204 OPR-801",
)
K407 = rule(
    "K407",
    "an AI CPU library misses names that nothing it needs defines",
    Level.WARNING,
    why="Names are bound at the call: the scheduler's process ends when a call reaches one.",
    fix="Link what defines them (-Wl,-z,defs finds them when the library is built).",
    spec="AE-608 OPR-701",
)
K408 = rule(
    "K408",
    "the SONAME of an AI CPU library is not its file name",
    Level.WARNING,
    why="The loader takes a library for loaded by its SONAME: two of one SONAME become one.",
    fix="Link it with -Wl,-soname and its file name.",
)
K409 = rule(
    "K409",
    "an AI CPU library needs a newer glibc than the device has",
    Level.ERROR,
    why="The loader refuses it on the device (11002), though it loads where it was built.",
    fix="Build it with the compiler and the sysroot of the toolkit.",
    spec="OPR-701",
)


def check_loadable(subject: PackageSubject) -> Iterator[Finding]:
    """K405: shared libraries for AArch64."""
    for each in subject.package.cpu_libraries:
        place = subject.place_of(each.name)
        if each.library is None:
            yield Finding(K405, place, None, each.why)
        elif each.library.is_pie:
            yield Finding(K405, place, None, "it is a program (PIE), not a shared library")
        elif each.library.machine != Machine.EM_AARCH64:
            why = f"it is for {machine_name(each.library.machine)}, the AI CPU is AArch64"
            yield Finding(K405, place, None, why)


def check_undefined(subject: PackageSubject) -> Iterator[Finding]:
    """K407: names that no library of the package defines, and no versioned library did at the link.

    Of a library that needs others from outside the package nothing can be told.
    """
    libraries = {
        name: each.library
        for each in subject.package.cpu_libraries
        if each.library is not None
        for name in (each.file_name, each.library.soname)
        if name
    }
    for each in subject.package.cpu_libraries:
        needed = _needed_of(each.library, libraries) if each.library is not None else None
        if needed is None:
            continue
        names = [
            name
            for name in each.unversioned
            if not PROVIDED(name) and not any(name in other.exports for other in needed)
        ]
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            text = ", ".join(map(brief, names[:SHOWN])) + more
            yield Finding(K407, subject.place_of(each.name), None, f"nothing defines {text}")


def _needed_of(
    library: HostLibrary, libraries: Mapping[str, HostLibrary]
) -> list[HostLibrary] | None:
    """A library and those of the package that it needs; None when it needs others, or too many."""
    found, todo, seen = [library], list(library.needed), set[str]()
    while todo:
        name = todo.pop()
        if name in seen or VERSIONED(name):
            continue
        seen.add(name)
        if name not in libraries or len(seen) > MOST_LIBRARIES:
            return None
        found.append(libraries[name])
        todo += libraries[name].needed
    return found


def check_soname(subject: PackageSubject) -> Iterator[Finding]:
    """K408: SONAME and file name are one."""
    for each in subject.package.cpu_libraries:
        soname = each.library.soname if each.library is not None else None
        if soname is not None and soname != each.file_name:
            message = f"its SONAME is {brief(soname)}, its file {brief(each.file_name)}"
            yield Finding(K408, subject.place_of(each.name), None, message)


def check_glibc(subject: PackageSubject) -> Iterator[Finding]:
    """K409: versions of glibc; nothing is said when that of the device is not known.

    Raises UsageError when the version of the device is none.
    """
    if subject.device_glibc is None:
        return
    device = glibc_version(subject.device_glibc)
    for each in subject.package.cpu_libraries:
        if each.library is None:
            continue
        for library, version in each.library.versions_needed:
            found = _glibc(version)
            if found and _numbers(found[1]) > device:
                message = f"it needs {brief(version)} of {brief(library)}, the device has {subject.device_glibc}"
                yield Finding(K409, subject.place_of(each.name), brief(library), message)


def glibc_version(text: str) -> tuple[int, ...]:
    """`2.28` as numbers; raises UsageError for anything else."""
    if not _version(text):
        raise UsageError(f"{text!r} is no version of glibc", hint="give it as 2.28")
    return _numbers(text)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


PACKAGE_RULES: Final[tuple[PackageRule, ...]] = (
    check_loadable,
    check_undefined,
    check_soname,
    check_glibc,
)
