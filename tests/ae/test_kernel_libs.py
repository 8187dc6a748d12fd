"""The three kernel libs: gates in their order, limits of names, which signature, what is kept. Spec 05, section 7."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from cannkit.ae.call import AeCall
from cannkit.ae.caller import Found, Opened, Returned, Signature
from cannkit.ae.callers import Table, TableCaller
from cannkit.ae.context import AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import NULL, AeEvent, Argument, Segment
from cannkit.format.ae_status import AeStatus
from cannkit.inputs.memory_tree import MemoryTree

K: Final = "/usr/lib64/aicpu_kernels"
FWK, AICPU, CUST, KFC, CUST_KFC = 1, 2, 4, 5, 6
BLOCK: Final = "RunCpuKernelWithBlock"
LONG_SO: Final = "l" * 97 + ".so"
LONG_FUNC: Final = "f" * 200
WIDE: Final = "\u52a0" * 66 + "ab"  # 200 bytes


def plain(code: int) -> Callable[[Argument, tuple[int, int]], int]:
    return lambda argument, block: code


def with_block(argument: Argument, block: tuple[int, int]) -> int:
    return 100 * block[1] + block[0]


TABLE: Final[Table] = {
    ("liba.so", "f"): plain(0),
    ("liba.so", "code_201"): plain(201),
    ("liba.so", BLOCK): with_block,
    ("liba.so", LONG_FUNC): plain(11),
    ("liba.so", WIDE): plain(12),
    ("libb.so", "f"): plain(1000),
    ("libb.so", "g"): plain(1001),
    (LONG_SO, "f"): plain(13),
    ("libtf_kernels.so", "TFOperateAPI"): plain(12),
}


class Watched(TableCaller):
    """A table that tells what it was asked."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.log: list[tuple[str, object]] = []

    def open(self, path: str) -> Opened:
        self.log.append(("open", path))
        return super().open(path)

    def close(self, library: int) -> None:
        self.log.append(("close", library))
        super().close(library)

    def find(self, library: int, name: str) -> Found | None:
        self.log.append(("find", name))
        return super().find(library, name)

    def find_global(self, name: str) -> Found | None:
        self.log.append(("find_global", name))
        return super().find_global(name)

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        self.log.append(("call", signature))
        return super().call(function, signature, argument, block)

    def words(self, which: str) -> list[object]:
        return [what for word, what in self.log if word == which]


class Process(AeEngine):
    """An engine, and what its caller was asked."""

    def __init__(self, table: Table = TABLE, context: AeContext | None = None) -> None:
        self.watched = Watched(table)
        files = MemoryTree({f"{K}/{name}": b"" for name, _ in table})
        super().__init__(context or AeContext(), files, self.watched)

    def run(
        self,
        func: str | None = "f",
        so: str | None = "liba.so",
        kind: int = AICPU,
        block: tuple[int, int] = (0, 1),
    ) -> AeCall:
        return self.call(AeEvent(kind, so, func, NULL, *block, fwk_type=0))


@pytest.fixture
def process() -> Process:
    return Process()


def notes(call: AeCall) -> list[str]:
    return [f"{note.rule}: {note.text}" for note in call.notes]


def test_null_library_is_asked_before_null_function(process: Process) -> None:
    """AE-701."""
    assert notes(process.run(None, None)) == ["AE-701: kernelSo is a null pointer"]
    assert notes(process.run(None)) == ["AE-701: kernelName is a null pointer"]
    assert process.watched.log == []


def test_one_signature_by_the_name_alone(process: Process) -> None:
    """AE-704: KFC calls the same name with one argument."""
    assert process.run(BLOCK, block=(3, 8)).returned == Returned(803)
    process.run("f")
    process.run(BLOCK, kind=KFC)
    assert process.watched.words("call") == [Signature.BLOCK, Signature.PARAM, Signature.PARAM]


def test_limits_of_the_names(process: Process) -> None:
    """Q-5: 100 and 200 bytes are used of longer names, and that is told."""
    assert process.run(so=LONG_SO).status == 13
    assert notes(process.run(so=LONG_SO)) == []
    longer = process.run(so=LONG_SO + "x")
    assert longer.status == 13
    assert notes(longer) == [
        "Q-5: the library name has 101 bytes, 100 of them are used: it is cut silently"
    ]
    assert process.run(LONG_FUNC).status == 11
    longer = process.run(LONG_FUNC + "f")
    assert (longer.status, longer.symbol) == (11, LONG_FUNC)
    assert notes(longer) == [
        "Q-5: the function name has 201 bytes, 200 of them are used: it is cut silently"
    ]
    assert process.run(WIDE + "\u52a0").status == 12  # bytes count


def test_a_name_cut_within_a_letter(process: Process) -> None:
    call = process.run("a" + "\u52a0" * 67)
    assert call.status == AeStatus.GET_KERNEL_NAME_FAILED
    assert call.symbol is not None
    assert len(call.symbol.encode("utf-8", "surrogateescape")) == 200


def test_functions_are_looked_up_once(process: Process) -> None:
    """AE-701: per library; what was not found is asked again."""
    for func in ("f", "f", "no", "no"):
        process.run(func)
    assert process.watched.words("find") == ["f", "no", "no"]
    assert process.watched.words("open") == [f"{K}/liba.so"]
    process.close(AICPU, "liba.so")
    process.run("f")
    assert process.watched.words("find") == ["f", "no", "no", "f"]


def test_name_and_block_of_the_thread(process: Process) -> None:
    """AE-308, AE-705: set before a call, by AiCpu also the name."""
    assert process.run(block=(2, 4)).op_name == "f"
    assert (process.session.op_name, process.session.block) == ("f", (2, 4))
    assert process.run("g", "libb.so", KFC, (5, 6)).op_name == "f"  # stale
    assert (process.session.op_name, process.session.block) == ("f", (5, 6))
    assert process.run(kind=FWK, block=(7, 8)).op_name == "f"
    assert process.session.block == (5, 6)
    process.run("no", block=(9, 9))
    assert process.session.block == (5, 6)


