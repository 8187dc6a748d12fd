"""Kernel objects of given functions, and registration in the words of the recorded answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cannkit.format.ascend_meta import (
    FUNCTION_SECTION,
    EntryFlag,
    FunctionMeta,
    FuncType,
    VfType,
)
from cannkit.format.dfx import TensorType
from cannkit.format.elf_types import SectionType
from cannkit.image.kernel_object import KernelObject
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.kernel_facts import launch_prefetch
from cannkit.runtime.program import ElfProgram
from tests.build import SHF_ALLOC, SHF_EXEC, ObjectBuilder
from tests.facts import A2_SOC, read
from tests.recorded import ENTRY_TYPES
from tests.shapes import dfx_tlv, function_tlv, word

DISABLED: Final = -1  # as `entry`: the kernel has no entry


@dataclass(frozen=True)
class Function:
    """One global function; without `func_type` and anything else it has no meta section."""

    name: str
    func_type: int | None = FuncType.AIV
    offset: int = 0
    length: int = 0x100
    sync: int = 0
    ratio: tuple[int, int] | None = None
    args: int = 0
    stack: int = 0
    vf_type: int = VfType.NONE
    ub_size: int = 0
    entry: int | None = None
    early_start: int = 0
    sched_mode: int = 0

    def records(self) -> bytes:
        found = []
        if self.func_type is not None:
            found.append(function_tlv(FunctionMeta.KERNEL_TYPE, func_type=self.func_type))
        if self.sync:
            found.append(function_tlv(FunctionMeta.CROSS_CORE, cross_core_sync=self.sync))
        if self.ratio:
            aic, aiv = self.ratio
            found.append(function_tlv(FunctionMeta.MIX_TASK_RATION, ratio_aic=aic, ratio_aiv=aiv))
        if self.args:
            found.append(dfx_tlv(*[(word(TensorType.INPUT), 0)] * self.args))
        if self.stack:
            found.append(function_tlv(FunctionMeta.SU_STACK_SIZE, min_stack_size=self.stack))
        if self.vf_type:
            found.append(function_tlv(FunctionMeta.AIV_TYPE_FLAG, vf_type=self.vf_type))
        if self.ub_size:
            found.append(function_tlv(FunctionMeta.COMPILER_ALLOC_UB_SIZE, ub_size=self.ub_size))
        if self.entry is not None:
            flag = EntryFlag.DISABLED if self.entry == DISABLED else EntryFlag.ENABLED
            value = max(self.entry, 0)
            found.append(
                function_tlv(FunctionMeta.FUNCTION_ENTRY_INFO, flag=flag, function_entry=value)
            )
        if self.early_start:
            found.append(
                function_tlv(FunctionMeta.EARLY_START_ENABLE, early_start=self.early_start)
            )
        if self.sched_mode:
            found.append(function_tlv(FunctionMeta.SCHED_MODE_INFO, sched_mode=self.sched_mode))
        return b"".join(found)


def builder(
    *functions: Function, binary_meta: bytes = b"", code: int = 64, machine: int = 0x1029
) -> ObjectBuilder:
    """An object file with these functions in this order; `code` bytes of `.text`."""
    built = ObjectBuilder(machine=machine)
    built.section(".text", bytes(code), flags=SHF_ALLOC | SHF_EXEC, at=64)
    if binary_meta:
        built.section(".ascend.meta", binary_meta, SectionType.NOTE, align=4)
    for function in functions:
        records = function.records()
        if records:
            name = FUNCTION_SECTION + function.name
            built.section(name, records, SectionType.NOTE, align=4)
        built.symbol(function.name, value=function.offset, size=function.length)
    return built


def object_of(*functions: Function, soc: str = A2_SOC, binary_meta: bytes = b"") -> KernelObject:
    """The object read for a chip."""
    return read(builder(*functions, binary_meta=binary_meta).build(), soc)


def named(*names: str, soc: str = A2_SOC) -> KernelObject:
    """An object of vector functions with these names."""
    return object_of(*map(Function, names), soc=soc)


def answer(program: ElfProgram) -> dict[str, Any]:
    """A registration in the words of a `register` row."""
    return {
        "defaultAttr": program.default_attr,
        "interCoreSync": program.core_sync,
        "isReadOnly": program.read_only,
        "kernelNamesSize": program.names_size,
        "kernels": [_kernel(program, kernel) for kernel in program.kernels],
        "loadSize": program.load_size & 0xFFFF_FFFF,  # QK-26: the original cuts it
        "machine": program.obj.elf.header.machine,
        "magic": program.magic,
        "maxMinStackSize": program.max_min_stack,
        "metadata": _chars(program.metadata),
        "soName": _chars(program.so_name),
        "stackSize": program.stack_size,
        "tilingTable": [[key, _chars(kernel.name)] for key, kernel in program.table],
    }


def _kernel(program: ElfProgram, kernel: Kernel) -> dict[str, Any]:
    counts = launch_prefetch(kernel, program.soc)
    return {
        "attr": kernel.attr,
        "dfxAddr": kernel.dfx_offset,
        "dfxSize": kernel.dfx_size & 0xFFFF,  # QK-26
        "earlyStart": kernel.early_start,
        "elfDataFlag": kernel.dfx_encoding,
        "entryType": ENTRY_TYPES[kernel.entry_kind],
        "funcType": kernel.func_type,
        "hasParamSummary": kernel.has_param_summary,
        "isStl": kernel.stl,
        "kernelVfType": kernel.vf_type,
        "launchPrefetch": None if counts is None else list(counts),
        "length1": kernel.part1.length,
        "length2": kernel.part2.length,
        "minStack1": kernel.part1.min_stack,
        "minStack2": kernel.part2.min_stack,
        "mixType": kernel.mix,
        "name": _chars(kernel.name),
        "nameOffset": kernel.name_offset,
        "needFfts": kernel.ffts_in_args,
        "offset1": kernel.part1.offset,
        "offset2": kernel.part2.offset,
        "overflow": kernel.supports_overflow,
        "paramCount": len(kernel.params),
        "paramTotalSize": kernel.param_total_size,
        "prefetch1": kernel.part1.prefetch,
        "prefetch2": kernel.part2.prefetch,
        "schedMode": kernel.sched_mode,
        "shareMemSize": kernel.ub_size,
        "sysParaNum": kernel.system_args,
        "taskRation": kernel.task_ratio_value,
        "tilingKey": kernel.tiling_key,
        "userParaNum": kernel.user_args,
    }


def _chars(name: str) -> str:
    """Names in the rows: each byte is one character."""
    return name.encode("utf-8", "surrogateescape").decode("latin-1")
