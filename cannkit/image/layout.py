"""What the runtime takes from the section headers in its one walk. Spec 01, section 2.2."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from cannkit.errors import FormatError, ReadWarning, brief
from cannkit.format.ascend_meta import (
    BINARY_SECTION,
    DATA_SECTION,
    FUNCTION_SECTION,
    LAST_IMPLICIT_FEATURE,
    STACK_SECTION,
    STACK_SIZES,
    STACK_VERSION_MAGIC,
    STACK_VERSION_SIZES,
    BinaryMeta,
)
from cannkit.format.elf import ElfObject
from cannkit.format.elf_types import PREFIX, SHF_ALLOC, Section, SectionType
from cannkit.image.kernel_meta import Record, Refusal
from cannkit.image.meta_reader import read_binary_meta
from cannkit.soc import Soc

NAME_LIMIT = 4096  # FUN-02, SYM-08: a name this long is skipped
LARGEST_META = 3 << 20  # bytes of metadata in one object: 10,000 kernels take 2.2 million
WRAP = 1 << 64

DT_NULL = 0
DT_SONAME = 14

BINARY = BINARY_SECTION.encode()
FUNCTION = FUNCTION_SECTION.encode()
STACK = STACK_SECTION.encode()
DATA = DATA_SECTION.encode()
NAME_BYTES = len(FUNCTION) + NAME_LIMIT  # what is longer is skipped anyway


@dataclass(slots=True)
class Layout:
    """The walk's outcome, filled section by section; offsets and sizes in bytes of the file."""

    text_offset: int = 0
    text_size: int = 0
    writable_data: bool = False
    stack_size: int = 0
    so_name: str | None = None
    implicit_flags: int = 0
    binary_meta: list[Record] = field(default_factory=list)
    function_meta: dict[str, Section] = field(default_factory=dict)  # by kernel name
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[ReadWarning] = field(default_factory=list)
    budget: int = LARGEST_META  # bytes of metadata that may still be read

    def can_take(self, size: int, name: str) -> bool:
        """Whether `size` bytes more may be read; refuses the object once they may not.

        Sections that overlap, and kernels that share one, could ask for any amount.
        """
        if size <= self.budget:
            return True
        if self.budget >= 0:
            self.budget = -1
            message = f"metadata sections overlap, or are too large: {brief(name)} is not read"
            self.refuse("HAZ-15", message, rt=False)
        return False

    def take(self, size: int, name: str) -> bool:
        """The same, and they are counted."""
        taken = self.can_take(size, name)
        self.budget -= size if taken else 0
        return taken

    def warn(self, code: str, where: str, message: str) -> None:
        """Note something odd."""
        self.warnings.append(ReadWarning(code, where, message))

    def refuse(self, rule: str, message: str, *, rt: bool = True) -> None:
        """Note why the object is refused."""
        self.refusals.append(Refusal(rule, message, rt))


def read_layout(elf: ElfObject, soc: Soc) -> Layout:
    """Walk the section headers once, in order, as the runtime does. Raises nothing."""
    layout = Layout(budget=min(len(elf.data), LARGEST_META))
    names = elf.section_names
    dynamic = dynstr = None
    extent_fails = False
    for index, section in enumerate(elf.sections):
        if section.flags & SHF_ALLOC and section.size and not extent_fails:
            extent_fails = not _extend_image(layout, section, index)
        if section.type in (SectionType.PROGBITS, SectionType.NOTE):
            if len(names) and section.name_offset > len(names):  # HAZ-04
                place = f"section {index}: sh_name {section.name_offset:#x}"
                layout.refuse("HAZ-04", f"{place} lies outside the name table", rt=False)
            else:
                _read_named(layout, elf, section, names.bytes_at(section.name_offset, NAME_BYTES))
        elif elf.has_name_table and section.name_offset < len(names):  # SEC-07: last match wins
            match section.type, names.bytes_at(section.name_offset, 9):
                case SectionType.STRTAB, b".dynstr":
                    dynstr = section
                case SectionType.DYNAMIC, b".dynamic":
                    dynamic = section
    if not layout.stack_size and soc.has_stack_size_in_version:  # STK-04
        version = elf.header.version
        if version >> 16 == STACK_VERSION_MAGIC:
            layout.stack_size = STACK_VERSION_SIZES.get(version >> 8 & 0xFF, 0)
    if dynamic and dynstr and dynamic.size and dynstr.size:
        layout.so_name = _so_name(layout, elf, dynamic, dynstr)
    _judge_image(layout, elf)
    return layout


def _extend_image(layout: Layout, section: Section, index: int) -> bool:
    """SEC-06: the device image runs from the first allocated section to the end of the last."""
    layout.text_offset = layout.text_offset or section.offset  # 0 is the "unset" sentinel
    if (section.offset - layout.text_offset) % WRAP + section.size >= WRAP:
        place = f"section {index} at {section.offset:#x}, {section.size} bytes"
        layout.refuse("SEC-06", f"EE1014: {place}, does not follow the image's start")
        return False
    layout.text_size = (section.offset + section.size - layout.text_offset) % WRAP
    return True


