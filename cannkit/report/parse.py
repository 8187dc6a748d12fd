"""The document of `cannkit parse`: one object as cli.md section 2 lays it out."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal, Self, TypedDict

from cannkit.errors import CannkitError, ExitCode, FormatError
from cannkit.format.ascend_meta import BINARY_META
from cannkit.format.elf import read_header
from cannkit.format.elf_types import ByteView, ElfHeader, ElfType, Machine
from cannkit.format.status import RtStatus
from cannkit.image.kernel_object import ISA_TAGS, KernelObject, SidecarFile
from cannkit.image.verdict import Outcome, Verdict
from cannkit.inputs.contents import Container, Input, Unreadable
from cannkit.inputs.files import WHOLE_LIMIT, sha256_hex
from cannkit.report.base import (
    CodeEntry,
    ErrorEntry,
    PlainDict,
    ResultDocument,
    WarningEntry,
    document,
    printable,
)
from cannkit.report.kernel import KernelEntry, MetaEntry
from cannkit.soc import family_in_path, family_of_section


@document
class ContainerEntry:
    """What the object was embedded in, and its name there."""

    kind: Literal["fatbin", "aclnn", "aicore_binary", "archive", "wheel"]
    member: str

    @classmethod
    def of(cls, container: Container | None) -> Self | None:
        """The entry of a container, or None for none."""
        if container is None:
            return None
        return cls(container.kind.value, printable(container.member))


ElfEntry = TypedDict(  # `class` can be no attribute
    "ElfEntry",
    {
        "class": int,
        "endian": Literal["little", "big"],
        "type": str | int,
        "machine": int,
        "machine_name": str | None,
        "flags": int,
        "version": int,
        "arch": str | None,
    },
)


def elf_entry(header: ElfHeader) -> ElfEntry:
    """The ELF header of a document. `arch` is the observed meaning of e_flags."""
    kind, machine = ElfType(header.type), Machine(header.machine)
    tag = ISA_TAGS.get(header.flags)
    return {
        "class": 64,
        "endian": header.byte_order,
        "type": kind.name if kind.known else header.type,
        "machine": header.machine,
        "machine_name": machine.name if machine.known else None,
        "flags": header.flags,
        "version": header.version,
        "arch": tag.label if tag else None,
    }


@document
class GlobalEntry:
    """A variable of the device image; `implicit`: the runtime writes an address to it."""

    name: str
    offset: int
    size: int
    implicit: bool


@document
class SidecarEntry:
    """The JSON beside the object; `raw` is all of it."""

    file: str
    sha256_matches: bool | None
    kernel_name: str | None
    magic: str | None
    core_type: str | None
    kernel_list: tuple[str, ...]
    intercore_sync: int | None
    op_para_size: int | None
    block_dim: int | None
    raw: Any

    @classmethod
    def of(cls, found: SidecarFile, sha256: str) -> Self:
        """The entry of a sidecar, held against the digest of its object."""
        sidecar = found.sidecar
        return cls(
            file=printable(found.file),
            sha256_matches=None if sidecar.sha256 is None else sidecar.sha256.lower() == sha256,
            kernel_name=sidecar.kernel_name,
            magic=sidecar.magic,
            core_type=sidecar.core_type,
            kernel_list=tuple(kernel.name for kernel in sidecar.kernel_list),
            intercore_sync=sidecar.intercore_sync,
            op_para_size=sidecar.op_para_size,
            block_dim=sidecar.block_dim,
            raw=sidecar.raw,
        )


@document
class OutcomeEntry:
    """Accepted, or the rule, runtime code and reason of the refusal."""

    accepted: bool
    rule: str | None
    rt: CodeEntry | None
    message: str | None

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """The entry of an outcome."""
        message = None if outcome.message is None else printable(outcome.message)
        return cls(outcome.accepted, outcome.rule, CodeEntry.of(outcome.rt), message)


@document
class VerdictEntry:
    """What the runtime does with the object, loaded from a file and from data."""

    from_file: OutcomeEntry
    from_data: OutcomeEntry

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """The entry of a verdict."""
        return cls(OutcomeEntry.of(verdict.from_file), OutcomeEntry.of(verdict.from_data))


@document
class ParseDocument(ResultDocument):
    """One object, or the error that kept it from being read (then most keys are null)."""

    SCHEMA: ClassVar[str] = "cannkit.parse/1"
    file: str
    size: int | None
    sha256: str | None
    container: ContainerEntry | None
    elf: Annotated[ElfEntry, PlainDict()] | None
    text_offset: int | None
    text_size: int | None
    so_name: str | None
    stack_size: int | None
    writable_data: bool | None
    relocatable: bool | None
    implicit_flags: int | None
    implicit: tuple[str, ...]
    binary_meta: tuple[MetaEntry, ...]
    kernels: tuple[KernelEntry, ...]
    globals: tuple[GlobalEntry, ...]
    sidecar: SidecarEntry | None
    verdict: VerdictEntry | None
    warnings: tuple[WarningEntry, ...]
    error: ErrorEntry | None

    @classmethod
    def of(cls, obj: KernelObject, kernels: Sequence[str] = ()) -> Self:
        """The document of an object, with the kernels that match one of the patterns (or all)."""
        unit, failure = obj.dfx_dtype_bits, obj.failure
        file, container = printable(obj.file), ContainerEntry.of(obj.container)
        shown = (kernel for kernel in obj.kernels if _matches(kernel.name, kernels))
        return cls(
            file=file,
            size=obj.size,
            sha256=obj.sha256,
            container=container,
            elf=elf_entry(obj.elf.header),
            text_offset=obj.text_offset,
            text_size=obj.text_size,
            so_name=None if obj.so_name is None else printable(obj.so_name),
            stack_size=obj.stack_size,
            writable_data=obj.writable_data,
            relocatable=obj.relocatable,
            implicit_flags=obj.implicit_flags,
            implicit=tuple(feature.name for feature in obj.implicit_features),
            binary_meta=tuple(MetaEntry.of(record, BINARY_META) for record in obj.binary_meta),
            kernels=tuple(KernelEntry.of(kernel, unit) for kernel in shown),
            globals=tuple(
                GlobalEntry(printable(symbol.name), symbol.offset, symbol.size, symbol.implicit)
                for symbol in obj.variables
            ),
            sidecar=None if obj.sidecar is None else SidecarEntry.of(obj.sidecar, obj.sha256),
            verdict=VerdictEntry.of(obj.verdict),
            warnings=tuple(map(WarningEntry.of, obj.warnings)),
            error=None if failure is None else ErrorEntry.of(failure, _place(file, container)),
        )

    @classmethod
    def failed(cls, item: Input | Unreadable, error: CannkitError) -> Self:
        """The document of an input that could not be read: as much of it as there is."""
        data = item.data if isinstance(item, Input) else None
        file, container = printable(item.file), ContainerEntry.of(item.container)
        return cls(
            file=file,
            size=None if data is None else len(data),
            sha256=None if data is None else _digest(data),
            container=container,
            elf=None if data is None else _header_entry(data),
            text_offset=None,
            text_size=None,
            so_name=None,
            stack_size=None,
            writable_data=None,
            relocatable=None,
            implicit_flags=None,
            implicit=(),
            binary_meta=(),
            kernels=(),
            globals=(),
            sidecar=None,
            verdict=_refused(error),
            warnings=(),
            error=ErrorEntry.of(error, _place(file, container)),
        )

    @property
    def exit_code(self) -> ExitCode:
        """An object in which no kernel can be read is malformed input."""
        return ExitCode.OK if self.error is None else ExitCode.INPUT

    @property
    def place(self) -> str:
        """File and member, as one text."""
        return _place(self.file, self.container)

    @property
    def has_content(self) -> bool:
        """Whether at least the ELF header could be read."""
        return self.elf is not None

    @property
    def family(self) -> str | None:
        """The SoC family, such as Ascend910B, by fatbin section or directory; None if unnamed."""
        if self.container is not None and self.container.kind == "fatbin":
            return family_of_section(self.container.member.rpartition("!")[2])
        return family_in_path(self.place)


def _place(file: str, container: ContainerEntry | None) -> str:
    return file if container is None else f"{file}!{container.member}"


STRICTER = ("ELF-01", "HAZ-")  # cannkit refuses, the runtime would read out of bounds


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _header_entry(data: ByteView) -> ElfEntry | None:
    try:
        return elf_entry(read_header(data))
    except CannkitError:
        return None


def _digest(data: ByteView) -> str | None:
    """The digest of bytes that are no object: not of gigabytes, nor where they cannot be read."""
    try:
        return sha256_hex(data) if len(data) <= WHOLE_LIMIT else None
    except CannkitError:
        return None


def _refused(error: CannkitError) -> VerdictEntry | None:
    """ELF-03: whatever fails before the symbols makes the runtime answer INVALID_VALUE."""
    if not isinstance(error, FormatError):
        return None
    ours = error.rule is None or error.rule.startswith(STRICTER)
    code = None if ours else CodeEntry.of(RtStatus.INVALID_VALUE)
    outcome = OutcomeEntry(False, error.rule, code, printable(str(error)))
    return VerdictEntry(outcome, outcome)
