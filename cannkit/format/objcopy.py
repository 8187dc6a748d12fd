"""Files that `objcopy -I binary` made into `_binary_<path>_start`, `_end` and `_size`. CON-04.

A host library may be too large to hold, so tables are walked in chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from cannkit.errors import FormatError
from cannkit.format.elf import ElfObject
from cannkit.format.elf_types import (
    SHN_UNDEF,
    SYMBOL_SIZE,
    SYMBOL_STRUCT,
    ByteView,
    Section,
    SectionType,
)

PACKED_MARK = b"_binary_"
PACKED_ENDS = tuple(map(b"".join, product((b"_o_", b"_json_"), (b"start", b"end", b"size"))))

CHUNK = 1 << 20
NAME_LIMIT = 4096
NAMES_LIMIT = 32 << 20  # all names that are held at once, with their overhead
NAME_OVERHEAD = 128

PackedSymbols = Mapping[bytes, tuple[int, int]]
"""Section index and value by name."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """Where a packed file lies in the library, and what is odd about its symbols: (code, why)."""

    where: str
    offset: int
    size: int
    oddities: tuple[tuple[str, str], ...] = ()


def packed_symbols(elf: ElfObject) -> PackedSymbols:
    """The `_binary_*` symbols of kernel objects and their JSON, in the order of the symbol table.

    SHT_DYNSYM counts where there is no SHT_SYMTAB. The search is ours and not the runtime's, so a
    table that cannot be read packs nothing; raises FormatError (HAZ-15) for names without end.
    """
    for wanted in (SectionType.SYMTAB, SectionType.DYNSYM):
        tables = [s for s in elf.sections if s.type == wanted and s.entsize == SYMBOL_SIZE]
        if tables:
            return _read_symbols(elf, tables[0])
    return {}


def packed_file(elf: ElfObject, symbols: PackedSymbols, name: bytes) -> PackedFile:
    """The file whose symbols are `name` with `_start`, `_end` and `_size` after it.

    Raises FormatError (CON-04) when its bytes are not in the section of its own `_start`.
    """
    where = f"symbol {(name + b'_start').decode('utf-8', 'surrogateescape')!r}"

    def broken(why: str) -> FormatError:
        return FormatError("embedded file cannot be located", where=where, why=why, rule="CON-04")

    index, start = symbols[name + b"_start"]
    if index >= len(elf.sections):
        raise broken(f"it belongs to section {index} of {len(elf.sections)}")
    section = elf.sections[index]
    _, declared = symbols.get(name + b"_size", (index, None))  # its value is the size, SHN_ABS
    end_index, end = symbols.get(name + b"_end", (index, None))
    oddities: tuple[tuple[str, str], ...] = ()
    if end is not None and end_index == index:
        size = end - start
        if declared is not None and declared != size:
            oddities = (("embedded-size", f"_end - _start is {size}, _size says {declared}"),)
    elif declared is not None:
        size = declared
        oddities = (("embedded-end", "there is no _end in its section, _size is taken"),)
    else:
        raise broken("neither its _end nor its _size is there")
    at = start - section.addr
    if section.type == SectionType.NOBITS or min(size, at) < 0 or at + size > section.size:
        raise broken(f"{size} bytes at {start:#x} are not in the contents of section {index}")
    if section.offset + at + size > len(elf.data):
        raise broken(f"it reaches past the file's {len(elf.data)} bytes")
    return PackedFile(where, section.offset + at, size, oddities)


def _read_symbols(elf: ElfObject, table: Section) -> PackedSymbols:
    strings = elf.sections[table.link]
    if max(table.offset + table.size, strings.offset + strings.size) > len(elf.data):
        return {}
    names = _packed_names(elf.data, strings)
    if not any(name.endswith(b"_o_start") for name in names.values()):
        return {}
    symbols: dict[bytes, tuple[int, int]] = {}
    unpack = SYMBOL_STRUCT[elf.byte_order].iter_unpack
    stop = table.offset + table.size // SYMBOL_SIZE * SYMBOL_SIZE
    step = CHUNK // SYMBOL_SIZE * SYMBOL_SIZE
    for at in range(table.offset, stop, step):
        for name_offset, _, _, index, value, _ in unpack(elf.data[at : min(at + step, stop)]):
            if name_offset in names and index != SHN_UNDEF:
                symbols.setdefault(names[name_offset], (index, value))
    return symbols


def _packed_names(data: ByteView, strings: Section) -> Mapping[int, bytes]:
    """Names of packed files by their offset in the string table.

    CON-05: a C++ name with `_binary_` in its middle comes in only if it ends as ours do, and then
    no symbol's name begins at that offset.
    """
    names: dict[int, bytes] = {}
    held, end = 0, strings.offset + strings.size
    for base in range(strings.offset, end, CHUNK):
        raw = bytes(data[base : min(base + CHUNK + NAME_LIMIT, end)])
        at = raw.find(PACKED_MARK)
        while 0 <= at < CHUNK:
            stop = raw.find(b"\0", at, at + NAME_LIMIT)
            if stop >= 0 and raw.endswith(PACKED_ENDS, at, stop):
                names[base - strings.offset + at] = raw[at:stop]
                held += stop - at + NAME_OVERHEAD
                if held > NAMES_LIMIT:
                    raise FormatError(
                        "too many embedded files",
                        where=f"string table, offset {base + at:#x}",
                        why=f"their names take more than {NAMES_LIMIT} bytes",
                        rule="HAZ-15",
                    )
            at = raw.find(PACKED_MARK, at + 1)
    return names
