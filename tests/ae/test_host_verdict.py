"""Verdicts on ends that a library of the tests does not bring about. AE-1206, Q-17."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from cannkit.ae import host_wire as wire
from cannkit.ae.caller import Signature, Stage
from cannkit.ae.event import NULL, Argument, Segment
from cannkit.ae.host_end import Cause, End
from cannkit.ae.host_verdict import Made, verdict_of

PAGE = os.sysconf("SC_PAGESIZE")
BASE = 0x1200_0000_0000
EXITED = End(Cause.ITSELF, Stage.CALL, 0, None, 0.25, "text")


def what(**fields: Any) -> str:
    return verdict_of(EXITED._replace(**fields), 10).what


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (signal.SIGBUS, "crashed in stage call with SIGBUS"),
        (signal.SIGRTMIN + 3, "ended in stage call by signal "),
        (signal.SIGUSR1, "ended in stage call by SIGUSR1"),
    ],
)
def test_signals(number: int, text: str) -> None:
    assert what(exit=None, signal=number).startswith(text)


def test_what_an_end_is_made_of() -> None:
    verdict = verdict_of(EXITED, 10)
    assert (verdict.exit, verdict.seconds, verdict.output) == (0, 0.25, "text")
    assert verdict.status is None


def test_undefined_symbols() -> None:
    """The text of the linker counts, else what was seen before."""
    output = "/x/python: symbol lookup error: /x/lib.so: undefined symbol: foo, version V1\n"
    end = EXITED._replace(exit=127, output=output)
    assert verdict_of(end, 10).what == "undefined symbol foo at call time (lazy binding)"
    in_load = end._replace(stage=Stage.LOAD)
    assert verdict_of(in_load, 10).what == "undefined symbol foo in stage load (lazy binding)"
    silent = end._replace(output="")
    assert verdict_of(silent, 10, unresolved=["a", "b"]).what.startswith("undefined symbol a, b ")
    assert verdict_of(silent, 10).what.startswith("the op terminated the process with code 127")


def test_memory() -> None:
    assert what(stage=Stage.DONE, exit=wire.NO_MEMORY) == "exceeded limit: memory (in stage done)"
    assert "with code 114" in what(exit=wire.NO_MEMORY)
    end = EXITED._replace(exit=None, signal=signal.SIGABRT, output="std::bad_alloc")
    assert "the memory limit was reached" in verdict_of(end, 10).hints[0]


def test_after_the_function_returned() -> None:
    end = EXITED._replace(stage=Stage.DONE, exit=None, signal=signal.SIGSEGV, returned=7)
    verdict = verdict_of(end, 10)
    assert verdict.what == "crashed in stage done with SIGSEGV"
    assert "the function returned 7 before" in verdict.hints
    assert not any("wrong signature" in hint for hint in verdict.hints)


def crash(number: int, made: Made | None = None, output: str = "") -> tuple[str, ...]:
    end = EXITED._replace(exit=None, signal=number, output=output)
    return verdict_of(end, 10, made).hints


def block_hint(argument: Argument) -> str:
    return crash(signal.SIGSEGV, Made(Signature.BLOCK, argument))[0]


def test_hints_of_a_bad_access() -> None:
    """AE-1206: the parameter block, and the signature where a second argument is not passed."""
    null, signature = crash(signal.SIGSEGV, Made(Signature.PARAM, NULL))
    assert null == "the parameter block is null"
    assert signature.startswith("wrong signature? only RunCpuKernelWithBlock")
    assert crash(signal.SIGSEGV, Made(Signature.BLOCK, NULL)) == (null,)
    block = Argument(BASE, (Segment(BASE, bytes(8)),))
    first, _ = crash(signal.SIGSEGV, Made(Signature.ADDRESS, block))
    assert first == signature


@pytest.mark.parametrize("segments", [(), (Segment(BASE, b""),), (Segment(BASE - PAGE, b"far"),)])
def test_a_block_without_bytes(segments: tuple[Segment, ...]) -> None:
    hint = "the parameter block has no bytes: each access to it faults"
    assert block_hint(Argument(BASE, segments)) == hint


def test_guard_pages_of_a_block() -> None:
    end = BASE + PAGE
    block = Segment(end - 24, bytes(20))
    hint = "the parameter block has 20 bytes: a guard page ends {} bytes before it, and one begins at {}"
    assert block_hint(Argument(end - 24, (block,))) == hint.format(PAGE - 24, "+0x18")
    apart = Segment(BASE - 8 * PAGE, bytes(8)), Segment(BASE + 8 * PAGE, bytes(8))
    argument = Argument(end - 24, (*apart, block))
    assert block_hint(argument) == hint.format(PAGE - 24, "+0x18")
    beside = Segment(end, bytes(8)), Segment(BASE - 1, bytes(1))
    argument = Argument(end - 24, (*beside, *apart, block))
    assert block_hint(argument) == hint.format(2 * PAGE - 24, f"+{PAGE + 24:#x}")


def test_constant_memory_of_a_call() -> None:
    constant = Segment(BASE + 8 * PAGE, bytes(8), is_writable=False)
    argument = Argument(BASE, (Segment(BASE, bytes(8)), constant))
    assert block_hint(argument).endswith("; a write to constant memory faults, too")


def test_hints_of_other_crashes() -> None:
    assert "division by zero" in crash(signal.SIGFPE)[0]
    assert "an instruction that this CPU does not have" in crash(signal.SIGILL)[0]
    assert "a mapped file" in crash(signal.SIGBUS)[0]
    assert crash(signal.SIGTRAP) == ("a trap: __builtin_trap or an assertion of the compiler",)
    (silent,), (loud,) = crash(signal.SIGABRT), crash(signal.SIGABRT, output="x: Assertion failed")
    assert silent == "abort() was called: assert, std::terminate, a corrupted heap"
    assert loud == f"{silent}; what it printed tells more"


def test_a_process_that_was_stopped() -> None:
    end = EXITED._replace(cause=Cause.STOPPED, stage=Stage.DONE, exit=None)
    verdict = verdict_of(end, 10)
    assert verdict.what == "the process was ended before"
    assert (verdict.exit, verdict.signal) == (None, None)
    assert not any("it left something behind" in hint for hint in verdict.hints)
