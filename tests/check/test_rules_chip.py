"""Rules about the chip: for each an object that breaks it, and one that does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from cannkit.check.finding import RULES, Level
from cannkit.check.rules_chip import OBJECT_RULES
from cannkit.check.subject import ObjectSubject
from cannkit.format.ascend_meta import BINARY_SECTION, BinaryMeta, FunctionMeta, FuncType, VfType
from cannkit.format.elf_types import SectionType
from tests.check.subjects import codes, compiled, findings, subject
from tests.compiled import a2_object
from tests.facts import A2_SOC, A5_SOC
from tests.objects import A5, ADD, CUBE, CUBE_ONLY, MIX, PRINTF, SIMT_GATHER, TILING_KEYS
from tests.runtime.programs import Function, builder
from tests.shapes import binary_tlv, function_tlv, m0, with_meta
from tests.sidecars import sidecar

A2: Final = "ascend910b"
A3: Final = "ascend910_93"
P310: Final = "Ascend310P3"
BLOCKS: Final = FunctionMeta.BLOCK_DIM_INFO


def flagged(flags: int, folder: str | None = None, asked: str | None = None) -> ObjectSubject:
    """An object with these e_flags, in a folder, for a chip asked for."""
    data = m0(flags=flags).build()
    return subject(data, asked or folder or A2_SOC, folder=folder, explicit=asked is not None)


def made(soc: str = A2_SOC, **changes: Any) -> ObjectSubject:
    """One kernel, for a chip asked for."""
    return subject(builder(Function("k_0", **changes)).build(), soc, explicit=True)


def batch(blocks: int, soc: str = A2_SOC, *, batch: int = 1, mix: bool = False) -> ObjectSubject:
    """A vector kernel, or a mix 1:2, of so many blocks."""
    kind = FuncType.MIX_AIC_MAIN if mix else FuncType.AIV
    name = "k_0_mix_aic" if mix else "k_0"
    records = [
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=kind),
        function_tlv(FunctionMeta.MIX_TASK_RATION, ratio_aic=1, ratio_aiv=2) if mix else b"",
        function_tlv(BLOCKS, block_dim=blocks),
        function_tlv(FunctionMeta.SCHED_MODE_INFO, sched_mode=batch),
    ]
    built = m0()
    built.symbol(name, value=32, size=8)
    data = with_meta(built, *records, kernel=name).build()
    return subject(data, soc, explicit=True)


def moved(folder: str) -> ObjectSubject:
    """An operator of A2, with its sidecar, in another folder."""
    data = a2_object(ADD)
    return subject(data, folder, sidecar=sidecar(ADD, data), folder=folder)


Case = tuple[Callable[[], ObjectSubject], Callable[[], ObjectSubject]]

# What breaks the rule, what does not.
CASES: Final[dict[str, Case]] = {
    "K201": (lambda: flagged(A5, A2), lambda: flagged(CUBE, A3)),
    "K202": (lambda: flagged(CUBE, asked=A5_SOC), lambda: flagged(A5, A2, A5_SOC)),
    "K203": (lambda: flagged(0x1234, A2), lambda: flagged(A5, A2)),
    "K204": (lambda: moved(A3), lambda: moved(A2)),
    "K205": (lambda: made(vf_type=VfType.SIMT_VF), lambda: made(A5_SOC, vf_type=VfType.SIMT_VF)),
    "K206": (
        lambda: compiled(MIX)._replace(soc=flagged(A5, asked=A5_SOC).soc),
        lambda: compiled(MIX),
    ),
    "K210": (lambda: made(stack=196609), lambda: made(stack=196608)),
    "K211": (lambda: made(ub_size=196609), lambda: made(ub_size=196608)),
    "K212": (lambda: batch(49), lambda: batch(48)),
    "K213": (lambda: batch(65536, batch=0), lambda: batch(65535, batch=0)),
    "K214": (lambda: made(P310, func_type=FuncType.AIC), lambda: made(func_type=FuncType.AIC)),
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_tells_the_broken_object_from_the_other(code: str) -> None:
    broken, whole = CASES[code]
    told = [f for f in findings(broken(), OBJECT_RULES) if f.rule.code == code]
    assert told
    assert all(finding.file == broken().place and finding.message for finding in told)
    assert code not in codes(whole(), OBJECT_RULES)


def test_every_rule_has_a_case() -> None:
    assert {code for code in RULES if "K200" < code < "K300"} == CASES.keys()


@pytest.mark.parametrize("operator", [ADD, CUBE_ONLY, MIX, TILING_KEYS, SIMT_GATHER, PRINTF])
def test_compiled_operators_are_clean(operator: Any) -> None:
    assert codes(compiled(operator), OBJECT_RULES) == set()


def test_unknown_flags_are_a_note() -> None:
    """K203, ELF-07: also known ones, on a chip of which no object was seen."""
    assert RULES["K203"].level is Level.NOTE
    for of in (flagged(0), flagged(0x1234, A2, A5_SOC), flagged(CUBE, "ascend310p")):
        assert codes(of, OBJECT_RULES) == {"K203"}


def test_folder_and_option_are_judged_apart() -> None:
    assert codes(flagged(A5, A2, "Ascend910_9391"), OBJECT_RULES) == {"K201", "K202"}
    assert codes(flagged(A5, A2, A5_SOC), OBJECT_RULES) == {"K201"}
    assert codes(flagged(A5, "ascend950", A2_SOC), OBJECT_RULES) == {"K202"}


def test_nothing_is_judged_for_a_chip_that_nobody_named() -> None:
    data = builder(Function("k_0", stack=1 << 20, vf_type=VfType.SIMT_VF)).build()
    assert codes(subject(data), OBJECT_RULES) == {"K203"}


def test_features_of_the_other_products() -> None:
    """K205, K206: by RUNTIME_IMPLICIT_INFO."""
    for feature, soc, code in ((4, A2_SOC, "K205"), (2, A5_SOC, "K206")):
        record = binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=feature)
        data = m0().section(BINARY_SECTION, record, SectionType.NOTE).build()
        assert code in codes(subject(data, soc, explicit=True), OBJECT_RULES)


def test_unified_buffer_beside_simt() -> None:
    """K211, LCH-48: SIMT leaves less of it."""
    for kind, size in ((VfType.SIMT_VF, 221_184), (VfType.SIMD_VF, 253_952)):
        assert codes(made(A5_SOC, vf_type=kind, ub_size=size), OBJECT_RULES) == {"K203"}
        more = made(A5_SOC, vf_type=kind, ub_size=size + 1)
        assert codes(more, OBJECT_RULES) == {"K203", "K211"}


def test_blocks_of_a_batch() -> None:
    """K212: both sides of a mix count; a number that is decided at launch does not."""
    assert "K212" not in codes(batch(24, mix=True), OBJECT_RULES)
    told = [f.message for f in findings(batch(25, mix=True), OBJECT_RULES)]
    assert "25 blocks take 25 cube cores, Ascend910B1 has 24" in told
    assert "25 blocks take 50 vector cores, Ascend910B1 has 48" in told
    assert "K212" not in codes(batch(0xFFFF_FFFF), OBJECT_RULES)
    assert "K212" not in codes(batch(49, batch=0), OBJECT_RULES)


def test_blocks_of_the_sidecar() -> None:
    """K213: blockDim is -1 unless the shape is static."""
    operator = replace(ADD, stem="StaticAdd")
    assert codes(compiled(operator, blockDim=65536), OBJECT_RULES) == {"K213"}
    assert codes(compiled(operator, blockDim=-1), OBJECT_RULES) == set()
