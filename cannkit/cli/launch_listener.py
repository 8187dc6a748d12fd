"""Listener: what `cannkit launch` keeps of what the device tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cannkit.device.trace import AiCpuEvent, Event, TaskEvent


class Listener:
    """Keeps what the device told of its last task; `tell` gets every event. Changes.

    `ai_cpu` are the first and the last of its blocks on the AI CPU; the last has what all of them said.
    """

    def __init__(self, tell: Callable[[Event], None] | None = None) -> None:
        from cannkit.device.trace import AiCpuEvent, TaskEvent

        self.task: TaskEvent | None = None
        self.ai_cpu: Sequence[AiCpuEvent] = ()
        self._kinds = TaskEvent, AiCpuEvent
        self._blocks: list[AiCpuEvent] = []
        self._tell = tell

    def __call__(self, event: Event) -> None:
        """Take an event."""
        task, block = self._kinds
        if isinstance(event, block):
            self._blocks[1:] = [_after(event, self._blocks)]
        elif isinstance(event, task):
            self.task, self.ai_cpu = event, self._blocks
            self._blocks = []
        if self._tell is not None:
            self._tell(event)


def _after(event: AiCpuEvent, earlier: Sequence[AiCpuEvent]) -> AiCpuEvent:
    from cannkit.ae.ae_run import AeRun  # here, for most kernels need none of it

    if not earlier:
        return event
    story, before = event.story, earlier[-1].story
    if isinstance(story, AeRun) and isinstance(before, AeRun):
        return event._replace(story=story.after(before))
    return event
