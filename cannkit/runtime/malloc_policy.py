"""What a memory policy asks for: padding and the memory type word. Spec 03, section 6.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.device.device import HUGE_ONLY
from cannkit.device.trace import MemoryType
from cannkit.format.bits import OpenEnum
from cannkit.format.status import AclStatus, RtError
from cannkit.soc import Soc

GRAIN: Final = 32  # MEM-3
DEFAULT_PADDING: Final = 32


class MallocPolicy(OpenEnum):
    """aclrtMemMallocPolicy; any other number counts as HUGE_FIRST. MEM-3."""

    HUGE_FIRST = 0
    HUGE_ONLY = 1
    NORMAL_ONLY = 2
    HUGE_FIRST_P2P = 3
    HUGE_ONLY_P2P = 4
    NORMAL_ONLY_P2P = 5
    HUGE1G_ONLY = 6
    HUGE1G_ONLY_P2P = 7
    TYPE_LOW_BAND_WIDTH = 0x100
    TYPE_HIGH_BAND_WIDTH = 0x1000
    ACCESS_USER_SPACE_READONLY = 0x100000


HUGE_FIRST: Final = MemoryType.HBM | 0x400

# MEM-4: the memory type word of a policy.
TYPE_OF_POLICY: Final[Mapping[MallocPolicy, int]] = {
    MallocPolicy.HUGE_FIRST: HUGE_FIRST,
    MallocPolicy.HUGE_ONLY: MemoryType.HBM | HUGE_ONLY,
    MallocPolicy.NORMAL_ONLY: MemoryType.HBM | 0x1000,
    MallocPolicy.HUGE_FIRST_P2P: MemoryType.P2P_HBM | 0x2000,
    MallocPolicy.HUGE_ONLY_P2P: MemoryType.P2P_HBM | 0x4000,
    MallocPolicy.NORMAL_ONLY_P2P: MemoryType.P2P_HBM | 0x8000,
    MallocPolicy.HUGE1G_ONLY: MemoryType.HBM | 0x10000,
    MallocPolicy.HUGE1G_ONLY_P2P: MemoryType.P2P_HBM | 0x20000,
    MallocPolicy.TYPE_LOW_BAND_WIDTH: MemoryType.DDR | 0x400,
    MallocPolicy.TYPE_HIGH_BAND_WIDTH: HUGE_FIRST,
    MallocPolicy.ACCESS_USER_SPACE_READONLY: HUGE_FIRST | 0x100000,
}
UNPADDED: Final = (MallocPolicy.HUGE1G_ONLY, MallocPolicy.HUGE1G_ONLY_P2P)


def memory_type_of(policy: int) -> int:
    """MEM-4: the memory type word of a policy; one that has no number counts as HUGE_FIRST."""
    return TYPE_OF_POLICY.get(MallocPolicy(policy), HUGE_FIRST)


def padded_size(
    size: int, soc: Soc, policy: int = MallocPolicy.HUGE_FIRST, *, align32: bool = False
) -> int:
    """MEM-3: the bytes `aclrtMalloc` asks for. Raises RtError (100000) for 0 and for an overflow."""
    cell = soc.facts.get("malloc_padding_bytes")
    padding = cell if isinstance(cell, int) else DEFAULT_PADDING
    if align32 or policy in UNPADDED:
        padding = 0
    addend = GRAIN + padding - 1
    if not 0 < size < (1 << 64) - addend:
        raise bad_parameter("cannot allocate", f"{size} bytes")
    return (size + addend) // GRAIN * GRAIN


def bad_parameter(what: str, why: str) -> RtError:
    """A parameter error of the ACL layer: 100000."""
    return RtError(AclStatus.INVALID_PARAM, what, why=why)
