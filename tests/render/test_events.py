"""What happens on a device, in a line for each event."""

from __future__ import annotations

from typing import Final

import pytest

from cannkit.device.executor import ErrorType, Outcome
from cannkit.device.trace import (
    Advice,
    AdviseEvent,
    AiCpuEvent,
    AllocEvent,
    CopyEvent,
    CopyKind,
    Event,
    Finding,
    FreeEvent,
    LaunchEvent,
    PrintBufferEvent,
    PrintKind,
    Severity,
    SystemEvent,
    TaskEvent,
)
from cannkit.format.status import RtStatus
from cannkit.render.events import event_text

TASK: Final = TaskEvent(0, 3, 17, bytes(64), None, "add_0", 1, 2, (), Outcome())
FINDING: Final = Finding("SIM-2", Severity.WARNING, "mid-function")
FAILED: Final = Outcome(ErrorType.SQE_ERROR, 0, "no context")
NO_MEMORY: Final = RtStatus.DRV_OUT_MEMORY

LINES: Final[dict[str, Event]] = {
    "allocate 4,097 B (4.0 KiB) at 0x1000": AllocEvent(0, 4097, 2, 7, False, 0x1000),
    f"allocate 8 B, failed: {NO_MEMORY.c_name}": AllocEvent(0, 8, 2, 7, False, None, NO_MEMORY),
    "free 0x1000": FreeEvent(0, 0x1000),
    "copy 3 B to device, 0x1000": CopyEvent(0, 0x1000, CopyKind.HOST_TO_DEVICE, b"abc"),
    "copy 3 B from device, 0x1000": CopyEvent(0, 0x1000, CopyKind.DEVICE_TO_HOST, b"abc"),
    "copy 0 B on device, 0x1000": CopyEvent(0, 0x1000, CopyKind.DEVICE_TO_DEVICE, b""),
    "advise READONLY for 8 B at 0x1000": AdviseEvent(0, 0x1000, 8, Advice.READONLY, (0x1000, 8)),
    "printf buffer SIMT": PrintBufferEvent(0, PrintKind.SIMT, True),
    "AI CPU kernel Init": LaunchEvent(0, "Init", None, b""),
    "place STACK_32K, 8 B at 0x1000": SystemEvent(0, "STACK_32K", 0x1000, 8),
    "queue 3, entry 17, cust-sd: Run of libx.so returned 0": (
        AiCpuEvent(0, 3, 17, 0, 1, "cust-sd", "Run of libx.so returned 0", None)
    ),
    "queue 3, entry 17, block 1 of 2, aicpusd: Run": AiCpuEvent(
        0, 3, 17, 1, 2, "aicpusd", "Run", None
    ),
    "queue 3, entry 17: add_0, 1 AIC block, 2 AIV blocks: completed": TASK,
    "queue 3, entry 17: END: completed": TASK._replace(name="END", aic=0, aiv=0),
    "queue 3, entry 17: nothing known: failed, errorType 0x8: no context; SIM-2 warning: mid-function": (
        TASK._replace(name="", aic=0, aiv=0, outcome=FAILED, findings=(FINDING,))
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_line(line: str) -> None:
    assert event_text(LINES[line]) == line
