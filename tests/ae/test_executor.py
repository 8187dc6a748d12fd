"""AI CPU tasks from their queue entry to the completion entry. Spec 05, section 3; LCH-67, LCH-69, ERR-6."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.ae.ae_run import NOT_KNOWN, AeRun
from cannkit.ae.call import Note
from cannkit.ae.caller import Caller
from cannkit.ae.callers import DryCaller, Table, TableCaller
from cannkit.ae.context import AeContext
from cannkit.ae.event import AeEvent
from cannkit.ae.executor import AeExecutor
from cannkit.ae.host_caller import HostCaller
from cannkit.ae.scheduler import LogClass
from cannkit.device.executor import ErrorType
from cannkit.device.trace import AiCpuEvent, TaskEvent
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.rooted import RootedFiles
from tests.ae.library import built
from tests.ae.test_read_event import head
from tests.device.station import SOCS, Station
from tests.facts import A2_SOC, A5_SOC

INNER: Final = "usr/lib64/aicpu_kernels/0/aicpu_kernels_device"
CUST: Final = "home/CustAiCpuUser/cust_aicpu_0_0_0"
TREE: Final = MemoryTree({f"/{folder}/libops.so": b"" for folder in (INNER, CUST)})
THREAD: Final = AeContext(RunMode.THREAD, env={"HOME": "/home/u"})
AICPU, CUSTOM = CpuKernelType.AICPU, CpuKernelType.AICPU_CUSTOM
KFC, CUSTOM_KFC = CpuKernelType.AICPU_KFC, CpuKernelType.CUSTOM_KFC


class Bench:
    """A station whose AI CPU has Python functions, or with a `root` libraries that are really called."""

    def __init__(
        self,
        table: Table | None = None,
        *,
        soc: str = A2_SOC,
        root: Path | None = None,
        context: AeContext | None = None,
        is_cust_sd: bool | None = None,
    ) -> None:
        self.station = Station(soc)
        self.made: list[Caller] = []
        files = TREE if root is None else RootedFiles(str(root))

        def make() -> Caller:
            caller: Caller
            if isinstance(files, RootedFiles):
                caller = HostCaller(files)
            else:
                caller = TableCaller(table or {})
            self.made.append(caller)
            return caller

        hardware, used = self.station.device, context or AeContext()
        hardware.ai_cpu = AeExecutor(hardware, used, files, make, is_cust_sd=is_cust_sd)

    def func(self, name: str) -> int:
        """The address of a name."""
        at = self.station.device.allocate(64)
        self.station.memory.write(at, name.encode() + b"\0")
        return at

    def run(self, func: str = "Run", **fields: Any) -> tuple[int, int, str]:
        """One task: errorType, errorCode and the note of its end."""
        self.station.run(self.station.cpu(func_name_addr=self.func(func), **fields))
        event = self.station.log[-1]
        assert isinstance(event, TaskEvent)
        return event.outcome

    def tensor(self, data: bytes = bytes(16)) -> int:
        """A tensor that is the only one of the next tasks."""
        at = self.station.device.allocate(len(data))
        self.station.memory.write(at, data)
        self.station.memory.write(self.station.cpu_args, head(at))
        return at

    @property
    def runs(self) -> list[AeRun]:
        """What was told of every block."""
        stories = [event.story for event in self.station.log if isinstance(event, AiCpuEvent)]
        return [story for story in stories if isinstance(story, AeRun)]


def returning(code: int, name: str = "Run") -> Table:
    return {("libops.so", name): lambda argument, block: code}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The library of tests/ae/c/device.c where both processes find it."""
    library = built("device")
    for folder in (INNER, CUST):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(library, tmp_path / folder / "libops.so")
    return tmp_path


