"""CpuKernelType: the numbers by which runtime and AI CPU engine call their kernels. Spec 02 and 04."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.format.bits import OpenEnum


class CpuKernelType(OpenEnum):
    """rtKernelType_t: which handler of the AI CPU engine serves a kernel."""

    CCE = 0
    FWK = 1
    AICPU = 2
    AICPU_CUSTOM = 4
    AICPU_KFC = 5
    CUSTOM_KFC = 6
    HWTS = 10
    RESERVED = 99


KERNEL_TYPE_WORDS: Final[Mapping[str, CpuKernelType]] = {  # as the command line calls them
    "aicpu": CpuKernelType.AICPU,
    "custom": CpuKernelType.AICPU_CUSTOM,
    "kfc": CpuKernelType.AICPU_KFC,
    "custom-kfc": CpuKernelType.CUSTOM_KFC,
    "fwk": CpuKernelType.FWK,
    "cce": CpuKernelType.CCE,
    "hwts": CpuKernelType.HWTS,
}

CUST_TYPES: Final = (CpuKernelType.AICPU_CUSTOM, CpuKernelType.CUSTOM_KFC)
LOGIC_TYPES: Final = (
    CpuKernelType.CCE,
    CpuKernelType.AICPU,
)  # without a library: a logic kernel, AE-303
