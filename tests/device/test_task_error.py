"""From the completion entry to the caller's code. Spec 03, section 10."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import cannkit.format.status
from cannkit.device.task_error import TaskCore, rt_status, ts_code
from cannkit.format.status import AclStatus, RtStatus, external
from cannkit.soc import Soc, all_socs, find_soc
from tests.facts import A2_SOC, A5_SOC

V100, V200 = find_soc(A2_SOC), find_soc(A5_SOC)
DATA = Path(cannkit.format.status.__file__).parent.parent / "data"


@pytest.mark.parametrize(
    ("soc", "core", "error_type", "error_code", "ts", "acl"),
    [
        (V100, TaskCore.VECTOR, 0x06, 0, 0x32, 507036),
        (V200, TaskCore.VECTOR, 0x06, 0, 0x112, 507001),
        (V100, TaskCore.AI_CPU, 0x04, 0, 0x28, 507017),
        (V100, TaskCore.AI_CPU, 0x01, 0, 0x2A, 507018),
        (V100, TaskCore.AI_CPU, 0x20, 0x2C, 0x2C, 507020),
        (V100, TaskCore.AI_CPU, 0x01, 11002, 0x2A, 507018),  # ERR-6
        (V200, TaskCore.AI_CPU, 0x01, 11002 << 16, 0x2A, 507018),
        (V100, TaskCore.AI_CPU, 0x01, 8, 0, 0),  # AE-208: aborted
        (V200, TaskCore.AI_CPU, 0x01, 8 << 16, 0, 0),
        (V200, TaskCore.AI_CPU, 0x01, 8, 0x2A, 507018),
        (V200, TaskCore.OTHER, 0x01, 0, 0x103, 507001),
        (V200, TaskCore.OTHER, 0x20, 0x58, 0x58, 507053),
        (V100, TaskCore.AI_CORE, 0x80, 0x26, 0, 0),
    ],
)
def test_the_lowest_bit_decides(
    soc: Soc, core: TaskCore, error_type: int, error_code: int, ts: int, acl: int
) -> None:
    """EX-DEV-13, ERR-1, ERR-2."""
    code = ts_code(error_type, error_code, core, soc)
    assert code == ts
    assert not ts or rt_status(code).acl == acl


@pytest.mark.parametrize(
    ("bit", "ai_core", "vector", "ai_cpu"),
    [
        (0, 0x26, 0x31, 0x2A),
        (1, 0x27, 0x32, 0x104),
        (2, 0x25, 0x30, 0x28),
        (3, 0x106, 0x106, 0x106),
        (4, 0x26, 0x31, 0x2A),
        (5, 0x77, 0x77, 0x77),
    ],
)
def test_every_bit(bit: int, ai_core: int, vector: int, ai_cpu: int) -> None:
    """ERR-1, the table."""
    cores = (TaskCore.AI_CORE, TaskCore.VECTOR, TaskCore.AI_CPU)
    assert [ts_code(1 << bit, 0x77, core, V100) for core in cores] == [ai_core, vector, ai_cpu]
    if bit == 1:
        assert {ts_code(2, 0, core, V200) for core in cores} == {0x112}


TS_ROWS = [
    ((0x25, 0x26, 0x27), (0x07150025, 0x07150026, 0x07150027), (507014, 507015, 507016)),
    ((0x28, 0x2A), (0x07150028, 0x0715002A), (507017, 507018)),
    ((0x30, 0x31, 0x32), (0x0715005D, 0x0715005E, 0x0715005F), (507034, 507035, 507036)),
    (
        (0x2F, 0x33, 0x34, 0x35),
        (0x0715005B, 0x07150061, 0x07150065, 0x07150066),
        (207003, 207016, 207017, 207017),
    ),
    ((0x57,), (0x0715006F,), (507902,)),
    ((0x58, 0x5A, 0x5D), (0x07010026, 0x0701002A, 0x07010033), (507053, 507055, 507056)),
    ((0x91, 0x94, 0x95), (0x07150050, 0x07150053, 0x07150054), (507011, 507002, 507005)),
    ((0x97,), (0x07100003,), (507009,)),
    ((0x99, 0x10E), (0x0704000E,) * 2, (507023,) * 2),
    (
        (0x103, 0x104, 0x106, 0x112, 0x113, 0x114),
        (0x07150057, 0x07150058, 0x0715005A, 0x07150070, 0x07150071, 0x07150072),
        (507001,) * 6,
    ),
    ((0x105, 0x20C), (0x07150059,) * 2, (107020,) * 2),
    (
        (0x10A, 0x10B, 0x10C, 0x10D),
        (0x07150067, 0x07150068, 0x07150069, 0x0715006A),
        (507042, 507043, 507044, 507045),
    ),
    ((0x111, 0x10F, 0x110), (0x0715006B, 0x0715006C, 0x0715006D), (507048, 507049, 507050)),
    ((0x217, 0x218), (0x07150063, 0x07150064), (507013,) * 2),
    ((0x220, 0x221, 0x225), (0x07010027, 0x07010027, 0x0701002F), (507053,) * 3),
    ((0x222, 0x226), (0x0701002B, 0x07010030), (507057,) * 2),
    ((0x223, 0x224), (0x07180003, 0x07180002), (507001, 507904)),
    ((0x227, 0x228), (0x07010035, 0x07010036), (507916, 507915)),
    ((0x5B, 0x5C, 0x107), (0x0701002C, 0x0701002D, 0x0715005C), (507000,) * 3),
    ((0x7777,), (0x07150062,), (507001,)),
]


@pytest.mark.parametrize(
    ("ts", "rt", "acl"), [row for rows in TS_ROWS for row in zip(*rows, strict=True)]
)
def test_scheduler_codes(ts: int, rt: int, acl: int) -> None:
    """Section 10.2, its table."""
    status = rt_status(ts)
    assert (int(status), int(status.acl)) == (rt, acl)


@pytest.mark.parametrize(
    ("status", "acl"),
    [
        (RtStatus.PROGRAM_USEOUT, 507032),
        (RtStatus.PROGRAM_NULL, 507000),
        (RtStatus.PROGRAM_DATA, 507000),
        (RtStatus.PROGRAM_SIZE, 507000),
        (RtStatus(0x07090002), 207001),
        (RtStatus(0x07080002), 207001),
        (RtStatus.MODULE_NEW, 207001),
        (RtStatus.DRV_OUT_MEMORY, 207001),
        (RtStatus.KERNEL_INVALID, 107017),
        (RtStatus.KERNEL_LOOKUP, 507027),
        (RtStatus.KERNEL_DUPLICATE, 507028),
        (RtStatus.KERNEL_UNREGISTERING, 507024),
        (RtStatus.SYMBOL_NOT_FOUND, 107042),
        (RtStatus.CONTEXT_NULL, 107002),
        (RtStatus.INVALID_VALUE, 107000),
        (RtStatus.DEVICE_ID, 107001),
        (RtStatus.DRV_INPUT, 107000),
        (RtStatus.DRV_NOT_SUPPORT, 207000),
    ],
)
def test_codes_of_the_load_path(status: RtStatus, acl: int) -> None:
    """Section 2.7, ERR-4."""
    assert status.acl == acl


def test_a_code_without_a_row_is_an_internal_error() -> None:
    """ERR-3: pool codes, platform parse; smaller numbers pass unchanged."""
    assert [external(code) for code in (0x07200001, 0x071F0001)] == [507000, 507000]
    assert [external(code) for code in (0, 107002)] == [0, 107002]


def test_the_table_of_public_codes() -> None:
    """Section 10.1: 216 rows, and the layer of a code by its number."""
    with (DATA / "error-codes.csv").open(encoding="utf-8", newline="") as lines:
        found = list(csv.reader(lines))[1:]
    assert len(found) == 216
    assert all(AclStatus(int(row[0])).c_name for row in found)
    layers = {
        "success": (0, 1),
        "acl-param": (100000, 148999),
        "acl-resource": (200000, 200999),
        "acl-storage": (300000, 300000),
        "acl-internal": (500000, 500999),
        "rt-param": (107000, 107999),
        "rt-resource": (207000, 207999),
        "rt-internal": (507000, 507999),
    }
    for row in found:
        low, high = layers[row[2]]
        assert low <= int(row[0]) <= high


def test_the_table_of_chips() -> None:
    """Section 14: 73 SoCs, chip ids within SOC-6."""
    names = [soc.name for soc in all_socs()]
    assert len(names) == len(set(names)) == 73
    for soc in all_socs():
        number = soc.facts["chip_type_id"]
        assert isinstance(number, int)
        assert number in range(22) or number in range(200, 206)
