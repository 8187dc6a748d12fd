"""The 21 logic kernels: names, files, sizes, and what becomes of a task without a library. AE-401 to AE-403."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.ae.logic_args import CreateQueueArgs, ModelArgs, PriorityArgs, SomaMemMng
from cannkit.ae.logic_kernels import LOGIC_KERNELS, LogicKernel, find, judge, near
from cannkit.format.ae_status import ScheduleStatus
from cannkit.format.ae_structs import AicpuParamHead
from tests.ae.structs import known_places, places, records
from tests.facts import golden

FACTS: Final[Any] = golden("logic_kernels")
NAMES: Final = [row[1] for row in FACTS["kernels"]]
NULL: Final = ScheduleStatus.ERROR_PARAMETER_NOT_VALID
each_kernel = pytest.mark.parametrize("kernel", LOGIC_KERNELS, ids=lambda kernel: kernel.name)


def good(kernel: LogicKernel) -> bytes:
    """An argument that nothing is wrong with."""
    raw = bytearray(kernel.argument.SIZE)
    if kernel.length:
        raw[:4] = kernel.length.to_bytes(4, "little")
    if (rule := FACTS["must_be"].get(kernel.name)) is not None:
        put(raw, rule, rule["allowed"][0])
    return bytes(raw)


def put(raw: bytearray, rule: dict[str, int], value: int) -> None:
    at, size = rule["offset"], rule["size"]
    raw[at : at + size] = value.to_bytes(size, "little")


def test_table() -> None:
    """AE-402: the 21 rows."""
    ours = [
        [
            kernel.number,
            kernel.name,
            kernel.source,
            kernel.argument.SIZE,
            kernel.length,
            int(NULL) if kernel.checks_null else None,
        ]
        for kernel in LOGIC_KERNELS
    ]
    assert ours == FACTS["kernels"]
    assert len(set(NAMES)) == 21
    assert max(map(len, NAMES)) == FACTS["longest_name"] == 30
    sent = [kernel.number for kernel in LOGIC_KERNELS if kernel.sender]
    assert sent == FACTS["sent_by_the_host"]
    assert len({kernel.does for kernel in LOGIC_KERNELS} - {""}) == 21


@each_kernel
def test_arguments(kernel: LogicKernel) -> None:
    """AE-402: each field and where it lies, behind a head where there is one."""
    ours = places(kernel.argument)
    by_name = {name: (span.lo, span.width) for name, span in kernel.argument.SPANS.items()}
    if kernel.length:
        head = {name: (span.lo, span.width) for name, span in AicpuParamHead.SPANS.items()}
        assert head.items() <= by_name.items()
        by_name = {name: place for name, place in by_name.items() if name not in head}
    if kernel.name in FACTS["fields"]:
        assert by_name == known_places(FACTS["fields"][kernel.name])
    else:  # one of those of ae_structs.json
        assert ours == known_places(
            golden("ae_structs")["records"][kernel.argument.C_NAME]["fields"]
        )


def test_no_argument_without_a_kernel() -> None:
    from cannkit.ae import logic_args

    assert set(records(logic_args)) <= {kernel.argument for kernel in LOGIC_KERNELS}


@pytest.mark.parametrize("name", NAMES)
def test_find(name: str) -> None:
    """AE-401: exactly, but no more than 30 bytes."""
    kernel = find(name)
    assert kernel is not None
    assert kernel.name == name
    assert find(name.swapcase()) is None
    assert find(name[:-1]) is None
    assert find(f" {name}") is None
    assert (find(f"{name}X") is kernel) is (len(name) == 30)


def test_a_name_of_more_than_30_bytes() -> None:
    """Q-5: row 5 has 30, and what is behind them does not count."""
    name = "AICPUModelClearInputAndRestartX"
    kernel = find(name)
    assert kernel is not None
    assert kernel.number == 5
    outcome = judge(name, good(kernel))
    assert outcome.kernel is kernel
    assert outcome.remarks == (f"only the first 30 bytes of {name!r} are compared",)
    assert find("AICPUModelClearInputAndRestar" + "é") is None
    assert find("AICPUModelClearInputAndRestart" + "\udcff" * 9) is kernel


@each_kernel
def test_runs_but_is_not_simulated(kernel: LogicKernel) -> None:
    """AE-403: no success is claimed, the argument is there."""
    outcome = judge(kernel.name, good(kernel))
    assert outcome.status is None
    assert outcome.kernel is kernel
    assert outcome.argument == kernel.argument.decode(good(kernel))
    assert outcome.remarks == ()


@each_kernel
def test_null_argument(kernel: LogicKernel) -> None:
    """AE-402; Q-14: 4, 5, 10 and 20 crash the original."""
    outcome = judge(kernel.name, None)
    assert (outcome.status, outcome.argument) == (21001, None)
    crash = ", which the original does not check: it crashes"
    crashes = kernel.number in (4, 5, 10, 20)
    assert outcome.remarks == ("paramBase is null" + crash * crashes,)


def test_null_name() -> None:
    """AE-401."""
    outcome = judge(None, bytes(4))
    assert (outcome.status, outcome.kernel, outcome.argument) == (21001, None, None)
    assert outcome.remarks == ("kernelName is null",)


@pytest.mark.parametrize("param", [None, b"", bytes(84)])
def test_unknown_name(param: bytes | None) -> None:
    """AE-401: 21005, whatever lies at paramBase."""
    outcome = judge("endgraph", param)
    assert (outcome.status, outcome.kernel, outcome.argument) == (21005, None, None)
    assert outcome.remarks == ("no logic kernel is called 'endgraph'", "the nearest: endGraph")
    assert judge("", param).remarks == ("no logic kernel is called ''",)
    assert judge("RunCpuKernel", param).status == ScheduleStatus.ERROR_NOT_FOUND_LOGICAL_TASK


def test_long_unknown_name() -> None:
    """What is told is short, and does not take long."""
    outcome = judge("x" * 10_000_000, None)
    assert outcome.status == 21005
    assert sum(map(len, outcome.remarks)) < 500
    assert outcome.remarks[1].startswith("only the first 30 bytes of 'xxx")


@each_kernel
def test_message_queue_mode(kernel: LogicKernel) -> None:
    """AE-402: rows 15 to 17 ask for it first."""
    for param in (None, b"", good(kernel)):
        outcome = judge(kernel.name, param, is_message_queue=True)
        refused = kernel.name in FACTS["not_in_message_queue_mode"]
        assert (outcome.status == 21008) is refused
        if refused:
            told = f"{kernel.name} does not run in message-queue mode"
            assert (outcome.remarks, outcome.argument) == ((told,), None)
        else:
            assert outcome == judge(kernel.name, param)


@each_kernel
def test_short_argument(kernel: LogicKernel) -> None:
    """The original reads what lies behind it; where a length is checked, cannkit refuses."""
    for size in (0, kernel.argument.SIZE - 1):
        outcome = judge(kernel.name, good(kernel)[:size])
        reads = f"{kernel.name} reads {kernel.argument.SIZE}"
        assert outcome.remarks == (f"paramBase has {size} bytes, {reads}",)
        assert outcome.argument is None
        assert outcome.status == (21001 if kernel.length else None)


@each_kernel
def test_long_argument(kernel: LogicKernel) -> None:
    """What is behind it does not matter."""
    size = kernel.argument.SIZE
    outcome = judge(kernel.name, good(kernel) + b"\xff")
    assert outcome.remarks == (
        f"paramBase has {size + 1} bytes, {kernel.name} reads {size} of them",
    )
    assert (outcome.status, outcome.argument) == judge(kernel.name, good(kernel))[0::2]


@each_kernel
def test_length_of_the_head(kernel: LogicKernel) -> None:
    """AE-402: must be 84, 30, 36, 160 and 24; of others it is no length."""
    for stated in (0, kernel.argument.SIZE + 1, 0xFFFF_FFFF):
        raw = stated.to_bytes(4, "little") + good(kernel)[4:]
        outcome = judge(kernel.name, raw)
        told = (f"length is {stated}, must be {kernel.length}",)
        assert outcome.remarks == told if kernel.length else told[0] not in outcome.remarks
        if kernel.length:
            assert outcome.status == 21001
            assert outcome.argument is not None


@pytest.mark.parametrize("name", FACTS["must_be"])
def test_what_fields_must_be(name: str) -> None:
    """AE-402: where the chapter tells no code there is none."""
    rule = FACTS["must_be"][name]
    kernel = find(name)
    assert kernel is not None
    for value in (*rule["allowed"], *rule["refused"]):
        raw = bytearray(good(kernel))
        put(raw, rule, value)
        outcome = judge(name, bytes(raw))
        if value in rule["allowed"]:
            assert (outcome.status, outcome.remarks) == (None, ())
        else:
            assert outcome.status == rule["code"]
            assert len(outcome.remarks) == 1
            assert f" is {value}, must be {rule['allowed'][0]}" in outcome.remarks[0]


def test_decoded_arguments() -> None:
    """AE-403: fields by name; signs and texts as they are."""
    outcome = judge("endGraph", bytes.fromhex("2a000000"))
    assert outcome.argument == ModelArgs(model_id=42)
    raw = (30).to_bytes(4, "little") + bytes(16) + bytes.fromhex("cdab feffffff 07000000")
    priority = judge("AicpuModelEschedPriority", raw).argument
    assert isinstance(priority, PriorityArgs)
    assert (priority.value_of("pid_priority"), priority.value_of("event_priority")) == (-2, 7)
    assert priority.io_addr_num == 0
    queue = (160).to_bytes(4, "little") + bytes(24) + b"queue".ljust(128, b"\0") + b"\4\0\0\0"
    made = judge("CreateQueue", queue).argument
    assert isinstance(made, CreateQueueArgs)
    assert made.value_of("name") == b"queue".ljust(128, b"\0")
    assert made.depth == 4
    assert SomaMemMng(operation=0xFFFF_FFFF).value_of("operation") == -1


def test_near() -> None:
    """For a hint."""
    assert near("CreateQueu")[0] == "CreateQueue"
    assert near("batchLoadSoFromBuf")[0] == "batchLoadsoFrombuf"
    assert near("AicpuModelConfigs")[0] == "AicpuModelConfig"
    assert near("") == near("zzzz") == ()
    assert len(near("AicpuModel")) <= 3


@given(
    st.none() | st.text() | st.sampled_from(NAMES),
    st.none() | st.binary(max_size=170),
    st.booleans(),
)
def test_any_task(name: str | None, param: bytes | None, queue: bool) -> None:
    """Any bytes give an outcome; success is never claimed."""
    outcome = judge(name, param, is_message_queue=queue)
    assert outcome.status in (None, 21001, 21005, 21008)
    assert (outcome.status is None) <= (outcome.kernel is not None)
    if outcome.argument is not None:
        assert param is not None
        assert param.startswith(outcome.argument.encode())
