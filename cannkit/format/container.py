"""What is embedded in bytes: fatbins, op packages, fusion binaries, archive members. Spec 01, 12.

Nothing is copied: an embedded object is a span of the bytes that contain it.
"""

from __future__ import annotations

import struct
from enum import StrEnum
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from cannkit.errors import FormatError, ReadWarning
from cannkit.format.ascend_meta import FUNCTION_SECTION
from cannkit.format.elf import ElfObject
from cannkit.format.elf_types import ByteView, Machine, Section, SectionType
from cannkit.format.objcopy import PACKED_MARK, packed_file, packed_symbols

if TYPE_CHECKING:
    from collections.abc import Iterator

FUSION_SECTION = ".aicore_binary"  # CON-06
FATBIN_MARK = ".ascend.kernel."  # CON-02

FATBIN_HEAD = struct.Struct("<II")
FATBIN_ENTRY = struct.Struct("<III")
FATBIN_TYPES = {0: "mix", 1: "aiv", 2: "aic"}
FATBIN_MAX_COUNT = 16

AR_MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
AR_HEADER_SIZE = 60
AR_HEADER_END = b"`\n"
GNU_NAMES = b"//"
SYMBOL_TABLES = (b"/", b"/SYM64/", b"__.SYMDEF", b"__.SYMDEF SORTED", b"__.SYMDEF_64")
BSD_LONG_NAME = b"#1/"
AR_NAME_LIMIT = 512  # no file system has longer names; members may share one

SECTION_NAME_LIMIT = 512
MAX_EMBEDDED = 1 << 16


class ContainerKind(StrEnum):
    """What a kernel object came out of."""

    FATBIN = "fatbin"
    ACLNN = "aclnn"
    AICORE_BINARY = "aicore_binary"
    ARCHIVE = "archive"
    WHEEL = "wheel"


class Embedded(NamedTuple):
    """A kernel object, or an archive's member, as a span of the bytes that contain it."""

    kind: ContainerKind
    member: str
    offset: int
    size: int
    sidecar: tuple[int, int] | None = None
    warnings: tuple[ReadWarning, ...] = ()


def is_device_object(elf: ElfObject) -> bool:
    """CON-01: whether the file itself is for the AI Core."""
    return elf.header.machine == Machine.EM_ASCEND_AI_CORE or any(_sections(elf, FUNCTION_SECTION))


def has_container_section(elf: ElfObject) -> bool:
    """Whether a section for embedded objects is there; a fatbin may well hold none (CON-02)."""
    return any(_sections(elf, FUSION_SECTION, whole=True)) or any(_sections(elf, FATBIN_MARK))


def embedded_objects(elf: ElfObject) -> tuple[Embedded, ...]:
    """The kernel objects that `elf` embeds, in the order of CON-01: the first way found counts.

    Raises FormatError (CON-02, CON-04, HAZ-15) for a container that contradicts itself, leaves
    the file, or counts the same bytes twice.
    """
    if found := tuple(_fusion_binaries(elf)):
        return _within_budget(elf, found)
    if any(_sections(elf, FATBIN_MARK)):
        return _within_budget(elf, _fatbins(elf))
    if is_device_object(elf):
        return ()
    return _within_budget(elf, tuple(_package_objects(elf)))


def _sections(elf: ElfObject, mark: str, *, whole: bool = False) -> Iterator[tuple[str, Section]]:
    for section in elf.sections:
        if section.type != SectionType.PROGBITS and mark != FUNCTION_SECTION:
            continue  # CON-02, CON-06; `.rela.ascend.kernel.x` is no fatbin
        name = elf.section_name(section, SECTION_NAME_LIMIT)
        if (name == mark) if whole else (mark in name):
            yield name, section


def _within_budget(elf: ElfObject, found: tuple[Embedded, ...]) -> tuple[Embedded, ...]:
    """HAZ-15: spans that overlap would let a small file ask for any amount of work."""
    heads = FATBIN_ENTRY.size * sum(each.kind is ContainerKind.FATBIN for each in found)
    total = heads + sum(each.size + (each.sidecar[1] if each.sidecar else 0) for each in found)
    if total > len(elf.data) or len(found) > MAX_EMBEDDED:
        raise FormatError(
            "embedded objects overlap",
            why=f"{len(found)} of them add up to {total} bytes, the file has {len(elf.data)}",
            rule="HAZ-15",
        )
    return found


