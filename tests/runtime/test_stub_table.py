"""The stub table against a dict and against the recorded answers. Spec 02, section 8."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import CpuFunction, CpuKernelType, Kernel, cpu_kernel
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.program import PlainProgram, register
from cannkit.runtime.program_base import Flow
from cannkit.runtime.stub_table import GROWTH, Removal, StubTable, kernel_names
from tests.facts import rows
from tests.runtime.programs import Function, object_of
from tests.runtime.stub_tables import SOC, DictTable, Op, OurTable


def _kernel(name: str) -> Kernel:
    return cpu_kernel(CpuFunction(name, "", "", CpuKernelType.AICPU))


def _pooled(pool: ProgramPool, flow: Flow = Flow.STUBS) -> PlainProgram:
    program = PlainProgram(SOC, flow)
    pool.add(program)
    return program


def test_worked_example() -> None:
    """WE-13; QK-8: the stub name goes with its program."""
    pool = ProgramPool()
    table, program = StubTable(pool), _pooled(pool)
    for stub in (0x30, 0x10, 0x20):
        table.add(program, _kernel("k"), stub, f"s{stub:x}")
    assert [entry.stub for entry in table] == [0x10, 0x20, 0x30]
    with pytest.raises(RtError, match=r"stub is taken \(0x20\): kernel k") as caught:
        table.add(program, _kernel("other"), 0x20, "s")
    assert (caught.value.rt, caught.value.acl) == (RtStatus.KERNEL_DUPLICATE, 507028)
    assert table.stub_of("s20") == 0x20
    table.remove_all(program)
    assert (len(table), table.stub_of("s20"), table.lookup(0x20)) == (0, None, None)


def test_lookup_takes_a_reference() -> None:
    """STB-3: only of a program of the old flow that lives."""
    pool = ProgramPool()
    table, old, new = StubTable(pool), _pooled(pool), _pooled(pool, Flow.NEW)
    mine = table.add(old, _kernel("k"), 1, "one", "info")
    table.add(new, _kernel("k"), 2, "two")
    assert table.lookup(1) is table.lookup_info("info") is mine
    assert pool.references(old.id) == 3
    assert table.lookup(2) is table.lookup_info("") is table.lookup(3) is None
    assert table.find(2) is not None
    pool.remove(old.id)
    assert table.lookup(1) is None


def test_removal_tells_what_the_original_does() -> None:
    """STB-5, QK-8."""
    pool = ProgramPool()
    table, first, second = StubTable(pool), _pooled(pool), _pooled(pool)
    a = table.add(first, _kernel("k"), 1, "stale", "shared")
    b = table.add(first, _kernel("m"), 2, "m")
    table.add(second, _kernel("x"), 3, "k", "shared")
    gone = table.remove_all(first)
    assert gone == Removal((a, b), ("m", "stale"), ("",), ("stale",), ("k",), ("shared",))
    assert (table.names(), table.infos()) == ({"k": 3}, ("shared",))
    assert table.remove_all(first) == Removal()


def test_growth() -> None:
    """STB-1: 2048 elements, and 2048 more each time they are full."""
    pool = ProgramPool()
    table, program = StubTable(pool), _pooled(pool)
    assert table.capacity == 0
    capacities = []
    for stub in range(2 * GROWTH + 1, 0, -1):
        table.add(program, _kernel("k"), stub, "s")
        capacities.append(table.capacity)
    assert [capacities[at] for at in (0, 2047, 2048, 4095, 4096)] == [2048, 2048, 4096, 4096, 6144]
    assert [entry.stub for entry in table] == list(range(1, 2 * GROWTH + 2))
    table.remove_all(program)
    assert (len(table), table.capacity) == (0, 6144)


def test_kernel_names() -> None:
    """MOD-2, REG-14: as registered, without the second half of a mix."""
    table = StubTable(ProgramPool())
    obj = object_of(
        Function("b_1", offset=0x100), Function("a_mix_aiv", 4), Function("a_mix_aic", 4, 0x40)
    )
    assert kernel_names(register(obj), table) == b"b_1\0a_mix_aiv\0"
    assert kernel_names(register(obj, Flow.STUBS), table) == b""


@pytest.mark.parametrize("row", rows("stubtable"), ids=lambda row: row["id"])
def test_recorded(row: dict[str, Any]) -> None:
    """The dict table answers as the original, exactly; ours as the dict table with QK-8 in it."""
    original = DictTable(row["programs"], by_owner=False)
    by_owner = DictTable(row["programs"], by_owner=True)
    ours = OurTable(row["programs"])
    assert [original.ask(op) for op in row["ops"]] == row["out"]
    assert original.final() == row["final"]
    assert [ours.ask(op) for op in row["ops"]] == [by_owner.ask(op) for op in row["ops"]]
    assert ours.final() == by_owner.final()


def test_recorded_rows_that_need_no_rule() -> None:
    """Most rows never meet QK-8; there our answers are those of the original."""
    same = 0
    for row in rows("stubtable"):
        ours = OurTable(row["programs"])
        same += [ours.ask(op) for op in row["ops"]] == row["out"] and ours.final() == row["final"]
    assert (same, len(rows("stubtable"))) == (22, 36)


TEXTS = st.sampled_from(["", "k", "s", "k_1", "\udcff"])
PROGRAMS = st.integers(0, 3)
STUBS = st.sampled_from([0, 1, 64, 1 << 63, (1 << 64) - 1])
OPS = st.one_of(
    st.tuples(st.just("add"), PROGRAMS, TEXTS, STUBS, TEXTS, st.none() | TEXTS).map(list),
    st.tuples(st.just("look"), STUBS).map(list),
    st.tuples(st.just("ext"), TEXTS).map(list),
    st.tuples(st.just("inv"), TEXTS).map(list),
    st.tuples(st.sampled_from(["put", "removeAll"]), PROGRAMS).map(list),
)


@given(st.lists(OPS, max_size=40))
def test_same_as_a_dict(ops: list[Op]) -> None:
    programs = ["old", "new", "nopool", "old"]
    model, ours = DictTable(programs, by_owner=True), OurTable(programs)
    for op in ops:
        assert ours.ask(op) == model.ask(op)
    assert ours.final() == model.final()


def test_threads() -> None:
    """Adding, asking and removing at once: no stub is lost, none is left."""
    pool = ProgramPool()
    table = StubTable(pool)

    def work(number: int) -> int:
        kept = 0
        for at in range(50):
            program = _pooled(pool)
            for stub in range(4):
                table.add(program, _kernel("k"), (at * 8 + number) * 4 + stub, f"{number}")
            kept += sum(table.lookup((at * 8 + number) * 4 + stub) is not None for stub in range(4))
            assert len(table.remove_all(program).entries) == 4
        return kept

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(work, range(8))) == 8 * 50 * 4
    assert (len(table), table.names(), table.infos()) == (0, {}, ())
