"""Kernel stacks and printf buffers: sizes by chip, and who uses which part. Spec 03, section 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cannkit.device.memory import SystemSlot, round_up
from cannkit.device.traits import traits_of
from cannkit.format.status import RtError, RtStatus
from cannkit.soc import Soc

SMALL_STACK: Final = 16 * 1024
LARGE_STACK: Final = 32 * 1024
CORES_V100: Final = (25, 50)  # STK-3: AIC and AIV slots of a region
CORES_PER_DIE: Final = (18, 36)
SLOTS_PER_DIE: Final = sum(CORES_PER_DIE)
SIMT_PAD: Final = 128
WARPS: Final = 64
WARP_THREADS: Final = 32
SIMT_ALIGN: Final = 128
LEVEL_SHIFT: Final = 20  # STK-6: 12 high bits of the upper word of the parameter pointer

SIMD_PRINT_MIN, SIMT_PRINT_MIN, PRINT_MAX = 1024, 1 << 20, 64 << 20


class StackConfig(NamedTuple):
    """What the process asks for, bytes: `custom` by STK-4, the SIMT sizes for each thread and warp.

    `simd_print` is for each core, `simt_print` for the one buffer (STK-8).
    """

    custom: int = LARGE_STACK
    simt_thread: int = 1152
    simt_divergence: int = 1024
    simd_print: int = 32768
    simt_print: int = 2 << 20


class Stacks(NamedTuple):
    """The stack regions of one device: bytes by slot, and the custom stack of a core (0: none)."""

    regions: Mapping[SystemSlot, int]
    custom: int


def die_count(soc: Soc) -> int:
    """CHOICE: dies by vector cores, 36 each; the real driver counts them."""
    cores = soc.facts.get("vector_core_count")
    return -(-max(1, cores if isinstance(cores, int) else traits_of(soc).aiv) // CORES_PER_DIE[1])


def effective_custom_stack(size: int) -> int:
    """STK-4: a value up to 32768 is ignored, a larger one is rounded up to 16 KiB."""
    return round_up(size, SMALL_STACK) if size > LARGE_STACK else LARGE_STACK


def stack_level(size: int) -> int:
    """STK-6: the number the hardware knows a stack size by."""
    return size // SMALL_STACK - 2


def plan_stacks(soc: Soc, config: StackConfig, dies: int) -> Stacks:
    """The regions that Start allocates. STK-2, STK-4, STK-7.

    Raises RtError INVALID_VALUE for a custom stack above the chip's limit, or a SIMT stack of 0.
    """
    traits = traits_of(soc)
    regions: dict[SystemSlot, int] = {}
    if traits.base_stack:
        regions[SystemSlot.STACK_32K] = traits.base_stack
    elif traits.has_small_stacks:
        regions[SystemSlot.STACK_32K] = LARGE_STACK * sum(CORES_V100)
        regions[SystemSlot.STACK_16K] = SMALL_STACK * sum(CORES_V100)
    elif traits.aic:  # CHOICE: in the dcache area, where no padding is needed
        regions[SystemSlot.STACK_32K] = LARGE_STACK * dies * SLOTS_PER_DIE
    custom = effective_custom_stack(config.custom)
    if custom != LARGE_STACK:
        if custom > traits.max_custom_stack:
            why = f"EE1011: {custom} bytes, the largest custom stack of {soc.name} is {traits.max_custom_stack}"
            raise RtError(RtStatus.INVALID_VALUE, "cannot start the device", why=why)
        regions[SystemSlot.STACK_CUSTOM] = (traits.aic + traits.aiv) * custom
    if soc.has_simt:
        regions[SystemSlot.STACK_SIMT] = _simt_size(config, dies)
    return Stacks(regions, 0 if custom == LARGE_STACK else custom)


def _simt_size(config: StackConfig, dies: int) -> int:
    warp = WARP_THREADS * round_up(config.simt_thread, SIMT_ALIGN)
    divergence = round_up(config.simt_divergence, SIMT_ALIGN)
    if not warp and not divergence:
        why = "both the SIMT stack and the divergence stack are 0"
        raise RtError(RtStatus.INVALID_VALUE, "cannot start the device", why=why)
    return dies * CORES_PER_DIE[1] * WARPS * (warp + divergence) + SIMT_PAD


def stack_slot(soc: Soc, core: int, *, vector: bool, size: int) -> int:
    """STK-3: the offset in a region of `size`-byte stacks that core `core` uses.

    Raises RtError INVALID_VALUE for a core that the SoC does not have (Q-19).
    """
    count = _core_count(soc, vector=vector)
    if not 0 <= core < count:
        kind = "vector" if vector else "cube"
        why = f"{soc.name} has {count} {kind} cores"
        raise RtError(RtStatus.INVALID_VALUE, f"no {kind} core {core}", why=why)
    if soc.library == "v100":
        return size * (core + CORES_V100[0] * vector)
    die, index = divmod(core, CORES_PER_DIE[vector])
    return size * (index + CORES_PER_DIE[0] * vector + SLOTS_PER_DIE * die)


def _core_count(soc: Soc, *, vector: bool) -> int:
    column, fallback = ("vector_core_count", 1) if vector else ("ai_core_count", 0)
    count = soc.facts.get(column)
    return count if isinstance(count, int) else traits_of(soc)[fallback]


def stack_base(soc: Soc, min_stack: int, program_stack: int) -> SystemSlot:
    """STK-6: which region a kernel gets at launch. Q-26: an unknown program stack counts as 32K."""
    if min_stack > LARGE_STACK:
        return SystemSlot.STACK_CUSTOM
    if min_stack == 0 and program_stack == SMALL_STACK and traits_of(soc).has_small_stacks:
        return SystemSlot.STACK_16K
    return SystemSlot.STACK_32K


def simd_print_size(soc: Soc, config: StackConfig) -> int:
    """STK-8: bytes of the SIMD buffer. Raises RtError INVALID_VALUE out of 1 KiB..64 MiB a core."""
    traits = traits_of(soc)
    return _print_size(config.simd_print, SIMD_PRINT_MIN) * (traits.aic + traits.aiv)


def simt_print_size(config: StackConfig) -> int:
    """STK-8: bytes of the SIMT buffer. Raises RtError INVALID_VALUE out of 1 MiB..64 MiB."""
    return _print_size(config.simt_print, SIMT_PRINT_MIN)


def _print_size(size: int, least: int) -> int:
    if not least <= size <= PRINT_MAX:
        why = f"{size} bytes are not in {least}..{PRINT_MAX}"
        raise RtError(RtStatus.INVALID_VALUE, "no such printf buffer", why=why)
    return round_up(size, 8)
