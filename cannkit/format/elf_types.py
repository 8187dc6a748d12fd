"""Numbers and records of ELF64: header, section, symbol, and their layouts. Spec 01, sections 1-3."""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple, Protocol

from cannkit.format.bits import OpenEnum

MAGIC = b"\x7fELF"
HEADER_SIZE = 64
SECTION_SIZE = 64
SYMBOL_SIZE = 24

SHF_ALLOC = 2
SHN_UNDEF = 0

ByteOrder = Literal["little", "big"]
PREFIX: dict[ByteOrder, str] = {"little": "<", "big": ">"}


class ByteView(Protocol):
    """Bytes that can be cut: a memoryview, or a window of a file too large to hold."""

    def __len__(self) -> int: ...

    def __getitem__(self, span: slice, /) -> memoryview: ...


class ElfClass(OpenEnum):
    """e_ident[EI_CLASS]."""

    ELF32 = 1
    ELF64 = 2


class ElfType(OpenEnum):
    """e_type."""

    REL = 1
    EXEC = 2
    DYN = 3


class Machine(OpenEnum):
    """e_machine. ELF-04: AI Core objects of every chip generation carry one number."""

    EM_386 = 3
    EM_ARM = 40
    EM_X86_64 = 62
    EM_AARCH64 = 183
    EM_RISCV = 243
    EM_LOONGARCH = 258
    EM_ASCEND_AI_CORE = 0x1029


HOST_MACHINES = frozenset(Machine) - {Machine.EM_ASCEND_AI_CORE}


class SectionType(OpenEnum):
    """sh_type, as far as the runtime or a listing needs it."""

    NULL = 0
    PROGBITS = 1
    SYMTAB = 2
    STRTAB = 3
    RELA = 4
    HASH = 5
    DYNAMIC = 6
    NOTE = 7
    NOBITS = 8
    REL = 9
    DYNSYM = 11
    GROUP = 17
    LLVM_ADDRSIG = 0x6FFF4C03


class Binding(OpenEnum):
    """Upper half of st_info."""

    LOCAL = 0
    GLOBAL = 1
    WEAK = 2


class SymbolType(OpenEnum):
    """Lower half of st_info."""

    NOTYPE = 0
    OBJECT = 1
    FUNC = 2
    SECTION = 3
    FILE = 4


class Visibility(OpenEnum):
    """Lower two bits of st_other."""

    DEFAULT = 0
    INTERNAL = 1
    HIDDEN = 2
    PROTECTED = 3


class ElfHeader(NamedTuple):
    """The ELF64 file header, `e_ident` cut into class and data byte. Spec 01, section 1."""

    elf_class: int
    data_encoding: int
    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int

    @property
    def byte_order(self) -> ByteOrder:
        """ELF-01: 2 is big endian, anything else little."""
        return "big" if self.data_encoding == 2 else "little"


class Section(NamedTuple):
    """A section header of 64 bytes. Spec 01, section 2."""

    name_offset: int
    type: int
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int


class Symbol(NamedTuple):
    """A symbol of 24 bytes. Spec 01, section 3."""

    name_offset: int
    info: int
    other: int
    section_index: int
    value: int
    size: int

    @property
    def type(self) -> int:
        """STT_*: the lower half of st_info."""
        return self.info & 15

    @property
    def binding(self) -> int:
        """STB_*: the upper half of st_info."""
        return self.info >> 4

    @property
    def visibility(self) -> int:
        """STV_*: the lower two bits of st_other."""
        return self.other & 3


def _both_orders(layout: str) -> dict[ByteOrder, struct.Struct]:
    return {order: struct.Struct(prefix + layout) for order, prefix in PREFIX.items()}


HEADER_STRUCT = _both_orders("4xBB10xHHIQQQIHHHHHH")  # the fields of ElfHeader
SECTION_STRUCT = _both_orders("IIQQQQIIQQ")  # of Section
SYMBOL_STRUCT = _both_orders("IBBHQQ")  # of Symbol
