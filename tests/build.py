"""ObjectBuilder: small ELF files, the same byte for byte each time, written with the reader's tables.

Kernel objects of a real shape are in `tests/compiled.py`, what carries them in `tests/carriers.py`.
`python -m tests.build` writes `fixtures/objects/` afresh, `--check` says what differs there.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Self

from cannkit.format.elf_types import (
    HEADER_SIZE,
    HEADER_STRUCT,
    MAGIC,
    PREFIX,
    SECTION_SIZE,
    SECTION_STRUCT,
    SYMBOL_SIZE,
    SYMBOL_STRUCT,
    Binding,
    ByteOrder,
    ElfClass,
    ElfHeader,
    ElfType,
    Machine,
    Section,
    SectionType,
    Symbol,
    SymbolType,
)

OBJECTS: Final = Path(__file__).parent.parent / "fixtures" / "objects"

SHF_WRITE: Final = 1
SHF_ALLOC: Final = 2
SHF_EXEC: Final = 4
SHF_MERGE: Final = 16
SHF_STRINGS: Final = 32
SHF_INFO_LINK: Final = 64
SHF_GROUP: Final = 512

PT_LOAD: Final = 1
PT_GNU_STACK: Final = 0x6474_E551
PROGRAM_LAYOUT: Final = "IIQQQQQQ"  # the runtime ignores these headers, so cannkit has no table
PROGRAM_SIZE: Final = 56
RELA_LAYOUT: Final = "QQq"
RELA_SIZE: Final = 24

TABLES: Final = (".symtab", ".shstrtab", ".strtab")


@dataclass
class _Part:
    """A section to write; `lies` are fields of its header that do not follow from its bytes."""

    name: str
    data: bytes
    header: Section
    at: int | None = None
    link: str | int = 0
    info: str | int = 0
    lies: dict[str, int] = field(default_factory=dict)


class _Symbol(NamedTuple):
    name: str
    section: str | int
    entry: Symbol
    name_offset: int | None


class Segment(NamedTuple):
    """A PT_LOAD program header over the sections named; without a name PT_GNU_STACK."""

    flags: int
    first: str = ""
    last: str = ""


class ObjectBuilder:
    """Sections and symbols in the order they are given, then `.symtab`, `.shstrtab`, `.strtab`.

    `header` overrides fields of the ELF header, `lie` those of a section header; nothing is checked,
    for most of what is built here is broken on purpose.
    """

    def __init__(self, order: ByteOrder = "little", /, **header: int) -> None:
        self.order: ByteOrder = order
        self.header = header
        self.segments: list[Segment] = []
        self.tables = list(TABLES)
        self._parts: list[_Part] = []
        self._symbols: list[_Symbol] = []
        self._lies: dict[str | int, dict[str, int]] = {}

    def section(
        self,
        name: str,
        data: bytes = b"",
        kind: int = SectionType.PROGBITS,
        *,
        flags: int = 0,
        addr: int = 0,
        at: int | None = None,
        align: int = 1,
        entsize: int = 0,
        link: str | int = 0,
        info: str | int = 0,
        index: int | None = None,
        **lies: int,
    ) -> Self:
        """Add a section, at file offset `at` or behind the one before; links are names or numbers.

        `index` is its place among the sections given so far, `lies` override header fields.
        """
        header = Section(0, kind, flags, addr, 0, len(data), 0, 0, align, entsize)
        part = _Part(name, data, header, at, link, info, lies)
        self._parts.insert(len(self._parts) if index is None else index, part)
        return self

    def symbol(
        self,
        name: str,
        kind: int = SymbolType.FUNC,
        binding: int = Binding.GLOBAL,
        *,
        section: str | int = ".text",
        value: int = 0,
        size: int = 0,
        visibility: int = 0,
        name_offset: int | None = None,
    ) -> int:
        """Add a symbol; its index in the table. `name_offset` lies about where its name is."""
        entry = Symbol(0, binding << 4 | kind, visibility, 0, value, size)
        self._symbols.append(_Symbol(name, section, entry, name_offset))
        return len(self._symbols)

    def lie(self, section: str | int, **fields: int) -> Self:
        """Override header fields of a section, by name or number (0 is the null section)."""
        self._lies.setdefault(section, {}).update(fields)
        return self

    def build(self) -> bytes:
        """The file."""
        parts = [_Part("", b"", Section(*[0] * 10)), *self._parts]
        parts += [self._table(name) for name in self.tables]
        index = {part.name: number for number, part in reversed(list(enumerate(parts)))}
        names = strings(part.name for part in parts)
        symbol_names = strings(symbol.name for symbol in self._symbols)
        contents = {
            ".symtab": self._symbol_table(index, symbol_names),
            ".shstrtab": names,
            ".strtab": symbol_names,
        }
        image = bytearray(HEADER_SIZE + PROGRAM_SIZE * len(self.segments))
        headers: list[Section] = []
        for part in parts:
            if part.name in self.tables:
                part.data = contents[part.name]
            headers.append(self._place(image, part, index, names))
        for number, (part, header) in enumerate(zip(parts, headers, strict=True)):
            lies = part.lies | self._lies.get(part.name, {}) | self._lies.get(number, {})
            headers[number] = header._replace(**lies)
        image += bytes(-len(image) % 8)
        image[:HEADER_SIZE] = self._header(len(image), len(parts), index.get(".shstrtab", 0))
        for number, segment in enumerate(self.segments):
            at = HEADER_SIZE + PROGRAM_SIZE * number
            image[at : at + PROGRAM_SIZE] = self._segment(segment, headers, index)
        image += b"".join(SECTION_STRUCT[self.order].pack(*header) for header in headers)
        return bytes(image)

    def pack(self, layout: str, *values: int) -> bytes:
        """Numbers in the object's byte order."""
        return struct.pack(PREFIX[self.order] + layout, *values)

    def relocation(self, offset: int, symbol: int, kind: int, addend: int = 0) -> bytes:
        """An entry of a RELA section."""
        return self.pack(RELA_LAYOUT, offset, symbol << 32 | kind, addend)

    def _table(self, name: str) -> _Part:
        kind = SectionType.SYMTAB if name == ".symtab" else SectionType.STRTAB
        if name != ".symtab":
            return _Part(name, b"", Section(0, kind, 0, 0, 0, 0, 0, 0, 1, 0))
        bindings = [symbol.entry.binding for symbol in self._symbols]
        first_global = 1 + next((at for at, b in enumerate(bindings) if b), len(bindings))
        header = Section(0, kind, 0, 0, 0, 0, 0, 0, 8, SYMBOL_SIZE)
        return _Part(name, b"", header, link=".strtab", info=first_global)

    def _symbol_table(self, index: dict[str, int], names: bytes) -> bytes:
        entries = [Symbol(0, 0, 0, 0, 0, 0)]
        for name, section, entry, name_offset in self._symbols:
            place = name_at(names, name) if name_offset is None else name_offset
            number = index[section] if isinstance(section, str) else section
            entries.append(entry._replace(name_offset=place, section_index=number))
        return b"".join(SYMBOL_STRUCT[self.order].pack(*entry) for entry in entries)

    @staticmethod
    def _place(image: bytearray, part: _Part, index: dict[str, int], names: bytes) -> Section:
        if part.name == "":
            return part.header
        align = max(part.header.addralign, 1)
        at = len(image) + -len(image) % align if part.at is None else part.at
        image += bytes(max(0, at + len(part.data) - len(image)))
        image[at : at + len(part.data)] = part.data

        def number(link: str | int) -> int:
            return index.get(link, 0) if isinstance(link, str) else link

        return part.header._replace(
            name_offset=name_at(names, part.name),
            offset=at,
            size=len(part.data),
            link=number(part.link),
            info=number(part.info),
        )

    def _header(self, shoff: int, shnum: int, shstrndx: int) -> bytes:
        header = ElfHeader(
            elf_class=ElfClass.ELF64,
            data_encoding=2 if self.order == "big" else 1,
            type=ElfType.EXEC,
            machine=Machine.EM_ASCEND_AI_CORE,
            version=1,
            entry=0,
            phoff=HEADER_SIZE if self.segments else 0,
            shoff=shoff,
            flags=0,
            ehsize=HEADER_SIZE,
            phentsize=PROGRAM_SIZE if self.segments else 0,
            phnum=len(self.segments),
            shentsize=SECTION_SIZE,
            shnum=shnum,
            shstrndx=shstrndx,
        )
        raw = HEADER_STRUCT[self.order].pack(*header._replace(**self.header))
        return MAGIC + raw[4:6] + b"\1" + raw[7:]  # EI_VERSION: no field of ours

    def _segment(self, segment: Segment, headers: list[Section], index: dict[str, int]) -> bytes:
        if not segment.first:
            return self.pack(PROGRAM_LAYOUT, PT_GNU_STACK, segment.flags, 0, 0, 0, 0, 0, 0)
        first, last = headers[index[segment.first]], headers[index[segment.last or segment.first]]
        size = last.offset + last.size - first.offset
        place = (first.offset, first.addr, first.addr)
        return self.pack(PROGRAM_LAYOUT, PT_LOAD, segment.flags, *place, size, size, 0x1000)


