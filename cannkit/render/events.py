"""What happens on a device, in a line for each event."""

from __future__ import annotations

from typing import Final

from cannkit.device.trace import (
    AdviseEvent,
    AiCpuEvent,
    AllocEvent,
    CopyEvent,
    CopyKind,
    Event,
    FreeEvent,
    LaunchEvent,
    PrintBufferEvent,
    SystemEvent,
    TaskEvent,
)
from cannkit.render.text import plural, size

WORDS: Final = {CopyKind.HOST_TO_DEVICE: "to", CopyKind.DEVICE_TO_HOST: "from"}


def event_text(event: Event) -> str:
    """One event: what was asked of the device, and what it made of a queue entry."""
    if isinstance(event, TaskEvent):
        return _task(event)
    if isinstance(event, AiCpuEvent):
        which = f", block {event.block} of {event.blocks}" if event.blocks > 1 else ""
        place = f"queue {event.queue}, entry {event.position}{which}"
        return f"{place}, {event.process}: {event.text}"
    status = None if isinstance(event, SystemEvent) else event.status
    return _asked(event) + (f", failed: {status.c_name}" if status is not None else "")


def _asked(event: Event) -> str:
    match event:
        case AllocEvent():
            where = "" if event.address is None else f" at {event.address:#x}"
            return f"allocate {size(event.size)}{where}"
        case FreeEvent():
            return f"free {event.address:#x}"
        case CopyEvent():
            count = size(len(event.contents))
            return f"copy {count} {WORDS.get(event.kind, 'on')} device, {event.address:#x}"
        case AdviseEvent():
            return f"advise {event.advice.name} for {size(event.size)} at {event.address:#x}"
        case PrintBufferEvent():
            return f"printf buffer {event.kind.name}"
        case LaunchEvent():
            return f"AI CPU kernel {event.kernel}"
        case SystemEvent():
            return f"place {event.slot}, {size(event.size)} at {event.address:#x}"
    raise TypeError(f"no text for {type(event).__name__}")


def _task(event: TaskEvent) -> str:
    what = f"queue {event.queue}, entry {event.position}: {event.name or 'nothing known'}"
    if event.aic or event.aiv:
        what += f", {plural(event.aic, 'AIC block')}, {plural(event.aiv, 'AIV block')}"
    outcome = event.outcome
    end = outcome.note or "completed"
    if outcome.error_type:
        end = f"failed, errorType {int(outcome.error_type):#x}: {end}"
    return "; ".join(
        [f"{what}: {end}", *(f"{f.rule} {f.severity.value}: {f.message}" for f in event.findings)]
    )
