"""Names, keys, core types, building and merging of kernels. Spec 02, sections 6.2 to 6.4."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.image.kernel_meta import EntryKind
from cannkit.runtime.kernel import (
    AttrType,
    CpuFunction,
    CpuKernelType,
    Kernel,
    MixType,
    Part,
    core_types,
    cpu_kernel,
    strip_mix,
    tiling_key,
)
from cannkit.runtime.kernel_facts import (
    assign_slots,
    count_prefetch,
    function_attribute,
    function_sizes,
    launch_prefetch,
    module_prefetch,
    name_id,
    task_ratio,
)
from cannkit.runtime.program import register
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC, rows
from tests.runtime.programs import Function, object_of

SOCS = {
    "910_B_93": A2_SOC,
    "DAVID": A5_SOC,
    "CLOUD_V5": "CHIP_CLOUD_V5",
    "DC": "Ascend310P3",
    "MC62CM12A": "CHIP_MC62CM12A",
}
NAMES = st.text("ab_1mixcv", max_size=24)


@pytest.mark.parametrize(
    ("name", "stripped", "key"),
    [
        ("add", "add", 0),
        ("add_1_mix_aic", "add_1", 1),
        ("add_mix_aic_1", "add_1", 1),
        ("add_mix_aicube_1", "addube_1", 1),
        ("a_mix_aic_b_mix_aic_2", "a_mix_aic_b_2", 2),
        ("a_mix_aiv_b_mix_aic_3", "a_mix_aiv_b_3", 3),
        ("a_mix_aic_mix_aiv", "a_mix_aiv", 0),
        ("_mix_aic", "", 0),
        *[
            (name, name, key)
            for name, key in {
                "k_007": 7,
                "k_": 0,
                "k_12a": 0,
                "k_-1": 0,
                "12": 12,
                "_5": 5,
                "k_1_2": 2,
                "k_18446744073709551615": (1 << 64) - 1,
                "k_18446744073709551616": 0,
                "k_" + "0" * 5000 + "9": 9,
                "k_" + "9" * 5000: 0,
                "k_\u0663": 0,
                "": 0,
            }.items()
        ],
    ],
)
def test_strip_and_key(name: str, stripped: str, key: int) -> None:
    """WE-1."""
    assert strip_mix(name) == stripped
    assert tiling_key(stripped) == key


@given(NAMES)
def test_one_mark_is_cut_and_the_rest_stays(name: str) -> None:
    """REG-5."""
    stripped = strip_mix(name)
    assert len(name) - len(stripped) in (0, 8)
    assert ("_mix_aic" in name or "_mix_aiv" in name) == (stripped != name)


@given(st.text(max_size=8).map(lambda text: text.replace("_", "")), st.integers(0, 1 << 65))
def test_a_key_is_the_number_behind_the_last_underscore(text: str, key: int) -> None:
    """REG-6, QK-18."""
    assert tiling_key(f"{text}_{key}") == (key if key < 1 << 64 else 0)


C, V, A = AttrType.CUBE, AttrType.VECTOR, AttrType.AICORE
PLAIN, AIC, AIV = MixType.NO_MIX, MixType.MIX_AIC, MixType.MIX_AIV


@pytest.mark.parametrize(
    ("name", "func_type", "sync", "attr", "mix"),
    [
        ("k", 1, 0, A, PLAIN),
        ("k_mix_aic", 1, 0, A, AIC),
        ("k_mix_aiv", 1, 0, A, AIV),
        ("k", 2, 0, C, PLAIN),
        ("k", 2, 1, C, AIC),
        ("k", 2, 2, C, PLAIN),
        ("k_mix_aiv", 2, 0, C, PLAIN),
        ("k", 6, 1, C, AIC),
        ("k", 3, 0, V, PLAIN),
        ("k", 3, 1, V, AIV),
        ("k_mix_aic", 3, 0, V, PLAIN),
        ("k", 7, 1, V, AIV),
        ("k_mix_aic", 4, 0, C, AIC),
        ("k_mix_aiv_1", 4, 0, V, AIV),
        ("k_mix_aiv_mix_aic", 5, 0, C, AIC),
        ("k_mix_aic", 0, 0, C, AIC),
        ("k_mix_aiv", 8, 0, V, AIV),
        ("k", 0, 1, AttrType.MIX, PLAIN),
        ("k", 9, 0, AttrType.MIX, PLAIN),
    ],
)
def test_core_types(name: str, func_type: int, sync: int, attr: AttrType, mix: MixType) -> None:
    """REG-8; the program's default is MIX here."""
    assert core_types(name, FuncType(func_type), sync, AttrType.MIX) == (attr, mix)


