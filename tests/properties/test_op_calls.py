"""Calls of operators by bytes that were damaged: refused before anything runs, or a result. Spec 07, Q-1 and Q-2."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import given as drawn
from hypothesis import strategies as st

from cannkit.errors import CannkitError
from cannkit.ops.call import Prepared
from cannkit.ops.op_args import OpArg, Role
from cannkit.ops.raw_call import prepare_raw
from tests.ops.calling import call, floats, given, session, wanted

PAIR = [given([2], floats(1, 2)), given([2], floats(3, 4))]
MADE = call("Add", [*PAIR, wanted([2])], is_dynamic=True)
DATA = [*PAIR, OpArg(Role.OUT)]
WORKED = 40


def damaged(raw: bytes, places: list[tuple[int, int]]) -> memoryview:
    """Bytes with others at some places."""
    changed = bytearray(raw)
    for at, value in places:
        changed[at % len(changed)] = value
    return memoryview(bytes(changed))


PLACES = st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 255)), max_size=3)


@drawn(PLACES, PLACES)
def test_damaged_bytes_are_told(block: list[tuple[int, int]], ext: list[tuple[int, int]]) -> None:
    try:
        found = prepare_raw(damaged(MADE.block, block), damaged(MADE.ext_raw, ext), DATA)
    except CannkitError:
        return
    assert len(found.tensors) == 3
    assert all(found.region_name(number) for number in range(len(found.regions)))


def calls_that_are_taken() -> Iterator[Prepared]:
    """Damaged calls that are not refused, the same in every run."""
    some = random.Random(6)
    while True:
        places = [(some.randrange(4096), some.randrange(256)) for _ in range(2)]
        try:
            yield prepare_raw(
                damaged(MADE.block, places[:1]), damaged(MADE.ext_raw, places[1:]), DATA
            )
        except CannkitError:
            continue


def test_what_is_not_refused_runs_to_a_result() -> None:
    source = calls_that_are_taken()
    calls = [next(source) for _ in range(WORKED)]
    results = list(session().run_many(calls))
    assert len(results) == WORKED
    assert all((each.returned is None) == (each.child is not None) for each in results)
    assert any(each.is_good for each in results)
    assert any(not each.is_good for each in results)
