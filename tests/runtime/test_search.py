"""Looking kernels up over programs, and every reason for finding none. cli.md, section 4."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.ascend_meta import FuncType
from cannkit.runtime.kernel_table import PC_MASK
from cannkit.runtime.program import ElfProgram, PlainProgram, register
from cannkit.runtime.search import (
    ALL_KEYS,
    NEAREST,
    PAGE,
    Found,
    Query,
    by_low_bits,
    explain_miss,
    search,
)
from cannkit.soc import find_soc
from tests.facts import A2_SOC, read
from tests.runtime.programs import DISABLED, Function, builder

SIZE: Final = 0x3000  # of every image below
BASE: Final = 0x12C0_0000_0000
MIX: Final = FuncType.MIX_AIC_MAIN
TOO_LARGE: Final = "too large for an offset, and no kernel starts at an offset that ends in"
HINT: Final = "--base ADDR tells where the image begins"


def program(*functions: Function) -> ElfProgram:
    """A registered object with an image of SIZE bytes."""
    found = register(read(builder(*functions, code=SIZE).build()))
    assert found.load_size == SIZE
    return found


def plain() -> PlainProgram:
    """An AI CPU program with one function."""
    found = PlainProgram(find_soc(A2_SOC))
    found.enter([found.make_function("RunCpuKernel", "Add")])
    return found


def pair(key: int = 0, offset: int = 0) -> tuple[Function, Function]:
    """A mix pair: 0x80 bytes of cube code, then 0x40 of vector code."""
    return (
        Function(f"mm_{key}_mix_aic", MIX, offset, 0x80, ratio=(1, 2)),
        Function(f"mm_{key}_mix_aiv", MIX, offset + 0x80, 0x40, ratio=(1, 2)),
    )


def only(found: tuple[Found, ...]) -> Found:
    (one,) = found
    return one


def reason(query: Query, *functions: Function) -> str:
    return explain_miss([program(*functions)], query).reason


# Hits


def test_name() -> None:
    """TBL-3: the whole stripped name, the first half of a pair."""
    found = only(search(program(*pair(), Function("add_7")), Query(name="mm_0")))
    assert found.kernel.name == "mm_0"
    assert found.part is found.kernel.part1
    assert (found.pc_offset, found.base) == (None, None)
    assert search(found.program, Query(name="mm_0_mix_aic")) == ()


def test_name_of_an_ai_cpu_program() -> None:
    assert only(search(plain(), Query(name="Add"))).kernel.name == "Add"
    assert search(plain(), Query(name="Sub")) == ()


def test_entry() -> None:
    """TBL-2: tiling keys and function entries alike; 0 is a key like any other."""
    made = program(Function("a_0"), Function("b_9", entry=(1 << 64) - 1), Function("c_3"))
    for key, name in {0: "a_0", 3: "c_3", (1 << 64) - 1: "b_9"}.items():
        assert only(search(made, Query(entry=key))).kernel.name == name
    assert search(made, Query(entry=9)) == ()


def test_ai_cpu_programs_have_neither_entries_nor_addresses() -> None:
    assert search(plain(), Query(entry=0)) == search(plain(), Query(pc=0)) == ()


def test_small_address_is_an_offset() -> None:
    """cli.md: taken as an offset into the image when it is small enough; the end is outside."""
    made = program(Function("a_0", offset=0, length=0x20), *pair(1, 0x100))
    for pc, name, slot, offset in (
        (0, "a_0", 1, 0),
        (0x1F, "a_0", 1, 0x1F),
        (0x100, "mm_1", 1, 0),
        (0x17F, "mm_1", 1, 0x7F),
        (0x180, "mm_1", 2, 0),
        (0x1BF, "mm_1", 2, 0x3F),
    ):
        found = only(search(made, Query(pc=pc)))
        part = found.kernel.part1 if slot == 1 else found.kernel.part2
        assert (found.kernel.name, found.pc_offset, found.base) == (name, offset, None), hex(pc)
        assert found.part is part
        assert not by_low_bits(Query(pc=pc), found)
    for pc in (0x20, 0xFF, 0x1C0, SIZE - 1):
        assert search(made, Query(pc=pc)) == ()


def test_address_with_a_base() -> None:
    """TBL-4: the distance from the base, small or not; the top 5 bits do not count."""
    made = program(Function("a_0", offset=0x40, length=0x20))
    for pc in (BASE + 0x45, BASE + 0x45 | 0xF8 << 56):
        query = Query(pc=pc, base=BASE)
        found = only(search(made, query))
        assert (found.pc_offset, found.base) == (5, BASE)
        assert not by_low_bits(query, found)
    assert only(search(made, Query(pc=0x1045, base=0x1000))).pc_offset == 5
    for pc in (0x45, BASE + 0x3F, BASE + 0x60, BASE - 1, 0):
        assert search(made, Query(pc=pc, base=BASE)) == ()


def test_large_address_without_a_base() -> None:
    """DIAG-80: a logged `pc start` has the low 12 bits of the offset; all that fit are hits."""
    made = program(
        Function("a_0", offset=0x040, length=0x20),
        Function("b_1", offset=0x1040, length=0x20),
        *pair(2, 0x1FC0),  # its second half at 0x2040
        Function("c_3", offset=0x2100, length=0x20),
    )
    query = Query(pc=BASE + 0x7040)
    hits = search(made, query)
    told = [(h.kernel.name, h.part.offset, h.pc_offset, h.base) for h in hits]
    assert told == [
        ("a_0", 0x40, 0, BASE + 0x7000),
        ("b_1", 0x1040, 0, BASE + 0x6000),
        ("mm_2", 0x2040, 0, BASE + 0x5000),
    ]
    assert all(by_low_bits(query, hit) for hit in hits)
    assert search(made, Query(pc=BASE + 0x41)) == ()


def test_first_address_that_is_no_offset() -> None:
    made = program(Function("a_0", offset=0, length=SIZE))
    assert only(search(made, Query(pc=SIZE - 1))).base is None
    assert only(search(made, Query(pc=SIZE))).base == SIZE
    assert search(made, Query(pc=SIZE + 1)) == ()


@given(st.integers(0, (1 << 64) - 1), st.none() | st.integers(0, (1 << 60) - 1))
def test_any_address(pc: int, base: int | None) -> None:
    """A hit lies inside a half of a kernel, and is what the address says; a miss has a reason."""
    made = program(Function("a_0", offset=0x40, length=0x20), *pair(1, 0x1000))
    query = Query(pc=pc, base=base)
    hits = search(made, query)
    for hit in hits:
        assert hit.pc_offset is not None
        assert 0 <= hit.pc_offset < hit.part.length
        start = hit.base or 0
        assert start + hit.part.offset + hit.pc_offset == pc & PC_MASK
        assert by_low_bits(query, hit) == (base is None and pc & PC_MASK >= SIZE)
    assert hits or explain_miss([made], query).reason


# Misses


def test_nothing_to_search() -> None:
    for query in (Query(name="a"), Query(entry=0), Query(pc=0)):
        assert explain_miss([], query) == ((), "no binary could be searched")


def test_half_of_a_pair() -> None:
    """REG-5: the halves go by one name."""
    for half in ("mm_5_mix_aic", "mm_5_mix_aiv"):
        miss = explain_miss([program(*pair(5))], Query(name=half))
        told = "the runtime registers the halves of a mix pair as mm_5"
        assert miss == (("mm_5",), told)


def test_half_that_does_not_exist() -> None:
    made = program(Function("v_0_mix_aiv", FuncType.MIX_AIV_MAIN, ratio=(0, 1)))
    miss = explain_miss([made], Query(name="v_0_mix_aic"))
    assert miss == (("v_0",), "it exists as v_0_mix_aiv only, registered as v_0")


def test_name_without_its_key() -> None:
    miss = explain_miss([program(Function("add_0"), Function("add_12"))], Query(name="add"))
    told = "the name lacks its key: the runtime looks for the whole name, number included"
    assert miss == (("add_0", "add_12"), told)
    many = program(*(Function(f"add_{at}") for at in range(ALL_KEYS + 5)))
    assert len(explain_miss([many], Query(name="add")).nearest) == ALL_KEYS


def test_name_that_only_begins_alike() -> None:
    """What follows is no key."""
    miss = explain_miss([program(Function("add_custom"))], Query(name="add"))
    assert miss.reason == "none of 1 registered kernels has this name"


def test_wrong_case() -> None:
    miss = explain_miss([program(Function("Add_0"), Function("Sub_1"))], Query(name="add_0"))
    told = "only the case of letters differs: the runtime compares bytes"
    assert miss == (("Add_0",), told)


def test_similar_names() -> None:
    made = program(Function("SoftmaxCustom_0"), Function("Matmul_1"))
    miss = explain_miss([made], Query(name="SofmaxCustom_0"))
    assert miss == (("SoftmaxCustom_0",), "none of 2 registered kernels has this name")
    crowd = program(*(Function(f"SoftmaxCustom_{at}") for at in range(30)))
    assert len(explain_miss([crowd], Query(name="SofmaxCustom_0")).nearest) == NEAREST
    assert explain_miss([made], Query(name="zzz")).nearest == ()
    assert explain_miss([made], Query(name="")).nearest == ()


def test_entry_where_all_keys_are_zero() -> None:
    """As users report it: funcEntry=1168, and the binary knows no key."""
    miss = explain_miss([program(Function("a_0")), program(Function("b"))], Query(entry=1168))
    assert miss.nearest == ("0",)
    assert miss.reason == (
        "every kernel is registered under key 0 only: the host passed a real tiling key "
        "to a binary without any"
    )


def test_entry_that_is_disabled() -> None:
    """REG-17."""
    made = program(Function("a_0"), Function("b_5", entry=DISABLED))
    key = next(kernel for kernel in made.kernels if kernel.name == "b_5").tiling_key
    assert key not in made.table.keys or made.table.find(key) is not made.find_name("b_5")
    miss = explain_miss([program(Function("b_5", entry=DISABLED))], Query(entry=key))
    assert miss == ((), "b_5 has its entry disabled: it is found by name alone")


def test_entry_in_the_name_that_the_metadata_overrules() -> None:
    miss = explain_miss([program(Function("a_7", entry=70))], Query(entry=7))
    assert miss == (("70",), "a_7 ends in 7, but its metadata says entry 70")


def test_no_entries_at_all() -> None:
    miss = explain_miss([program(Function("b_5", entry=DISABLED))], Query(entry=77))
    assert miss == ((), "no kernel of these binaries has an entry")
    miss = explain_miss([plain()], Query(entry=0))
    assert miss == ((), "AI CPU programs have no entries: their kernels are found by name")


def test_few_keys_are_told_all_and_of_many_the_nearest() -> None:
    """cli.md: all when at most 20; over all programs, each once, by number."""
    few = [program(Function("a_30"), Function("a_4")), program(Function("b_4"), Function("b_9"))]
    miss = explain_miss(few, Query(entry=5))
    assert miss == (("4", "9", "30"), "none of 3 keys is 5: they go from 4 to 30")
    exactly = program(*(Function(f"k_{10 * at}") for at in range(ALL_KEYS)))
    assert len(explain_miss([exactly], Query(entry=5)).nearest) == ALL_KEYS
    many = program(*(Function(f"k_{10 * at}") for at in range(ALL_KEYS + 1)))
    miss = explain_miss([many], Query(entry=101))
    assert miss.nearest == ("80", "90", "100", "110", "120")
    assert miss.reason == "none of 21 keys is 101: they go from 0 to 200"


@pytest.mark.parametrize(
    ("pc", "base", "told"),
    [
        (0xA0, None, "offset 0xa0 is in no kernel: 0x40 bytes past a_0"),
        (0x30, None, "offset 0x30 is in no kernel"),
        (SIZE - 1, None, "offset 0x2fff is in no kernel: 0x1f3f bytes past mm_1"),
        (BASE + 0x10C0, BASE, "offset 0x10c0 is in no kernel: 0x0 bytes past mm_1"),
        (BASE + 0x30, BASE, "offset 0x30 is in no kernel"),
        (BASE - 0x10, BASE, "the address lies 0x10 bytes before the image"),
        (BASE + 0x10, None, f"{TOO_LARGE} 0x010: {HINT}"),
        (BASE + 0xABC | 0xF8 << 56, None, f"{TOO_LARGE} 0xabc: {HINT}"),
    ],
)
def test_address_in_no_kernel(pc: int, base: int | None, told: str) -> None:
    """The second half of a pair counts, too: it ends at 0x10c0."""
    functions = (Function("a_0", offset=0x40, length=0x20), *pair(1, 0x1000))
    assert reason(Query(pc=pc, base=base), *functions) == told


def test_address_of_no_kernel_names_the_one_before_it() -> None:
    made = program(Function("a_0", offset=0x40, length=0x20))
    assert explain_miss([made], Query(pc=0x60)).nearest == ("a_0",)
    assert explain_miss([made], Query(pc=0x20)).nearest == ()


def test_address_that_is_an_offset_of_one_program_only() -> None:
    small = register(read(builder(Function("s_0", offset=0, length=0x10), code=0x10).build()))
    large = program(Function("l_0", offset=0, length=0x20))
    assert explain_miss([small, large], Query(pc=0x28)).reason.startswith("offset 0x28 is in no")
    assert explain_miss([small], Query(pc=0x28)).reason.startswith("too large for an offset")
    assert PAGE == 0x1000


def test_long_names_are_cut_in_reasons() -> None:
    name = "k" * 4000
    made = program(Function(f"{name}_7", entry=70), Function(f"{name}_8", length=0x20))
    for query in (Query(entry=7), Query(pc=0x2000), Query(name=f"{name}_8_mix_aic")):
        assert len(explain_miss([made], query).reason) < 500