@pytest.mark.parametrize("func_type", [FuncType.MIX_AIC_MAIN, FuncType.MIX_AIV_MAIN])
def test_a_mix_type_without_a_mark_is_refused(func_type: FuncType) -> None:
    with pytest.raises(RtError, match=r"neither _mix_aic nor _mix_aiv") as caught:
        core_types("add_1", func_type, 0, AttrType.CUBE)
    assert caught.value.acl == AclStatus.RT_PARAM_INVALID


def _halves(types: tuple[int, int]) -> tuple[Function, Function]:
    """The halves of WE-2."""
    aic = Function(
        "add_7_mix_aic", types[0], 0x100, 0x900, ratio=(1, 2), args=5, stack=100, early_start=1
    )
    aiv = Function(
        "add_7_mix_aiv",
        types[1],
        0xB00,
        0x1400,
        ratio=(1, 1),
        args=6,
        stack=300,
        vf_type=VfType.SIMT_VF,
        ub_size=8192,
    )
    return aic, aiv


@pytest.mark.parametrize(
    ("chip", "order", "types", "attr", "mix", "ratio", "args", "system", "prefetch"),
    [
        pytest.param("910_B_93", "cv", (4, 4), "MIX", 3, 2, 5, 2, (0, 0), id="a"),
        pytest.param("910_B_93", "vc", (4, 4), "MIX", 3, 1, 6, 2, (0, 0), id="b"),
        pytest.param("DAVID", "cv", (4, 4), "MIX", 3, 2, 5, 1, (1, 2), id="c"),
        pytest.param("CLOUD_V5", "cv", (4, 4), "MIX", 3, 2, 5, 1, (4, 10), id="d"),
        pytest.param("DC", "cv", (4, 4), "AICORE", 3, 2, 5, 1, (0, 0), id="e"),
        pytest.param("MC62CM12A", "cv", (4, 4), "AICORE", 3, 2, 5, 1, (1, 0), id="f"),
        pytest.param("DAVID", "cv", (5, 5), "MIX", 4, 2, 5, 1, (1, 0), id="g"),
        pytest.param("DAVID", "cv", (4, 5), "MIX", 4, 2, 5, 1, (1, 0), id="h"),
        pytest.param("DAVID", "vc", (4, 5), "MIX", 3, 1, 6, 1, (1, 2), id="i"),
        pytest.param("910_B_93", "cv", (0, 0), "MIX", 3, 2, 5, 2, (0, 0), id="j"),
    ],
)
def test_merge_matrix(
    chip: str,
    order: str,
    types: tuple[int, int],
    attr: str,
    mix: int,
    ratio: int,
    args: int,
    system: int,
    prefetch: tuple[int, int],
) -> None:
    """WE-2."""
    aic, aiv = _halves(types)
    halves = (aic, aiv) if order == "cv" else (aiv, aic)
    program = register(object_of(*halves, soc=SOCS[chip]))
    (kernel,) = program.kernels
    first, second = kernel.part1, kernel.part2
    stack = 300 if find_soc(SOCS[chip]).has_min_stack_meta else 0
    assert (kernel.name, kernel.tiling_key, kernel.is_paired) == ("add_7", 7, True)
    assert (first.offset, second.offset) == (0x100, 0xB00)
    assert (first.length, second.length) == (0x900, 0x1400)
    assert (first.min_stack, second.min_stack, program.max_min_stack) == (stack,) * 3
    assert (kernel.vf_type, kernel.ub_size) == (VfType.SIMT_VF, 8192)
    assert (kernel.attr.name, kernel.mix, kernel.user_args) == (attr, mix, args)
    assert kernel.task_ratio_value == (ratio if program.soc.has_task_ratio else 2)
    assert (kernel.system_args, kernel.ffts_in_args) == (system, system == 2)
    assert (first.prefetch, second.prefetch) == prefetch
    assert kernel.early_start  # of either half
    assert kernel.symbols == [half.name for half in halves]
    assert program.names_size == len("add_7_mix_aic") + 1  # REG-14: the second half adds nothing


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ((Function("add_mix_aic", 4), Function("add", 1)), "the second is no half of a mix"),
        (
            (Function("add", 0), Function("add_mix_aic", 4), Function("add_mix_aiv", 4)),
            "the original would accept this",
        ),
        (
            (Function("add_mix_aiv", 4), Function("add_mix_aic", 4), Function("add_mix_aiv", 4)),
            "both halves are there already",  # QK-15: the AIV half is at offset 0
        ),
        ((Function("add_mix_aic", 4), Function("add_mix_aic", 4)), "both are MIX_AIC"),
        ((Function("add", 3), Function("add", 3)), "both are NO_MIX"),
        ((Function("add_1", 4),), "neither _mix_aic nor _mix_aiv in the name"),
        ((Function("add_mix_aic", 4), Function("add", 5)), "neither _mix_aic nor _mix_aiv"),
        ((Function("k"), Function("_mix_aic", 4)), "'_mix_aic' is a mix mark alone"),
    ],
)
def test_merge_refusals(functions: tuple[Function, ...], why: str) -> None:
    """WE-2, QK-15, REG-5."""
    with pytest.raises(RtError, match=why) as caught:
        register(object_of(*functions))
    assert (caught.value.acl, caught.value.rt) == (107000, RtStatus.INVALID_VALUE)