# fmt: off
CODES: Final = [  # AE-801 to AE-803: type, returned, engine, log, result
    (AICPU, 0, 0, "ok", 0),
    (AICPU, 201, 6, "special", 6),
    (AICPU, 501, 7, "error", 7),
    (AICPU, 1050, 1050, "error", 1050),
    (AICPU, 30000, 30000, "error", 21008),
    (AICPU, 0xFFFF_FFFF, -1, "error", 21008),
    (CUSTOM, 501, 501, "error", 501),
    (CUSTOM, 201, 6, "error", 6),
    (CUSTOM, 30000, 30000, "error", 22007),
    (KFC, 101, 1, "error", 1),
    (KFC, 301, 8, "special", 8),
    (CUSTOM_KFC, 1050, 1050, "error", 1050),
]
# fmt: on


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(("kind", "code", "status", "log", "result"), CODES)
def test_what_a_function_returns(
    soc: str, kind: CpuKernelType, code: int, status: int, log: str, result: int
) -> None:
    """AE-306: anything but 0 is a failed task. AE-208: A5 has its code in the upper half."""
    bench = Bench(returning(code), soc=soc)
    error_type, error_code, note = bench.run(kernel_type=kind)
    assert error_type == (ErrorType.EXCEPTION if result else 0)
    assert error_code == (result << 16 if soc == A5_SOC else result)
    (run,) = bench.runs
    assert run.is_cust_sd == (kind in (CUSTOM, CUSTOM_KFC))
    assert run.call is not None
    assert run.scheduled is not None
    assert run.response is not None
    assert (run.call.status, run.scheduled.log, run.response.result) == (status, log, result)
    assert f"Run of libops.so returned {code}" in note
    assert (f"AE {status} {AeStatus(status).name}: " in note) == bool(code)
    assert (f"answered as {result}" in note) == (status != result)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(
    ("kind", "is_cust_sd", "code"),
    [
        (3, None, 21206), (10, None, 21206), (99, None, 21206), (127, None, 21206),
        (6, False, 21206), (2, True, 22002), (5, True, 22002), (0, True, 22002), (1, True, 22002),
    ],
)  # fmt: skip
def test_what_the_parser_refuses(soc: str, kind: int, is_cust_sd: bool | None, code: int) -> None:
    """AE-203, AE-301; Q-13: the simulated device answers."""
    bench = Bench(returning(0), soc=soc, is_cust_sd=is_cust_sd)
    error_type, error_code, note = bench.run(kernel_type=kind)
    assert error_type == ErrorType.EXCEPTION
    assert error_code == (code << 16 if soc == A5_SOC else code)
    assert f"{code} ERROR_DRV_ERR" in note
    assert "the host waits" in note
    assert bench.made == []


def test_custom_types_in_thread_mode() -> None:
    """AE-205: there is one process, which takes type 4, and 6 not."""
    bench = Bench(returning(0), context=THREAD)
    assert bench.run(kernel_type=CUSTOM)[2].startswith("AE 11002")  # no such tree there
    assert not bench.runs[0].is_cust_sd
    assert bench.run(kernel_type=CUSTOM_KFC)[1] == 21206


def test_custom_types_kept_from_cust_sd() -> None:
    """AE-303.2."""
    bench = Bench(returning(0), is_cust_sd=False)
    _, code, note = bench.run(kernel_type=CUSTOM)
    assert (code, note) == (
        21008,
        "21008 ERROR_INNER_ERROR: custom kernels run in cust-sd or in thread mode",
    )


@pytest.mark.parametrize("kind", [AICPU, CUSTOM, KFC, CUSTOM_KFC, CpuKernelType.FWK])
def test_nothing_is_known(kind: CpuKernelType) -> None:
    """Without files the search is told, and the task ends well."""
    station = Station()
    station.device.ai_cpu = AeExecutor(station.device, AeContext(), None, lambda: TableCaller({}))
    args = station.device.allocate(112)
    event = station.told(station.cpu(kernel_type=kind, args_addr=args, block_dim=9))
    assert event.outcome == (0, 0, NOT_KNOWN)
    (told,) = [each for each in station.log if isinstance(each, AiCpuEvent)]
    assert isinstance(told.story, AeRun)
    assert not told.story.is_executed
    assert told.story.response is None
    assert told.text.startswith(NOT_KNOWN)
    assert told.text.count("not looked up") == (2 if kind == CpuKernelType.FWK else 3)


def test_nobody_calls() -> None:
    """A library is there, and it is only looked at."""
    station, library = Station(), built("device")
    tree = Path(library).parent / "tree" / INNER
    tree.mkdir(parents=True, exist_ok=True)
    shutil.copy(library, tree / "libops.so")
    files = RootedFiles(str(Path(library).parent / "tree"))
    station.device.ai_cpu = AeExecutor(station.device, AeContext(), files, lambda: DryCaller(files))
    station.memory.write(station.func_name, b"Triple\0")
    event = station.told(station.cpu())
    assert event.outcome == (0, 0, "not executed: Triple of libops.so is there, and is not called")


