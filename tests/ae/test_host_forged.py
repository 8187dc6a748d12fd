"""What foreign code can do to the process that it runs in, and its parent outlives. Spec 05, AE-1206."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cannkit.ae.caller import CallEndedError, Signature
from cannkit.ae.event import Argument, Segment
from cannkit.ae.host_caller import HostCaller
from cannkit.errors import UsageError
from tests.ae.library import Here, built

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

BASE = 0x1240_0000_2000
NO_PYTHON = 77
WROTE = "wrote into cannkit's result pipe"


def forge(caller: HostCaller, line: str) -> None:
    library = caller.open(built("forge")).library
    assert library is not None
    found = caller.find(library, "forge")
    assert found is not None
    text = line.encode() + b"\n\0"
    argument = Argument(BASE, (Segment(BASE, text),))
    returned = caller.call(found.function, Signature.PARAM, argument, (0, 1))
    if returned.code == NO_PYTHON:
        pytest.skip("the interpreter does not export its functions")


@pytest.mark.parametrize(
    "line",
    [
        "c._send(0, 99)",  # a stage that there is not
        "c._send(0)",
        "c._send(1)",
        "c._send(1, b'text')",
        "c._send(1, 1 << 40)",
        "c._send(2)",
        "c._send(2, 0)",  # an answer without what was returned
        "c._send(1, 5); c._send(2, 1, 77, b'x')",  # of a segment that there is not
        "c._send(1, 5); c._send(2, 1, 0, b'short')",
        "c._send(1, 5); c._send(2, 0, 1, 2, 3)",
        "c._send(1, 5); c._send(2, 0, 55, 66, 1, 1)",
        "c._send(1, 5); c._send(2, b'text')",
        "c._send(3, 99, b'why')",
        "c._send(b'text')",
        "os.write(c._results, c._token + b'\\xff' * 8)",  # a record of 2**64 bytes
        "os.write(c._results, b'no token')",
    ],
)
def test_made_up_answer(line: str) -> None:
    with HostCaller(Here(), 5) as caller, pytest.raises(CallEndedError, match=WROTE):
        forge(caller, line)


def test_answer_without_end_takes_no_memory() -> None:
    line = "exec('while 1: os.write(c._results, b\"z\" * 65536)')"
    with HostCaller(Here(), 5) as caller, pytest.raises(CallEndedError, match=WROTE):
        forge(caller, line)


def sleepers() -> set[str]:
    found = set()
    for each in Path("/proc").iterdir():
        try:
            if (each / "cmdline").read_bytes() == b"sleep\x00600\x00":
                found.add(each.name)
        except OSError:
            continue
    return found


def test_daemon_that_is_another_program() -> None:
    before = sleepers()
    with HostCaller(Here(), 5) as caller:
        library = caller.open(built("forge")).library
        assert library is not None
        found = caller.find(library, "other_program")
        assert found is not None
        assert caller.call(found.function, Signature.PARAM, Argument(), (0, 1)) is not None
    assert sleepers() <= before


def test_fork_of_the_parent_ends_nothing() -> None:
    with HostCaller(Here(), 5) as caller:
        assert caller.open(built("ops")).library is not None
        pid = os.fork()
        if pid == 0:
            try:
                caller.end()
            finally:
                os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        assert caller.find_global("no_such_function") is None  # it still answers


@pytest.mark.parametrize("memory", [1 << 70, 1e10, 0])
def test_memory_that_cannot_be(memory: int) -> None:
    with pytest.raises(UsageError, match="bad memory limit"):
        HostCaller(Here(), 5, memory)


@pytest.mark.parametrize("folder", ["", "/a:b", "/a;b", "/a\0b"])
def test_folder_that_cannot_be(folder: str) -> None:
    with pytest.raises(UsageError, match="bad folder"):
        HostCaller(Here(), 5, lib_path=[folder])


@pytest.mark.parametrize("address", [1 << 64, -1])
def test_address_that_cannot_be(address: int) -> None:
    with HostCaller(Here(), 5) as caller:
        library = caller.open(built("ops")).library
        assert library is not None
        found = caller.find(library, "code_0")
        assert found is not None
        with pytest.raises(UsageError, match="64 bits"):
            caller.call(found.function, Signature.PARAM, Argument(address), (0, 1))
