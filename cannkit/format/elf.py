"""ElfObject: header, sections and symbols of an ELF64 file. Spec 01, sections 1 to 3.

The reader follows the CANN runtime, not the ELF standard: program headers, relocations and
SHT_DYNSYM are ignored, the magic of a section is its name. Every bound is checked before a read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Self

from cannkit.errors import FormatError
from cannkit.format.elf_types import (
    HEADER_SIZE,
    HEADER_STRUCT,
    MAGIC,
    SECTION_SIZE,
    SECTION_STRUCT,
    SYMBOL_SIZE,
    SYMBOL_STRUCT,
    ByteOrder,
    ByteView,
    ElfClass,
    ElfHeader,
    Section,
    SectionType,
)

SYMBOLS_AT_ONCE = 1 << 16
NAMES_FACTOR = 4  # names of a linked object share their tails at most
LONGEST_NAME = 1 << 16
SPARE_NAMES = 1 << 16
LARGEST_TABLE = 64 << 20  # no section that is read whole is nearly as large


def read_header(data: ByteView) -> ElfHeader:
    """The file header of `data`.

    Raises FormatError (ELF-01, ELF-02) when it is shorter than 64 bytes, lacks the magic, is not
    ELFCLASS64, or names an unknown byte order.
    """
    if len(data) < HEADER_SIZE:
        raise FormatError(
            "not a kernel object", why=f"{len(data)} bytes, an ELF header takes 64", rule="ELF-01"
        )
    head = data[0:HEADER_SIZE]
    if head[:4] != MAGIC:
        magic = head[:4].hex()
        raise FormatError(
            "not a kernel object",
            where="offset 0x0",
            why=f"starts with {magic}, not with the ELF magic 7f454c46",
            rule="ELF-01",
        )
    order: ByteOrder = "big" if head[5] == 2 else "little"
    header = ElfHeader._make(HEADER_STRUCT[order].unpack(head))
    if header.elf_class != ElfClass.ELF64:
        raise FormatError(
            "not a 64-bit ELF file",
            where="offset 0x4",
            why=f"EI_CLASS is {header.elf_class}, not 2",
            rule="ELF-02",
        )
    if header.data_encoding > 2:
        raise FormatError(
            "unknown byte order",
            where="offset 0x5",
            why=f"EI_DATA is {header.data_encoding}, not 1 (little) or 2 (big)",
            rule="ELF-01",
        )
    return header


class StringTable:
    """The bytes of a string section, or of nothing; names are cut out up to their NUL.

    Changes: counts what `at` gives away, for names that overlap could add up to any amount.
    """

    __slots__ = ("_bytes", "_left")

    def __init__(self, raw: bytes = b"") -> None:
        self._bytes = raw
        self._left = SPARE_NAMES + NAMES_FACTOR * len(raw)

    def __len__(self) -> int:
        return len(self._bytes)

    def bytes_at(self, offset: int, limit: int = LONGEST_NAME) -> bytes:
        """The name at `offset`, at most `limit` bytes of it; empty from the table's end on."""
        stop = offset + limit
        end = self._bytes.find(b"\0", offset, stop)
        return self._bytes[offset : end if end >= 0 else stop]

    def at(self, offset: int, limit: int = LONGEST_NAME) -> str:
        """The same as text; bytes that are not UTF-8 become surrogates (HAZ-18).

        Raises FormatError (HAZ-15) when all names given so far are several times the table.
        """
        raw = self.bytes_at(offset, limit)
        self._left -= len(raw)
        if self._left < 0:
            raise FormatError(
                "names overlap",
                where=f"string table offset {offset:#x}",
                why=f"they add up to several times the table's {len(self)} bytes",
                rule="HAZ-15",
            )
        return raw.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class ElfObject:
    """A parsed ELF file: what it says of itself, with no knowledge of CANN."""

    data: ByteView
    header: ElfHeader
    sections: tuple[Section, ...]
    section_names: StringTable
    has_name_table: bool

    def __reduce__(self) -> tuple[object, ...]:
        """So that it can leave its process: as its bytes, which are read again."""
        return _reopened, (bytes(self.data[0 : len(self.data)]),)

    @property
    def byte_order(self) -> ByteOrder:
        """Byte order of everything but the DFX records."""
        return self.header.byte_order

    def section_name(self, section: Section, limit: int = LONGEST_NAME) -> str:
        """The section's name as text, at most `limit` bytes of it."""
        raw = self.section_names.bytes_at(section.name_offset, limit)
        return raw.decode("utf-8", "surrogateescape")

    def contents(self, section: Section) -> memoryview:
        """The bytes of a section.

        Raises FormatError (HAZ-06) when its extent leaves the file.
        """
        start, size = section.offset, section.size
        if start + size > len(self.data):
            raise FormatError(
                "section leaves the file",
                where=f"section {self.section_name(section, 128)!r}, offset {start:#x}",
                why=f"sh_size {size} reaches past the file's {len(self.data)} bytes",
                rule="HAZ-06",
            )
        if size > LARGEST_TABLE:
            raise _too_large(section)
        return self.data[start : start + size]

    def strings(self, section: Section) -> StringTable:
        """The string table that a section holds; raises FormatError like `contents`."""
        return StringTable(bytes(self.contents(section)))

    def symbols(
        self, section: Section, count: int
    ) -> Iterator[tuple[int, int, int, int, int, int]]:
        """The first `count` entries of a symbol table, as the fields of Symbol, in order."""
        unpack = SYMBOL_STRUCT[self.byte_order].iter_unpack
        end = section.offset + count * SYMBOL_SIZE
        starts = range(section.offset, end, SYMBOLS_AT_ONCE * SYMBOL_SIZE)
        return chain.from_iterable(
            unpack(self.data[at : min(at + starts.step, end)]) for at in starts
        )

    @cached_property
    def symbol_tables(self) -> tuple[Section, ...]:
        """Candidates in section order. SYM-01: SHT_DYNSYM is never one."""
        return tuple(s for s in self.sections if s.type == SectionType.SYMTAB and s.entsize)

    @classmethod
    def open(cls, data: ByteView) -> Self:
        """Header, section table and section names of `data`; raises FormatError (SEC-01 to 05)."""
        header = read_header(data)
        sections = _read_sections(data, header)
        names, has_names = _read_section_names(data, header, sections)
        return cls(data, header, sections, names, has_names)


