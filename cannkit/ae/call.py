"""AeCall: one call of the engine and how it came to its status; what a kernel lib is and works with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from cannkit.ae.caller import CallEndedError, Caller, Found, Returned, Signature
from cannkit.ae.context import AeContext
from cannkit.ae.event import AeEvent
from cannkit.ae.so_walk import Resolution
from cannkit.format.ae_status import AeStatus
from cannkit.inputs.files import PathView


class Note(NamedTuple):
    """What is worth knowing of a call: the rule or quirk of the specification, and a sentence."""

    rule: str
    text: str


class Desk(NamedTuple):
    """What every lib works with."""

    files: PathView | None
    caller: Caller


class Session:
    """What calls leave behind in the process: context, name of the operator, block. Changes. AE-308."""

    def __init__(self, context: AeContext) -> None:
        self.context = context
        self.op_name: str | None = None
        self.block: tuple[int, int] | None = None


class AeCall(NamedTuple):
    """One call of the engine: its status, and how it came to it.

    `resolution` is None where no library was looked for; `symbol` is None where no function was.
    `returned` is None where nothing was called; `status` too, where that is the caller's choice.
    """

    status: AeStatus | None
    lib: str | None = None
    resolution: Resolution | None = None
    symbol: str | None = None
    found: Found | None = None
    is_global: bool = False
    signature: Signature | None = None
    op_name: str | None = None
    returned: Returned | None = None
    notes: tuple[Note, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether there were files to look at; without them the status of a call is a guess."""
        return self.resolution is None or self.resolution.status is not None


def carry_out(
    call: AeCall, caller: Caller, event: AeEvent, translate: Callable[[int], AeStatus]
) -> AeCall:
    """Call the function that was found, and translate its code. Raises CallEndedError."""
    assert call.found is not None
    assert call.signature is not None
    block = event.block_id, event.block_num
    try:
        returned = caller.call(call.found.function, call.signature, event.argument, block)
    except CallEndedError as ended:
        ended.call = call
        raise
    if returned is None:
        return call
    return call._replace(status=translate(returned.code), returned=returned)


class KernelLib(Protocol):
    """A kernel lib."""

    name: str

    def call(self, event: AeEvent, session: Session) -> AeCall:
        """CallKernelApi. Raises CallEndedError where foreign code ended its process."""

    def load(self, kernel_type: int, names: list[str], session: Session) -> list[Resolution]:
        """BatchLoadKernelSo. Raises CallEndedError."""

    def close(self, name: str | None) -> AeStatus:
        """CloseSo."""

    def destroy(self) -> None:
        """Close whatever is loaded."""
