"""KernelMeta: TLVs over the runtime's defaults. Spec 01, section 6; most cases are in test_vectors."""

from __future__ import annotations

import struct

import pytest

from cannkit.format.ascend_meta import FunctionMeta, FuncType, VfType
from cannkit.format.dfx import encode_dfx
from cannkit.format.tlv import encode_tlv
from cannkit.image.kernel_meta import (
    ARGS_WITHOUT_META,
    DEFAULT_RATIO,
    DEFAULT_STACK,
    NO_META,
    EntryKind,
    KernelMeta,
    MetaReading,
    Param,
)
from cannkit.image.meta_reader import RATIOS, read_kernel_meta
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC, golden
from tests.shapes import function_tlv

F = FunctionMeta
BASE = 0x1000
OLD_SOC = "Ascend310P3"  # neither task ratio nor minimum stack


def reading(*records: bytes, soc: str = A2_SOC) -> MetaReading:
    raw = memoryview(b"".join(records))
    return read_kernel_meta(raw, "little", BASE, "k_0", find_soc(soc))


def warned(found: MetaReading) -> list[tuple[str, str]]:
    return [(warning.code, warning.where) for warning in found.warnings]


def test_defaults_are_the_golden_ones() -> None:
    """Spec 6.3."""
    facts = golden("kernel_meta")
    assert facts["defaults"] == {
        "stack": DEFAULT_STACK,
        "task_ratio": DEFAULT_RATIO,
        "args_without_meta": ARGS_WITHOUT_META,
    }
    assert sorted([*pair, value] for pair, value in RATIOS.items()) == sorted(facts["task_ratios"])


def test_a_kernel_without_meta_has_128_arguments() -> None:
    """Spec 6.3, quirk: with an empty meta section it has none."""
    assert NO_META.user_args == 128
    found = reading()
    assert found.meta == KernelMeta()
    assert found.meta.user_args == 0
    assert (found.records, found.dfx, found.refusals, found.warnings) == ((), None, (), ())


def test_every_record_has_its_effect() -> None:
    found = reading(
        function_tlv(F.KERNEL_TYPE, func_type=4),
        function_tlv(F.CROSS_CORE, cross_core_sync=1),
        function_tlv(F.MIX_TASK_RATION, ratio_aic=1, ratio_aiv=1),
        encode_tlv(F.DFX_TYPE, encode_dfx([(5, (0x10002, 8)), (5, (0x10007,))]), "little"),
        function_tlv(F.COMPILER_ALLOC_UB_SIZE, ub_size=8192),
        function_tlv(F.SU_STACK_SIZE, min_stack_size=280),
        function_tlv(F.EARLY_START_ENABLE, early_start=1),
        function_tlv(F.AIV_TYPE_FLAG, vf_type=3),
        function_tlv(F.FUNCTION_ENTRY_INFO, function_entry=1 << 40),
        function_tlv(F.PARAM_SUMMARY, param_count=1, param_total_size=8),
        function_tlv(F.PARAM_INFO, index=3, size=8, align=8, type=1),
        function_tlv(F.SCHED_MODE_INFO, sched_mode=1),
        soc=A5_SOC,
    )
    assert (found.refusals, found.warnings) == ((), ())
    assert found.meta == KernelMeta(
        func_type=FuncType.MIX_AIC_MAIN,
        cross_core_sync=1,
        task_ratio=(1, 1),
        task_ratio_value=1,
        user_args=2,
        vf_type=VfType.SIMT_VF,
        ub_size=8192,
        min_stack_size=280,
        early_start=True,
        entry_kind=EntryKind.FUNCTION_ENTRY,
        function_entry=1 << 40,
        sched_mode=1,
        has_param_summary=True,
        params=(Param(index=3, size=8, align=8, type=1),),
        param_total_size=8,
    )


def test_records_keep_order_place_and_unknown_types() -> None:
    """TLV-05."""
    found = reading(
        function_tlv(F.KERNEL_TYPE, func_type=99),
        bytes(4),
        encode_tlv(0x77, b"\1\2", "little"),
        function_tlv(F.L0_EXCEPTION_DFX_IS_TIK, is_tik=1),
    )
    told = [(record.name, record.tlv.offset, record.value) for record in found.records]
    assert told == [
        ("KERNEL_TYPE", BASE, {"func_type": 99}),
        ("PADDING", BASE + 8, None),
        ("UNKNOWN_0x77", BASE + 12, None),
        ("L0_EXCEPTION_DFX_IS_TIK", BASE + 18, {"is_tik": 1}),
    ]
    assert found.records[2].tlv.raw == b"\1\2"
    assert found.meta.func_type == 99  # stored unchecked
    assert not found.warnings


def test_last_record_of_a_type_wins() -> None:
    """TLV-04."""
    pair = (function_tlv(F.KERNEL_TYPE, func_type=2), function_tlv(F.KERNEL_TYPE, func_type=3))
    assert reading(*pair).meta.func_type == FuncType.AIV
    assert reading(*reversed(pair)).meta.func_type == FuncType.AIC


