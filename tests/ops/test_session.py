"""Calls that run, here and under the emulator: results, reasons, batches, crashes. Spec 07."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.ae.scheduler import LogClass
from cannkit.errors import FormatError, InputError, UsageError
from cannkit.format.node_attr import EMPTY_LIST, Attr, AttrKind
from cannkit.format.node_tensor import NodeShape, NodeTensor
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.call import Prepared
from cannkit.ops.description import describe
from cannkit.ops.errors import CannotRunError
from cannkit.ops.op_args import OpArg, Role
from cannkit.ops.runner import Emulate, LogLine
from tests.ops.calling import (
    EMULATED,
    I64,
    add,
    call,
    floats,
    given,
    harm,
    info,
    session,
    wanted,
    words,
)
from tests.ops.library import library

FAILED: Final = 0xFFFF_FFFF
SIZED: Final = [dtype for dtype in OpDtype if dtype.size is not None and dtype != OpDtype.HIFLOAT4]


@EMULATED
def test_a_call(emulated: bool) -> None:
    result = session(emulated).run(add(1, 2.5))
    (output,) = result.outputs
    assert (result.returned, result.returns, result.is_good) == (0, (0,), True)
    assert (result.status, result.log_class, result.response) == (0, LogClass.OK, (0, 0))
    assert (bytes(output.data), output.shape, output.is_whole) == (floats(2, 5), (2,), True)
    assert (result.reason, result.changed, result.remarks, result.child) == (None, (), (), None)
    assert (result.op, result.emulated) == ("Add", emulated)
    assert 0 < result.seconds < 5


@EMULATED
def test_each_data_type(emulated: bool) -> None:
    """Bytes go in and out as they are, of each type that has a size: one batch."""
    data = {dtype: bytes(range(1, 1 + 6 * (dtype.size or 1))) for dtype in SIZED}
    calls = [
        call("Echo", [given([2, 3], raw, dtype), wanted([2, 3], dtype)])
        for dtype, raw in data.items()
    ]
    results = list(session(emulated).run_many(calls))
    assert [each.returned for each in results] == [0] * len(SIZED)
    assert [bytes(each.outputs[0].filled) for each in results] == list(data.values())
    assert len(SIZED) > 30


@EMULATED
def test_empty_tensors_and_scalars(emulated: bool) -> None:
    args = [given([0, 3], b""), given([], floats(7)), given([0], b"", I64)]
    args += [wanted([0, 3]), wanted([]), wanted([0], I64)]
    result = session(emulated).run(call("Echo", args))
    assert result.returned == 0
    assert [bytes(each.filled) for each in result.outputs] == [b"", floats(7), b""]


LONG: Final = -(1 << 63)
F_HALF: Final = struct.unpack("<I", floats(0.5))[0]
F_ONE: Final = struct.unpack("<I", floats(-1))[0]
TENSOR: Final = NodeTensor("", 9, (2, 3))
ATTRS: Final = (  # kind, value, what the operator has seen: number of the field, then its values
    (AttrKind.INT, LONG, (3, LONG)),
    (AttrKind.INT, 0, (3, 0)),
    (AttrKind.FLOAT, 0.5, (4, F_HALF)),
    (AttrKind.BOOL, True, (5, 1)),
    (AttrKind.BOOL, False, (5, 0)),
    (AttrKind.STRING, "aé", (2, 3, 97, 195, 169)),
    (AttrKind.STRING, b"\0\xff", (2, 2, 0, 255)),
    (AttrKind.TYPE, 9, (6, 9)),
    (AttrKind.INTS, (1, -1, LONG), (103, 1, -1, LONG)),
    (AttrKind.FLOATS, (0.5, -1.0), (104, F_HALF, F_ONE)),
    (AttrKind.BOOLS, (True, False), (105, 1, 0)),
    (AttrKind.TYPES, (9, 0), (106, 9, 0)),
    (AttrKind.STRINGS, ("ab", ""), (102, 2, 97, 98, 0)),
    (AttrKind.LISTLIST, ((1, 2), (), (-3,)), (9, 2, 1, 2, 0, 1, -3)),
    (AttrKind.SHAPE, NodeShape((2, 0)), (7, 2, 2, 0)),
    (AttrKind.SHAPES, (NodeShape((4,)), NodeShape(())), (107, 1, 4, 0)),
    (AttrKind.TENSOR, TENSOR, (8, 9, 2, 2, 3)),
    (AttrKind.TENSORS, (TENSOR,), (108, 9, 2, 2, 3)),
    (*EMPTY_LIST, (101,)),
)


@EMULATED
def test_each_kind_of_attribute(emulated: bool) -> None:
    calls = [
        call("Attr", [wanted([16], I64)], {"value": Attr(kind, value)}, is_dynamic=True)
        for kind, value, _ in ATTRS
    ]
    results = list(session(emulated).run_many(calls))
    assert [words(each.outputs[0].filled) for each in results] == [seen for *_, seen in ATTRS]


@EMULATED
def test_dynamic_inputs(emulated: bool) -> None:
    op = describe("Concat", info("Concat", [("x*", [])], [("y", [])]), None)
    args = [given([1], floats(1)), given([2], floats(2, 3)), given([0], b""), wanted([3])]
    good, bad = session(emulated).run_many(
        call(op, args, {"N": Attr(AttrKind.INT, count)}) for count in (3, 2)
    )
    assert bytes(good.outputs[0].data) == floats(1, 2, 3)
    assert bad.reason is not None
    assert bad.reason.endswith("N is 2, there are 3 inputs")


@EMULATED
def test_shapes_come_back(emulated: bool) -> None:
    """Q-12, Q-13, OPR-410."""
    args = [given([4], floats(0, 1, 0, 2)), wanted([4], I64)]
    known, static = session(emulated).run_many(
        call("NonZero", args, is_dynamic=is_dynamic) for is_dynamic in (True, False)
    )
    (output,) = known.outputs
    assert (output.shape, words(output.filled), len(output.data)) == ((2,), (1, 3), 32)
    assert static.outputs[0].shape == (4,)
    args[1] = wanted([2, 2], I64)
    (output,) = session(emulated).run(call("NonZero", args, is_dynamic=True)).outputs
    assert (output.shape, output.is_whole) == (
        (2, 2),
        True,
    )  # the rank shrank: stale, as on a device


@EMULATED
def test_open_dimensions(emulated: bool) -> None:
    (output,) = (
        session(emulated)
        .run(call("NonZero", [given([3], floats(1, 0, 1)), wanted([-1], I64)]))
        .outputs
    )
    assert (output.shape, words(output.filled)) == ((2,), (0, 2))


@EMULATED
def test_in_place(emulated: bool) -> None:
    """OPR-309: a changed input is told; one that is an output is none."""
    plain = call("AddOne", [given([2], floats(1, 2)), wanted([2], data=floats(8, 9))])
    both = call("AddOne", [given([2], floats(1, 2), role=Role.INOUT)])
    first, second = session(emulated).run_many([plain, both])
    assert first.changed == (0,)
    assert [bytes(each) for each in first.changed_data] == [floats(2, 3)]
    assert bytes(first.outputs[0].data) == floats(8, 9)
    assert second.changed == ()
    assert bytes(second.outputs[0].data) == floats(2, 3)


@EMULATED
def test_a_refusal_says_why(emulated: bool) -> None:
    """OPR-202: every refusal looks alike; OPR-420: the words are the operator's own."""
    result = session(emulated).run(call("Fail", [given([1], floats(0)), wanted([1])]))
    assert (result.returned, result.status, result.log_class) == (FAILED, -1, LogClass.ERROR)
    assert result.response == (1, 22007)
    assert result.reason is not None
    assert result.reason.startswith("ops.cc:")
    assert result.reason.endswith(": the value of input0 is bad")
    assert [each.partition(" ")[0] for each in result.log_lines()] == ["WARNING", "ERROR"] * 2
    assert len(result.records) == 2


