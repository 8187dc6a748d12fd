"""CodeMap: which code an address lies in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.code_map import CodeMap, FunctionFacts, Functions

FACTS = FunctionFacts("k", is_vector=True)


def no_functions() -> Functions:
    return {}


def test_functions_are_read_once_and_only_when_asked_for() -> None:
    asked = []

    def functions() -> Functions:
        asked.append(1)
        return {0x1000: FACTS}

    codes = CodeMap()
    codes.publish(0x1000, 0x100, functions)
    code = codes.find(0x10FF)
    assert code is not None
    assert not asked
    assert code.functions.get(0x1000) == code.functions[0x1000] == FACTS
    assert len(asked) == 1


def test_borders() -> None:
    codes = CodeMap()
    codes.publish(0x1000, 0x100, no_functions)
    codes.publish(0x1100, 0x100, no_functions)
    found = [codes.find(pc) for pc in (0, 0xFFF, 0x1000, 0x10FF, 0x1100, 0x11FF, 0x1200, 1 << 64)]
    assert [code.base if code else None for code in found] == [
        None, None, 0x1000, 0x1000, 0x1100, 0x1100, None, None,
    ]  # fmt: skip


def test_code_comes_and_goes() -> None:
    codes = CodeMap()
    seen = {codes.changes}
    codes.publish(0x1000, 0x100, no_functions)
    seen.add(codes.changes)
    codes.publish(0x1000, 0x10, lambda: {0x1000: FACTS})
    seen.add(codes.changes)
    code = codes.find(0x1000)
    assert code is not None
    assert (code.size, code.functions) == (0x10, {0x1000: FACTS})
    assert codes.find(0x1010) is None
    codes.withdraw(0x1000)
    seen.add(codes.changes)
    codes.withdraw(0x1000)
    assert codes.find(0x1000) is None
    codes.publish(0x2000, 0x10, no_functions)
    codes.clear()
    assert codes.find(0x2000) is None
    assert len(seen) == 4


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=30), st.integers(0, 600))
def test_an_address_is_found_by_what_is_loaded(steps: list[tuple[int, bool]], pc: int) -> None:
    codes, loaded = CodeMap(), set[int]()
    for place, loads in steps:
        if loads:
            codes.publish(place * 10, 10, no_functions)
            loaded.add(place)
        else:
            codes.withdraw(place * 10)
            loaded.discard(place)
    code = codes.find(pc)
    assert (code.base if code else None) == (pc // 10 * 10 if pc // 10 in loaded else None)
