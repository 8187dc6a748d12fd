"""What a device was asked, in order: the story a command prints. Spec 03, section 2."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from cannkit.device.allocation import Bytes
from cannkit.device.executor import Outcome
from cannkit.format.bits import OpenEnum
from cannkit.format.status import RtStatus


class MemoryType(OpenEnum):
    """Low bits of the runtime's memory type word. MEM-4."""

    HBM = 0x2
    DDR = 0x4
    P2P_HBM = 0x10
    P2P_DDR = 0x11
    TS = 0x40


class Advice(OpenEnum):
    """What the driver is told about accesses to a range. DEV-17."""

    READONLY = 2
    READWRITE = 3


class CopyKind(OpenEnum):
    """aclrtMemcpyKind. MEM-6."""

    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4
    HOST_BUFFER_TO_DEVICE = 5


class PrintKind(OpenEnum):
    """The two printf buffers of a device. STK-8."""

    SIMD = 0
    SIMT = 1


class AllocEvent(NamedTuple):
    """An allocation; `address` is None when it failed with `status`."""

    device: int
    size: int
    memory_type: int
    module: int
    read_only: bool
    address: int | None
    status: RtStatus | None = None


class FreeEvent(NamedTuple):
    """An allocation given back."""

    device: int
    address: int
    status: RtStatus | None = None


class CopyEvent(NamedTuple):
    """Bytes copied to `address`; `file_offset` tells where in its object an image starts."""

    device: int
    address: int
    kind: CopyKind
    contents: Bytes
    file_offset: int | None = None
    status: RtStatus | None = None


class AdviseEvent(NamedTuple):
    """Access advice. `address` and `size` are the block that takes it, `asked` what CANN asks for.

    They differ for a block of a pool (Q-4) and for an allocation that was aligned up (Q-15).
    """

    device: int
    address: int
    size: int
    advice: Advice
    asked: tuple[int, int]
    status: RtStatus | None = None


class PrintBufferEvent(NamedTuple):
    """A printf buffer asked for, with the thread that reads it started or not. DEV-19."""

    device: int
    kind: PrintKind
    reader: bool
    status: RtStatus | None = None


class LaunchEvent(NamedTuple):
    """A kernel of the AI CPU process launched; `args` is its argument block."""

    device: int
    kernel: str
    so_name: str | None
    args: bytes
    status: RtStatus | None = None


class SystemEvent(NamedTuple):
    """Memory placed at a fixed address: a stack region, a printf buffer."""

    device: int
    slot: str
    address: int
    size: int


class Severity(StrEnum):
    """How bad a finding is: an error fails the task."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Finding(NamedTuple):
    """What a rule of the simulated hardware says of an entry. 04, section 6."""

    rule: str
    severity: Severity
    message: str


class AiCpuEvent(NamedTuple):
    """One block of a task on the AI CPU: where it ran, how it went, in words.

    It comes before the TaskEvent of its entry. `story` is the engine's own account.
    """

    device: int
    queue: int
    position: int
    block: int
    blocks: int
    process: str
    text: str
    story: object


class TaskEvent(NamedTuple):
    """An entry that was executed: queue, position in its ring, the bytes that were there.

    `name` is the function, of an entry that is no kernel its type. `aic` and `aiv` are blocks by
    LCH-50, `context` the bytes of a mix context.
    """

    device: int
    queue: int
    position: int
    raw: bytes
    context: bytes | None
    name: str
    aic: int
    aiv: int
    findings: tuple[Finding, ...]
    outcome: Outcome


Event = (
    AllocEvent
    | FreeEvent
    | CopyEvent
    | AdviseEvent
    | PrintBufferEvent
    | LaunchEvent
    | SystemEvent
    | AiCpuEvent
    | TaskEvent
)
Trace = Callable[[Event], None]


def no_trace(event: Event) -> None:
    """Keep nothing: what a device does unless somebody listens."""


class EventLog(list[Event]):
    """Keeps every event; call it with one, as a device does."""

    def __call__(self, event: Event) -> None:
        """Keep it."""
        self.append(event)
