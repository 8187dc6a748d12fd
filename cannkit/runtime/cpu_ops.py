"""AI CPU operators out of the JSON beside their library. Spec 02, section 5: CPU-4, CPU-5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cannkit.errors import ReadWarning, brief
from cannkit.format.sidecar import parse_json
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import CpuFunction, CpuKernelType
from cannkit.runtime.program_base import bytes_of

KERNEL_LIBS: Final[Mapping[str, CpuKernelType]] = {  # CPU-5
    "CUSTAICPUKernel": CpuKernelType.AICPU_CUSTOM,
    "AICPUKernel": CpuKernelType.AICPU,
    "TFKernel": CpuKernelType.FWK,
    "KFCKernel": CpuKernelType.AICPU_KFC,
    "CUSTKFCKernel": CpuKernelType.CUSTOM_KFC,
}
FIELDS: Final = ("functionName", "kernelSo", "opKernelLib", "userDefined")


class CpuOps(NamedTuple):
    """The operators in ascending byte order of op type, and why others are not among them (QK-23)."""

    ops: tuple[CpuFunction, ...]
    warnings: tuple[ReadWarning, ...]


def read_cpu_ops(raw: bytes) -> CpuOps:
    """CPU-4: the operators of an AI CPU operator JSON.

    Raises FormatError when the text is not JSON, RtError (107000) when its root is an array.
    """
    root = parse_json(raw)
    if isinstance(root, list):
        why = "its root is an array (the original takes the items for operators 0, 1, ...)"
        raise RtError(RtStatus.INVALID_VALUE, "no AI CPU operators in this JSON", why=why)
    ops: list[CpuFunction] = []
    warnings: list[ReadWarning] = []
    items = root if isinstance(root, dict) else {}
    for op_type in sorted(items, key=bytes_of):
        item, where = items[op_type], f"op {brief(op_type)}"
        if not isinstance(item, dict) or "opInfo" not in item:
            warnings.append(ReadWarning("op-skipped", where, "it has no opInfo"))
            continue
        fields = item["opInfo"] if isinstance(item["opInfo"], dict) else {}
        wrong = [f for f in FIELDS if f in fields and not isinstance(fields[f], str)]
        if wrong:
            message = f"{', '.join(wrong)} must be text: the runtime drops this operator"
            warnings.append(ReadWarning("op-dropped", where, message))
            continue
        op = _function(op_type, fields)
        if op.kernel_type is CpuKernelType.RESERVED:
            lib = fields.get("opKernelLib")
            message = "no opKernelLib" if lib is None else f"opKernelLib {brief(lib)!r} is unknown"
            warnings.append(
                ReadWarning("op-kernel-lib", where, f"{message}: it cannot be launched")
            )
        ops.append(op)
    return CpuOps(tuple(ops), tuple(warnings))


def _function(op_type: str, fields: Mapping[str, str]) -> CpuFunction:
    kind = KERNEL_LIBS.get(fields.get("opKernelLib", ""), CpuKernelType.RESERVED)
    if kind is CpuKernelType.AICPU and fields.get("userDefined") == "True":
        kind = CpuKernelType.AICPU_CUSTOM
    return CpuFunction(op_type, fields.get("kernelSo", ""), fields.get("functionName", ""), kind)
