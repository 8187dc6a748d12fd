"""A registered kernel in documents, as `register` and `lookup` show it. cli.md, section 3."""

from __future__ import annotations

from typing import Literal, Self

from cannkit.report.base import U64, Address, document, printable
from cannkit.report.kernel import ParamEntry
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.kernel_facts import name_id


@document
class CpuEntry:
    """What an AI CPU kernel calls on the device."""

    op_type: str
    kernel_so: str
    function: str
    kernel_type: int


@document
class RegisteredKernel:
    """A kernel as the runtime holds it: slots in bytes of the device image, dfx in bytes of the file."""

    name: str
    symbols: tuple[str, ...]
    attr: int
    attr_name: str
    mix: int
    mix_name: str
    tiling_key: U64
    entry_kind: Literal["tiling_key", "function_entry", "unsupported"]
    in_table: bool
    func_type: int
    task_ratio_value: int
    offset1: int
    offset2: int | None
    length1: int
    length2: int | None
    min_stack_size: int
    user_args: int
    system_args: int
    ffts_in_args: bool
    supports_overflow: bool
    prefetch: tuple[int, int]
    sched_mode: int
    vf_type: int
    ub_size: int
    early_start: bool
    name_id: U64
    stub: Address | None
    dfx_offset: int | None
    dfx_size: int
    params: tuple[ParamEntry, ...] | None
    param_total_size: int | None
    cpu: CpuEntry | None

    @classmethod
    def of(cls, kernel: Kernel, *, in_table: bool, stub: int | None = None) -> Self:
        """The entry of a kernel that the tiling-key table holds or not, under a stub or none."""
        second = kernel.part2 if kernel.part2.present else None
        cpu = kernel.cpu
        return cls(
            name=printable(kernel.name),
            symbols=tuple(map(printable, kernel.symbols)),
            attr=int(kernel.attr),
            attr_name=kernel.attr.name,
            mix=int(kernel.mix),
            mix_name=kernel.mix.name,
            tiling_key=str(kernel.tiling_key),
            entry_kind=kernel.entry_kind.value,
            in_table=in_table,
            func_type=int(kernel.func_type),
            task_ratio_value=kernel.task_ratio_value,
            offset1=kernel.part1.offset,
            offset2=second.offset if second else None,
            length1=kernel.part1.length,
            length2=second.length if second else None,
            min_stack_size=kernel.min_stack,
            user_args=kernel.user_args,
            system_args=kernel.system_args,
            ffts_in_args=kernel.ffts_in_args,
            supports_overflow=kernel.supports_overflow,
            prefetch=(kernel.part1.prefetch, kernel.part2.prefetch),
            sched_mode=kernel.sched_mode,
            vf_type=int(kernel.vf_type),
            ub_size=kernel.ub_size,
            early_start=kernel.early_start,
            name_id=str(name_id(kernel.name)),
            stub=None if stub is None else hex(stub),
            dfx_offset=kernel.dfx_offset,
            dfx_size=kernel.dfx_size,
            params=tuple(map(ParamEntry.of, kernel.params)) if kernel.has_param_summary else None,
            param_total_size=kernel.param_total_size if kernel.has_param_summary else None,
            cpu=None
            if cpu is None
            else CpuEntry(
                op_type=printable(cpu.op_type),
                kernel_so=printable(cpu.kernel_so),
                function=printable(cpu.function),
                kernel_type=int(cpu.kernel_type),
            ),
        )
