"""Section and symbol tables, for `cannkit parse -v`."""

from __future__ import annotations

from dataclasses import fields
from itertools import islice
from typing import ClassVar, Self

from cannkit.errors import brief
from cannkit.format.dwarf import describe_sections
from cannkit.format.elf import NAMES_FACTOR, SPARE_NAMES, ElfObject, StringTable
from cannkit.format.elf_types import (
    SYMBOL_SIZE,
    Binding,
    Section,
    SectionType,
    Symbol,
    SymbolType,
    Visibility,
)
from cannkit.image.kernel_object import KernelObject
from cannkit.report.base import document
from cannkit.report.parse import ParseDocument

NAME_LIMIT = 4096
SHORT_NAME = 64


@document
class SectionEntry:
    """A section header. `note` tells what is in an odd one."""

    index: int
    name: str
    type: int
    type_name: str
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int
    note: str | None

    @classmethod
    def of(cls, index: int, name: str, section: Section, note: str | None) -> Self:
        """The entry of a section."""
        return cls(
            index=index,
            name=name,
            type=section.type,
            type_name=SectionType(section.type).name,
            flags=section.flags,
            addr=section.addr,
            offset=section.offset,
            size=section.size,
            link=section.link,
            info=section.info,
            addralign=section.addralign,
            entsize=section.entsize,
            note=note,
        )


@document
class SymbolEntry:
    """A symbol; `section` is the name of its section, or the number of a special one."""

    name: str
    type: str
    binding: str
    visibility: str
    section: str
    value: int
    size: int


@document
class ParseDetails(ParseDocument):
    """The document of `cannkit parse -v`: two tables more."""

    SCHEMA: ClassVar[str] = ParseDocument.SCHEMA
    sections: tuple[SectionEntry, ...]
    symbols: tuple[SymbolEntry, ...]

    @classmethod
    def with_tables(cls, document: ParseDocument, obj: KernelObject) -> Self:
        """The document of an object with its section and symbol tables."""
        return cls(
            **{field.name: getattr(document, field.name) for field in fields(document)},
            sections=_sections(obj.elf),
            symbols=_symbols(obj.elf),
        )


def _sections(elf: ElfObject) -> tuple[SectionEntry, ...]:
    notes, names = describe_sections(elf), _Names(elf)
    return tuple(
        SectionEntry.of(index, names.cut(section.name_offset), section, notes.get(index))
        for index, section in enumerate(elf.sections)
    )


def _symbols(elf: ElfObject) -> tuple[SymbolEntry, ...]:
    """The first symbol table that lies inside the file, without its null entry."""
    for table in elf.symbol_tables:
        link = elf.sections[table.link]
        inside = max(table.offset + table.size, link.offset + link.size) <= len(elf.data)
        if inside and table.size:
            names, sections = _Names(elf, elf.strings(link)), _Names(elf)
            raw = islice(elf.symbols(table, table.size // SYMBOL_SIZE), 1, None)
            return tuple(_symbol(elf, Symbol(*entry), names, sections) for entry in raw)
    return ()


class _Names:
    """Names of a string table, each cut out and made printable once.

    Names that overlap, or are shared, are cut short once together they are several times the table.
    """

    def __init__(self, elf: ElfObject, table: StringTable | None = None) -> None:
        self._table = elf.section_names if table is None else table
        self._left = SPARE_NAMES + NAMES_FACTOR * len(self._table)
        self._known: dict[int, str] = {}

    def cut(self, offset: int) -> str:
        """The name at an offset."""
        known = self._known.get(offset)
        if known is None:
            raw = self._table.bytes_at(offset, NAME_LIMIT)
            known = self._known[offset] = raw.decode("utf-8", "backslashreplace")
        self._left -= len(known)
        return known if self._left > 0 else brief(known, SHORT_NAME)


def _symbol(elf: ElfObject, symbol: Symbol, names: _Names, sections: _Names) -> SymbolEntry:
    index = symbol.section_index
    special = index >= len(elf.sections)
    return SymbolEntry(
        name=names.cut(symbol.name_offset),
        type=SymbolType(symbol.type).name,
        binding=Binding(symbol.binding).name,
        visibility=Visibility(symbol.visibility).name,
        section=f"{index:#x}" if special else brief(sections.cut(elf.sections[index].name_offset)),
        value=symbol.value,
        size=symbol.size,
    )
