"""Kernels, variables and argument sizes out of the symbol table. Spec 01, sections 3 and 8."""

from __future__ import annotations

import struct

import pytest

from cannkit.format.ascend_meta import ARG_SIZE_SECTION, BINARY_SECTION, BinaryMeta
from cannkit.format.elf import open_elf
from cannkit.format.elf_types import Binding, SectionType, SymbolType
from cannkit.image.layout import Layout, read_layout
from cannkit.image.symbols import KernelSymbol, Symbols, read_symbols
from cannkit.soc import find_soc
from tests.build import SHF_ALLOC, SHF_WRITE, ObjectBuilder
from tests.facts import A2_SOC
from tests.shapes import binary_tlv, m0

OBJECT = SymbolType.OBJECT
ENTRY = struct.Struct("<IBBHQQ")


def symbols(builder: ObjectBuilder) -> Symbols:
    elf = open_elf(memoryview(builder.build()))
    return read_symbols(elf, read_layout(elf, find_soc(A2_SOC)))


def rules(found: Symbols) -> list[str]:
    return [refusal.rule for refusal in found.refusals]


def codes(found: Symbols) -> list[str]:
    return [warning.code for warning in found.warnings]


def names(found: Symbols) -> list[str]:
    return [kernel.name for kernel in found.kernels]


def test_kernels_keep_table_order_and_duplicates() -> None:
    """SYM-09."""
    builder = m0()
    builder.symbol("a", value=8, size=4)
    builder.symbol("k_0", value=16, size=4)
    found = symbols(builder)
    assert found.kernels == [
        KernelSymbol("k_0", 0, 32),
        KernelSymbol("a", 8, 4),
        KernelSymbol("k_0", 16, 4),
    ]


@pytest.mark.parametrize("section", [0, 0xFFF1, 0xFFFF, 77])
def test_section_of_a_kernel_is_not_looked_at(section: int) -> None:
    """SYM-06."""
    builder = m0()
    builder.symbol("a", section=section)
    assert names(symbols(builder)) == ["k_0", "a"]


def test_dynamic_symbols_are_never_used() -> None:
    """SYM-01: a stripped library fails."""
    builder = ObjectBuilder()
    builder.section(".dynstr", b"\0k_0\0", SectionType.STRTAB)
    entries = bytes(24) + ENTRY.pack(1, 0x12, 0, 1, 0, 8)
    kind = SectionType.DYNSYM
    builder.section(".dynsym", entries, kind, entsize=24, link=".dynstr")
    builder.tables.remove(".symtab")
    assert rules(symbols(builder)) == ["SYM-05"]


@pytest.mark.parametrize(
    "lie",
    [
        {"size": 0},
        {"entsize": 49},
        {"entsize": 16},
        {"offset": 1 << 30},
        {"size": (1 << 64) - 8},
    ],
)
def test_broken_table_is_skipped(lie: dict[str, int]) -> None:
    """SYM-02: the walk goes on to the next table, if there is one."""
    found = symbols(m0().lie(".symtab", **lie))
    assert rules(found) == ["SYM-05"]
    assert codes(found) == ["symbol-table"]


def test_table_may_be_one_byte_too_short() -> None:
    """SYM-02: count * 24 > sh_size + 1 is refused, so 48 of 47 bytes pass."""
    found = symbols(m0().lie(".symtab", size=47, entsize=23))
    assert (names(found), codes(found)) == (["k_0"], [])
    assert rules(symbols(m0().lie(".symtab", size=46, entsize=23))) == ["SYM-05"]


def test_table_without_entry_size_is_no_candidate() -> None:
    """SYM-01."""
    found = symbols(m0().lie(".symtab", entsize=0))
    assert (rules(found), codes(found)) == (["SYM-05"], [])


def test_next_table_is_tried() -> None:
    """SYM-02, SYM-05: the first table that passes is the only one used."""
    builder = m0()
    table = bytes(24) + ENTRY.pack(1, 0x12, 0, 1, 0, 8)
    kind = SectionType.SYMTAB
    builder.section("broken", table, kind, entsize=100, link=".strtab", index=0)
    builder.section("first", table, kind, entsize=24, link="names", index=1)
    builder.section("names", b"\0first\0", SectionType.STRTAB)
    found = symbols(builder)
    assert names(found) == ["first"]
    assert codes(found) == ["symbol-table"]


def test_string_table_outside_the_file_ends_the_search() -> None:
    """SYM-03."""
    assert rules(symbols(m0().lie(".strtab", offset=1 << 40))) == ["SYM-03"]


def test_kernel_name_outside_the_table_is_refused() -> None:
    """SYM-07: at the table's end the name is empty, behind it the parse fails."""
    size = len(b"\0k_0\0a\0")
    builder = m0()
    builder.symbol("a", name_offset=size)
    assert names(symbols(builder)) == ["k_0", ""]
    builder = m0()
    builder.symbol("a", name_offset=size + 1)
    found = symbols(builder)
    assert rules(found) == ["SYM-07"]
    assert names(found) == ["k_0"]


def variable(builder: ObjectBuilder, name: str, **fields: int) -> None:
    builder.symbol(name, OBJECT, section=".data", size=8, **fields)


