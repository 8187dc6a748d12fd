"""The synthetic vectors of spec 01, section 13.7, by their S numbers; S41 and S42 are of fatbins."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest

from cannkit.errors import FormatError
from cannkit.format.ascend_meta import (
    BINARY_SECTION,
    FUNCTION_SECTION,
    STACK_SECTION,
    BinaryMeta,
    FunctionMeta,
)
from cannkit.format.dfx import encode_dfx
from cannkit.format.elf_types import (
    HEADER_STRUCT,
    SECTION_STRUCT,
    Binding,
    ElfHeader,
    Machine,
    Section,
    SectionType,
    SymbolType,
    Visibility,
)
from cannkit.format.tlv import encode_tlv
from cannkit.image.kernel_meta import NO_META, EntryKind, KernelMeta, Param
from cannkit.image.kernel_object import KernelObject
from tests.build import SHF_ALLOC, SHF_EXEC, SHF_WRITE, ObjectBuilder
from tests.carriers import shared_object
from tests.facts import codes, only_kernel, read, rules
from tests.shapes import binary_tlv, function_tlv, m0, m0_meta, with_meta

F = FunctionMeta
META = FUNCTION_SECTION + "k_0"
AIV = function_tlv(F.KERNEL_TYPE, func_type=3)
SYNC = function_tlv(F.CROSS_CORE, cross_core_sync=1)
WRITABLE = SHF_ALLOC | SHF_WRITE
WRAP = 1 << 64

Check = Callable[[KernelObject], object]
Vector = tuple[bytes, Check]


def build(change: Callable[[ObjectBuilder], object]) -> bytes:
    """M0, changed."""
    builder = m0()
    change(builder)
    return builder.build()


def meta(obj: KernelObject) -> KernelMeta:
    return only_kernel(obj).meta


def names(obj: KernelObject) -> list[str]:
    return [kernel.name for kernel in obj.kernels]


def gives(view: Check, expected: object) -> Check:
    return lambda obj: view(obj) == expected


def refused(*expected: str) -> Check:
    return lambda obj: rules(obj)[: len(expected)] == list(expected)


def tlvs(*records: bytes, **expected: object) -> Vector:
    """M0 with meta(...), and fields its kernel must have."""

    def check(obj: KernelObject) -> bool:
        found = {name: getattr(meta(obj), name) for name in expected}
        return found == expected and not obj.refusals

    return m0_meta(*records), check


def refused_tlvs(rule: str, *records: bytes) -> Vector:
    return m0_meta(*records), refused(rule)


def plain() -> Iterator[Vector]:
    def s1(obj: KernelObject) -> bool:
        kernel = only_kernel(obj)
        image = (obj.text_offset, obj.text_size, kernel.offset, kernel.length)
        return image == (64, 64, 0, 32) and kernel.meta == NO_META and not obj.warnings

    yield m0().build(), s1
    assert NO_META.func_type == 0
    assert NO_META.task_ratio_value == 2
    assert NO_META.user_args == 128


def no_symtab() -> Iterator[Vector]:
    builder = m0()
    builder.tables.remove(".symtab")
    yield builder.build(), refused("SYM-05")


def no_function() -> Iterator[Vector]:
    builder = ObjectBuilder()
    builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=64)
    builder.symbol("g_x", SymbolType.OBJECT, size=8)
    yield builder.build(), refused("SYM-04")


def not_global() -> Iterator[Vector]:
    for binding in (Binding.WEAK, Binding.LOCAL):
        builder = ObjectBuilder()
        builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=64)
        builder.symbol("k_0", binding=binding, size=32)
        yield builder.build(), lambda obj: (obj.func_count, obj.kernels, rules(obj)) == (1, (), [])


def visibilities() -> Iterator[Vector]:
    builder = ObjectBuilder()
    builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=64)
    seen = (Visibility.HIDDEN, Visibility.INTERNAL, Visibility.PROTECTED)
    for number, visibility in enumerate(seen):
        builder.symbol(f"k_{number}", visibility=visibility)
    yield builder.build(), lambda obj: names(obj) == ["k_1", "k_2"]


def absolute_variable() -> Iterator[Vector]:
    builder = m0()
    builder.section(".data", bytes(8), flags=WRITABLE, addr=64, at=128)
    builder.symbol("g_abs", SymbolType.OBJECT, section=0xFFF1)
    builder.symbol("g_x", SymbolType.OBJECT, section=".data", value=64, size=8)
    yield builder.build(), lambda obj: obj.variables == () and names(obj) == ["k_0"]


def undefined_variable() -> Iterator[Vector]:
    builder = m0()
    builder.section(".data", bytes(8), flags=WRITABLE, addr=64, at=128)
    builder.symbol("g_und", SymbolType.OBJECT, section=0)
    builder.symbol("g_x", SymbolType.OBJECT, section=".data", value=64, size=8)

    def check(obj: KernelObject) -> bool:
        return [(v.name, v.offset, v.size) for v in obj.variables] == [("g_x", 64, 8)]

    yield builder.build(), check


def no_name_table() -> Iterator[Vector]:
    data = with_meta(m0(shstrndx=0), AIV).build()
    yield data, lambda obj: meta(obj) == NO_META and not obj.refusals and not obj.warnings


def empty_section_first() -> Iterator[Vector]:
    data = build(lambda b: b.section(".empty", flags=SHF_ALLOC, at=96, index=0))
    yield data, lambda obj: (obj.text_offset, obj.text_size, rules(obj)) == (64, 64, [])


def last_is_not_highest() -> Iterator[Vector]:
    builder = m0().section(".big", bytes(64), flags=SHF_ALLOC, at=512)
    builder.section(".small", bytes(8), flags=SHF_ALLOC, at=256)
    yield builder.build(), lambda obj: (obj.text_offset, obj.text_size) == (64, 200)


def bss_counts() -> Iterator[Vector]:
    builder = m0().section(".bss", b"", SectionType.NOBITS, flags=WRITABLE, at=128, size=4096)
    data = builder.build()

    def check(obj: KernelObject) -> bool:
        return obj.text_size == 4160 > obj.size and codes(obj) == ["image-extent"]

    yield data, check


def early(size: int) -> bytes:
    builder = ObjectBuilder()
    builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=256)
    builder.section(".early", bytes(16), flags=SHF_ALLOC, at=128, size=size)
    builder.symbol("k_0", size=32)
    return builder.build()


def image_wraps() -> Iterator[Vector]:
    yield early(16), lambda obj: obj.text_size == WRAP - 112 and rules(obj) == ["HAZ-10"]


def image_overflows() -> Iterator[Vector]:
    yield early(130), refused("SEC-06")
    yield early(128), refused("SEC-06")  # sum exactly 2^64
    yield early(127), refused("HAZ-10")  # the last size that the runtime lets pass


def data_section() -> Iterator[Vector]:
    for name, writable in ((".data", True), (".data.rel", False)):
        data = m0().section(name, b"", SectionType.NOTE).build()
        yield data, gives(lambda obj: obj.writable_data, writable)


def soname() -> Iterator[Vector]:
    needed, name, null = (1, 1), (14, 1), (0, 0)
    data = shared_object([needed, name, null]).build()
    yield data, lambda obj: obj.so_name == "libk.so" and obj.elf.header.machine == 183
    yield shared_object([needed, null, name]).build(), lambda obj: obj.so_name is None
    data = shared_object([(14, 9)]).build()
    yield data, lambda obj: rules(obj) == ["HAZ-08"]


def long_names() -> Iterator[Vector]:
    def two(builder: ObjectBuilder) -> None:
        builder.symbol("a" * 4095)
        builder.symbol("b" * 4096)

    def check(obj: KernelObject) -> bool:
        return names(obj) == ["k_0", "a" * 4095] and codes(obj) == ["symbol-name"]

    yield build(two), check


def int32_values() -> Iterator[Vector]:
    def two(builder: ObjectBuilder) -> None:
        builder.symbol("a", value=0x1_0000_0010, size=0x1_0000_0020)
        builder.symbol("b", value=0x8000_0000, size=4)

    def check(obj: KernelObject) -> bool:
        places = [(kernel.offset, kernel.length) for kernel in obj.kernels]
        return places == [(0, 32), (16, 32), (-(1 << 31), 4)]

    yield build(two), check


def nameless_function() -> Iterator[Vector]:
    data = build(lambda b: b.symbol(""))
    yield data, lambda obj: names(obj) == ["k_0"] and obj.func_count == 2


def wide_entries() -> Iterator[Vector]:
    builder = m0().lie(".symtab", entsize=32)
    for number in range(1, 7):
        builder.symbol(f"k_{number}")
    yield builder.build(), lambda obj: names(obj) == [f"k_{number}" for number in range(5)]


def padding() -> Iterator[Vector]:
    yield tlvs(AIV, bytes(4), SYNC, func_type=3, cross_core_sync=1, user_args=0)


def truncated() -> Iterator[Vector]:
    data, check = tlvs(AIV, struct.pack("<HHI", 2, 8, 1), func_type=3, cross_core_sync=0)
    yield data, lambda obj: check(obj) and codes(obj) == ["tlv-truncated"]


def same_section_twice() -> Iterator[Vector]:
    data = with_meta(with_meta(m0(), AIV), SYNC).build()

    def check(obj: KernelObject) -> bool:
        kernel = only_kernel(obj)
        fields = (kernel.meta.func_type, kernel.meta.cross_core_sync)
        return fields == (0, 1) and kernel.section is not None and kernel.section.size == 8

    yield data, check


def thirteen_bytes_off() -> Iterator[Vector]:
    builder = m0().section(f"xx{META}", AIV, SectionType.NOTE)
    builder.symbol("a.k_0")
    builder.symbol("xx.k_0")

    def check(obj: KernelObject) -> bool:
        return [kernel.meta.func_type for kernel in obj.kernels] == [0, 3, 0]

    yield builder.build(), check


def no_kernel_name() -> Iterator[Vector]:
    data = m0().section(FUNCTION_SECTION, AIV, SectionType.NOTE).build()
    yield data, lambda obj: meta(obj).user_args == 128 and codes(obj) == ["meta-name"]


def ratio(aic: int, aiv: int) -> bytes:
    return function_tlv(F.MIX_TASK_RATION, ratio_aic=aic, ratio_aiv=aiv)


def ratios() -> Iterator[Vector]:
    good = {(1, 2): 2, (2, 1): 2, (1, 1): 1, (1, 0): 0, (0, 1): 0, (0, 0): 2}
    for pair, value in good.items():
        yield tlvs(ratio(*pair), task_ratio_value=value)
    for pair in ((2, 2), (0, 2)):
        yield refused_tlvs("FUN-08", ratio(*pair))


def schedules() -> Iterator[Vector]:
    yield tlvs(function_tlv(F.SCHED_MODE_INFO, sched_mode=1), sched_mode=1)
    yield refused_tlvs("6.3.5", function_tlv(F.SCHED_MODE_INFO, sched_mode=2))


def entry(flag: int) -> bytes:
    return function_tlv(F.FUNCTION_ENTRY_INFO, flag=flag, function_entry=77)


def entries() -> Iterator[Vector]:
    yield tlvs(entry(0), entry_kind=EntryKind.FUNCTION_ENTRY, function_entry=77)
    yield tlvs(entry(0x80), entry_kind=EntryKind.UNSUPPORTED, function_entry=0)
    yield refused_tlvs("FUN-07", entry(1))


def stacks() -> Iterator[Vector]:
    yield tlvs(function_tlv(F.SU_STACK_SIZE, min_stack_size=32768), min_stack_size=32768)
    yield refused_tlvs("FUN-06", function_tlv(F.SU_STACK_SIZE, min_stack_size=32769))


def integer_widths() -> Iterator[Vector]:
    def stack(value: int, length: int) -> bytes:
        return encode_tlv(F.SU_STACK_SIZE, value.to_bytes(length, "little"), "little")

    yield tlvs(stack(1234, 2), min_stack_size=1234)
    yield tlvs(stack((1 << 32) + 99, 8), min_stack_size=99)
    yield tlvs(stack(99, 9), SYNC, min_stack_size=0, cross_core_sync=1)


def early_start() -> Iterator[Vector]:
    for value, enabled in ((1, True), (2, False)):
        yield tlvs(function_tlv(F.EARLY_START_ENABLE, early_start=value), early_start=enabled)
    buffer = function_tlv(F.COMPILER_ALLOC_UB_SIZE, ub_size=8192)
    yield tlvs(buffer, ub_size=0)
    yield tlvs(buffer, function_tlv(F.AIV_TYPE_FLAG, vf_type=1), ub_size=8192)


def dfx(*records: tuple[int, tuple[int, ...]]) -> bytes:
    return encode_tlv(F.DFX_TYPE, encode_dfx(list(records)), "little")


def dfx_arguments() -> Iterator[Vector]:
    slots = [(0x10002, WRAP - 1), (0x10003, WRAP - 1), (0x10004,), (0x10007, 56)]
    record = dfx(*((5, slot) for slot in slots))
    assert len(record) == 4 + 72
    yield tlvs(record, user_args=4)


def dfx_other_type() -> Iterator[Vector]:
    data, check = tlvs(dfx((5, (0x10002, 0)), (9, (0,))), user_args=2)
    yield data, lambda obj: check(obj) and codes(obj) == ["dfx-count"]


def dfx_empty() -> Iterator[Vector]:
    yield tlvs(encode_tlv(F.DFX_TYPE, b"", "little"), AIV, user_args=0, func_type=3)
    yield tlvs(encode_tlv(F.DFX_TYPE, bytes(4), "little"), AIV, user_args=1, func_type=3)


def summary(count: int, total: int = 16) -> bytes:
    return function_tlv(F.PARAM_SUMMARY, param_count=count, param_total_size=total)


def info(ordinal: int) -> bytes:
    return function_tlv(F.PARAM_INFO, ordinal=ordinal, offset=8 * ordinal, size=8)


def parameters() -> Iterator[Vector]:
    def counted(count: int) -> Check:
        return lambda obj: len(meta(obj).params) == count and meta(obj).has_param_summary

    two = m0_meta(summary(2), info(1), info(0))
    yield two, counted(2)
    yield two, lambda obj: meta(obj).param_total_size == 16
    yield two, lambda obj: [param.ordinal for param in meta(obj).params] == [0, 1]
    yield refused_tlvs("FUN-05", summary(3), info(0), info(1))
    yield refused_tlvs("FUN-05", summary(2), info(0), info(2))
    yield m0_meta(summary(2), info(0), info(0)), counted(2)
    yield m0_meta(summary(0, 0)), counted(0)
    yield tlvs(info(0), has_param_summary=False, params=())


def missing_slot() -> Iterator[Vector]:
    data = m0_meta(summary(3, 24), info(0), info(0), info(2))

    def check(obj: KernelObject) -> bool:
        params = meta(obj).params
        return len(params) == 3 and params[1] == Param() and codes(obj) == ["param-missing"]

    yield data, check


def stack_record(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def stack_records() -> Iterator[Vector]:
    contents = {
        stack_record(16384, 16384): 16384,
        stack_record(32768): 32768,
        stack_record(16384, 32768): 0,
        stack_record(65536): 0,
        bytes(12): 0,
        bytes(4): 0,
    }
    for content, size in contents.items():
        data = m0().section(STACK_SECTION, content).build()
        warned = [] if size else ["stack-record"]
        yield data, gives(lambda obj: (obj.stack_size, codes(obj)), (size, warned))


def stack_in_version() -> Iterator[Vector]:
    sizes = {0x5A5A0100: 16384, 0x5A5A0200: 32768, 0x5A5A0300: 0, 0x5A5A01FF: 16384}
    for version, size in sizes.items():
        data = m0(version=version).build()
        yield data, gives(lambda obj: obj.stack_size, size)
    builder = m0(version=0x5A5A0100).section(STACK_SECTION, stack_record(32768))
    yield builder.build(), lambda obj: obj.stack_size == 32768


def feature(number: int) -> bytes:
    return binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=number)


def implicit_flags() -> Iterator[Vector]:
    flags = {0: 0, 1: 1, 2: 2, 3: 4, 4: 8, 5: 0x10, 6: 0x20, 32: 1 << 31, 33: 0}
    for number, flag in flags.items():
        data = m0().section(BINARY_SECTION, feature(number)).build()
        warned = [] if flag else ["implicit-feature"]
        yield data, gives(lambda obj: (obj.implicit_flags, codes(obj)), (flag, warned))


IMPLICIT = ("g_sysPrintFifoSpace", "g_sysFftsAddr", "g_opL2CacheHintCfg", "g_sysSimtPrintFifoSpace")


def variables(obj: KernelObject) -> list[tuple[str, int, bool, bool]]:
    return [(v.name, v.offset, v.implicit, v.is_global) for v in obj.variables]


def implicit_symbols() -> Iterator[Vector]:
    recorded = {1: IMPLICIT[0], 2: IMPLICIT[1], 3: IMPLICIT[2], 4: IMPLICIT[3], 5: IMPLICIT[0]}
    for number, name in recorded.items():
        builder = m0().section(BINARY_SECTION, feature(number))
        builder.section(".data", bytes(32), flags=WRITABLE, addr=64, at=256)
        for at, symbol in enumerate(IMPLICIT):
            weak, value = Binding.WEAK, 64 + 8 * at
            builder.symbol(symbol, SymbolType.OBJECT, weak, section=".data", value=value, size=8)
        expected = [(name, 192 + 8 * IMPLICIT.index(name), True, False)]
        yield builder.build(), gives(variables, expected)


def big_endian() -> Iterator[Vector]:
    record = function_tlv(F.KERNEL_TYPE, "big", func_type=3)
    data = with_meta(m0("big"), record).build()
    yield data, lambda obj: meta(obj).func_type == 3 and codes(obj) == ["big-endian"]
    record = function_tlv(F.FUNCTION_ENTRY_INFO, "big", function_entry=5)  # HAZ-03
    yield with_meta(m0("big"), record).build(), lambda obj: meta(obj).function_entry == 5


def no_strings() -> Iterator[Vector]:
    data = m0().lie(".strtab", size=0).build()
    yield data, lambda obj: (obj.func_count, obj.kernels, rules(obj)) == (1, (), [])


def huge_section() -> Iterator[Vector]:
    huge = WRAP - 1
    data = build(lambda b: b.section(".x", flags=SHF_ALLOC, at=128, size=huge))
    yield data, refused("SEC-06")
    data = build(lambda b: b.section(".x", flags=SHF_ALLOC, at=64, size=huge, index=0))
    yield data, lambda obj: (obj.text_offset, obj.text_size, rules(obj)) == (64, 64, [])


def huge_meta() -> Iterator[Vector]:
    for size in (1 << 32, (1 << 32) + 8):
        yield with_meta(m0(), AIV).lie(META, size=size).build(), refused("HAZ-06")


def names_from_section_0() -> Iterator[Vector]:
    builder = with_meta(m0(), AIV)
    header = header_of(builder.build())
    at = header.shoff + 64 * header.shstrndx
    table = Section._make(SECTION_STRUCT["little"].unpack_from(builder.build(), at))
    builder.header["shstrndx"] = 0
    builder.lie(0, offset=table.offset, size=table.size)
    yield builder.build(), lambda obj: (meta(obj).func_type, meta(obj).user_args) == (3, 0)
    builder.lie(0, offset=1 << 40)
    yield builder.build(), lambda obj: meta(obj) == NO_META and not obj.refusals


def header_of(data: bytes) -> ElfHeader:
    return ElfHeader._make(HEADER_STRUCT["little"].unpack_from(data))


VECTORS: dict[str, Callable[[], Iterator[Vector]]] = {
    "S1": plain,
    "S2": no_symtab,
    "S3": no_function,
    "S4": not_global,
    "S5": visibilities,
    "S6": absolute_variable,
    "S7": undefined_variable,
    "S9": no_name_table,
    "S10": empty_section_first,
    "S11": last_is_not_highest,
    "S12": bss_counts,
    "S13": image_wraps,
    "S14": image_overflows,
    "S15": data_section,
    "S16": soname,
    "S17": long_names,
    "S18": int32_values,
    "S19": nameless_function,
    "S20": wide_entries,
    "S21": padding,
    "S22": truncated,
    "S23": same_section_twice,
    "S24": thirteen_bytes_off,
    "S25": no_kernel_name,
    "S26": ratios,
    "S27": schedules,
    "S28": entries,
    "S29": stacks,
    "S30": integer_widths,
    "S31": early_start,
    "S32": dfx_arguments,
    "S33": dfx_other_type,
    "S34": dfx_empty,
    "S35": parameters,
    "S36": stack_records,
    "S37": stack_in_version,
    "S38": implicit_flags,
    "S39": implicit_symbols,
    "S40": big_endian,
    "S44": no_strings,
    "S45": huge_section,
    "S46": huge_meta,
    "S47": names_from_section_0,
    "S48": missing_slot,
}

CASES = [
    pytest.param(*vector, id=name if at == 0 else f"{name}.{at + 1}")
    for name, vectors in VECTORS.items()
    for at, vector in enumerate(vectors())
]


@pytest.mark.parametrize(("data", "holds"), CASES)
def test_vector(data: bytes, holds: Check) -> None:
    obj = read(data)
    assert holds(obj), (obj.refusals, obj.warnings, obj.kernels)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        pytest.param(m0(elf_class=1).build(), "ELF-02", id="S8"),
        pytest.param(m0().build()[:63], "ELF-01", id="S43"),
        pytest.param(b"\x7fELG" + m0().build()[4:], "ELF-01", id="S43.2"),
        pytest.param(m0(shoff=WRAP - 64).build(), "SEC-03", id="S43.3"),
    ],
)
def test_vector_that_is_no_object(data: bytes, rule: str) -> None:
    with pytest.raises(FormatError) as error:
        read(data)
    assert error.value.rule == rule


def test_every_vector_is_here() -> None:
    """S41 and S42 are fatbins: tests/format/test_container.py has them."""
    raised = {"S8", "S43"}
    assert VECTORS.keys() | raised | {"S41", "S42"} == {f"S{n}" for n in range(1, 49)}


def test_machine_of_m0() -> None:
    assert header_of(m0().build()).machine == Machine.EM_ASCEND_AI_CORE