def test_the_halves_disagree() -> None:
    """QK-14: what the first half says counts, and that is told."""
    aic, aiv = _halves((4, 4))
    program = register(object_of(aic, aiv))
    told = [w.message for w in program.warnings if w.code == "halves-disagree"]
    assert [message.partition(":")[0] for message in told] == ["task ratio", "arguments"]
    assert "add_7_mix_aic says 2, add_7_mix_aiv says 1; the first counts" in told[0]


def test_the_aiv_half_at_offset_zero_is_kept() -> None:
    """QK-6."""
    pair = Function("k_mix_aiv", 4, 0, 64), Function("k_mix_aic", 4, 64, 64)
    program = register(object_of(*pair))
    (kernel,) = program.kernels
    assert (kernel.part1.offset, kernel.part2.offset, kernel.is_paired) == (64, 0, True)
    assert [warning.code for warning in program.warnings] == ["aiv-at-zero"]


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (Function("k_18446744073709551616"), "key-overflow"),
        (Function("add_mix_aicube_1", 4), "mark-in-name"),
        (Function("k_mix_aiv", 4, ratio=(1, 2)), "lone-half"),
        (Function("k_1", entry=-1), "entry-disabled"),
    ],
)
def test_remarks(function: Function, code: str) -> None:
    """QK-16, QK-18, REG-17."""
    program = register(object_of(function))
    assert [warning.code for warning in program.warnings] == [code]


@pytest.mark.parametrize(
    "function",
    [
        Function("k_3_mix_aiv", 5, ratio=(0, 1)),  # the most common shape on 950
        Function("k_mix_aic_12", 4, ratio=(1, 0)),
        Function("k_18446744073709551616", entry=3),
    ],
)
def test_no_remarks(function: Function) -> None:
    assert register(object_of(function)).warnings == []


def test_the_ratio_of_the_chip_never_counts() -> None:
    """QK-13."""
    program = register(object_of(Function("k"), soc="CHIP_CLOUD_V5"))
    assert program.kernels[0].task_ratio_value == 2
    assert [warning.code for warning in program.warnings] == ["default-ratio"]


@pytest.mark.parametrize("name", ["mc62_aic_mte_stl", "mc62_aic_vec_simt_stl"])
def test_stl_kernels(name: str) -> None:
    """REG-14."""
    assert register(object_of(Function(name))).kernels[0].stl
    assert not register(object_of(Function(name + "_1"))).kernels[0].stl