def strings(names: Iterable[str]) -> bytes:
    """A string table: a NUL, then each name once."""
    unique = dict.fromkeys(name for name in names if name)
    return b"\0" + b"".join(encoded(name) + b"\0" for name in unique)


def name_at(table: bytes, name: str) -> int:
    """Offset of a name in a table of `strings`."""
    return table.index(b"\0" + encoded(name) + b"\0") + 1 if name else 0


def encoded(name: str) -> bytes:
    """The bytes of a name."""
    return name.encode("utf-8", "surrogateescape")


def main(arguments: list[str] | None = None) -> int:
    """Write the fixtures, or compare them."""
    from tests.objects import fixtures

    parser = argparse.ArgumentParser(prog="python -m tests.build", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    check = parser.parse_args(arguments).check
    wanted = fixtures()
    stale = {path.name for path in OBJECTS.iterdir()} - wanted.keys() if OBJECTS.is_dir() else set()
    differing = [
        name
        for name, data in wanted.items()
        if not (path := OBJECTS / name).is_file() or path.read_bytes() != data
    ]
    if not check:
        OBJECTS.mkdir(parents=True, exist_ok=True)
        for name in differing:
            (OBJECTS / name).write_bytes(wanted[name])
        for name in stale:
            (OBJECTS / name).unlink()
    verb = "differs" if check else "written"
    report = [f"{name}: {verb}\n" for name in differing] + [f"{name}: stale\n" for name in stale]
    sys.stdout.writelines(sorted(report))
    return int(check and bool(report))


if __name__ == "__main__":
    sys.exit(main())
