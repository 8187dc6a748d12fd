"""Stars: entries in order, from the bytes in the ring to completions."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cannkit.device.code_map import FunctionFacts
from cannkit.device.device import Device, DeviceConfig
from cannkit.device.executor import BlockContext, ErrorType
from cannkit.device.ring import ENTRY
from cannkit.device.stars import PLANS, Plan
from cannkit.device.trace import Severity, TaskEvent
from cannkit.format.cqe import Cqe
from cannkit.format.sqe import v100, v200
from cannkit.soc import find_soc
from tests.device.station import SOCS, Station
from tests.facts import A2_SOC, A5_SOC


def place_holder(station: Station, *, wr_cqe: bool = False) -> bytes:
    if station.is_v100:
        header = v100.Header(
            sqe_type=v100.SqeType.PLACE_HOLDER, stream_id=3, task_id=5, wr_cqe=wr_cqe
        )
        return header.encode()
    return v200.Header(sqe_type=v200.SqeType.PLACE_HOLDER, wr_cqe=wr_cqe).encode()


@pytest.mark.parametrize("soc", SOCS)
def test_a_task_that_ends_well_says_nothing(soc: str) -> None:
    """LCH-67: success is the head of the queue."""
    station = Station(soc)
    assert station.run(station.single(), station.mix(), place_holder(station)) == []
    assert (station.ring.head, station.ring.tail, station.ring.count) == (3, 3, 0)


@pytest.mark.parametrize("soc", SOCS)
def test_a_completion_that_was_asked_for(soc: str) -> None:
    """LCH-67: wr_cqe."""
    station = Station(soc)
    first, second = station.run(station.single(wr_cqe=True), place_holder(station, wr_cqe=True))
    ids = (17, 5) if station.is_v100 else (0, 1)
    assert first == (
        Cqe(
            stream_id=3, task_id=ids[0], sqe_type=0 if station.is_v100 else 1, sq_id=3, sq_head=1,
            match=True,
        ),
        "",
    )  # fmt: skip
    assert (second.cqe.task_id, second.cqe.sqe_type, second.cqe.sqe_index) == (ids[1], 3, 1)


@pytest.mark.parametrize("soc", SOCS)
def test_a_task_that_fails(soc: str) -> None:
    """LCH-67, LCH-64: on A5 the place in the queue is the task. The device runs on."""
    station = Station(soc)
    good, bad = station.single(), station.single(schem=2)
    ((cqe, note),) = station.run(good, bad, good)
    assert note == "schem 2 is none"
    assert cqe.stream_id == 3
    assert cqe.task_id == (17 if station.is_v100 else 1)
    assert (cqe.sq_id, cqe.sq_head, cqe.sqe_index) == (3, 2, 1)
    assert (cqe.error_type, cqe.error_code, cqe.error_bit, cqe.match) == (8, 0, True, True)
    assert station.ring.head == 3


@pytest.mark.parametrize(("first", "second"), [(0x8012, 3), (0x2012, 3), (3, 0x12)])
def test_exchanged_ids_are_put_back(first: int, second: int) -> None:
    """LCH-73, Q-31; Q-10: also of an entry whose context could not be copied."""
    station = Station(A2_SOC)
    for change in ({"total_contexts": 7}, {"sqe_type": v100.SqeType.INVALID}):
        entry = station.mix(sqe={"stream_id": first, "task_id": second, **change})
        ((cqe, _),) = station.run(entry)
        assert (cqe.stream_id, cqe.task_id, cqe.error_type) == (3, 18, 8)


@pytest.mark.parametrize("soc", SOCS)
def test_a_queue_that_stops_on_failure(soc: str) -> None:
    """Spec 03, section 9, CHOICE; other queues go on."""
    station = Station(soc)
    other = station.device.open_queue(4)
    station.ring.stops_on_failure = True
    station.device.submit(4, station.single().encode())
    done = station.run(station.single(), station.single(schem=3), station.single(schem=2))
    assert [each.note for each in done] == ["schem 3 is none"]
    assert (station.ring.count, other.count, other.head) == (0, 0, 1)
    assert len(station.run(station.single(schem=2))) == 1


def test_queues_are_worked_off_in_order() -> None:
    station = Station(A2_SOC)
    station.device.open_queue(9)
    station.device.open_queue(0)
    entry = station.single().encode()
    for queue in (9, 3, 0, 9):
        station.device.submit(queue, entry)
    station.device.run()
    events = [event for event in station.log if isinstance(event, TaskEvent)]
    assert [(event.queue, event.position) for event in events] == [(0, 0), (3, 0), (9, 0), (9, 1)]


@pytest.mark.parametrize("soc", SOCS)
def test_what_is_told(soc: str) -> None:
    station = Station(soc)
    mix = station.mix("aic", 2)
    event = station.told(mix)
    context = station.memory.read(station.context, 128) if station.is_v100 else None
    assert event == (
        0, 3, 0, mix.encode(), context, "cube", 4, 8, (), (0, 0, ""),
    )  # fmt: skip
    event = station.told(place_holder(station))
    assert (event.name, event.aic, event.aiv, event.outcome) == ("PLACE_HOLDER", 0, 0, (0, 0, ""))
    event = station.told(bytes([8]) + bytes(63))
    assert event.name == "WRITE_VALUE"
    assert [finding.severity for finding in event.findings] == [Severity.NOTE]
    event = station.told(bytes([33]) + bytes(63))
    assert event.findings == (("decode", Severity.ERROR, "no such entry type: UNKNOWN_0x21"),)
    assert event.outcome.error_type == ErrorType.SQE_ERROR


class Copier:
    """A model: reads a pointer of its arguments, and counts up what lies there."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, context: BlockContext) -> None:
        self.runs += 1
        target = int.from_bytes(context.read(context.args_address, 8), "little")
        context.view(target, 1)[0] += 1


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("listen", [False, True])
def test_a_host_model_runs(soc: str, listen: bool) -> None:
    station, model = Station(soc, listen=listen), Copier()
    station.device.models.bind(station.vector, model)
    station.run(station.single(), station.single("aic"), station.mix("aic", 2))
    assert model.runs == 4 + 4 + 8
    assert station.memory.read(station.buffer, 1) == bytes([16])
    station.device.models.unbind(station.vector)
    station.run(station.single())
    assert model.runs == 16


