"""HostLibrary: what the dynamic linker sees of a shared library: needs, exports, versions. Spec 05, AE-1204.

Everything is found from the program headers, as the linker does it; section headers help only where
no hash table counts the symbols. Tables are read, the library itself is not.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from cannkit.errors import FormatError
from cannkit.format import dynamic_types as dt
from cannkit.format.elf import LARGEST_TABLE, SYMBOLS_AT_ONCE, StringTable
from cannkit.format.elf_types import (
    HEADER_SIZE,
    HEADER_STRUCT,
    MAGIC,
    SECTION_SIZE,
    SECTION_STRUCT,
    SHN_UNDEF,
    SYMBOL_SIZE,
    SYMBOL_STRUCT,
    Binding,
    ByteView,
    ElfClass,
    ElfHeader,
    ElfType,
    Machine,
    Section,
    SectionType,
)

LARGEST_DYNAMIC: Final = 1 << 20
LARGEST_VERSIONS: Final = 1 << 16
MOST_VERSIONS: Final = 1 << 12
LARGEST_INTERP: Final = 4096
MOST_SYMBOLS: Final = 1 << 22
CHAIN: Final = 1 << 12  # words of a chain that are read at once

DAMAGED: Final = "the library is cut off or damaged"
UNREADABLE: Final = "the library cannot be read"


class Export(NamedTuple):
    """A symbol that others can link to; `type` and `binding` are STT_* and STB_*."""

    type: int
    binding: int


@dataclass(frozen=True)
class HostLibrary:
    """A shared library: for which machine, what it needs, exports and misses.

    `interpreter` and `is_pie` tell a program, which cannot be loaded. `needed` has DT_NEEDED in order,
    `run_path` DT_RUNPATH or else DT_RPATH, cut at its colons. A name that is missing is in `undefined`,
    or in `undefined_weak` when nothing happens without it. `versions_needed` has (library, version).
    """

    machine: Machine
    interpreter: str | None
    is_pie: bool
    soname: str | None
    needed: tuple[str, ...]
    run_path: tuple[str, ...]
    exports: Mapping[str, Export]
    undefined: tuple[str, ...]
    undefined_weak: tuple[str, ...]
    versions_needed: tuple[tuple[str, str], ...]


def read_host_library(data: ByteView) -> HostLibrary:
    """What the dynamic linker sees of `data`.

    Raises FormatError (AE-1204) when it is no ELF64 little-endian ET_DYN with a dynamic section, or when
    a table leaves the file or its names overlap.
    """
    return _Reader(data, _header(data)).library()


def _refuse(why: str, where: str | None = None, what: str = "not a shared library") -> FormatError:
    return FormatError(what, where=where, why=why, rule="AE-1204")


def _header(data: ByteView) -> ElfHeader:
    head = bytes(data[0:HEADER_SIZE])
    if not head:
        raise _refuse("the file is empty")
    if head[:4] != MAGIC[: len(head)]:
        raise _refuse(f"starts with {head[:4].hex()}, not with the ELF magic 7f454c46")
    if len(head) < HEADER_SIZE:
        raise _refuse(f"{len(head)} bytes, an ELF header takes 64")
    header = ElfHeader._make(HEADER_STRUCT["little"].unpack(head))
    if header.elf_class != ElfClass.ELF64:
        kind = "a 32-bit ELF file" if header.elf_class == 1 else f"EI_CLASS is {header.elf_class}"
        raise _refuse(f"{kind}, 64 bits are needed", "offset 0x4")
    if header.data_encoding != 1:
        kind = "big endian" if header.data_encoding == 2 else f"EI_DATA is {header.data_encoding}"
        raise _refuse(f"{kind}, little endian is needed", "offset 0x5")
    if header.type != ElfType.DYN:
        kinds = {ElfType.REL: "a relocatable object", ElfType.EXEC: "a program"}
        kind = kinds.get(ElfType(header.type), "something else")
        raise _refuse(f"{kind}: e_type is {header.type}, not 3 (ET_DYN)", "offset 0x10")
    return header


class _Reader:
    """Finds tables by their addresses."""

    def __init__(self, data: ByteView, header: ElfHeader) -> None:
        self.data = data
        self.header = header
        programs = self._programs()
        self.loads = [(p[3], p[2], p[5]) for p in programs if p[0] == dt.PT_LOAD]
        self.interpreter = next((p for p in programs if p[0] == dt.PT_INTERP), None)
        self.entries = self._dynamic(programs)
        self.tags = dict(self.entries)  # of one that comes twice the last, as in glibc

    def library(self) -> HostLibrary:
        exports, undefined, weak = self._symbols()
        run_path = self.tags.get(dt.DT_RUNPATH) or self.tags.get(dt.DT_RPATH)
        return HostLibrary(
            Machine(self.header.machine),
            self._interpreter(),
            bool(self.tags.get(dt.DT_FLAGS_1, 0) & dt.DF_1_PIE),
            self.strings.at(self.tags[dt.DT_SONAME]) if dt.DT_SONAME in self.tags else None,
            tuple(self.strings.at(value) for tag, value in self.entries if tag == dt.DT_NEEDED),
            tuple(filter(None, self.strings.at(run_path).split(":"))) if run_path else (),
            exports,
            tuple(undefined),
            tuple(weak),
            tuple(self._versions()),
        )

    def _programs(self) -> list[tuple[int, ...]]:
        start, count = self.header.phoff, self.header.phnum
        if not count:
            raise _refuse("it has no program headers", "ELF header")
        if self.header.phentsize != dt.PROGRAM.size:
            why = f"e_phentsize is {self.header.phentsize}, not {dt.PROGRAM.size}"
            raise _refuse(why, "ELF header, offset 0x36")
        raw = self._span(start, count * dt.PROGRAM.size, "program headers")
        return list(dt.PROGRAM.iter_unpack(raw))

    def _span(self, start: int, size: int, what: str, limit: int = LARGEST_TABLE) -> memoryview:
        """Bytes of the file; raises FormatError where it has not so many, or they are too many."""
        self._check(start, size, what)
        if size > limit:
            why = f"{what} take {size} bytes, more than {limit}"
            raise _refuse(why, f"offset {start:#x}", UNREADABLE)
        return self.data[start : start + size]

    def _check(self, start: int, size: int, what: str) -> None:
        if start + size > len(self.data):
            why = f"{what} end at {start + size:#x}, the file at {len(self.data):#x}"
            raise _refuse(why, f"offset {start:#x}", DAMAGED)

    def _at(self, address: int, what: str) -> int:
        """Where an address lies in the file."""
        for vaddr, offset, size in self.loads:
            if vaddr <= address < vaddr + size:
                return offset + address - vaddr
        why = f"no segment has the address of the {what}"
        raise _refuse(why, f"address {address:#x}", DAMAGED)

    def _dynamic(self, programs: list[tuple[int, ...]]) -> list[tuple[int, int]]:
        found = next((p for p in programs if p[0] == dt.PT_DYNAMIC), None)
        if found is None:
            raise _refuse("it has no dynamic section: it is linked statically")
        size = found[5] // dt.DYNAMIC.size * dt.DYNAMIC.size
        raw = self._span(found[2], size, "dynamic section", LARGEST_DYNAMIC)
        entries = []
        for tag, value in dt.DYNAMIC.iter_unpack(raw):
            if tag == dt.DT_NULL:
                break
            entries.append((tag, value))
        return entries

    @cached_property
    def strings(self) -> StringTable:
        """DT_STRTAB; empty where there is none."""
        if dt.DT_STRTAB not in self.tags:
            return StringTable()
        start, size = (
            self._at(self.tags[dt.DT_STRTAB], "string table"),
            self.tags.get(dt.DT_STRSZ, 0),
        )
        return StringTable(bytes(self._span(start, size, "string table")))

    def _interpreter(self) -> str | None:
        if self.interpreter is None:
            return None
        size = min(self.interpreter[5], LARGEST_INTERP)
        raw = bytes(self._span(self.interpreter[2], size, "PT_INTERP"))
        return raw.partition(b"\0")[0].decode("utf-8", "surrogateescape")

    def _symbols(self) -> tuple[dict[str, Export], list[str], list[str]]:
        """Exports, missing names, and those that may be missing, in order of the table."""
        exports: dict[str, Export] = {}
        undefined: list[str] = []
        weak: list[str] = []
        for name_offset, info, other, section, _, _ in self._entries():
            kind, binding = info & 15, info >> 4
            if binding not in (Binding.GLOBAL, Binding.WEAK, dt.GNU_UNIQUE) or not name_offset:
                continue
            if section == SHN_UNDEF:
                names = weak if binding == Binding.WEAK else undefined
                names.append(self.strings.at(name_offset))
            elif kind in dt.LINKED_TYPES and other & 3 not in dt.HIDDEN:
                exports.setdefault(self.strings.at(name_offset), Export(kind, binding))
        return exports, undefined, weak

    def _entries(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        address = self.tags.get(dt.DT_SYMTAB)
        if address is None:
            return
        start = self._at(address, "symbol table")
        count = self._symbol_count(address)
        if count > MOST_SYMBOLS:
            raise _refuse(f"{count} symbols, more than {MOST_SYMBOLS}", what=UNREADABLE)
        end = start + count * SYMBOL_SIZE
        self._check(start, end - start, "symbol table")
        for at in range(start, end, SYMBOLS_AT_ONCE * SYMBOL_SIZE):
            stop = min(at + SYMBOLS_AT_ONCE * SYMBOL_SIZE, end)
            yield from SYMBOL_STRUCT["little"].iter_unpack(self.data[at:stop])

    def _symbol_count(self, address: int) -> int:
        """From DT_HASH, which has them all; else DT_GNU_HASH, which has exports, and section headers."""
        if dt.DT_HASH in self.tags:
            head = self._span(self._at(self.tags[dt.DT_HASH], "hash table"), 8, "hash table")
            return int.from_bytes(head[4:8], "little")
        counts = [self._section_count(address)]
        if dt.DT_GNU_HASH in self.tags:
            counts.append(self._gnu_count(self.tags[dt.DT_GNU_HASH]))
        return max(counts)

    def _gnu_count(self, address: int) -> int:
        start = self._at(address, "GNU hash table")
        raw = self._span(start, dt.GNU_HASH.size, "GNU hash table")
        buckets, first, words, _ = dt.GNU_HASH.unpack(raw)
        at = start + dt.GNU_HASH.size + 8 * words
        raw = self._span(at, 4 * buckets, "buckets of the GNU hash table")
        last = max((bucket for (bucket,) in struct.iter_unpack("<I", raw)), default=0)
        if last < first:  # all buckets are empty
            return int(first)
        at += 4 * buckets + 4 * (last - first)
        for number in range(last, MOST_SYMBOLS, CHAIN):
            size = min(4 * CHAIN, max(len(self.data) - at, 4))
            lowest = bytes(self._span(at, size, "chain of the GNU hash table"))[::4]
            for index, byte in enumerate(lowest):
                if byte & 1:  # the end of a chain
                    return number + index + 1
            at += size
        raise _refuse("a chain of the GNU hash table has no end", what=UNREADABLE)

    def _section_count(self, address: int) -> int:
        header = self.header
        end = header.shoff + header.shnum * SECTION_SIZE
        if header.shentsize != SECTION_SIZE or not header.shnum or end > len(self.data):
            return 0
        for raw in SECTION_STRUCT["little"].iter_unpack(self.data[header.shoff : end]):
            section = Section._make(raw)
            if section.type == SectionType.DYNSYM and section.addr == address:
                return section.size // SYMBOL_SIZE
        return 0

    def _versions(self) -> Iterator[tuple[str, str]]:
        """DT_VERNEED: (library, version), in order."""
        if dt.DT_VERNEED not in self.tags:
            return
        start = self._at(self.tags[dt.DT_VERNEED], "version table")
        size = max(min(LARGEST_VERSIONS, len(self.data) - start), 0)
        raw = self._span(start, size, "version table")
        left, at = MOST_VERSIONS, 0
        for _ in range(self.tags.get(dt.DT_VERNEEDNUM, 0)):
            _, count, file, aux, after = self._record(dt.VERNEED, raw, at)
            library = self.strings.at(file)
            aux += at
            for _ in range(count):
                _, _, _, name, step = self._record(dt.VERNAUX, raw, aux)
                yield library, self.strings.at(name)
                left -= 1
                if not step or not left:
                    break
                aux += step
            if not after or not left:
                break
            at += after

    @staticmethod
    def _record(layout: struct.Struct, raw: memoryview, at: int) -> tuple[int, ...]:
        if at + layout.size > len(raw):
            raise _refuse("the version table ends too early", what=DAMAGED)
        return layout.unpack_from(raw, at)
