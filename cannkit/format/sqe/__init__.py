"""Queue entries of the STARS generations: which record their bytes are. Spec 04, 4.1 to 4.9."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from cannkit.errors import FormatError, UsageError
from cannkit.format.bits import OpenEnum, Record
from cannkit.format.sqe import v100, v200
from cannkit.soc import Soc

SQE_SIZE: Final = 64
Sqe = v100.Header | v200.Header

CPU_TYPES: Final = (v200.SqeType.AICPU_H, v200.SqeType.AICPU_D)
MAIN_SIDES: Final = (v100.ContextType.MIX_AIC, v100.ContextType.MIX_AIV)
UNIFIED_BUFFER: Final = 262_144  # LCH-48
TYPE: Final = 0x3F  # bits of byte 0
FFTS_TYPE: Final = 7  # bits of byte 8, v100
KFC_FUSION: Final = b"\x00\x08"  # bytes 8 and 9 of a v200 fusion that is an AI CPU kernel
CPU_TOPIC: Final = bytes.fromhex("00300028")  # word 14 of every AI CPU kernel
ONE_CONTEXT: Final = bytes.fromhex("01000100")  # word 6 of a mix
WRR_1: Final = frozenset(bytes.fromhex(f"{low}100000") for low in ("00", "01", "05"))  # word 2
NS: Final = 4  # bit of byte 28
MIX_OR_LOOSE: Final = 6  # bits of byte 15, v200


class Family(StrEnum):
    """A generation of STARS: v100 is that of A2 and A3, v200 that of A5."""

    V100 = "v100"
    V200 = "v200"


RECORDS: Final[Mapping[Family, Mapping[str, type[Record]]]] = {
    Family.V100: {
        "kernel": v100.KernelSqe,
        "mix": v100.MixSqe,
        "aicpu": v100.AicpuSqe,
        "header": v100.Header,
        "context": v100.MixContext,
    },
    Family.V200: {"kernel": v200.KernelSqe, "aicpu": v200.AicpuSqe, "header": v200.Header},
}


def family_of(soc: Soc) -> Family:
    """The generation of a chip. Raises UsageError where the layout of its entries is not known.

    On chips of the v100 library without FFTS+ kernel entries are laid out otherwise (spec 04, 4.8).
    """
    if soc.library == Family.V100 and soc.has_ffts_plus:
        return Family.V100
    if soc.library == Family.V200:
        return Family.V200
    raise UsageError(
        f"the layout of queue entries of {soc.name} is not known",
        hint="it is known of A2, A3 and A5: `cannkit soc` lists them",
    )


def decode_sqe(raw: bytes, family: Family) -> Sqe:
    """The record of 64 bytes; only the header of what is no kernel, the rest in its residue.

    Raises FormatError for another length.
    """
    if len(raw) != SQE_SIZE:
        raise FormatError(f"a queue entry of {len(raw)} bytes", why=f"it has {SQE_SIZE} bytes")
    kind = raw[0] & TYPE
    if family is Family.V200:
        if kind <= v200.SqeType.AIV:
            return v200.KernelSqe.decode(raw)
        if kind in CPU_TYPES or (kind == v200.SqeType.FUSION and raw[8:10] == KFC_FUSION):
            return v200.AicpuSqe.decode(raw)
        return v200.Header.decode(raw)
    if kind == v100.SqeType.FFTS:
        is_mix = raw[8] & FFTS_TYPE == v100.FftsType.MIX
        return v100.MixSqe.decode(raw) if is_mix else v100.KernelSqe.decode(raw)
    if kind == v100.SqeType.AICPU:
        return v100.AicpuSqe.decode(raw)
    if kind == v100.SqeType.INVALID and _is_mix(raw):  # its context could not be copied
        return v100.MixSqe.decode(raw)
    return v100.Header.decode(raw)


def guess_family(raw: bytes) -> Family | None:
    """What the bytes of an entry say; None where they do not tell. LCH-60, the first match wins."""
    kind = raw[0] & TYPE
    if _is_mix(raw):
        return Family.V100
    is_fusion = kind == v200.SqeType.FUSION and raw[8:10] == KFC_FUSION
    if raw[56:60] == CPU_TOPIC and (raw[8:10] == bytes(2) or is_fusion):
        if kind == v100.SqeType.AICPU:
            return Family.V100
        if kind in CPU_TYPES or kind == v200.SqeType.FUSION:
            return Family.V200
    if raw[8:12] in WRR_1 and raw[28] & NS:
        return Family.V100
    if raw[15] & MIX_OR_LOOSE:
        return Family.V200
    return None


def is_plausible(raw: bytes, family: Family | None = None) -> bool:
    """Whether 64 bytes look like a kernel entry: they tell a family, and no reserved bit is set."""
    guess = guess_family(raw)
    if guess is None or family not in (None, guess):
        return False
    sqe = decode_sqe(raw, guess)
    if isinstance(sqe, v200.KernelSqe) and sqe.dcu_size > UNIFIED_BUFFER:
        return False
    return not sqe.residue and type(sqe) not in (v100.Header, v200.Header)


def is_context(raw: bytes) -> bool:
    """Whether bytes look like the context of a mix."""
    if len(raw) != v100.MixContext.SIZE:
        return False
    context = v100.MixContext.decode(raw)
    return context.context_type in MAIN_SIDES and context.thread_dim == 1 and not context.residue


def _is_mix(raw: bytes) -> bool:
    return raw[8] & FFTS_TYPE == v100.FftsType.MIX and raw[24:28] == ONE_CONTEXT


class IdMode(OpenEnum):
    """How a mix entry carries its ids: the capability of the scheduler that decides. LCH-73."""

    PLAIN = 0
    SAME_TASK_ID = 33
    SOFTWARE_QUEUE = 45


class Ids(NamedTuple):
    """Stream and task of an entry, and how it carries them."""

    stream_id: int
    task_id: int
    mode: IdMode


def exchange_ids(sqe: v100.MixSqe, mode: IdMode) -> v100.MixSqe:
    """A complete mix entry with its ids as the scheduler wants them. LCH-73."""
    stream, task = sqe.stream_id, sqe.task_id
    if mode == IdMode.SOFTWARE_QUEUE:
        return sqe.replace(
            stream_id=task & 0x7FFF | 0x8000, task_id=stream & 0x7FFF | task & 0x8000
        )
    if mode == IdMode.SAME_TASK_ID:
        return sqe.replace(
            stream_id=task & 0x0FFF | 0x2000 | stream & 0xC000,
            task_id=stream & 0x0FFF | task & 0xF000,
        )
    return sqe


def restore_ids(sqe: v100.Header) -> Ids:
    """Stream and task of an entry, whatever their places. LCH-73, Q-31.

    Only mix entries exchange them. Bits 12 and 13 of the stream are lost under SAME_TASK_ID.
    """
    first, second = sqe.stream_id, sqe.task_id
    if isinstance(sqe, v100.MixSqe) and first & 0x8000:
        return Ids(second & 0x7FFF, first & 0x7FFF | second & 0x8000, IdMode.SOFTWARE_QUEUE)
    if isinstance(sqe, v100.MixSqe) and first & 0x3000 == 0x2000:
        stream, task = second & 0x0FFF | first & 0xC000, first & 0x0FFF | second & 0xF000
        return Ids(stream, task, IdMode.SAME_TASK_ID)
    return Ids(first, second, IdMode.PLAIN)