def test_what_is_not_found() -> None:
    """AE-701: 11002, 11003; AE-702: 11006. ERR-6: all of it is an exception."""
    bench = Bench(returning(0))
    so = bench.func("libnone.so")
    error_type, code, note = bench.run(so_name_addr=so)
    assert (error_type, code) == (ErrorType.EXCEPTION, 11002)
    assert note == "AE 11002 OPEN_SO_FAILED: libnone.so is not loaded: no such file"
    assert len(bench.runs[0].paths) == 3
    _, code, note = bench.run("Walk")
    assert code == 11003
    assert note.startswith("AE 11003 GET_KERNEL_NAME_FAILED: there is no Walk of libops.so")
    assert bench.run("Walk", kernel_type=KFC)[1] == 11006
    assert bench.run(so_name_addr=bench.func("../x.so"))[1] == 11002
    assert bench.run(kernel_type=0)[1] == 11001
    assert bench.run(kernel_type=CUSTOM, so_name_addr=0)[2] == (
        "AE 11001 BAD_PARAM: kernelSo is a null pointer"
    )


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("endGraph", 0, "not executed: logic kernel endGraph"),
        ("CreateQueue", 21001, "length is 28, must be 160"),
        ("endgraph", 21005, "the nearest: endGraph"),
    ],
)
def test_logic_kernels(name: str, code: int, words: str) -> None:
    """AE-401, AE-403."""
    bench = Bench()
    error_type, found, note = bench.run(name, so_name_addr=0, block_dim=2)
    assert (error_type, found) == (ErrorType.EXCEPTION if code else 0, code)
    assert words in note
    assert len(bench.runs) == 1
    assert bench.runs[0].is_executed == bool(code)
    assert bench.run("endGraph", so_name_addr=0, args_addr=0)[1] == 21001


def test_blocks_come_in_order_and_end_with_the_first_that_fails() -> None:
    """OPR-902: one event for each."""
    seen: list[tuple[int, int]] = []

    def run(argument: object, block: tuple[int, int]) -> int:
        seen.append(block)
        return 7 if block[0] == 2 else 0

    bench = Bench({("libops.so", "Run"): run})
    assert bench.run(block_dim=2)[0] == 0
    _, code, note = bench.run(block_dim=4)
    assert seen == [(0, 2), (1, 2), (0, 4), (1, 4), (2, 4)]
    assert code == 7
    assert note.startswith("block 2 of 4 (counted from 0): AE 7 SILENT_FAULT")
    told = [event for event in bench.station.log if isinstance(event, AiCpuEvent)]
    assert [(each.block, each.blocks) for each in told] == seen
    assert bench.run(block_dim=0) == (0, 0, "not executed: the entry has no block")


def test_what_python_does_is_not_undone() -> None:
    """Only what the function changed is written back: here nothing."""

    def run(argument: object, block: tuple[int, int]) -> int:
        bench.station.memory.write(at, b"!")
        return 0

    bench = Bench({("libops.so", "Run"): run})
    at = bench.tensor()
    assert bench.run()[0] == 0
    assert bench.station.memory.read(at, 2) == b"!\0"


def test_a_python_function_that_fails() -> None:
    table: Table = {
        ("libops.so", "Run"): lambda argument, block: 1 // 0,
        ("libops.so", "None"): lambda argument, block: None,
    }
    bench = Bench(table)
    assert (
        bench.run()[2]
        == "Run of libops.so raised ZeroDivisionError: integer division or modulo by zero"
    )
    error_type, code, note = bench.run("None")
    assert (error_type, code) == (ErrorType.EXCEPTION, 0)
    assert "it returned NoneType" in note
    assert bench.runs[0].response is None


def test_nobody_listens() -> None:
    station = Station(listen=False)
    make = lambda: TableCaller(returning(201))  # noqa: E731
    station.device.ai_cpu = AeExecutor(station.device, AeContext(), TREE, make)
    station.memory.write(station.func_name, b"Run\0")
    ((cqe, note),) = station.run(station.cpu())
    assert (cqe.error_type, cqe.error_code, cqe.error_bit) == (1, 6, True)
    assert note == "AE 6 END_OF_SEQUENCE: Run of libops.so returned 201"


def test_notes_of_the_engine() -> None:
    """Q-7: a KFC name that was found before; what is left out."""
    bench = Bench(returning(0))
    large = bench.station.device.allocate(129 << 20)
    bench.station.memory.write(bench.station.cpu_args, head(large))
    bench.run(kernel_type=KFC)
    bench.run(kernel_type=KFC, so_name_addr=bench.func("libnone.so"))
    first, second = bench.runs
    assert [note.rule for note in first.notes] == ["AE-105"]
    assert [note.rule for note in second.notes] == ["AE-105", "Q-7"]


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kind", [AICPU, CUSTOM, KFC, CUSTOM_KFC])
def test_a_real_function_changes_a_tensor(root: Path, soc: str, kind: CpuKernelType) -> None:
    bench = Bench(soc=soc, root=root)
    station = bench.station
    given, out = (station.device.allocate(16) for _ in range(2))
    station.memory.write(given, struct.pack("<4f", 1, 2, 3, 4))
    station.memory.write(station.cpu_args, head(given, out))
    assert bench.run("Triple", kernel_type=kind) == (0, 0, "Triple of libops.so returned 0")
    assert struct.unpack("<4f", station.memory.read(out, 16)) == (3, 6, 9, 12)
    assert struct.unpack("<4f", station.memory.read(given, 16)) == (1, 2, 3, 4)
    folder = CUST if kind in (CUSTOM, CUSTOM_KFC) else INNER
    assert bench.runs[0].paths == (f"/{folder}/libops.so: loaded",)