@pytest.mark.parametrize("soc", SOCS)
def test_a_bit_of_the_ring_decides(soc: str) -> None:
    """Submit takes bytes only: what is in the ring when the device runs is what counts."""
    station, model = Station(soc, listen=False), Copier()
    station.device.models.bind(station.vector, model)
    entry = station.single().encode()
    for _ in range(3):
        station.device.submit(3, entry)
    block_dim = station.ring.address + ENTRY + 2
    station.memory.write(block_dim, bytes([4 | 1]))
    pc = 32 if station.is_v100 else 36
    station.memory.write(station.ring.address + 2 * ENTRY + pc + 3, b"\xff")
    station.device.run()
    assert model.runs == 4 + 5
    ((cqe, note),) = station.device.completions
    assert cqe.sqe_index == 2
    assert "no loaded code" in note


@pytest.mark.parametrize("soc", SOCS)
def test_a_bit_of_the_argument_block_decides(soc: str) -> None:
    station, model = Station(soc, listen=False), Copier()
    station.device.models.bind(station.vector, model)
    entry = station.single()
    assert station.run(entry) == []
    raw = entry.encode()
    station.device.submit(3, raw)
    pointer = station.memory.read(station.args, 8)
    station.memory.write(station.args, bytes([pointer[0] ^ 0x80]) + pointer[1:])
    assert station.run() == []
    assert station.memory.read(station.buffer + 0x80, 1) == b"\4"
    station.device.submit(3, raw)
    station.memory.write(station.args + 5, b"\0")
    ((cqe, note),) = station.run()
    assert cqe.error_type == ErrorType.EXCEPTION
    assert "DeviceFaultError" in note


