"""Rules of the write side of custom libraries: places, names and steps. Spec 05, section 9."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from cannkit.ae.context import CUST_PATH, HOME, AeContext, byte_length
from cannkit.ae.so_path import CUST_USER, is_so_name, vf_suffix
from cannkit.format.ae_status import RunMode, ScheduleStatus

OK: Final = ScheduleStatus.OK
BAD_PARAMETER: Final = ScheduleStatus.ERROR_PARAMETER_NOT_VALID
INNER_ERROR: Final = ScheduleStatus.ERROR_INNER_ERROR

NAME_LIMIT: Final = 128  # AE-904
ENV_LIMIT: Final = 1024  # AE-901: a longer value counts as unset


class StepKind(StrEnum):
    """What a step does. LOCK, KEEP, SHARE, LOAD and REFUSE change nothing in the tree."""

    LOCK = "lock"
    MKDIR = "mkdir"
    WRITE = "write"
    CHMOD = "chmod"
    SYMLINK = "symlink"
    KEEP = "keep"
    SHARE = "share"
    LOAD = "load"
    UNLINK = "unlink"
    RMDIR = "rmdir"
    REFUSE = "refuse"


class Step(NamedTuple):
    """One thing that is done, to which path as the device spells it, and how: in words, and as data."""

    kind: StepKind
    path: str
    text: str
    mode: int | None = None
    size: int | None = None
    target: str | None = None


class Written(NamedTuple):
    """What a request did, with its status. `remarks` tells what may surprise."""

    status: ScheduleStatus
    steps: tuple[Step, ...]
    remarks: tuple[str, ...] = ()


class RefusedError(Exception):
    """The scheduler refuses a request, and answers with `status`; inside of the write side only."""

    def __init__(self, status: ScheduleStatus, path: str, why: str) -> None:
        super().__init__(why)
        self.status, self.path, self.why = status, path, why


def write_root(context: AeContext) -> str:
    """AE-901: R, the root of all custom libraries; empty where no variable tells."""
    if context.run_mode == RunMode.PCIE:
        return CUST_USER + vf_suffix(context.vf)
    root = None if context.run_mode == RunMode.SOCKET else short_value(context, CUST_PATH)
    if root is None:
        root = short_value(context, HOME) or ""
    return root if not root or root.endswith("/") else root + "/"


def short_value(context: AeContext, variable: str) -> str | None:
    """AE-901: a variable as the writer reads it, None where it is unset or has 1024 bytes."""
    value = context.env.get(variable)
    return None if value is None or byte_length(value) >= ENV_LIMIT else value


def checked_name(name: bytes | str | None, folder: str) -> str:
    """AE-904: the name of a library for `folder`. Raises RefusedError."""
    if not name:
        why = "the name is null" if name is None else "the name is empty"
        raise RefusedError(BAD_PARAMETER, folder, why)
    if len(name) > NAME_LIMIT:
        why = f"the name has {len(name)} bytes (at most {NAME_LIMIT})"
        raise RefusedError(BAD_PARAMETER, folder, why)
    text = name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
    if not is_so_name(text):
        why = f"a name has letters, digits, `-`, `_` and `.` only, not {text!r}"
        raise RefusedError(BAD_PARAMETER, folder, why)
    return text