def test_real_blocks(root: Path) -> None:
    bench = Bench(root=root)
    out = bench.tensor()
    _, code, note = bench.run("RunCpuKernelWithBlock", block_dim=4)
    assert (code, note.split(":")[0]) == (7, "block 2 of 4 (counted from 0)")
    assert struct.unpack("<4I", bench.station.memory.read(out, 16)) == (400, 401, 402, 0)


def test_processes_live_as_long_as_the_device(root: Path) -> None:
    """Two of them, over all queues; a crash ends one, and only a reset brings it back."""
    bench = Bench(root=root)
    station, out = bench.station, bench.tensor()

    def count(kind: CpuKernelType) -> int:
        assert bench.run("Count", kernel_type=kind)[0] == 0
        return int.from_bytes(station.memory.read(out, 4), "little")

    assert [count(AICPU), count(AICPU), count(CUSTOM), count(AICPU)] == [1, 2, 1, 3]
    other = station.device.open_queue(4)
    entry = station.cpu(func_name_addr=bench.func("Count"))
    station.device.submit(other.queue, entry.encode())
    assert station.run() == []
    assert count(AICPU) == 5
    error_type, code, note = bench.run("Crash")
    assert (error_type, code) == (ErrorType.EXCEPTION, 0)
    assert note == "Crash of libops.so: crashed in stage call with SIGSEGV"
    run = bench.runs[-1]
    assert run.verdict is not None
    assert run.response is None
    assert any("wrong signature?" in hint for hint in run.verdict.hints)
    assert run.paths == ()  # loaded before
    assert run.call is not None
    assert run.call.resolution is not None
    assert run.call.resolution.loaded == f"/{INNER}/libops.so"
    assert run.is_executed
    _, _, note = bench.run("Count")
    assert note == "aicpusd has ended before: crashed in stage call with SIGSEGV"
    assert count(CUSTOM) == 2
    assert len(bench.made) == 2


def test_what_a_function_may_not_touch(root: Path) -> None:
    """AE-1205: an overrun within a page is told, a read-only tensor is a fault."""
    bench = Bench(root=root)
    out = bench.tensor()
    error_type, code, text = bench.run("Overrun")
    assert (error_type, code) == (ErrorType.EXCEPTION, 0)
    (note,) = bench.runs[0].notes
    assert note.rule == "AE-1205"
    assert text == f"Overrun of libops.so returned 0, but {note.text}"
    assert bench.runs[0].response is not None
    assert not bench.runs[0].response.result
    bench.station.memory.protect(out, 16, read_only=True)
    assert "SIGSEGV" in bench.run("Count")[2]
    assert bench.station.memory.read(out, 16) == bytes(16)


def test_what_all_blocks_had_to_say() -> None:
    """Notes once, output in order, seconds of all; not without end."""
    event = AeEvent(AICPU)
    first, note = (
        AeRun(event, False, notes=(Note("Q-7", "a"),), output="1\n", seconds=1.0),
        Note("Q-8", "b"),
    )
    last = AeRun(event, False, notes=(*first.notes, note), output="2\n", seconds=0.5).after(first)
    assert (last.notes, last.output, last.seconds) == ((*first.notes, note), "1\n2\n", 1.5)
    assert last._replace(seconds=None).after(first).seconds is None
    assert last.after(first._replace(seconds=None)).seconds == 1.5
    many = tuple(Note("Q-7", str(number)) for number in range(100))
    long = last.after(first._replace(notes=many, output="x" * (1 << 17)))
    assert (len(long.notes), len(long.output)) == (64, 1 << 16)


def test_extended_info_and_the_framework(root: Path) -> None:
    """LCH-42, AE-703."""
    bench = Bench(root=root)
    station = bench.station
    at = station.device.allocate(4)
    station.memory.write(at, (501).to_bytes(4, "little"))
    station.memory.write(station.cpu_args, head(ext=(4, at)))
    assert bench.run("Extended")[1] == 7
    (root / INNER / "libops.so").rename(root / INNER / "libtf_kernels.so")
    station.memory.write(station.cpu_args, bytes(4) + (12).to_bytes(4, "little") + bytes(104))
    _, code, note = bench.run(kernel_type=CpuKernelType.FWK)
    assert code == 6
    assert note == "AE 6 END_OF_SEQUENCE: TFOperateAPI of libtf_kernels.so returned 12"
    assert bench.runs[-1].scheduled is not None
    assert bench.runs[-1].scheduled.log is LogClass.SPECIAL
    station.memory.write(station.cpu_args, b"\x0a")
    assert bench.run(kernel_type=CpuKernelType.FWK)[1] == 11001
