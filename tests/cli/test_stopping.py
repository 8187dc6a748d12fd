"""Signals to a command that runs foreign code: nothing is left behind, whichever it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from cannkit.cli.stopping import stopped_by_signals
from tests.ae.library import built
from tests.cli.runner import PATH, ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

SOON: Final = 10.0  # seconds, far less than the call would take
NUMBERS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)
PARAM: Final = ("--param", "0000000000000000")


def hanging(tmp_path: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """ae-call while its function hangs, and where its folders are."""
    folders = tmp_path / "tmp"
    folders.mkdir()
    call = ("--so-file", built("harm"), "--func", "hang", *PARAM, "--timeout", "60", "--json")
    process = subprocess.Popen(
        [sys.executable, "-m", "cannkit", "ae-call", *call],
        cwd=ROOT,
        env={"PATH": PATH, "TMPDIR": str(folders)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + SOON
    while len(list(folders.iterdir())) < 2 or not children(process.pid):
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.2)  # it is being called by now
    return process, folders


def children(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [child for task in tasks for child in (task / "children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_a_signal_cleans_up(number: signal.Signals, tmp_path: Path) -> None:
    process, folders = hanging(tmp_path)
    ran = children(process.pid)
    process.send_signal(number)
    out, err = process.communicate(timeout=SOON)
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number)
    assert list(folders.iterdir()) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in ran)
    assert b"Traceback" not in err
    if number == signal.SIGINT:
        assert json.loads(out)["error"]["kind"] == "interrupted"


def test_an_impatient_user(tmp_path: Path) -> None:
    process, folders = hanging(tmp_path)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.003)
    out, err = process.communicate(timeout=SOON)
    assert process.returncode == 130
    assert list(folders.iterdir()) == []
    assert json.loads(out)["error"]["kind"] == "interrupted"
    assert b"Traceback" not in err


def test_handlers_are_as_before() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    with stopped_by_signals():
        assert [signal.getsignal(number) for number in NUMBERS] != before
    assert [signal.getsignal(number) for number in NUMBERS] == before


def stop() -> None:
    with stopped_by_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SOON)


def test_who_is_stopped_hears_no_more() -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    try:
        with pytest.raises(SystemExit, match=str(128 + signal.SIGTERM)):
            stop()
        assert {signal.getsignal(number) for number in NUMBERS[:-1]} == {signal.SIG_IGN}
    finally:
        for number, handler in zip(NUMBERS, before, strict=True):
            signal.signal(number, handler)


def test_what_was_ignored_stays_so() -> None:  # nohup
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
