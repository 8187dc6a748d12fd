"""Entries of STARS v2 as the hardware takes them. Spec 04, sections 4.5 to 4.7 and 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.device.executor import Outcome
from cannkit.device.kernel_entry import KernelEntry, Reading, end_of_type, fixed_bits
from cannkit.format.bits import Record
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.sqe.v200 import AicpuSqe, Header, KernelSqe, SqeType

TYPE_MASK: Final = 0x3F  # of byte 0
KERNELS: Final = (SqeType.AIC, SqeType.AIV)
CPU: Final = (SqeType.AICPU_H, SqeType.AICPU_D)


def kernel(sqe: KernelSqe, _context: None = None) -> KernelEntry:
    """A kernel on cube cores, vector cores or both."""
    is_vector = sqe.sqe_type == SqeType.AIV
    return KernelEntry(
        sqe=sqe,
        context=None,
        vector_main=is_vector,
        paired=sqe.mix,
        ratio_value=sqe.ratio,
        dim=sqe.block_dim,
        schem=sqe.schem,
        credit=sqe.kernel_credit,
        aic_pc=sqe.aic_pc,
        aiv_pc=sqe.aiv_pc,
        args_size=0,
        stack_base=sqe.stack_base,
        stack_level=max(
            sqe.aic_stack_level if sqe.mix or not is_vector else 0,
            sqe.aiv_stack_level if sqe.mix or is_vector else 0,
        ),
        groups=(sqe.group_dim, sqe.group_block_dim),
        dcu_size=sqe.dcu_size,
    )


class EntriesV200:
    """A5."""

    readings: Mapping[type[Record], Reading] = {
        KernelSqe: Reading(
            kernel,
            fixed_bits(KernelSqe, "task_sn", "aic_args_addr", "aiv_args_addr"),
            ("aic_args_addr", "aiv_args_addr"),
        ),
    }

    def decode(self, raw: bytes) -> Record:
        """The record in 64 bytes; of an entry that is neither kernel nor AI CPU, its header."""
        sqe_type = raw[0] & TYPE_MASK
        if sqe_type in KERNELS:
            return KernelSqe.decode(raw)
        if sqe_type in CPU:
            return AicpuSqe.decode(raw)
        if sqe_type == SqeType.FUSION:
            sqe = AicpuSqe.decode(raw)
            if sqe.kernel_type == CpuKernelType.AICPU_KFC and sqe.sub_type:  # 04, 4.7
                return sqe
        return Header.decode(raw)

    def type_name(self, raw: bytes) -> str:
        """What kind of entry it is."""
        return Header.decode(raw).sqe_type.name

    def end_of_other(self, raw: bytes) -> Outcome:
        """How an entry that is neither kernel nor AI CPU ends."""
        return end_of_type(Header.decode(raw).sqe_type, SqeType.PLACE_HOLDER, SqeType.INVALID)

    def ids(self, raw: bytes, queue: int, position: int) -> tuple[int, int]:
        """Stream and task of an entry, which names neither: the place in the queue (LCH-64, Q-18)."""
        return queue, position
