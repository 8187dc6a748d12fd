"""Signals that end a command which has something to clean up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

STOPPING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
BY_SIGNAL: Final = 128  # the exit code of a process that a signal ended is that much more


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Within the block a signal unwinds as Ctrl-C does, and ends the process; a second one is not heard.

    A child that ended can be told how, whatever was inherited.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *STOPPING)}

    def deafen() -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        before.clear()

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        deafen()
        raise KeyboardInterrupt

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        deafen()
        raise SystemExit(BY_SIGNAL + number)

    child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, interrupt if number == signal.SIGINT else stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL if child is None else child)
