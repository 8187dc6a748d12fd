"""Kernel, the name and the key it goes by, and which cores it is for. Spec 02, 6.2 and 6.3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.bits import OpenEnum
from cannkit.format.cpu_kernel import CpuKernelType as CpuKernelType
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_meta import EntryKind, Param
from cannkit.image.kernel_name import LARGEST_KEY, MIX_SUFFIXES

U32: Final = 0xFFFF_FFFF
KEY_DIGITS: Final = 20  # of 2^64 - 1
CPU_USER_ARGS: Final = 128  # CPU-5


class AttrType(OpenEnum):
    """rtKernelAttrType (= aclrtKernelType): which cores a kernel is launched on."""

    AICORE = 0
    CUBE = 1
    VECTOR = 2
    MIX = 3
    AICPU = 100
    INVALID = 0x7FFFFFFF


class MixType(OpenEnum):
    """RtMixType: how cube and vector pair up."""

    NO_MIX = 0
    MIX_AIC = 1
    MIX_AIV = 2
    MIX_AIC_AIV_MAIN_AIC = 3
    MIX_AIC_AIV_MAIN_AIV = 4


PAIRED: Final = frozenset({MixType.MIX_AIC_AIV_MAIN_AIC, MixType.MIX_AIC_AIV_MAIN_AIV})
MIX_FUNC_TYPES: Final = frozenset({FuncType.MIX_AIC_MAIN, FuncType.MIX_AIV_MAIN})

# REG-8, step 1: the core of a func type that says it alone, and its mix type under cross-core sync.
CORE_OF_FUNC_TYPE: Final[Mapping[int, tuple[AttrType, MixType]]] = {
    FuncType.AIC: (AttrType.CUBE, MixType.MIX_AIC),
    FuncType.AIC_ROLLBACK: (AttrType.CUBE, MixType.MIX_AIC),
    FuncType.AIV: (AttrType.VECTOR, MixType.MIX_AIV),
    FuncType.AIV_ROLLBACK: (AttrType.VECTOR, MixType.MIX_AIV),
}


@dataclass(slots=True)
class CpuFunction:
    """What an AI CPU kernel calls on the device. CPU-4, CPU-5."""

    op_type: str
    kernel_so: str
    function: str
    kernel_type: CpuKernelType


@dataclass(slots=True)
class Part:
    """One half of a kernel in the device image, bytes; `present` tells offset 0 from none (QK-6)."""

    offset: int = 0
    length: int = 0
    min_stack: int = 0
    prefetch: int = 0
    present: bool = False


@dataclass(slots=True, eq=False)
class Kernel:
    """A launchable kernel: one function, or a mix pair merged. Changes only while it is registered.

    `part1` is AIC and `part2` AIV after a merge (REG-13). `symbols` are the ELF names it came from;
    `dfx_encoding` is EI_DATA of the object, 0 without a meta section.
    """

    name: str
    symbols: list[str]
    attr: AttrType
    mix: MixType
    tiling_key: int
    entry_kind: EntryKind
    func_type: FuncType
    task_ratio_value: int
    part1: Part
    part2: Part = field(default_factory=Part)
    user_args: int = 0
    system_args: int = 0
    ffts_in_args: bool = False
    supports_overflow: bool = False
    sched_mode: int = 0
    vf_type: VfType = VfType.NONE
    ub_size: int = 0
    early_start: bool = False
    stl: bool = False
    name_offset: int = 0
    dfx_offset: int | None = None
    dfx_size: int = 0
    dfx_encoding: int = 0
    has_param_summary: bool = False
    params: tuple[Param, ...] = ()
    param_total_size: int = 0
    cpu: CpuFunction | None = None

    @property
    def is_paired(self) -> bool:
        """Both halves of a mix are there."""
        return self.part2.present

    @property
    def min_stack(self) -> int:
        """The larger stack need of its halves, bytes."""
        return max(self.part1.min_stack, self.part2.min_stack)


def strip_mix(name: str) -> str:
    """REG-5: the name without the last `_mix_aic` anywhere in it, else without the last `_mix_aiv`."""
    for mark in MIX_SUFFIXES:
        at = name.rfind(mark)
        if at >= 0:
            return name[:at] + name[at + len(mark) :]
    return name


def decimal_tail(name: str) -> int:
    """REG-6: the number after the last `_`, 0 where there is none. It may exceed 64 bits."""
    tail = name[name.rfind("_") + 1 :]
    if not (tail.isascii() and tail.isdigit()):
        return 0
    digits = tail.lstrip("0")
    return LARGEST_KEY + 1 if len(digits) > KEY_DIGITS else int(digits or "0")


def tiling_key(name: str) -> int:
    """REG-6: the key in a stripped name. QK-18: one that exceeds 64 bits counts as 0."""
    key = decimal_tail(name)
    return key if key <= LARGEST_KEY else 0


def core_types(
    name: str, func_type: FuncType, cross_core_sync: int, default: AttrType
) -> tuple[AttrType, MixType]:
    """REG-8: attr and mix type of the ELF symbol `name` (not stripped).

    Raises RtError (107000) for a mix func type without a mix mark in the name.
    """
    by_name: tuple[AttrType, MixType] | None = None
    if MIX_SUFFIXES[0] in name:
        by_name = AttrType.CUBE, MixType.MIX_AIC
    elif MIX_SUFFIXES[1] in name:
        by_name = AttrType.VECTOR, MixType.MIX_AIV
    if func_type in MIX_FUNC_TYPES:
        if by_name is None:
            raise RtError(
                RtStatus.INVALID_VALUE,
                "kernel of a mix type is not named as one half of a mix",
                where=f"kernel {name}",
                why=f"func type {func_type.name}, yet neither _mix_aic nor _mix_aiv in the name",
            )
        return by_name
    if func_type == FuncType.AICORE:
        return AttrType.AICORE, by_name[1] if by_name else MixType.NO_MIX
    if func_type in CORE_OF_FUNC_TYPE:
        attr, mix = CORE_OF_FUNC_TYPE[func_type]
        return attr, mix if cross_core_sync == 1 else MixType.NO_MIX
    return by_name or (default, MixType.NO_MIX)


def cpu_kernel(function: CpuFunction) -> Kernel:
    """CPU-5: an AI CPU kernel."""
    return Kernel(
        name=function.op_type,
        symbols=[],
        attr=AttrType.AICPU,
        mix=MixType.NO_MIX,
        tiling_key=0,
        entry_kind=EntryKind.TILING_KEY,
        func_type=FuncType.INVALID,
        task_ratio_value=0,
        part1=Part(),
        user_args=CPU_USER_ARGS,
        cpu=function,
    )
