"""What an operator library needs, and what there is: libraries, versions, functions. Spec 07, OPR-701.

Asked when a library could not be loaded: the loader names the first thing that is missing, this all.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.errors import CannkitError, FormatError, brief
from cannkit.format.elf import StringTable, open_elf
from cannkit.format.elf_types import ByteView, Machine
from cannkit.format.host_library import HostLibrary, read_host_library
from cannkit.inputs.files import open_window
from cannkit.ops.errors import CannotRunError

FOLDERS: Final = ("lib", "lib64", "usr/lib", "usr/lib64")
MULTIARCH: Final = {
    Machine.EM_AARCH64: "aarch64-linux-gnu",
    Machine.EM_X86_64: "x86_64-linux-gnu",
}
GNU_VERDEF: Final = 0x6FFF_FFFD
VERDEF_SIZE, VERDAUX_SIZE = 20, 8
MOST_LIBRARIES: Final = 64
MOST_VERSIONS: Final = 1 << 12
MOST_SHOWN: Final = 8
DEMANGLE_LIMIT: Final = 5.0


class Needs(NamedTuple):
    """What is missing: libraries, (library, version) pairs, functions by their mangled names."""

    libraries: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    functions: tuple[str, ...]


def missing_needs(library: str, sysroot: str, runner: str) -> Needs:
    """What a library needs that neither the sysroot nor the runner has. Raises FormatError, InputError."""
    top = read_host_library(open_window(library))
    found, libraries = _closure(top, str(Path(library).parent), sysroot)
    versions = [
        (name, version)
        for name, version in top.versions_needed
        if name in found and version not in _versions(open_window(found[name][0]))
    ]
    exports = {*read_host_library(open_window(runner)).exports, *top.exports}
    for _, each in found.values():
        exports |= each.exports.keys()
    functions = [name for name in top.undefined if name not in exports]
    return Needs(tuple(libraries), tuple(versions), tuple(functions))


def load_failure(library: str, error: str, sysroot: str, runner: str) -> CannotRunError:
    """The error for a library that the loader refused: `error` is its own words."""
    what = "the library cannot be loaded"
    try:
        needs = missing_needs(library, sysroot, runner)
    except CannkitError:
        return CannotRunError(what, where=library, why=error)
    said = [each for each in needs.libraries if each in error]  # elsewhere it finds more than we do
    if said:
        why = f"it needs {', '.join(said)}, which is not in {sysroot}"
        hint = "install what it needs, or name a sysroot that has it (--sysroot)"
        return CannotRunError(what, where=library, why=why, hint=hint)
    if any(version in error for _, version in needs.versions):
        words = ", ".join(f"{version} ({name})" for name, version in needs.versions)
        why = f"{sysroot} is too old for it: it needs {words}"
        hint = "use the sysroot of a newer distribution (--sysroot)"
        return CannotRunError(what, where=library, why=why, hint=hint)
    if any(name in error for name in needs.functions):
        names = demangled(sorted(needs.functions)[:MOST_SHOWN])
        more = len(needs.functions) - len(names)
        words = ", ".join(map(brief, names)) + (f" and {more} more" if more else "")
        why = f"nothing defines {words}"
        hint = "the processes of a device may have it; cannkit has no stand-in for it"
        return CannotRunError(what, where=library, why=why, hint=hint)
    return CannotRunError(what, where=library, why=error)


def demangled(names: Sequence[str]) -> list[str]:
    """Names of C++ as a programmer knows them, where c++filt is installed."""
    program = shutil.which("c++filt")
    if program is None or not names:
        return list(names)
    try:
        done = subprocess.run(  # noqa: S603  (a program that the user has)
            [program],
            input="\n".join(names).encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=DEMANGLE_LIMIT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return list(names)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines if len(lines) == len(names) else list(names)


def _closure(
    top: HostLibrary, origin: str, sysroot: str
) -> tuple[dict[str, tuple[str, HostLibrary]], list[str]]:
    """Libraries that a library needs, and those that these need: path and contents, and the missing ones."""
    run_path = [
        part.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) for part in top.run_path
    ]
    below = [str(Path(sysroot, folder)) for folder in _folders(top.machine)]
    found: dict[str, tuple[str, HostLibrary]] = {}
    missing: list[str] = []
    queue = [*top.needed]
    while queue and len(found) < MOST_LIBRARIES:
        name = queue.pop(0)
        if name in found or name in missing:
            continue
        for path in (str(Path(folder, name)) for folder in (*run_path, *below)):
            try:
                library = read_host_library(open_window(path))
            except CannkitError:
                continue
            if library.machine == top.machine:
                found[name] = path, library
                queue += library.needed
                break
        else:
            missing.append(name)
    return found, missing


def _folders(machine: Machine) -> Iterator[str]:
    yield from FOLDERS
    if machine in MULTIARCH:
        yield from (f"lib/{MULTIARCH[machine]}", f"usr/lib/{MULTIARCH[machine]}")


def _versions(data: ByteView) -> set[str]:
    """Versions that a library defines; none where its tables are broken."""
    try:
        elf = open_elf(data)
        section = next((each for each in elf.sections if each.type == GNU_VERDEF), None)
        if section is None or section.link >= len(elf.sections):
            return set()
        names = elf.strings(elf.sections[section.link])
        return set(_version_names(bytes(elf.contents(section)), names))
    except FormatError:
        return set()


def _version_names(raw: bytes, names: StringTable) -> Iterator[str]:
    at = 0
    for _ in range(MOST_VERSIONS):
        if at + VERDEF_SIZE > len(raw):
            return
        aux, step = (int.from_bytes(raw[at + o : at + o + 4], "little") for o in (12, 16))
        if at + aux + VERDAUX_SIZE <= len(raw):
            yield names.at(int.from_bytes(raw[at + aux : at + aux + 4], "little"))
        if not step:
            return
        at += step
