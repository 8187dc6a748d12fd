"""Caller: who opens libraries, finds functions in them and calls them. Spec 05, AE-608 and AE-704.

The engine decides what to open and which function to call; a caller does it: in a child process
(host_caller), not at all (DryCaller), or out of a table (TableCaller).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from cannkit.ae.event import Argument
from cannkit.errors import CannkitError, ExitCode
from cannkit.format.ae_status import AeStatus

if TYPE_CHECKING:
    from cannkit.ae.call import AeCall
    from cannkit.ae.scheduler import Scheduled
    from cannkit.ae.so_walk import Resolution


class Signature(StrEnum):
    """AE-704: how a function is called. All return u32."""

    PARAM = "f(param)"
    BLOCK = "f(param, blkinfo)"
    ADDRESS = "f(u64)"


class Opened(NamedTuple):
    """A library that was opened, or why it was not. `remarks`: what is odd about one that was."""

    library: int | None
    why: str = ""
    remarks: tuple[str, ...] = ()


class Found(NamedTuple):
    """A function; `provider` is the object that has it, where it is not the one that was asked."""

    function: int
    provider: str = ""


class Returned(NamedTuple):
    """What a call gave back: u32, the segments of its argument afterwards, in their order.

    `overruns` tells of bytes beside a segment that were written, `output` is what the code printed.
    """

    code: int
    segments: tuple[bytes, ...] = ()
    overruns: tuple[str, ...] = ()
    output: str = ""


class Stage(StrEnum):
    """How far a call came in the process that runs foreign code. AE-1205."""

    START = "start"
    LOAD = "load"
    LOOKUP = "lookup"
    CALL = "call"
    DONE = "done"


class Verdict(NamedTuple):
    """AE-1206: how the process that ran foreign code ended before it answered.

    `status` is the code that the engine would return, None where the device's process died, too.
    `hints` says what to look at. `exit` or `signal` is None.
    """

    what: str
    stage: Stage
    exit: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    status: AeStatus | None = None
    hints: tuple[str, ...] = ()
    output: str = ""
    is_timeout: bool = False


class CallEndedError(CannkitError):
    """The process that ran foreign code is gone; `verdict` tells how. Nothing more can be called.

    On its way up it is told what was going on: the search for a library, the call, the task.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.FAULT
    kind: ClassVar[str] = "foreign"

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.what, hint="; ".join(verdict.hints) or None)
        self.verdict = verdict
        self.resolution: Resolution | None = None
        self.call: AeCall | None = None
        self.scheduled: Scheduled | None = None


class Caller(Protocol):
    """Opens, finds and calls. Raises CallEndedError where foreign code ended its process."""

    def open(self, path: str) -> Opened:
        """Load the library at `path`, resolved: dlopen(path, RTLD_LAZY | RTLD_GLOBAL). AE-608."""

    def close(self, library: int) -> None:
        """Unload it: dlclose. AE-610."""

    def find(self, library: int, name: str) -> Found | None:
        """A function of a library or of what it depends on: dlsym. AE-701."""

    def find_global(self, name: str) -> Found | None:
        """A function of any library that was opened: dlsym(RTLD_DEFAULT). AE-702."""

    def why_missing(self, library: int | None, name: str) -> str:
        """Why `find`, or without a library `find_global`, found nothing; empty where none can tell."""

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned | None:
        """Call a function; `block` is (id, number of blocks). AE-704. None: it is not called at all."""
