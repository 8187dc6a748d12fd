"""KernelImage and KernelObject: what CANN sees in an ELF file, read by `read_object`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from cannkit.errors import FormatError, ReadWarning, brief
from cannkit.format.ascend_meta import FUNCTION_SECTION, ImplicitFeature
from cannkit.format.dfx import DfxArgs
from cannkit.format.elf import ElfObject
from cannkit.format.elf_types import ElfType, Section
from cannkit.format.sidecar import Sidecar
from cannkit.image.kernel_meta import NO_META, KernelMeta, MetaReading, Record, Refusal
from cannkit.image.layout import Layout, read_layout
from cannkit.image.meta_reader import read_kernel_meta
from cannkit.image.symbols import GlobalSymbol, KernelSymbol, read_symbols
from cannkit.image.verdict import Verdict, judge
from cannkit.inputs.contents import Container
from cannkit.soc import DEFAULT_SOC, Soc, find_soc

MOST_WARNINGS: Final = 256


class KernelImage(NamedTuple):
    """One global function of an object. `offset` and `length` are bytes of the device image.

    `section` is the meta section it was described in, None where there is none (then `meta` holds
    the runtime's defaults). `dfx` are its argument records, `arg_size` the bytes of its argument
    block by `__CCE_KernelArgSize`.
    """

    name: str
    offset: int
    length: int
    section: Section | None
    meta: KernelMeta
    records: tuple[Record, ...]
    dfx: DfxArgs | None
    arg_size: int | None

    @property
    def section_name(self) -> str | None:
        """Name of the meta section."""
        return FUNCTION_SECTION + self.name if self.section else None


class SidecarFile(NamedTuple):
    """A sidecar and where it was found."""

    file: str
    sidecar: Sidecar


class KernelObject(NamedTuple):
    """A kernel object as the runtime reads it; offsets and sizes in bytes.

    `kernels` keeps symbol table order. `refusals` is empty for an object the runtime accepts;
    `verdict` tells load-from-file and load-from-data apart.
    """

    elf: ElfObject
    soc: Soc
    text_offset: int
    text_size: int
    so_name: str | None
    stack_size: int
    writable_data: bool
    implicit_flags: int
    binary_meta: tuple[Record, ...]
    kernels: tuple[KernelImage, ...]
    func_count: int
    variables: tuple[GlobalSymbol, ...]
    refusals: tuple[Refusal, ...]
    warnings: tuple[ReadWarning, ...]
    file: str = ""
    container: Container | None = None
    sha256: str = ""
    sidecar: SidecarFile | None = None

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return len(self.elf.data)

    @property
    def relocatable(self) -> bool:
        """SEC-12: input for a super kernel link, accepted by the runtime but never loadable."""
        return self.elf.header.type == ElfType.REL

    @property
    def implicit_features(self) -> tuple[ImplicitFeature, ...]:
        """What the binary asks the runtime for, by the bits of `implicit_flags`."""
        bits = self.implicit_flags
        return tuple(ImplicitFeature(bit + 1) for bit in range(32) if bits >> bit & 1)

    @property
    def verdict(self) -> Verdict:
        """Whether the runtime accepts the object from a file and from data."""
        return judge(self.refusals, self.sidecar.sidecar if self.sidecar else None)

    @property
    def dfx_dtype_bits(self) -> int:
        """Bits in the unit of a DFX record's dtype size. DFX-05: the object's own chip decides."""
        tag = self.isa_tag
        in_bytes = tag.dtype_in_bytes if tag else self.soc.dfx_dtype_in_bytes
        return 8 if in_bytes else 1

    @property
    def isa_tag(self) -> IsaTag | None:
        """ELF-07: what e_flags was observed to mean."""
        return ISA_TAGS.get(self.elf.header.flags)

    @property
    def failure(self) -> FormatError | None:
        """The error of an object in which no kernel could be read; None otherwise."""
        if self.kernels or not self.refusals:
            return None
        first = self.refusals[0]
        return FormatError("no kernel can be read", why=first.message, rule=first.rule)


class IsaTag(NamedTuple):
    """ELF-07: a value of e_flags; the meaning is observed, not documented."""

    label: str
    dtype_in_bytes: bool  # DFX-05


ISA_TAGS: Final[Mapping[int, IsaTag]] = {
    0x0093_0000: IsaTag("A2/A3 vector", dtype_in_bytes=True),
    0x0094_0000: IsaTag("A2/A3 cube or mix", dtype_in_bytes=True),
    0x0099_0000: IsaTag("A5", dtype_in_bytes=False),
}


def read_object(elf: ElfObject, soc: Soc | None = None) -> KernelObject:
    """Read what the runtime would read from `elf` on a chip (default Ascend910B1).

    Raises nothing: what is refused stands in `refusals`, what is odd in `warnings`.
    """
    layout = read_layout(elf, soc := soc or find_soc(DEFAULT_SOC))
    symbols = read_symbols(elf, layout)
    sections = _MetaSections(elf, layout, soc)
    kernels = tuple(
        sections.kernel(symbol, symbols.arg_sizes.get(symbol.name)) for symbol in symbols.kernels
    )
    warnings = [*layout.warnings, *symbols.warnings, *sections.warnings]
    if elf.header.data_encoding == 0:  # ELF-01
        warnings.append(
            ReadWarning("byte-order", "offset 0x5", "EI_DATA is 0: read as little endian")
        )
    if elf.byte_order == "big":  # HAZ-02, HAZ-03
        message = "big-endian objects are not usable by the runtime: it misreads their links"
        warnings.append(ReadWarning("big-endian", "offset 0x5", message))
    return KernelObject(
        elf=elf,
        soc=soc,
        text_offset=layout.text_offset,
        text_size=layout.text_size,
        so_name=layout.so_name,
        stack_size=layout.stack_size,
        writable_data=layout.writable_data,
        implicit_flags=layout.implicit_flags,
        binary_meta=tuple(layout.binary_meta),
        kernels=kernels,
        func_count=symbols.func_count,
        variables=tuple(symbols.variables.values()),
        refusals=(*layout.refusals, *symbols.refusals, *sections.refusals),
        warnings=capped(warnings),
    )


def capped(warnings: Sequence[ReadWarning]) -> tuple[ReadWarning, ...]:
    """As many warnings as somebody may read, and how many more there are."""
    if len(warnings) <= MOST_WARNINGS:
        return tuple(warnings)
    more = f"{len(warnings) - MOST_WARNINGS} more warnings"
    return (*warnings[:MOST_WARNINGS], ReadWarning("more-warnings", "object", more))


class _MetaSections:
    """Reads the meta section of each kernel, once for each name (FUN-03, FUN-04)."""

    def __init__(self, elf: ElfObject, layout: Layout, soc: Soc) -> None:
        self.refusals: list[Refusal] = []
        self.warnings: list[ReadWarning] = []
        self._elf = elf
        self._layout = layout
        self._soc = soc
        self._readings: dict[str, MetaReading | None] = {}

    def kernel(self, symbol: KernelSymbol, arg_size: int | None) -> KernelImage:
        """The kernel of a symbol: its meta section, or the runtime's defaults."""
        name = symbol.name
        if name not in self._readings:
            self._readings[name] = self._read(name)
        reading = self._readings[name]
        # kernels of one name share a reading, yet each is shown with all of it
        if reading is None or not self._layout.take(reading.size, name):
            return KernelImage(*symbol, None, NO_META, (), None, arg_size)
        section = self._layout.function_meta[name]
        return KernelImage(*symbol, section, reading.meta, reading.records, reading.dfx, arg_size)

    def _read(self, name: str) -> MetaReading | None:
        sections = self._layout.function_meta
        section = sections.get(name)
        if section is None:
            if sections:  # FUN-04: no warning when the file has no meta section at all
                message = "no meta section of this name: the runtime takes its defaults"
                self.warnings.append(ReadWarning("no-meta", f"kernel {brief(name)}", message))
            return None
        try:
            contents = self._elf.contents(section)
        except FormatError as error:
            self.refusals.append(Refusal("HAZ-06", str(error), rt=False))
            return None
        if not self._layout.can_take(len(contents), name):
            return None
        reading = read_kernel_meta(contents, self._elf.byte_order, section.offset, name, self._soc)
        self.refusals += reading.refusals
        self.warnings += reading.warnings
        return reading
