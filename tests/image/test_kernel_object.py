"""KernelObject: what CANN sees in an ELF file, over the fixtures of every kind."""

from __future__ import annotations

import pytest

from cannkit.format.ascend_meta import FUNCTION_SECTION, FunctionMeta, FuncType, ImplicitFeature
from cannkit.format.elf_types import SectionType
from cannkit.image.kernel_meta import NO_META, EntryKind
from cannkit.image.kernel_object import ISA_TAGS, KernelObject
from tests.build import ObjectBuilder
from tests.facts import (
    A2_SOC,
    A5_SOC,
    codes,
    golden,
    only_kernel,
    read,
    read_fixture,
    rules,
)
from tests.objects import (
    ADD,
    CUBE_ONLY,
    MIX,
    PRINTF,
    RELOCATABLE,
    SIMT_GATHER,
    TILING_KEYS,
    fatbin_entries,
)
from tests.shapes import Operator, function_tlv, m0, with_meta

RUN_CFG = ("g_opSystemRunCfg", 4096, 256)


def fixture(operator: Operator) -> KernelObject:
    obj = read_fixture(operator.stem, A5_SOC if operator.is_a5 else A2_SOC)
    assert (obj.refusals, obj.warnings) == ((), ())
    return obj


def variables(obj: KernelObject) -> list[tuple[str, int, int]]:
    return [(v.name, v.offset, v.size) for v in obj.variables]


def test_vector_object() -> None:
    obj = fixture(ADD)
    kernel = only_kernel(obj)
    assert (obj.text_offset, obj.text_size, obj.stack_size) == (232, 4104, 32768)
    assert obj.writable_data
    assert variables(obj) == [RUN_CFG]  # SYM-15: longer than `.data`
    assert (kernel.name, kernel.offset, kernel.length) == ("AddCustom_0", 0, 64)
    assert kernel.section_name == ".ascend.meta.AddCustom_0"
    assert kernel.meta.func_type is FuncType.AIV
    assert kernel.meta.user_args == 5
    assert kernel.arg_size == 40
    assert kernel.dfx is not None
    assert kernel.dfx.tiling_size == 40
    assert obj.dfx_dtype_bits == 8


def test_cube_object() -> None:
    kernel = only_kernel(fixture(CUBE_ONLY))
    assert kernel.meta.func_type is FuncType.AIC
    assert kernel.meta.task_ratio is None


def test_mix_object() -> None:
    """Both halves have their own meta section; the FFTS address counts as an argument."""
    aic, aiv = fixture(MIX).kernels
    assert (aic.name, aiv.name) == (f"{MIX.stem}_0_mix_aic", f"{MIX.stem}_0_mix_aiv")
    for half in (aic, aiv):
        assert half.meta.func_type is FuncType.MIX_AIC_MAIN
        assert half.meta.task_ratio == (1, 2)
        assert half.meta.user_args == 7
        assert half.arg_size == 56
    assert (aiv.offset, aiv.length) == (96, 96)


def test_object_with_several_tiling_keys() -> None:
    obj = fixture(TILING_KEYS)
    tails = [kernel.name.removeprefix(f"{TILING_KEYS.stem}_") for kernel in obj.kernels]
    assert tails == ["1_mix_aiv", "2_mix_aic", "2_mix_aiv", "10000000000000001_mix_aiv"]
    assert [kernel.meta.task_ratio_value for kernel in obj.kernels] == [0, 2, 2, 0]


def test_simt_object() -> None:
    """SYM-06: the bodies are WEAK functions, so no kernels; FUN-11: the entry is the name's key."""
    obj = fixture(SIMT_GATHER)
    assert obj.func_count == 5
    assert [kernel.meta.function_entry for kernel in obj.kernels] == [0, 1, 7]
    assert {kernel.meta.entry_kind for kernel in obj.kernels} == {EntryKind.FUNCTION_ENTRY}
    assert [kernel.meta.ub_size for kernel in obj.kernels] == [8192, 8192, 0]
    assert [kernel.meta.min_stack_size for kernel in obj.kernels] == [280, 248, 280]
    assert (obj.stack_size, obj.writable_data, obj.variables) == (0, False, ())
    assert obj.dfx_dtype_bits == 1
    dfx = obj.kernels[0].dfx
    assert dfx is not None
    assert dfx.args[0].dtype_size == 32  # DFX-05: bits
    names = [record.name for record in obj.binary_meta]
    assert names == ["BIN_VERSION", "DEBUG_INFO", "DYNAMIC_PARAM", "OPTIONAL_PARAM"] * 3


