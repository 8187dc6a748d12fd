"""How a process that ran foreign code ended, as its parent saw it. Spec 05, AE-1205, AE-1206."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from cannkit.ae.caller import Stage


class Cause(StrEnum):
    """What ended a process: itself, or the parent for a reason; STOPPED is without a fault of its own."""

    ITSELF = "itself"
    TIMEOUT = "timeout"
    OUTPUT = "output"
    GARBLED = "garbled"
    CLOSED = "closed"
    STOPPED = "stopped"


class End(NamedTuple):
    """How a process ended: `exit` or `signal`, after `seconds` of the last request.

    `returned` is the raw code of a call that came back before.
    """

    cause: Cause
    stage: Stage
    exit: int | None
    signal: int | None
    seconds: float
    output: str
    returned: int | None = None


class EndedError(Exception):
    """The process is gone."""

    def __init__(self, end: End) -> None:
        super().__init__(end.cause)
        self.end = end
