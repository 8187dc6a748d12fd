"""What follows from a Kernel: prefetch counts, name id, attributes, how slots go to cores. Spec 02."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.format.bits import OpenEnum
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import U32, AttrType, Kernel, MixType
from cannkit.soc import Soc

# REG-15: the most code, in bytes, that is prefetched for slot 1 and slot 2.
PREFETCH_CAPS: Final[Mapping[AttrType, tuple[int, int]]] = {
    AttrType.AICORE: (32768, 0),
    AttrType.CUBE: (32768, 0),
    AttrType.VECTOR: (16384, 0),
    AttrType.MIX: (32768, 16384),
    AttrType.AICPU: (0, 0),
}

# API-8: cube : vector by mix type and taskRation; MIX_AIC and MIX_AIV do not ask for the latter.
RATIO_OF_PAIR: Final[Mapping[tuple[MixType, int], tuple[int, int]]] = {
    (MixType.MIX_AIC_AIV_MAIN_AIC, 1): (1, 1),
    (MixType.MIX_AIC_AIV_MAIN_AIC, 2): (1, 2),
    (MixType.MIX_AIC_AIV_MAIN_AIV, 1): (1, 1),
    (MixType.MIX_AIC_AIV_MAIN_AIV, 2): (2, 1),
}
RATIO_OF_MIX: Final[Mapping[MixType, tuple[int, int]]] = {
    MixType.NO_MIX: (0, 0),
    MixType.MIX_AIC: (1, 0),
    MixType.MIX_AIV: (0, 1),
}


class FunctionAttribute(OpenEnum):
    """aclrtFuncAttribute: what can be asked of a function handle."""

    KERNEL_TYPE = 1
    KERNEL_RATIO = 2
    SCHED_MODE = 3


def count_prefetch(kernel: Kernel, soc: Soc) -> None:
    """REG-15: set the counts of a registration, in units of the chip.

    The v100 runtime leaves them at 0, and so does an attr type without a cap.
    """
    if soc.library == "v100" or kernel.attr not in PREFETCH_CAPS:
        return
    paired = kernel.mix is MixType.MIX_AIC_AIV_MAIN_AIC
    cap1, cap2 = _caps(kernel, soc)
    kernel.part1.prefetch = min(_units(kernel.part1.length, soc), cap1)
    kernel.part2.prefetch = min(_units(kernel.part2.length, soc), cap2) if paired else 0


def launch_prefetch(kernel: Kernel, soc: Soc) -> tuple[int, int] | None:
    """REG-15: the counts a new-flow launch computes; None for an attr type without a cap."""
    if kernel.attr not in PREFETCH_CAPS:
        return None
    cap1, cap2 = _caps(kernel, soc)
    length1, length2 = kernel.part1.length, kernel.part2.length
    if kernel.mix is not MixType.MIX_AIC_AIV_MAIN_AIC:
        return min(_units(length1, soc), cap1), 0
    return min(_units_up(length1, soc), cap1), min(_units_up(length2, soc), cap2)


def module_prefetch(kernel: Kernel, module_size: int, soc: Soc) -> tuple[int, int] | None:
    """MOD-4: the counts of the old flow, from each part to the end of the module (with its pad)."""
    if kernel.attr not in PREFETCH_CAPS:
        return None
    cap1, cap2 = _caps(kernel, soc)
    rest1 = (module_size - kernel.part1.offset) & U32
    rest2 = (module_size - kernel.part2.offset) & U32
    paired = kernel.mix is MixType.MIX_AIC_AIV_MAIN_AIC
    return min(_units(rest1, soc), cap1), min(_units(rest2, soc), cap2) if paired else 0


def _caps(kernel: Kernel, soc: Soc) -> tuple[int, int]:
    cap1, cap2 = PREFETCH_CAPS[kernel.attr]
    return _units(cap1, soc), _units(cap2, soc)


def _units(length: int, soc: Soc) -> int:
    return length // soc.prefetch_unit if soc.prefetch_unit else 0


def _units_up(length: int, soc: Soc) -> int:
    unit = soc.prefetch_unit  # the sum wraps: a length above 2^32 - unit gives 0
    return (length + unit - 1 & U32) // unit if unit else 0


def name_id(name: str, *, signed_char: bool = True) -> int:
    """REG-18: the id by which profiling knows a kernel, 64 bits.

    Bytes are signed on x86-64 and unsigned on AArch64, which differs for names that are not ASCII.
    """
    if not name:
        return (1 << 64) - 1
    high = low = 0
    for byte in name.encode("utf-8", "surrogateescape"):
        value = byte - 256 if signed_char and byte > 127 else byte
        high = (high * 29 + value) & U32
        low = (low * 131 + value) & U32
    return high << 32 | low


def task_ratio(kernel: Kernel) -> tuple[int, int] | None:
    """API-8: cube : vector as the runtime tells it; None where it warns and answers 0:0."""
    if kernel.mix in RATIO_OF_MIX:
        return RATIO_OF_MIX[kernel.mix]
    return RATIO_OF_PAIR.get((kernel.mix, kernel.task_ratio_value))


def function_attribute(kernel: Kernel, attribute: int, soc: Soc) -> int:
    """API-8: the value of a function attribute; a ratio has cube above bit 16, vector below it.

    Raises RtError: 107000 for an unknown attribute, an attr type that is not set, or the ratio of an
    AI CPU kernel; 207000 for the ratio on a chip without ACL graphs.
    """
    status, why = RtStatus.INVALID_VALUE, "an AI CPU kernel has no ratio of cube and vector"
    if attribute == FunctionAttribute.SCHED_MODE:
        return kernel.sched_mode
    if attribute == FunctionAttribute.KERNEL_TYPE:
        if kernel.attr is not AttrType.INVALID:
            return kernel.attr
        why = "its attr type is not set"
    elif attribute != FunctionAttribute.KERNEL_RATIO:
        why = f"attribute {attribute} is not one of 1 (type), 2 (ratio), 3 (sched mode)"
    elif not soc.has_acl_graph:
        status, why = RtStatus.FEATURE_NOT_SUPPORT, f"{soc.chip} does not know ratios"
    elif kernel.cpu is None:
        cube, vector = task_ratio(kernel) or (0, 0)
        return cube << 16 | vector
    raise RtError(status, "no such function attribute", where=f"kernel {kernel.name}", why=why)


def assign_slots(kernel: Kernel, slot1: int, slot2: int) -> tuple[int, int]:
    """API-7: (AIC, AIV) out of the addresses, or the sizes, of both slots."""
    is_vector = kernel.attr is AttrType.VECTOR or kernel.mix is MixType.MIX_AIV
    if slot1 and not slot2 and is_vector:
        return 0, slot1
    return slot1, slot2


def function_sizes(kernel: Kernel) -> tuple[int, int]:
    """API-7: bytes of code on AIC and AIV."""
    return assign_slots(kernel, kernel.part1.length, kernel.part2.length)
