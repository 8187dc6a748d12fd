"""CpuKernelType: the numbers by which runtime and AI CPU engine call their kernels. Spec 02 and 04."""

from __future__ import annotations

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
