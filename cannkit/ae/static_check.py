"""What can be told of a library without loading it: why it will not load, what it lacks. Spec 05, AE-1204.

Nothing here runs foreign code. Libraries that it needs are looked for where glibc looks, without
ld.so.cache; what is not found there is a remark, never a refusal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from cannkit.errors import CannkitError, brief
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import ByteView, Machine
from cannkit.format.host_library import HostLibrary, read_host_library
from cannkit.inputs.files import FileWindow, open_window

TRIPLETS: Final = {
    Machine.EM_X86_64: "x86_64-linux-gnu",
    Machine.EM_AARCH64: "aarch64-linux-gnu",
    Machine.EM_RISCV: "riscv64-linux-gnu",
    Machine.EM_LOONGARCH: "loongarch64-linux-gnu",
}
MACHINES: Final = {  # as uname names them
    "x86_64": Machine.EM_X86_64,
    "aarch64": Machine.EM_AARCH64,
    "riscv64": Machine.EM_RISCV,
    "loongarch64": Machine.EM_LOONGARCH,
}
FOLDERS: Final = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib64", "/usr/local/lib")
PROCESS: Final = ("libc.so.6", "libm.so.6")  # every process has them, whether asked for or not
ORIGIN: Final = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})")
MOST_LIBRARIES: Final = 64  # of a tree of libraries that need each other
MOST_WORK: Final = 2_000_000  # get_close_matches takes the square of a name's length, for each name
NEAREST: Final = 3
SHOWN: Final = 5
NO_NAME: Final = "no symbol has an empty name"


class HostedFiles(Protocol):
    """Files that lie on this machine, perhaps under other paths."""

    def host_path(self, path: str) -> str:
        """Where a path that was resolved lies on this machine."""


class Checked(NamedTuple):
    """A library, None where it cannot be read, and `why` it will not load; empty when it may."""

    library: HostLibrary | None
    why: str = ""


class Placed(NamedTuple):
    """A library and where it lies on this machine."""

    path: str
    library: HostLibrary


def host_machine() -> Machine | None:
    """The machine that this process runs on, None for one that cannot load a 64-bit library."""
    return MACHINES.get(os.uname().machine)


def open_hosted(files: HostedFiles, path: str) -> FileWindow:
    """The file at a resolved path; raises InputError where it cannot be read."""
    return open_window(files.host_path(path), name=path)


def check_library(data: ByteView, machine: int | None) -> Checked:
    """AE-1204, step 5: whether `machine` would load a library; without one no machine is ruled out.

    Raises InputError where the file cannot be read.
    """
    try:
        library = read_host_library(data)
    except CannkitError as error:
        if error.kind != "format":
            raise
        return Checked(None, str(error))
    if library.is_pie:
        return Checked(library, "it is a program (PIE), not a shared library")
    if machine is not None and library.machine != machine:
        why = f"it is for {machine_name(library.machine)}, this machine is {machine_name(machine)}"
        return Checked(library, why)
    return Checked(library)


def missing_export(library: HostLibrary, name: str) -> str:
    """Why a library has no function of a name, and what comes near it."""
    text = brief(name)
    if not name:
        return NO_NAME
    if name in library.undefined or name in library.undefined_weak:
        return f"it uses {text}, but does not define it"
    mangled = [each for each in library.exports if _is_mangled(each, name)]
    if mangled:  # AE-1208
        return f'exported only as {_some(mangled)}: extern "C" is missing'
    near = nearest_exports(library, name)
    return f"it does not export {text}" + (f"; near: {_some(near)}" if near else "")


def missing_globally(libraries: Iterable[HostLibrary], name: str) -> str:
    """Why no library of some has a function of a name."""
    for library in libraries:
        if any(_is_mangled(each, name) for each in library.exports):
            return missing_export(library, name)
    return f"no library that was opened exports {brief(name)}" if name else NO_NAME


def _is_mangled(symbol: str, name: str) -> bool:
    """Whether C++ made `symbol` of a function called `name`."""
    if not symbol.startswith("_Z"):
        return False
    part = f"{len(name.encode('utf-8', 'surrogateescape'))}{name}"
    at = symbol.find(part)
    return at > 0 and not symbol[at - 1].isdigit()


def nearest_exports(library: HostLibrary, name: str) -> list[str]:
    """Exports whose names are nearly this one, the nearest first."""
    folded = name.casefold()
    same = [each for each in library.exports if each.casefold() == folded]
    if same or len(name) > 256:
        return same[:NEAREST]
    names = [each for each in library.exports if abs(len(each) - len(name)) <= 3]
    most = MOST_WORK // max(len(name), 1) ** 2
    names.sort(key=lambda each: each[:4].casefold() != folded[:4])  # those that begin alike first
    return get_close_matches(name, names[:most], NEAREST, 0.7)


def _some(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(brief, names[:SHOWN])) + more


def dependencies(
    top: Placed, lib_path: Sequence[str] = (), missing: list[str] | None = None
) -> Iterator[Placed]:
    """The libraries that one needs, breadth first, as far as this machine has them.

    `missing` gets the names of those that were not found.
    """
    seen = set(filter(None, (top.library.soname,)))
    queue = [top]
    while queue:
        parent = queue.pop(0)
        for name in parent.library.needed:
            if name in seen:
                continue
            seen.add(name)
            found = _find(name, parent, lib_path) if len(seen) <= MOST_LIBRARIES else None
            if found is not None:
                queue.append(found)
                yield found
            elif missing is not None:
                missing.append(name)


def _find(name: str, parent: Placed, lib_path: Sequence[str]) -> Placed | None:
    """DT_NEEDED: a path when it has a slash, else searched in the order of glibc."""
    folder = str(Path(parent.path).parent)
    machine = parent.library.machine
    if "/" in name:
        return _read(name, machine)
    run_path = [ORIGIN.sub(lambda _: folder, each) for each in parent.library.run_path]
    triplet = TRIPLETS.get(machine)
    system = [f"/lib/{triplet}", f"/usr/lib/{triplet}"] if triplet else []
    for place in (*lib_path, *run_path, *system, *FOLDERS):
        found = _read(f"{place}/{name}", machine)
        if found is not None:
            return found
    return None


def _read(path: str, machine: int) -> Placed | None:
    """The library at a path; None where there is none for this machine, or the path is relative."""
    if not path.startswith("/"):
        return None
    try:
        checked = check_library(open_window(path), machine)
    except CannkitError:  # the search goes on
        return None
    return None if checked.why or checked.library is None else Placed(path, checked.library)


def unresolved(
    top: Placed, lib_path: Sequence[str] = (), others: Iterable[HostLibrary] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that no library at hand defines, and needed libraries that were not found.

    `others` are libraries that were opened before, which define names for this one, too.
    """
    names = dict.fromkeys(top.library.undefined)
    missing: list[str] = []
    for each in (top.library, *others):
        _strike(names, each)
    for placed in dependencies(top, lib_path, missing):
        _strike(names, placed.library)
    for name in PROCESS if names else ():
        found = _find(name, top, ())
        if found is not None:
            _strike(names, found.library)
    return tuple(names), tuple(missing)


def _strike(names: dict[str, None], library: HostLibrary) -> None:
    for name in names.keys() & library.exports.keys():
        del names[name]


def remarks_of(names: Sequence[str], missing: Sequence[str]) -> tuple[str, ...]:
    """Q-17: what `unresolved` found, in words. Of a library that is missing nothing else is known."""
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        return (f"it needs {_some(missing)}, which {verb} not found on this machine",)
    if names:
        which = "it" if len(names) == 1 else "one"
        end = f"a call that reaches {which} ends the process"
        return (f"nothing that it needs defines {_some(names)}: {end}",)
    return ()
