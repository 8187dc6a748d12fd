from __future__ import annotations

from pathlib import Path

import pytest

from tests.ae.ae_page import page

PAGE = Path(__file__).parents[2] / "docs" / "ae.md"


def test_page_is_what_the_tables_say(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-cases"):
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page()