def test_kfc_limits(process: Process) -> None:
    """AE-702: 200 bytes of the function, 100 of the library."""
    call = process.run("f" * 201, kind=KFC)
    assert (call.status, process.watched.log) == (AeStatus.INNER_ERROR, [])
    assert "at most 200 bytes" in notes(call)[0]
    assert process.run(LONG_FUNC, kind=KFC).status == 1  # 11 is a failure there
    call = process.run(so=LONG_SO, kind=KFC)
    assert call.status == AeStatus.TASK_FAIL
    other = Process()
    call = other.run(so=LONG_SO + "x", kind=KFC)
    assert (call.status, call.resolution, call.is_global) == (AeStatus.INNER_ERROR, None, True)


@pytest.mark.parametrize("so", ["libno.so", "", "l" * 101, "bad/name.so"])
def test_kfc_asks_globally(so: str) -> None:
    """SP-42: what is open has it, whatever the library is called."""
    process = Process()
    process.run("g", "libb.so")
    call = process.run("g", so, KFC)
    assert (call.status, call.is_global) == (1001, True)
    assert call.found == Found(call.found.function if call.found else 0, "libb.so")
    assert process.run("no", so, KFC).status == AeStatus.INNER_ERROR


def test_kfc_keeps_a_function_by_its_name(process: Process) -> None:
    """SP-44, Q-7: then no library is asked, not even a null one."""
    assert process.run("f", "libb.so", KFC).status == 1000
    assert process.run("f", "liba.so", KFC).status == 1000
    assert "Q-7: f was found for libb.so before: liba.so is not asked" in notes(
        process.run("f", "liba.so", KFC)
    )
    null = process.run("f", None, KFC)
    assert (null.status, notes(null)) == (1000, [])
    assert process.watched.words("open") == [f"{K}/libb.so"]


def test_kfc_that_found_it_globally(process: Process) -> None:
    process.run("g", "libb.so")
    process.run("g", "", KFC)
    assert notes(process.run("g", "liba.so", KFC)) == [
        "Q-7: g was found globally before: liba.so is not asked"
    ]


def test_kfc_null_pointers(process: Process) -> None:
    """Q-1: no crash."""
    assert notes(process.run(None, kind=KFC)) == ["AE-702: kernelName is a null pointer"]
    null = process.run("f", None, KFC)
    assert (null.status, notes(null)) == (
        AeStatus.BAD_PARAM, ["Q-1: original crashes: null kernelSo for KFC"],
    )  # fmt: skip


def test_framework_gates(process: Process) -> None:
    """AE-703: before the library is opened."""
    for fwk_type, rule in (
        (None, "AE-703"),
        (10, "AE-703"),
        (20, "AE-703"),
        (0x436E7552, "AE-703"),
    ):
        call = process.call(AeEvent(FWK, fwk_type=fwk_type))
        assert (call.status, call.notes[0].rule) == (AeStatus.BAD_PARAM, rule)
    assert process.watched.log == []


def test_framework_calls_its_one_function(process: Process) -> None:
    """Names of the task do not count."""
    argument = Argument(0x1004, (Segment(0x1000, bytes(112)),))
    for _ in range(2):
        call = process.call(AeEvent(FWK, "liba.so", "f", argument, fwk_type=0))
        assert (call.status, call.symbol, call.signature) == (6, "TFOperateAPI", Signature.ADDRESS)
    assert process.watched.words("find") == ["TFOperateAPI"]
    assert process.watched.words("open") == [f"{K}/libtf_kernels.so"]


def test_framework_library_without_the_function() -> None:
    """AE-703: the library is kept, the look-up is repeated."""
    process = Process({("libtf_kernels.so", "other"): plain(0)})
    for _ in range(2):
        call = process.run(kind=FWK)
        assert call.status == AeStatus.GET_KERNEL_NAME_FAILED
        assert "no row of the table has TFOperateAPI" in notes(call)[0]
    assert process.watched.words("open") == [f"{K}/libtf_kernels.so"]
    assert process.watched.words("find") == ["TFOperateAPI"] * 2


def test_framework_library_that_is_not_there() -> None:
    """AE-703: it is tried again at every call."""
    process = Process({("liba.so", "f"): plain(0)})
    for _ in range(2):
        call = process.run(kind=FWK)
        assert (call.status, call.symbol) == (AeStatus.OPEN_SO_FAILED, "TFOperateAPI")
        assert call.resolution is not None
        assert len(call.resolution.attempts) == 2


@pytest.mark.parametrize(("is_cust_sd", "status"), [(False, 7), (True, 501)])
def test_faults_count_in_the_ordinary_scheduler(is_cust_sd: bool, status: int) -> None:
    """AE-801."""
    table = {("liba.so", "f"): plain(501)}
    assert Process(table, AeContext(is_cust_sd=is_cust_sd)).run().status == status


def test_clear_closes_what_is_open(process: Process) -> None:
    """AE-506: each handle once."""
    process.run()
    process.run(so="libb.so")
    process.run(kind=KFC)
    process.run(kind=FWK)
    assert process.watched.words("close") == []
    process.clear()
    assert len(process.watched.words("close")) == 4
    process.clear()
    assert len(process.watched.words("close")) == 4


@pytest.mark.parametrize("kind", [KFC, CUST_KFC, FWK])
def test_close_does_nothing(process: Process, kind: int) -> None:
    """AE-504."""
    process.run(kind=kind)
    process.close(kind, "liba.so")
    assert process.watched.words("close") == []
