"""Rules about the runtime: for each an object that breaks it, and one that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.check import rules_chip, rules_integrity
from cannkit.check.finding import RULES
from cannkit.check.rules_runtime import OBJECT_RULES
from cannkit.check.subject import ObjectSubject
from cannkit.format.ascend_meta import BINARY_SECTION, BinaryMeta, FunctionMeta, FuncType
from cannkit.format.container import ContainerKind
from cannkit.format.elf_types import Binding, ElfType, SectionType, SymbolType, Visibility
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Container, Input, place_of
from cannkit.inputs.paths import open_inputs
from cannkit.soc import family_in_path, find_soc
from tests.build import ObjectBuilder
from tests.check.subjects import codes, compiled, findings, subject
from tests.compiled import relocatable_object
from tests.facts import A2_SOC, A5_SOC
from tests.objects import ADD, CUBE_ONLY, MIX, PRINTF, RELOCATABLE, SIMT_GATHER, TILING_KEYS
from tests.runtime.programs import DISABLED, Function, builder
from tests.shapes import binary_tlv, function_tlv, m0, with_meta

TYPE: Final = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV)
AIC: Final = Function("k_0_mix_aic", FuncType.MIX_AIC_MAIN, ratio=(1, 2), length=32)
AIV: Final = replace(AIC, name="k_0_mix_aiv", offset=32)
V5: Final = "CHIP_CLOUD_V5"  # its task ratio is 1


def of(*functions: Function, soc: str = A2_SOC) -> ObjectSubject:
    """An object of these functions."""
    return subject(builder(*functions).build(), soc)


def names(*names: str) -> ObjectSubject:
    return of(*[Function(name) for name in names])


def one(**changes: Any) -> ObjectSubject:
    return of(Function("k_0", **changes))


def printing(place: int) -> ObjectSubject:
    """An object that asks for a printf buffer, whose address goes to this place of its text."""
    built = m0()
    feature = binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=1)
    built.section(BINARY_SECTION, feature, SectionType.NOTE)
    name = "g_sysPrintFifoSpace"
    built.symbol(name, SymbolType.OBJECT, Binding.WEAK, value=place, size=8)
    return subject(built.build())


def with_function(binding: int, visibility: int = 0, name: str = "lost") -> ObjectSubject:
    """A function with metadata beside k_0."""
    built = with_meta(with_meta(m0(), TYPE), TYPE, kernel="lost")
    built.symbol(name, binding=binding, visibility=visibility)
    return subject(built.build())


def with_name(size: int) -> ObjectSubject:
    built = m0()
    built.symbol("x" * size)
    return subject(built.build())


def only(binding: int) -> ObjectSubject:
    """An object with a single function."""
    built = ObjectBuilder().section(".text", bytes(64))
    built.symbol("f", binding=binding)
    return subject(built.build())


def relocatable(path: str) -> ObjectSubject:
    return subject(relocatable_object(RELOCATABLE), path=path)


def with_large_meta(size: int) -> ObjectSubject:
    return subject(with_meta(m0(), TYPE, bytes(size)).build())


def with_sidecar(debug: object) -> ObjectSubject:
    return compiled(ADD, debugOptions=debug, debugBufSize=110592)


Case = tuple[Callable[[], ObjectSubject], Callable[[], ObjectSubject]]

# What breaks the rule, what does not.
CASES: Final[dict[str, Case]] = {
    "K101": (lambda: one(sched_mode=2), lambda: one(sched_mode=1)),
    "K102": (lambda: compiled(PRINTF), lambda: with_sidecar("assert")),
    "K103": (lambda: with_sidecar("assert"), lambda: compiled(SIMT_GATHER)),
    "K104": (lambda: names("a_1", "b_1"), lambda: names("a_1", "b_2")),
    "K105": (lambda: of(AIC), lambda: of(AIC, AIV)),
    "K106": (
        lambda: of(replace(AIC, offset=32), replace(AIV, offset=0)),
        lambda: of(AIC, AIV),
    ),
    "K107": (
        lambda: relocatable("Op.o"),
        lambda: relocatable("Op_relocatable.o"),
    ),
    "K108": (lambda: relocatable("Op_relocatable.o"), lambda: names("k_0")),
    "K109": (lambda: of(AIC, replace(AIV, sched_mode=1)), lambda: of(AIC, AIV)),
    "K110": (lambda: names(f"k_{1 << 64}"), lambda: names(f"k_{(1 << 64) - 1}")),
    "K111": (lambda: names("k_mix_aicube_1"), lambda: names("k_mix_aic_1")),
    "K112": (lambda: with_large_meta(1 << 16), lambda: with_large_meta(1 << 15)),
    "K113": (lambda: one(entry=DISABLED), lambda: one(entry=7)),
    "K114": (lambda: of(Function("k_0"), soc=V5), lambda: of(AIC, AIV, soc=V5)),
    "K115": (lambda: printing(1 << 20), lambda: printing(0)),
    "K116": (lambda: subject(m0("big").build()), lambda: subject(m0().build())),
    "K120": (lambda: of(Function("a_0", func_type=None)), lambda: names("a_0")),
    "K121": (lambda: with_function(Binding.WEAK), lambda: with_function(Binding.GLOBAL)),
    "K122": (lambda: only(Binding.WEAK), lambda: only(Binding.GLOBAL)),
    "K123": (
        lambda: with_function(Binding.WEAK, name="found"),
        lambda: with_function(Binding.GLOBAL),
    ),
    "K124": (lambda: with_name(4096), lambda: with_name(4095)),
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_tells_the_broken_object_from_the_other(code: str) -> None:
    broken, whole = CASES[code]
    told = [f for f in findings(broken(), OBJECT_RULES) if f.rule.code == code]
    assert told
    assert all(finding.file == broken().place and finding.message for finding in told)
    assert code not in codes(whole(), OBJECT_RULES)


def test_every_rule_has_a_case() -> None:
    assert {code for code in RULES if "K100" < code < "K200"} == CASES.keys()


@pytest.mark.parametrize("operator", [ADD, CUBE_ONLY, MIX, TILING_KEYS, SIMT_GATHER])
def test_compiled_operators_are_clean(operator: Any) -> None:
    assert codes(compiled(operator), OBJECT_RULES) == set()


def test_every_refusal_is_told() -> None:
    """K101: those of the reader, one finding each, and those of the registration."""
    two = of(Function("a_0", sched_mode=2), Function("b_0", ratio=(3, 3)))
    assert [f.message for f in findings(two, OBJECT_RULES)] == [
        "kernel a_0: SCHED_MODE_INFO is 2, not 0 (normal) or 1 (batch) (6.3.5)",
        "kernel b_0: task ratio 3:3 is not one of 1:2 2:1 1:1 1:0 0:1 (FUN-08)",
    ]
    (finding,) = findings(of(Function("k_0", FuncType.MIX_AIC_MAIN)), OBJECT_RULES)
    assert (finding.rule.code, finding.where) == ("K101", "kernel k_0")
    assert "neither _mix_aic nor _mix_aiv" in finding.message


def test_refusals_depend_on_the_chip() -> None:
    """K101, FUN-08: a chip without task ratios takes any."""
    assert "K101" in codes(of(replace(AIC, ratio=(3, 3)), AIV), OBJECT_RULES)
    on_310p = of(replace(AIC, ratio=(3, 3)), AIV, soc="Ascend310P3")
    assert "K101" not in codes(on_310p, OBJECT_RULES)


@pytest.mark.parametrize(
    ("debug", "expected"),
    [
        ("printf", {"K102"}),
        ("printf,assert", {"K102"}),
        (7, {"K102"}),
        ("assert,oom", {"K103"}),
        ("", set()),
        (None, set()),
    ],
)
def test_debug_options(debug: object, expected: set[str]) -> None:
    """K102 tells of printf, JSN-05, K103 of the others."""
    assert codes(with_sidecar(debug), OBJECT_RULES) == expected


def test_debug_options_without_a_sidecar() -> None:
    """K103: by DEBUG_INFO and by the features asked for."""
    record = binary_tlv(BinaryMeta.DEBUG_INFO, debug_buf_size=1, debug_options=12)
    built = with_meta(m0(), TYPE).section(BINARY_SECTION, record, SectionType.NOTE)
    (finding,) = findings(subject(built.build()), OBJECT_RULES)
    assert finding.message == "compiled with oom, timestamp"
    told = [f.message for f in findings(printing(0), OBJECT_RULES) if f.rule.code == "K103"]
    assert told == ["compiled with printf"]


def test_a_shadowed_key_is_told_beside_printf() -> None:
    """K102 does not keep the other rules from looking."""
    operator = replace(PRINTF, kernels=(*PRINTF.kernels, replace(PRINTF.kernels[0], suffix="_00")))
    assert codes(compiled(operator), OBJECT_RULES) >= {"K102", "K104"}


@pytest.mark.parametrize(
    ("binding", "visibility", "reason"),
    [
        (Binding.WEAK, 0, "WEAK"),
        (Binding.LOCAL, 0, "LOCAL"),
        (Binding.GLOBAL, Visibility.HIDDEN, "HIDDEN"),
    ],
)
def test_what_hides_a_kernel(binding: int, visibility: int, reason: str) -> None:
    (finding,) = findings(with_function(binding, visibility), OBJECT_RULES)
    assert (finding.rule.code, finding.where) == ("K121", "kernel lost")
    assert finding.message == f"its symbol is {reason}"


def test_kernels_that_do_without_metadata() -> None:
    """K120: those of a relocatable object, and of a fatbin in which no kernel has any."""
    data = m0(type=ElfType.REL).build()
    assert "K120" not in codes(subject(data, path="k_relocatable.o"), OBJECT_RULES)
    fatbin = Container(ContainerKind.FATBIN, "0")
    assert codes(subject(m0().build(), container=fatbin), OBJECT_RULES) == set()
    mixed = with_meta(m0(), TYPE)
    mixed.symbol("bare_1", value=32, size=8)
    (finding,) = findings(subject(mixed.build(), container=fatbin), OBJECT_RULES)
    assert (finding.rule.code, finding.where) == ("K120", "kernel bare_1")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, {"K102": 4, "K103": 8}),
        (A2_SOC, {"K102": 4, "K103": 8, "K202": 299, "K205": 562}),
        (A5_SOC, {"K102": 4, "K103": 8, "K202": 331, "K206": 351}),
    ],
)
def test_real_objects(asked: str | None, expected: dict[str, int], corpus: Path) -> None:
    """Clean, but for four objects built with printf and eight with assert."""
    rules = (*rules_integrity.OBJECT_RULES, *OBJECT_RULES, *rules_chip.OBJECT_RULES)
    told: Counter[str] = Counter()
    objects = 0
    for item in open_inputs([str(corpus)]):
        assert isinstance(item, Input)
        family = (family_in_path(item.file) or "").lower()
        soc = find_soc(asked or family)
        obj = read_input(item, soc)
        of = ObjectSubject(place_of(item), item, obj, soc, family, asked is not None)
        told.update(finding.rule.code for finding in findings(of, rules))
        objects += 1
    assert objects == 630
    assert told == expected
