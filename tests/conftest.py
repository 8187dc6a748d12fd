"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests import corpus as real_objects

# A laptop under load must not fail a property; CI runs the same examples each time.
settings.register_profile("cannkit", deadline=None, derandomize="CI" in os.environ, database=None)
settings.register_profile("long", settings.get_profile("cannkit"), max_examples=5_000)
settings.load_profile("cannkit")

# What `nohup` and `&` leave ignored, the commands that are tested would ignore, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-cases",
        action="store_true",
        help="rewrite what cannkit prints: expected.* of cases, schemas, completions",
    )


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The unpacked wheel of tests/corpus.py. Without it a corpus test is skipped, but not in CI."""
    found = real_objects.find()
    if found is None:
        reason = f"no real objects in {real_objects.cache_folder()}: run `python -m tests.corpus`"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def aicpu_package() -> Path:
    """The package of AI CPU operators that `CANNKIT_CORPUS=all python -m tests.corpus` fetches, 800 MB."""
    found = real_objects.find_aicpu()
    if found is None:
        pytest.skip("no AI CPU package: run `CANNKIT_CORPUS=all python -m tests.corpus`")
    return found