def test_short_value_is_told_and_the_default_stays() -> None:
    """HAZ-06."""
    found = reading(encode_tlv(F.KERNEL_TYPE, b"\3\0", "little"), bytes(8))
    assert found.meta.func_type == 0
    assert warned(found) == [("tlv-length", f"kernel k_0, offset {BASE:#x}")]
    assert found.records[0].tlv.raw == b"\3\0"


def test_long_value_is_told_and_read() -> None:
    found = reading(encode_tlv(F.KERNEL_TYPE, b"\3" + bytes(7), "little"))
    assert found.meta.func_type == FuncType.AIV
    assert [code for code, _ in warned(found)] == ["tlv-length"]


@pytest.mark.parametrize(("tail", "told"), [(b"\0\0\0", False), (b"\0\1\0", True)])
def test_trailing_bytes_are_told_unless_zero(tail: bytes, told: bool) -> None:
    """TLV-06."""
    found = reading(function_tlv(F.KERNEL_TYPE, func_type=3), tail)
    assert warned(found) == [("tlv-truncated", f"kernel k_0, offset {BASE + 8:#x}")] * told


def test_min_stack_is_dropped_where_the_chip_does_not_know_it() -> None:
    """FUN-06."""
    record = function_tlv(F.SU_STACK_SIZE, min_stack_size=40000)
    assert [refusal.rule for refusal in reading(record).refusals] == ["FUN-06"]
    found = reading(record, soc=OLD_SOC)
    assert (found.refusals, found.meta.min_stack_size) == ((), 0)


def test_ratio_is_dropped_where_the_chip_does_not_know_it() -> None:
    """FUN-08."""
    record = function_tlv(F.MIX_TASK_RATION, ratio_aic=7, ratio_aiv=7)
    assert [refusal.rule for refusal in reading(record).refusals] == ["FUN-08"]
    found = reading(record, soc=OLD_SOC)
    assert (found.refusals, found.meta.task_ratio_value) == ((), DEFAULT_RATIO)
    assert found.meta.task_ratio == (7, 7)


def test_refusals_come_in_the_order_of_the_runtime() -> None:
    """Spec 6.3: parameters, stack, entry, schedule, ratio; HAZ-20: each names the kernel."""
    found = reading(
        function_tlv(F.MIX_TASK_RATION, ratio_aic=2, ratio_aiv=2),
        function_tlv(F.SCHED_MODE_INFO, sched_mode=9),
        function_tlv(F.FUNCTION_ENTRY_INFO, flag=3),
        function_tlv(F.SU_STACK_SIZE, min_stack_size=1 << 20),
        function_tlv(F.PARAM_SUMMARY, param_count=1),
    )
    rules = [refusal.rule for refusal in found.refusals]
    assert rules == ["FUN-05", "FUN-06", "FUN-07", "6.3.5", "FUN-08"]
    assert all("k_0" in refusal.message and refusal.rt for refusal in found.refusals)


def test_summary_of_no_parameters_has_no_total() -> None:
    """FUN-05: without parameters nothing but hasParamSummary is copied."""
    found = reading(function_tlv(F.PARAM_SUMMARY, param_count=0, param_total_size=64))
    assert found.meta.has_param_summary
    assert found.meta.param_total_size == 0


@pytest.mark.parametrize(("offset", "told"), [(8, []), (9, ["param-extent"])])
def test_parameter_that_leaves_the_buffer_is_told(offset: int, told: list[str]) -> None:
    """HAZ-09."""
    found = reading(
        function_tlv(F.PARAM_SUMMARY, param_count=1, param_total_size=16),
        function_tlv(F.PARAM_INFO, offset=offset, size=8),
    )
    assert [code for code, _ in warned(found)] == told
    assert not found.refusals


@pytest.mark.parametrize("length", [1, 2, 3])
def test_dfx_that_the_runtime_reads_out_of_bounds(length: int) -> None:
    """HAZ-07: its count has no meaning, ours is that of the records."""
    found = reading(encode_tlv(F.DFX_TYPE, bytes(length), "little"), bytes(8))
    assert found.meta.user_args == 0
    assert [code for code, _ in warned(found)] == ["dfx-malformed", "dfx-count"]


def test_empty_dfx_leaves_the_count_of_an_earlier_one() -> None:
    """DFX-09: L == 0 changes nothing."""
    full = encode_tlv(F.DFX_TYPE, encode_dfx([(5, (1,)), (5, (1,))]), "little")
    found = reading(full, encode_tlv(F.DFX_TYPE, b"", "little"), bytes(8))
    assert found.meta.user_args == 2


def test_big_endian_section() -> None:
    """HAZ-03: every value but the DFX records follows EI_DATA."""
    raw = struct.pack(">HHI", F.KERNEL_TYPE, 4, 3) + struct.pack(">HHHH", 3, 4, 1, 2)
    raw += encode_tlv(F.DFX_TYPE, encode_dfx([(5, (0x10007, 40))]), "big")
    found = read_kernel_meta(memoryview(raw), "big", 0, "k_0", find_soc(A2_SOC))
    assert found.meta.func_type == FuncType.AIV
    assert found.meta.task_ratio == (1, 2)
    assert found.dfx is not None
    assert found.dfx.tiling_size == 40
