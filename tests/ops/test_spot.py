"""Where foreign code was when it crashed or hung: told by name and line, here and under qemu. OPR-810."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Final

import pytest

from cannkit.ae.caller import Verdict
from cannkit.ae.host_end import Cause
from cannkit.format.elf_types import Machine
from cannkit.ops.job import Job, JobCall, Region
from cannkit.ops.runner import Outcome
from cannkit.ops.spot import Address, Spot, told
from tests.ops.calling import EMULATED, RUNNER
from tests.ops.library import SOURCES, library, toolchain

SOURCE: Final = "where.c"
FLAGS: Final = ("-g", "-pthread")
LINES: Final = {
    found[1]: number
    for number, text in enumerate((SOURCES / SOURCE).read_text("utf-8").splitlines(), 1)
    if (found := re.search(r"/\* (\w+) \*/", text))
}
FULL: Final = "its stack is full: a recursion without end, or local variables that are too large"
TRAP: Final = "a trap: __builtin_trap or an assertion of the compiler"


def run(word: str, emulated: bool, *flags: str, timeout: float = 20) -> Outcome:
    region = Region(memoryview(word.encode().ljust(16, b"\0")), 16)
    job = Job(
        library(emulated, SOURCE, *FLAGS, *flags), "RunCpuKernel", (region,), (), (JobCall(0),)
    )
    return RUNNER.run(job, emulate=emulated, timeout=timeout)


def end_of(outcome: Outcome) -> Verdict:
    verdict = outcome.verdict()
    assert verdict is not None
    return verdict


def spot_of(verdict: Verdict) -> str:
    (text,) = (each for each in verdict.hints if each.startswith("it was "))
    return text


def in_library(function: str, before: int = 0) -> str:
    """The pattern of a place in a function of the library: in its line that is marked, or so many before."""
    lines = "|".join(map(str, range(LINES[function] - before, LINES[function] + 1)))
    return rf"\d+-where\.so\+0x[0-9a-f]+ \({function}\+0x[0-9a-f]+\), where\.c:({lines})$"


def test_the_source_is_marked() -> None:
    assert len(LINES) == 14


@EMULATED
@pytest.mark.parametrize(
    ("word", "hints"),
    [("touch", ["it accessed address 0x0"]), ("wide", [FULL]), ("touch_aside", ["it accessed address 0x0"])],
)  # fmt: skip
def test_an_access(emulated: bool, word: str, hints: list[str]) -> None:
    end = end_of(run(word, emulated))
    assert end.what == "crashed in stage call with SIGSEGV"
    assert list(end.hints[:-1]) == hints
    assert re.match("it was at " + in_library(word.removesuffix("_aside")), end.hints[-1])


@EMULATED
@pytest.mark.parametrize("word", ["deep", "deep_aside"])
def test_a_stack_that_is_full(emulated: bool, word: str) -> None:
    """Of the main thread, and of another one that has a place for signals."""
    end = end_of(run(word, emulated))
    assert end.hints[0] == FULL
    assert re.match("it was at " + in_library("deep", before=4), end.hints[1])


@EMULATED
def test_a_stack_that_is_left_at_its_top(emulated: bool) -> None:
    """It is not full: bytes behind a variable were written until there was no more memory."""
    outcome = run("over", emulated)
    assert outcome.fault is not None
    assert end_of(outcome).hints[0] == f"it accessed address {outcome.fault.address:#x}"
    assert re.match("it was at " + in_library("over"), end_of(outcome).hints[1])


@EMULATED
def test_a_jump_to_nowhere(emulated: bool) -> None:
    end = end_of(run("jump", emulated))
    assert end.hints[0] == "it jumped to address 0x0"
    pattern = "it was at 0x0, where nothing is mapped, called from " + in_library("jump")
    assert re.match(pattern, end.hints[1])


@EMULATED
def test_a_jump_to_data(emulated: bool) -> None:
    end = end_of(run("jump_in", emulated))
    assert end.hints[0] == "it jumped to byte 0 of buffer 0, which is no code"
    text = end.hints[1].replace("(RunCpuKernel", "(jump_in")
    pattern = "it was at 0x[0-9a-f]+, in memory of no file, called from " + in_library("jump_in")
    assert re.match(pattern, text)


@EMULATED
@pytest.mark.parametrize(
    ("word", "number"), [("trap", signal.SIGILL), ("point", signal.SIGTRAP), ("give_up", signal.SIGABRT)]
)  # fmt: skip
def test_what_is_no_access(emulated: bool, word: str, number: signal.Signals) -> None:
    """si_addr is the instruction, or means nothing."""
    end = end_of(run(word, emulated))
    number = signal.SIGTRAP if (word, emulated) == ("trap", True) else number  # AArch64: brk
    assert end.what == f"crashed in stage call with {number.name}"
    assert not any("accessed" in each for each in end.hints)
    assert re.search(in_library(word), spot_of(end))
    assert (end.hints[-1] == TRAP) == (number is signal.SIGTRAP)


def test_a_division_by_zero() -> None:
    end = end_of(run("divide", False))
    assert end.what == "crashed in stage call with SIGFPE"
    assert not any("accessed" in each for each in end.hints)
    assert re.match("it was at " + in_library("divide"), spot_of(end))


def test_an_address_that_is_none() -> None:
    """x86-64 does not tell it: the kernel gives 0."""
    if toolchain().machine != Machine.EM_X86_64:
        pytest.skip("of x86-64")
    end = end_of(run("odd", False))
    what = "an address that no process has, or that is not aligned for the instruction"
    assert end.hints[0] == f"it accessed {what}"


@EMULATED
def test_the_caller_of_the_c_library(emulated: bool) -> None:
    """Unwound: what lies on the stack from older calls counts for nothing."""
    flags = ("-fno-builtin",)
    text = spot_of(end_of(run("fill", emulated, *flags)))
    assert re.match(r"it was in libc\.so\.6\+0x[0-9a-f]+( \(\S+\))?, called from ", text)
    assert re.search(in_library("fill"), text)


@EMULATED
def test_without_descriptors(emulated: bool) -> None:
    assert re.match("it was at " + in_library("touch"), spot_of(end_of(run("crowded", emulated))))


@EMULATED
def test_a_hang(emulated: bool) -> None:
    timeout = 2 if emulated else 0.4
    spin, wait = (run(word, emulated, timeout=timeout) for word in ("spin", "wait_long"))
    assert (spin.cause, spin.signal, spin.fault) == (Cause.TIMEOUT, signal.SIGTERM, None)
    assert re.match("it was at " + in_library("spin", before=2), spot_of(end_of(spin)))
    text = spot_of(end_of(wait))
    assert re.match(
        r"it was in libc\.so\.6\+0x[0-9a-f]+ \(pause\+0x[0-9a-f]+\), called from ", text
    )
    assert re.search(in_library("wait_long"), text)


@EMULATED
def test_a_hang_does_not_come_back(emulated: bool) -> None:
    """pause() of the C library as the function: the signal that asks for the place would end it."""
    timeout = 2 if emulated else 0.4
    job = Job(library(emulated, SOURCE, *FLAGS), "pause", calls=(JobCall(None),))
    outcome = RUNNER.run(job, emulate=emulated, timeout=timeout)
    assert outcome.cause is Cause.TIMEOUT
    assert [each.ret for each in outcome.calls] == [None]
    assert re.match(r"it was at libc\.so\.6\+0x[0-9a-f]+ \(pause\+0x", spot_of(end_of(outcome)))


@EMULATED
@pytest.mark.parametrize(("word", "number"), [("deaf", signal.SIGKILL), ("taken", signal.SIGTERM)])
def test_a_hang_that_does_not_answer(emulated: bool, word: str, number: signal.Signals) -> None:
    """Nothing is lost but the place."""
    timeout = 2 if emulated else 0.4
    outcome = run(word, emulated, timeout=timeout)
    assert (outcome.cause, outcome.signal) == (Cause.TIMEOUT, number)
    assert timeout <= outcome.seconds < timeout + 0.3
    assert end_of(outcome).what.startswith("timed out in stage call")
    assert not any(each.startswith("it was ") for each in end_of(outcome).hints)


@EMULATED
def test_without_symbols_and_lines(emulated: bool) -> None:
    """Stripped: exports are known, static functions are not."""
    region = Region(memoryview(b"touch".ljust(16, b"\0")), 16)
    job = Job(
        library(emulated, SOURCE, "-pthread", "-s"), "RunCpuKernel", (region,), (), (JobCall(0),)
    )
    text = spot_of(end_of(RUNNER.run(job, emulate=emulated)))
    assert re.match(r"it was at \d+-where\.so\+0x[0-9a-f]+$", text)


def test_places_that_files_do_not_tell(tmp_path: Path) -> None:
    """What comes from the process may be anything."""
    plain = tmp_path / "plain"
    plain.write_bytes(b"no library")
    odd = [
        (Address(0x1234, 0x1000, 0x2000, str(plain)), "it was at plain, byte 0x2234 of the file"),
        (Address(0x1234, 0x1000, 0, "/nowhere/x.so"), "it was at x.so, byte 0x234 of the file"),
        (Address(0x1234, 0x1000, 0, "/\ud800\n"), "it was at \ud800\n, byte 0x234 of the file"),
        (Address(0x1234, 0x1000, 0, "[vdso]"), "it was at 0x1234, in [vdso]"),
        (Address(0x1234, 0x1000, 0), "it was at 0x1234, in memory of no file"),
        (Address(1 << 63, (1 << 64) - 1, (1 << 64) - 1, str(plain)), "it was at plain, byte"),
        (Address(0x1234, 0, 0), "it was at 0x1234, where nothing is mapped"),
    ]
    for place, text in odd:
        said = told(Spot(place), str(plain))
        assert said is not None
        assert said.startswith(text)
    assert told(Spot(Address(0, 0, 0)), str(plain)) is None
    assert told(Spot(Address(8, 0, 0), is_known=False), str(plain)) == "it was at 0x8"
