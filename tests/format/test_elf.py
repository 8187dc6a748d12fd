"""Header, sections and symbols: golden facts, refusals, and outside judges."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import lief
import pytest
from elftools.elf.elffile import ELFFile

from cannkit.errors import FormatError
from cannkit.format import elf_types as tables
from cannkit.format.elf import ElfObject, StringTable, open_elf
from cannkit.format.elf_types import (
    HEADER_STRUCT,
    PREFIX,
    SECTION_STRUCT,
    SYMBOL_STRUCT,
    ElfHeader,
    Section,
    SectionType,
    Symbol,
)
from tests.build import OBJECTS
from tests.facts import golden
from tests.shapes import m0

if TYPE_CHECKING:
    from pathlib import Path

STRUCTS: dict[str, tuple[Any, Any]] = {
    "header": (ElfHeader, HEADER_STRUCT),
    "section": (Section, SECTION_STRUCT),
    "symbol": (Symbol, SYMBOL_STRUCT),
}
BUILT = sorted(path for path in OBJECTS.iterdir() if path.suffix != ".json")


@pytest.mark.parametrize("name", STRUCTS)
@pytest.mark.parametrize("order", PREFIX)
def test_layouts_are_the_golden_ones(name: str, order: Any) -> None:
    """Each field alone sets the bytes that the golden fact names."""
    fact = golden("kernel_meta")["structs"][name]
    record, structs = STRUCTS[name]
    assert structs[order].size == fact["size"]
    assert list(fact["fields"]) == list(record._fields)
    blank = record._make([0] * len(record._fields))
    for field, (offset, width) in fact["fields"].items():
        value = int.from_bytes(bytes(range(1, width + 1)), order)
        raw = structs[order].pack(*blank._replace(**{field: value}))
        expected = bytes(offset) + bytes(range(1, width + 1))
        assert raw == expected.ljust(fact["size"], b"\0"), field


@pytest.mark.parametrize(
    "name", ["ElfType", "Machine", "SectionType", "Binding", "SymbolType", "Visibility"]
)
def test_enumerations_are_the_golden_ones(name: str) -> None:
    fact = golden("kernel_meta")["enums"][name]
    assert {member.name: member.value for member in getattr(tables, name)} == fact


def refusal(data: bytes) -> str | None:
    with pytest.raises(FormatError) as error:
        open_elf(memoryview(data))
    return error.value.rule


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ({"elf_class": 0}, "ELF-02"),
        ({"data_encoding": 3}, "ELF-01"),
        ({"shnum": 0}, "SEC-01"),
        ({"shentsize": 0}, "SEC-01"),
        ({"shentsize": 40}, "SEC-02"),
        ({"shentsize": 65}, "SEC-02"),
        ({"shnum": 0xFFFF}, "SEC-03"),
        ({"shoff": (1 << 64) - 320}, "SEC-03"),
        ({"shstrndx": 5}, "HAZ-04"),
    ],
)
def test_header_is_refused(header: dict[str, int], rule: str) -> None:
    assert refusal(m0(**header).build()) == rule


def test_each_link_must_name_a_section() -> None:
    """SEC-04, HAZ-04: the original lets sh_link == e_shnum (5 here) pass."""
    assert refusal(m0().lie(".text", link=6).build()) == "SEC-04"
    assert refusal(m0().lie(".text", link=5).build()) == "SEC-04"
    assert open_elf(memoryview(m0().lie(".text", link=4).build())).header.shnum == 5


@pytest.mark.parametrize("lie", [{"offset": 1 << 40}, {"size": 1 << 40}])
def test_name_table_must_lie_in_the_file(lie: dict[str, int]) -> None:
    assert refusal(m0().lie(".shstrtab", **lie).build()) == "SEC-05"


def test_empty_name_table_names_nothing() -> None:
    """SEC-05: a name table of size 0 is looked at no further."""
    obj = open_elf(memoryview(m0().lie(".shstrtab", size=0, offset=64).build()))
    assert {obj.section_name(section) for section in obj.sections} == {""}


@pytest.mark.parametrize("size", [*range(64), 70, 200])
def test_cut_files_are_refused(size: int) -> None:
    assert refusal(m0().build()[:size]) in {"ELF-01", "SEC-03"}


def test_byte_order_0_is_little() -> None:
    """ELF-01."""
    obj = open_elf(memoryview(m0(data_encoding=0).build()))
    assert (obj.byte_order, obj.section_name(obj.sections[1])) == ("little", ".text")


def test_contents_must_lie_in_the_file() -> None:
    obj = open_elf(memoryview(m0().lie(".text", size=1 << 33).build()))
    with pytest.raises(FormatError) as error:
        obj.contents(obj.sections[1])
    assert error.value.rule == "HAZ-06"
    assert ".text" in str(error.value)


def test_names_end_at_their_nul_or_with_the_table() -> None:
    table = StringTable(b"\0abc\0\xff\xfe")
    assert table.at(1) == "abc"
    assert table.at(2, 1) == "b"
    assert table.at(5) == "\udcff\udcfe"  # HAZ-18
    assert table.at(7) == table.at(900) == ""


# Outside judges.


def sections_by_pyelftools(data: bytes) -> list[dict[str, Any]]:
    found = []
    for section in ELFFile(io.BytesIO(data)).iter_sections():
        fields = {name.removeprefix("sh_"): section[name] for name in section.header}
        del fields["name"], fields["type"]
        found.append({"name": section.name, **fields})
    return found


def sections_by_us(elf: ElfObject) -> list[dict[str, Any]]:
    found = []
    for section in elf.sections:
        fields = section._asdict()
        del fields["name_offset"], fields["type"]
        found.append({"name": elf.section_name(section), **fields})
    return found


def symbols_by_us(elf: ElfObject) -> list[Symbol]:
    (table,) = elf.symbol_tables
    return [Symbol._make(raw) for raw in elf.symbols(table, table.size // table.entsize)]


def judge_by_pyelftools(data: bytes) -> None:
    elf, judge = open_elf(memoryview(data)), ELFFile(io.BytesIO(data))
    for field in ("entry", "phoff", "shoff", "flags", "ehsize", "phentsize", "phnum", "shnum"):
        assert getattr(elf.header, field) == judge.header[f"e_{field}"], field
    if elf.header.machine not in tables.HOST_MACHINES:  # TLV-07: no name of theirs
        assert judge.header["e_machine"] == elf.header.machine
    assert sections_by_us(elf) == sections_by_pyelftools(data)
    table = elf.symbol_tables[0]
    strings = elf.strings(elf.sections[table.link])
    theirs: Any = judge.get_section_by_name(".symtab")
    for ours, symbol in zip(symbols_by_us(elf), theirs.iter_symbols(), strict=True):
        if ours.type != 3:  # they give a section symbol the section's name
            assert strings.at(ours.name_offset) == symbol.name
        assert (ours.value, ours.size) == (symbol["st_value"], symbol["st_size"])
        assert symbol["st_info"]["bind"] == f"STB_{tables.Binding(ours.binding).name}"
        assert symbol["st_info"]["type"] == f"STT_{tables.SymbolType(ours.type).name}"
        assert symbol["st_other"]["visibility"] == f"STV_{tables.Visibility(ours.visibility).name}"


def judge_by_lief(data: bytes) -> None:
    elf, judge = open_elf(memoryview(data)), lief.ELF.parse(list(data))
    assert judge is not None
    assert judge.header.processor_flag == elf.header.flags
    assert judge.header.numberof_sections == elf.header.shnum
    theirs = [
        (str(s.name), s.offset, s.size, s.virtual_address, s.alignment) for s in judge.sections
    ]
    ours = [(elf.section_name(s), s.offset, s.size, s.addr, s.addralign) for s in elf.sections]
    assert theirs == ours
    values = [(symbol.value, symbol.size) for symbol in judge.symtab_symbols]
    assert values == [(symbol.value, symbol.size) for symbol in symbols_by_us(elf)]


def judge_by_readelf(path: Path) -> None:
    """`readelf -SW` and `-sW`, told apart by their columns."""
    readelf = shutil.which("readelf")
    if readelf is None:
        assert not os.environ.get("CI"), "CI must have binutils"
        pytest.skip("no readelf")
    # no -h or -a: it takes meta sections for notes and warns
    shown = subprocess.run(
        [readelf, "-SsW", str(path)], capture_output=True, text=True, check=True
    ).stdout
    elf = open_elf(memoryview(path.read_bytes()))
    pattern = r"^ +\[ *(\d+)\] (\S*) +(\S+) +([0-9a-f]{16}) ([0-9a-f]{6,}) ([0-9a-f]{6,}) (\w\w)"
    rows = re.findall(pattern, shown, re.MULTILINE)
    ours = [(elf.section_name(s), s.addr, s.offset, s.size, s.entsize) for s in elf.sections]
    theirs = [(row[1], *(int(number, 16) for number in row[3:])) for row in rows]
    assert theirs == ours
    pattern = r"^ +\d+: ([0-9a-f]{16}) +(\d+|0x[0-9a-f]+) (\w+) +(\w+) +(\w+) "
    symbols = re.findall(pattern, shown, re.MULTILINE)
    assert [(int(value, 16), int(size, 0)) for value, size, *_ in symbols] == [
        (symbol.value, symbol.size) for symbol in symbols_by_us(elf)
    ]


@pytest.mark.parametrize("path", BUILT, ids=lambda path: path.name)
class TestOutsideJudgesOfFixtures:
    def test_pyelftools(self, path: Path) -> None:
        judge_by_pyelftools(path.read_bytes())

    def test_lief(self, path: Path) -> None:
        judge_by_lief(path.read_bytes())

    def test_readelf(self, path: Path) -> None:
        judge_by_readelf(path)


@pytest.mark.corpus
class TestOutsideJudgesOfRealObjects:
    def test_pyelftools(self, corpus: Path) -> None:
        for path in sorted(corpus.rglob("*.o")):
            judge_by_pyelftools(path.read_bytes())

    def test_lief(self, corpus: Path) -> None:
        for path in sorted(corpus.rglob("*.o"))[::7]:
            judge_by_lief(path.read_bytes())

    def test_readelf(self, corpus: Path) -> None:
        for path in sorted(corpus.rglob("*.o"))[::7]:
            judge_by_readelf(path)


def test_section_types_of_a_fixture() -> None:
    """NOBITS, NOTE, RELA: what the section table says stays what it is."""
    elf = open_elf(memoryview((OBJECTS / "AddCustom.o").read_bytes()))
    kinds = {elf.section_name(s): s.type for s in elf.sections}
    assert kinds[".ascend.meta.AddCustom_0"] == SectionType.NOTE
    assert kinds[".bl_uninit"] == SectionType.NOBITS
    assert kinds[".rela.text"] == SectionType.RELA
