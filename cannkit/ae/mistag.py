"""Tasks whose kernel type does not go with their bytes: what comes of it. Spec 05, section 10.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.ae.logic_kernels import find
from cannkit.errors import brief
from cannkit.format.ae_event import KFC_TYPES, TsKernel
from cannkit.format.cpu_kernel import CpuKernelType

TYPE: Final = 4  # bytes of fwkKernelType
ADDRESS: Final = 8  # FWK: all that a scheduler fills in, the rest is 0 (AE-301)


def mistag_notes(kernel: TsKernel, names: Mapping[int, str] | None = None) -> tuple[str, ...]:
    """What is suspicious of a tag, and how the task would end. `names`: known strings by address."""
    known = {} if names is None else names
    looks_fwk = any(kernel.base[:ADDRESS]) and not any(kernel.base[ADDRESS:])
    if kernel.kernel_type != CpuKernelType.FWK:
        return tuple(_fwk_as_cce(kernel, known)) if looks_fwk else ()
    is_named = kernel.fwk.operate_addr in known
    return (_cce_as_fwk(kernel, known),) if is_named or any(kernel.base[ADDRESS:]) else ()


def _cce_as_fwk(kernel: TsKernel, names: Mapping[int, str]) -> str:
    """The engine takes the kernel name for the operate block: AE-703."""
    name = names.get(kernel.fwk.operate_addr)
    if name is None:
        what = "a kernel name would be fwkKernelType: refused with 11001 unless it is empty"
    elif not name:
        what = "the empty kernel name is fwkKernelType: taken for TF where 3 more bytes are 0"
    else:
        raw = name.encode("utf-8", "surrogateescape")[:TYPE]
        known = len(raw) + 1 >= TYPE  # with the 0 at its end
        number = f"fwkKernelType {int.from_bytes(raw, 'little'):#x}" if known else "fwkKernelType"
        what = f"{raw!r} of the kernel name is {number}: refused with 11001"
    return f"read as FWK, but it looks like a CCE kernel: {what}"


def _fwk_as_cce(kernel: TsKernel, names: Mapping[int, str]) -> Iterator[str]:
    """The engine, or the scheduler, finds no kernelSo: AE-303, AE-701, Q-1."""
    kind = kernel.kernel_type
    head = "read as CCE, but only the first 8 bytes of kernelBase are set, as in an FWK kernel:"
    if kind in (CpuKernelType.CCE, CpuKernelType.AICPU):
        yield f"{head} kernelSo is 0, so a logic kernel is looked up by {_name(kernel, names)}"
    elif kind == CpuKernelType.AICPU_CUSTOM:
        yield f"{head} kernelSo is 0: 11001"
    elif kind in KFC_TYPES:
        yield f"{head} kernelSo is 0: the original crashes where the kernel name is new, here 11001"


def _name(kernel: TsKernel, names: Mapping[int, str]) -> str:
    name = names.get(kernel.cce.func_name_addr)
    if not name:
        return "the name at the FWK block, whose first byte is 0 for TF: empty, 21005"
    end = "there is one" if find(name) else "21005"
    return f"the name {brief(name)!r}: {end}"
