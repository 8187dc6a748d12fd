"""BinaryLoader: from a file or bytes, with options, to a registered program. Spec 02, sections 4, 5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cannkit.errors import CannkitError, FormatError
from cannkit.format.elf import open_elf
from cannkit.format.elf_types import ByteView
from cannkit.format.sidecar import MAGIC, MAX_SIZE, Sidecar, read_sidecar
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_object import KernelObject, read_object
from cannkit.image.reader import sidecar_path
from cannkit.image.verdict import judge
from cannkit.inputs.files import FILE_LIMIT, FileView, MemoryFiles
from cannkit.runtime.cpu_ops import read_cpu_ops
from cannkit.runtime.kernel import AttrType, cpu_kernel
from cannkit.runtime.load_options import (
    KERNEL_MAGICS,
    PLAIN_MAGICS,
    LoadOptions,
    LoadSettings,
    Magic,
    magic_attr,
    read_options,
)
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.program import ElfProgram, PlainProgram, chip_default
from cannkit.runtime.program_base import Flow, Program
from cannkit.runtime.so_name import SoNames, with_extension
from cannkit.soc import Soc

PATH_LIMIT: Final = 4096  # LDR-5
SO_LIMIT: Final = (1 << 31) - 1


def _as_given(path: str) -> str:
    return path


@dataclass(frozen=True)
class BinaryLoader:
    """Takes binaries in on one chip, into one pool; what it makes changes, it does not.

    `files` is where paths are looked up, `resolve` follows the symlinks of a path, `lenient` loads what
    is refused only for being compiled with printf (QK-4).
    """

    soc: Soc
    pool: ProgramPool = field(default_factory=ProgramPool)
    names: SoNames = field(default_factory=SoNames)
    files: FileView = field(default_factory=MemoryFiles)
    resolve: Callable[[str], str] = _as_given
    lenient: bool = False

    def load_from_file(self, path: str, options: LoadOptions | None = None) -> Program:
        """aclrtBinaryLoadFromFile, rtsBinaryLoadFromFile. LDR-2, LDR-5.

        Raises RtError, 107000 to the caller whatever failed; then nothing is left in the pool.
        """
        settings = read_options(options, path, self.names)
        try:
            if settings.cpu_mode is not None:
                return self._load_cpu_file(settings)
            real = self.resolve(path)
            raw = self._read(real, FILE_LIMIT, "kernel object")
            return self._take(self._open(memoryview(raw)), settings, beside=real)
        except RtError as error:
            raise error.inside(path).collapsed() from error

    def load_from_data(self, data: ByteView, options: LoadOptions | None = None) -> Program:
        """aclrtBinaryLoadFromData, rtsBinaryLoadFromData. LDR-6; no sidecar is read.

        `data` must not change afterwards. Raises RtError, 107000 to the caller whatever failed.
        """
        _not_empty(data)
        settings = read_options(options, data, self.names)
        if settings.cpu_mode is not None:
            program = PlainProgram(self.soc)  # CPU-2: neither JSON nor pool
            program.so_name = settings.so_name
            program.keep(data, settings.cpu_mode)
            return program
        try:
            return self._take(self._open(data), settings)
        except RtError as error:
            raise error.collapsed() from error

    def load_object(self, obj: KernelObject, *, lazy: bool = False) -> ElfProgram:
        """The same as from a file, for an object read already, with the sidecar it has.

        Raises RtError, 107000 to the caller whatever failed.
        """
        sidecar = obj.sidecar.sidecar if obj.sidecar else None
        try:
            return self._take(obj, LoadSettings(lazy), sidecar=sidecar)
        except RtError as error:
            raise error.collapsed() from error

    def load_without_tiling(self, data: ByteView) -> ElfProgram:
        """aclrtBinaryLoad, rtBinaryLoadWithoutTilingKey: the old flow without entries. POL-4.

        Raises RtError: 207000 on a chip without it, 107000 for no bytes or a refused object, 507032.
        """
        if not self.soc.loads_without_tiling:
            why = f"{self.soc.chip} cannot load without tiling keys"
            raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "aclrtBinaryLoad is not supported", why=why)
        return self._take_old(data, Flow.WITHOUT_TILING, 0)

    def load_old(self, data: ByteView, magic: int = Magic.ELF) -> ElfProgram:
        """rtBinaryLoad, rtRegisterAllKernel: the old flow with every entry. POL-4.

        Raises RtError: 107000 for another magic, no bytes or a refused object, 507032.
        """
        if magic not in KERNEL_MAGICS:
            why = f"magic {magic:#x} is not that of an ELF kernel object"
            raise RtError(RtStatus.INVALID_VALUE, "cannot register the binary", why=why)
        return self._take_old(data, Flow.OLD, magic)

    def register_binary(self, data: ByteView, magic: int = Magic.ELF) -> Program:
        """rtDevBinaryRegister: a binary whose kernels come one by one, under host stubs. POL-10.

        Raises RtError: 107000 for an unknown magic, no bytes or a refused object, 507032.
        """
        if not Magic(magic).known:
            why = f"magic {magic:#x} is unknown"
            raise RtError(RtStatus.INVALID_VALUE, "cannot register the binary", why=why)
        if magic not in PLAIN_MAGICS:
            return self._take_old(data, Flow.STUBS, magic)
        _not_empty(data)
        program = PlainProgram(self.soc, Flow.STUBS, magic_attr(magic, self.soc))
        program.magic = magic
        program.keep(data)
        self.pool.add(program)
        return program

    def _open(self, data: ByteView) -> KernelObject:
        try:
            return read_object(open_elf(data), self.soc)
        except FormatError as error:
            raise RtError(
                RtStatus.INVALID_VALUE, "cannot register the object", why=str(error)
            ) from error

    def _take(
        self,
        obj: KernelObject,
        settings: LoadSettings,
        *,
        beside: str | None = None,
        sidecar: Sidecar | None = None,
    ) -> ElfProgram:
        """LDR-5, steps 3 to 7; `beside` is the resolved path, whose sidecar is read."""
        attr = magic_attr(settings.magic, self.soc) if settings.magic else None
        program = ElfProgram(obj, Flow.NEW, attr)
        program.magic, program.is_lazy = settings.magic, settings.lazy
        self.pool.add(program)
        try:
            if beside is not None:
                sidecar = self._sidecar_of(program, beside)
            if sidecar is not None:
                _apply_sidecar(program, sidecar, lenient=self.lenient)
            program.register_kernels()
        except RtError:
            self.pool.remove(program.id)
            raise
        return program

    def _take_old(self, data: ByteView, flow: Flow, magic: int) -> ElfProgram:
        _not_empty(data)
        attr = magic_attr(magic, self.soc) if magic else None
        program = ElfProgram(self._open(data), flow, attr)
        program.magic = magic
        self.pool.add(program)
        try:
            program.register_kernels()
        except RtError:
            self.pool.remove(program.id)
            raise
        return program

    def _sidecar_of(self, program: ElfProgram, path: str) -> Sidecar | None:
        """LDR-7: the sidecar at the path that the runtime makes up; missing or bad, it is as none."""
        found = with_extension(path, ".json")
        natural = sidecar_path(path)
        try:
            raw = self.files.read(found, MAX_SIZE)
            if raw is not None:
                return read_sidecar(raw)
            message = "there is no sidecar: loaded without it"
            if natural != found and self.files.read(natural, MAX_SIZE) is not None:  # QK-22
                message = f"the runtime looks for the sidecar here, not at {natural}"
            program.warn("no-sidecar", found, message)
        except CannkitError as error:
            program.warn("sidecar-unreadable", found, f"{error}: loaded without it")
        return None

    def _load_cpu_file(self, settings: LoadSettings) -> PlainProgram:
        """CPU-2, modes 0 and 1: operators by their JSON; in mode 1 the library is read first."""
        program = PlainProgram(self.soc)
        program.so_name = settings.so_name
        if settings.cpu_mode == 1:
            real = self.resolve(settings.so_path)
            program.keep(memoryview(self._read(real, SO_LIMIT, "library")), 1, real)
        json = with_extension(settings.so_path, ".json")
        try:
            ops = read_cpu_ops(self._read(json, MAX_SIZE, "operator JSON"))
        except FormatError as error:
            what = "cannot register the operators"
            raise RtError(RtStatus.INVALID_VALUE, what, where=json, why=str(error)) from error
        program.warnings += ops.warnings
        program.enter(cpu_kernel(op) for op in ops.ops)
        self.pool.add(program)
        return program

    def _read(self, path: str, limit: int, what: str) -> bytes:
        """LDR-5: the bytes of a file; QK-25: a regular one."""
        why = ""
        raw: bytes | None = None
        if not path:
            why = "the path is empty"
        elif len(path.encode("utf-8", "surrogateescape")) >= PATH_LIMIT:
            why = f"the path has {PATH_LIMIT} bytes or more"
        else:
            try:
                raw = self.files.read(path, limit)
                why = "it is empty" if raw is not None else "no such file"
            except CannkitError as error:
                why = error.why
        if not raw:
            raise RtError(RtStatus.INVALID_VALUE, f"cannot read the {what}", where=path, why=why)
        return raw


def _apply_sidecar(program: ElfProgram, sidecar: Sidecar, *, lenient: bool) -> None:
    """LDR-7. Raises RtError (107000) for debugOptions that the runtime refuses."""
    program.core_sync = sidecar.intercore_sync == 1
    outcome = judge((), sidecar).from_file
    if not outcome.accepted and not (lenient and outcome.rt is RtStatus.FEATURE_NOT_SUPPORT):
        status, why = outcome.rt or RtStatus.INVALID_VALUE, outcome.message or ""
        hint = "load it from data (--from-data), as an operator package would"
        raise RtError(status, "the sidecar keeps it from loading", why=why, hint=hint)
    magic = MAGIC.get(sidecar.magic or "")
    if magic is not None:
        program.magic, program.default_attr = magic, magic_attr(magic, program.soc)
        return
    if program.default_attr is AttrType.AICPU:  # QK-5
        message = f"magic {sidecar.magic!r}: the AI CPU machine of the object no longer counts"
        program.warn("sidecar-magic", "sidecar", message)
    program.default_attr = chip_default(program.soc)


def _not_empty(data: ByteView) -> None:
    if not len(data):
        raise RtError(RtStatus.INVALID_VALUE, "cannot register the binary", why="it has no bytes")
