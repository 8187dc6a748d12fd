"""A kernel in documents: effective values, TLVs, parameters and argument records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from cannkit.format.ascend_meta import FUNCTION_META
from cannkit.format.dfx import DfxArg
from cannkit.format.tlv import Entry, wide
from cannkit.image.kernel_meta import EntryKind, Param, Record
from cannkit.image.kernel_object import KernelImage
from cannkit.report.base import U64, document, printable


@document
class MetaEntry:
    """A TLV: `value` has a key for each field, None for padding and unknown types."""

    type: int
    name: str
    length: int
    value: dict[str, int | str] | None
    raw_hex: str

    @classmethod
    def of(cls, record: Record, table: Mapping[int, Entry]) -> Self:
        """The entry of a record, its fields by the table that decoded it."""
        tlv, value = record.tlv, record.value
        fields = table[tlv.type].fields if value and tlv.type in table else {}
        shown: dict[str, int | str] | None = None
        if value is not None:
            shown = {
                name: str(number) if fields.get(name) is wide else int(number)
                for name, number in value.items()
            }
        return cls(tlv.type, record.name, len(tlv.raw), shown, tlv.raw.hex())


@document
class ParamEntry:
    """An argument in the packed argument buffer."""

    index: int
    ordinal: int
    offset: int
    size: int
    align: int
    type: int
    space_index: int
    space_type: int
    space: int

    @classmethod
    def of(cls, param: Param) -> Self:
        """The entry of a PARAM_INFO record."""
        return cls(
            index=param.index,
            ordinal=param.ordinal,
            offset=param.offset,
            size=param.size,
            align=param.align,
            type=param.type,
            space_index=param.space_index,
            space_type=param.space_type,
            space=param.space,
        )


@document
class DfxArgEntry:
    """An argument slot as the DFX record tells it. `dtype_bits` is the size of an element."""

    type: int
    count: int
    tensor_type: int | None
    tensor_type_name: str | None
    pointer_type: int | None
    pointer_type_name: str | None
    size: int | None
    dtype_size: int | None
    dtype_bits: int | None
    dims: tuple[int, ...] | None
    tiling_size: int | None
    words: tuple[U64, ...]

    @classmethod
    def of(cls, arg: DfxArg, dtype_unit: int) -> Self:
        """The entry of a record, on a chip that counts dtype sizes in units of so many bits."""
        tensor, pointer, dtype = arg.tensor_type, arg.pointer_type, arg.dtype_size
        return cls(
            type=arg.type,
            count=len(arg.words),
            tensor_type=None if tensor is None else int(tensor),
            tensor_type_name=None if tensor is None else tensor.name,
            pointer_type=None if pointer is None else int(pointer),
            pointer_type_name=None if pointer is None else pointer.name,
            size=arg.size,
            dtype_size=dtype,
            dtype_bits=None if dtype is None else dtype * dtype_unit,
            dims=arg.dims,
            tiling_size=arg.tiling_size,
            words=tuple(map(str, arg.words)),
        )


@document
class DfxEntry:
    """The DFX records of a kernel, one for each argument slot."""

    args: tuple[DfxArgEntry, ...]


@document
class KernelEntry:
    """A kernel with its effective values and its TLVs."""

    name: str
    offset: int
    length: int
    section: str | None
    func_type: int
    func_type_name: str
    cross_core_sync: int
    task_ratio: tuple[int, int] | None
    task_ratio_value: int
    user_args: int
    vf_type: int
    ub_size: int
    min_stack_size: int
    early_start: bool
    entry_kind: Literal["tiling_key", "function_entry", "unsupported"]
    function_entry: U64 | None
    sched_mode: int
    params: tuple[ParamEntry, ...] | None
    param_total_size: int | None
    dfx: DfxEntry | None
    arg_size: int | None
    meta: tuple[MetaEntry, ...]

    @classmethod
    def of(cls, kernel: KernelImage, dtype_unit: int) -> Self:
        """The entry of a kernel."""
        meta = kernel.meta
        has_params = meta.has_param_summary
        section = kernel.section_name
        return cls(
            name=printable(kernel.name),
            offset=kernel.offset,
            length=kernel.length,
            section=None if section is None else printable(section),
            func_type=int(meta.func_type),
            func_type_name=meta.func_type.name,
            cross_core_sync=meta.cross_core_sync,
            task_ratio=meta.task_ratio,
            task_ratio_value=meta.task_ratio_value,
            user_args=meta.user_args,
            vf_type=int(meta.vf_type),
            ub_size=meta.ub_size,
            min_stack_size=meta.min_stack_size,
            early_start=meta.early_start,
            entry_kind=meta.entry_kind.value,
            function_entry=(
                str(meta.function_entry) if meta.entry_kind is EntryKind.FUNCTION_ENTRY else None
            ),
            sched_mode=meta.sched_mode,
            params=tuple(map(ParamEntry.of, meta.params)) if has_params else None,
            param_total_size=meta.param_total_size if has_params else None,
            dfx=(
                None
                if kernel.dfx is None
                else DfxEntry(tuple(DfxArgEntry.of(arg, dtype_unit) for arg in kernel.dfx.args))
            ),
            arg_size=kernel.arg_size,
            meta=tuple(MetaEntry.of(record, FUNCTION_META) for record in kernel.records),
        )
