"""Session: what the handles of one Runtime share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from cannkit.format.status import AclStatus, RtError
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.context import Contexts
from cannkit.runtime.handles import Handles
from cannkit.runtime.process import Process
from cannkit.runtime.program_base import Program

if TYPE_CHECKING:
    from cannkit.api.binary import BinaryHandle

Raw = bytes | bytearray | memoryview

P = ParamSpec("P")
R = TypeVar("R")


class Session:
    """One simulated process: its programs, contexts and live handles. Changes, under `lock`."""

    def __init__(self, binaries: BinaryLoader, contexts: Contexts, *, lenient: bool) -> None:
        self.lock = RLock()
        self.contexts = contexts
        self.process = Process(binaries, lenient=lenient, destroyed=self._destroyed)
        self.handles = Handles()
        self.binaries: dict[Program, BinaryHandle] = {}

    def _destroyed(self, program: Program) -> None:
        handle = self.binaries.pop(program, None)
        if handle is not None:
            handle.on_destroyed()


class HasSession(Protocol):
    """A class whose public methods are calls of a session."""

    @property
    def session(self) -> Session:
        """The session it belongs to."""


S = TypeVar("S", bound=HasSession)


def call(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method that is one call of the runtime: one thread at a time is inside."""

    @wraps(method)
    def locked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.session.lock:
            return method(self, *args, **kwargs)

    return locked


def not_null(**arguments: object) -> None:
    """API-3: the null tests of the ACL, in order. Raises RtError (100000)."""
    for name, value in arguments.items():
        if value is None:
            raise RtError(AclStatus.INVALID_PARAM, "null argument", where=name)
