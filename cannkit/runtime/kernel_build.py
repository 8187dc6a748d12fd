"""How a Kernel is built from one function of an object, and a mix pair merged. Spec 02, section 6.4."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.errors import brief
from cannkit.format.ascend_meta import FuncType
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_meta import EntryKind
from cannkit.image.kernel_object import KernelImage
from cannkit.runtime.kernel import (
    MIX_FUNC_TYPES,
    U32,
    AttrType,
    Kernel,
    MixType,
    Part,
    core_types,
    tiling_key,
)
from cannkit.soc import CvArch, Soc

STL_KERNELS: Final = frozenset(  # REG-14
    f"mc62_{core}_stl" for core in ("aic_mte", "aic_su_cube", "aic_vec_simd", "aic_vec_simt")
)


class BuildRules(NamedTuple):
    """What the program and its chip add to every kernel built from an object.

    `core_sync`: the sidecar's intercoreSync. `ffts_global`: the FFTS address goes to a variable of
    the image, not into the arguments. `data_encoding`: EI_DATA.
    """

    soc: Soc
    default_attr: AttrType
    core_sync: bool = False
    ffts_global: bool = False
    data_encoding: int = 0


def build_kernel(image: KernelImage, name: str, name_offset: int, rules: BuildRules) -> Kernel:
    """REG-10, REG-14: the kernel called `name` of one function of the object, prefetch not counted.

    Raises RtError as `core_types` does.
    """
    meta, soc = image.meta, rules.soc
    attr, mix = core_types(image.name, meta.func_type, meta.cross_core_sync, rules.default_attr)
    in_args = soc.has_ffts_plus and not rules.ffts_global  # decided before any merge
    ffts = in_args and (rules.core_sync or meta.cross_core_sync == 1 or mix is not MixType.NO_MIX)
    section = image.section
    return Kernel(
        name=name,
        symbols=[image.name],
        attr=attr,
        mix=mix,
        tiling_key=entry_key(image, name),
        entry_kind=meta.entry_kind,
        func_type=meta.func_type,
        task_ratio_value=meta.task_ratio_value,
        part1=_part(image),
        user_args=meta.user_args,
        system_args=2 if ffts else 1,
        ffts_in_args=ffts,
        supports_overflow=True,
        sched_mode=meta.sched_mode,
        vf_type=meta.vf_type,
        ub_size=meta.ub_size,
        early_start=meta.early_start,
        stl=image.name in STL_KERNELS,
        name_offset=name_offset,
        dfx_offset=section.offset if section else None,
        dfx_size=section.size if section else 0,
        dfx_encoding=rules.data_encoding if section else 0,
        has_param_summary=meta.has_param_summary,
        params=meta.params,
        param_total_size=meta.param_total_size,
    )


def entry_key(image: KernelImage, name: str) -> int:
    """REG-7: the key of the kernel called `name`: its function entry, else the tail of the name."""
    if image.meta.entry_kind is EntryKind.FUNCTION_ENTRY:
        return image.meta.function_entry
    return tiling_key(name)


def merge_kernel(old: Kernel, image: KernelImage, rules: BuildRules) -> None:
    """REG-12: add the other half of a mix to `old`, prefetch not counted.

    Raises RtError (107000) when the two do not make a pair; `old` is then unchanged.
    """
    meta, soc = image.meta, rules.soc
    _, mix = core_types(image.name, meta.func_type, meta.cross_core_sync, rules.default_attr)
    reason = _no_pair(old, mix)
    if reason:
        halves = ", ".join(brief(name) for name in (*old.symbols, image.name))
        raise RtError(
            RtStatus.INVALID_VALUE,
            "functions of one name do not make a mix pair",
            where=f"kernel {brief(old.name)}",
            why=f"{halves}: {reason}",
        )
    new = _part(image)
    if old.mix is MixType.MIX_AIV:  # vf type and ub size are the AIV's already
        old.part1, old.part2 = new, old.part1
    else:
        old.part2, old.vf_type, old.ub_size = new, meta.vf_type, meta.ub_size
    old.part1.min_stack = old.min_stack
    old.attr, old.mix = AttrType.MIX, MixType.MIX_AIC_AIV_MAIN_AIC
    if soc.cv_arch in (CvArch.INTEGRATED, CvArch.INVALID):  # CHP-3: an unknown chip is separated
        old.attr = AttrType.AICORE
    elif old.func_type in MIX_FUNC_TYPES and meta.func_type != FuncType.MIX_AIC_MAIN:
        old.mix = MixType.MIX_AIC_AIV_MAIN_AIV
    old.symbols.append(image.name)
    old.early_start = old.early_start or meta.early_start


def _no_pair(old: Kernel, mix: MixType) -> str:
    if old.is_paired:
        return "both halves are there already"
    if old.mix == mix:
        return f"both are {mix.name}"
    if mix is MixType.NO_MIX:
        return "the second is no half of a mix"
    if old.mix is MixType.NO_MIX:  # QK-15
        return "the first is no half of a mix (the original would accept this)"
    return ""


def _part(image: KernelImage) -> Part:
    """REG-1: offset and length are unsigned numbers of 32 bits."""
    return Part(image.offset & U32, image.length & U32, image.meta.min_stack_size, present=True)