def _kernel(attr: AttrType, mix: MixType, lengths: tuple[int, int], **more: Any) -> Kernel:
    part2 = Part(0x100, lengths[1], present=bool(lengths[1]))
    kind, first = EntryKind.TILING_KEY, Part(0, lengths[0], present=True)
    more = {"task_ratio_value": 2, **more}
    return Kernel(
        "k", ["k"], attr, mix, 0, kind, FuncType.INVALID, part1=first, part2=part2, **more
    )


MAIN_AIC, MAIN_AIV = MixType.MIX_AIC_AIV_MAIN_AIC, MixType.MIX_AIC_AIV_MAIN_AIV


@pytest.mark.parametrize(
    ("attr", "mix", "lengths", "registered", "launch"),
    [
        (AttrType.MIX, MAIN_AIC, (2049, 2047), (1, 0), (2, 1)),
        (AttrType.MIX, MAIN_AIC, (1 << 20, 1 << 20), (16, 8), (16, 8)),
        (AttrType.MIX, MAIN_AIV, (4096, 4096), (2, 0), (2, 0)),
        (AttrType.CUBE, PLAIN, (1 << 20, 0), (16, 0), (16, 0)),
        (AttrType.VECTOR, AIV, (1 << 20, 0), (8, 0), (8, 0)),
        (AttrType.AICORE, MAIN_AIC, (2049, 4096), (1, 0), (2, 0)),
        (AttrType.AICPU, PLAIN, (4096, 0), (0, 0), (0, 0)),
        (AttrType.MIX, MAIN_AIC, (0xFFFF_FFFF, 0xFFFF_F801), (16, 8), (0, 0)),  # the sum wraps
        (AttrType.MIX, MAIN_AIC, (0xFFFF_F800, 1), (16, 0), (16, 1)),
        (AttrType.INVALID, PLAIN, (4096, 0), (0, 0), None),
    ],
)
def test_prefetch(
    attr: AttrType,
    mix: MixType,
    lengths: tuple[int, int],
    registered: tuple[int, int],
    launch: tuple[int, int] | None,
) -> None:
    """REG-15, on units of 2048 bytes."""
    kernel = _kernel(attr, mix, lengths)
    count_prefetch(kernel, find_soc(A2_SOC))
    assert (kernel.part1.prefetch, kernel.part2.prefetch) == (0, 0)  # v100
    count_prefetch(kernel, find_soc(A5_SOC))
    assert (kernel.part1.prefetch, kernel.part2.prefetch) == registered
    for soc in (A2_SOC, A5_SOC, "Ascend310P3"):
        assert launch_prefetch(kernel, find_soc(soc)) == launch
    assert launch_prefetch(kernel, find_soc("CHIP_XPU")) == (launch and (0, 0))  # no unit


def test_prefetch_of_a_module() -> None:
    """MOD-4: to the end of the module; an offset behind it wraps."""
    soc, pair = find_soc(A5_SOC), (4096, 4096)
    assert module_prefetch(_kernel(AttrType.MIX, MAIN_AIC, pair), 8192, soc) == (4, 3)
    assert module_prefetch(_kernel(AttrType.MIX, MAIN_AIV, pair), 8192, soc) == (4, 0)
    assert module_prefetch(_kernel(AttrType.MIX, MAIN_AIC, pair), 0xFF, soc) == (0, 8)
    assert module_prefetch(_kernel(AttrType.INVALID, PLAIN, pair), 8192, soc) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", 416611827809),
        ("add", 363255450671609),
        ("RunCpuKernel", 1629667989489627634),
        ("SegmentSumCsr_be1040daf51e56f5d11996baf447612d_0", 2738340124620247511),
        (
            "SparseFlashAttention_7f7ea6bc29bdc5fe2c90de44422a6e0e_0",
            15446387818541953753,
        ),
        ("\u00e9", 0xFFFFF8C0FFFFE072),
        ("", (1 << 64) - 1),
    ],
)
def test_name_ids(name: str, expected: int) -> None:
    """WE-5, REG-18."""
    assert name_id(name) == expected
    assert name_id("\u00e9", signed_char=False) == 0x000016C000006472


@pytest.mark.parametrize("row", rows("hashes"), ids=lambda row: row["in"][:16])
def test_recorded_name_ids(row: dict[str, Any]) -> None:
    name = bytes.fromhex(row["in"]).decode("utf-8", "surrogateescape")
    assert name_id(name) == row["nameId"]
    assert name_id(name, signed_char=False) == row["nameIdUnsigned"]