@pytest.mark.parametrize(
    ("field", "bit"),
    [
        ("aiv_pc", 40),
        ("aic_pc", 2),
        ("block_dim", 0),
        ("aiv_args_addr", 40),
        ("ratio", 0),
        ("schem", 1),
    ],
)
def test_a_bit_of_the_context_decides(field: str, bit: int) -> None:
    """One bit between submit and run, on a context that was good a moment before."""
    station, model = Station(A2_SOC, listen=False), Copier()
    station.device.models.bind(station.cube, model)
    entry = station.mix("aic", 1)
    assert station.run(entry) == []
    before = model.runs
    lo = v100.MixContext.SPANS[field].lo + bit
    station.device.submit(3, entry.encode())
    at = station.context + lo // 8
    byte = station.memory.read(at, 1)[0]
    station.memory.write(at, bytes([byte ^ 1 << lo % 8]))
    assert station.run() or model.runs - before != before


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("listen", [False, True])
def test_nothing_outdated_is_remembered(soc: str, listen: bool) -> None:
    """The same bytes, again: after a change of code, memory or mode they come to something else."""
    station = Station(soc, listen=listen)
    entry = station.single()
    device = station.device
    extra = device.allocate(4096)
    elsewhere: dict[str, Any] = {"args_addr" if station.is_v100 else "aiv_args_addr": extra}
    moved = station.single(**elsewhere)
    assert station.run(entry, moved, entry) == []
    device.free(extra)
    assert "argument block" in station.run(moved)[0].note
    facts = station.facts[station.vector]._replace(args_size=4096)
    device.code.publish(station.base, 0x1000, lambda: {station.vector: facts})
    assert "4096 bytes" in station.run(entry)[0].note
    station.publish()
    assert station.run(entry) == []
    loud = station.single(block_dim=5) if station.is_v100 else station.single(group_block_dim=9)
    credit = loud.replace(kernel_credit=0) if station.is_v100 else loud
    assert station.run(credit) == []
    device.config = DeviceConfig(strict=True)
    assert len(station.run(credit)) == 1
    device.config = DeviceConfig()
    assert station.run(credit) == []
    device.code.withdraw(station.base)
    assert "no loaded code" in station.run(entry)[0].note


def test_a_model_that_is_interrupted() -> None:
    """The task ends as failed, the others wait; the next run goes on behind it."""

    def model(context: BlockContext) -> None:
        if context.sub_block == 1:
            raise KeyboardInterrupt

    station = Station(A2_SOC)
    station.device.models.bind(station.cube, model)
    mix, single = station.mix().encode(), station.single("aic").encode()
    for raw in (mix, single):
        station.device.submit(3, raw)
    with pytest.raises(KeyboardInterrupt):
        station.device.run()
    ((cqe, note),) = station.device.completions
    assert (cqe.task_id, cqe.error_type, note) == (18, ErrorType.EXCEPTION, "interrupted")
    assert station.ring.count == 1
    station.device.run()
    assert station.ring.count == 0


def test_a_model_that_launches() -> None:
    """What a task submits waits for the next run, or none would ever end; one inside does nothing."""
    station, order = Station(A2_SOC), list[str]()

    def model(context: BlockContext) -> None:
        order.append(context.core)
        if len(order) == 1:
            station.device.submit(0, station.single("aic").encode())
            station.device.run()

    station.device.open_queue(0)
    station.device.models.bind(station.cube, model)
    station.device.models.bind(station.vector, model)
    station.run(station.single("aiv", block_dim=1), station.single("aiv", block_dim=1))
    assert order == ["aiv", "aiv"]
    station.device.run()
    assert order == ["aiv", "aiv", "aic", "aic", "aic", "aic"]


@pytest.mark.parametrize("act", [Device.reset, lambda device: device.close_queue(3)])
def test_a_model_that_pulls_the_rug(act: Callable[[Device], None]) -> None:
    station = Station(A2_SOC)
    runs = []

    def model(context: BlockContext) -> None:
        runs.append(context.block)
        act(station.device)

    station.device.models.bind(station.vector, model)
    for _ in range(3):
        station.device.submit(3, station.single(block_dim=1).encode())
    station.device.run()
    assert runs == [0]
    assert (len(station.device.rings), station.ring.count) == (0, 0)


