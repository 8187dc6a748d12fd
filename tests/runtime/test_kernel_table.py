"""TilingKeyTable, search by PC, rows for the device. Spec 02, section 7."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.ascend_meta import FuncType
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_meta import EntryKind
from cannkit.runtime.kernel import AttrType, Kernel, MixType, Part
from cannkit.runtime.kernel_table import (
    PcAnswer,
    PcHit,
    TilingKeyTable,
    decode_rows,
    encode_rows,
    search_pc,
    tiling_rows,
)
from cannkit.runtime.program import ElfProgram, register
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.programs import Function, object_of

BASE: Final = 0x12C0_C000_0000
U64: Final = (1 << 64) - 1
KEYS = st.integers(0, 20) | st.integers(U64 - 2, U64)
KINDS = st.sampled_from(EntryKind)


def _kernel(name: str, key: int = 0, kind: EntryKind = EntryKind.TILING_KEY) -> Kernel:
    return Kernel(
        name, [name], AttrType.CUBE, MixType.NO_MIX, key, kind, FuncType.AIC, 2, Part(present=True)
    )


@given(st.lists(st.tuples(KEYS, KINDS), max_size=40), st.booleans())
def test_the_table_is_the_one_of_insertion(
    entries: list[tuple[int, EntryKind]], with_disabled: bool
) -> None:
    """TBL-1, REG-17: against the insertion one by one that the runtime does."""
    kernels = [_kernel(f"k{at:03}", key, kind) for at, (key, kind) in enumerate(entries)]
    table = TilingKeyTable.build(kernels, with_disabled=with_disabled)
    one_by_one: dict[int, Kernel] = {}
    for kernel in kernels:
        if with_disabled or kernel.entry_kind is not EntryKind.UNSUPPORTED:
            one_by_one.setdefault(kernel.tiling_key, kernel)
    assert list(table) == sorted(one_by_one.items())
    assert list(table.keys) == sorted(set(table.keys))
    assert len(table) + len(table.shadowed) + len(table.left_out) == len(kernels)
    for key in {key for key, _ in entries} | {0, 1, U64}:
        assert table.find(key) is one_by_one.get(key)


def test_first_name_wins_a_key() -> None:
    """WE-3."""
    program = register(object_of(*map(Function, ("b_5", "a_5", "c", "d"))))
    assert [kernel.name for kernel in program.kernels] == ["a_5", "b_5", "c", "d"]
    assert [(key, kernel.name) for key, kernel in program.table] == [(0, "c"), (5, "a_5")]
    assert [kernel.name for kernel in program.table.shadowed] == ["b_5", "d"]
    assert [warning.code for warning in program.warnings] == ["shadowed-key", "shadowed-key"]
    assert program.by_name("d").name == "d"


def addrmsnorm() -> ElfProgram:
    """Kernels 10, 20 and 11 of WE-9 (4), which WE-12 searches by PC."""
    layout = {10: (0x0, 6280), 20: (0x1888, 6212), 11: (0x4A88, 15028)}
    functions = (Function(f"k_{key}", 3, at, size) for key, (at, size) in layout.items())
    return register(object_of(*functions))


@pytest.mark.parametrize(
    ("pc", "exact", "original"),
    [
        (0x101887, "k_10", "k_10"),
        (0x101888, "k_20", "k_10"),  # the bound of the original is inclusive
        (0x101889, "k_20", "k_20"),
        (0xF800_0000_0010_4A88, "k_11", "k_11"),  # the top 5 bits do not count
        (0x0FFFFF, None, None),
        (0, None, None),
        (0x100000 + 0x4A88 + 15028, None, "k_11"),
    ],
)
def test_search_by_pc(pc: int, exact: str | None, original: str | None) -> None:
    """WE-12, TBL-4, QK-19."""
    found = addrmsnorm().by_pc(pc, 0x100000)
    assert (found.exact.kernel.name if found.exact else None) == exact
    assert (found.original.name if found.original else None) == original


def test_search_by_pc_finds_both_halves_and_what_has_no_entry() -> None:
    pair = Function("k_1_mix_aic", 4, 64, 32), Function("k_1_mix_aiv", 4, 0, 64)
    program = register(object_of(*pair, Function("l", 3, 96, 32, entry=-1)))
    kernel, hidden = program.kernels
    assert program.by_pc(BASE + 70, BASE) == PcAnswer(PcHit(kernel, 1, 6), kernel)
    assert program.by_pc(BASE + 5, BASE) == PcAnswer(PcHit(kernel, 2, 5), None)  # QK-6
    assert program.by_pc(BASE + 97, BASE) == PcAnswer(PcHit(hidden, 1, 1), None)


@given(st.integers(0, 200))
def test_an_exact_hit_is_an_original_one_or_a_neighbours_end(at: int) -> None:
    program = register(
        object_of(Function("k_1", 3, 0, 50), Function("k_2", 3, 50, 30), Function("k_3", 3, 90, 9))
    )
    exact, original = search_pc(at or 1, 0, program.kernels, program.table)
    if exact:
        assert original is exact.kernel or exact.offset == 0
        assert exact.kernel.part1.offset + exact.offset == (at or 1)


def test_narrow_rows() -> None:
    """WE-11, object (1)."""
    halves = (
        Function("_0_mix_aic", 4, 0, 2968, ratio=(1, 2)),
        Function("_0_mix_aiv", 4, 0xB98, 3168, ratio=(1, 2)),
    )
    rows = tiling_rows(register(object_of(*halves, soc=A2_SOC)).table, BASE)
    expected = "0000000000000000000000c0c0120000980b00c0c01200000200000003000000"
    assert encode_rows(rows, is_wide=False).hex() == expected


def test_wide_rows() -> None:
    """WE-11, object (5), rows 0 and 1."""
    functions = (
        Function("k_1", 3, 0, 2840, vf_type=2, ub_size=8192),
        Function("k_0", 3, 0x3100, 2656, vf_type=2, ub_size=8192),
    )
    rows = tiling_rows(register(object_of(*functions, soc=A5_SOC)).table, BASE)
    raw = encode_rows(rows, is_wide=True)
    assert raw.hex() == (
        "0000000000000000003100c0c0120000000000000000000002000000000000000020000002000000"
        "0100000000000000000000c0c0120000000000000000000002000000000000000020000002000000"
    )
    assert decode_rows(raw, is_wide=True) == rows


@given(st.lists(st.tuples(*[st.integers(0, U64)] * 3, *[st.integers(0, 255)] * 4), max_size=4))
def test_rows_read_back(values: list[tuple[int, ...]]) -> None:
    names = ("tiling_key", "pc1", "pc2", "task_ratio", "mix", "ub_size", "vf_type")
    for is_wide in (False, True):
        kept = names if is_wide else names[:5]
        rows = tuple(dict(zip(kept, row, strict=False)) for row in values)
        raw = encode_rows(rows, is_wide=is_wide)
        assert len(raw) == len(rows) * (40 if is_wide else 32)
        assert decode_rows(raw, is_wide=is_wide) == rows
        assert decode_rows(raw[:-1], is_wide=is_wide) == rows[:-1]


def test_a_row_without_a_second_slot_has_no_address_there() -> None:
    """QK-12: the row of a plain kernel behind that of a mix."""
    pair = Function("k_1_mix_aic", 4, 0, 32), Function("k_1_mix_aiv", 4, 32, 32)
    program = register(object_of(*pair, Function("k_2", 3, 64, 32)))
    assert [row["pc2"] for row in tiling_rows(program.table, BASE)] == [BASE + 32, 0]


def test_no_rows_without_entries() -> None:
    """TBL-5."""
    with pytest.raises(RtError, match="no tiling table") as caught:
        tiling_rows(register(object_of(Function("k_1", entry=-1))).table, BASE)
    assert (caught.value.rt, caught.value.acl) == (RtStatus.PROGRAM_SIZE, 507000)
