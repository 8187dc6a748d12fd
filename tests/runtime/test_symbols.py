"""Host symbols. Spec 02, section 11."""

from __future__ import annotations

import pytest

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.program import PlainProgram
from cannkit.runtime.symbols import FunctionSymbols, VariableSymbols
from cannkit.soc import find_soc
from tests.facts import A2_SOC
from tests.runtime.loading import Function, image_program


def test_functions() -> None:
    """SYM-2, API-6: the first registration of a symbol stays."""
    symbols = FunctionSymbols()
    program = image_program(64, Function("a_0"), Function("b_1", 8))
    other = image_program(64, Function("c_2"))
    first = symbols.register(program, 0x400, "a_0")
    assert first.kernel is program.by_name("a_0")
    assert symbols.register(other, 0x400, "c_2") is first
    assert symbols.find(0x400) is first
    symbols.drop(other)  # it owns none
    assert len(symbols) == 1
    with pytest.raises(RtError, match="no kernel of this name") as caught:
        symbols.register(program, 0x500, "nope")
    assert caught.value.acl == 107000


def test_functions_go_with_their_program() -> None:
    """QK-2."""
    symbols, program = FunctionSymbols(), image_program(64, Function("a_0"))
    symbols.register(program, 0x400, "a_0")
    symbols.drop(program)
    symbols.drop(program)
    with pytest.raises(RtError, match=r"for this host symbol \(0x400\)") as caught:
        symbols.find(0x400)
    assert (caught.value.rt, caught.value.acl) == (RtStatus.INVALID_DEVICE_FUNCTION, 107044)
    assert len(symbols) == 0


def test_variables() -> None:
    """SYM-1: the size is the caller's, the offset that of the image; QK-2."""
    symbols, program = VariableSymbols(), image_program(128, writable=True)
    found = symbols.register(program, 0x800, "g_opSystemRunCfg", 16, 1)
    assert found == (program, "g_opSystemRunCfg", 120, 16, 1)
    assert symbols.register(program, 0x800, "nope", 4) is found
    assert symbols.find(0x800) is found
    symbols.drop(program)
    with pytest.raises(RtError) as caught:
        symbols.find(0x800)
    assert (caught.value.rt, caught.value.acl) == (RtStatus.INVALID_SYMBOL, 107043)


def test_refused_variables() -> None:
    """SYM-1; a weak variable is not in the global map (ADDR-4)."""
    symbols, program = VariableSymbols(), image_program(128, writable=True)
    for name in ("nope", "g_weak"):
        with pytest.raises(RtError) as caught:
            symbols.register(program, 0x800, name, 8)
        assert caught.value.acl == 107042
    with pytest.raises(RtError, match="no kernel object") as caught:
        symbols.register(PlainProgram(find_soc(A2_SOC)), 0x800, "x", 8)
    assert caught.value.acl == 107000
    assert len(symbols) == 0
