"""Session: what the handles of one Runtime share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
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
    from cannkit.runtime.launch_env import LaunchEnv
    from cannkit.runtime.launch_values import UserLauncher

Raw = bytes | bytearray | memoryview

P = ParamSpec("P")
R = TypeVar("R")


class Session:
    """One simulated process: its programs, contexts and live handles. Changes, under `lock`."""

    def __init__(
        self,
        binaries: BinaryLoader,
        contexts: Contexts,
        *,
        lenient: bool,
        launch_env: LaunchEnv | None = None,
    ) -> None:
        self.lock = RLock()
        self._launch_env = launch_env
        self.contexts = contexts
        self.process = Process(binaries, lenient=lenient, destroyed=self._destroyed)
        self.handles = Handles()
        self.binaries: dict[Program, BinaryHandle] = {}

    @cached_property
    def launcher(self) -> UserLauncher:
        """What launches need; what never launches does not load it."""
        from cannkit.runtime.launch_env import LaunchEnv
        from cannkit.runtime.launch_values import UserLauncher

        return UserLauncher(self.process, self._launch_env or LaunchEnv())

    @property
    def has_launched(self) -> bool:
        """Whether somebody asked for the launcher."""
        return "launcher" in vars(self)

    def _destroyed(self, program: Program) -> None:
        if self.has_launched:
            self.launcher.targets.forget(program)
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
