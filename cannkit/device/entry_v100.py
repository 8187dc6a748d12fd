"""Entries of STARS v1 as the hardware takes them. Spec 04, sections 4.1 to 4.4 and 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.device.executor import ErrorType, Outcome
from cannkit.device.kernel_entry import (
    CONTEXT_ALIGN,
    KernelEntry,
    Reading,
    end_of_type,
    fixed_bits,
)
from cannkit.format.bits import Record
from cannkit.format.sqe import restore_ids
from cannkit.format.sqe.v100 import (
    AicpuSqe,
    ContextType,
    FftsType,
    Header,
    KernelSqe,
    MixContext,
    MixSqe,
    SqeType,
)

TYPE_MASK: Final = 0x3F  # of byte 0
FFTS_MASK: Final = 0x07  # of byte 8
CONTEXT_REST: Final = (CONTEXT_ALIGN - 1) << MixSqe.SPANS["context_addr"].lo
SINGLE: Final = (FftsType.AIC, FftsType.AIV, FftsType.AICORE)


def single_kernel(sqe: KernelSqe, _context: None = None) -> KernelEntry:
    """A kernel on one kind of core."""
    is_vector = sqe.ffts_type == FftsType.AIV
    return KernelEntry(
        sqe=sqe,
        context=None,
        vector_main=is_vector,
        paired=False,
        ratio_value=0,
        dim=sqe.block_dim,
        schem=sqe.schem,
        credit=sqe.kernel_credit,
        aic_pc=0 if is_vector else sqe.pc,
        aiv_pc=sqe.pc if is_vector else 0,
        args_size=0,
        stack_base=sqe.stack_base,
        stack_level=sqe.stack_level,
    )


def mix_kernel(sqe: MixSqe, context: MixContext) -> KernelEntry:
    """A kernel under the mix mechanism: its context says all but stack base and credit."""
    return KernelEntry(
        sqe=sqe,
        context=context,
        vector_main=context.context_type == ContextType.MIX_AIV,
        paired=context.ratio != 0 or (context.aic_pc != 0 and context.aiv_pc != 0),
        ratio_value=context.ratio,
        dim=context.block_dim,
        schem=context.schem,
        credit=sqe.kernel_credit,
        aic_pc=context.aic_pc,
        aiv_pc=context.aiv_pc,
        args_size=max(context.aic_args_size, context.aiv_args_size),
        stack_base=sqe.stack_base,
        stack_level=context.thread_id,
    )


class EntriesV100:
    """A2 and A3; a chip without FFTS+ has kernel entries of an older kind (04, 4.8)."""

    readings: Mapping[type[Record], Reading] = {
        KernelSqe: Reading(
            single_kernel,
            fixed_bits(KernelSqe, "stream_id", "task_id", "args_addr"),
            ("args_addr", "args_addr"),
        ),
        MixSqe: Reading(
            mix_kernel,
            fixed_bits(MixSqe, "stream_id", "task_id", "context_addr") | CONTEXT_REST,
            ("aic_args_addr", "aiv_args_addr"),
            MixContext,
            fixed_bits(MixContext, "aic_args_addr", "aiv_args_addr"),
        ),
    }

    def __init__(self, *, has_ffts_plus: bool = True) -> None:
        self._has_ffts_plus = has_ffts_plus

    def decode(self, raw: bytes) -> Record:
        """The record in 64 bytes; of an entry that is neither kernel nor AI CPU, its header."""
        sqe_type = raw[0] & TYPE_MASK
        if sqe_type == SqeType.FFTS and self._has_ffts_plus:
            ffts_type = raw[8] & FFTS_MASK
            if ffts_type == FftsType.MIX:
                return MixSqe.decode(raw)
            return KernelSqe.decode(raw) if ffts_type in SINGLE else Header.decode(raw)
        return AicpuSqe.decode(raw) if sqe_type == SqeType.AICPU else Header.decode(raw)

    def type_name(self, raw: bytes) -> str:
        """What kind of entry it is."""
        return Header.decode(raw).sqe_type.name

    def end_of_other(self, raw: bytes) -> Outcome:
        """How an entry that is neither kernel nor AI CPU ends; Q-10 for type 63."""
        sqe_type = Header.decode(raw).sqe_type
        if sqe_type == SqeType.FFTS and self._has_ffts_plus:
            return Outcome(ErrorType.SQE_ERROR, 0, f"no such FFTS type: {raw[8] & FFTS_MASK}")
        return end_of_type(sqe_type, SqeType.PLACE_HOLDER, SqeType.INVALID)

    def ids(self, raw: bytes, queue: int, position: int) -> tuple[int, int]:
        """Stream and task of an entry; a mix may have them exchanged (LCH-73), as type 63 too (Q-10)."""
        is_ffts = raw[0] & TYPE_MASK in (SqeType.FFTS, SqeType.INVALID)
        is_mix = is_ffts and raw[8] & FFTS_MASK == FftsType.MIX
        stream_id, task_id, _ = restore_ids((MixSqe if is_mix else Header).decode(raw))
        return stream_id, task_id