def _check_extent(elf: ElfObject, name: str, section: Section, rule: str) -> None:
    if section.offset + section.size > len(elf.data):
        raise FormatError(
            "section leaves the file",
            where=f"section {name!r}, offset {section.offset:#x}",
            why=f"sh_size {section.size} reaches past the file's {len(elf.data)} bytes",
            rule=rule,
        )


def _fusion_binaries(elf: ElfObject) -> Iterator[Embedded]:
    for name, section in _sections(elf, FUSION_SECTION, whole=True):  # CON-06
        _check_extent(elf, name, section, "CON-06")
        yield Embedded(ContainerKind.AICORE_BINARY, name, section.offset, section.size)


def _fatbins(elf: ElfObject) -> tuple[Embedded, ...]:
    entries = (_fatbin(elf, name, section) for name, section in _sections(elf, FATBIN_MARK))
    return tuple(islice(chain.from_iterable(entries), MAX_EMBEDDED + 1))


def _fatbin(elf: ElfObject, name: str, section: Section) -> list[Embedded]:
    """CON-02: the entries of one section, little-endian whatever the file is."""
    _check_extent(elf, name, section, "CON-02")
    at, end = section.offset, section.offset + section.size

    def place() -> str:
        return f"section {name!r}, offset {at:#x}"

    def broken(what: str, why: str) -> FormatError:
        return FormatError(what, where=place(), why=why, rule="CON-02")

    if end - at < FATBIN_HEAD.size:
        raise broken("fatbin is cut off", f"{end - at} bytes, its head takes {FATBIN_HEAD.size}")
    version, count = FATBIN_HEAD.unpack(elf.data[at : at + FATBIN_HEAD.size])
    if version != 1:
        raise broken("unknown fatbin version", f"version is {version}, not 1")
    if count > FATBIN_MAX_COUNT:  # HAZ-15
        raise broken("too many fatbin entries", f"count is {count}, at most {FATBIN_MAX_COUNT}")
    at += FATBIN_HEAD.size
    found: list[Embedded] = []
    for index in range(count):
        left = end - at - FATBIN_ENTRY.size
        if left < 0:
            why = f"{end - at} bytes are left for entry {index}, its head takes {FATBIN_ENTRY.size}"
            raise broken("fatbin entry leaves the section", why)
        start = at + FATBIN_ENTRY.size
        number, length, file_length = FATBIN_ENTRY.unpack(elf.data[at:start])
        if length > left:
            why = f"len of entry {index} is {length}, {left} bytes are left"
            raise broken("fatbin entry leaves the section", why)
        if file_length > length:
            why = f"file_len of entry {index} is {file_length}, its len is {length}"
            raise broken("fatbin entry is smaller than its object", why)
        remarks = []
        if number not in FATBIN_TYPES:
            remarks.append(ReadWarning("fatbin-type", place(), f"entry {index} has type {number}"))
        at = start + length
        if index == count - 1 and at < end:
            remarks.append(
                ReadWarning("fatbin-tail", place(), f"{end - at} bytes after the last entry")
            )
        member = f"{name}[{index}] {FATBIN_TYPES.get(number, f'unknown({number})')}"
        entry = Embedded(ContainerKind.FATBIN, member, start, file_length, None, tuple(remarks))
        found.append(entry)
    return found


def _package_objects(elf: ElfObject) -> Iterator[Embedded]:
    """CON-04: an `_o_start` symbol is a kernel object, `_json_start` the sidecar beside it."""
    symbols = packed_symbols(elf)
    for name in symbols:
        if not name.endswith(b"_o_start"):
            continue
        stem = name.removesuffix(b"_o_start")
        packed = packed_file(elf, symbols, stem + b"_o")
        remarks = [ReadWarning(code, packed.where, why) for code, why in packed.oddities]
        sidecar = None
        if stem + b"_json_start" in symbols:
            try:
                beside = packed_file(elf, symbols, stem + b"_json")
                sidecar = beside.offset, beside.size
                remarks += [ReadWarning(code, beside.where, why) for code, why in beside.oddities]
            except FormatError as error:  # the runtime does without a sidecar too
                why = f"{error.what}: {error.why}"
                remarks.append(ReadWarning("embedded-sidecar", error.where or "", why))
        # CON-04: the last `_` of the flattened path was a dot
        member = stem.removeprefix(PACKED_MARK).decode("utf-8", "surrogateescape") + ".o"
        span = packed.offset, packed.size
        yield Embedded(ContainerKind.ACLNN, member, *span, sidecar, tuple(remarks))


