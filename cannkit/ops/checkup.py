"""What this machine can do with AI CPU operators, tried out: native calls, emulation, prototypes. Spec 07, OPR-802."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.errors import CannkitError, sentence
from cannkit.ops.build import built_proto_reader, built_runner, cache_folder
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job
from cannkit.ops.runner import Runner
from cannkit.ops.toolchain import Missing, Tool, Toolchain

MAPS: Final = Path("/proc/self/maps")
SYSROOT_LIBC: Final = "lib/libc.so.6"


class What(StrEnum):
    """An ability."""

    NATIVE = "native"
    EMULATION = "emulation"
    PROTOTYPES = "prototypes"
    ARRAYS = "arrays"


MEANING: Final[Mapping[What, str]] = {
    What.NATIVE: "call operators that were built for this machine",
    What.EMULATION: "call operators of AArch64 under qemu",
    What.PROTOTYPES: "read attributes from a package's op_proto library",
    What.ARRAYS: "call operators with numpy arrays from Python",
}


class Ability(NamedTuple):
    """What can be done here, or `why` it cannot and what to do about it."""

    what: What
    works: bool
    why: str = ""
    hint: str = ""


class Cache(NamedTuple):
    """Where compiled programs are kept; how many there are, and their bytes."""

    path: str
    is_writable: bool
    programs: int
    size: int


def checkup(toolchain: Toolchain, sysroot: str | None = None) -> tuple[Ability, ...]:
    """Try each ability; programs that are missing in the cache are compiled."""
    return tuple(
        _tried(what, attempt)
        for what, attempt in (
            (What.NATIVE, lambda: _run(toolchain, emulate=False)),
            (What.EMULATION, lambda: _run(toolchain, emulate=True, sysroot=sysroot)),
            (What.PROTOTYPES, lambda: built_proto_reader(toolchain)),
            (What.ARRAYS, _find_numpy),
        )
    )


def cache_state(toolchain: Toolchain) -> Cache:
    """The cache as it is; nothing is made."""
    folder = cache_folder(toolchain.env)
    above = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    files = [each for each in folder.glob("*/*/*") if each.is_file()]
    size = sum(each.stat().st_size for each in files)
    return Cache(str(folder), os.access(above, os.W_OK | os.X_OK), len(files), size)


def _tried(what: What, attempt: Callable[[], object]) -> Ability:
    try:
        attempt()
    except CannkitError as error:
        return Ability(what, False, sentence(error.what, error.where, error.why), error.hint or "")
    return Ability(what, True)


def _run(toolchain: Toolchain, *, emulate: bool, sysroot: str | None = None) -> None:
    """Build the runner and load the C library with it. Raises CannkitError."""
    library = _sysroot_libc(toolchain, sysroot) if emulate else _own_libc()
    if library is None:  # it is linked into the interpreter
        if toolchain.machine is None:
            raise CannotRunError("no operator runs here", why="the machine is not known")
        built_runner(toolchain.machine, toolchain)
        return
    outcome = Runner(toolchain).run(Job(library), emulate=emulate, sysroot=sysroot)
    verdict = outcome.verdict()
    if verdict is not None:
        raise CannotRunError(verdict.what, where=library, why="; ".join(verdict.hints))


def _sysroot_libc(toolchain: Toolchain, sysroot: str | None) -> str:
    """The C library that the emulator loads. Raises CannotRunError where something is missing."""
    found = toolchain.find_sysroot(sysroot)
    for each in (toolchain.emulator(), found):
        if isinstance(each, Missing):
            raise CannotRunError(f"{each.what} is missing", why=each.why, hint=each.hint)
    assert isinstance(found, Tool)
    return str(Path(found.path, SYSROOT_LIBC))


def _own_libc() -> str | None:
    """The C library of this process."""
    for line in MAPS.read_text("utf-8", "replace").splitlines():
        path = line.split(maxsplit=5)[5:]
        if path and Path(path[0]).name.startswith(("libc.so", "libc-", "ld-musl")):
            return path[0]
    return None


def _find_numpy() -> None:
    if find_spec("numpy") is None:
        raise CannotRunError("numpy is missing", hint="pip install numpy")
