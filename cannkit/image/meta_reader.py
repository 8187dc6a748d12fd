"""Reads the metadata sections of an object: TLVs, argument records, effective values. Spec 01, 4-7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.errors import ReadWarning, brief
from cannkit.format.ascend_meta import (
    BINARY_META,
    FUNCTION_META,
    BinaryMeta,
    EntryFlag,
    FunctionMeta,
    FuncType,
    VfType,
)
from cannkit.format.bits import unknown_name
from cannkit.format.dfx import DfxArgs, read_dfx, runtime_arg_count
from cannkit.format.elf_types import ByteOrder
from cannkit.format.tlv import Entry, Tlv, walk
from cannkit.image.kernel_meta import (
    DEFAULT_RATIO,
    DEFAULT_STACK,
    PADDING,
    EntryKind,
    KernelMeta,
    MetaReading,
    Param,
    Record,
    Refusal,
)
from cannkit.soc import Soc

MODES: Final = 2  # SCHED_MODE_INFO: 0 normal, 1 batch
RATIOS: Final = {(1, 2): 2, (2, 1): 2, (1, 1): 1, (1, 0): 0, (0, 1): 0}  # FUN-08
BINARY_NAMES: Final = BinaryMeta.names()
FUNCTION_NAMES: Final = FunctionMeta.names()
DFX_TYPE: Final = FunctionMeta.DFX_TYPE.value
PARAM_INFO: Final = FunctionMeta.PARAM_INFO.value


def read_kernel_meta(
    section: memoryview, order: ByteOrder, base: int, kernel: str, soc: Soc
) -> MetaReading:
    """Read the `.ascend.meta.<kernel>` section that starts at file offset `base`."""
    where = f"kernel {brief(kernel)}"
    warnings: list[ReadWarning] = []
    tlvs = _walk(section, order, base, where, warnings)
    fields: dict[str, int] = {}
    params: list[Param] = []
    records: list[Record] = []
    dfx: DfxArgs | None = None
    user_args = 0
    for tlv in tlvs:
        record = _decode(tlv, FUNCTION_META, FUNCTION_NAMES, order, where, warnings)
        records.append(record)
        if tlv.type == DFX_TYPE:
            dfx = read_dfx(tlv.raw)
            count = runtime_arg_count(tlv.raw)
            user_args = dfx.arg_info_count if count is None else count or user_args
            records[-1] = record._replace(value={"arg_count": dfx.arg_info_count})
            _judge_dfx(dfx, count, f"{where}, offset {tlv.offset:#x}", warnings)
        elif record.value is None:
            continue
        elif tlv.type == PARAM_INFO:  # TLV-04: appends, anything else: last wins
            params.append(Param(**record.value))
        else:
            fields.update(record.value)
    meta, refusals = _effective(fields, params, user_args, soc, where, warnings)
    return MetaReading(len(section), meta, tuple(records), dfx, tuple(refusals), tuple(warnings))


def read_binary_meta(
    section: memoryview, order: ByteOrder, base: int
) -> tuple[list[Record], list[ReadWarning]]:
    """The records of a `.ascend.meta` section that starts at file offset `base`."""
    warnings: list[ReadWarning] = []
    where = "section .ascend.meta"
    tlvs = _walk(section, order, base, where, warnings)
    return [_decode(t, BINARY_META, BINARY_NAMES, order, where, warnings) for t in tlvs], warnings


def _walk(
    section: memoryview,
    order: ByteOrder,
    base: int,
    where: str,
    warnings: list[ReadWarning],
) -> list[Tlv]:
    tlvs, taken = walk(section, order, base)
    if taken < len(section) and any(section[taken:]):  # TLV-06
        left = len(section) - taken
        warnings.append(
            ReadWarning(
                "tlv-truncated",
                f"{where}, offset {base + taken:#x}",
                f"the last {left} bytes are no whole record; the runtime drops them",
            )
        )
    return tlvs


def _decode(
    tlv: Tlv,
    table: Mapping[int, Entry],
    names: Mapping[int, str],
    order: ByteOrder,
    where: str,
    warnings: list[ReadWarning],
) -> Record:
    kind, offset, raw = tlv
    if not kind and not raw:
        return Record(tlv, PADDING, None)
    name = names.get(kind) or unknown_name(kind)
    entry = table.get(kind)
    if entry is None:  # TLV-05
        return Record(tlv, name, None)
    value = entry.decode(raw, order)
    if not entry.fits(len(raw)):
        loss = "the default stays" if value is None else "read as the runtime does"
        message = f"{name} has {len(raw)} bytes instead of {entry.size}: {loss}"
        warnings.append(ReadWarning("tlv-length", f"{where}, offset {offset:#x}", message))
    return Record(tlv, name, value)


def _judge_dfx(
    dfx: DfxArgs, runtime_count: int | None, where: str, warnings: list[ReadWarning]
) -> None:
    """HAZ-07: malformed records are told, with both counts where they differ."""
    if dfx.problem:
        warnings.append(ReadWarning("dfx-malformed", where, dfx.problem))
    if runtime_count is None:
        message = "shorter than a record header: the runtime would read out of bounds"
        warnings.append(ReadWarning("dfx-count", where, message))
    elif dfx.args and runtime_count != dfx.arg_info_count:
        message = f"the runtime counts {runtime_count} arguments, there are {dfx.arg_info_count}"
        warnings.append(ReadWarning("dfx-count", where, message))


def _effective(
    fields: dict[str, int],
    infos: list[Param],
    user_args: int,
    soc: Soc,
    where: str,
    warnings: list[ReadWarning],
) -> tuple[KernelMeta, list[Refusal]]:
    """Section 6.3: the values the runtime works with, and its refusals in its own order."""
    refusals: list[Refusal] = []

    def refuse(rule: str, message: str) -> None:
        refusals.append(Refusal(rule, f"{where}: {message}"))

    params: tuple[Param, ...] = ()
    count = fields.get("param_count")
    if count:
        slots = {info.ordinal: info for info in infos}  # duplicate ordinals: the last one wins
        if len(infos) != count:
            refuse("FUN-05", f"PARAM_SUMMARY says {count} parameters, {len(infos)} are described")
        elif max(slots) >= count:
            refuse("FUN-05", f"parameter ordinal {max(slots)} with {count} parameters")
        else:
            params = tuple(slots.get(ordinal, Param()) for ordinal in range(count))
            missing = sorted(set(range(count)) - set(slots))
            if missing:
                message = f"no PARAM_INFO for ordinals {_few(missing)}: taken as zeros"
                warnings.append(ReadWarning("param-missing", where, message))
            _check_extents(params, fields["param_total_size"], where, warnings)

    min_stack = fields.get("min_stack_size", 0) if soc.has_min_stack_meta else 0
    if min_stack > DEFAULT_STACK:
        refuse("FUN-06", f"needs {min_stack} bytes of stack, a process has {DEFAULT_STACK}")

    kind, entry = EntryKind.TILING_KEY, 0
    match fields.get("flag"):
        case None:
            pass
        case EntryFlag.ENABLED:
            kind, entry = EntryKind.FUNCTION_ENTRY, fields["function_entry"]
        case EntryFlag.DISABLED:
            kind = EntryKind.UNSUPPORTED
        case flag:
            refuse("FUN-07", f"FUNCTION_ENTRY_INFO has flag {flag:#04x}, not 0x00 or 0x80")

    sched_mode = fields.get("sched_mode", 0)
    if sched_mode >= MODES:
        refuse("6.3.5", f"SCHED_MODE_INFO is {sched_mode}, not 0 (normal) or 1 (batch)")

    ratio = (fields["ratio_aic"], fields["ratio_aiv"]) if "ratio_aic" in fields else None
    value = DEFAULT_RATIO
    if ratio and any(ratio) and soc.has_task_ratio:
        if ratio in RATIOS:
            value = RATIOS[ratio]
        else:
            refuse("FUN-08", f"task ratio {ratio[0]}:{ratio[1]} is not one of 1:2 2:1 1:1 1:0 0:1")

    vf_type = VfType(fields.get("vf_type", 0))
    meta = KernelMeta(
        func_type=FuncType(fields.get("func_type", 0)),
        cross_core_sync=fields.get("cross_core_sync", 0),
        task_ratio=ratio,
        task_ratio_value=value,
        user_args=user_args,
        vf_type=vf_type,
        ub_size=fields.get("ub_size", 0) if vf_type else 0,  # FUN-09
        min_stack_size=min_stack,
        early_start=fields.get("early_start") == 1,
        entry_kind=kind,
        function_entry=entry,
        sched_mode=sched_mode,
        has_param_summary=count is not None,
        params=params,
        param_total_size=fields["param_total_size"] if count else 0,  # FUN-05: nothing to copy
    )
    return meta, refusals


def _check_extents(
    params: tuple[Param, ...], total: int, where: str, warnings: list[ReadWarning]
) -> None:
    """HAZ-09: the launch copies each argument without asking whether it fits."""
    outside = [p.ordinal for p in params if p.offset + p.size > total]
    if outside:
        message = f"parameters {_few(outside)} leave the packed buffer of {total} bytes"
        warnings.append(ReadWarning("param-extent", where, message))


def _few(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, ... ({len(numbers)} in all)" if len(numbers) > 8 else shown
