"""Times and memory, always beside a peer that ran in the same minute on the same machine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from tests.cli.runner import ROOT, command, environment

MS: Final = 1000.0
PYTHON: Final = (sys.executable, "-c")


# The peak of a process counts what its parent held when it forked: a small parent counts little.
LAUNCHER: Final = """
import os, sys, time
nothing = os.open(os.devnull, os.O_RDWR)
begin = time.perf_counter()
child = os.posix_spawn(
    sys.argv[1], sys.argv[1:], os.environ,
    file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, nothing, 1)],
)
status, usage = os.wait4(child, 0)[1:]
seconds = time.perf_counter() - begin
print(seconds, usage.ru_maxrss, os.waitstatus_to_exitcode(status), file=sys.stderr)
"""


class Run(NamedTuple):
    """A process: how long it took, and the most memory it held."""

    seconds: float
    peak_mib: float


def timed(call: Callable[[Path], object], path: Path) -> float:
    """Seconds of a call."""
    begin = time.perf_counter()
    call(path)
    return time.perf_counter() - begin


def process(words: Sequence[str]) -> Run:
    """Run a process to its good end, its answer thrown away."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, *words],
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        check=True,
    )
    seconds, peak_kib, code = done.stderr.split()[-3:]
    assert code == b"0", done.stderr.decode()
    return Run(float(seconds), int(peak_kib) / 1024)


def cannkit(*args: str | Path) -> Run:
    return process(command(*args))


def python(code: str) -> Run:
    return process((*PYTHON, code))


def in_pairs(
    ours: Callable[[], float], peer: Callable[[], float], rounds: int
) -> tuple[float, float]:
    """The medians of both, run in turn after a round that only warms up caches."""
    ours()
    peer()
    pairs = [(ours(), peer()) for _ in range(rounds)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
