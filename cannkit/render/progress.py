"""A bar on stderr for what takes its time."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, Self

from cannkit.render.console import make_console

if TYPE_CHECKING:
    from rich.progress import Progress

AFTER: Final = 1.0  # seconds


class Bar:
    """From the second second on, if somebody watches. Changes."""

    def __init__(self, what: str, total: int, *, wanted: bool = True) -> None:
        self._what = what
        self._total = total
        self._wanted = wanted and sys.stderr.isatty()
        self._begin = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int) -> None:
        """So many are done."""
        if self._bar is None and self._wanted and time.monotonic() - self._begin > AFTER:
            from rich.progress import Progress

            self._bar = Progress(console=make_console(file=sys.stderr), transient=True)
            self._bar.start()
            self._bar.add_task(self._what, total=self._total)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
