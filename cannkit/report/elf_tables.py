"""Section and symbol tables, for `cannkit parse -v`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import islice
from typing import ClassVar, Self

from cannkit.format.dwarf import describe_sections
from cannkit.format.elf import (
    Binding,
    ElfObject,
    Section,
    SectionType,
    Symbol,
    SymbolType,
    Visibility,
)
from cannkit.image.kernel_object import KernelObject
from cannkit.report.base import document, printable
from cannkit.report.parse import ParseDocument

NAME_LIMIT = 4096


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
            name=printable(name),
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
    notes: Mapping[str, str] = describe_sections(elf)
    named = [(elf.section_name(section, NAME_LIMIT), section) for section in elf.sections]
    return tuple(
        SectionEntry.of(index, name, section, notes.get(name))
        for index, (name, section) in enumerate(named)
    )


def _symbols(elf: ElfObject) -> tuple[SymbolEntry, ...]:
    """The first symbol table that lies inside the file, without its null entry."""
    for table in elf.symbol_tables:
        names = elf.sections[table.link]
        inside = max(table.offset + table.size, names.offset + names.size) <= len(elf.data)
        if inside and table.size:
            strings = elf.strings(names)
            raw = islice(elf.symbols(table, table.size // 24), 1, None)
            return tuple(_symbol(elf, Symbol(*entry), strings.at) for entry in raw)
    return ()


def _symbol(elf: ElfObject, symbol: Symbol, name_at: Callable[[int, int], str]) -> SymbolEntry:
    special = symbol.section_index >= len(elf.sections)
    section = "" if special else elf.section_name(elf.sections[symbol.section_index], NAME_LIMIT)
    return SymbolEntry(
        name=printable(name_at(symbol.name_offset, NAME_LIMIT)),
        type=SymbolType(symbol.type).name,
        binding=Binding(symbol.binding).name,
        visibility=Visibility(symbol.visibility).name,
        section=f"{symbol.section_index:#x}" if special else printable(section),
        value=symbol.value,
        size=symbol.size,
    )
