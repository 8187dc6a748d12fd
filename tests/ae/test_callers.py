"""Callers that run no foreign code: tables, symbols, pretence. AE-1204, AE-1207."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cannkit.ae.caller import Caller, Found, Opened, Returned, Signature
from cannkit.ae.callers import DryCaller, PretendCaller, Table, TableCaller
from cannkit.ae.event import NULL, Argument, Segment
from cannkit.ae.host_caller import HostCaller
from cannkit.errors import UsageError
from tests.ae.library import Here, built

TABLE: Table = {
    ("libop.so", "seven"): lambda argument, block: 7,
    ("/opt/libop.so", "eight"): lambda argument, block: 8,
    ("libop.so", "which"): lambda argument, block: block[0] * 100 + block[1],
    ("libop.so", "minus"): lambda argument, block: -1,
    ("libother.so", "seven"): lambda argument, block: 77,
    ("libother.so", "nothing"): lambda argument, block: None,
    ("libother.so", "fails"): lambda argument, block: 1 // block[0],
}


def opened(caller: Caller, path: str) -> int:
    found = caller.open(path)
    assert found.library is not None, found.why
    return found.library


def called(caller: Caller, found: Found | None, block: tuple[int, int] = (0, 1)) -> int:
    assert found is not None
    returned = caller.call(found.function, Signature.PARAM, NULL, block)
    assert returned is not None
    return returned.code


def test_every_caller_is_one() -> None:
    callers: list[Caller] = [
        TableCaller(TABLE),
        DryCaller(Here()),
        PretendCaller(0),
        HostCaller(Here()),
    ]
    assert [each.find_global("no_such_thing") for each in callers] == [None, None, Found(1), None]


def test_the_table_is_asked_for_the_path_first() -> None:
    caller = TableCaller(TABLE)
    full, by_name = opened(caller, "/opt/libop.so"), opened(caller, "/usr/lib64/libop.so")
    assert full != by_name
    assert called(caller, caller.find(full, "eight")) == 8
    assert caller.find(full, "seven") is None
    assert called(caller, caller.find(by_name, "seven")) == 7
    assert caller.why_missing(full, "seven") == "no row of the table has seven of this library"
    assert caller.open("/opt/libnone.so") == Opened(None, "no row of the table names it")


def test_the_table_is_called_with_argument_and_block() -> None:
    caller = TableCaller(TABLE)
    library = opened(caller, "libop.so")
    assert called(caller, caller.find(library, "which"), (3, 9)) == 309
    assert called(caller, caller.find(library, "minus")) == 0xFFFF_FFFF
    seen: list[Argument] = []

    def see(argument: Argument, block: tuple[int, int]) -> int:
        seen.append(argument)
        return 5

    other = TableCaller({("a.so", "see"): see})
    argument = Argument(16, (Segment(16, b"abc"), Segment(64, b"d", is_writable=False)))
    found = other.find(opened(other, "/x/a.so"), "see")
    assert found is not None
    returned = other.call(found.function, Signature.PARAM, argument, (0, 1))
    assert returned == Returned(5, (b"abc", b"d"))
    assert seen == [argument]


def test_the_table_globally() -> None:
    """In the order of opening; what is closed is not asked."""
    caller = TableCaller(TABLE)
    assert caller.find_global("seven") is None
    why = "no row of the table has seven of a library that was opened"
    assert caller.why_missing(None, "seven") == why
    other = opened(caller, "libother.so")
    mine = opened(caller, "libop.so")
    assert opened(caller, "libother.so") == other
    found = caller.find_global("seven")
    assert found is not None
    assert found.provider == "libother.so"
    assert called(caller, found) == 77
    caller.close(other)
    assert called(caller, caller.find_global("seven")) == 77
    caller.close(other)
    assert called(caller, caller.find_global("seven")) == 7
    caller.close(mine)
    assert caller.find_global("seven") is None
    opened(caller, "libother.so")
    assert called(caller, caller.find_global("seven")) == 77


def test_functions_of_a_table_that_fail() -> None:
    caller = TableCaller(TABLE)
    library = opened(caller, "libother.so")
    with pytest.raises(UsageError, match="it returned NoneType") as caught:
        called(caller, caller.find(library, "nothing"))
    assert caught.value.where == "nothing of libother.so"
    with pytest.raises(ZeroDivisionError):
        called(caller, caller.find(library, "fails"))


def test_the_table_is_fast() -> None:
    """A fifth of the 50 microseconds that a call through the engine may take; the best of some runs."""
    caller = TableCaller(TABLE)
    library = opened(caller, "libop.so")
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(1000):
            called(caller, caller.find(library, "seven"))
        best = min(best, time.perf_counter() - start)
    assert best / 1000 < 10e-6


def test_dry_runs_load_nothing(tmp_path: Path) -> None:
    """AE-1204, step 6: constructors do not run."""
    trace = tmp_path / "trace"
    path = built("load", f'-DDO=fclose(fopen("{trace}", "w"))')
    caller = DryCaller(Here())
    found = caller.find(opened(caller, path), "code_0")
    assert found == Found(1)
    assert caller.call(1, Signature.PARAM, NULL, (0, 1)) is None
    assert not trace.exists()


def test_dry_runs_return_what_they_are_told() -> None:
    caller = DryCaller(Here(), returns=-1)
    library = opened(caller, built("ops"))
    found = caller.find(library, "code_0")
    assert found is not None
    argument = Argument(16, (Segment(16, b"abc"),))
    returned = caller.call(found.function, Signature.BLOCK, argument, (0, 1))
    assert returned == Returned(0xFFFF_FFFF, (b"abc",))
    assert caller.find(library, "concealed") is None
    assert "_Z5my_opPv" in caller.why_missing(library, "my_op")
    assert "_Z5my_opPv" in caller.why_missing(None, "my_op")
    assert caller.why_missing(None, "f") == "no library that was opened exports f"


def test_dry_runs_search_as_dlsym_does() -> None:
    """AE-701: what the library needs, too. AE-702: globally only what was opened."""
    ops = built("ops", "-Wl,-soname,libops.so")
    needs = built("needs", ops, f"-Wl,-rpath,{Path(ops).parent}")
    caller = DryCaller(Here(), returns=0)
    library = opened(caller, needs)
    assert caller.find(library, "through") == Found(1)
    assert caller.find(library, "code_501") == Found(1, "libops.so")
    assert caller.find(library, "getpid") == Found(1, "libc.so.6")
    assert caller.find_global("code_501") is None
    other = opened(caller, ops)
    assert caller.find_global("code_501") == Found(1, "libops.so")
    caller.close(other)
    assert caller.find_global("code_501") is None


def test_dry_runs_refuse_what_would_not_load(tmp_path: Path) -> None:
    arm = bytearray(Path(built("ops")).read_bytes())
    arm[18:20] = (183).to_bytes(2, "little")
    path = tmp_path / "libarm.so"
    path.write_bytes(arm)
    refusal = DryCaller(Here(), machine=62).open(str(path))
    assert refusal == Opened(None, "it is for AArch64, this machine is x86-64")
    caller = DryCaller(Here())
    assert caller.find(opened(caller, str(path)), "RunCpuKernel") == Found(1)
    assert caller.open(str(tmp_path)).why == "Is a directory"
    assert caller.open(str(tmp_path / "none")).why == "No such file or directory"
    text = tmp_path / "text"
    text.write_text("text")
    assert "ELF magic" in caller.open(str(text)).why


def test_dry_runs_remark_what_is_undefined() -> None:
    """Q-17; a library that was opened before defines it."""
    caller = DryCaller(Here())
    (remark,) = caller.open(built("needs")).remarks
    assert "code_201" in remark
    opened(caller, built("ops"))
    assert caller.open(built("needs")).remarks == ()


def test_pretence() -> None:
    caller = PretendCaller(501)
    library = opened(caller, "/no/such/library.so")
    assert called(caller, caller.find(library, "anything")) == 501
    assert called(caller, caller.find_global("anything")) == 501
    caller.close(library)
