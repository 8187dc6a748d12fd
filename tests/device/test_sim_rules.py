"""The rules of the simulated hardware: each provoked, on each generation, in each mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest

from cannkit.device.code_map import FunctionFacts
from cannkit.device.executor import ErrorType
from cannkit.device.memory import SystemSlot
from cannkit.device.sim_rules import core_counts
from cannkit.device.trace import Severity
from cannkit.format.bits import Record
from cannkit.format.sqe import v100, v200
from cannkit.soc import find_soc
from tests.device.station import ARGS, VECTOR, Station
from tests.facts import A2_SOC, A5_SOC

EXCEPTION, SQE_ERROR, CONFLICT = ErrorType.EXCEPTION, ErrorType.SQE_ERROR, ErrorType.CONFLICT
ERROR, WARNING = Severity.ERROR, Severity.WARNING
BOTH: Final = (A2_SOC, A5_SOC)
A2: Final = (A2_SOC,)
A5: Final = (A5_SOC,)
FAR: Final = 0x1234_5678  # nothing is there

Fields = dict[str, Any]
Make = Callable[[Station], Record]


class Provocation(NamedTuple):
    """An entry that breaks one rule: where, how badly by default, and the bit that fails it."""

    rule: str
    severity: Severity
    bit: ErrorType
    socs: tuple[str, ...]
    why: str
    make: Make


def with_facts(make: Make, **changes: object) -> Make:
    def made(station: Station) -> Record:
        station.publish(**changes)
        return make(station)

    return made


def freed(station: Station) -> Record:
    entry = station.single()
    station.device.free(station.base)
    return entry


def other_binary(station: Station) -> Record:
    at = station.device.allocate(64)
    facts = FunctionFacts("v", is_vector=True, args_size=ARGS)
    station.device.code.publish(at, 64, lambda: {at: facts})
    return station.mix(aiv_pc=at)


def args_pointing(where: int) -> Make:
    def made(station: Station) -> Record:
        station.memory.write(station.args, where.to_bytes(8, "little"))
        return station.single()

    return made


def no_context(station: Station) -> Record:
    return station.mix(sqe={"context_addr": FAR & ~0x7F})


def beside_context(station: Station) -> Record:
    entry = station.mix()
    raw = station.memory.read(station.context, 128)
    station.memory.write(station.context + 64, raw)
    return entry.replace(context_addr=station.context + 64)


def batch(blocks: int, core: str) -> Make:
    def made(station: Station) -> Record:
        groups: Fields = (
            {} if station.is_v100 else {"group_dim": 2, "group_block_dim": -(-blocks // 2)}
        )
        return station.single(core, schem=1, block_dim=blocks, **groups)

    return made


def mix_batch(main: str, blocks: int, ratio: int) -> Make:
    def made(station: Station) -> Record:
        if station.is_v100:
            return station.mix(main, ratio, {"block_dim": blocks}, schem=1, block_dim=blocks)
        groups: Fields = {"group_dim": 2, "group_block_dim": -(-blocks // 2)}
        return station.mix(main, ratio, schem=1, block_dim=blocks, **groups)

    return made


def no_blocks(station: Station) -> Record:
    groups: Fields = {} if station.is_v100 else {"group_dim": 1, "group_block_dim": 0}
    return station.single(block_dim=0, **groups)


def stack_at(slot: SystemSlot, offset: int = 0) -> Make:
    def made(station: Station) -> Record:
        base = station.memory.system_address(slot) + offset
        return station.single(stack_base=base)

    return made


def level(value: int) -> Make:
    def made(station: Station) -> Record:
        level: Fields = {"stack_level" if station.is_v100 else "aiv_stack_level": value}
        return station.single(**level)

    return made


def unused(station: Station) -> Record:
    if station.is_v100:
        return station.mix("aiv", 0, aic_pc=station.cube)
    return station.single("aiv", aic_pc=station.cube)


def reserved_word(station: Station) -> Record:
    raw = bytearray(station.single().encode())
    raw[24 if station.is_v100 else 13] = 1
    kind = v100.KernelSqe if station.is_v100 else v200.KernelSqe
    return kind.decode(bytes(raw))


def reserved_context(station: Station) -> Record:
    entry = station.mix()
    station.memory.write(station.context + 20, b"\1")
    return entry


# fmt: off
CASES: Final = (
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "no loaded code", lambda s: s.single("aiv", **pc(s, FAR))),
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "PC 0x0", lambda s: s.single("aiv", **pc(s, 0))),
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "no loaded code", lambda s: s.single("aiv", **pc(s, s.base + 0x1000))),
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "multiple of 4", lambda s: s.single("aiv", **pc(s, s.vector + 2))),
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "no loaded code", freed),
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "AIC PC", lambda s: s.mix(aic_pc=FAR)),
    Provocation("SIM-1", ERROR, EXCEPTION, BOTH, "AIV PC", lambda s: s.mix(aiv_pc=FAR)),
    Provocation("SIM-2", WARNING, EXCEPTION, BOTH, "mid-function", lambda s: s.single("aiv", **pc(s, s.vector + 4))),
    Provocation("SIM-2", WARNING, EXCEPTION, BOTH, "AIV PC", lambda s: s.mix(aiv_pc=s.vector + 4)),
    Provocation("SIM-3", ERROR, SQE_ERROR, BOTH, "without a PC for AIC", lambda s: s.mix(aic_pc=0)),
    Provocation("SIM-3", ERROR, SQE_ERROR, BOTH, "without a PC for AIV", lambda s: s.mix("aiv", aiv_pc=0)),
    Provocation("SIM-3", ERROR, SQE_ERROR, BOTH, "different binaries", other_binary),
    Provocation("SIM-3", ERROR, SQE_ERROR, A5, "not used has PC", unused),
    Provocation("SIM-4", ERROR, EXCEPTION, BOTH, "24 bytes", lambda s: s.single(**args(s, FAR))),
    Provocation("SIM-4", ERROR, EXCEPTION, BOTH, "24 bytes", lambda s: s.single(**args(s, 0))),
    Provocation("SIM-4", ERROR, EXCEPTION, BOTH, "24 bytes", lambda s: s.single("aic", **args(s, s.args + 4096 - 1024 - 23, "aic"))),
    Provocation("SIM-4", ERROR, EXCEPTION, BOTH, "1 bytes", with_facts(lambda s: s.single(**args(s, FAR)), args_size=None)),
    Provocation("SIM-4", WARNING, EXCEPTION, BOTH, "pointer is 0", with_facts(lambda s: s.single(**args(s, 0)), args_size=None)),
    Provocation("SIM-4", ERROR, EXCEPTION, BOTH, "24 bytes", lambda s: s.mix(aiv_args_addr=FAR)),
    Provocation("SIM-4", ERROR, EXCEPTION, BOTH, "24 bytes", lambda s: s.mix("aiv", aic_args_addr=FAR)),
    Provocation("SIM-4", ERROR, EXCEPTION, A2, "5000 bytes", lambda s: s.mix(aic_args_size=5000)),
    Provocation("SIM-4", ERROR, EXCEPTION, A5, "32 in front", with_facts(lambda s: s.single(**args(s, s.args - 1024 + 31), dcu_size=1024), vf_type=3, has_parameters=True)),
    Provocation("SIM-5", WARNING, EXCEPTION, BOTH, "argument at offset 0: 0x12345678", args_pointing(FAR)),
    Provocation("SIM-6", ERROR, CONFLICT, BOTH, "0 blocks", no_blocks),
    Provocation("SIM-6", ERROR, CONFLICT, A2, "25 AIC blocks, there are 24", batch(25, "aic")),
    Provocation("SIM-6", ERROR, CONFLICT, A2, "49 AIV blocks, there are 48", batch(49, "aiv")),
    Provocation("SIM-6", ERROR, CONFLICT, A5, "37 AIC blocks, there are 36", batch(37, "aic")),
    Provocation("SIM-6", ERROR, CONFLICT, A5, "73 AIV blocks, there are 72", batch(73, "aiv")),
    Provocation("SIM-6", ERROR, CONFLICT, A2, "25 AIC blocks", mix_batch("aic", 25, 1)),
    Provocation("SIM-6", ERROR, CONFLICT, A2, "26 AIC blocks", mix_batch("aiv", 13, 2)),
    Provocation("SIM-7", ERROR, SQE_ERROR, BOTH, "schem 2", lambda s: s.single(schem=2)),
    Provocation("SIM-7", ERROR, SQE_ERROR, BOTH, "schem 3", lambda s: s.mix(schem=3)),
    Provocation("SIM-7", ERROR, SQE_ERROR, BOTH, "not 3", lambda s: s.mix(ratio=3)),
    Provocation("SIM-7", ERROR, SQE_ERROR, BOTH, "not 0", lambda s: s.mix(ratio=0)),
    Provocation("SIM-8", WARNING, SQE_ERROR, A5, "do not fit 4 blocks", lambda s: s.single(group_block_dim=1)),
    Provocation("SIM-8", WARNING, SQE_ERROR, A5, "do not fit 4 blocks", lambda s: s.single(group_block_dim=3)),
    Provocation("SIM-9", ERROR, SQE_ERROR, A5, "above 262144", lambda s: s.single(dcu_size=262_145)),
    Provocation("SIM-9", ERROR, SQE_ERROR, A5, "229376", with_facts(lambda s: s.single(dcu_size=229_504), vf_type=4)),
    Provocation("SIM-9", ERROR, SQE_ERROR, A5, "multiple of 128", with_facts(lambda s: s.mix(dcu_size=1000), vf_type=3)),
    Provocation("SIM-10", ERROR, EXCEPTION, BOTH, "no stack region", stack_at(SystemSlot.STACK_32K, 16)),
    Provocation("SIM-10", ERROR, EXCEPTION, BOTH, "no stack region", stack_at(SystemSlot.STACK_CUSTOM)),
    Provocation("SIM-10", ERROR, EXCEPTION, BOTH, "no stack region", stack_at(SystemSlot.STACK_SIMT)),
    Provocation("SIM-10", WARNING, EXCEPTION, A2, "above 10", level(11)),
    Provocation("SIM-10", WARNING, EXCEPTION, A5, "above 6", level(7)),
    Provocation("SIM-10", WARNING, EXCEPTION, BOTH, "needs 32769", with_facts(Station.single, min_stack=32769)),
    Provocation("SIM-10", WARNING, EXCEPTION, A2, "a stack of 16384 bytes", with_facts(stack_at(SystemSlot.STACK_16K), min_stack=16385)),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "no context", no_context),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "64 bytes beside", beside_context),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "MIX_AIC under MIX_AIV", lambda s: s.mix(sqe={"sub_type": 7})),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "DCACHE_LOCK under", lambda s: s.mix(sqe={"sub_type": 10}, context_type=10)),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "2 contexts, 1 ready", lambda s: s.mix(sqe={"total_contexts": 2})),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "0 ready", lambda s: s.mix(sqe={"ready_contexts": 0})),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "9 preloaded", lambda s: s.mix(sqe={"preload_contexts": 9})),
    Provocation("SIM-11", ERROR, SQE_ERROR, A2, "thread dim 2", lambda s: s.mix(thread_dim=2)),
    Provocation("SIM-11", WARNING, SQE_ERROR, A2, "tail", lambda s: s.mix(tail_block_dim=3)),
    Provocation("SIM-11", WARNING, SQE_ERROR, A2, "tail", lambda s: s.mix(aiv_tail_pc=s.cube)),
    Provocation("SIM-11", WARNING, SQE_ERROR, A2, "5 blocks by the entry, 4", lambda s: s.mix(sqe={"block_dim": 5})),
    Provocation("SIM-12", WARNING, SQE_ERROR, BOTH, "reserved bits of KernelSqe", reserved_word),
    Provocation("SIM-12", WARNING, SQE_ERROR, A2, "reserved bits of MixContext", reserved_context),
    Provocation("SIM-13", WARNING, SQE_ERROR, A2, "credit 0", lambda s: s.single(kernel_credit=0)),
    Provocation("SIM-13", WARNING, SQE_ERROR, A2, "credit 0", lambda s: s.mix(sqe={"kernel_credit": 0})),
)
# fmt: on


def pc(station: Station, address: int) -> Fields:
    return {"pc" if station.is_v100 else "aiv_pc": address}


def args(station: Station, address: int, core: str = "aiv") -> Fields:
    return {"args_addr" if station.is_v100 else f"{core}_args_addr": address}


PROVOKED: Final = [
    pytest.param(case, soc, id=f"{case.rule}-{soc}-{case.why}")
    for case in CASES
    for soc in case.socs
]


@pytest.mark.parametrize(("case", "soc"), PROVOKED)
def test_a_rule_is_provoked(case: Provocation, soc: str) -> None:
    """SIM-1 to SIM-13: the finding, and what becomes of the task."""
    station = Station(soc)
    event = station.told(case.make(station))
    (found,) = event.findings
    assert (found.rule, found.severity) == (case.rule, case.severity)
    assert case.why in found.message
    if case.severity is ERROR:
        assert event.outcome == (case.bit, 0, found.message)
    else:
        assert event.outcome == (0, 0, "")


@pytest.mark.parametrize(("case", "soc"), PROVOKED)
def test_strict_makes_an_error_of_a_warning(case: Provocation, soc: str) -> None:
    station = Station(soc, strict=True)
    event = station.told(case.make(station))
    (found,) = event.findings
    assert found.severity is ERROR
    assert event.outcome == (case.bit, 0, found.message)


@pytest.mark.parametrize(("case", "soc"), PROVOKED)
def test_lenient_lets_a_batch_pass(case: Provocation, soc: str) -> None:
    """Q-11."""
    station = Station(soc, lenient=True)
    event = station.told(case.make(station))
    (found,) = event.findings
    is_batch = case.rule == "SIM-6" and "cores" in found.message
    assert found.severity == (WARNING if is_batch else case.severity)
    assert bool(event.outcome.error_type) == (found.severity is ERROR)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("case", "soc"), PROVOKED)
def test_who_listens_changes_nothing(case: Provocation, soc: str, strict: bool) -> None:
    """The short path and the long one come to the same end, also the second time."""
    heard, unheard = Station(soc, strict=strict), Station(soc, strict=strict, listen=False)
    entries = case.make(heard), case.make(unheard)
    for _ in range(2):
        assert heard.run(entries[0]) == unheard.run(entries[1])


@pytest.mark.parametrize("main", ["aic", "aiv"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("soc", BOTH)
def test_what_is_right_passes(soc: str, strict: bool, main: str) -> None:
    station = Station(soc, strict=strict)
    assert station.found(station.single(main)) == []
    for ratio in (1, 2):
        assert station.found(station.mix(main, ratio)) == []
    assert station.found(station.cpu()) == []
    assert not station.device.completions


@pytest.mark.parametrize(
    ("soc", "make"),
    [
        (A2_SOC, batch(24, "aic")),
        (A2_SOC, batch(48, "aiv")),
        (A5_SOC, batch(36, "aic")),
        (A5_SOC, batch(72, "aiv")),
        (A2_SOC, mix_batch("aic", 24, 2)),
        (A2_SOC, mix_batch("aiv", 12, 2)),
        (A5_SOC, mix_batch("aiv", 18, 2)),
    ],
)
def test_a_batch_that_just_fits(soc: str, make: Make) -> None:
    """LCH-51, SIM-6: both sides."""
    station = Station(soc, strict=True)
    assert station.found(make(station)) == []


def test_both_sides_of_a_batch() -> None:
    """W-14, Q-11: 20 blocks 1:2 fit 910B3, 21 are too many on both sides."""
    station = Station("Ascend910B3")
    assert station.found(mix_batch("aic", 20, 2)(station)) == []
    findings = station.told(mix_batch("aic", 21, 2)(station)).findings
    assert [found.message for found in findings] == [
        "a batch of 21 AIC blocks, there are 20 cores",
        "a batch of 42 AIV blocks, there are 40 cores",
    ]


@pytest.mark.parametrize(
    ("soc", "cores"),
    [
        ("Ascend910B1", (24, 48)),
        ("Ascend910B4", (20, 40)),
        ("Ascend910_9362", (20, 40)),
        ("Ascend950DT_9571", (28, 56)),
        ("Ascend950PR_9599", (36, 72)),
        ("Ascend950PR_950z", (4, 8)),
        ("910_B_93", (24, 48)),
        ("DAVID", (36, 72)),
    ],
)
def test_cores(soc: str, cores: tuple[int, int]) -> None:
    """LCH-51: of 25 and 50 the driver counts, one cube core is kept back."""
    assert core_counts(find_soc(soc)) == cores


@pytest.mark.parametrize("soc", BOTH)
def test_no_arguments(soc: str) -> None:
    """SIM-4: a pointer of 0 is right for a kernel without parameters, and so is any other."""
    station = Station(soc, strict=True)
    station.publish(args_size=0, pointers=())
    assert station.found(station.single(**args(station, 0))) == []
    assert station.found(station.single(**args(station, FAR))) == []


@pytest.mark.parametrize("soc", BOTH)
def test_pointers_that_are_right(soc: str) -> None:
    """SIM-5: the last byte of live memory, and an allocation of nothing."""
    station = Station(soc, strict=True)
    for where in (station.buffer + 255, station.device.allocate(0)):
        assert station.found(args_pointing(where)(station)) == []
    assert station.found(args_pointing(station.buffer + 256)(station)) == [("SIM-5", ERROR)]


@pytest.mark.parametrize("soc", BOTH)
def test_a_pointer_behind_the_block_is_not_read(soc: str) -> None:
    station = Station(soc, strict=True)
    station.publish(args_size=8, pointers=(1 << 20,))
    assert station.found(station.single()) == []


def test_simt_code_without_a_grid() -> None:
    """LCH-34: real operators run SIMT code, do not state parameters and have nothing in front."""
    station = Station(A5_SOC)
    station.publish(vf_type=3)
    assert station.found(station.single(**args(station, station.args - 1024), dcu_size=1024)) == []


@pytest.mark.parametrize("simt", [3, 4])
def test_unified_buffer_of_simt(simt: int) -> None:
    """SIM-9, LCH-48."""
    station = Station(A5_SOC)
    station.publish(vf_type=simt)
    for size in (0, 128, 229_376):
        assert station.found(station.single(dcu_size=size)) == []
    station.publish(vf_type=2)
    assert station.found(station.single(dcu_size=262_144)) == []


def test_groups_that_fit() -> None:
    """SIM-8, LCH-58."""
    station = Station(A5_SOC)
    for blocks, group_dim, size in ((1, 1, 1), (33, 2, 17), (34, 2, 17), (65535, 2, 32768)):
        entry = station.single(block_dim=blocks, group_dim=group_dim, group_block_dim=size)
        assert station.found(entry) == []


def test_a_data_cache_lock_program() -> None:
    """SIM-11: its sub type says nothing of the main side."""
    station = Station(A2_SOC, strict=True)
    lock = v100.ContextType.DCACHE_LOCK
    assert station.found(station.mix("aic", sqe={"sub_type": lock})) == []
    assert station.found(station.mix("aiv", sqe={"sub_type": lock})) == []


@pytest.mark.parametrize(("main", "other"), [("aic", "aiv"), ("aiv", "aic")])
def test_one_side_of_a_mix(main: str, other: str) -> None:
    """SIM-3, W-10: mix types 1 and 2 have one side; both argument pointers are set."""
    station = Station(A2_SOC, strict=True)
    nothing: Fields = {f"{other}_pc": 0, f"{other}_args_addr": FAR}
    event = station.told(station.mix(main, 0, **nothing))
    assert event.findings == ()
    assert (event.aic, event.aiv) == ((4, 0) if main == "aic" else (0, 4))


def test_several_errors_show_all_bits() -> None:
    """LCH-69: the lowest bit decides, and its words are told."""
    station = Station(A2_SOC)
    event = station.told(station.single(schem=2, block_dim=0, stack_base=FAR))
    assert [finding.rule for finding in event.findings] == ["SIM-6", "SIM-7", "SIM-10"]
    assert event.outcome.error_type == EXCEPTION | SQE_ERROR | CONFLICT
    assert event.outcome.note == f"no stack region begins at {FAR:#x}"


def test_functions_are_where_the_station_says() -> None:
    station = Station(A2_SOC)
    assert station.vector == station.cube + VECTOR
    assert station.told(station.single("aic")).name == "cube"
    assert station.told(station.mix("aiv")).name == "vector"
