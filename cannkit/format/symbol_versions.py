"""Names that a library misses and that carry no version: no versioned library had them when it was linked."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from cannkit.errors import FormatError
from cannkit.format.elf import ElfObject, open_elf
from cannkit.format.elf_types import SYMBOL_SIZE, Binding, ByteView, Section, SectionType

GNU_VERSYM: Final = 0x6FFF_FFFF
VERSION_BITS: Final = 0x7FFF
BASE_VERSION: Final = 1  # 0 is local, 1 global without a version
MOST_SYMBOLS: Final = 1 << 20


def unversioned(data: ByteView) -> tuple[str, ...]:
    """Strong undefined names without a version, in order; none where section headers do not tell."""
    try:
        elf = open_elf(data)
        return tuple(_names(elf))
    except FormatError:
        return ()


def _names(elf: ElfObject) -> Iterator[str]:
    table = next((each for each in elf.sections if each.type == SectionType.DYNSYM), None)
    if table is None or table.link >= len(elf.sections):
        return
    count = min(len(elf.contents(table)) // SYMBOL_SIZE, MOST_SYMBOLS)
    names = elf.strings(elf.sections[table.link])
    versions = _versions(elf, count)
    for at, (name, info, _, section, _, _) in enumerate(elf.symbols(table, count)):
        if name and not section and info >> 4 == Binding.GLOBAL and versions[at] <= BASE_VERSION:
            yield names.at(name)


def _versions(elf: ElfObject, count: int) -> list[int]:
    section: Section | None = next((s for s in elf.sections if s.type == GNU_VERSYM), None)
    if section is None:
        return [0] * count
    raw = bytes(elf.contents(section))[: 2 * count].ljust(2 * count, b"\0")
    return [number & VERSION_BITS for (number,) in struct.iter_unpack("<H", raw)]
