"""Status codes of the runtime by number and name, their translation, and RtError. Spec 02, section 1.

Three spaces: inner codes (`RT_ERROR_*`), external codes (`ACL_ERROR_RT_*`, what `rt*` and `aclrt*`
calls return) and the parameter errors of the ACL layer itself. The enums name what cannkit raises;
every other code is looked up in `data/rt-codes.csv` and `data/error-codes.csv`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from cannkit.errors import CannkitError, ExitCode
from cannkit.format.bits import OpenEnum

DATA: Final = Path(__file__).parent.parent / "data"
INNER_BASE: Final = 0x0701_0000  # API-1: a code from here on is an inner one


class AclStatus(OpenEnum):
    """External codes, `ACL_ERROR_<name>`: what the caller sees."""

    NONE = 0
    INVALID_PARAM = 100000
    RT_PARAM_INVALID = 107000
    RT_INVALID_DEVICEID = 107001
    RT_CONTEXT_NULL = 107002
    RT_STREAM_CONTEXT = 107003
    RT_STREAM_MODEL = 107005
    RT_INVALID_HANDLE = 107017
    RT_STREAM_ABORT = 107023
    RT_STREAM_CAPTURED = 107027
    RT_STREAM_NOT_CAPTURED = 107029
    RT_STREAM_CAPTURE_IMPLICIT = 107031
    RT_STREAM_CAPTURE_WRONG_THREAD = 107038
    RT_SYMBOL_NOT_FOUND = 107042
    RT_INVALID_SYMBOL = 107043
    RT_INVALID_DEVICE_FUNCTION = 107044
    RT_FEATURE_NOT_SUPPORT = 207000
    RT_MEMORY_ALLOCATION = 207001
    RT_INTERNAL_ERROR = 507000
    RT_STREAM_FULL = 507002
    RT_KERNEL_UNREGISTERING = 507024
    RT_KERNEL_LOOKUP = 507027
    RT_KERNEL_DUPLICATE = 507028
    RT_PROGRAM_USE_OUT = 507032
    RT_DEV_SETUP_ERROR = 507033
    RT_STREAM_SYNC_TIMEOUT = 507046
    RT_DRV_INTERNAL_ERROR = 507899

    @classmethod
    def name_of(cls, value: int) -> str:
        """The name in the table of codes, for a number that no rule of ours needs."""
        row = _acl_rows().get(value)
        return row.name.removeprefix("ACL_ERROR_") if row else super().name_of(value)

    @property
    def c_name(self) -> str:
        """The name in CANN, or `ACL_ERROR_UNKNOWN_...` for a number without one."""
        row = None if self.known else _acl_rows().get(self)
        return row.name if row else f"ACL_ERROR_{self.name}"

    @property
    def meaning(self) -> str:
        """What it means, in our words; empty for a number without a name."""
        row = _acl_rows().get(self)
        return row.meaning if row else ""

    @property
    def category(self) -> str:
        """API-2: whose fault it is, by the leading digit."""
        return {1: "caller", 2: "resource", 5: "internal"}.get(self // 100_000, "")


class RtStatus(OpenEnum):
    """Inner codes of the runtime, `RT_ERROR_<name>`."""

    DEVICE_NULL = 0x07010001
    DEVICE_ID = 0x07010003
    DRV_INPUT = 0x07020004
    DRV_ERR = 0x07020010
    DRV_OUT_MEMORY = 0x07020016
    DRV_NOT_SUPPORT = 0x0702001D
    STREAM_NULL = 0x07030001
    STREAM_CONTEXT = 0x07030003
    STREAM_INVALID = 0x07030004
    STREAM_MODEL = 0x07030005
    STREAM_FULL = 0x07030007
    STREAM_NOT_EXIST = 0x0703000D
    STREAM_SYNC_TIMEOUT = 0x07030010
    STREAM_ABORT = 0x07030015
    STREAM_ABORT_SEND_TASK_FAIL = 0x07030016
    STREAM_CAPTURED = 0x07030019
    STREAM_NOT_CAPTURED = 0x0703001B
    STREAM_CAPTURE_IMPLICIT = 0x0703001D
    STREAM_CAPTURE_WRONG_THREAD = 0x07030026
    CONTEXT_NULL = 0x07070001
    KERNEL_NULL = 0x07080001
    KERNEL_LOOKUP = 0x07080003
    KERNEL_NAME = 0x07080004
    KERNEL_TYPE = 0x07080005
    KERNEL_DUPLICATE = 0x07080007
    KERNEL_UNREGISTERING = 0x07080008
    KERNEL_INVALID = 0x07080009
    SYMBOL_NOT_FOUND = 0x0708000A
    INVALID_SYMBOL = 0x0708000B
    INVALID_DEVICE_FUNCTION = 0x0708000C
    PROGRAM_BASE = 0x07090000
    PROGRAM_NULL = 0x07090001
    PROGRAM_DATA = 0x07090003
    PROGRAM_SIZE = 0x07090004
    PROGRAM_MACHINE_TYPE = 0x07090006
    PROGRAM_USEOUT = 0x07090007
    MODULE_NULL = 0x070A0001
    MODULE_NEW = 0x070A0002
    INVALID_VALUE = 0x07110001
    METADATA = 0x0711000A
    FEATURE_NOT_SUPPORT = 0x0711000D
    MEMORY_ALLOCATION = 0x0711000E
    INVALID_HANDLE = 0x07110016
    TASKRES_QUEUE_FULL = 0x071C0001

    @classmethod
    def name_of(cls, value: int) -> str:
        """The name in the table of codes, for a number that no rule of ours needs."""
        row = _rt_rows().get(value)
        return row.name.removeprefix("RT_ERROR_") if row else super().name_of(value)

    @property
    def c_name(self) -> str:
        """The name in CANN, or `RT_ERROR_UNKNOWN_...` for a number without one."""
        row = None if self.known else _rt_rows().get(self)
        return row.name if row else f"RT_ERROR_{self.name}"

    @property
    def meaning(self) -> str:
        """What it means, in our words; empty for a number without a name."""
        row = _rt_rows().get(self)
        return row.meaning if row else ""

    @property
    def acl(self) -> AclStatus:
        """The external code that stands for it."""
        return external(self)


def external(code: int) -> AclStatus:
    """API-1, ERR-3: the code a caller sees for an inner one.

    An inner code without a row is 507000; 0 and what is no inner code pass unchanged.
    """
    if code < INNER_BASE:
        return AclStatus(code)
    row = _rt_rows().get(code)
    return AclStatus(row.acl) if row else AclStatus.RT_INTERNAL_ERROR


class RtError(CannkitError):
    """A refusal of the runtime: its inner code, and the code that the caller of the ACL sees.

    `status` is the inner code; an AclStatus stands for a parameter error of the ACL layer, which
    has no inner one. `acl` overrides the external code, for calls that collapse every failure.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.REFUSED
    kind: ClassVar[str] = "runtime"
    rt: RtStatus | None
    acl: AclStatus

    def __init__(
        self,
        status: RtStatus | AclStatus,
        what: str,
        *,
        where: str | None = None,
        why: str = "",
        hint: str | None = None,
        acl: AclStatus | None = None,
    ) -> None:
        super().__init__(what, where=where, why=why, hint=hint)
        self.rt = status if isinstance(status, RtStatus) else None
        self.acl = acl or (status.acl if isinstance(status, RtStatus) else status)

    def collapsed(self, acl: AclStatus = AclStatus.RT_PARAM_INVALID) -> RtError:
        """The same refusal out of a call that answers every failure with one external code."""
        return self._again(self.where, acl)

    def inside(self, place: str) -> RtError:
        """The same refusal, its `where` led by the file it happened in."""
        where = self.where or ""
        if place not in where:
            where = f"{place}, {where}" if where else place
        return self._again(where or None, self.acl)

    def _again(self, where: str | None, acl: AclStatus) -> RtError:
        status = self.rt or self.acl
        return RtError(status, self.what, where=where, why=self.why, hint=self.hint, acl=acl)


class _RtRow(NamedTuple):
    name: str
    acl: int
    meaning: str


class _AclRow(NamedTuple):
    name: str
    layer: str
    meaning: str


def _rows(file: str) -> Iterator[list[str]]:
    import csv  # here, for only an error needs it

    with (DATA / file).open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        yield from rows


@cache
def _rt_rows() -> dict[int, _RtRow]:
    rows = _rows("rt-codes.csv")
    return {int(code, 16): _RtRow(name, int(acl), meaning) for code, name, acl, meaning in rows}


@cache
def _acl_rows() -> dict[int, _AclRow]:
    return {int(code): _AclRow(*rest) for code, *rest in _rows("error-codes.csv")}
