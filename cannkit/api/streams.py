"""StreamCalls: streams, waiting for them, and capture. Spec 03, section 9; spec 04, section 5."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Final

from cannkit.api.session import Session, call, not_null
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.load import current

if TYPE_CHECKING:
    from cannkit.runtime.capture import Capture
    from cannkit.runtime.stream import Stream

NO_LIMIT: Final = -1  # milliseconds


class StreamCalls:
    """The part of a Runtime that is about streams. Where a stream is None, the default one is meant."""

    session: Session

    @property
    def default_stream(self) -> Stream:
        """The default stream of the current device. Raises RtError (107002)."""
        session = self.session
        return session.launcher.streams(current(session.contexts.device)).default

    @call
    def create_stream(self, *, flags: int = 0, priority: int = 0) -> Stream:
        """A stream of the current device (aclrtCreateStream, aclrtCreateStreamWithConfig).

        `flags` are those of the ACL, `priority` is 0 (highest) to 7. Raises RtError: 107002, 107000
        for an unknown flag.
        """
        from cannkit.runtime.stream import stream_flags

        session = self.session
        device = current(session.contexts.device)
        stream = session.launcher.streams(device).open(stream_flags(flags), priority)
        session.handles.add(stream)
        return stream

    @call
    def destroy_stream(self, stream: Stream | None) -> None:
        """Let its tasks end, then destroy it (aclrtDestroyStream).

        Raises RtError: 100000 for null, 107017 for one that is destroyed, 107000 for a default stream.
        """
        not_null(stream=stream)
        assert stream is not None
        found = self._stream(stream)
        if found.is_default:
            raise RtError(RtStatus.INVALID_VALUE, "cannot destroy a default stream")
        self.session.launcher.streams(found.device).close(found)
        self.session.handles.destroy(found.id)

    @call
    def synchronize(self, stream: Stream | None = None, timeout: int = NO_LIMIT) -> None:
        """Wait for a stream (aclrtSynchronizeStream, aclrtSynchronizeStreamWithTimeout).

        `timeout` in ms, -1 for none; nothing takes time here, so none expires. The exception callbacks
        of binaries whose kernels failed are called first, with code, kernel and stream. Raises RtError:
        100000 for a timeout below -1, 107000 for 0, 107027 under capture, and the first failure of a
        task, which is then forgotten unless the stream stops on failure; what a callback raises is its
        cause. What a host model launches waits for the next call. STR-9, LCH-72.
        """
        if timeout < NO_LIMIT:
            raise RtError(AclStatus.INVALID_PARAM, f"a timeout of {timeout} ms")
        if timeout == 0:
            raise RtError(RtStatus.INVALID_VALUE, "a timeout of 0 ms")
        found = self.default_stream if stream is None else self._stream(stream)
        if found.capture is not None:
            raise RtError(RtStatus.STREAM_CAPTURED, "cannot wait under capture", where=f"{found!r}")
        self.session.launcher.streams(found.device).run()
        self._tell(found)

    @call
    def synchronize_device(self) -> None:
        """Wait for every stream of the current device (aclrtSynchronizeDevice).

        Raises RtError: 107002, and as `synchronize` does, for the stream that was created first.
        """
        streams = self.session.launcher.streams(current(self.session.contexts.device))
        streams.run()
        errors = []
        for stream in streams:
            try:
                self._tell(stream)
            except RtError as error:
                errors.append(error)
        if errors:
            raise errors[0]

    @call
    def query_stream(self, stream: Stream | None = None) -> bool:
        """Whether all its tasks are done (aclrtStreamQuery). The device works at synchronise only.

        Raises RtError: 107002, 107017.
        """
        found = self.default_stream if stream is None else self._stream(stream)
        return found.ring.count == 0

    @call
    def set_stream_failure_mode(self, stream: Stream, mode: int) -> None:
        """0: go on after a task that failed, 1: stop (aclrtSetStreamFailureMode).

        Raises RtError: 107017, 107000 for another mode.
        """
        if mode not in (0, 1):
            raise RtError(RtStatus.INVALID_VALUE, f"no failure mode {mode}")
        found = self._stream(stream)
        found.stops_on_failure = found.ring.stops_on_failure = bool(mode)

    @call
    def capture_begin(self, stream: Stream, mode: int = 0) -> None:
        """Keep what is launched on a stream (aclmdlRICaptureBegin). STR-10.

        Raises RtError: 107017, 107000 for an unknown mode, 107027, 107031 for the default stream.
        """
        from cannkit.runtime.capture import CaptureMode, begin_capture

        if mode not in tuple(CaptureMode):
            raise RtError(RtStatus.INVALID_VALUE, f"no capture mode {mode}")
        begin_capture(self._stream(stream), get_ident(), CaptureMode(mode))

    @call
    def capture_end(self, stream: Stream) -> Capture:
        """What was kept (aclmdlRICaptureEnd). Raises RtError: 107017, 107029, 107038 (STR-10)."""
        from cannkit.runtime.capture import end_capture

        return end_capture(self._stream(stream), get_ident())

    @call
    def execute_capture(self, capture: Capture, stream: Stream | None = None) -> None:
        """Submit what was captured (aclmdlRIExecuteAsync). LCH-66.

        Raises RtError: 107003 for a stream of another device, 107023, 507002.
        """
        not_null(capture=capture)
        launcher = self.session.launcher
        found = self.default_stream if stream is None else self._stream(stream)
        launcher.execute(capture, launcher.stream_for(capture.stream.device, found))

    def _stream(self, stream: Stream) -> Stream:
        """A stream that lives. Raises RtError: 100000 for null, 107017; UsageError for no stream."""
        from cannkit.runtime.stream import check_stream

        not_null(stream=stream)
        check_stream(stream)
        return stream

    def _tell(self, stream: Stream) -> None:
        """Callbacks for every task that failed, then the first error. LCH-72, STR-9."""
        failures = tuple(stream.failures)
        if not stream.stops_on_failure:
            stream.failures.clear()
        cause = stream.device.models.failure
        for failure in failures:
            program = failure.task.program
            binary = self.session.binaries.get(program) if program else None
            try:
                if binary is not None:
                    binary.on_exception(failure)
            except Exception as error:  # a callback must not hide what it was told of
                error.__context__ = cause
                cause = error
        if failures and not stream.is_unwatched:
            raise failures[0].error() from cause