def with_data() -> ObjectBuilder:
    flags = SHF_ALLOC | SHF_WRITE
    return m0().section(".data", bytes(16), flags=flags, addr=0x1000, at=256)


def test_variable_outside_the_string_table_is_told() -> None:
    """HAZ-11: the original reads out of bounds; cannkit goes without the name."""
    size = len(b"\0k_0\0g_x\0")
    builder = with_data()
    variable(builder, "g_x", value=0x1000, name_offset=size + 1)
    found = symbols(builder)
    assert (found.variables, codes(found), rules(found)) == ({}, ["symbol-name"], [])


def test_variable_named_at_the_end_of_the_table_has_an_empty_name() -> None:
    """As SYM-07 has it for kernels: the copy of the table ends in a NUL."""
    builder = with_data()
    variable(builder, "g_x", value=0x1000, name_offset=len(b"\0k_0\0g_x\0"))
    found = symbols(builder)
    assert (list(found.variables), codes(found)) == ([""], [])


def test_variable_with_no_string_table_is_told() -> None:
    """HAZ-11: the original follows a null pointer."""
    builder = with_data().lie(".strtab", size=0)
    variable(builder, "g_x", value=0x1000)
    found = symbols(builder)
    assert (found.variables, codes(found)) == ({}, ["symbol-name"])
    assert found.func_count == 1


def test_place_of_a_variable() -> None:
    """SYM-13, SYM-15: P = st_value + sh_offset - sh_addr, counted from the image's start."""
    builder = with_data()
    variable(builder, "g_x", value=0x1008)
    variable(builder, "g_before", value=0xF00)
    found = symbols(builder).variables
    assert (found["g_x"].offset, found["g_x"].size) == (256 - 64 + 8, 8)
    assert found["g_before"].offset == (1 << 64) - 64


def test_repeated_variable_overwrites() -> None:
    """SYM-15."""
    builder = with_data()
    variable(builder, "g_x", value=0x1000)
    variable(builder, "g_x", value=0x1008)
    assert symbols(builder).variables["g_x"].offset == 200


@pytest.mark.parametrize("binding", [Binding.LOCAL, Binding.WEAK])
def test_only_global_variables_are_listed(binding: int) -> None:
    """SYM-15."""
    builder = with_data()
    builder.symbol("g_x", OBJECT, binding, section=".data", value=0x1000)
    assert symbols(builder).variables == {}


@pytest.mark.parametrize("binding", [Binding.LOCAL, Binding.GLOBAL, Binding.WEAK])
def test_implicit_symbol_may_have_any_binding(binding: int) -> None:
    """SYM-16."""
    record = binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=2)
    builder = with_data().section(BINARY_SECTION, record)
    builder.symbol("g_sysFftsAddr", OBJECT, binding, section=".data", value=0x1000, size=8)
    builder.symbol("g_sysFftsAddr2", OBJECT, Binding.WEAK, section=".data", value=0x1000, size=8)
    found = symbols(builder).variables
    assert [v.name for v in found.values() if v.implicit] == ["g_sysFftsAddr"]
    assert found["g_sysFftsAddr"].is_global == (binding == Binding.GLOBAL)


def test_implicit_symbol_without_its_flag_is_none() -> None:
    """SYM-16: the name alone does not count."""
    builder = with_data()
    variable(builder, "g_sysFftsAddr", value=0x1000)
    assert not symbols(builder).variables["g_sysFftsAddr"].implicit


def test_argument_sizes_are_found_by_symbol() -> None:
    """ARG-01, ARG-02: not by order."""
    builder = m0().section(ARG_SIZE_SECTION, struct.pack("<III", 40, 48, 56))
    for name, at in (("b__", 8), ("k_0__", 4), ("no_tail", 0)):
        builder.symbol(name, OBJECT, Binding.WEAK, section=ARG_SIZE_SECTION, value=at, size=4)
    assert symbols(builder).arg_sizes == {"b": 56, "k_0": 48}


@pytest.mark.parametrize("at", [9, 12, 1 << 40, (1 << 64) - 1])
def test_argument_size_outside_its_section_is_none(at: int) -> None:
    builder = m0().section(ARG_SIZE_SECTION, struct.pack("<III", 40, 48, 56))
    builder.symbol("k_0__", OBJECT, Binding.WEAK, section=ARG_SIZE_SECTION, value=at, size=4)
    assert symbols(builder).arg_sizes == {}


def test_argument_size_outside_the_file_is_none() -> None:
    builder = m0().section(ARG_SIZE_SECTION, bytes(4), offset=1 << 40)
    builder.symbol("k_0__", OBJECT, Binding.WEAK, section=ARG_SIZE_SECTION, size=4)
    assert symbols(builder).arg_sizes == {}


def test_name_is_bytes_of_any_kind() -> None:
    """HAZ-18."""
    builder = m0()
    builder.symbol("\udcff[red]\x1b")
    assert names(symbols(builder)) == ["k_0", "\udcff[red]\x1b"]


def test_an_empty_layout_is_enough() -> None:
    """Nothing here depends on the sections the walk knows by name."""
    elf = open_elf(memoryview(m0().build()))
    assert read_symbols(elf, Layout()).kernels == [KernelSymbol("k_0", 0, 32)]
