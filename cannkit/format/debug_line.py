"""Source file and line of an address: DWARF line tables, versions 2 to 5.

Whatever the bytes claim, each is looked at a fixed number of times: counts are bounded by what is
there, and a unit that does not follow the format is left for the next one.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from cannkit.errors import FormatError
from cannkit.format.elf import LONGEST_NAME, ElfObject
from cannkit.format.elf_types import ByteOrder, ElfType, SectionType

LINES, LINE_STRINGS, STRINGS = ".debug_line", ".debug_line_str", ".debug_str"
SHF_COMPRESSED = 0x800

LARGEST = 4 << 20  # bytes of .debug_line that are looked at: there are no more rows than that
MOST_NAMES = 1 << 16  # in a table of directories or files
LEB_BYTES = 10  # of a 64-bit number
WIDE = 0xFFFF_FFFF  # the length of a 64-bit unit follows in 8 bytes

EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE = range(5)  # DW_LNS_*
CONST_ADD_PC, FIXED_ADVANCE_PC = 8, 9
END_SEQUENCE, SET_ADDRESS, DEFINE_FILE = 1, 2, 3  # DW_LNE_*
FILE_NUMBERS = 3  # before version 5, behind the name of a file: directory, time, size
PATH, DIRECTORY_INDEX = 1, 2  # DW_LNCT_*
BLOCK, UDATA = 0x09, 0x0F  # DW_FORM_*
FORM_SIZES = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}  # data1 to data16
FORM_SECTIONS = {0x08: LINES, 0x0E: STRINGS, 0x1F: LINE_STRINGS}  # string, strp, line_strp


class SourceLine(NamedTuple):
    """A place in source code. Line 0 is code of the compiler's own."""

    file: str
    line: int


class _BrokenError(Exception):
    """A unit does not follow the format. Never leaves this module."""


class _Cursor:
    """A place in bytes that never passes `end`. Changes: every read moves it."""

    __slots__ = ("at", "data", "end", "order")

    def __init__(self, data: bytes, order: ByteOrder, at: int, end: int) -> None:
        self.data = data
        self.order: ByteOrder = order
        self.at = at
        self.end = end

    def skip(self, count: int) -> int:
        """Step over `count` bytes; where they begin."""
        start = self.at
        if count > self.end - start:
            raise _BrokenError
        self.at = start + count
        return start

    def part(self, count: int) -> _Cursor:
        """Step over `count` bytes; a cursor of their own."""
        return _Cursor(self.data, self.order, self.skip(count), self.at)

    def string(self) -> int:
        """Step over a string and its NUL; where it begins."""
        end = self.data.find(b"\0", self.at, self.end)
        if end < 0:
            raise _BrokenError
        return self.skip(end + 1 - self.at)

    def number(self, width: int) -> int:
        start = self.skip(width)
        return int.from_bytes(self.data[start : self.at], self.order)

    def leb(self, *, signed: bool = False) -> int:
        value = 0
        for shift in range(0, 7 * LEB_BYTES, 7):
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value - (0x80 << shift) if signed and byte & 0x40 else value
        raise _BrokenError


class _Unit(NamedTuple):
    """A line table: its header, and where its names and its program are."""

    version: int
    width: int  # of an offset
    instruction_length: int
    operations: int  # in an instruction
    line_base: int
    line_range: int
    opcode_base: int
    operand_counts: bytes  # of standard opcodes, from 1 on
    names: _Cursor
    program: _Cursor


class _Name(NamedTuple):
    """A directory or file: where its text is, or a section "" if there is none."""

    section: str = ""
    offset: int = 0
    directory: int = 0


def source_of(elf: ElfObject, address: int) -> SourceLine | None:
    """File and line of the code at `address`, as the compiler recorded them; None when unknown.

    A relative file name follows its directory, and that the one of the compilation where it is
    recorded (version 5). Bytes that are not UTF-8 become surrogates. A relocatable object knows no
    addresses: None. Raises nothing, whatever the sections hold.
    """
    if elf.header.type == ElfType.REL:
        return None
    for body, width in _units(bytes(_section(elf, LINES)[:LARGEST]), elf.byte_order):
        try:
            unit = _read_unit(body, width)
            defined: list[_Name] = []
            if row := _find_row(unit, address, defined):
                names = [_text(elf, name) for name in _path(unit, row[0], defined)]
                path = posixpath.join(*names).decode("utf-8", "surrogateescape")
                return SourceLine(path, row[1])
        except _BrokenError:
            continue
    return None


def _section(elf: ElfObject, name: str) -> memoryview:
    """The bytes of the section; none when it is absent, compressed, or outside the file."""
    for section in elf.sections:
        named = elf.section_name(section, len(name) + 1) == name
        if named and section.type != SectionType.NOBITS and not section.flags & SHF_COMPRESSED:
            with suppress(FormatError):
                return elf.contents(section)
    return memoryview(b"")


def _text(elf: ElfObject, name: _Name) -> bytes:
    view = _section(elf, name.section) if name.section else b""
    text, nul, _ = bytes(view[name.offset : name.offset + LONGEST_NAME]).partition(b"\0")
    if not nul:
        raise _BrokenError
    return text


