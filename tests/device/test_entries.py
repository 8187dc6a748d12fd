"""Entries as the hardware takes them: recorded ones, and what is no kernel."""

from __future__ import annotations

from typing import Any

import pytest

from cannkit.device.entry_v100 import EntriesV100
from cannkit.device.entry_v200 import EntriesV200
from cannkit.device.executor import DONE, ErrorType
from cannkit.device.kernel_entry import Generation, KernelEntry
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.sqe import v100, v200
from tests.facts import rows

GENERATIONS: dict[str, Generation] = {"v100": EntriesV100(), "v200": EntriesV200()}
LAUNCHED = [row for row in rows("sqe") if not row["result"]["ret"]]
CORES = [row for row in LAUNCHED if row["result"].get("ratio")]
LOW_48 = (1 << 48) - 1


def an_entry(row: dict[str, Any]) -> KernelEntry | None:
    generation = GENERATIONS[row["family"]]
    raw = bytes.fromhex(row["result"]["sqe"])
    sqe = generation.decode(raw)
    reading = generation.readings.get(type(sqe))
    if reading is None:
        return None
    context = reading.context
    return reading.kernel(
        sqe, context.decode(bytes.fromhex(row["result"]["ctx"])) if context else None
    )


@pytest.mark.parametrize("row", CORES, ids=lambda row: str(row["id"]))
def test_blocks_of_recorded_entries(row: dict[str, Any]) -> None:
    """LCH-49, LCH-50: `ratio` of the row counts sub-blocks; a kernel without mix has none there."""
    entry = an_entry(row)
    if entry is None:
        assert row["device"].get("failCtxCopy")
        return
    recorded = tuple(row["result"]["ratio"])
    if recorded == (0, 0):
        recorded = (0, 1) if row.get("kernel", {}).get("attr") == 2 else (1, 0)
    task = row["result"]["task"]
    assert entry.ratio == recorded
    assert entry.dim == task["dim"]
    assert (entry.uses_aic, entry.uses_aiv) == (recorded[0] > 0, recorded[1] > 0)
    pcs = [task["funcAddr"], task["funcAddr1"] if entry.paired else 0]
    assert [pc for pc in (entry.aic_pc, entry.aiv_pc) if pc] == [pc & LOW_48 for pc in pcs if pc]


@pytest.mark.parametrize("row", LAUNCHED, ids=lambda row: str(row["id"]))
def test_streams_and_tasks_of_recorded_entries(row: dict[str, Any]) -> None:
    """LCH-73, Q-18: also where a mix entry has them exchanged."""
    raw, launch = bytes.fromhex(row["result"]["sqe"]), row["launch"]
    ids = GENERATIONS[row["family"]].ids(raw, 5, 77)
    if row["family"] == "v200":
        assert ids == (5, 77)
    else:
        assert ids == (launch.get("stream", 0) & 0xFFFF, launch.get("taskId", 0))


@pytest.mark.parametrize("family", GENERATIONS)
def test_what_is_no_task(family: str) -> None:
    """Section 6, step 1."""
    generation = GENERATIONS[family]
    types = v100.SqeType if family == "v100" else v200.SqeType
    ends = {}
    for number in range(64):
        raw = bytes([number]) + bytes(7) + b"\7" + bytes(55)
        if type(generation.decode(raw)) in (v100.Header, v200.Header):
            ends[number] = generation.end_of_other(raw)
            assert generation.type_name(raw) == types(number).name
    assert ends[3] == DONE
    assert ends[63] == (ErrorType.SQE_ERROR, 0, "no such entry type: INVALID")
    assert ends[40] == (ErrorType.SQE_ERROR, 0, "no such entry type: UNKNOWN_0x28")
    assert ends[8] == (0, 0, "not simulated: WRITE_VALUE")
    fails = {number for number, end in ends.items() if end.error_type}
    known = {member.value for member in types} - {63}
    assert fails == set(range(64)) - known | ({0} if family == "v100" else set())


def test_types_of_records() -> None:
    """04, 4.1 to 4.7."""
    first, second = GENERATIONS["v100"].decode, GENERATIONS["v200"].decode
    for ffts_type, record in {
        0: "KernelSqe",
        1: "KernelSqe",
        4: "MixSqe",
        5: "KernelSqe",
        2: "Header",
    }.items():
        raw = v100.KernelSqe(ffts_type=v100.FftsType(ffts_type)).encode()
        assert type(first(raw)).__name__ == record
    for sqe_type, record in {
        0: "KernelSqe",
        1: "KernelSqe",
        4: "AicpuSqe",
        5: "AicpuSqe",
        2: "Header",
    }.items():
        assert (
            type(second(v200.Header(sqe_type=v200.SqeType(sqe_type)).encode())).__name__ == record
        )
    kfc = v200.AicpuSqe(
        sqe_type=v200.SqeType.FUSION, kernel_type=CpuKernelType.AICPU_KFC, sub_type=1
    )
    assert second(kfc.encode()) == kfc
    assert type(second(kfc.replace(kernel_type=2).encode())) is v200.Header
    assert type(second(kfc.replace(sub_type=0).encode())) is v200.Header


def test_a_chip_with_older_kernel_entries() -> None:
    """04, 4.8: 310P and 910 have no FFTS+ entries."""
    older = EntriesV100(has_ffts_plus=False)
    raw = v100.KernelSqe().encode()
    assert type(older.decode(raw)) is v100.Header
    assert older.end_of_other(raw) == (0, 0, "not simulated: FFTS")
