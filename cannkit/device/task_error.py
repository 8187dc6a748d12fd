"""How the end of a task becomes a code: completion entry, task scheduler, runtime. Spec 03, 10.2."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from cannkit.format.status import RtStatus
from cannkit.soc import Soc

DATA: Final = Path(__file__).parent.parent / "data"

ERROR_BITS: Final = 6  # of errorType
TRAP_BIT: Final = 1  # v100; bus error on v200
STATUS_BIT: Final = 5  # the code is in errorCode
BUS_ERROR: Final = 0x112
SQE_ERROR: Final = 0x106
ABORTED: Final = 8  # AE-208, of the AI CPU
STATUS_SHIFT: Final = 16  # AE-208: on V2 chips its code is in the upper half
V2: Final = ("v200", "v201")
UNKNOWN: Final = RtStatus(0x0715_0062)  # TSFW_RESERVED -> 507001


class TaskCore(Enum):
    """What ran a task."""

    AI_CORE = "AI Core"
    VECTOR = "vector core"
    AI_CPU = "AI CPU"
    OTHER = "other"  # ERR-2, v200


# ERR-1, ERR-2: the code of each bit of errorType but the last, lowest first.
BIT_CODES: Final[Mapping[TaskCore, tuple[int, ...]]] = {
    TaskCore.AI_CORE: (0x26, 0x27, 0x25, SQE_ERROR, 0x26),
    TaskCore.VECTOR: (0x31, 0x32, 0x30, SQE_ERROR, 0x31),
    TaskCore.AI_CPU: (0x2A, 0x104, 0x28, SQE_ERROR, 0x2A),
    TaskCore.OTHER: (0x103, BUS_ERROR, 0x105, SQE_ERROR, 0x113, 0x114),
}


def ts_code(error_type: int, error_code: int, core: TaskCore, soc: Soc) -> int:
    """The task scheduler's code of a completion entry; 0 for a task that ended well. ERR-1, ERR-2.

    The lowest bit of `error_type` decides, unless a task of another kind has an `error_code`. A task of
    the AI CPU that says that it was aborted is not taken for one that failed.
    """
    bits = error_type & (1 << ERROR_BITS) - 1
    if not bits:
        return 0
    if core is TaskCore.AI_CPU and error_code == aicpu_code(ABORTED, soc):
        return 0
    bit = (bits & -bits).bit_length() - 1
    if core is TaskCore.OTHER:
        return error_code or BIT_CODES[core][bit]
    if bit == STATUS_BIT:
        return error_code
    if bit == TRAP_BIT and soc.library != "v100":
        return BUS_ERROR
    return BIT_CODES[core][bit]


def aicpu_code(result: int, soc: Soc) -> int:
    """AE-208: what errorCode is for a result of the AI CPU."""
    return result << STATUS_SHIFT if soc.library in V2 else result


def rt_status(ts: int) -> RtStatus:
    """The inner code of a task scheduler's code; its `acl` is what synchronise answers."""
    return RtStatus(_table().get(ts, UNKNOWN))


@cache
def _table() -> dict[int, int]:
    import csv  # here, for only a failed task needs it

    with (DATA / "ts-codes.csv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        return {int(row["code"], 16): int(row["rt"], 16) for row in rows}
