"""HostProfile: what a launch depends on that is neither the chip nor the kernel. Spec 04, LCH-92."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

X86_BAR_LIMIT: Final = 1024  # LCH-37, LCH-39; 4096 on every other host


class Attach(StrEnum):
    """How a device hangs on its host. LCH-38."""

    PCIE = "pcie"
    UB = "ub"


class HostProfile(NamedTuple):
    """The host of a device; the defaults are an x86-64 host with PCIe.

    `bar_limit`: bytes of an argument block that still go through the PCIe window, which can be used
    only where `bar_usable`. LCH-37 to LCH-39, LCH-92.
    """

    bar_limit: int = X86_BAR_LIMIT
    attach: Attach = Attach.PCIE
    bar_usable: bool = True
