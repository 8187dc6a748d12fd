"""Rules about what a kernel needs, held against its chip's row: K210 to K219. Spec 03, 04."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.subject import ObjectSubject
from cannkit.errors import brief
from cannkit.format.ascend_meta import FunctionMeta, FuncType, VfType
from cannkit.image.kernel_object import KernelImage
from cannkit.soc import Soc

DYNAMIC: Final = 0xFFFF_FFFF  # BLOCK_DIM_INFO: decided at launch
MOST_BLOCKS: Final = 0xFFFF  # LCH-7; an entry holds 16 bits
SIMT_UB: Final = 221_184  # LCH-48: what SIMT leaves of the unified buffer
BATCH: Final = 1
CUBES: Final = {FuncType.AIC, FuncType.AIC_ROLLBACK, FuncType.MIX_AIC_MAIN}
VECTORS: Final = {FuncType.AIV, FuncType.AIV_ROLLBACK, FuncType.MIX_AIV_MAIN}
SIMT: Final = {VfType.SIMT_VF, VfType.SIMD_SIMT_MIX}
CORE_NAMES: Final[Mapping[FuncType, str]] = {
    FuncType.AICORE: "AICore",
    FuncType.AIC: "CubeCore",
    FuncType.AIC_ROLLBACK: "CubeCore",
    FuncType.MIX_AIC_MAIN: "CubeCore",
    FuncType.AIV: "VectorCore",
    FuncType.AIV_ROLLBACK: "VectorCore",
    FuncType.MIX_AIV_MAIN: "VectorCore",
}

K210 = rule(
    "K210",
    "stack larger than the chip allows",
    Level.ERROR,
    why="No setting of aicore_stack_size makes room for it: registration fails.",
    fix="Keep large arrays off the kernel's stack.",
    spec="FUN-06 STK-4 STK-5",
)
K211 = rule(
    "K211",
    "unified buffer larger than the chip's",
    Level.ERROR,
    why="The compiler reserved more of the buffer than a core has.",
    fix="Compile the operator for this chip, or use smaller tiles.",
    spec="LCH-48",
)
K212 = rule(
    "K212",
    "more blocks in a batch than cores",
    Level.ERROR,
    why="The blocks of a batch start together: with too few cores they wait for each other for ever.",
    fix="Launch at most as many blocks as there are cores, or drop the batch mode.",
    spec="LCH-50 LCH-51",
)
K213 = rule(
    "K213",
    "more blocks than an entry holds",
    Level.ERROR,
    why="The runtime keeps 16 bits of the number of blocks.",
    fix="Launch at most 65535 blocks.",
    spec="LCH-7",
)
K214 = rule(
    "K214",
    "cores that the chip has not",
    Level.ERROR,
    why="The kernel is for cube or vector cores of their own, the chip's are joined, or the reverse.",
    fix="Compile the operator for this chip.",
    spec="CHP-3 REG-8",
)


def check_stack(subject: ObjectSubject) -> Iterator[Finding]:
    """K210: SU_STACK_SIZE against the largest custom stack."""
    most = subject.soc.facts.get("rt_custom_stack_max_bytes")
    for kernel in _judged(subject):
        need = _value(kernel, FunctionMeta.SU_STACK_SIZE, "min_stack_size")
        if isinstance(most, int) and need > most:
            message = f"it needs {need} bytes of stack, {subject.soc.name} has {most} at most"
            yield Finding(K210, subject.place, f"kernel {brief(kernel.name)}", message)


def check_ub(subject: ObjectSubject) -> Iterator[Finding]:
    """K211: COMPILER_ALLOC_UB_SIZE against the unified buffer."""
    size = subject.soc.facts.get("ub_bytes")
    if not isinstance(size, int):
        return
    for kernel in _judged(subject):
        need = _value(kernel, FunctionMeta.COMPILER_ALLOC_UB_SIZE, "ub_size")
        simt = subject.soc.has_simt and kernel.meta.vf_type in SIMT
        most = min(size, SIMT_UB) if simt else size
        if need > most:
            message = f"it reserves {need} bytes, {subject.soc.name} has {most}"
            yield Finding(K211, subject.place, f"kernel {brief(kernel.name)}", message)


def check_blocks(subject: ObjectSubject) -> Iterator[Finding]:
    """K212 and K213: a number of blocks that is known at compile time."""
    sidecar = subject.obj.sidecar
    common = (sidecar.sidecar.block_dim or 0) if sidecar else 0  # -1 is decided at launch
    for kernel in _judged(subject):
        own = _value(kernel, FunctionMeta.BLOCK_DIM_INFO, "block_dim")
        blocks = own if own not in (0, DYNAMIC) else common
        where = f"kernel {brief(kernel.name)}"
        if blocks > MOST_BLOCKS:
            yield Finding(K213, subject.place, where, f"it takes {blocks} blocks")
        elif kernel.meta.sched_mode == BATCH:
            for cores, count, most in _core_needs(kernel, blocks, subject.soc):
                if count > most:
                    message = (
                        f"{blocks} blocks take {count} {cores} cores, {subject.soc.name} has {most}"
                    )
                    yield Finding(K212, subject.place, where, message)


def check_cores(subject: ObjectSubject) -> Iterator[Finding]:
    """K214: the kinds of cores that kernels are for."""
    present = subject.soc.facts.get("core_type_list")
    if not isinstance(present, tuple) or not present:
        return
    for kernel in _judged(subject):
        needed = CORE_NAMES.get(kernel.meta.func_type)
        if needed is not None and needed not in present:
            message = (
                f"it is for {needed} ({kernel.meta.func_type.name}), "
                f"{subject.soc.name} has {', '.join(present)}"
            )
            yield Finding(K214, subject.place, f"kernel {brief(kernel.name)}", message)


def _judged(subject: ObjectSubject) -> tuple[KernelImage, ...]:
    """The kernels, where somebody said which chip they are for."""
    known = subject.explicit_soc or subject.folder_soc is not None
    return subject.obj.kernels if known else ()


def _value(kernel: KernelImage, kind: FunctionMeta, field: str) -> int:
    """A field of a record as it stands in the object; the last one counts, 0 for none."""
    values = [r.value[field] for r in kernel.records if r.tlv.type == kind and r.value]
    return values[-1] if values else 0


def _core_needs(kernel: KernelImage, blocks: int, soc: Soc) -> Iterator[tuple[str, int, int]]:
    """LCH-50: cube and vector cores that the blocks take, and how many the chip has."""
    kind, (cube, vector) = kernel.meta.func_type, kernel.meta.task_ratio or (0, 0)
    cubes, vectors = blocks * (kind in CUBES), blocks * (kind in VECTORS)
    if kind == FuncType.MIX_AIC_MAIN:
        vectors = blocks * vector
    elif kind == FuncType.MIX_AIV_MAIN:
        cubes = blocks * cube
    for cores, count in (("cube", cubes), ("vector", vectors)):
        most = soc.facts.get(f"{cores}_core_count")
        if isinstance(most, int) and most:
            yield cores, count, most


OBJECT_RULES: Final = (check_stack, check_ub, check_blocks, check_cores)
