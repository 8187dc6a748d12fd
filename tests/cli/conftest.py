"""What was printed before, and how it is brought up to date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Keep = Callable[[Path, bytes], None]


@pytest.fixture
def keep(request: pytest.FixtureRequest) -> Keep:
    """Compares bytes with those of a file; with --update-cases writes them there."""
    update: bool = request.config.getoption("--update-cases")

    def compare_or_write(path: Path, found: bytes) -> None:
        if update:
            path.write_bytes(found)
        known = path.read_bytes() if path.is_file() else b""
        stale = f"{path} is stale: look at `pytest --update-cases` and its diff"
        assert found.decode() == known.decode(), stale

    return compare_or_write
