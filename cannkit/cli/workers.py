"""Processes that share the work of `--jobs`."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

MOST_JOBS = 256


@contextmanager
def worker_pool(jobs: int) -> Iterator[Executor]:
    """So many processes, 0: one for each core. What nobody waits for any more is not begun."""
    from concurrent.futures import ProcessPoolExecutor  # takes long to load

    count = min(jobs or os.cpu_count() or 1, MOST_JOBS)
    executor = ProcessPoolExecutor(count, initializer=_begin)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _begin() -> None:
    """Ctrl-C goes to all processes of a terminal: only the first one answers it."""
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose first process was killed would wait for more work for ever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
