"""Rules of integrity: for each an object that breaks it, and one that does not."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import cannkit
from cannkit.check import rules_integrity, rules_meta, rules_runtime, rules_sidecar
from cannkit.check.finding import RULES, Level
from cannkit.check.rules_integrity import OBJECT_RULES, check_unreadable
from cannkit.check.subject import ObjectSubject, UnreadableSubject
from cannkit.errors import FormatError, InputError
from cannkit.format.ascend_meta import (
    ARG_SIZE_SECTION,
    BINARY_SECTION,
    STACK_SECTION,
    BinaryMeta,
    FunctionMeta,
    FuncType,
)
from cannkit.format.container import ContainerKind
from cannkit.format.dfx import TensorType
from cannkit.format.elf import open_elf
from cannkit.format.elf_types import Binding, SectionType, SymbolType
from cannkit.format.tlv import encode_tlv
from cannkit.image.kernel_object import MOST_WARNINGS
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Container, Input, Place, Unreadable, objects_in
from cannkit.inputs.files import MemoryFiles
from cannkit.soc import find_soc
from tests.build import SHF_ALLOC, ObjectBuilder
from tests.carriers import fatbin, fatbin_library
from tests.check.subjects import codes, compiled, findings, subject
from tests.facts import A2_SOC
from tests.objects import ADD, CUBE_ONLY, FATBIN_TARGET, MIX, PRINTF, SIMT_GATHER, TILING_KEYS
from tests.shapes import binary_tlv, dfx_tlv, function_tlv, m0, with_meta, word

FATBIN: Final = Container(ContainerKind.FATBIN, "0")
WHEEL: Final = Container(ContainerKind.WHEEL, "k.o")
TYPE: Final = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV)
ONE_ARGUMENT: Final = dfx_tlv((word(TensorType.INPUT), 0))


def alone(builder: ObjectBuilder) -> ObjectSubject:
    """An object that needs no sidecar."""
    return subject(builder.build(), container=FATBIN)


def described(*records: bytes) -> ObjectSubject:
    return alone(with_meta(m0(), *records))


def with_code(offset: int, length: int) -> ObjectSubject:
    """Beside k_0, which is at 0 to 32 of an image of 64 bytes."""
    builder = m0()
    builder.symbol("other", value=offset, size=length)
    return alone(builder)


def with_variable(place: int) -> ObjectSubject:
    builder = m0()
    builder.symbol("g_state", SymbolType.OBJECT, value=place, size=256)
    return alone(builder)


def with_arguments(size: int) -> ObjectSubject:
    builder = with_meta(m0(), ONE_ARGUMENT)
    builder.section(ARG_SIZE_SECTION, struct.pack("<I", size))
    builder.symbol("k_0__", SymbolType.OBJECT, Binding.WEAK, section=ARG_SIZE_SECTION, size=4)
    return alone(builder)


def with_parameters(size: int, ordinal: int) -> ObjectSubject:
    """Two parameters of 8 bytes, in a buffer of `size` bytes."""
    return described(
        function_tlv(FunctionMeta.PARAM_SUMMARY, param_count=2, param_total_size=size),
        function_tlv(FunctionMeta.PARAM_INFO, ordinal=0, offset=0, size=8),
        function_tlv(FunctionMeta.PARAM_INFO, ordinal=ordinal, offset=8 * ordinal, size=8),
    )


def with_stack(*sizes: int) -> ObjectSubject:
    return alone(m0().section(STACK_SECTION, struct.pack(f"<{len(sizes)}Q", *sizes)))


def with_feature(feature: int) -> ObjectSubject:
    record = binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=feature)
    return alone(m0().section(BINARY_SECTION, record, SectionType.NOTE))


def with_text(**lies: int) -> ObjectSubject:
    return alone(m0().lie(".text", **lies))


def with_name_of(section: str) -> ObjectSubject:
    """A .dynamic and its .dynstr; only the section named `.dynamic` may leave the file."""
    builder = m0().section(".dynstr", b"\0", SectionType.STRTAB)
    builder.section(".dynamic", bytes(16), SectionType.DYNAMIC)
    return alone(builder.lie(section, size=1 << 20) if section else builder)


def with_tables(*, skipped: bool) -> ObjectSubject:
    builder = m0()
    if skipped:
        builder.section(".old", b"", SectionType.SYMTAB, entsize=24)
    return alone(builder)


def many(count: int) -> ObjectSubject:
    """As many records of a wrong length."""
    return described(*[encode_tlv(FunctionMeta.KERNEL_TYPE, b"\3", "little")] * count)


def packed(tail: bytes) -> ObjectSubject:
    """An object out of a fatbin, with bytes behind its last entry."""
    data = memoryview(fatbin_library(*FATBIN_TARGET, fatbin([(1, m0().build())]) + tail))
    (item,) = objects_in(Place("lib.so", None, MemoryFiles(), "lib.so"), data, named=True)
    assert isinstance(item, Input)
    chip = find_soc(A2_SOC)
    return ObjectSubject("lib.so!0", item, read_input(item, chip), chip)


def changed_kernels(**changes: Any) -> ObjectSubject:
    names = [{"kernelName": f"{ADD.stem}_0"} | changes]
    return compiled(ADD, kernelList=names)


Case = tuple[Callable[[], ObjectSubject], Callable[[], ObjectSubject]]

# What breaks the rule, what does not.
CASES: Final[dict[str, Case]] = {
    "K001": (lambda: subject(m0().build()), lambda: compiled(ADD)),
    "K002": (lambda: subject(m0().build(), sidecar=b"{,}"), lambda: compiled(ADD)),
    "K004": (
        lambda: alone(with_meta(m0(), TYPE).lie(".ascend.meta.k_0", size=1 << 20)),
        lambda: described(TYPE),
    ),
    "K005": (
        lambda: subject(m0().build(), sidecar=b"{}", path="a/k"),
        lambda: subject(m0().build(), sidecar=b"{}", path="a/k.o"),
    ),
    "K010": (lambda: compiled(ADD, sha256="0" * 64), lambda: compiled(ADD)),
    "K011": (lambda: changed_kernels(kernelName="AddCustom_7"), changed_kernels),
    "K012": (lambda: compiled(ADD, binFileName="Other"), lambda: compiled(ADD)),
    "K013": (lambda: compiled(ADD, kernelName="Other"), lambda: compiled(ADD)),
    "K014": (lambda: compiled(ADD, intercoreSync=1), lambda: compiled(MIX)),
    "K015": (lambda: changed_kernels(tilingKey=3), lambda: changed_kernels(tilingKey=0)),
    "K016": (lambda: compiled(MIX, taskRation="1:1"), lambda: compiled(MIX)),
    "K017": (lambda: compiled(ADD, opParaSize=48), lambda: compiled(ADD)),
    "K018": (lambda: compiled(PRINTF, debugBufSize=1), lambda: compiled(PRINTF)),
    "K019": (lambda: compiled(SIMT_GATHER, dynamicParamMode=""), lambda: compiled(SIMT_GATHER)),
    "K020": (lambda: compiled(ADD, coreType="AiCore"), lambda: compiled(CUBE_ONLY)),
    "K021": (lambda: compiled(ADD, magic="ELF"), lambda: compiled(ADD)),
    "K030": (lambda: described(TYPE, b"\1\0\x20\0\1"), lambda: described(TYPE, bytes(3))),
    "K031": (lambda: many(1), lambda: described(TYPE)),
    "K032": (lambda: described(TYPE, TYPE), lambda: with_parameters(16, 1)),
    "K033": (
        lambda: described(encode_tlv(99, bytes(4), "little")),
        lambda: described(TYPE, bytes(4), ONE_ARGUMENT),
    ),
    "K034": (
        lambda: described(encode_tlv(FunctionMeta.DFX_TYPE, b"\0\5\0", "little")),
        lambda: described(ONE_ARGUMENT),
    ),
    "K035": (lambda: with_arguments(16), lambda: with_arguments(8)),
    "K036": (lambda: with_parameters(16, 0), lambda: with_parameters(16, 1)),
    "K037": (lambda: with_parameters(12, 1), lambda: with_parameters(16, 1)),
    "K038": (lambda: with_stack(16384, 32768), lambda: with_stack(16384, 16384)),
    "K039": (lambda: with_feature(33), lambda: with_feature(2)),
    "K040": (lambda: with_text(size=1 << 20), with_text),
    "K041": (lambda: with_variable(64), lambda: with_variable(56)),  # real ones end behind it, too
    "K042": (lambda: with_code(32, 33), lambda: with_code(32, 32)),
    "K043": (lambda: with_code(32, 0), lambda: with_code(32, 8)),
    "K044": (lambda: with_code(28, 8), lambda: with_code(32, 8)),
    "K045": (lambda: with_tables(skipped=True), lambda: with_tables(skipped=False)),
    "K046": (lambda: alone(m0(data_encoding=0)), lambda: alone(m0())),
    "K047": (lambda: with_name_of(".dynamic"), lambda: with_name_of("")),
    "K048": (lambda: packed(bytes(8)), lambda: packed(b"")),
    "K049": (lambda: many(MOST_WARNINGS + 1), lambda: many(MOST_WARNINGS)),
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_tells_the_broken_object_from_the_other(code: str) -> None:
    broken, whole = CASES[code]
    told = [f for f in findings(broken(), OBJECT_RULES) if f.rule.code == code]
    assert told
    assert all(finding.file == broken().place and finding.message for finding in told)
    assert code not in codes(whole(), OBJECT_RULES)


def test_every_rule_has_a_case() -> None:
    assert {code for code in RULES if code < "K100"} == {*CASES, "K003"}


@pytest.mark.parametrize("operator", [ADD, CUBE_ONLY, MIX, TILING_KEYS, SIMT_GATHER, PRINTF])
def test_compiled_operators_are_clean(operator: Any) -> None:
    assert codes(compiled(operator), OBJECT_RULES) == set()


def test_unreadable_object() -> None:
    """K003, also for a file that could not be opened."""
    with pytest.raises(FormatError) as caught:
        open_elf(memoryview(b"\x7fELF"))
    item = Input("a/k.o", memoryview(b"\x7fELF"), None, MemoryFiles(), "a/k.o")
    for thing in (item, Unreadable("a/k.o", None, caught.value)):
        (finding,) = check_unreadable(UnreadableSubject("a/k.o", thing, caught.value))
        assert (finding.rule.code, finding.rule.level) == ("K003", Level.ERROR)
        assert (finding.file, finding.where) == ("a/k.o", None)
        assert finding.message == "not a kernel object: 4 bytes, an ELF header takes 64"
    error = InputError("cannot read the file", where="a/k.o", why="not a regular file")
    (finding,) = check_unreadable(UnreadableSubject("a/k.o", item, error))
    assert finding.where is None  # the file is named already


def test_a_record_of_another_place_is_unknown_there() -> None:
    """K033: DFX_ARG_INFO is only valid nested, and type 0 is padding only without a value."""
    for kind in (FunctionMeta.DFX_ARG_INFO, 0):
        of = described(encode_tlv(kind, bytes(4), "little"))
        assert "K033" in codes(of, OBJECT_RULES)


def test_two_sections_of_one_kernel() -> None:
    """K032, FUN-03."""
    of = alone(with_meta(with_meta(m0(), TYPE), TYPE))
    (finding,) = (f for f in findings(of, OBJECT_RULES) if f.rule.code == "K032")
    assert finding.where == "kernel k_0"


def test_where_a_sidecar_is_expected() -> None:
    """K001: not in a fatbin, but in a wheel; one that is not JSON is there."""
    data = m0().build()
    assert "K001" in codes(subject(data, container=WHEEL), OBJECT_RULES)
    assert "K001" not in codes(subject(data, container=FATBIN), OBJECT_RULES)
    assert "K001" not in codes(subject(data, sidecar=b"{,}"), OBJECT_RULES)


@pytest.mark.parametrize(
    ("core", "sync", "expected"),
    [("MIX_AIV", 1, False), ("VectorCore", 0, True), (None, 0, True), (None, 1, False)],
)
def test_cores_of_a_mix(core: str | None, sync: int, expected: bool) -> None:
    """K020: there are several words for a mix; without one, intercoreSync is held against it."""
    of = compiled(MIX, coreType=core, intercoreSync=sync)
    assert ("K020" in codes(of, OBJECT_RULES)) is expected


def test_a_kernel_inside_another_one() -> None:
    """K044: told once for each that begins inside, however far the first one reaches."""
    builder = m0()
    for name, value in (("b", 4), ("c", 12), ("d", 32)):
        builder.symbol(name, value=value, size=4)
    told = [f.where for f in findings(alone(builder), OBJECT_RULES) if f.rule.code == "K044"]
    assert told == ["kernel b", "kernel c"]


def test_a_section_behind_the_text_belongs_to_the_image() -> None:
    """K041, K042."""
    builder = m0().section(".data", bytes(64), flags=SHF_ALLOC, addr=64)
    builder.symbol("g_state", SymbolType.OBJECT, section=".data", value=64, size=8)
    assert codes(alone(builder), OBJECT_RULES) == set()


def test_every_remark_of_the_readers_has_a_rule() -> None:
    """A code that a reader learns is one that a rule has to tell."""
    told = {*rules_integrity.REMARKS, *rules_meta.REMARKS, *rules_sidecar.REMARKS}
    told |= {*rules_runtime.READER, *rules_runtime.REGISTRATION}
    told |= {"image-extent", "no-meta", "symbol-name", "meta-name"}  # told by rules of their own
    told |= {"no-sidecar", "sidecar-magic"}  # K001, K021: of a loader that reads files
    package = Path(cannkit.__file__).parent
    loader = ("binary_loader", "program", "remarks")
    modules = [*package.glob("image/*.py"), package / "format" / "container.py"]
    modules += [package / "runtime" / f"{name}.py" for name in loader]
    source = "".join(path.read_text("utf-8") for path in modules)
    used = set(re.findall(r'(?:ReadWarning|warn)\(\s*"([a-z-]+)"', source))
    used |= set(re.findall(r'yield "([a-z-]+)", ', source))
    sidecar = (package / "image" / "sidecar_check.py").read_text("utf-8")
    used -= (bare := set(re.findall(r'yield \(?\s*"([a-z-]+)",', sidecar)))
    used |= {f"sidecar-{code}" for code in bare}
    assert used - told == set()
