"""Capture: the tasks of a stream kept for later instead of submitted. Spec 04, 5.3; spec 03, STR-10."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cannkit.format.bits import OpenEnum
from cannkit.format.status import RtError, RtStatus

if TYPE_CHECKING:
    from cannkit.runtime.stream import InFlight, Stream


class CaptureMode(OpenEnum):
    """aclmdlRICaptureMode. STR-10."""

    GLOBAL = 0
    THREAD_LOCAL = 1
    RELAXED = 2


class Capture:
    """Entries in the order they were made, and what their tasks hold. Changes until it ends. LCH-66.

    The original keeps them in queues on the host, each of the size of a ring, and goes on in another
    when one is full; here they are one list.
    """

    def __init__(self, stream: Stream, thread: int, mode: CaptureMode = CaptureMode.GLOBAL) -> None:
        self.stream = stream
        self.thread = thread
        self.mode = mode
        self.entries: list[bytes] = []
        self.tasks: list[InFlight] = []

    def add(self, raw: bytes, task: InFlight) -> int:
        """Keep an entry; its place among them."""
        self.entries.append(raw)
        self.tasks.append(task)
        return len(self.entries) - 1

    def release(self) -> None:
        """Give back the arguments of its tasks: it can not be executed any more."""
        for task in self.tasks:
            if task.placement is not None:
                self.stream.args.release(task.placement)
        self.tasks.clear()
        self.entries.clear()


def begin_capture(stream: Stream, thread: int, mode: CaptureMode) -> None:
    """Begin to capture (aclmdlRICaptureBegin).

    Raises RtError: 107027 on a stream that is captured already, 107031 on a default stream, which
    other streams would wait for.
    """
    if stream.capture is not None:
        raise RtError(
            RtStatus.STREAM_CAPTURED, "the stream is captured already", where=f"{stream!r}"
        )
    if stream.is_default:
        why = "it is the default stream"
        raise RtError(
            RtStatus.STREAM_CAPTURE_IMPLICIT, "cannot capture", where=f"{stream!r}", why=why
        )
    stream.capture = Capture(stream, thread, mode)


def end_capture(stream: Stream, thread: int) -> Capture:
    """What was captured (aclmdlRICaptureEnd).

    Raises RtError: 107029 where nothing is, 107038 on another thread unless the mode is relaxed.
    """
    capture = stream.capture
    if capture is None:
        raise RtError(RtStatus.STREAM_NOT_CAPTURED, "nothing to end", where=f"{stream!r}")
    if capture.thread != thread and capture.mode is not CaptureMode.RELAXED:
        why = "another thread began it"
        raise RtError(RtStatus.STREAM_CAPTURE_WRONG_THREAD, "cannot end the capture", why=why)
    stream.capture = None
    return capture
