"""The engine against the recorded answers of the original: the same questions, the same status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cannkit.ae.context import AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import AeEvent
from cannkit.ae.so_path import read_settings
from cannkit.ae.so_walk import resolve
from cannkit.format.ae_status import AeStatus
from tests.ae.recorded import Event, LoggedTree, SmallKernels, asked, context_of, event_of, tree
from tests.facts import rows

Row = Mapping[str, Any]

SO_PATH = rows("so_path")
AE_CALL = rows("ae_call")


def started(row: Row) -> tuple[AeEngine, SmallKernels, LoggedTree, list[Event]]:
    log: list[Event] = []
    files = tree(row["files"])
    logged, kernels = LoggedTree(files, log), SmallKernels(files, log)
    return AeEngine(context_of(row), logged, kernels), kernels, logged, log


@pytest.mark.parametrize("row", SO_PATH, ids=lambda row: str(row["id"]))
def test_load_as_recorded(row: Row) -> None:  # AE-505, AE-601 to AE-608
    _, kernels, files, log = started(row)
    context = context_of(row)
    settings = read_settings(context)
    assert settings.status == row["init"]
    if row["load"] is None:
        return
    walked = resolve(row["type"], row["so"], settings, context, files, kernels.open)
    assert walked.status == row["load"]
    assert log == asked(row["attempts"])
    tried = [attempt.path for attempt in walked.attempts]
    assert tried == [event[1] for event in asked(row["attempts"]) if event[0] == "realpath"]


@pytest.mark.parametrize("row", SO_PATH, ids=lambda row: str(row["id"]))
def test_call_of_the_same_library_as_recorded(row: Row) -> None:  # AE-609, AE-701, AE-702
    engine, _, _, log = started(row)
    call = engine.call(AeEvent(row["type"], row["so"], "k_ret_0"))
    assert call.status == row["callStatus"]
    expected = row.get("callAttempts", row["attempts"]) + row["dlsym"]
    assert log == asked(expected)


@pytest.mark.parametrize("row", AE_CALL, ids=lambda row: f"{row['id']}-{row['kind']}")
def test_session_as_recorded(
    row: Row,
) -> None:  # AE-501 to AE-509, AE-701 to AE-705, AE-801 to AE-803
    engine, _, _, log = started(row)
    answers: list[int | None] = []
    for step in row["calls"]:
        if "custSd" in step:
            engine.context = engine.context._replace(is_cust_sd=step["custSd"])
        answers.append(carry_out(engine, step))
    if "crash" in row:  # Q-1, where the original ends, cannkit answers
        assert answers == [*row["status"], AeStatus.BAD_PARAM]
        return
    assert answers == row["status"]
    assert asked(log) == asked(row["attempts"])  # the framework lib asks twice here, too
    assert engine.session.block == (tuple(row["block"]) if row["block"] else None)
    name = engine.session.op_name or ""
    assert row["opname"] == (len(name) if isinstance(row["opname"], int) else name)


def carry_out(engine: AeEngine, step: Row) -> int | None:
    match step.get("op"):
        case None:
            return engine.call(event_of(step)).status
        case "close":
            return engine.close(step["type"], step["so"])
        case "batch":
            return engine.batch_load(step["type"], step["sos"]).status
        case "addWhite":
            return engine.add_allowed(step["so"])
        case "delWhite":
            engine.delete_allowed(step["so"])
            return None
        case "clear":
            engine.clear()
            return None
        case other:
            raise AssertionError(other)


def test_rows_cover_every_path_rule() -> None:
    taken = set()
    for row in SO_PATH:
        context: AeContext = context_of(row)
        settings = read_settings(context)
        if settings.status == AeStatus.SUCCESS:
            walked = resolve(
                row["type"], row["so"], settings, context, tree(row["files"]), lambda _: _none()
            )
            taken |= {decision.rule for decision in walked.decisions if decision.taken}
    inner = {f"AE-604.{number}" for number in range(1, 6)}
    cust = {f"AE-605.{number}" for number in range(1, 5)}
    assert inner | cust | {"AE-602.1", "AE-602.2", "AE-602.4"} <= taken


def _none() -> Any:
    from cannkit.ae.caller import Opened

    return Opened(None)
