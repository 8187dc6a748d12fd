"""Compilers, emulator and sysroot that running an operator takes: which are here, and how to get them.

Spec 07, OPR-802. Nothing is started to find one; its version is asked for only where it is shown.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.ae.static_check import host_machine
from cannkit.errors import brief
from cannkit.format.elf_types import Machine

QEMU_VAR: Final = "CANNKIT_QEMU"
SYSROOT_VAR: Final = "CANNKIT_SYSROOT"
QEMU_PREFIX_VAR: Final = "QEMU_LD_PREFIX"
CROSS_VAR: Final = "CANNKIT_AARCH64_CC"
HOST_VAR: Final = "CANNKIT_CC"
HOST_CPP_VAR: Final = "CANNKIT_CXX"
HOST_NAMES: Final = ("gcc", "cc", "clang")
HOST_CPP_NAMES: Final = ("g++", "c++", "clang++")
LOADER: Final = "lib/ld-linux-aarch64.so.1"
SYSROOTS: Final = (
    "/usr/aarch64-linux-gnu",
    "/usr/aarch64-linux-gnu/sys-root",
    "/usr/aarch64-redhat-linux/sys-root",
)
TARGET: Final = "aarch64-linux-gnu"
ASK_LIMIT: Final = 10.0  # seconds for a version
APT: Final = (
    "apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross "
    "libstdc++6-arm64-cross libgomp1-arm64-cross"
)
HOST_HINT: Final = f"apt-get install gcc libc6-dev, or set {HOST_VAR}"
CPP_HINT: Final = f"apt-get install g++, or set {HOST_CPP_VAR}"
CROSS_HINT: Final = f"{APT} (or pip install ziglang), or set {CROSS_VAR}"
QEMU_HINT: Final = f"{APT}, or set {QEMU_VAR}"
SYSROOT_HINT: Final = f"{APT}, or set {SYSROOT_VAR} or --sysroot"


class Tool(NamedTuple):
    """A program with its first arguments, or a directory: what it is for, and where it was found."""

    name: str
    path: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """The words to start it with."""
        return [self.path, *self.arguments]

    @property
    def is_program(self) -> bool:
        """Whether it can be started."""
        return not Path(self.path).is_dir()

    @property
    def version(self) -> str:
        """The first line of what it says of itself, empty where it says nothing. Starts it."""
        try:
            done = subprocess.run(  # noqa: S603  (a tool that the user has)
                [*self.command, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=ASK_LIMIT,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return brief(next(iter(done.stdout.decode("utf-8", "replace").splitlines()), ""))


class Missing(NamedTuple):
    """A tool that is not here: what is missing, why, and what to do."""

    what: str
    hint: str
    why: str = ""


class ToolState(NamedTuple):
    """A line of `cannkit doctor`: what a tool is for, the tool, its version."""

    what: str
    tool: Tool | None
    version: str
    missing: Missing | None


Found = Tool | Missing


class Toolchain:
    """What this machine has, as the environment `env` and its PATH tell."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self.env = os.environ if env is None else env
        self._path = self.env.get("PATH", os.defpath)

    @property
    def machine(self) -> Machine | None:
        """The machine whose code runs here without an emulator."""
        return host_machine()

    def host_compiler(self, *, is_cpp: bool = False) -> Found:
        """A compiler for this machine."""
        name = "a C++ compiler" if is_cpp else "a C compiler"
        var, names = (HOST_CPP_VAR, HOST_CPP_NAMES) if is_cpp else (HOST_VAR, HOST_NAMES)
        given = self._given(name, var, CPP_HINT if is_cpp else HOST_HINT)
        zig = self._zig(name, "c++" if is_cpp else "cc")
        found = self._first(name, *((each,) for each in names), zig)
        return given or found or Missing(name, CPP_HINT if is_cpp else HOST_HINT)

    def cross_compiler(self) -> Found:
        """A C compiler for AArch64."""
        if self.machine == Machine.EM_AARCH64:
            return self.host_compiler()
        name = "a C compiler for AArch64"
        sysroot = self.find_sysroot()
        at = sysroot.path if isinstance(sysroot, Tool) else ""
        found = self._first(
            name,
            (f"{TARGET}-gcc",),
            self._zig(name, "cc", "-target", TARGET),  # it brings all it needs, clang does not
            ("clang", f"--target={TARGET}", f"--sysroot={at}") if at else (),
        )
        return self._given(name, CROSS_VAR, CROSS_HINT) or found or Missing(name, CROSS_HINT)

    def emulator(self) -> Found:
        """qemu-aarch64."""
        name = "the emulator qemu-aarch64"
        found = self._first(name, ("qemu-aarch64",), ("qemu-aarch64-static",))
        return self._given(name, QEMU_VAR, QEMU_HINT) or found or Missing(name, QEMU_HINT)

    def find_sysroot(self, given: str | None = None) -> Found:
        """Where AArch64 libraries are; `given` is the only place where it is not None."""
        name = "an AArch64 sysroot"
        var = ""
        if given is None:
            var = next((each for each in (SYSROOT_VAR, QEMU_PREFIX_VAR) if self.env.get(each)), "")
            given = self.env.get(var)
        own = ("/",) if self.machine == Machine.EM_AARCH64 else ()
        for place in (given,) if given is not None else (*SYSROOTS, *own):
            if Path(place, LOADER).is_file():
                return Tool(name, str(Path(place).absolute()))
        if given is None:
            return Missing(name, SYSROOT_HINT)
        said = f" ({var})" if var else ""
        return Missing(name, SYSROOT_HINT, f"{brief(given)} has no {LOADER}{said}")

    def survey(self, sysroot: str | None = None) -> tuple[ToolState, ...]:
        """All of them, with their versions."""
        return tuple(
            ToolState(found.what, None, "", found)
            if isinstance(found, Missing)
            else ToolState(found.name, found, found.version if found.is_program else "", None)
            for found in (
                self.host_compiler(),
                self.host_compiler(is_cpp=True),
                self.cross_compiler(),
                self.emulator(),
                self.find_sysroot(sysroot),
            )
        )

    def _given(self, name: str, var: str, hint: str) -> Found | None:
        """What a variable of the environment names, if it is set; it is not looked past."""
        words = _words(self.env.get(var, ""))
        if not words:
            return None
        path = shutil.which(words[0], path=self._path)
        if path is None:
            return Missing(name, hint, f"{var} is {brief(words[0])}, which is no program")
        return Tool(name, path, tuple(words[1:]))

    def _first(self, name: str, *commands: tuple[str, ...]) -> Tool | None:
        for command in commands:
            path = shutil.which(command[0], path=self._path) if command else None
            if path:
                return Tool(name, path, command[1:])
        return None

    def _zig(self, name: str, *arguments: str) -> tuple[str, ...]:
        """Zig of PATH, or of the package ziglang."""
        found = self._first(name, ("zig",))
        if found:
            return (found.path, *arguments)
        spec = find_spec("ziglang")
        if spec is None or spec.origin is None:
            return ()
        return (str(Path(spec.origin).with_name("zig")), *arguments)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that nothing closes
        return [text]
