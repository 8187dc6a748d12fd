"""What is encoded is decoded as it was."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cannkit.format.ascend_meta import BINARY_META, FUNCTION_META
from cannkit.format.dfx import encode_dfx, read_dfx
from cannkit.format.elf import read_header
from cannkit.format.elf_types import (
    HEADER_STRUCT,
    SECTION_STRUCT,
    SYMBOL_STRUCT,
    ByteOrder,
    ElfHeader,
    Section,
    Symbol,
)
from cannkit.format.tlv import HEAD, Entry, UintEntry, encode_tlv, walk
from tests.build import ObjectBuilder
from tests.facts import read

ORDERS = st.sampled_from(["little", "big"])
WIDTHS = {"H": 16, "I": 32, "Q": 64}
WORDS = {name: st.integers(0, (1 << width) - 1) for name, width in WIDTHS.items()}


def fields_of(entry: Entry) -> st.SearchStrategy[dict[str, int]]:
    """Values that fit: found by asking the entry itself for each width."""
    widths = {name: _width(entry, name) for name in entry.fields}
    return st.fixed_dictionaries({n: st.integers(0, (1 << w) - 1) for n, w in widths.items()})


def _width(entry: Entry, name: str) -> int:
    raw = entry.encode("little")
    full = entry.decode(b"\xff" * len(raw), "little")
    assert full is not None
    return int(full[name]).bit_length()


TABLES: list[tuple[str, Mapping[int, Entry]]] = [
    ("binary", BINARY_META),
    ("function", FUNCTION_META),
]


@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, id=f"{name}-{kind}") for name, table in TABLES for kind, e in table.items()],
)
@given(data=st.data(), order=ORDERS)
@settings(max_examples=25)
def test_tlv_entries(entry: Entry, data: st.DataObject, order: ByteOrder) -> None:
    values = data.draw(fields_of(entry))
    raw = entry.encode(order, **values)
    assert entry.fits(len(raw))
    assert entry.decode(raw, order) == values
    if not isinstance(entry, UintEntry):
        assert entry.decode(raw + b"\xff", order) == values


@given(st.lists(st.tuples(WORDS["H"], st.binary(max_size=20)), max_size=8), ORDERS)
def test_tlv_streams(records: list[tuple[int, bytes]], order: ByteOrder) -> None:
    raw = b"".join(encode_tlv(kind, value, order) for kind, value in records)
    found, taken = walk(memoryview(raw), order, 0)
    while records and not records[-1][1]:  # TLV-02: empty records at the end are not all read
        records = records[:-1]
    assert [(tlv.type, tlv.raw) for tlv in found][: len(records)] == records
    assert len(raw) - taken <= HEAD


RECORDS = st.lists(st.tuples(WORDS["H"], st.lists(WORDS["Q"], min_size=1, max_size=5).map(tuple)))


@given(RECORDS)
def test_dfx_records(records: list[tuple[int, tuple[int, ...]]]) -> None:
    found = read_dfx(encode_dfx(records))
    assert found.problem is None
    assert [(arg.type, arg.words) for arg in found.args] == records


HEADERS = st.builds(
    ElfHeader,
    st.just(2),
    st.sampled_from([1, 2]),
    *[WORDS["H"]] * 2,
    WORDS["I"],
    *[WORDS["Q"]] * 3,
    WORDS["I"],
    *[WORDS["H"]] * 6,
)


@given(HEADERS)
def test_headers(header: ElfHeader) -> None:
    raw = HEADER_STRUCT[header.byte_order].pack(*header)
    assert read_header(memoryview(b"\x7fELF" + raw[4:])) == header


@given(
    st.builds(Section, *[WORDS["I"]] * 2, *[WORDS["Q"]] * 4, *[WORDS["I"]] * 2, *[WORDS["Q"]] * 2),
    ORDERS,
)
def test_sections(section: Section, order: ByteOrder) -> None:
    layout = SECTION_STRUCT[order]
    assert Section._make(layout.unpack(layout.pack(*section))) == section


@given(
    st.builds(
        Symbol,
        WORDS["I"],
        *[st.integers(0, 255)] * 2,
        WORDS["H"],
        *[WORDS["Q"]] * 2,
    ),
    ORDERS,
)
def test_symbols(symbol: Symbol, order: ByteOrder) -> None:
    layout = SYMBOL_STRUCT[order]
    assert Symbol._make(layout.unpack(layout.pack(*symbol))) == symbol
    assert symbol.binding << 4 | symbol.type == symbol.info


@given(
    names=st.lists(st.text(min_size=1, max_size=12).filter(lambda s: "\0" not in s), unique=True),
    values=st.lists(WORDS["I"], min_size=12, max_size=12),
    order=ORDERS,
)
def test_built_kernels_are_read(names: list[str], values: list[int], order: ByteOrder) -> None:
    """What the builder writes is what the reader finds."""
    builder = ObjectBuilder(order).section(".text", bytes(8), flags=6)
    builder.symbol("first")
    wanted = list(zip(names, values, strict=False))
    for name, value in wanted:
        builder.symbol(name, value=value & 0x7FFF_FFFF, size=value >> 1)
    found = [(k.name, k.offset, k.length) for k in read(builder.build()).kernels][1:]
    assert found == [(name, value & 0x7FFF_FFFF, value >> 1) for name, value in wanted]
