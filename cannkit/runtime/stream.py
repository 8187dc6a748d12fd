"""Stream: a queue of tasks on one device, and how a task's end becomes a code. Spec 03, 9; 04, 5."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.device.device import Device
from cannkit.device.ring import Ring
from cannkit.device.task_error import TaskCore, rt_status, ts_code
from cannkit.errors import UsageError, brief
from cannkit.format.bits import OpenEnum, Record
from cannkit.format.cqe import Cqe
from cannkit.format.sqe import v100, v200
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.handles import Handle, HandleKind
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.program_base import Program

if TYPE_CHECKING:
    from cannkit.runtime.args_pool import Placement
    from cannkit.runtime.capture import Capture
    from cannkit.runtime.entry_pattern import EntryPattern
    from cannkit.runtime.streams import Streams

TASK_IDS: Final = 0xFFFF  # LCH-61: the id 0xFFFF is never used
NO_TASK: Final = 0xFFFF
OVERFLOW_CODES: Final = (0x2F, 0x33, 0x34, 0x35)  # LCH-70: they do not fail the stream
LOWEST_PRIORITY: Final = 7


class StreamFlag(OpenEnum):
    """Flags of the runtime. STR-3."""

    PERSISTENT = 0x1
    FORCE_COPY = 0x2
    HUGE = 0x4
    AICPU = 0x8
    FORBIDDEN = 0x10
    HEAD = 0x20
    PRIMARY_DEFAULT = 0x40
    PRIMARY_FIRST = 0x80
    OVERFLOW = 0x100
    FAST_LAUNCH = 0x200
    FAST_SYNC = 0x400
    CP_PROCESS = 0x800
    VECTOR = 0x1000
    ACSQ_LOCK = 0x2000


# STR-9: a stream with one of these is never waited for.
UNWATCHED: Final = StreamFlag.AICPU | StreamFlag.CP_PROCESS | StreamFlag.PERSISTENT

# STR-3: what the flags of aclrtCreateStreamWithConfig make of a stream.
ACL_FLAGS: Final = {
    0x1: StreamFlag.FAST_LAUNCH,
    0x2: StreamFlag.FAST_SYNC,
    0x4: StreamFlag.PERSISTENT,
    0x8: StreamFlag.HUGE,
    0x10: StreamFlag.AICPU,
    0x20: StreamFlag.CP_PROCESS,
}


def stream_flags(flags: int) -> int:
    """STR-3: the flags of the runtime for those of the ACL.

    Raises RtError INVALID_VALUE (107000) for an unknown one.
    """
    if flags & ~sum(ACL_FLAGS):
        raise RtError(RtStatus.INVALID_VALUE, f"unknown stream flags {flags:#x}")
    return sum(own for acl, own in ACL_FLAGS.items() if flags & acl)


class InFlight(NamedTuple):
    """A task that was submitted: what is given back and told when it ends.

    `key` is its task id (v100) or its place in the ring (v200).
    """

    key: int
    core: TaskCore
    placement: Placement | None
    program: Program | None
    kernel: Kernel | None


class Failure(NamedTuple):
    """A task that did not end well: its stream, itself, the code, and what the device noted."""

    stream: Stream
    task: InFlight
    status: RtStatus
    note: str

    def error(self) -> RtError:
        """What synchronise answers. LCH-70, LCH-88."""
        name = f", kernel {brief(self.task.kernel.name)}" if self.task.kernel else ""
        where = f"stream {self.stream.queue}, task {self.task.key}{name}"
        what = f"{self.task.core.value} kernel execution failed"
        return RtError(self.status, what, where=where, why=self.note)


class Stream(Handle):
    """A stream of a context. Changes.

    `queue` is its number, which the entries of v100 carry. `env` is what it adds to a task. A stream
    that `stops_on_failure` refuses tasks after the first that fails (107023) and keeps its error.
    """

    KIND = HandleKind.STREAM
    __slots__ = (
        "args",
        "capture",
        "count",
        "device",
        "env",
        "failures",
        "flags",
        "flip_num",
        "is_open",
        "is_v200",
        "last_id",
        "owner",
        "patterns",
        "pending",
        "priority",
        "queue",
        "ring",
        "stops_on_failure",
    )

    def __init__(
        self, device: Device, queue: int, owner: Streams, env: LaunchEnv, *, flags: int = 0
    ) -> None:
        super().__init__()
        self.device = device
        self.is_v200 = device.soc.library == "v200"
        self.owner = owner
        self.queue = queue
        self.args = owner.args
        self.flags = flags
        self.priority = 0
        self.env = env
        self.ring: Ring = device.open_queue(queue)
        self.patterns: dict[tuple[object, ...], EntryPattern] = {}
        self.pending: deque[InFlight] = deque()
        self.failures: list[Failure] = []
        self.capture: Capture | None = None
        self.stops_on_failure = False
        self.is_open = True
        self.last_id = -1
        self.count = 0  # tasks ever submitted
        self.flip_num = 0

    def __repr__(self) -> str:
        return f"<Stream {self.queue}>"

    @property
    def is_default(self) -> bool:
        """Whether it is the default stream of a context."""
        return bool(self.flags & StreamFlag.PRIMARY_DEFAULT)

    @property
    def is_unwatched(self) -> bool:
        """STR-9: whether nobody waits for it."""
        return bool(self.flags & UNWATCHED)

    def identify(self) -> tuple[int, int]:
        """The key of the next task, and on v200 its serial number. LCH-61, LCH-64.

        Lets the device work where the ring is full. Raises RtError (507002) where that does not help.
        """
        if self.capture is None and self.ring.is_full(1):
            self.owner.run()
            if self.ring.is_full(1):
                raise RtError(RtStatus.STREAM_FULL, "no room in the stream", where=f"{self!r}")
        if self.is_v200:
            serial = self.owner.next_serial()
            return self.ring.tail if self.capture is None else serial, serial
        key = (self.last_id + 1) % TASK_IDS
        if key < self.last_id:
            self.flip_num += 1
            self.push_nop(NO_TASK)
        self.last_id = key
        return key, 0

    def push(self, raw: bytes, task: InFlight) -> int:
        """Put an entry into the ring, or into what is captured; its place there.

        There must be room in the ring. Raises RtError (507002) where there is none.
        """
        if self.capture is not None:
            return self.capture.add(raw, task)
        position = self.device.submit(self.queue, raw)
        self.pending.append(task)
        self.count += 1
        return position

    def push_nop(self, key: int, serial: int = 0) -> None:
        """An entry that does nothing. Raises RtError as `push` does."""
        if self.is_v200:
            entry: Record = v200.Header(sqe_type=v200.SqeType.PLACE_HOLDER, task_sn=serial)
        else:
            kind, stream = v100.SqeType.PLACE_HOLDER, self.queue & 0xFFFF
            entry = v100.Header(sqe_type=kind, stream_id=stream, task_id=key)
        self.push(entry.encode(), InFlight(key, TaskCore.OTHER, None, None, None))

    def refuse_if_stopped(self) -> None:
        """LCH-62, LCH-64: raises RtError (107023) where a task failed and the stream stops for it."""
        if self.stops_on_failure and self.failures:
            status = RtStatus.STREAM_ABORT_SEND_TASK_FAIL if self.is_v200 else RtStatus.STREAM_ABORT
            why = "a task of it failed before"
            raise RtError(status, "the stream takes no more tasks", where=f"{self!r}", why=why)

    def close(self) -> None:
        """Give back its ring and what its tasks hold."""
        self.is_open = False
        self.reclaim()
        self.args.close_stream(self.queue)
        self.device.close_queue(self.queue)

    def reclaim(self) -> None:
        """Forget the tasks that are done: those before the head of the ring."""
        release, pending = self.args.release, self.pending
        for _ in range(len(pending) - self.ring.count):
            placement = pending.popleft().placement
            if placement is not None:
                release(placement)

    def fail(self, cqe: Cqe, note: str) -> None:
        """Keep what a completion entry says of a task. LCH-69, LCH-71, LCH-72."""
        soc = self.device.soc
        task = self._task_of(cqe.task_id)
        code = ts_code(cqe.error_type, cqe.error_code, task.core, soc)
        if code and code not in OVERFLOW_CODES:
            self.failures.append(Failure(self, task, rt_status(code), note))

    def _task_of(self, key: int) -> InFlight:
        for task in self.pending:
            if task.key == key:
                return task
        return InFlight(key, TaskCore.OTHER, None, None, None)


def check_stream(stream: Stream) -> None:
    """Raise RtError INVALID_HANDLE (107017) for a destroyed stream, UsageError for no stream at all."""
    if not isinstance(stream, Stream):
        raise UsageError(f"a stream is needed, not a {type(stream).__name__}")
    if not stream.is_open:
        raise RtError(RtStatus.INVALID_HANDLE, "the stream is destroyed", where=f"{stream!r}")
