"""Programs of ours in C and C++, compiled when they are needed, into the user's cache. Spec 07, OPR-810.

A program lies below a digest of its source and target, then of its compiler: one that is there serves where
there is no compiler any more.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.errors import FormatError, InputError, OutputError
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import Machine
from cannkit.format.host_library import read_host_library
from cannkit.inputs.files import open_window, reason
from cannkit.ops.errors import CannotRunError
from cannkit.ops.toolchain import Found, Missing, Tool, Toolchain

CACHE_VAR: Final = "XDG_CACHE_HOME"
NATIVE: Final = Path(__file__).with_name("native")
COMPILE_LIMIT: Final = 120.0
LINES_SHOWN: Final = 5
MINE: Final = 0o700
OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Unit(NamedTuple):
    """A file that is compiled: its name, its sources in `native/`, headers last, and the compiler's options."""

    name: str
    sources: tuple[str, ...]
    options: tuple[str, ...]


RUNNER: Final = (
    Unit(
        "runner",
        ("runner.c", "stand_ins.c", "where.c", "runner.h"),
        ("-std=c11", "-O2", "-fvisibility=hidden", "-fPIE", "-pie", "-rdynamic", "-ldl"),
    ),
)
PROTO_READER: Final = (
    Unit(
        "proto_reader",
        ("proto_reader.cc",),
        ("-std=c++17", "-O1", "-fPIE", "-pie", "-rdynamic", "-ldl"),
    ),
)
HEADER: Final = ".h"


def built_runner(target: Machine, toolchain: Toolchain | None = None) -> str:
    """The runner for a machine. Raises CannotRunError where it cannot be compiled, OutputError without a cache."""
    toolchain = toolchain or Toolchain()
    is_native = target == toolchain.machine
    compiler = toolchain.host_compiler() if is_native else toolchain.cross_compiler()
    return str(built(RUNNER, target, compiler, toolchain.env) / "runner")


def built_proto_reader(toolchain: Toolchain | None = None) -> str:
    """The reader of prototypes, for this machine. Raises as `built_runner`."""
    toolchain = toolchain or Toolchain()
    compiler = toolchain.host_compiler(is_cpp=True)
    return str(built(PROTO_READER, toolchain.machine, compiler, toolchain.env) / "proto_reader")


def built(
    units: tuple[Unit, ...],
    target: Machine | None,
    compiler: Found,
    env: Mapping[str, str],
) -> Path:
    """The folder that has `units`; `env` tells where the cache is. Raises CannotRunError, OutputError."""
    folder = cache_folder(env) / _key(units, target)
    if isinstance(compiler, Missing):
        for each in sorted(folder.iterdir()) if folder.is_dir() else ():
            if _is_whole(each, units, target):
                return each
        hint = compiler.hint
        raise CannotRunError(f"{compiler.what} is missing", why=compiler.why, hint=hint)
    place = folder / _compiler_key(compiler)
    if not _is_whole(place, units, target):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=MINE)
            _compile_all(units, target, compiler, place, _zig_caches(env))
        except OSError as error:
            where, hint = str(folder), f"set {CACHE_VAR} to a folder that can be written"
            raise OutputError(
                "cannot keep a program", where=where, why=reason(error), hint=hint
            ) from error
    return place


def cache_folder(env: Mapping[str, str]) -> Path:
    """Where programs are kept. By the XDG base directories a relative path counts as none."""
    given = env.get(CACHE_VAR, "")
    if not given.startswith("/"):
        given = str(Path(env.get("HOME") or "~").expanduser().absolute() / ".cache")
    return Path(given, "cannkit", "native")


def _key(units: tuple[Unit, ...], target: Machine | None) -> str:
    digest = hashlib.sha256(repr((units, target)).encode())
    for source in sorted({source for unit in units for source in unit.sources}):
        digest.update((NATIVE / source).read_bytes())
    return digest.hexdigest()


def _compiler_key(compiler: Tool) -> str:
    """A compiler that was exchanged has another size or date."""
    state = Path(compiler.path).stat()
    key = repr((compiler.command, state.st_size, state.st_mtime_ns))
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def _is_whole(folder: Path, units: tuple[Unit, ...], target: Machine | None) -> bool:
    """Whether all files are there and are programs, and nobody else could have put them there."""
    files = [folder / unit.name for unit in units]
    try:
        states = [each.stat() for each in (folder, *files)]
    except OSError:
        return False
    return all(
        each.st_uid in (0, os.getuid()) and not each.st_mode & OTHERS_WRITE for each in states
    ) and all(os.access(each, os.X_OK) and _is_program(each, target) for each in files)


def _is_program(file: Path, target: Machine | None) -> bool:
    """Whether a file is a whole program for a machine: a disk that was full leaves a part of one."""
    try:
        return read_host_library(open_window(str(file))).machine == target
    except (FormatError, InputError):
        return False


def _compile_all(
    units: tuple[Unit, ...],
    target: Machine | None,
    compiler: Tool,
    place: Path,
    env: Mapping[str, str],
) -> None:
    """Into a new folder that gets its name when it is whole; of two that compile at once one wins."""
    new = Path(tempfile.mkdtemp(prefix="new-", dir=place.parent))
    try:
        for unit in units:
            _compile(unit, target, compiler, new, env)
        try:
            new.rename(place)
        except OSError:  # what is there is whole by now, or makes room
            if not _is_whole(place, units, target):
                _exchange(place, new)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _exchange(place: Path, new: Path) -> None:
    """Put a folder where something else is."""
    with tempfile.TemporaryDirectory(
        prefix="old-", dir=place.parent, ignore_cleanup_errors=True
    ) as aside:
        place.rename(Path(aside, "old"))
        new.rename(place)


def _zig_caches(env: Mapping[str, str]) -> Mapping[str, str]:
    """Where zig keeps its own: beside ours, for there may be no HOME."""
    place = str(cache_folder(env).with_name("zig"))
    return {"ZIG_GLOBAL_CACHE_DIR": place, "ZIG_LOCAL_CACHE_DIR": place}


def _compile(
    unit: Unit, target: Machine | None, compiler: Tool, folder: Path, env: Mapping[str, str]
) -> None:
    file = folder / unit.name
    sources = [str(NATIVE / each) for each in unit.sources if not each.endswith(HEADER)]
    command = [*compiler.command, *sources, "-o", str(file), *unit.options]
    what = f"cannot compile {unit.sources[0]}"
    hint = "cannkit doctor tells what is installed"
    try:
        code, said = _run(command, folder, {**env, **os.environ})
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRunError(what, where=compiler.path, why=reason(error), hint=hint) from error
    if code or not file.is_file():
        lines = said.decode("utf-8", "replace").splitlines()
        why = "\n".join(lines[:LINES_SHOWN]) or f"it ended with code {code}"
        raise CannotRunError(what, where=compiler.path, why=why, hint=hint)
    file.chmod(MINE)
    if not _is_program(file, target):
        machine = "this machine" if target is None else machine_name(target)
        why = f"it made no program for {machine}"
        raise CannotRunError(what, where=compiler.path, why=why, hint=hint)


def _run(command: list[str], folder: Path, env: Mapping[str, str]) -> tuple[int, bytes]:
    """The code that a compiler ends with, and what it prints; with it ends all that it has started."""
    with subprocess.Popen(  # noqa: S603  (a compiler that the user has)
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=env,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=COMPILE_LIMIT)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    return process.returncode, said
