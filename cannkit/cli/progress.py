"""A bar on stderr for work that takes its time, when somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

PROGRESS_AFTER = 1.0  # seconds


class ProgressBar:
    """A bar from the second second on; above it go the lines of a terminal's stdout. Changes.

    `total` is asked for when the bar appears: None makes one that only shows that something goes on.
    """

    def __init__(
        self, label: str, total: Callable[[], int | None], stdout: Console | None = None
    ) -> None:
        self._label = label
        self._total = total
        self._stdout = stdout
        self._begin = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()

    def reach(self, count: int) -> None:
        """So many are done."""
        if self._bar is None and time.monotonic() - self._begin > PROGRESS_AFTER:
            self._bar = self._start()
        if self._bar is not None:
            progress, task = self._bar
            progress.update(task, completed=count)

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.progress import Progress

        from cannkit.render.console import make_console

        is_shared = self._stdout is not None and self._stdout.is_terminal
        console = self._stdout if is_shared else make_console(file=sys.stderr)
        progress = Progress(console=console, transient=True)
        progress.start()
        return progress, progress.add_task(self._label, total=self._total())


def is_watched(*, quiet: bool) -> bool:
    """Whether somebody sees the bar."""
    return not quiet and sys.stderr.isatty()
