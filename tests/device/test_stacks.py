"""Stack regions and printf buffers."""

from __future__ import annotations

import pytest

from cannkit.device.memory import SystemSlot
from cannkit.device.stacks import (
    StackConfig,
    die_count,
    effective_custom_stack,
    plan_stacks,
    simd_print_size,
    simt_print_size,
    stack_base,
    stack_level,
    stack_slot,
)
from cannkit.device.traits import CHIPS, traits_of
from cannkit.format.status import AclStatus, RtError
from cannkit.soc import all_socs, find_soc
from tests.facts import A2_SOC, A5_SOC

A2, A5 = find_soc(A2_SOC), find_soc(A5_SOC)
K32, K16, CUSTOM, SIMT = (
    SystemSlot.STACK_32K,
    SystemSlot.STACK_16K,
    SystemSlot.STACK_CUSTOM,
    SystemSlot.STACK_SIMT,
)


def test_regions_by_chip() -> None:
    """STK-2, STK-7, EX-DEV-10."""
    config = StackConfig()
    assert plan_stacks(A2, config, 1).regions == {K32: 2_457_600, K16: 1_228_800}
    assert plan_stacks(A5, config, 2).regions == {K32: 3_538_944, SIMT: 174_588_032}
    assert plan_stacks(A5, config, 1).regions[K32] == 1_769_472
    assert plan_stacks(find_soc("Ascend310P3"), config, 1).regions == {K32: 2_457_600}
    assert plan_stacks(find_soc("MC62CM12A"), config, 1).regions[K32] == 524_288
    assert plan_stacks(find_soc("CHIP_XPU"), config, 1).regions == {}


@pytest.mark.parametrize(
    ("soc", "asked", "effective", "level", "region"),
    [
        ("Ascend910B1", 20000, 32768, 0, None),
        ("Ascend910B1", 40000, 49152, 1, 3_686_400),
        ("Ascend910B1", 196608, 196608, 10, 14_745_600),
        ("Ascend910B1", 200000, 212992, None, None),
        (A5_SOC, 131072, 131072, 6, 14_155_776),
        (A5_SOC, 131073, 147456, None, None),
        ("Ascend310B1", 7864320, 7864320, 478, 15_728_640),
    ],
)
def test_custom_stacks(
    soc: str, asked: int, effective: int, level: int | None, region: int | None
) -> None:
    """EX-DEV-10, STK-4, STK-6."""
    assert effective_custom_stack(asked) == effective
    if level is None:
        with pytest.raises(RtError, match="EE1011") as caught:
            plan_stacks(find_soc(soc), StackConfig(custom=asked), 1)
        assert caught.value.acl is AclStatus.RT_PARAM_INVALID
        return
    assert stack_level(effective) == level
    plan = plan_stacks(find_soc(soc), StackConfig(custom=asked), 1)
    assert plan.regions.get(CUSTOM) == region
    assert plan.custom == (effective if region else 0)


def test_a_simt_stack_of_nothing() -> None:
    """STK-7: 107000."""
    nothing = StackConfig(simt_thread=0, simt_divergence=0)
    with pytest.raises(RtError, match="both the SIMT stack"):
        plan_stacks(A5, nothing, 1)
    assert SIMT not in plan_stacks(A2, nothing, 1).regions
    tiny = StackConfig(simt_thread=1, simt_divergence=1)
    assert plan_stacks(A5, tiny, 1).regions[SIMT] == 36 * 64 * (32 * 128 + 128) + 128


def test_slots_of_cores() -> None:
    """STK-3, Q-19."""
    assert stack_slot(A2, 3, vector=False, size=32768) == 3 * 32768
    assert stack_slot(A2, 3, vector=True, size=32768) == 28 * 32768
    assert stack_slot(A5, 19, vector=False, size=16) == 16 * (1 + 54)
    assert stack_slot(A5, 37, vector=True, size=16) == 16 * (18 + 1 + 54)
    for core, vector in ((24, False), (48, True), (-1, False)):
        with pytest.raises(RtError, match="has"):
            stack_slot(A2, core, vector=vector, size=1)


def test_which_region_a_kernel_gets() -> None:
    """STK-6, Q-26."""
    assert stack_base(A2, 0, 16384) is K16
    assert stack_base(A2, 0, 0) is stack_base(A2, 0, 32768) is stack_base(A2, 16384, 16384) is K32
    assert stack_base(A2, 49152, 16384) is CUSTOM
    assert stack_base(A5, 0, 16384) is K32


def test_printf_buffers() -> None:
    """STK-8."""
    assert simd_print_size(A2, StackConfig()) == 32768 * 75
    assert simd_print_size(A5, StackConfig(simd_print=1025)) == 1032 * 108
    assert simt_print_size(StackConfig()) == 2 << 20
    for config in (StackConfig(simd_print=1023), StackConfig(simd_print=(64 << 20) + 1)):
        with pytest.raises(RtError, match="are not in"):
            simd_print_size(A2, config)
    with pytest.raises(RtError, match="are not in"):
        simt_print_size(StackConfig(simt_print=(1 << 20) - 1))


def test_traits_are_those_of_the_chip_table() -> None:
    """Section 7.2 against the columns of section 7.1."""
    for soc in all_socs():
        traits = traits_of(soc)
        if not soc.facts["rt_aic_num"]:
            continue
        assert (traits.aic, traits.aiv) == (soc.facts["rt_aic_num"], soc.facts["rt_aiv_num"])
        assert traits.max_custom_stack == soc.facts["rt_custom_stack_max_bytes"]
        assert traits.has_small_stacks == soc.keeps_elf_stack
    assert traits_of(find_soc("CHIP_XPU")).aic == 0
    assert len(CHIPS) == 22


def test_dies() -> None:
    assert [die_count(find_soc(name)) for name in (A5_SOC, A2_SOC, "Ascend910A")] == [2, 2, 1]
    assert die_count(find_soc("CLOUD_V5")) == 2
