"""Real calls of our own operator library, here and under qemu: results, ends, and what is left. OPR-801 to OPR-810."""

from __future__ import annotations

import os
import signal
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cannkit.ae.host_end import Cause
from cannkit.errors import InputError, UsageError
from cannkit.format.elf_types import Machine
from cannkit.format.ext_info import shape_at
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import PAGE, Job, JobCall, Region, RunStage
from cannkit.ops.runner import Emulate, Outcome, Runner, decide
from tests.ops.library import (
    EXT,
    FAILED,
    TENSORS,
    Data,
    call,
    joined,
    library,
    need_emulation,
    shape_slots,
    toolchain,
    words,
)

F4: Final = OpDtype.FLOAT
TEN: Final = tuple(range(10))
QUICK: Final = 0.4

both = pytest.mark.parametrize("emulated", [False, True], ids=["native", "emulated"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where children work; afterwards it is empty, and no process is left of them."""
    place = tmp_path / "children"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []
    assert [each for each in Path("/proc").glob("[0-9]*") if works_in(each, place)] == []


def works_in(process: Path, place: Path) -> bool:
    try:
        return str((process / "cwd").readlink()).startswith(str(place))
    except OSError:
        return False


def run(job: Job, emulated: bool, **how: float) -> Outcome:
    how.setdefault("timeout", 30)
    return Runner(toolchain()).run(job, emulate=emulated, **how)  # type: ignore[arg-type]


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def harm(emulated: bool, how: str, code: int = 0) -> Job:
    return call(library(emulated), "Harm", [], [], {"how": how, "code": code})


def addition(path: str) -> Job:
    x = Data(F4, (10,), floats(*TEN))
    return call(path, "Add", [x, x], [Data(F4, (10,))])


@both
def test_add(emulated: bool) -> None:
    outcome = run(addition(library(emulated)), emulated)
    assert outcome.is_whole
    assert outcome.verdict() is None
    assert [each.ret for each in outcome.calls] == [0]
    assert bytes(outcome.memory.region(TENSORS + 2)) == floats(*(2 * i for i in TEN))
    assert bytes(outcome.memory.region(TENSORS)) == floats(*TEN)
    assert (outcome.stage, outcome.opname, outcome.error) == (RunStage.LEAVING, "Add", None)
    assert outcome.emulated is emulated
    assert (outcome.stdout, outcome.stderr, outcome.logs, outcome.overruns) == (b"", b"", (), ())
    assert 0 < outcome.calls[0].ns < 1e9 * outcome.seconds
    assert all(outcome.memory.address(i) % 64 == 0 for i in range(TENSORS))


@both
def test_each_block_does_its_share(emulated: bool) -> None:
    """OPR-902: three thirds; a block that is none of them is refused."""
    x = Data(F4, (10,), floats(*TEN))
    for blocks, done in (([(3, 1)], range(3, 6)), ([(3, 0), (3, 1), (3, 2)], range(10))):
        job = call(library(emulated), "Add", [x, x], [Data(F4, (10,))], blocks=blocks)
        outcome = run(job, emulated)
        assert [each.ret for each in outcome.calls] == [0] * len(blocks)
        want = [2.0 * i if i in done else 0.0 for i in TEN]
        assert bytes(outcome.memory.region(TENSORS + 2)) == floats(*want)
    refused = run(call(library(emulated), "Add", [x, x], [x], blocks=[(3, 3)]), emulated)
    assert [each.ret for each in refused.calls] == [FAILED]


@both
def test_calls_share_a_process(emulated: bool) -> None:
    outcome = run(call(library(emulated), "Count", [], [Data(9, (1,))], calls=5), emulated)
    assert outcome.memory.region(TENSORS)[0] == 5
    assert outcome.call_index == 4


@both
def test_the_reason_is_in_the_workspace(emulated: bool) -> None:
    outcome = run(call(library(emulated), "Fail", [Data(F4, (1,), bytes(4))]), emulated)
    assert [each.ret for each in outcome.calls] == [FAILED]
    assert [line.split(": ", 1)[1] for line in words(outcome)] == [
        "that will not do",
        "the value of x0 is bad",
    ]
    assert [each.level for each in outcome.logs] == [2, 3]
    assert outcome.is_whole


@both
def test_shape_comes_back(emulated: bool) -> None:
    x = Data(F4, (2, 3), floats(0, 1, 0, 2, 3, 0))
    job = call(library(emulated), "NonZero", [x], [Data(9, (6,))], is_dynamic=True)
    outcome = run(job, emulated)
    assert shape_at(outcome.memory.region(EXT), shape_slots(job)[0], 1) == ((3,), True)
    assert struct.unpack_from("<3q", outcome.memory.region(TENSORS + 1)) == (1, 3, 4)


@both
def test_streams_are_apart(emulated: bool) -> None:
    outcome = run(call(library(emulated), "Say", log_level=1), emulated)
    assert (outcome.stdout, outcome.stderr) == (b"on stdout\n", b"on stderr\n")
    said = [(each.module, each.level, each.text.rpartition(":")[2]) for each in outcome.logs]
    assert said == [(36, 1, "a remark"), (36, 2, "a warning"), (36, 3, "an error")]


@both
def test_registrations_are_logged(emulated: bool) -> None:
    """OPR-212: without a call the log of loading tells which operators there are."""
    outcome = run(Job(library(emulated), log_level=0), emulated)
    assert outcome.is_whole
    assert any("Kernel[NonZero] register successfully." in each.text for each in outcome.logs)


@both
def test_threads_are_limited(emulated: bool) -> None:
    job = call(library(emulated), "Threads", [], [Data(9, (1,))])
    assert run(job, emulated, threads=3).memory.region(TENSORS)[0] == 3


@both
def test_the_process_has_a_context(emulated: bool) -> None:
    """OPR-725."""
    job = call(library(emulated), "Process", [], [Data(9, (3,), b"\1" * 24)])
    assert bytes(run(job, emulated).memory.region(TENSORS)) == bytes(24)


@both
@pytest.mark.parametrize(
    ("how", "number", "address"),
    [
        ("null", signal.SIGSEGV, 0),
        ("wild", signal.SIGSEGV, 0x1234_5678_9000),
        ("jump", signal.SIGSEGV, 0),
        ("abort", signal.SIGABRT, None),
        ("illegal", signal.SIGILL, None),
        ("throw", signal.SIGABRT, None),
        ("kill", signal.SIGKILL, None),
    ],
)
def test_a_crash_is_told(
    emulated: bool, how: str, number: signal.Signals, address: int | None
) -> None:
    outcome = run(joined(addition(library(emulated)), harm(emulated, how)), emulated)
    assert (outcome.exit, outcome.signal, outcome.cause) == (None, number, Cause.ITSELF)
    assert (outcome.stage, outcome.call_index, outcome.opname) == (RunStage.FOUND, 1, "Harm")
    assert [each.ret for each in outcome.calls] == [0, None]  # what was done before is not lost
    assert bytes(outcome.memory.region(TENSORS + 2)) == floats(*(2 * i for i in TEN))
    assert b"uncaught target signal" not in outcome.stderr
    if address is not None:
        assert outcome.fault is not None
        assert (outcome.fault.address, outcome.fault.region) == (address, None)
    verdict = outcome.verdict()
    assert verdict is not None
    assert number.name in verdict.what
    assert "the operator Harm was running" in verdict.hints
    if how == "throw":
        assert b"std::bad_alloc" in outcome.stderr


@both
def test_a_stack_overflow_is_told(emulated: bool) -> None:
    outcome = run(harm(emulated, "stack"), emulated)
    assert outcome.signal == signal.SIGSEGV
    assert outcome.fault is not None
    assert outcome.fault.region is None


def test_a_division_by_zero_is_told() -> None:
    assert run(harm(False, "divide"), False).signal == signal.SIGFPE


def test_an_emulated_division_by_zero_is_zero() -> None:
    """OPR-804: AArch64 has no such signal."""
    assert [each.ret for each in run(harm(True, "divide"), True).calls] == [0]


@both
def test_a_write_past_a_tensor_faults(emulated: bool) -> None:
    """OPR-810: the page behind it begins where it ends."""
    job = call(library(emulated), "Overrun", [], [Data(F4, (32,))], {"count": 1})
    outcome = run(job, emulated)
    fault = outcome.fault
    assert outcome.signal == signal.SIGSEGV
    assert fault is not None
    assert (fault.region, fault.where, fault.distance) == (TENSORS, "behind", 128)
    verdict = outcome.verdict()
    assert verdict is not None
    assert f"it accessed byte 128 of buffer {TENSORS}, behind its 128 bytes" in verdict.hints


@both
def test_a_write_beside_a_tensor_is_seen(emulated: bool) -> None:
    job = call(library(emulated), "Overrun", [], [Data(F4, (3,))], {"count": 5})
    assert run(job, emulated).overruns == ((TENSORS, "behind", 5),)
    job = call(library(emulated), "Underrun", [], [Data(F4, (3,))], {"count": 9})
    assert run(job, emulated).overruns == ((TENSORS, "before", 1),)
    outcome = run(
        call(library(emulated), "Underrun", [], [Data(F4, (3,))], {"count": 4096}), emulated
    )
    assert outcome.fault is not None
    assert (outcome.fault.region, outcome.fault.where) == (TENSORS, "before")


@both
def test_an_empty_tensor_has_an_address(emulated: bool) -> None:
    """OPR-105: and no byte of it can be read."""
    job = call(library(emulated), "Echo", [Data(F4, (0,), b"")], [Data(F4, (0,))])
    outcome = run(job, emulated)
    assert [each.ret for each in outcome.calls] == [0]
    assert outcome.memory.address(TENSORS)
    job = call(library(emulated), "Overrun", [], [Data(F4, (0,))], {"count": 1})
    fault = run(job, emulated).fault
    assert fault is not None
    assert (fault.region, fault.where, fault.distance) == (TENSORS, "behind", 0)


@both
def test_constant_regions(emulated: bool) -> None:
    job = call(library(emulated), "AddOne", [Data(F4, (1,), floats(1))])
    assert bytes(run(job, emulated).memory.region(TENSORS)) == floats(2)
    regions = list(job.regions)
    regions[TENSORS] = regions[TENSORS]._replace(is_writable=False)
    outcome = run(job._replace(regions=tuple(regions)), emulated)
    verdict = outcome.verdict()
    assert verdict is not None
    assert f"it wrote byte 0 of buffer {TENSORS}, which is constant" in verdict.hints


@both
def test_regions_lie_where_they_are_wanted(emulated: bool) -> None:
    at = 0x1200_0000_0123
    job = addition(library(emulated))
    regions = list(job.regions)
    regions[TENSORS + 1] = regions[TENSORS + 1]._replace(at=at)
    outcome = run(job._replace(regions=tuple(regions)), emulated)
    assert outcome.memory.address(TENSORS + 1) == at
    assert bytes(outcome.memory.region(TENSORS + 2)) == floats(*(2 * i for i in TEN))
    beside = tuple(Region(None, PAGE, at=(at & -PAGE) + PAGE * number) for number in (1, 0, 2))
    assert run(Job(job.library, regions=beside), emulated).is_whole
    twice = (Region(None, 8, at=at), Region(None, 8, at=at))
    with pytest.raises(CannotRunError, match="cannot place the tensors: an address"):
        run(Job(job.library, regions=twice), emulated)


@both
@pytest.mark.parametrize("code", [0, 3, 10, 11, 66])
def test_an_exit_is_told(emulated: bool, code: int) -> None:
    outcome = run(harm(emulated, "exit", code), emulated)
    assert (outcome.exit, outcome.signal, outcome.stage) == (code, None, RunStage.FOUND)
    verdict = outcome.verdict()
    assert verdict is not None
    assert verdict.what == f"the op terminated the process with code {code} in stage call"


@both
@pytest.mark.parametrize("how", ["hang", "spin"])
def test_a_hang_is_ended(emulated: bool, how: str) -> None:
    timeout = 3 if emulated else QUICK
    outcome = run(harm(emulated, how), emulated, timeout=timeout)
    assert (outcome.cause, outcome.signal) == (Cause.TIMEOUT, signal.SIGTERM)
    assert timeout <= outcome.seconds < timeout + 1
    verdict = outcome.verdict(timeout)
    assert verdict is not None
    assert verdict.what == f"timed out in stage call after {timeout:g} s"


def test_a_stubborn_one_is_killed() -> None:
    assert run(harm(False, "stubborn"), False, timeout=QUICK).signal == signal.SIGKILL


@both
def test_an_interruption_leaves_nothing(emulated: bool) -> None:
    job = harm(emulated, "hang")
    started = time.monotonic()
    stopper = threading.Timer(QUICK, os.kill, (os.getpid(), signal.SIGINT))
    run(addition(job.library), emulated)  # all is compiled
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        run(job, emulated)
    assert time.monotonic() - started < 20


@both
@pytest.mark.parametrize("how", ["flood", "log"])
def test_output_without_end_is_ended(emulated: bool, how: str) -> None:
    outcome = run(harm(emulated, how), emulated)
    assert outcome.cause is Cause.OUTPUT
    assert len(outcome.stdout) <= 64 << 10
    verdict = outcome.verdict()
    assert verdict is not None
    assert verdict.what == "exceeded limit: output (in stage call)"


@both
def test_closed_descriptors_lose_nothing(emulated: bool) -> None:
    outcome = run(joined(harm(emulated, "close"), addition(library(emulated))), emulated)
    assert [each.ret for each in outcome.calls] == [0, 0]
    assert outcome.is_whole


def test_a_garbled_log_is_read_up_to_there() -> None:
    outcome = run(harm(False, "garble"), False)
    assert [each.text.rpartition(":")[2] for each in outcome.logs] == ["first"]
    assert outcome.is_whole


@both
def test_what_it_started_is_ended(emulated: bool) -> None:
    assert run(harm(emulated, "fork"), emulated).is_whole


@both
def test_memory_cannot_be_taken_away(emulated: bool) -> None:
    outcome = run(joined(harm(emulated, "shrink"), addition(library(emulated))), emulated)
    assert [each.ret for each in outcome.calls] == [0, 0]
    assert bytes(outcome.memory.region(2 * TENSORS + 2)) == floats(*(2 * i for i in TEN))


@both
def test_memory_is_limited(emulated: bool) -> None:
    outcome = run(harm(emulated, "memory"), emulated, memory=1 << 29)
    assert outcome.signal == signal.SIGABRT
    verdict = outcome.verdict()
    assert verdict is not None
    assert "std::bad_alloc: the memory limit was reached" in verdict.hints


@both
def test_a_missing_function_is_named(emulated: bool) -> None:
    path = library(emulated, "ops.cc", "-DMISSING")
    with pytest.raises(CannotRunError, match="nothing defines") as caught:
        run(addition(path), emulated)
    assert "NobodyHasThis" in caught.value.why
    assert caught.value.exit_code == 5


@both
def test_a_function_that_is_missed_when_it_is_called(emulated: bool) -> None:
    """OPR-804: without `bind_now` the loader ends the process then."""
    path = library(emulated, "ops.cc", "-DMISSING", "-Wl,-z,lazy")
    job = call(path, "Harm", [], [], {"how": "missing"})._replace(bind_now=False)
    outcome = run(job, emulated)
    assert (outcome.exit, outcome.stage) == (127, RunStage.FOUND)
    verdict = outcome.verdict()
    assert verdict is not None
    assert verdict.what.startswith("undefined symbol _ZN5aicpu13NobodyHasThis")


@both
def test_a_missing_library_is_named(emulated: bool) -> None:
    path = library(emulated, "bounds.c", f"-Wl,--no-as-needed,{needless(emulated)}")
    with pytest.raises(CannotRunError, match=r"it needs libnobody\.so, which is not in"):
        run(Job(path, "RunCpuKernel", (), (), (JobCall(None),)), emulated)


def needless(emulated: bool) -> str:
    return library(emulated, "bounds.c", "-Wl,-soname,libnobody.so")


@both
def test_an_unknown_function_is_told(emulated: bool) -> None:
    job = call(library(emulated), "Add", function="RunNothing")
    with pytest.raises(CannotRunError, match="the library has no function RunNothing"):
        run(job, emulated)


def test_other_machines() -> None:
    here = toolchain().machine
    assert here is not None
    assert decide(here, Emulate.AUTO) is False
    assert decide(here, Emulate.NEVER) is False
    if here is not Machine.EM_AARCH64:
        assert decide(Machine.EM_AARCH64, Emulate.AUTO) is True
        with pytest.raises(CannotRunError, match="the library is for AArch64"):
            decide(Machine.EM_AARCH64, Emulate.NEVER)
    assert decide(Machine.EM_AARCH64, Emulate.ALWAYS) is True
    with pytest.raises(CannotRunError, match="only AArch64 is emulated"):
        decide(Machine.EM_RISCV, Emulate.AUTO)


def test_a_library_for_another_machine_is_refused() -> None:
    """OPR-801: the loader would say that there is no such file."""
    with pytest.raises(CannotRunError, match="the library is for x86-64: only AArch64"):
        run(addition(library(False)), True)
    with pytest.raises(CannotRunError, match="the library is for AArch64"):
        run(addition(library(True)), False)


def test_no_emulator() -> None:
    job = addition(library(True))
    with pytest.raises(
        CannotRunError, match="qemu-aarch64 is missing: CANNKIT_QEMU is /nowhere"
    ) as caught:
        Runner(toolchain(CANNKIT_QEMU="/nowhere")).run(job, emulate=True)
    assert "apt-get install qemu-user" in (caught.value.hint or "")
    with pytest.raises(CannotRunError, match="qemu-aarch64 is missing"):
        Runner(toolchain(PATH="/nowhere")).run(job, emulate=True)


def test_wrong_sysroot(tmp_path: Path) -> None:
    job = addition(library(True))
    with pytest.raises(CannotRunError, match=r"has no lib/ld-linux-aarch64\.so\.1"):
        Runner(toolchain()).run(job, emulate=True, sysroot=str(tmp_path))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/ld-linux-aarch64.so.1").write_bytes(b"no loader")
    with pytest.raises(CannotRunError, match="the process for operators did not start") as caught:
        Runner(toolchain()).run(job, emulate=True, sysroot=str(tmp_path))
    assert "is a sysroot" not in caught.value.why
    assert str(tmp_path) in (caught.value.hint or "")


def test_a_sysroot_without_the_libraries(tmp_path: Path) -> None:
    """Its loader and C library are there, that of C++ is not."""
    path = library(True)
    need_emulation()
    whole = toolchain().find_sysroot()
    assert whole is not None
    (tmp_path / "lib").mkdir()
    for name in ("ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libm.so.6"):
        (tmp_path / "lib" / name).symlink_to(Path(whole.path, "lib", name))  # type: ignore[union-attr]
    with pytest.raises(CannotRunError, match=r"it needs libstdc\+\+\.so\.6"):
        Runner(toolchain()).run(addition(path), emulate=True, sysroot=str(tmp_path))


def test_no_such_library() -> None:
    with pytest.raises(InputError, match="cannot read the file"):
        run(Job("/nowhere/lib.so", "RunCpuKernel"), False)


def test_more_than_one_process_holds() -> None:
    with pytest.raises(UsageError, match="too many calls for one process"):
        run(Job(library(False), regions=(Region(None, 1),) * 16_001), False)


@both
def test_many_regions(emulated: bool) -> None:
    job = joined(*[addition(library(emulated))] * 200)
    outcome = run(job, emulated)
    assert [each.ret for each in outcome.calls] == [0] * 200
    last = outcome.memory.region(len(job.regions) - 1)
    assert bytes(last) == floats(*(2 * i for i in TEN))


def test_nothing_of_the_environment_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/nowhere.so")
    outcome = run(addition(library(False)), False)
    assert outcome.is_whole
    assert outcome.stderr == b""
    assert os.environ["LD_PRELOAD"] == "/nowhere.so"
