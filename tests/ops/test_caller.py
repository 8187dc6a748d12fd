"""Callers by way of the runner: how memory of an argument gets there, and who is asked. Spec 05, AE-704."""

from __future__ import annotations

import mmap
from typing import Final

import pytest

from cannkit.ae.caller import CallEndedError, Caller, Signature
from cannkit.ae.callers import TableCaller
from cannkit.ae.event import Argument, Segment
from cannkit.errors import CannkitError
from cannkit.inputs.rooted import RootedFiles
from cannkit.ops.caller import RoutedCaller, RunnerCaller, spans_of
from cannkit.ops.runner import Emulate
from tests.ops.library import ENV, library

PAGE: Final = mmap.PAGESIZE
BASE: Final = 0x12_4000_0000


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", ENV["XDG_CACHE_HOME"])


def argument(*segments: tuple[int, bytes, bool]) -> Argument:
    return Argument(BASE, tuple(Segment(BASE + at, data, ok) for at, data, ok in segments))


def test_memory_that_shares_a_page_is_one_region() -> None:
    spans = spans_of(argument((PAGE, b"c", True), (0, b"ab", False), (8, b"d", False)))
    assert [(span.start - BASE, span.stop - BASE) for span in spans] == [(0, 9), (PAGE, PAGE + 1)]
    first, second = (span.region() for span in spans)
    assert first.data is not None
    assert bytes(first.data[0:9]) == b"ab" + bytes(6) + b"d"
    assert (first.is_writable, second.is_writable) == (False, True)
    assert [number for number, _ in spans[0].parts] == [1, 2]


def test_nothing_is_no_memory() -> None:
    assert spans_of(argument((0, b"", True))) == []
    assert spans_of(Argument()) == []


def test_overlapping_memory() -> None:
    """A segment within another one: what both say counts once."""
    (span,) = spans_of(argument((0, b"abcd", True), (1, b"bc", True)))
    region = span.region()
    assert region.data is not None
    assert bytes(region.data[0:4]) == b"abcd"


@pytest.mark.parametrize("emulated", [False, True], ids=["native", "emulated"])
def test_a_call(emulated: bool) -> None:
    """RunCpuKernel of our library refuses a block that is too short with 1; it has no state."""
    path = library(emulated)
    emulate = Emulate.AUTO
    caller = RunnerCaller(RootedFiles("/"), emulate=emulate)
    opened = caller.open(path)
    assert opened.library is not None, opened.why
    found = caller.find(opened.library, "RunCpuKernel")
    assert found is not None
    assert caller.find_global("RunCpuKernel") is not None
    returned = caller.call(found.function, Signature.PARAM, argument((0, bytes(24), True)), (0, 1))
    assert (returned.code, returned.segments) == (1, (bytes(24),))
    wild = Argument(0x1000, ())
    with pytest.raises(CallEndedError) as caught:
        caller.call(found.function, Signature.PARAM, wild, (0, 1))
    assert caught.value.verdict.signal == 11
    assert caller.find(opened.library, "RunCpuKerne1") is None
    assert "RunCpuKernel" in caller.why_missing(opened.library, "RunCpuKerne1")
    caller.close(opened.library)
    assert caller.find_global("RunCpuKernel") is None


def test_what_does_not_open(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("files")
    (folder / "text.so").write_text("no library")
    caller = RunnerCaller(RootedFiles("/"))
    opened = caller.open(str(folder / "text.so"))
    assert (opened.library, bool(opened.why)) == (None, True)
    gone = caller.open(str(folder / "gone.so"))
    assert gone.library is None
    native = caller.open(library(False))
    assert native.library is None  # only AArch64 is emulated
    assert "only AArch64 is emulated" in native.why
    wrong = RunnerCaller(RootedFiles("/"), str(folder)).open(library(True))
    assert wrong.library is None
    assert "has no lib/ld-linux-aarch64.so.1" in wrong.why


def table(name: str, code: int) -> Caller:
    return TableCaller({(name, "Run"): lambda argument, block: code})


def test_routes() -> None:
    """A library for this machine goes to one caller, others to the other one."""
    here, other = library(False), library(True)
    names = [path.rpartition("/")[2] for path in (here, other)]
    caller = RoutedCaller(RootedFiles("/"), table(names[0], 1), table(names[1], 2))
    codes = []
    for path in (here, other):
        opened = caller.open(path)
        assert opened.library is not None, opened.why
        found = caller.find(opened.library, "Run")
        assert found is not None
        back = caller.call(found.function, Signature.PARAM, Argument(), (0, 1))
        assert back is not None
        codes.append(back.code)
        assert "no row" in caller.why_missing(opened.library, "Nothing")
    assert codes == [1, 2]
    assert caller.find_global("Run") is not None
    assert caller.find_global("Nothing") is None
    always = RoutedCaller(RootedFiles("/"), table(names[0], 1), table(names[0], 2), Emulate.ALWAYS)
    opened = always.open(here)
    assert opened.library is not None
    found = always.find_global("Run")
    assert found is not None
    back = always.call(found.function, Signature.PARAM, Argument(), (0, 1))
    assert back is not None
    assert back.code == 2
    always.close(opened.library)


def test_errors_are_ours() -> None:
    """What goes wrong on the way is told, never raised bare."""
    caller = RunnerCaller(RootedFiles("/"), emulate=Emulate.AUTO)
    opened = caller.open(library(False))
    assert opened.library is not None
    found = caller.find(opened.library, "RunCpuKernel")
    assert found is not None
    taken = Argument(1 << 63, (Segment(1 << 63, b"x"),))
    with pytest.raises(CannkitError):
        caller.call(found.function, Signature.PARAM, taken, (0, 1))
