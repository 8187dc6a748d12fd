"""Figures are shown at the end of a run, whether or not their targets are met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

FIGURES: Final = pytest.StashKey[list[str]]()
Figure = Callable[[str], None]


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """Keeps a line for the summary."""
    return request.config.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash.get(FIGURES, [])
    if lines:
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.line(line)
