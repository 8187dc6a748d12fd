"""Operations of an engine: the recorded sessions as scripts, and what ends in a process that dies. Spec 05, AE-501."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.ae.caller import Stage
from cannkit.ae.callers import TableCaller
from cannkit.ae.context import AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.host_caller import HostCaller
from cannkit.ae.operations import Ended, Step, StepEnd, run_step, run_task
from cannkit.ae.scheduler import LogClass
from cannkit.ae.script import parse_script
from cannkit.ae.task import Parts, make_task, read_task
from cannkit.format.ae_status import AeStatus
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.rooted import RootedFiles
from tests.ae.library import built
from tests.ae.recorded import SmallKernels, context_of, tree
from tests.ae.structs import EXAMPLE
from tests.ae.test_recorded import AE_CALL

Row = Mapping[str, Any]
DIRECTORY: Final = "usr/lib64/aicpu_kernels"
AICPU, CUST, KFC = 2, 4, 5
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


@pytest.mark.parametrize("row", AE_CALL, ids=lambda row: f"{row['id']}-{row['kind']}")
def test_script_as_recorded(row: Row) -> None:
    """The lines of a script have the keys of the recorded calls."""
    lines = "\n".join(map(json.dumps, row["calls"])).encode()
    files = tree(row["files"])
    engine = AeEngine(context_of(row), files, SmallKernels(files, []))
    answers: list[int | None] = []
    for step in parse_script(lines, "s"):
        if step.is_cust_sd is not None:
            engine.context = engine.context._replace(is_cust_sd=step.is_cust_sd)
        if step.task is not None:
            call = run_task(step.task, engine, by_scheduler=False).call
            assert call is not None
            answers.append(call.status)
        else:
            answers.append(run_step(step, engine).status)
    assert answers == [*row["status"], *([AeStatus.BAD_PARAM] if "crash" in row else [])]


def table_engine() -> AeEngine:
    files = MemoryTree({f"/{DIRECTORY}/libmy.so": b"x", f"/{DIRECTORY}/libtf_kernels.so": b"x"})
    rows = {("libmy.so", "f"): lambda argument, block: 201}
    return AeEngine(AeContext(), files, TableCaller(rows))


def test_by_scheduler_or_engine() -> None:
    task = make_task(Parts(AICPU, "libmy.so", "f"))
    scheduled = run_task(task, table_engine(), by_scheduler=True)
    assert scheduled.call is None
    assert scheduled.scheduled is not None
    assert (scheduled.scheduled.code, scheduled.scheduled.log) == (6, LogClass.SPECIAL)
    direct = run_task(task, table_engine(), by_scheduler=False)
    assert direct.scheduled is None
    assert direct.call is not None
    assert direct.call.status == 6


def test_a_null_task_goes_to_the_engine() -> None:
    """AE-502: no scheduler makes one."""
    (step,) = parse_script(b'{"type": 2, "addrNull": true}', "s")
    assert step.task is not None
    for by_scheduler in (True, False):
        ended = run_task(step.task, table_engine(), by_scheduler=by_scheduler)
        assert ended.call is not None
        assert ended.call.status == AeStatus.BAD_PARAM


def test_unknown_names_go_nowhere() -> None:
    task = read_task(EXAMPLE, Parts(AICPU))
    assert run_task(task, table_engine(), by_scheduler=True) == Ended()


def test_steps() -> None:
    engine = table_engine()
    batch = run_step(Step("batch", CUST, ("libmy.so", None, "libno.so")), engine)
    assert batch.status == AeStatus.SUCCESS
    assert [each.so_name for each in batch.loaded.resolutions] == ["libmy.so", "libno.so"]
    batch = run_step(Step("batch", AICPU, ("libmy.so", None, "libno.so")), engine)
    assert [each.loaded for each in batch.loaded.resolutions] == [f"/{DIRECTORY}/libmy.so", None]
    assert run_step(Step("close", AICPU, ("libmy.so",)), engine) == StepEnd(AeStatus.SUCCESS)
    assert run_step(Step("close", 3, ("libmy.so",)), engine) == StepEnd(AeStatus.BAD_PARAM)
    assert run_step(Step("close", AICPU, (None,)), engine) == StepEnd(AeStatus.BAD_PARAM)
    assert run_step(Step("addWhite", None, ("a.so",)), engine) == StepEnd(AeStatus.SUCCESS)
    assert run_step(Step("addWhite", None, (None,)), engine) == StepEnd(AeStatus.BAD_PARAM)
    assert run_step(Step("delWhite", None, ("a.so",)), engine) == StepEnd()
    assert run_step(Step("clear"), engine) == StepEnd()


def rooted(tmp_path: Path, *flags: str, source: str) -> RootedFiles:
    place = tmp_path / DIRECTORY
    place.mkdir(parents=True)
    (place / "libmy.so").write_bytes(Path(built(source, *flags)).read_bytes())
    return RootedFiles(str(tmp_path))


@needs_linux
@pytest.mark.parametrize("by_scheduler", [True, False])
def test_a_call_that_ends_its_process(tmp_path: Path, by_scheduler: bool) -> None:
    """AE-1206: how far it came is told, and nothing more is called."""
    files = rooted(tmp_path, source="harm")
    with HostCaller(files) as caller:
        engine = AeEngine(AeContext(), files, caller)
        ended = run_task(
            make_task(Parts(AICPU, "libmy.so", "exit_3")), engine, by_scheduler=by_scheduler
        )
        again = run_step(Step("batch", AICPU, ("libother.so", "libmy.so")), engine)
    assert ended.verdict is not None
    assert (ended.verdict.stage, ended.verdict.exit) == (Stage.CALL, 3)
    call = ended.scheduled.call if ended.scheduled else ended.call
    assert (ended.scheduled is not None) == by_scheduler
    assert call is not None
    assert (call.status, call.symbol, call.op_name) == (None, "exit_3", "exit_3")
    assert call.resolution is not None
    assert call.resolution.loaded == f"/{DIRECTORY}/libmy.so"
    assert again.verdict is None  # both are there or absent, the process is not asked
    assert again.status == AeStatus.SUCCESS


@needs_linux
def test_a_library_that_ends_its_process(tmp_path: Path) -> None:
    """AE-507 runs constructors, too."""
    files = rooted(tmp_path, "-DDO=abort()", source="load")
    with HostCaller(files) as caller:
        engine = AeEngine(AeContext(), files, caller)
        ended = run_step(Step("batch", AICPU, ("libmy.so",)), engine)
        task = make_task(Parts(AICPU, "libmy.so", "code_0"))
        again = run_task(task, engine, by_scheduler=True)
    assert ended.verdict is not None
    assert (ended.verdict.stage, ended.verdict.signal) == (Stage.LOAD, 6)
    assert again.verdict == ended.verdict
    assert again.scheduled is not None
    assert again.scheduled.call is not None
    assert again.scheduled.call.resolution is not None
    assert "SIGABRT" in again.scheduled.call.resolution.attempts[-1].why
