"""The meta queries: records of a program or a kernel, as the caller asks. Spec 02 API-5, 01 section 9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cannkit.errors import FormatError
from cannkit.format.ascend_meta import BINARY_SECTION, FUNCTION_SECTION, BinaryMeta, FunctionMeta
from cannkit.format.elf_types import Section
from cannkit.format.status import RtError, RtStatus
from cannkit.format.tlv import Tlv, walk
from cannkit.image.kernel_name import MIX_SUFFIXES
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program

BINARY_TYPES: Final = range(BinaryMeta.SK_INFO + 1)
FUNCTION_TYPES: Final = range(FunctionMeta.KERNEL_TYPE, FunctionMeta.SCHED_MODE_INFO + 1)


def binary_meta_count(program: Program, kind: int) -> int:
    """rtBinaryGetMetaNum: how many records of a type the object has; padding counts as type 0.

    Raises RtError: 207000 for a type of 6 or more, 107000 for an AI CPU program.
    """
    return len(_binary_records(program, kind))


def binary_meta(program: Program, kind: int, sizes: Sequence[int] | None = None) -> list[bytes]:
    """rtBinaryGetMetaInfo: the values of these records, in order.

    `sizes` are the bytes the caller has room for, one for each record. Raises RtError as
    `binary_meta_count` does, and 107000 where `sizes` are not just those of the records.
    """
    values = [record.raw for record in _binary_records(program, kind)]
    found = list(map(len, values))
    if sizes is not None and list(sizes) != found:
        raise _no_meta(f"type {kind}", f"room for {list(sizes)} bytes, the records have {found}")
    return values


def function_meta_size(program: Program, kernel_name: str, kind: int) -> int:
    """rtFunctionGetMetaInfoSize: bytes of the first record of a type that a kernel has.

    Raises RtError: 207000 for a type outside 1 to 18; 107000 for an AI CPU program (QK-11), and for a
    kernel without such a record.
    """
    return len(_function_record(program, kernel_name, kind))


def function_meta(
    program: Program, kernel_name: str, kind: int, length: int | None = None
) -> bytes:
    """rtFunctionGetMetaInfo: the value of that record; `length` must be its size when given.

    Raises RtError as `function_meta_size` does, and 107000 for another length.
    """
    value = _function_record(program, kernel_name, kind)
    if length is not None and length != len(value):
        raise _no_meta(f"kernel {kernel_name}", f"room for {length} bytes, it has {len(value)}")
    return value


def _binary_records(program: Program, kind: int) -> list[Tlv]:
    if kind not in BINARY_TYPES:
        raise _unsupported(f"binary meta type {kind} is not in 0..{BINARY_TYPES[-1]}")
    if not isinstance(program, ElfProgram):
        raise _no_meta("program", "an AI CPU program has no meta section")
    section = _section(program, BINARY_SECTION)
    if section is None:
        return []
    return [record for record in _records(program, section) if record.type == kind]


def _function_record(program: Program, kernel_name: str, kind: int) -> bytes:
    """QRY-03: of the plain section and those of both halves, the last one counts."""
    where = f"kernel {kernel_name}"
    if kind not in FUNCTION_TYPES:
        raise _unsupported(f"function meta type {kind} is not in 1..{FUNCTION_TYPES[-1]}")
    if not isinstance(program, ElfProgram):
        raise _no_meta(where, "an AI CPU kernel has no meta section")  # QK-11
    names = [FUNCTION_SECTION + kernel_name + mark for mark in ("", *MIX_SUFFIXES)]
    found = [section for name in names if (section := _section(program, name)) is not None]
    if not found:
        raise _no_meta(where, "EE1014: the object has no meta section for it")
    for record in _records(program, found[-1]):
        if record.type == kind:
            return record.raw
    raise _no_meta(where, f"EE1014: no {FunctionMeta(kind).name} in its meta section")


def _section(program: ElfProgram, name: str) -> Section | None:
    """QRY-01: the first section of exactly this name, whatever its type."""
    elf, wanted = program.obj.elf, name.encode("utf-8", "surrogateescape")
    return next(
        (s for s in elf.sections if elf.section_names.bytes_at(s.name_offset) == wanted), None
    )


def _records(program: ElfProgram, section: Section) -> list[Tlv]:
    elf = program.obj.elf
    try:
        contents = elf.contents(section)
    except FormatError as error:
        raise _no_meta(error.where or "", error.why) from error
    return walk(contents, elf.byte_order, section.offset)[0]


def _unsupported(why: str) -> RtError:
    return RtError(RtStatus.FEATURE_NOT_SUPPORT, "no such meta type", why=why)


def _no_meta(where: str, why: str) -> RtError:
    return RtError(RtStatus.INVALID_VALUE, "no such meta record", where=where, why=why)