@EMULATED
def test_codes_that_pass(emulated: bool) -> None:
    """OPR-601, OPR-602: a fault is a special code of aicpusd alone."""
    args, attrs = [given([1], floats(0)), wanted([1])], {"code": Attr(AttrKind.INT, 501)}
    answers = []
    for lib in ("AICPUKernel", "CUSTAICPUKernel"):
        op = describe("Fail", info("Fail", [("x", [])], [("y", [])], kernel_lib=lib), None)
        result = session(emulated).run(call(op, args, attrs))
        answers.append((result.returned, result.status, result.log_class.value, result.response))
    assert answers == [(501, 7, "error", (1, 7)), (501, 501, "error", (1, 501))]


@EMULATED
def test_nothing_is_known_of_an_operator(emulated: bool) -> None:
    result = session(emulated).run(call("NoSuchOp", [given([1], floats(0)), wanted([1])]))
    assert result.returned == FAILED
    assert result.reason is not None
    assert result.reason.endswith("The kernel[NoSuchOp] is not registered")


@EMULATED
def test_a_null_address_is_told(emulated: bool) -> None:
    result = session(emulated).run(call("Echo", [OpArg(Role.NULL), wanted([1])]))
    assert result.returned == FAILED
    assert result.reason is not None
    assert result.reason.endswith("the address of a tensor is null")