def _reopened(raw: bytes) -> ElfObject:
    return open_elf(memoryview(raw))


def open_elf(data: ByteView) -> ElfObject:
    """Read header, section table and section names of `data`.

    Raises FormatError for what the runtime refuses (ELF-02, SEC-01 to SEC-05) and for what would
    make it read out of bounds (ELF-01, HAZ-04, HAZ-05).
    """
    return ElfObject.open(data)


def _read_sections(data: ByteView, header: ElfHeader) -> tuple[Section, ...]:
    if header.shentsize == 0 or header.shnum == 0:  # SEC-01
        field = "e_shentsize" if header.shentsize == 0 else "e_shnum"
        raise FormatError(
            "no section headers", where="ELF header", why=f"{field} is 0", rule="SEC-01"
        )
    if header.shentsize != SECTION_SIZE:  # SEC-02
        raise FormatError(
            "section headers of the wrong size",
            where="ELF header, offset 0x3a",
            why=f"e_shentsize is {header.shentsize}, not 64",
            rule="SEC-02",
        )
    end = header.shoff + SECTION_SIZE * header.shnum
    if end > len(data):  # SEC-03, HAZ-05
        raise FormatError(
            "section headers leave the file",
            where=f"offset {header.shoff:#x}",
            why=f"{header.shnum} headers end at {end:#x}, the file at {len(data):#x}",
            hint="the file may be cut off",
            rule="SEC-03",
        )
    unpack = SECTION_STRUCT[header.byte_order].iter_unpack
    sections = tuple(map(Section._make, unpack(data[header.shoff : end])))
    for index, section in enumerate(sections):
        if section.link >= header.shnum:  # SEC-04, HAZ-04: the runtime lets sh_link == e_shnum pass
            raise FormatError(
                "section links to a section that is not there",
                where=f"section {index}",
                why=f"sh_link is {section.link}, there are {header.shnum} sections",
                rule="SEC-04",
            )
    return sections


def _read_section_names(
    data: ByteView, header: ElfHeader, sections: tuple[Section, ...]
) -> tuple[StringTable, bool]:
    """SEC-05: the name table, and whether e_shstrndx names one."""
    index = header.shstrndx
    if index >= header.shnum:  # HAZ-04
        raise FormatError(
            "the section name table is not there",
            where="ELF header, offset 0x3e",
            why=f"e_shstrndx is {index}, there are {header.shnum} sections",
            rule="HAZ-04",
        )
    table = sections[index]
    if table.offset + table.size > len(data):
        if index == 0:  # an extent outside the file: nothing has a name
            return StringTable(), False
        raise FormatError(
            "the section name table leaves the file",
            where=f"section {index}, offset {table.offset:#x}",
            why=f"sh_size {table.size} reaches past the file's {len(data)} bytes",
            rule="SEC-05",
        )
    if table.size > LARGEST_TABLE:
        raise _too_large(table)
    return StringTable(bytes(data[table.offset : table.offset + table.size])), index != 0


def _too_large(section: Section) -> FormatError:
    return FormatError(
        "section too large to read",
        where=f"offset {section.offset:#x}",
        why=f"{section.size} bytes, more than {LARGEST_TABLE}",
        rule="HAZ-15",
    )
