"""Our reading of an object in the words of the recorded answers, and where the two may differ.

The original reads outside its buffer where cannkit refuses or warns; by the specification cannkit is
stricter there. Which answers that concerns is told from what cannkit said itself, never from a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from itertools import compress
from pathlib import Path
from typing import Any, Final

from cannkit.errors import FormatError
from cannkit.format.ascend_meta import FUNCTION_META, IMPLICIT_SYMBOLS
from cannkit.image.kernel_meta import EntryKind
from cannkit.image.kernel_object import KernelImage, KernelObject
from cannkit.soc import Soc
from tests.facts import SOC_OF_PROFILE, read

WRAP: Final = 1 << 64
ENTRY_TYPES: Final = {  # funcEntryType
    EntryKind.TILING_KEY: 0,
    EntryKind.FUNCTION_ENTRY: 1,
    EntryKind.UNSUPPORTED: 2,
}

# What a row has of the file alone, whatever comes of the object.
HEADER_FIELDS: Final = ("e_flags", "e_machine", "e_shnum", "e_type", "e_version")
LAYOUT_FIELDS: Final = ("text_offset", "text_size", "dataFlag", "stackSize", "ascendMetaFlag")

# Rules by which cannkit alone refuses a file before it reads any section.
STRICT_OPEN: Final = frozenset({"ELF-01", "HAZ-04"})


def recorded_object(row: Mapping[str, Any], corpus: Path) -> bytes:
    """The bytes a row is about: a real object, or the mutation of one."""
    data = bytearray((corpus.parent / (row.get("base") or row["file"])).read_bytes())
    for offset, patch in row.get("patches", ()):
        raw = bytes.fromhex(patch)
        data[offset : offset + len(raw)] = raw
    data += bytes.fromhex(row.get("append", ""))
    return bytes(data[: row.get("truncate")])


def read_row(row: Mapping[str, Any], corpus: Path) -> KernelObject | FormatError:
    """What cannkit reads of a row's object, or the error it raises."""
    try:
        return read(recorded_object(row, corpus), SOC_OF_PROFILE[row["profile"]])
    except FormatError as error:
        return error


def answer(obj: KernelObject) -> dict[str, Any]:
    """A reading in the words of an `elf` row."""
    header = obj.elf.header
    implicit = {v.name: (v.offset + obj.text_offset) % WRAP for v in obj.variables if v.implicit}
    return {
        "ascendMetaFlag": obj.implicit_flags,
        "dataFlag": obj.writable_data,
        "e_flags": header.flags,
        "e_machine": header.machine,
        "e_shnum": header.shnum,
        "e_type": header.type,
        "e_version": header.version,
        "func_num": obj.func_count,
        "globalSymbolMap": {
            _chars(v.name): [v.offset, v.size] for v in obj.variables if v.is_global
        },
        "kernel_num": len(obj.kernels),
        "kernels": [_kernel(obj, kernel) for kernel in obj.kernels],
        "so_name": obj.so_name if obj.so_name is None else _chars(obj.so_name),
        "stackSize": obj.stack_size,
        "symbolAddr": {name: implicit.get(name) for name in IMPLICIT_SYMBOLS},
        "text_offset": obj.text_offset,
        "text_size": obj.text_size,
    }


def _kernel(obj: KernelObject, kernel: KernelImage) -> dict[str, Any]:
    meta, section = kernel.meta, kernel.section
    return {
        "crossCoreSync": meta.cross_core_sync,
        "dfxAddr": section.offset if section else None,
        "dfxSize": section.size & 0xFFFF if section else 0,
        "earlyStartEnable": meta.early_start,
        "elfDataFlag": obj.elf.header.data_encoding if section else 0,
        "funcEntryType": ENTRY_TYPES[meta.entry_kind],
        "funcType": meta.func_type,
        "functionEntry": meta.function_entry,
        "hasParamSummary": meta.has_param_summary,
        "kernelVfType": meta.vf_type,
        "length": kernel.length,
        "minStackSize": meta.min_stack_size,
        "name": _chars(kernel.name),
        "offset": kernel.offset,
        "paramCount": len(meta.params),
        "paramTotalSize": meta.param_total_size,
        "params": [list(astuple(param)) for param in meta.params],
        "schedMode": meta.sched_mode,
        "shareMemSize": meta.ub_size,
        "taskRation": meta.task_ratio_value,
        "userArgsNum": meta.user_args,
    }


def _chars(name: str) -> str:
    """Names in the rows: each byte is one character."""
    return name.encode("utf-8", "surrogateescape").decode("latin-1")


def program_answer(obj: KernelObject, soc: Soc) -> dict[str, Any]:
    """What a `register` row says that follows from the object alone. ELF-04, ELF-06, SEC-09."""
    return {
        "isReadOnly": not obj.writable_data and not soc.data_is_read_only,
        "loadSize": obj.text_size & 0xFFFF_FFFF,
        "machine": obj.elf.header.machine,
        "maxMinStackSize": max((kernel.meta.min_stack_size for kernel in obj.kernels), default=0),
        "soName": "" if obj.so_name is None else _chars(obj.so_name),
        "stackSize": obj.stack_size if soc.keeps_elf_stack else 0,
    }


def stricter(outcome: KernelObject | FormatError) -> frozenset[str]:
    """The rules by which cannkit decides otherwise than the original about this object.

    HAZ-02 stands for big-endian objects: the original takes their sh_info for sh_link, so it has
    their symbol names from elsewhere, and it reads some values in host order (HAZ-03).
    """
    if isinstance(outcome, FormatError):
        return STRICT_OPEN & {outcome.rule or ""}
    found = {refusal.rule for refusal in outcome.refusals if not refusal.rt}
    if outcome.elf.byte_order == "big":
        found.add("HAZ-02")
    if any(map(_is_short, outcome.kernels)):
        found.add("HAZ-06")
    return frozenset(found)


def _is_short(kernel: KernelImage) -> bool:
    """HAZ-06: a value shorter than its type keeps the default; the original reads past it."""
    return any(
        record.value is None and record.tlv.type in FUNCTION_META and not record.tlv.is_padding
        for record in kernel.records
    )


def comparable(obj: KernelObject, recorded: Mapping[str, Any]) -> tuple[Any, Any]:
    """Ours and theirs of all that has a meaning in both."""
    mine, strict = answer(obj), stricter(obj)
    fields = set(recorded) & set(mine)
    if "error" in recorded:  # theirs has only what was read before the refusal
        fields = set(HEADER_FIELDS)
        first = next((refusal.rule for refusal in obj.refusals), "")
        if first != "SEC-06" and "HAZ-02" not in strict:
            fields |= set(LAYOUT_FIELDS)
    if "HAZ-02" in strict:
        fields -= {"kernels", "globalSymbolMap", "symbolAddr"}
    if "HAZ-08" in strict:
        fields -= {"so_name"}
    ours = {name: mine[name] for name in fields}
    theirs = {name: recorded[name] for name in fields}
    if "kernels" in fields and "HAZ-06" in strict:
        told = " ".join(refusal.message for refusal in obj.refusals if refusal.rule == "HAZ-06")
        kept = [k.name not in told and not _is_short(k) for k in obj.kernels]
        ours["kernels"] = list(compress(ours["kernels"], kept))
        theirs["kernels"] = list(compress(theirs["kernels"], kept))
    return ours, theirs