def test_a_reset_forgets_everything() -> None:
    """DEV-25."""
    station = Station(A2_SOC)
    station.device.models.bind(station.vector, Copier())
    station.device.submit(3, station.single(schem=2).encode())
    station.device.run()
    assert station.device.completions
    station.device.reset()
    device = station.device
    assert not device.completions
    assert not device.models.functions
    assert device.code.find(station.vector) is None
    device.start()
    device.open_queue(3)
    ((_, note),) = station.run(station.single())
    assert "no loaded code" in note


def test_a_chip_without_such_entries() -> None:
    """04, 4.8: nothing of it is simulated, and all of it ends well; type 1 is a logic kernel here."""
    device = Device(0, find_soc("Ascend310P3"))
    device.open_queue(0)
    for number in range(64):
        device.submit(0, bytes([number]) + bytes(63))
    device.run()
    failed = {done.cqe.sqe_type for done in device.completions}
    assert failed == {63} | {2, 9, 10} | set(range(22, 63))


@pytest.mark.parametrize("soc", SOCS)
def test_100000_entries_keep_memory_flat(soc: str) -> None:
    """The ring wraps 48 times; plans are bounded, whatever comes."""
    station = Station(soc, listen=False)
    entries = [station.single(block_dim=1 + number).encode() for number in range(PLANS + 100)]
    used = station.memory.used
    submit, ring, number = station.device.submit, station.ring, 0
    while number < 100_000:
        while not ring.is_full() and number < 100_000:
            submit(3, entries[number % len(entries)])
            number += 1
        station.device.run()
    assert (ring.tail, ring.count) == (100_000 % ring.depth, 0)
    assert (station.memory.used, len(station.device.completions)) == (used, 0)
    assert sum(isinstance(thing, Plan) for thing in gc.get_objects()) <= PLANS


@given(st.lists(st.binary(min_size=64, max_size=64), max_size=8), st.sampled_from(SOCS))
def test_any_bytes_come_to_an_end(raws: list[bytes], soc: str) -> None:
    """Section 6, step 4: a validation error never raises."""
    heard, unheard = Station(soc), Station(soc, listen=False)
    assert heard.run(*raws) == unheard.run(*raws)
    assert heard.ring.count == unheard.ring.count == 0
    assert sum(isinstance(event, TaskEvent) for event in heard.log) == len(raws)


@settings(max_examples=300)
@given(
    st.sampled_from(SOCS),
    st.sampled_from(["aiv", "aic", "mix", "cpu"]),
    st.lists(st.integers(0, 511), max_size=6),
    st.lists(st.integers(0, 1023), max_size=4),
    st.booleans(),
)
def test_flipped_bits_come_to_an_end(
    soc: str, kind: str, bits: list[int], context_bits: list[int], strict: bool
) -> None:
    """A good entry with some bits flipped, in the ring and in its context."""
    stations = Station(soc, strict=strict), Station(soc, strict=strict, listen=False)
    ends = []
    for station in stations:
        entry = {"mix": station.mix, "cpu": station.cpu}.get(
            kind, lambda s=station: s.single(kind)
        )()
        word = int.from_bytes(entry.encode(), "little")
        for bit in bits:
            word ^= 1 << bit
        context = bytearray(station.memory.read(station.context, 128))
        for bit in context_bits:
            context[bit // 8] ^= 1 << bit % 8
        station.memory.write(station.context, context)
        ends.append(station.run(word.to_bytes(64, "little")) + station.run(entry))
    assert ends[0] == ends[1]


def test_facts_may_be_missing() -> None:
    """A PC in known code, of which nothing is known."""
    station = Station(A5_SOC)
    station.device.code.publish(station.base, 0x1000, dict[int, FunctionFacts])
    event = station.told(station.single())
    assert [finding.rule for finding in event.findings] == ["SIM-2"]
    assert event.name == ""