def _units(data: bytes, order: ByteOrder) -> Iterator[tuple[_Cursor, int]]:
    """What follows the length of each unit, and how wide its offsets are."""
    cursor = _Cursor(data, order, 0, len(data))
    with suppress(_BrokenError):  # past a wrong length nobody knows where the next one begins
        while cursor.at < cursor.end:
            length, width = cursor.number(4), 4
            if length == WIDE:
                length, width = cursor.number(8), 8
            yield cursor.part(length), width


def _read_unit(body: _Cursor, width: int) -> _Unit:
    version = body.number(2)
    if version not in (2, 3, 4, 5):
        raise _BrokenError
    if version == 5:
        body.skip(2)  # sizes of an address and of a segment selector
    header = body.part(body.number(width))
    instruction_length = header.number(1)
    operations = header.number(1) if version >= 4 else 1
    header.skip(1)  # default_is_stmt
    line_base, line_range, opcode_base = header.number(1), header.number(1), header.number(1)
    if not operations or not line_range or not opcode_base:
        raise _BrokenError
    line_base -= line_base >> 7 << 8  # signed
    start = header.skip(opcode_base - 1)
    counts = header.data[start : header.at]
    head = (version, width, instruction_length, operations, line_base, line_range, opcode_base)
    return _Unit(*head, counts, names=header, program=body)


def _find_row(unit: _Unit, wanted: int, defined: list[_Name]) -> tuple[int, int] | None:
    """File and line of the row that covers the address; files that the program adds are noted.

    Addresses grow without a wrap, for a discarded function may lie at the very top. Of rows at one
    address the last counts.
    """
    program, base = unit.program, unit.opcode_base
    address = operation = nearest = 0
    file = line = 1
    best: tuple[int, int] | None = None
    while program.at < program.end:
        opcode = program.number(1)
        operations = 0
        if opcode >= base:
            operations, lines = divmod(opcode - base, unit.line_range)
            line += unit.line_base + lines
        elif opcode == EXTENDED:
            body = program.part(program.leb())
            code = body.number(1)
            if code == END_SEQUENCE:
                if best and wanted < address:
                    return best
                address = operation = nearest = 0
                file = line = 1
                best = None
            elif code == SET_ADDRESS:
                if not 0 < (size := body.end - body.at) <= 8:
                    raise _BrokenError
                address, operation = body.number(size), 0
            elif code == DEFINE_FILE and len(defined) < MOST_NAMES:
                defined.append(_old_name(body, FILE_NUMBERS))
        elif opcode == ADVANCE_PC:
            operations = program.leb()
        elif opcode == ADVANCE_LINE:
            line += program.leb(signed=True)
        elif opcode == SET_FILE:
            file = program.leb()
        elif opcode == CONST_ADD_PC:
            operations = (255 - base) // unit.line_range
        elif opcode == FIXED_ADVANCE_PC:
            address, operation = address + program.number(2), 0
        elif opcode != COPY:
            for _ in range(unit.operand_counts[opcode - 1]):
                program.leb()
        if operations:
            instructions, operation = divmod(operation + operations, unit.operations)
            address += unit.instruction_length * instructions
        if (opcode >= base or opcode == COPY) and nearest <= address <= wanted:
            nearest, best = address, (file, line & 0xFFFF_FFFF)
    return None


def _path(unit: _Unit, number: int, defined: list[_Name]) -> list[_Name]:
    """What to join for the path of a file."""
    if unit.version == 5:
        directories, files = (_table(unit.names, unit.width) for _ in range(2))
    else:
        directories, files = (_old_table(unit.names, numbers) for numbers in (0, FILE_NUMBERS))
    files += defined
    if number >= len(files) or files[number].directory >= len(directories):
        raise _BrokenError
    root = [directories[0]] if unit.version == 5 else []
    parent = [directories[files[number].directory]] if files[number].directory else []
    return [*root, *parent, files[number]]


def _old_table(names: _Cursor, numbers: int) -> list[_Name]:
    """Directories or files of versions 2 to 4, from index 1 on; an empty name ends them."""
    table = [_Name()]
    while names.number(1):
        if len(table) > MOST_NAMES:
            raise _BrokenError
        names.at -= 1
        table.append(_old_name(names, numbers))
    return table


def _old_name(names: _Cursor, numbers: int) -> _Name:
    offset = names.string()
    return _Name(LINES, offset, *[names.leb() for _ in range(numbers)][:1])


def _table(names: _Cursor, width: int) -> list[_Name]:
    """Directories or files of version 5: what an entry consists of, a count, the entries."""
    formats = [(names.leb(), names.leb()) for _ in range(names.number(1))]
    count = names.leb()
    if count > MOST_NAMES or (count and not formats):
        raise _BrokenError
    table = []
    for _ in range(count):
        name = _Name()
        for content, form in formats:
            value = _value(names, form, width)  # a byte at least
            if content == PATH:
                name = name._replace(section=FORM_SECTIONS.get(form, ""), offset=value)
            elif content == DIRECTORY_INDEX:
                name = name._replace(directory=value)
        table.append(name)
    return table


def _value(names: _Cursor, form: int, width: int) -> int:
    """A number; of a string its offset, of a block where it begins."""
    if form in FORM_SIZES:
        return names.number(FORM_SIZES[form])
    if form == UDATA:
        return names.leb()
    if form == BLOCK:
        return names.skip(names.leb())
    if form not in FORM_SECTIONS:
        raise _BrokenError
    return names.string() if FORM_SECTIONS[form] == LINES else names.number(width)