def test_printf_object() -> None:
    """Spec 13.5: bit 3 asks for the SIMT FIFO alone."""
    obj = fixture(PRINTF)
    assert obj.implicit_flags == 8
    assert obj.implicit_features == (ImplicitFeature.SIMT_PRINTF,)
    assert [(v.name, v.implicit) for v in obj.variables] == [("g_sysSimtPrintFifoSpace", True)]
    assert obj.variables[0].offset == 0x1100
    assert obj.writable_data


def test_relocatable_object() -> None:
    """SEC-12, spec 13.4: accepted, with every default."""
    obj = fixture(RELOCATABLE)
    assert obj.relocatable
    assert (obj.text_offset, obj.stack_size, obj.writable_data) == (512, 32768, False)
    assert {kernel.meta for kernel in obj.kernels} == {NO_META}
    assert [kernel.section_name for kernel in obj.kernels] == [None, None]
    assert [kernel.arg_size for kernel in obj.kernels] == [None, None]


def test_fatbin_entries() -> None:
    """CON-03: only the cube entry has meta, of one record; then it has 0 arguments, not 128."""
    mix, aiv, aic = (read(data) for _, data in fatbin_entries())
    assert [kernel.meta for kernel in mix.kernels + aiv.kernels] == [NO_META] * 4
    kernel = only_kernel(aic)
    assert (kernel.meta.func_type, kernel.meta.user_args) == (FuncType.AIC, 0)
    assert not aic.writable_data
    assert {obj.stack_size for obj in (mix, aiv, aic)} == {32768}
    assert {code for obj in (mix, aiv, aic) for code in codes(obj)} == set()


def test_isa_tags_are_the_golden_ones() -> None:
    """ELF-07, DFX-05."""
    facts = golden("kernel_meta")["isa_tags"]
    assert {str(flags): tag.dtype_in_bytes for flags, tag in ISA_TAGS.items()} == facts


def test_kernel_without_meta_among_others_is_told() -> None:
    """FUN-04."""
    builder = with_meta(m0(), function_tlv(FunctionMeta.KERNEL_TYPE, func_type=3))
    builder.symbol("k_1")
    obj = read(builder.build())
    assert codes(obj) == ["no-meta"]
    assert obj.kernels[1].meta == NO_META


def test_meta_without_kernel_is_ignored() -> None:
    """FUN-04: not even read."""
    builder = m0().section(FUNCTION_SECTION + "gone", b"\1\0\xff\xff\1", SectionType.NOTE)
    obj = read(builder.build())
    assert (rules(obj), codes(obj)) == ([], ["no-meta"])


def test_one_bad_kernel_refuses_the_whole_object() -> None:
    """HAZ-20: and the others are still listed."""
    bad = function_tlv(FunctionMeta.SCHED_MODE_INFO, sched_mode=2)
    builder = with_meta(with_meta(m0(), bad), kernel="k_1")
    builder.symbol("k_1")
    obj = read(builder.build())
    assert rules(obj) == ["6.3.5"]
    assert len(obj.kernels) == 2
    assert obj.failure is None
    assert not obj.verdict.from_data.accepted


def test_failure_is_the_first_refusal_where_no_kernel_is() -> None:
    obj = read(ObjectBuilder().build())
    assert obj.failure is not None
    assert obj.failure.rule == "SYM-04"


def test_names_of_one_kernel_share_one_section() -> None:
    """SYM-09: duplicates are kept, and read once."""
    builder = with_meta(m0(), function_tlv(FunctionMeta.SCHED_MODE_INFO, sched_mode=2))
    builder.symbol("k_0")
    obj = read(builder.build())
    assert len(obj.kernels) == 2
    assert rules(obj) == ["6.3.5"]


def test_overlapping_meta_sections_are_bounded() -> None:
    """HAZ-15: a small file must not ask for any amount of work; it is refused once."""
    builder = m0()
    builder.section("filler", bytes(4096), at=256)
    for number in range(1, 5):
        builder.symbol(f"k_{number}")
        name = f"{FUNCTION_SECTION}k_{number}"
        builder.section(name, b"", SectionType.NOTE, at=256, offset=256, size=4096)
    obj = read(builder.build())
    assert rules(obj) == ["HAZ-15"]


def test_byte_order_0_is_told() -> None:
    """ELF-01."""
    assert codes(read(m0(data_encoding=0).build())) == ["byte-order"]


@pytest.mark.parametrize("soc", [A2_SOC, A5_SOC, "Ascend910A", "Ascend310P3"])
def test_object_remembers_its_chip(soc: str) -> None:
    assert read(m0().build(), soc).soc.name == soc
