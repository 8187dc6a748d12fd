"""What the runtime registers for a chip about its device: one row each. Spec 03, section 7.2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cannkit.soc import Soc


class ChipTraits(NamedTuple):
    """Core numbers for sizing; bytes of the plain stack region and of the largest custom stack.

    `base_stack` is 0 where every core has a stack of 32 KiB in a region of its own (flag D).
    """

    aic: int
    aiv: int
    base_stack: int
    max_custom_stack: int
    has_small_stacks: bool = False  # flag 6: a region of 16 KiB stacks too
    names_in_hbm: bool = False  # CPU-2: names of AI CPU kernels never lie in TS memory


NONE: Final = ChipTraits(0, 0, 0, 0)
PLAIN: Final = ChipTraits(25, 50, 2457600, 196608)

# fmt: off
CHIPS: Final[Mapping[str, ChipTraits]] = {
    "CHIP_MINI":       ChipTraits( 1,  1,   65536, 7864320),
    "CHIP_CLOUD":      PLAIN,
    "CHIP_ADC":        ChipTraits(25, 50,   65536,  196608),
    "CHIP_DC":         PLAIN,
    "CHIP_910_B_93":   ChipTraits(25, 50,       0,  196608, has_small_stacks=True, names_in_hbm=True),
    "CHIP_MINI_V3":    ChipTraits( 1,  1,   65536, 7864320),
    "CHIP_ASCEND_031": ChipTraits(25, 50,   16384,  196608),
    "CHIP_NANO":       PLAIN,
    "CHIP_AS31XM1":    PLAIN,
    "CHIP_610LITE":    PLAIN,
    "CHIP_DAVID":      ChipTraits(36, 72,       0,  131072, names_in_hbm=True),
    "CHIP_CLOUD_V5":   ChipTraits(36, 72,       0,  196608, names_in_hbm=True),
    "CHIP_MC62CM12A":  ChipTraits(25, 50,  524288,  196608, names_in_hbm=True),
    "CHIP_MC32DM11A":  ChipTraits(25, 50, 2457600,  196608, names_in_hbm=True),
    "CHIP_ASCEND_350": ChipTraits(18, 36,       0,  131072, names_in_hbm=True),
    "CHIP_5162A":      ChipTraits( 1,  1,   16384,  196608),
    "CHIP_X90":        ChipTraits( 1,  1, 2457600,  196608, names_in_hbm=True),
    "CHIP_9030":       ChipTraits( 1,  1, 2457600,  196608, names_in_hbm=True),
    "CHIP_DEV_0000":   ChipTraits( 4,  4, 2457600,  196608, names_in_hbm=True),
    "CHIP_DEV_0001":   ChipTraits( 5,  5, 2457600,  196608, names_in_hbm=True),
    "CHIP_DEV_0002":   ChipTraits( 1,  1, 2457600,  196608, names_in_hbm=True),
    "CHIP_DEV_0003":   ChipTraits( 5,  5, 2457600,  196608, names_in_hbm=True),
}
# fmt: on


def traits_of(soc: Soc) -> ChipTraits:
    """The row of a chip; a chip type without properties has zeros."""
    return CHIPS.get(soc.chip, NONE)
