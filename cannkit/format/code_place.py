"""CodePlace: a place in the code of a linked object by its offset in the file: address, function, source line.

From program headers, symbol tables and line tables, as far as they are there and sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from cannkit.errors import FormatError
from cannkit.format import dynamic_types as dt
from cannkit.format.debug_line import SourceLine, source_of
from cannkit.format.elf import ElfObject, open_elf, read_header
from cannkit.format.elf_types import (
    HEADER_SIZE,
    SHN_UNDEF,
    SYMBOL_SIZE,
    ByteView,
    Section,
    SectionType,
)

MOST_SYMBOLS: Final = 1 << 20
WHOLE: Final = "copy or link it again"
CODE_TYPES: Final = (2, 10)  # STT_FUNC, STT_GNU_IFUNC


class CodePlace(NamedTuple):
    """The address as the object was linked, the function there and how far it is into it, and the source line."""

    address: int
    function: str | None = None
    distance: int = 0
    line: SourceLine | None = None


class LoadSegment(NamedTuple):
    """A PT_LOAD segment: its number among the program headers, and its part of the file."""

    number: int
    offset: int
    address: int
    size: int

    @property
    def end(self) -> int:
        """Behind its last byte in the file."""
        return self.offset + self.size


def load_segments(data: ByteView) -> tuple[LoadSegment, ...]:
    """The segments that a loader maps. Raises FormatError for what is no ELF64 file, or where they are cut off."""
    header = read_header(data[0:HEADER_SIZE])
    start, size = header.phoff, header.phnum * dt.PROGRAM.size
    if header.phentsize not in (0, dt.PROGRAM.size) or start + size > len(data):
        why = f"program headers end at byte {start + size}, the file has {len(data)}"
        raise FormatError("the file is cut", where=f"offset {start:#x}", why=why, hint=WHOLE)
    programs = enumerate(dt.PROGRAM.iter_unpack(data[start : start + size]))
    return tuple(
        LoadSegment(number, offset, vaddr, filesz)
        for number, (kind, _, offset, vaddr, _, filesz, *_) in programs
        if kind == dt.PT_LOAD
    )


def code_place(data: ByteView, offset: int, back: int = 0) -> CodePlace | None:
    """The code at an offset in the file, None where no segment has it.

    With `back` function and line are those of so many bytes before: a call is before where it returns to.
    Raises FormatError for what is no ELF64 file; broken tables count as none.
    """
    found = next((each for each in load_segments(data) if each.offset <= offset < each.end), None)
    if found is None:
        return None
    address = offset - found.offset + found.address
    place = CodePlace(address)
    with suppress(FormatError):
        elf = open_elf(data)
        place = place._replace(line=source_of(elf, address - back))
        symbol = _function_at(elf, address - back)
        if symbol is not None:
            place = place._replace(function=symbol[1], distance=address - symbol[0])
    return place


def is_defined(data: ByteView, name: str) -> bool:
    """Whether a function of this name is in a symbol table, though it may not be exported."""
    raw = name.encode("utf-8", "surrogateescape")
    with suppress(FormatError):
        elf = open_elf(data)
        for table in _tables(elf):
            names = elf.strings(elf.sections[table.link])
            for offset, *_ in _functions(elf, table):
                if names.bytes_at(offset, len(raw) + 1) == raw:
                    return True
    return False


def _function_at(elf: ElfObject, address: int) -> tuple[int, str] | None:
    """The start and the name of the function that has an address; of aliases the first."""
    for table in _tables(elf):
        for offset, value, size in _functions(elf, table):
            if value <= address < value + size:
                return value, elf.strings(elf.sections[table.link]).at(offset)
    return None


def _tables(elf: ElfObject) -> list[Section]:
    """Symbol tables, that of the dynamic linker last: it has exports only."""
    kinds = (SectionType.SYMTAB, SectionType.DYNSYM)
    found = [each for each in elf.sections if each.type in kinds]
    return sorted(found, key=lambda each: kinds.index(SectionType(each.type)))


def _functions(elf: ElfObject, table: Section) -> Iterator[tuple[int, int, int]]:
    """Name, address and size of each function that is defined."""
    there = max(len(elf.data) - table.offset, 0)
    count = min(table.size, there) // SYMBOL_SIZE
    for name, info, _, section, value, size in elf.symbols(table, min(count, MOST_SYMBOLS)):
        if info & 15 in CODE_TYPES and section != SHN_UNDEF and name:
            yield name, value, size
