"""The program pool: ids, references, the round. Spec 02, section 9."""

from __future__ import annotations

from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.pool import CAPACITY, ProgramPool
from cannkit.runtime.program import PlainProgram
from cannkit.runtime.program_base import NO_ID, Flow
from cannkit.soc import find_soc
from tests.facts import A2_SOC

SOC = find_soc(A2_SOC)


def _program(flow: Flow = Flow.NEW) -> PlainProgram:
    return PlainProgram(SOC, flow)


def test_ids_go_round() -> None:
    """WE-14; QK-20: a slot of the old flow is free again, too."""
    pool = ProgramPool(3)
    a, b, c = _program(), _program(Flow.OLD), _program()
    assert [pool.add(program) for program in (a, b, c)] == [0, 1, 2]
    with pytest.raises(RtError, match="all 3 ids are in use") as caught:
        pool.add(_program())
    assert (caught.value.rt, caught.value.acl) == (RtStatus.PROGRAM_USEOUT, 507032)
    assert pool.remove(1) is b
    assert pool.add(_program()) == 1
    assert pool.remove(0) is a
    assert pool.add(_program()) == 0  # the cursor is at 2, which is in use
    assert (a.id, b.id, c.id) == (NO_ID, NO_ID, 2)
    assert ProgramPool().capacity == CAPACITY == 480_000


def test_references() -> None:
    """POL-3."""
    pool, program = ProgramPool(), _program(Flow.OLD)
    pool.add(program)
    assert pool.get(0) is program
    assert pool.references(0) == 2
    assert pool.put(0) is None
    assert pool.put(0) is program  # the last one
    assert (pool.references(0), pool.get(0), pool.put(0), pool.remove(0)) == (0, None, None, None)
    assert pool.add(program) == 1


def test_the_new_flow_has_no_references() -> None:
    """POL-5."""
    pool = ProgramPool()
    pool.add(_program())
    assert (pool.get(0), pool.put(0), pool.references(0)) == (None, None, 1)


@given(st.lists(st.tuples(st.sampled_from("agprx"), st.integers(0, 4)), max_size=60))
def test_any_sequence(steps: list[tuple[str, int]]) -> None:
    """Against a plain array of counts, as POL-2 and POL-3 have it."""
    pool, counts, cursor = ProgramPool(4), [0] * 5, 0
    for step, at in steps:
        if step == "a":
            free = [(cursor + i) % 4 for i in range(4) if not counts[(cursor + i) % 4]]
            if free:
                assert pool.add(_program(Flow.OLD)) == free[0]
                counts[free[0]], cursor = 1, (free[0] + 1) % 4
            else:
                with pytest.raises(RtError):
                    pool.add(_program(Flow.OLD))
        elif step == "g":
            assert (pool.get(at) is not None) == (counts[at] > 0)
            counts[at] += counts[at] > 0
        elif step == "p":
            assert (pool.put(at) is not None) == (counts[at] == 1)
            counts[at] -= counts[at] > 0
        else:
            assert (pool.remove(at) is not None) == (counts[at] > 0)
            counts[at] = 0
        assert [pool.references(at) for at in range(5)] == counts
        assert [program.id for program in pool.programs()] == [i for i in range(5) if counts[i]]
        assert len(pool) == sum(count > 0 for count in counts)


def test_threads_never_share_an_id() -> None:
    pool, seen = ProgramPool(), list[int]()

    def work() -> None:
        for _ in range(200):
            program = _program(Flow.OLD)
            at = pool.add(program)
            seen.append(at)
            assert pool.get(at) is program
            pool.put(at)
            if at % 3:
                pool.remove(at)

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1600))
    assert [program.id for program in pool.programs()] == list(range(0, 1600, 3))