def archive_members(data: ByteView) -> Iterator[Embedded]:
    """The members of `data` in file order, but for symbol and name tables.

    Raises FormatError (CON-07) when it comes to a header that is cut off, malformed, or lies about
    its member's size or name, and for a thin archive, which holds no members at all.
    """
    magic = bytes(data[0 : len(AR_MAGIC)])
    if magic == THIN_MAGIC:
        hint = "name the member files themselves, or make a full archive of them"
        raise _broken(0, "thin archive", "it names its members and does not hold them", hint)
    if magic != AR_MAGIC:
        raise _broken(0, "not an archive", f"starts with {magic.hex()}, not with !<arch>")
    at, names = len(AR_MAGIC), (0, 0)
    while at < len(data):
        field, start, size = _read_header(data, at)
        end = start + size
        if field == GNU_NAMES:
            names = (start, end)
        elif field.startswith(BSD_LONG_NAME):
            length = _number(field.removeprefix(BSD_LONG_NAME), at, "name length")
            if length > min(size, AR_NAME_LIMIT):
                raise _broken(at, "archive member has no name", f"{length} bytes of it in {size}")
            # BSD pads the name to align what follows
            name = bytes(data[start : start + length]).rstrip(b"\0")
            if name not in SYMBOL_TABLES:
                yield _member(name, start + length, size - length)
        elif field not in SYMBOL_TABLES:
            if field.startswith(b"/"):
                offset = _number(field[1:], at, "name offset")
                yield _member(_long_name(data, names, offset, at), start, size)
            else:
                yield _member(field.removesuffix(b"/"), start, size)
        at = end + end % 2  # a member begins at an even offset


def _member(name: bytes, start: int, size: int) -> Embedded:
    return Embedded(ContainerKind.ARCHIVE, name.decode("utf-8", "surrogateescape"), start, size)


def _read_header(data: ByteView, at: int) -> tuple[bytes, int, int]:
    """Name field, start and size of the member whose header is at `at`."""
    start = at + AR_HEADER_SIZE
    if start > len(data):
        why = f"{len(data) - at} bytes, a member header takes {AR_HEADER_SIZE}"
        raise _broken(at, "archive is cut off", why)
    header = bytes(data[at:start])
    if header[58:60] != AR_HEADER_END:
        raise _broken(at, "not a member header", f"ends with {header[58:60].hex()}, not with 600a")
    size = _number(header[48:58].rstrip(b" "), at, "size")
    if start + size > len(data):
        why = f"its size is {size}, {len(data) - start} bytes are left"
        raise _broken(at, "archive member leaves the file", why)
    return header[:16].rstrip(b" "), start, size


def _long_name(data: ByteView, names: tuple[int, int], offset: int, at: int) -> bytes:
    """A GNU long name: up to `/` and a newline, in the member `//`."""
    start, end = names
    if offset >= end - start:
        why = f"its name is at {offset}, the name table has {end - start} bytes"
        raise _broken(at, "archive member has no name", why)
    raw = bytes(data[start + offset : min(start + offset + AR_NAME_LIMIT, end)])
    name, newline, _ = raw.partition(b"\n")
    if not newline:
        raise _broken(at, "archive member has no name", f"the name at {offset} does not end")
    return name.removesuffix(b"/")


def _number(field: bytes, at: int, what: str) -> int:
    if not field.isdigit():  # int() would take a sign or an underscore
        text = field.decode("latin-1")
        raise _broken(at, "not a member header", f"{what} is {text!r}, not a decimal number")
    return int(field)


def _broken(at: int, what: str, why: str, hint: str | None = None) -> FormatError:
    return FormatError(what, where=f"offset {at:#x}", why=why, hint=hint, rule="CON-07")