@pytest.mark.parametrize(
    ("mix", "value", "ratio"),
    [
        (PLAIN, 1, (0, 0)),
        (PLAIN, 2, (0, 0)),
        (AIC, 2, (1, 0)),
        (AIV, 7, (0, 1)),
        (MAIN_AIC, 1, (1, 1)),
        (MAIN_AIC, 2, (1, 2)),
        (MAIN_AIC, 0, None),
        (MAIN_AIV, 1, (1, 1)),
        (MAIN_AIV, 2, (2, 1)),
        (MAIN_AIV, 0, None),
    ],
)
def test_task_ratio(mix: MixType, value: int, ratio: tuple[int, int] | None) -> None:
    """API-8."""
    kernel = _kernel(AttrType.MIX, mix, (1, 1), task_ratio_value=value)
    assert task_ratio(kernel) == ratio
    cube, vector = ratio or (0, 0)
    assert function_attribute(kernel, 2, find_soc(A2_SOC)) == cube << 16 | vector


def test_function_attributes() -> None:
    """API-8."""
    a2, cloud = find_soc(A2_SOC), find_soc("Ascend910A")
    kernel = _kernel(AttrType.MIX, MAIN_AIC, (1, 1), sched_mode=1)
    assert function_attribute(kernel, 1, a2) == AttrType.MIX
    assert function_attribute(kernel, 2, a2) == 0x00010002
    assert function_attribute(kernel, 3, a2) == 1
    cpu = cpu_kernel(CpuFunction("Op", "libop.so", "Run", CpuKernelType.AICPU))
    assert function_attribute(cpu, 1, a2) == AttrType.AICPU
    assert (cpu.user_args, cpu.system_args, cpu.supports_overflow) == (128, 0, False)
    unset = _kernel(AttrType.INVALID, PLAIN, (1, 0))
    for each, attribute, soc, acl in (
        (kernel, 0, a2, 107000),
        (kernel, 4, a2, 107000),
        (kernel, 2, cloud, 207000),
        (cpu, 2, a2, 107000),
        (unset, 1, a2, 107000),
    ):
        with pytest.raises(RtError, match="no such function attribute") as caught:
            function_attribute(each, attribute, soc)
        assert caught.value.acl == acl


@pytest.mark.parametrize(
    ("attr", "mix", "slots", "cores"),
    [
        (AttrType.VECTOR, PLAIN, (5, 0), (0, 5)),
        (AttrType.CUBE, AIV, (5, 0), (0, 5)),
        (AttrType.CUBE, PLAIN, (5, 0), (5, 0)),
        (AttrType.VECTOR, PLAIN, (0, 0), (0, 0)),
        (AttrType.MIX, MAIN_AIC, (5, 6), (5, 6)),
        (AttrType.VECTOR, AIV, (5, 6), (5, 6)),
    ],
)
def test_slots_go_to_cores(
    attr: AttrType, mix: MixType, slots: tuple[int, int], cores: tuple[int, int]
) -> None:
    """API-7."""
    kernel = _kernel(attr, mix, slots)
    assert assign_slots(kernel, *slots) == cores
    assert function_sizes(kernel) == cores


@pytest.mark.parametrize(
    ("core_sync", "ffts_global", "ffts"),
    [(False, False, [True, False]), (True, False, [True, True]), (True, True, [False, False])],
)
def test_ffts_in_arguments(core_sync: bool, ffts_global: bool, ffts: list[bool]) -> None:
    """WE-4."""
    from cannkit.format.ascend_meta import BinaryMeta
    from cannkit.runtime.program import ElfProgram
    from tests.shapes import binary_tlv

    meta = binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=2) if ffts_global else b""
    obj = object_of(Function("s_1", sync=1), Function("s_2"), binary_meta=meta)
    program = ElfProgram(obj)
    program.core_sync = core_sync
    program.register_kernels()
    assert [k.ffts_in_args for k in program.kernels] == ffts
    assert [k.system_args for k in program.kernels] == [1 + flag for flag in ffts]
    assert [k.mix for k in program.kernels] == [AIV, PLAIN]