@EMULATED
def test_what_is_printed(emulated: bool) -> None:
    """Q-16: it comes back where the process made one call, whatever that returned."""
    say = call("Say", [given([1], floats(0)), wanted([1])])
    blocks = call("Say", [wanted([1])], function="RunCpuKernelWithBlock", blocks=2)
    alone, several = (session(emulated).run(each) for each in (say, blocks))
    assert (alone.child, alone.printed) == (None, "on stdout\non stderr\n")
    assert several.printed == "on stdout\n" * 2 + "on stderr\n" * 2
    assert [each.printed for each in session(emulated).run_many([say, add(1)])] == ["", ""]
    assert session(emulated).run(add(1)).printed == ""


@EMULATED
def test_log_lines(emulated: bool) -> None:
    """OPR-720, Q-17."""
    args = [given([1], floats(0)), wanted([1])]
    result = session(emulated).run(call("Say", args))
    shown = ["WARNING", "ERROR"]
    assert [each.partition(" ")[0] for each in result.log_lines()] == shown * 2
    every = result.log_lines(every=True)
    assert [each.partition(" ")[0] for each in every] == ["DEBUG", "INFO", *shown, *shown]
    assert all("ops.cc:" in each and "/" not in each for each in every)
    assert result.reason is None
    loud = session(emulated, log_level=0).run(call("Say", args))
    assert [each.text.rpartition(":")[2] for each in loud.logs if "Kernel[" not in each.text] == [
        "a detail", "a remark", "a warning", "an error"
    ]  # fmt: skip


@EMULATED
@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks(emulated: bool, blocks: int) -> None:
    """OPR-902, OPR-903: all of them run, each with its part of the workspace."""
    data = floats(*range(10))
    args = [given([10], data), given([10], data), wanted([10])]
    made = call("Add", args, function="RunCpuKernelWithBlock", blocks=blocks)
    result = session(emulated).run(made)
    assert result.returns == (0,) * blocks
    assert bytes(result.outputs[0].data) == floats(*(2 * each for each in range(10)))
    said = [each.text.rpartition(": ")[2] for each in result.records]
    assert said == [f"block {each} of {blocks}" for each in range(blocks)]


@EMULATED
def test_a_crash(emulated: bool) -> None:
    result = session(emulated).run(harm("null"))
    end = result.child
    assert end is not None
    assert (result.returned, result.returns, end.signal) == (None, (None,), 11)
    assert (end.what, end.hints[0]) == (
        "crashed in stage call with SIGSEGV", "the operator Harm was running"
    )  # fmt: skip
    assert (result.status, result.response, result.log_class) == (None, None, LogClass.ERROR)


@EMULATED
def test_a_guard_that_was_hit(emulated: bool) -> None:
    """Q-7, Q-8."""
    count = {"count": Attr(AttrKind.INT, 100)}
    end = session(emulated).run(call("Overrun", [wanted([3])], count)).child
    assert end is not None
    assert "it accessed byte 64 of output 0 (output0), behind its 12 bytes" in end.hints
    near = session(emulated).run(call("Overrun", [wanted([3])], {"count": Attr(AttrKind.INT, 5)}))
    assert near.child is None
    assert near.remarks == (("overrun", "output 0 (output0)", "5 bytes behind it were written"),)
    close = call("Overrun", [wanted([3])], {"count": Attr(AttrKind.INT, 5)}, align=1)
    end = session(emulated).run(close).child
    assert end is not None
    assert "it accessed byte 12 of output 0 (output0), behind its 12 bytes" in end.hints


def test_other_ends() -> None:
    for how, what in (("exit", "the process ended"), ("throw", "SIGABRT"), ("kill", "SIGKILL")):
        end = session().run(harm(how)).child
        assert end is not None
        assert what.removeprefix("the process ended") in end.what
    end = session(timeout=0.5).run(harm("hang")).child
    assert end is not None
    assert end.is_timeout


@EMULATED
def test_a_batch_with_a_crash_in_the_middle(emulated: bool) -> None:
    """The crashed call is told, those before it are kept, those after it are made."""
    calls = [add(each) if each != 50 else harm("null") for each in range(100)]
    results = list(session(emulated).run_many(calls))
    assert [number for number, each in enumerate(results) if not each.is_good] == [50]
    assert results[50].child is not None
    assert [bytes(each.outputs[0].data) for each in results if each.is_good] == [
        floats(2 * each) for each in range(100) if each != 50
    ]


