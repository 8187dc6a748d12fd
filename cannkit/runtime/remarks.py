"""What is odd about a registration, though the runtime goes along with it. Spec 02, section 15."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from cannkit.errors import ReadWarning
from cannkit.format.elf_types import Visibility
from cannkit.image.kernel_meta import EntryKind
from cannkit.image.kernel_name import LARGEST_KEY, MIX_SUFFIXES
from cannkit.image.kernel_object import KernelImage, KernelObject
from cannkit.image.symbols import GLOBAL_FUNC, symbol_table
from cannkit.runtime.kernel import PAIRED, Kernel, decimal_tail
from cannkit.runtime.kernel_build import entry_key
from cannkit.runtime.kernel_table import TilingKeyTable
from cannkit.soc import Soc

LARGEST_DFX: Final = 0xFFFF  # QK-26
MARK_IN_NAME: Final = re.compile(r"_mix_ai[cv](_[0-9]+)?\Z")  # QK-16: where a mark is expected


def wide_symbol(obj: KernelObject) -> int | None:
    """QK-26, Q-11: an offset or length of a kernel that does not fit in 32 bits, or None."""
    table = symbol_table(obj.elf)
    if table is None:
        return None
    for name_at, info, other, _, value, size in obj.elf.symbols(table, table.size // table.entsize):
        is_wide = (value | size) >> 32 and info == GLOBAL_FUNC  # rare: it comes first
        if is_wide and name_at and other & 3 != Visibility.HIDDEN:
            return value if value >> 32 else size
    return None


def pair_remarks(first: Kernel, second: KernelImage) -> list[ReadWarning]:
    """QK-14: where the halves of a mix disagree on what only the first one decides."""
    meta = second.meta
    told = {
        "task ratio": (first.task_ratio_value, meta.task_ratio_value),
        "arguments": (first.user_args, meta.user_args),
        "sched mode": (first.sched_mode, meta.sched_mode),
        "entry kind": (first.entry_kind.value, meta.entry_kind.value),
        "entry": (first.tiling_key, entry_key(second, first.name)),
    }
    return [
        ReadWarning(
            "halves-disagree",
            f"kernel {first.name}",
            f"{what}: {first.symbols[0]} says {mine}, {second.name} says {other}; the first counts",
        )
        for what, (mine, other) in told.items()
        if mine != other
    ]


def program_remarks(
    obj: KernelObject, kernels: Sequence[Kernel], table: TilingKeyTable
) -> Iterator[ReadWarning]:
    """Everything odd about registered kernels, in name order, then about the table."""
    images = {image.name: image for image in obj.kernels}
    for kernel in kernels:
        for code, message in _kernel_remarks(kernel, images[kernel.symbols[0]], obj.soc):
            yield ReadWarning(code, f"kernel {kernel.name}", message)
    for kernel in table.left_out:
        message = "its entry is disabled: it is found by name alone"
        yield ReadWarning("entry-disabled", f"kernel {kernel.name}", message)
    for kernel in table.shadowed:  # QK-17
        winner = table.find(kernel.tiling_key)
        holder = winner.name if winner else ""
        message = f"key {kernel.tiling_key} belongs to {holder}: it is found by name alone"
        yield ReadWarning("shadowed-key", f"kernel {kernel.name}", message)


def _kernel_remarks(kernel: Kernel, image: KernelImage, soc: Soc) -> Iterator[tuple[str, str]]:
    if decimal_tail(kernel.name) > LARGEST_KEY and kernel.entry_kind is EntryKind.TILING_KEY:
        yield "key-overflow", "the number in its name exceeds 64 bits: its tiling key is 0"  # QK-18
    for symbol in kernel.symbols:
        if len(symbol) != len(kernel.name) and not MARK_IN_NAME.search(symbol):
            yield "mark-in-name", f"the mix mark was cut out of the middle of {symbol}"  # QK-16
    if kernel.dfx_size > LARGEST_DFX:
        yield "dfx-size", f"the runtime keeps {kernel.dfx_size & LARGEST_DFX} of {kernel.dfx_size}"
    if kernel.mix in PAIRED and not kernel.part2.offset:  # QK-6
        yield "aiv-at-zero", "the runtime loses its AIV half, for that is at offset 0"
    ratio = image.meta.task_ratio
    if ratio and all(ratio) and not kernel.is_paired and _is_half(image.name):
        cube, vector = ratio
        message = f"task ratio {cube}:{vector}, but there is only {image.name}"
        yield "lone-half", message
    # QK-13
    if soc.has_task_ratio and not (ratio and any(ratio)) and soc.default_task_ratio != 2:
        message = f"the chip's task ratio is {soc.default_task_ratio}, the runtime takes 2"
        yield "default-ratio", message


def _is_half(symbol: str) -> bool:
    return any(mark in symbol for mark in MIX_SUFFIXES)
