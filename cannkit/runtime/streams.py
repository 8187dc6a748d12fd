"""Streams: those of one device, and the work they give it. Spec 03, section 9; spec 04, section 5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.device.device import Device
from cannkit.runtime.args_memory import ArgsMemory
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.stream import LOWEST_PRIORITY, Stream, StreamFlag

SERIALS: Final = 0x7FFF_FFFF  # LCH-64


class Streams:
    """The streams of one device. Changes. `env` is what every one of them adds to a task."""

    def __init__(self, device: Device, env: LaunchEnv, args: ArgsMemory) -> None:
        self.device = device
        self.args = args
        self._env = env
        self._next = 0
        self._serial = -1
        self._open: dict[int, Stream] = {}
        self.default = self.open(StreamFlag.PRIMARY_DEFAULT | StreamFlag.PRIMARY_FIRST)

    def __iter__(self) -> Iterator[Stream]:
        return iter(tuple(self._open.values()))

    def next_serial(self) -> int:
        """LCH-64: the serial number of the next task on v200, over all streams."""
        self._serial = self._serial + 1 & SERIALS
        return self._serial

    def open(self, flags: int = 0, priority: int = 0) -> Stream:
        """A new stream; priorities are clamped to 0..7 (STR-3)."""
        queue = self._next
        env = self._env._replace(stream_id=queue)
        stream = Stream(self.device, queue, self, env, flags=flags)
        stream.priority = min(max(priority, 0), LOWEST_PRIORITY)
        self._next += 1
        self._open[queue] = stream
        return stream

    def close(self, stream: Stream) -> None:
        """Let its tasks end, then destroy it."""
        self.run()
        stream.close()
        del self._open[stream.queue]

    def run(self) -> None:
        """Let the device work off every ring, and note what failed."""
        device = self.device
        device.models.failure = None
        device.run()
        while device.completions:
            cqe, note = device.completions.popleft()
            stream = self._open.get(cqe.sq_id)
            if stream is not None:
                stream.fail(cqe, note)
        for stream in self._open.values():
            stream.reclaim()