def test_start_up_is_paid_once() -> None:
    """State is kept from call to call, and lost with the process."""
    count = call("Count", [wanted([1], I64)])
    results = session().run_many([count, count, harm("abort"), count])
    assert [words(each.outputs[0].data) for each in results if each.is_good] == [(1,), (2,), (1,)]


def test_a_batch_of_several_functions_and_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cannkit.ops.session.MOST_REGIONS", 12)
    count = call("Count", [wanted([1], I64)])
    block = call("Count", [wanted([1], I64)], function="RunCpuKernelWithBlock")
    results = session().run_many([count] * 4 + [block] * 2)
    assert [words(each.outputs[0].data)[0] for each in results] == [1, 2, 3, 1, 1, 2]


def test_reasons_in_a_batch_are_those_of_each_call() -> None:
    fail = call("Fail", [given([1], floats(0)), wanted([1])])
    results = list(session().run_many([add(1), fail, add(1), call("NoSuchOp", [wanted([1])])]))
    assert [len(each.logs) for each in results] == [0, 2, 0, 1]
    assert [each.reason is not None for each in results] == [False, True, False, True]


def test_time_that_others_took_counts_for_none() -> None:
    """A call that is cut off has its full time in the next process."""
    slow = [harm("hang"), add(1), harm("hang"), add(2)]
    results = list(session(timeout=0.4).run_many(slow))
    assert [each.child is not None and each.child.is_timeout for each in results] == [
        True, False, True, False
    ]  # fmt: skip
    assert bytes(results[3].outputs[0].data) == floats(4)


def test_a_batch_is_made_as_it_is_asked_for() -> None:
    def endless() -> Any:
        while True:
            yield add(1)

    results = session().run_many(endless())
    assert all(next(results).is_good for _ in range(10))
    assert list(session().run_many([])) == []


def test_what_cannot_run() -> None:
    found = session()
    found.library = "/nowhere/lib.so"
    with pytest.raises(InputError):
        found.run(add(1))
    with pytest.raises(CannotRunError, match="no function Nobody"):
        session().run(call("Add", [wanted([1])], function="Nobody"))
    foreign = session(emulated=True, emulate=Emulate.NEVER)
    with pytest.raises(CannotRunError, match="the library is for"):
        foreign.run(add(1))


def test_a_library_that_ends_its_process_while_it_loads() -> None:
    found = session()
    found.library = library(False, "at_load.c")
    with pytest.raises(CannotRunError) as error:
        found.run(add(1))
    assert error.value.what == "the process ended before any call"
    assert "SIGABRT" in error.value.why


def test_a_source_of_calls_that_fails() -> None:
    """The results of the calls before come first."""

    def source() -> Iterator[Prepared]:
        yield add(1)
        yield add(2)
        raise ValueError("no more")

    results = session().run_many(source())
    assert [bytes(next(results).outputs[0].filled) for _ in range(2)] == [floats(2), floats(4)]
    with pytest.raises(ValueError, match="no more"):
        next(results)


@pytest.mark.parametrize(
    "limit",
    [{"timeout": 0}, {"timeout": float("nan")}, {"timeout": 1e10}, {"memory": 0}, {"threads": 0}, {"threads": 1025}],
)  # fmt: skip
def test_limits_that_are_none(limit: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(limit))):
        session(**limit)


@pytest.mark.parametrize(
    ("at", "byte", "why"),
    [(0, 0, "not with the ELF magic"), (4, 1, "EI_CLASS is 1"), (5, 2, "not little endian")],
)
def test_what_is_no_library(tmp_path: Path, at: int, byte: int, why: str) -> None:
    raw = bytearray(Path(library(False)).read_bytes())
    raw[at] = byte
    file = tmp_path / "lib.so"
    file.write_bytes(raw)
    found = session()
    found.library = str(file)
    with pytest.raises(FormatError, match=why) as error:
        found.run(add(1))
    assert (error.value.what, error.value.where) == ("not a library", str(file))


def test_what_each_call_logs() -> None:
    """OPR-730, OPR-731: of the sharder that no process here has nobody wants to know."""
    result = session().run(add(1))
    line = LogLine(0, 3, "Function[ParallelFor] is null")
    result = result._replace(logs=(line,), records=())
    assert result.log_lines(every=True) == ()
    assert result.log_lines(every=True, usual=True) == (f"ERROR {line.text}",)


@EMULATED
def test_the_least_memory_is_enough_each_time(emulated: bool) -> None:
    """OPR-805: where the emulator finds its place differs from start to start."""
    for _ in range(8):
        assert session(emulated, memory=1).run(add(1)).is_good
