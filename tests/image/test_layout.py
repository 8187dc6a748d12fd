"""What the runtime takes from the section headers. Spec 01, sections 2.2, 8; see test_vectors too."""

from __future__ import annotations

import struct

import pytest

from cannkit.format.ascend_meta import (
    BINARY_SECTION,
    FUNCTION_SECTION,
    STACK_SECTION,
    BinaryMeta,
)
from cannkit.format.elf import open_elf
from cannkit.format.elf_types import SectionType
from cannkit.image.layout import Layout, read_layout
from cannkit.soc import find_soc
from tests.build import SHF_ALLOC, SHF_WRITE, ObjectBuilder
from tests.carriers import shared_object
from tests.facts import A2_SOC, A5_SOC
from tests.shapes import binary_tlv, m0

FEATURE = BinaryMeta.RUNTIME_IMPLICIT_INFO


def layout(builder: ObjectBuilder, soc: str = A2_SOC) -> Layout:
    return read_layout(open_elf(memoryview(builder.build())), find_soc(soc))


def rules(found: Layout) -> list[str]:
    return [refusal.rule for refusal in found.refusals]


def codes(found: Layout) -> list[str]:
    return [warning.code for warning in found.warnings]


def test_features_add_up_over_records_and_sections() -> None:
    """TLV-04: type 4 is the one that adds up, and so do its sections."""
    builder = m0().section(
        BINARY_SECTION, binary_tlv(FEATURE, feature=1) + binary_tlv(FEATURE, feature=5)
    )
    builder.section(BINARY_SECTION, binary_tlv(FEATURE, feature=2))
    found = layout(builder)
    assert found.implicit_flags == 0x13
    assert len(found.binary_meta) == 3


def test_padding_of_the_binary_section_is_no_version() -> None:
    """TLV-03: type 0 is BIN_VERSION there."""
    version = binary_tlv(BinaryMeta.BIN_VERSION, version=1)
    found = layout(m0().section(BINARY_SECTION, version + bytes(4) + version))
    assert [record.name for record in found.binary_meta] == [
        "BIN_VERSION",
        "PADDING",
        "BIN_VERSION",
    ]


@pytest.mark.parametrize("name", ["x.ascend.meta", ".ascend.metax", ".ASCEND.META"])
def test_binary_section_has_one_name(name: str) -> None:
    """SEC-08: the name is compared whole."""
    assert not layout(m0().section(name, binary_tlv(FEATURE, feature=1))).binary_meta


@pytest.mark.parametrize("name", [STACK_SECTION, f".rela{STACK_SECTION}", f"{STACK_SECTION}.x"])
def test_stack_section_is_found_by_part_of_its_name(name: str) -> None:
    """STK-03."""
    assert layout(m0().section(name, struct.pack("<Q", 16384))).stack_size == 16384


def test_last_valid_stack_section_wins() -> None:
    """STK-03."""
    builder = m0()
    for size in (32768, 16384, 5):
        builder.section(STACK_SECTION, struct.pack("<Q", size))
    found = layout(builder)
    assert found.stack_size == 16384
    assert codes(found) == ["stack-record"]


@pytest.mark.parametrize("kind", [SectionType.NOBITS, SectionType.STRTAB, SectionType.RELA, 0x7FFF])
def test_only_progbits_and_note_have_a_meaning_by_name(kind: int) -> None:
    """SEC-08."""
    builder = m0()
    for name in (".data", BINARY_SECTION, f"{FUNCTION_SECTION}k_0", STACK_SECTION):
        builder.section(name, struct.pack("<Q", 16384), kind)
    found = layout(builder)
    assert (found.writable_data, found.binary_meta, found.function_meta) == (False, [], {})
    assert found.stack_size == 0


def test_stack_in_the_version_is_of_some_chips() -> None:
    """STK-04."""
    assert layout(m0(version=0x5A5A0100)).stack_size == 16384
    assert layout(m0(version=0x5A5A0100), A5_SOC).stack_size == 0


@pytest.mark.parametrize("section", [BINARY_SECTION, STACK_SECTION])
def test_section_that_leaves_the_file_is_refused(section: str) -> None:
    """HAZ-06."""
    found = layout(m0().section(section, bytes(8), size=1 << 20))
    assert rules(found) == ["HAZ-06"]
    assert not found.refusals[0].rt


def test_section_name_outside_the_table_is_refused() -> None:
    """HAZ-04; at the table's end the name is empty."""
    size = len(b"\0.text\0.x\0.symtab\0.shstrtab\0.strtab\0")
    assert rules(layout(m0().section(".x", name_offset=size))) == []
    assert rules(layout(m0().section(".x", name_offset=size + 1))) == ["HAZ-04"]
    nobits = m0().section(".x", b"", SectionType.NOBITS, name_offset=size + 1)
    assert rules(layout(nobits)) == []


def test_image_starts_again_while_its_offset_is_0() -> None:
    """SEC-06 (a): 0 is the sentinel for "unset"."""
    builder = m0().section(".head", flags=SHF_ALLOC, at=0, size=16, index=0)
    found = layout(builder)
    assert (found.text_offset, found.text_size) == (64, 64)


def test_dynamic_outside_the_file_is_skipped() -> None:
    """SEC-10."""
    builder = shared_object([(14, 1)]).lie(".dynamic", offset=1 << 40)
    found = layout(builder)
    assert found.so_name is None
    assert "dynamic-extent" in codes(found)


def test_dynstr_outside_the_file_is_refused() -> None:
    """HAZ-08."""
    found = layout(shared_object([(14, 1)]).lie(".dynstr", offset=1 << 40))
    assert "HAZ-08" in rules(found)


@pytest.mark.parametrize(
    ("name", "kind"), [(".dynstr", SectionType.PROGBITS), (".dynstr2", SectionType.STRTAB)]
)
def test_dynstr_needs_name_and_type(name: str, kind: int) -> None:
    """SEC-07."""
    builder = m0().section(name, b"\0libk.so\0", kind)
    builder.section(".dynamic", struct.pack("<QQ", 14, 1), SectionType.DYNAMIC)
    assert layout(builder).so_name is None


def test_last_dynstr_wins() -> None:
    """SEC-07."""
    builder = shared_object([(14, 1)])
    builder.section(".dynstr", b"\0libz.so\0", SectionType.STRTAB)
    assert layout(builder).so_name == "libz.so"


def test_cut_dynamic_entry_is_not_read() -> None:
    """SEC-10: entries are read while a full one fits."""
    assert layout(shared_object([(1, 1), (14, 1)]).lie(".dynamic", size=31)).so_name is None


def test_writable_data() -> None:
    """SEC-08: `.data` counts whatever its size and flags."""
    assert layout(m0().section(".data", b"", flags=0)).writable_data
    assert not layout(m0().section(".data1", bytes(8), flags=SHF_ALLOC | SHF_WRITE)).writable_data
