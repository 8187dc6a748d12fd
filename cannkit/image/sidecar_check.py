"""Where a sidecar and its object disagree. Spec 01, section 10.5 (JSN-10); all hold in practice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.errors import ReadWarning, brief
from cannkit.format.ascend_meta import DEBUG_OPTIONS, BinaryMeta
from cannkit.format.sidecar import Sidecar, SidecarKernel
from cannkit.image.kernel_meta import EntryKind
from cannkit.image.kernel_name import split_kernel_name
from cannkit.image.kernel_object import KernelImage, KernelObject

PER_KERNEL: Final = "tilingKey"  # taskRation of the sidecar: each kernel has its own
PLACEHOLDER: Final = "gen_placeholder"
FOLDED: Final = "folded_with_desc"

# JSN-10 (i): coreType -> magic, intercoreSync
CORE_TYPES: Final = {
    "VectorCore": ("RT_DEV_BINARY_MAGIC_ELF_AIVEC", 0),
    "AiCore": ("RT_DEV_BINARY_MAGIC_ELF_AICUBE", 0),
    "MIX": ("RT_DEV_BINARY_MAGIC_ELF", 1),
}


def check_sidecar(
    obj: KernelObject, sidecar: Sidecar, sha256: str, path: str, where: str
) -> list[ReadWarning]:
    """Everything in which the sidecar of the object at `path` disagrees with it."""
    problems = [
        *_digest(sidecar, sha256),
        *_names(sidecar, path),
        *_kernel_list(obj, sidecar),
        *_kernels(obj, sidecar),
        *_binary(obj, sidecar),
        *_core_type(sidecar),
    ]
    return [ReadWarning(f"sidecar-{code}", where, message) for code, message in problems]


Problems = Iterator[tuple[str, str]]


def _digest(sidecar: Sidecar, sha256: str) -> Problems:
    """(a)."""
    if sidecar.sha256 is not None and sidecar.sha256.lower() != sha256:
        yield "sha256", f"sha256 is {sidecar.sha256[:64]}, the object has {sha256}"


def _names(sidecar: Sidecar, path: str) -> Problems:
    """(c) and (j)."""
    name = path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    if sidecar.bin_file_name is not None and sidecar.bin_file_name != stem:
        yield (
            "file-name",
            f"binFileName is {_quoted(sidecar.bin_file_name)}, the file is {_quoted(stem)}",
        )
    prefix = sidecar.kernel_name
    if prefix is not None:
        for kernel in sidecar.kernel_list:
            if not kernel.name.startswith(f"{prefix}_"):
                message = (
                    f"{_quoted(kernel.name)} of kernelList does not start with {_quoted(prefix)}"
                )
                yield "kernel-name", message
                break


def _kernel_list(obj: KernelObject, sidecar: Sidecar) -> Problems:
    """(b)."""
    if "kernelList" not in sidecar.keys:
        return
    listed = {kernel.name for kernel in sidecar.kernel_list}
    present = {split_kernel_name(kernel.name).base for kernel in obj.kernels}
    if missing := sorted(listed - present):
        yield "kernel-list", f"kernelList has {_few(missing)}, the object has not"
    if extra := sorted(present - listed):
        yield "kernel-list", f"the object has {_few(extra)}, kernelList has not"


def _kernels(obj: KernelObject, sidecar: Sidecar) -> Problems:
    """(d), (e) and (f), for every kernel."""
    listed = {kernel.name: kernel for kernel in sidecar.kernel_list}
    for kernel in obj.kernels:
        name = split_kernel_name(kernel.name)
        entry = kernel.meta.function_entry
        if kernel.meta.entry_kind is EntryKind.FUNCTION_ENTRY and entry != name.key:
            yield (
                "entry",
                f"{brief(kernel.name)}: function entry {entry}, the name ends in {name.key}",
            )
        in_list = listed.get(name.base)
        if in_list and in_list.tiling_key is not None and in_list.tiling_key != name.key:
            yield "entry", f"{brief(kernel.name)}: tilingKey of kernelList is {in_list.tiling_key}"
        yield from _ratio(kernel, in_list, sidecar.task_ration)
        tiling = kernel.dfx.tiling_size if kernel.dfx else None
        if None not in (tiling, sidecar.op_para_size) and tiling != sidecar.op_para_size:
            message = f"opParaSize is {sidecar.op_para_size}, the tiling record says {tiling}"
            yield "tiling-size", f"{brief(kernel.name)}: {message}"


def _ratio(kernel: KernelImage, in_list: SidecarKernel | None, common: str | None) -> Problems:
    """(e): taskRation, of the kernel's own where the common one says so."""
    wanted = in_list.task_ration if common == PER_KERNEL and in_list else common
    ratio = kernel.meta.task_ratio
    if wanted is None or wanted == PER_KERNEL or ratio is None:
        return
    recorded = f"{ratio[0]}:{ratio[1]}"
    if wanted != recorded:
        yield (
            "task-ratio",
            f"{brief(kernel.name)}: taskRation is {_quoted(wanted)}, the object has {recorded}",
        )


def _binary(obj: KernelObject, sidecar: Sidecar) -> Problems:
    """(g) and (h)."""
    options = (sidecar.debug_options or "").split(",")
    mask = sum(bit for word, bit in DEBUG_OPTIONS.items() if word in options)
    debug = (sidecar.debug_buf_size or 0, mask)
    folded = int(sidecar.dynamic_param_mode == FOLDED)
    optional = (
        int(sidecar.optional_input_mode == PLACEHOLDER),
        int(sidecar.optional_output_mode == PLACEHOLDER),
    )
    seen = set()
    for record in obj.binary_meta:
        value = record.value
        if value is None or (record.tlv.type, record.tlv.raw) in seen:
            continue
        seen.add((record.tlv.type, record.tlv.raw))
        match record.tlv.type:
            case BinaryMeta.DEBUG_INFO:
                found = (value["debug_buf_size"], value["debug_options"])
                if found not in (debug, (0, 0)):
                    yield "debug", f"debug buffer and options are {debug}, the object has {found}"
            case BinaryMeta.DYNAMIC_PARAM:
                if value["mode"] != folded:
                    message = f"dynamicParamMode is {_quoted(sidecar.dynamic_param_mode)}"
                    yield "param-mode", f"{message}, the object has mode {value['mode']}"
            case BinaryMeta.OPTIONAL_PARAM:
                modes = (value["input_mode"], value["output_mode"])
                if modes != optional:
                    message = f"optional input and output modes are {optional}"
                    yield "param-mode", f"{message}, the object has {modes}"


def _core_type(sidecar: Sidecar) -> Problems:
    """(i)."""
    expected = CORE_TYPES.get(sidecar.core_type or "")
    if expected is None:
        return
    magic, sync = expected
    if sidecar.magic is not None and sidecar.magic != magic:
        yield (
            "core-type",
            f"coreType {_quoted(sidecar.core_type)} with magic {_quoted(sidecar.magic)}",
        )
    if (sidecar.intercore_sync or 0) != sync:  # JSN-04: none, "1" or true is as 0
        said = "without intercoreSync" if sidecar.intercore_sync is None else "with intercoreSync"
        number = sync if sidecar.intercore_sync is None else sidecar.intercore_sync
        message = f"coreType {_quoted(sidecar.core_type)} {said} {number}"
        yield "core-type", message


def _quoted(text: str | None) -> str:
    return "absent" if text is None else repr(brief(text))


def _few(names: list[str]) -> str:
    shown = ", ".join(brief(name) for name in names[:4])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > 4 else shown
