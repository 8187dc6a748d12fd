"""A child process that lives no longer than this one, whichever thread starts it. Spec 05, AE-1205."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that stop a process wait for the end of the block, in this thread."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def start(command: list[str], **how: Any) -> tuple[subprocess.Popen[bytes], threading.Event]:
    """Start a process, from a thread that lives until the event: PR_SET_PDEATHSIG is about that thread.

    Raises what Popen raises. Call it undisturbed: signals are for the thread that asks.
    """
    ready, done = threading.Event(), threading.Event()
    started: list[subprocess.Popen[bytes] | Exception] = []

    def keep() -> None:
        try:
            started.append(subprocess.Popen(command, **how))  # noqa: S603  (our own interpreter)
        except Exception as error:
            started.append(error)
            done.set()
        ready.set()
        done.wait()

    threading.Thread(target=keep, daemon=True).start()
    ready.wait()
    child = started[0]
    if isinstance(child, Exception):
        raise child
    return child, done