def _judge_image(layout: Layout, elf: ElfObject) -> None:
    """HAZ-10: the runtime never holds the image against the file."""
    end = layout.text_offset + layout.text_size
    if end >= WRAP:
        message = (
            f"the last allocated section ends before the image starts: size {layout.text_size}"
        )
        layout.refuse("HAZ-10", f"image-extent: {message}", rt=False)
    elif end > len(elf.data):
        place = f"offset {layout.text_offset:#x}"
        message = (
            f"the image of {layout.text_size} bytes ends {end - len(elf.data)} bytes after the file"
        )
        layout.warn("image-extent", place, f"{message}: it can not be loaded")


def _read_named(layout: Layout, elf: ElfObject, section: Section, name: bytes) -> None:
    """SEC-08: sections the runtime knows by name."""
    if name == DATA:
        layout.writable_data = True
    elif FUNCTION in name:
        kernel = name[len(FUNCTION) :]  # FUN-01: 13 bytes off the front, wherever the match is
        if not kernel or len(kernel) >= NAME_LIMIT:  # FUN-02
            message = "the kernel's name is too long" if kernel else "no kernel name in it"
            layout.warn("meta-name", f"section at {section.offset:#x}", f"{message}: skipped")
        else:  # FUN-03: a later section of the same name replaces an earlier one
            layout.function_meta[kernel.decode("utf-8", "surrogateescape")] = section
    elif STACK in name:
        _read_stack(layout, elf, section)
    elif name == BINARY:
        _read_binary(layout, elf, section)


def _read_binary(layout: Layout, elf: ElfObject, section: Section) -> None:
    try:
        contents = elf.contents(section)
    except FormatError as error:
        layout.refuse("HAZ-06", str(error), rt=False)
        return
    if not layout.take(len(contents), BINARY_SECTION):
        return
    records, warnings = read_binary_meta(contents, elf.byte_order, section.offset)
    layout.binary_meta += records
    layout.warnings += warnings
    for record in records:
        if record.tlv.type != BinaryMeta.RUNTIME_IMPLICIT_INFO or record.value is None:
            continue
        feature = record.value["feature"]
        if 1 <= feature <= LAST_IMPLICIT_FEATURE:
            layout.implicit_flags |= 1 << (feature - 1)
        else:  # BIN-01
            place = f"section .ascend.meta, offset {record.tlv.offset:#x}"
            layout.warn("implicit-feature", place, f"feature {feature} is not in 1..32: ignored")


def _read_stack(layout: Layout, elf: ElfObject, section: Section) -> None:
    """STK-01 to STK-03: one value for every compile unit; the last valid section wins."""
    where = f"section {STACK_SECTION}, offset {section.offset:#x}"
    size = section.size & 0xFFFF_FFFF
    if size < 8 or size % 8:
        layout.warn("stack-record", where, f"{size} bytes are no array of u64: ignored")
        return
    try:
        contents = elf.contents(section)
    except FormatError as error:
        layout.refuse("HAZ-06", str(error), rt=False)
        return
    if not layout.take(size, STACK_SECTION):
        return
    first = struct.unpack_from(PREFIX[elf.byte_order] + "Q", contents)[0]
    if first not in STACK_SIZES:
        layout.warn("stack-record", where, f"{first} is neither 16384 nor 32768: ignored")
    elif contents != bytes(contents[:8]) * (size // 8):
        layout.warn("stack-record", where, "the values differ from each other: ignored")
    else:
        layout.stack_size = first


def _so_name(layout: Layout, elf: ElfObject, dynamic: Section, dynstr: Section) -> str | None:
    """SEC-10: the first DT_SONAME, unless a DT_NULL comes before it."""
    try:
        entries = elf.contents(dynamic)
    except FormatError as error:
        layout.warn("dynamic-extent", f"offset {dynamic.offset:#x}", f"{error}: no SONAME is read")
        return None
    whole = len(entries) - len(entries) % 16
    for tag, value in struct.iter_unpack(PREFIX[elf.byte_order] + "QQ", entries[:whole]):
        if tag == DT_NULL:
            return None
        if tag == DT_SONAME:
            try:
                strings = elf.strings(dynstr)
            except FormatError as error:
                layout.refuse("HAZ-08", str(error), rt=False)
                return None
            if value >= len(strings):
                reason = f"DT_SONAME {value:#x} lies outside .dynstr ({len(strings)} bytes)"
                layout.refuse("HAZ-08", reason, rt=False)
                return None
            return strings.bytes_at(value, NAME_LIMIT).decode("utf-8", "surrogateescape")
    return None
