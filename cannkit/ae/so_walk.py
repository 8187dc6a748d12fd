"""One library looked for: gates, three levels, guard. Spec 05, AE-602, AE-606 and AE-607.

`resolve` is the one path routine: `so-path` prints what it tried, `ae-call` opens what it found.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from cannkit.ae.caller import CallEndedError, Opened
from cannkit.ae.context import AeContext, byte_length
from cannkit.ae.so_path import (
    CUST_TYPES,
    NO_CONTEXT,
    Decision,
    Settings,
    cust_lib,
    is_so_name,
    level_directories,
    place,
)
from cannkit.errors import InputError
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.inputs.files import PathView
from cannkit.inputs.real_path import PATH_LIMIT

ASCII_LIMIT: Final = PATH_LIMIT // 4  # shorter than this no text has as many bytes
OUTSIDE: Final = "it leads out of its directory"
BAD_NAME: Final = "a library name has letters, digits, `-`, `_` and `.` only"

OK: Final = AeStatus.SUCCESS
BAD_PARAM: Final = AeStatus.BAD_PARAM
OPEN_FAILED: Final = AeStatus.OPEN_SO_FAILED
INNER_ERROR: Final = AeStatus.INNER_ERROR


class Guard(StrEnum):
    """AE-607: what the guard says of where a path leads."""

    PREFIX = "prefix"
    CUST = "cust-substring"
    REFUSED = "refused"
    NOT_CHECKED = "not-checked"


class Attempt(NamedTuple):
    """A path that was asked for. `exists` and `status` are None where that is not known.

    `why` says what failed, `remarks` what is odd about a library that was opened.
    """

    level: int
    directory: str
    path: str
    exists: bool | None
    real_path: str | None
    guard: Guard
    status: AeStatus | None
    why: str = ""
    remarks: tuple[str, ...] = ()


class Skipped(NamedTuple):
    """A level whose path was never asked for, and why."""

    level: int
    directory: str | None
    status: AeStatus
    why: str


class Resolution(NamedTuple):
    """The story of one library: rules, paths, the status of LoadSo (None: not known without files).

    `library` is the caller's handle, `loaded` the path it was opened from; `cached` when nothing had to
    be looked for, for a task of `kernel_type` had it loaded before.
    """

    so_name: str
    decisions: tuple[Decision, ...]
    attempts: tuple[Attempt, ...]
    skipped: tuple[Skipped, ...]
    status: AeStatus | None
    why: str = ""
    loaded: str | None = None
    library: int | None = None
    cached: bool = False
    kernel_type: int = 0


Open = Callable[[str], Opened]


def gate(kernel_type: int, name: str, settings: Settings, context: AeContext) -> str:
    """AE-602, steps 1 and 2: why a library is refused before anything is looked for; empty if it is not."""
    if not name:
        return "the library name is empty"
    is_thread = settings.run_mode == RunMode.THREAD
    if kernel_type in CUST_TYPES and not (context.is_cust_sd or is_thread):
        return "custom kernels run in the custom scheduler (cust-sd) or in thread mode only"
    return ""


def resolve(
    kernel_type: int,
    name: str,
    settings: Settings,
    context: AeContext,
    files: PathView | None,
    open_library: Open,
) -> Resolution:
    """AE-602 without the cache: gates, directory, three levels.

    Without `files` every level is listed and nothing is known of it. Raises CallEndedError.
    """
    why = gate(kernel_type, name, settings, context)
    if why:
        rule = Decision("AE-602.2" if name else "AE-602.1", why, taken=True)
        return Resolution(name, (rule,), (), (), BAD_PARAM, why)
    if not is_so_name(name):
        rule = Decision("AE-602.4", BAD_NAME, taken=True)
        return Resolution(name, (rule,), (), (), BAD_PARAM, BAD_NAME)
    placement = place(kernel_type, name, settings, context)
    if placement.directory is None:
        return Resolution(name, placement.decisions, (), (), placement.status, placement.why)
    walk = Walk(name, context, files, open_library)
    try:
        status = walk.levels(placement.directory)
    except CallEndedError as ended:
        ended.resolution = walk.story(placement.decisions, None)
        raise
    return walk.story(placement.decisions, status)


class Walk:
    """AE-606 and AE-607: the levels for one library, what was tried and what was opened. Changes."""

    __slots__ = (
        "_context",
        "_cust_lib",
        "_files",
        "_open",
        "attempts",
        "library",
        "name",
        "skipped",
    )

    def __init__(
        self, name: str, context: AeContext, files: PathView | None, open_library: Open
    ) -> None:
        self.name = name
        self.attempts: list[Attempt] = []
        self.skipped: list[Skipped] = []
        self.library: int | None = None
        self._context = context
        self._files = files
        self._open = open_library
        self._cust_lib = cust_lib(context.vf)

    def levels(self, first: str) -> AeStatus | None:
        """AE-606: the status of the last level that was asked; None where that is not known."""
        status: AeStatus | None = OPEN_FAILED
        is_unknown = False
        for level, directory in enumerate(level_directories(first, self._context), 1):
            if directory is None:
                status = INNER_ERROR
                self.skipped.append(Skipped(level, None, status, NO_CONTEXT))
            else:
                status = self.attempt(level, directory)
            is_unknown = is_unknown or status is None
            if status == OK:
                break
        return None if is_unknown else status

    def attempt(self, level: int, directory: str, *, guarded: bool = True) -> AeStatus | None:
        """One path: its length, whether it exists, the guard, then it is opened."""
        path = directory + self.name
        if len(path) >= ASCII_LIMIT and (size := byte_length(path)) >= PATH_LIMIT:
            why = f"the path has {size} bytes; it may have 4095"  # AE-607.2
            self.skipped.append(Skipped(level, directory, OPEN_FAILED, why))
            return OPEN_FAILED
        attempt = self._try(level, directory, path, guarded=guarded)
        self.attempts.append(attempt)
        return attempt.status

    def _try(self, level: int, directory: str, path: str, *, guarded: bool) -> Attempt:
        guard, status = Guard.NOT_CHECKED, OPEN_FAILED
        if self._files is None:
            return Attempt(level, directory, path, None, None, guard, None)
        try:
            real = self._files.real_path(path)
            why = "" if real is not None else self._files.why_missing(path)
        except InputError as error:
            return Attempt(level, directory, path, None, None, guard, status, error.why)
        if real is None:
            return Attempt(level, directory, path, False, None, guard, status, why)
        if guarded:
            guard = self._guard(directory, real)
            if guard is Guard.REFUSED:
                return Attempt(level, directory, path, True, real, guard, status, OUTSIDE)
        try:
            opened = self._open(real)
        except CallEndedError as ended:
            why = ended.verdict.what
            last = Attempt(level, directory, path, True, real, guard, None, why)
            self.attempts.append(last)
            raise
        if opened.library is not None:
            self.library, status = opened.library, OK
        return Attempt(
            level, directory, path, True, real, guard, status, opened.why, opened.remarks
        )

    def _guard(self, directory: str, real: str) -> Guard:
        """AE-607.4: the directory is compared as it is spelled."""
        if real.startswith(directory if directory.endswith("/") else directory + "/"):
            return Guard.PREFIX
        return Guard.CUST if self._cust_lib in real else Guard.REFUSED

    def story(
        self, decisions: tuple[Decision, ...], status: AeStatus | None, why: str = ""
    ) -> Resolution:
        """All of it."""
        last = self.attempts[-1] if self.attempts else None
        loaded = last.real_path if last and status == OK else None
        return Resolution(
            self.name,
            decisions,
            tuple(self.attempts),
            tuple(self.skipped),
            status,
            why,
            loaded,
            self.library,
        )
