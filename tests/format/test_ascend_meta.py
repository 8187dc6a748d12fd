"""The tables of `.ascend.meta` against the golden facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cannkit.format import ascend_meta
from cannkit.format.ascend_meta import (
    BINARY_META,
    DEBUG_OPTIONS,
    FUNCTION_META,
    IMPLICIT_SYMBOLS,
    LAST_IMPLICIT_FEATURE,
    STACK_SIZES,
    STACK_VERSION_MAGIC,
    STACK_VERSION_SIZES,
    BinaryMeta,
    FunctionMeta,
    ImplicitFeature,
)
from cannkit.format.elf_types import PREFIX
from cannkit.format.tlv import Entry, UintEntry
from tests.facts import golden

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cannkit.format.bits import OpenEnum
    from cannkit.format.elf_types import ByteOrder

FACTS = golden("kernel_meta")
TABLES: dict[str, tuple[type[OpenEnum], Mapping[int, Entry]]] = {
    "binary_tlvs": (BinaryMeta, BINARY_META),
    "function_tlvs": (FunctionMeta, FUNCTION_META),
}
ENTRIES = [
    pytest.param(table, int(kind), fact, id=fact["name"])
    for table in TABLES
    for kind, fact in FACTS[table].items()
]


@pytest.mark.parametrize("table", TABLES)
def test_types_are_the_golden_ones(table: str) -> None:
    names, entries = TABLES[table]
    facts = FACTS[table]
    assert {member.value: member.name for member in names} == {
        int(kind): fact["name"] for kind, fact in facts.items()
    }
    nested = {FunctionMeta.DFX_TYPE, FunctionMeta.DFX_ARG_INFO} if names is FunctionMeta else set()
    assert set(entries) == set(names) - nested


@pytest.mark.parametrize(("table", "kind", "fact"), ENTRIES)
@pytest.mark.parametrize("order", PREFIX)
def test_values_lie_where_the_golden_facts_say(
    table: str, kind: int, fact: Any, order: ByteOrder
) -> None:
    """Each field alone sets its bytes, and these bytes alone set the field."""
    if fact["length"] is None:  # DFX: no fixed value
        assert kind not in TABLES[table][1]
        return
    entry = TABLES[table][1][kind]
    assert entry.size == fact["length"]
    assert list(entry.fields) == list(fact["fields"])
    for name, (offset, width) in fact["fields"].items():
        digits = bytes(range(1, width + 1))
        value = int.from_bytes(digits, order)
        raw = (bytes(offset) + digits).ljust(entry.size, b"\0")
        assert entry.encode(order, **{name: value}) == raw
        others = dict.fromkeys(fact["fields"], 0)
        assert entry.decode(raw, order) == others | {name: value}


def test_integers_of_record_width_are_the_golden_ones() -> None:
    wide = {FunctionMeta(t).name for t, e in FUNCTION_META.items() if isinstance(e, UintEntry)}
    assert wide == set(FACTS["integers_of_record_width"])


@pytest.mark.parametrize("name", ["FuncType", "VfType", "EntryFlag", "ImplicitFeature"])
def test_enumerations_are_the_golden_ones(name: str) -> None:
    members = getattr(ascend_meta, name)
    assert {member.name: member.value for member in members} == FACTS["enums"][name]


def test_section_names_are_the_golden_ones() -> None:
    names = FACTS["sections"]
    assert {name: getattr(ascend_meta, name) for name in names} == names
    assert len(ascend_meta.FUNCTION_SECTION) == 13  # FUN-01


def test_implicit_symbols_are_the_golden_ones() -> None:
    """SYM-16: by name, the bits of ascendMetaFlag that make the runtime write there."""
    assert FACTS["implicit_symbols"] == IMPLICIT_SYMBOLS
    assert [feature.mask for feature in ImplicitFeature] == [1, 2, 4, 8, 16]  # BIN-02
    assert LAST_IMPLICIT_FEATURE == 32


def test_stack_and_debug_numbers_are_the_golden_ones() -> None:
    stack = FACTS["stack"]
    assert list(STACK_SIZES) == stack["sizes"]
    assert stack["version_magic"] == STACK_VERSION_MAGIC
    assert {str(k): v for k, v in STACK_VERSION_SIZES.items()} == stack["version_sizes"]
    assert FACTS["debug_options"] == DEBUG_OPTIONS
