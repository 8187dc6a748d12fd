"""Kernels, global variables and argument sizes out of the symbol table. Spec 01, sections 3, 8."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from cannkit.errors import FormatError, ReadWarning
from cannkit.format.ascend_meta import ARG_SIZE_SECTION, IMPLICIT_SYMBOLS
from cannkit.format.elf import ElfObject, StringTable
from cannkit.format.elf_types import (
    PREFIX,
    SHN_UNDEF,
    SYMBOL_SIZE,
    Binding,
    Section,
    SymbolType,
    Visibility,
)
from cannkit.image.kernel_meta import Refusal
from cannkit.image.layout import NAME_LIMIT, WRAP, Layout

GLOBAL_FUNC = Binding.GLOBAL << 4 | SymbolType.FUNC


class KernelSymbol(NamedTuple):
    """A kernel by SYM-06: `offset` and `length` are those of the image, cut to int32 (SYM-09)."""

    name: str
    offset: int
    length: int


class GlobalSymbol(NamedTuple):
    """A variable of the image. `implicit`: the runtime writes a device address to it (SYM-16)."""

    name: str
    offset: int
    size: int
    implicit: bool
    is_global: bool


@dataclass(slots=True)
class Symbols:
    """What the runtime takes from the symbol table, and what it does not like about it."""

    func_count: int = 0
    kernels: list[KernelSymbol] = field(default_factory=list)
    variables: dict[str, GlobalSymbol] = field(default_factory=dict)
    arg_sizes: dict[str, int] = field(default_factory=dict)  # by kernel name, bytes
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[ReadWarning] = field(default_factory=list)


def read_symbols(elf: ElfObject, layout: Layout) -> Symbols:
    """Read the first symbol table that passes the runtime's checks (SYM-01 to 05). Raises nothing."""
    found = Symbols()
    for table in elf.symbol_tables:
        problem = _table_problem(elf, table)
        if problem:  # SYM-02: this table is skipped, the search goes on
            place = f"section at {table.offset:#x}"
            found.warnings.append(ReadWarning("symbol-table", place, f"{problem}: skipped"))
            continue
        try:
            strings = elf.strings(elf.sections[table.link])
        except FormatError as error:  # SYM-03: no further table is tried
            found.refusals.append(Refusal("SYM-03", str(error)))
            return found
        try:
            _read_table(found, elf, layout, table, strings)
        except FormatError as error:  # HAZ-15: what was read before the names ran over stays
            found.refusals.append(Refusal("HAZ-15", str(error), rt=False))
        if found.func_count == 0:
            found.refusals.append(Refusal("SYM-04", "the symbol table has no function"))
        return found
    found.refusals.append(Refusal("SYM-05", "EE1014: no usable symbol table"))
    return found


def symbol_table(elf: ElfObject) -> Section | None:
    """The table that the runtime reads, None where it finds none. SYM-02."""
    return next((table for table in elf.symbol_tables if not _table_problem(elf, table)), None)


def _table_problem(elf: ElfObject, table: Section) -> str | None:
    """SYM-02. The runtime counts by sh_entsize, yet reads entries of 24 bytes."""
    count = table.size // table.entsize
    if table.size == 0 or table.entsize > table.size:
        return f"sh_size {table.size}, sh_entsize {table.entsize}"
    if count * SYMBOL_SIZE > table.size + 1:
        return f"sh_entsize {table.entsize} is less than a symbol's {SYMBOL_SIZE} bytes"
    if table.offset + count * SYMBOL_SIZE > len(elf.data):
        return f"{count} symbols leave the file"
    return None


def _read_table(
    found: Symbols, elf: ElfObject, layout: Layout, table: Section, strings: StringTable
) -> None:
    arg_section = _arg_size_section(elf)
    variables_end = False
    nameless: list[int] = []
    names_size = len(strings)
    for name_at, info, other, index, value, size in elf.symbols(table, table.size // table.entsize):
        kind = info & 15
        if kind == SymbolType.FUNC:
            found.func_count += 1
            if info == GLOBAL_FUNC and other & 3 != Visibility.HIDDEN and name_at:  # SYM-06
                _add_kernel(found, strings, name_at, value, size)
        elif kind == SymbolType.OBJECT:
            if index >= len(elf.sections):  # SYM-12: the runtime's walk over variables stops here
                variables_end = True
                continue
            section = elf.sections[index]
            if section is arg_section:
                name = strings.at(name_at, NAME_LIMIT)
                _read_arg_size(found, elf, section, name, value)
            if variables_end:
                continue
            if name_at > names_size or not names_size:  # HAZ-11
                nameless.append(name_at)
            elif index != SHN_UNDEF:  # S7: an undefined variable has no place
                binding = info >> 4
                if binding == Binding.GLOBAL or layout.implicit_flags:
                    name = strings.at(name_at, NAME_LIMIT)
                    position = value + section.offset - section.addr  # SYM-13
                    _add_variable(found, layout, name, binding, position, size)
    if nameless:
        place = f"symbol table at {table.offset:#x}"
        reach = f"{nameless[0]:#x}, outside the string table of {names_size} bytes"
        message = f"{len(nameless)} variables have no name, the first one's is at {reach}: skipped"
        found.warnings.append(ReadWarning("symbol-name", place, message))


def _add_kernel(found: Symbols, strings: StringTable, name_at: int, value: int, size: int) -> None:
    if not len(strings):  # SYM-07: with an empty string table no symbol qualifies
        return
    if name_at > len(strings):
        message = f"symbol name at {name_at:#x} lies outside the string table"
        found.refusals.append(Refusal("SYM-07", message))
        return
    raw = strings.bytes_at(name_at, NAME_LIMIT)
    if len(raw) >= NAME_LIMIT:  # SYM-08
        place = f"symbol {raw[:64].decode('utf-8', 'backslashreplace')}..."
        message = f"the name has {NAME_LIMIT} bytes or more: skipped"
        found.warnings.append(ReadWarning("symbol-name", place, message))
        return
    name = strings.at(name_at, NAME_LIMIT)
    found.kernels.append(KernelSymbol(name, _int32(value), _int32(size)))


def _add_variable(
    found: Symbols, layout: Layout, name: str, binding: int, position: int, size: int
) -> None:
    """SYM-13 to SYM-16: `position` is the variable's place in the file."""
    implicit = bool(layout.implicit_flags & IMPLICIT_SYMBOLS.get(name, 0))
    if binding == Binding.GLOBAL or implicit:
        offset = (position - layout.text_offset) % WRAP
        is_global = binding == Binding.GLOBAL
        found.variables[name] = GlobalSymbol(name, offset, size, implicit, is_global)


def _arg_size_section(elf: ElfObject) -> Section | None:
    limit = len(ARG_SIZE_SECTION) + 1
    for section in elf.sections:
        if elf.section_name(section, limit) == ARG_SIZE_SECTION:
            return section
    return None


def _read_arg_size(found: Symbols, elf: ElfObject, section: Section, name: str, value: int) -> None:
    """ARG-01: `<kernel>__` points at the kernel's argument bytes in the section."""
    at = value - section.addr
    if not name.endswith("__") or not 0 <= at <= section.size - 4:
        return
    start = section.offset + at
    if start + 4 <= len(elf.data):
        word = elf.data[start : start + 4]
        found.arg_sizes[name[:-2]] = struct.unpack(PREFIX[elf.byte_order] + "I", word)[0]


def _int32(value: int) -> int:
    """SYM-09: the runtime keeps 32 signed bits."""
    return (value & 0xFFFF_FFFF ^ 0x8000_0000) - 0x8000_0000
