"""The end of a task by the rows of spec 05, section 8 (T1 to T38), and the gates before the engine."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from cannkit.ae.context import HOME, AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import NULL, AeEvent, Argument, Segment
from cannkit.ae.scheduler import (
    LogClass,
    Route,
    Scheduled,
    Site,
    classify,
    execute,
    refused_by_parser,
    respond,
    site_of,
    transform,
)
from cannkit.ae.translate import translate_aicpu
from cannkit.format.ae_status import AeStatus, ResponseStatus, RunMode
from tests.ae.recorded import SmallKernels, tree

K: Final = "/usr/lib64/aicpu_kernels"
LIBRARY: Final = "libtestkernels.so"
FWK, AICPU, CUST, KFC, CUST_KFC = 1, 2, 4, 5, 6
OK, SPECIAL, ERROR = LogClass.OK, LogClass.SPECIAL, LogClass.ERROR
FILES: Final = tree([[f"{K}/{LIBRARY}", "so"], [f"{K}/libtf_kernels.so", "so"]])


class Row(NamedTuple):
    """A row: the raw code of a function, what the engine makes of it, log class, result."""

    raw: int
    status: int
    log: LogClass
    result: int
    kind: int = AICPU
    cust_sd: bool = False


ROWS: Final = {
    "T1": Row(0, 0, OK, 0),
    "T2": Row(1, 1, ERROR, 1),
    "T3": Row(6, 6, SPECIAL, 6),
    "T4": Row(8, 8, SPECIAL, 8),
    "T5": Row(101, 101, SPECIAL, 101),
    "T6": Row(201, 6, SPECIAL, 6),
    "T7": Row(301, 301, ERROR, 301),
    "T8": Row(501, 7, ERROR, 7),
    "T9": Row(502, 9, ERROR, 9),
    "T10": Row(503, 10, ERROR, 10),
    "T11": Row(504, 11, ERROR, 11),
    "T12": Row(505, 12, ERROR, 12),
    "T13": Row(1050, 1050, ERROR, 1050),
    "T14": Row(30000, 30000, ERROR, 21008),
    "T15": Row(0xFFFFFFFF, -1, ERROR, 21008),
    "T16 501": Row(501, 501, ERROR, 501, CUST, True),
    "T16 505": Row(505, 505, ERROR, 505, CUST, True),
    "T17": Row(201, 6, ERROR, 6, CUST, True),
    "T18": Row(101, 101, ERROR, 101, CUST, True),
    "T19": Row(30000, 30000, ERROR, 22007, CUST, True),
    "T21": Row(0, 0, OK, 0, KFC),
    "T22 1": Row(1, 1, ERROR, 1, KFC),
    "T22 101": Row(101, 1, ERROR, 1, KFC),
    "T22 201": Row(201, 1, ERROR, 1, KFC),
    "T22 501": Row(501, 1, ERROR, 1, KFC),
    "T22 505": Row(505, 1, ERROR, 1, KFC),
    "T22 999": Row(999, 1, ERROR, 1, KFC),
    "T22 1100": Row(1100, 1, ERROR, 1, KFC),
    "T22 -1": Row(0xFFFFFFFF, 1, ERROR, 1, KFC),
    "T23": Row(301, 8, SPECIAL, 8, KFC),
    "T23 cust": Row(301, 8, SPECIAL, 8, CUST_KFC, True),
    "T24 1000": Row(1000, 1000, ERROR, 1000, KFC),
    "T24 1050": Row(1050, 1050, ERROR, 1050, KFC),
    "T24 1099": Row(1099, 1099, ERROR, 1099, KFC),
    "T25": Row(0, 0, OK, 0, FWK),
    "T26": Row(12, 6, SPECIAL, 6, FWK),
    "T27": Row(6, 11001, ERROR, 11001, FWK),
    "T28": Row(8, 8, SPECIAL, 8, FWK),
    "T29 7": Row(7, 7, ERROR, 7, FWK),
    "T29 9": Row(9, 9, ERROR, 9, FWK),
    "T29 10": Row(10, 10, ERROR, 10, FWK),
    "T29 11": Row(11, 11, ERROR, 11, FWK),
    "T30 1": Row(1, 1, ERROR, 1, FWK),
    "T30 5": Row(5, 5, ERROR, 5, FWK),
    "T30 13": Row(13, 13, ERROR, 13, FWK),
    "T30 99": Row(99, 99, ERROR, 99, FWK),
    "T31": Row(101, 101, SPECIAL, 101, FWK),
    "T32": Row(201, 201, ERROR, 201, FWK),
}


def run(event: AeEvent, context: AeContext | None = None) -> Scheduled:
    given = context or AeContext(pid=123)
    return execute(event, AeEngine(given, FILES, SmallKernels(FILES, [])))


def word(value: int) -> Argument:
    return Argument(0x1000, (Segment(0x1000, value.to_bytes(4, "little")),))


def event_for(row: Row) -> AeEvent:
    if row.kind == FWK:
        return AeEvent(FWK, argument=word(row.raw), fwk_type=0)
    return AeEvent(row.kind, LIBRARY, "k_param", word(row.raw))


@pytest.mark.parametrize("name", ROWS)
def test_translation_row(name: str) -> None:  # AE-304, AE-306, AE-801 to AE-804
    row = ROWS[name]
    scheduled = run(event_for(row), AeContext(is_cust_sd=row.cust_sd))
    assert scheduled.call is not None
    assert scheduled.call.returned is not None
    assert scheduled.call.returned.code == row.raw
    status = ResponseStatus.TASK_FAIL if row.status else ResponseStatus.TASK_SUCC
    assert (scheduled.code, scheduled.log) == (row.status, row.log)
    assert scheduled.response == (status, row.result)


def test_model_stream_takes_nothing_but_0_for_well() -> None:  # T20
    status = translate_aicpu(201, is_cust_sd=False)
    assert (status, classify(status, Site.MODEL_STREAM)) == (6, ERROR)
    assert classify(0, Site.MODEL_STREAM) is OK


@pytest.mark.parametrize("kind", [3, 7, 10, 11, 99])
def test_unknown_type(kind: int) -> None:  # T33
    scheduled = run(AeEvent(kind, LIBRARY, "k_ret_0"))
    assert (scheduled.code, scheduled.log) == (AeStatus.BAD_PARAM, ERROR)
    assert scheduled.response == (ResponseStatus.TASK_FAIL, 11001)
    assert [note.rule for note in scheduled.notes] == ["Q-13"]


@pytest.mark.parametrize("so", ["libmissing.so", "bad/name.so", ""])
def test_library_that_does_not_load(so: str) -> None:  # T34
    assert run(AeEvent(AICPU, so, "k_ret_0")).response == (ResponseStatus.TASK_FAIL, 11002)


@pytest.mark.parametrize("func", ["k_missing", ""])
def test_function_that_is_not_there(func: str) -> None:  # T35
    assert run(AeEvent(AICPU, LIBRARY, func)).response == (ResponseStatus.TASK_FAIL, 11003)


def test_kfc_function_that_is_nowhere() -> None:  # T36
    assert run(AeEvent(KFC, LIBRARY, "k_missing")).response == (ResponseStatus.TASK_FAIL, 11006)


@pytest.mark.parametrize("mode", [RunMode.PCIE, RunMode.SOCKET, RunMode.INVALID])
def test_custom_type_in_the_ordinary_scheduler(mode: RunMode) -> None:  # T37, AE-303.2
    scheduled = run(AeEvent(CUST, LIBRARY, "k_ret_0"), AeContext(mode))
    assert (scheduled.route, scheduled.rule, scheduled.call) == (Route.REJECTED, "AE-303.2", None)
    assert (scheduled.code, scheduled.response) == (21008, (ResponseStatus.TASK_FAIL, 21008))


def test_custom_type_in_thread_mode() -> None:  # AE-303.2
    context = AeContext(RunMode.THREAD, env={HOME: "/home/u"})
    scheduled = run(AeEvent(CUST, LIBRARY, "k_ret_0"), context)
    assert (scheduled.route, scheduled.code) == (Route.ENGINE, 0)


@pytest.mark.parametrize("kind", [0, AICPU])
def test_null_library_is_a_logic_kernel(kind: int) -> None:  # T38, AE-303.1
    scheduled = run(AeEvent(kind, None, "nobody"))
    assert (scheduled.route, scheduled.code, scheduled.call) == (Route.LOGIC, 21005, None)
    assert scheduled.response == (ResponseStatus.TASK_FAIL, 21005)


def test_logic_kernel_is_not_simulated() -> None:  # AE-403
    scheduled = run(AeEvent(AICPU, None, "endGraph", word(7)))
    assert (scheduled.code, scheduled.response, scheduled.log) == (None, None, OK)
    assert scheduled.logic is not None
    assert scheduled.logic.kernel is not None
    assert scheduled.logic.kernel.name == "endGraph"


@pytest.mark.parametrize(
    ("event", "cust_sd"),
    [
        (AeEvent(CUST, None, "k_ret_0"), True),  # no fork there
        (AeEvent(0, LIBRARY, "k_ret_0"), False),  # no lib for CCE
        (AeEvent(FWK), False),
    ],
)
def test_goes_to_the_engine_all_the_same(event: AeEvent, cust_sd: bool) -> None:  # AE-303
    scheduled = run(event, AeContext(is_cust_sd=cust_sd))
    assert (scheduled.route, scheduled.code) == (Route.ENGINE, AeStatus.BAD_PARAM)


def test_kfc_without_a_library_is_no_crash() -> None:  # Q-1, AE-303
    scheduled = run(AeEvent(KFC, None, "k_ret_0"))
    assert scheduled.code == AeStatus.BAD_PARAM
    assert scheduled.call is not None
    assert [note.rule for note in scheduled.call.notes] == ["Q-1"]


@pytest.mark.parametrize(
    ("kind", "cust_sd", "site"),
    [(2, False, 1), (5, False, 2), (6, False, 1), (4, True, 4), (6, True, 5), (5, True, 4)],
)
def test_site(kind: int, cust_sd: bool, site: int) -> None:  # AE-302, AE-305
    assert site_of(kind, is_cust_sd=cust_sd) == site


def test_parser() -> None:  # AE-203, AE-301
    taken = [kind for kind in range(12) if refused_by_parser(kind, is_cust_sd=False) is None]
    assert taken == [0, 1, 2, 4, 5]
    taken = [kind for kind in range(12) if refused_by_parser(kind, is_cust_sd=True) is None]
    assert taken == [4, 6]
    assert refused_by_parser(6, is_cust_sd=False) == 21206
    assert refused_by_parser(2, is_cust_sd=True) == 22002


@pytest.mark.parametrize(
    ("code", "cust_sd", "result"),
    [
        (-1, False, 21008),
        (21200, False, 21200),
        (21201, False, 21008),
        (22200, True, 22200),
        (22201, True, 22007),
        (-5, True, 22007),
        (0, True, 0),
    ],
)
def test_codes_out_of_range(code: int, cust_sd: bool, result: int) -> None:  # AE-207
    assert transform(code, is_cust_sd=cust_sd) == result
    assert respond(code, is_cust_sd=cust_sd).result == result


def test_name_of_the_operator_is_reset_after_the_call() -> None:  # AE-304, AE-705
    engine = AeEngine(AeContext(), FILES, SmallKernels(FILES, []))
    scheduled = execute(AeEvent(AICPU, LIBRARY, "k_ret_0"), engine)
    assert scheduled.call is not None
    assert (scheduled.call.op_name, engine.session.op_name) == ("k_ret_0", None)
    engine.call(AeEvent(AICPU, LIBRARY, "k_ret_1"))  # site 3 resets nothing
    scheduled = execute(AeEvent(KFC, LIBRARY, "k_ret_0", NULL), engine)
    assert scheduled.call is not None
    assert scheduled.call.op_name == "k_ret_1"  # stale, as AE-705 says
