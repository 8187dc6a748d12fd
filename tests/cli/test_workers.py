"""Processes that share the work: none outlives the command, whatever ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.runner import OBJECTS, ROOT, command, environment
from tests.cli.test_stopping import SOON, children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def is_running(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith("Z")  # ended, though nobody asked for its exit code


def wait_until_gone(pids: list[str]) -> None:
    until = time.monotonic() + SOON
    while any(map(is_running, pids)):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_with_who_began_them(number: signal.Signals) -> None:
    process = subprocess.Popen(
        command("check", OBJECTS, "-", "--jobs", "2"),  # waits for its standard input
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        until = time.monotonic() + SOON
        while not (workers := children(process.pid)):
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(0.2)  # they wait for work by now
        process.send_signal(number)
    wait_until_gone(workers)
