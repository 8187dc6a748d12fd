"""Numbers to reach of the AI CPU engine: resolutions and calls a second, and the two commands beside a peer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Final, NamedTuple

import pytest

from cannkit.ae.caller import Opened
from cannkit.ae.callers import TableCaller
from cannkit.ae.context import CUST_PATH, HOME, INNER_PATH, AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import NULL, AeEvent
from cannkit.ae.scheduler import execute
from cannkit.ae.so_path import Settings, read_settings
from cannkit.ae.so_walk import resolve
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.inputs.memory_tree import MemoryTree
from tests.ae.library import built
from tests.ae.recorded import context_of
from tests.ae.test_recorded import SO_PATH
from tests.bench.conftest import Figure
from tests.bench.measure import MS, cannkit, in_pairs, process
from tests.cli.runner import command

pytestmark = pytest.mark.bench

COUNT: Final = 20_000
ROUNDS: Final = 5
RESOLUTIONS: Final = 50_000
CALLS: Final = 20_000
TABLE_RATIO: Final = 2.2
CALL_SECONDS: Final = 0.6
K: Final = "/usr/lib64/aicpu_kernels"
NAMES: Final = (
    "libmy.so",
    "libother.so",
    "libretr_kernels.so",
    "libbuiltin_kernels.so",
    "a/b.so",
    "",
)
ENVS: Final[tuple[dict[str, str], ...]] = (
    {HOME: "/home/u"}, {HOME: "/home/u/"}, {}, {HOME: "/home/u", INNER_PATH: "/opt/k"},
    {HOME: "/home/u", CUST_PATH: "/opt/c/"},
)  # fmt: skip


class Question(NamedTuple):
    """What the resolver is asked."""

    kernel_type: int
    name: str
    settings: Settings
    context: AeContext


def questions(count: int) -> list[Question]:
    """Random contexts, the same in every run."""
    some = random.Random(5)
    found: list[Question] = []
    while len(found) < count:
        context = AeContext(
            RunMode(some.randrange(4)),
            some.random() < 0.5,
            some.randrange(64),
            some.choice((0, 1, 5, 31, 32, 40, 63, 64)),
            some.randrange(1 << 20),
            some.choice(ENVS),
        )
        settings = read_settings(context)
        found.append(Question(some.choice((2, 4, 5, 6)), some.choice(NAMES), settings, context))
    return found


FILES: Final = MemoryTree(
    {
        f"{K}/libmy.so": b"",
        f"{K}/0/aicpu_kernels_device/libother.so": b"",
        "/opt/k/libmy.so": b"",
        **{f"/home/u/aicpu_kernels/{vf}/aicpu_kernels_device/libother.so": b"" for vf in range(64)},
    }
)


def opened(path: str) -> Opened:
    return Opened(1)


def best(run: Callable[[], object], count: int) -> float:
    """Times a second, the best of a few rounds."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        begin = perf_counter()
        run()
        fastest = min(fastest, perf_counter() - begin)
    return count / fastest


def peer(asked: list[Question], paths: frozenset[str]) -> None:
    """What somebody in a hurry writes: three names, three look-ups, no rules, no links, no story."""
    for _, name, _, context in asked:
        first = f"{K}/{context.vf}/aicpu_kernels_device/"
        for directory in (first, f"{K}/", f"{first}{context.pid}_{context.device}/"):
            if directory + name in paths:
                break


def test_resolutions(figure: Figure) -> None:
    """At least 50,000 a second over random contexts with files in memory."""
    asked = questions(COUNT)

    def ours() -> None:
        for kernel_type, name, settings, context in asked:
            resolve(kernel_type, name, settings, context, FILES, opened)

    paths = frozenset([f"{K}/libmy.so"])
    rate, other = best(ours, COUNT), best(lambda: peer(asked, paths), COUNT)
    figure(
        f"resolutions: {rate:,.0f} a second (target {RESOLUTIONS:,}); "
        f"three joined paths and look-ups alone: {other:,.0f}"
    )
    ends = {resolve(*each, FILES, opened).status for each in asked}
    assert ends == {AeStatus(code) for code in (0, 11001, 11002, 11006)}
    assert rate >= RESOLUTIONS


def test_resolutions_of_recorded_contexts(figure: Figure) -> None:
    """The contexts of the recorded answers, without files; some have paths of 4,000 bytes."""
    asked = [
        Question(row["type"], row["so"], read_settings(context_of(row)), context_of(row))
        for row in SO_PATH
        if row["load"] is not None
    ]

    def ours() -> None:
        for _ in range(20):
            for kernel_type, name, settings, context in asked:
                resolve(kernel_type, name, settings, context, FILES, opened)

    rate = best(ours, 20 * len(asked))
    figure(f"resolutions of recorded contexts: {rate:,.0f} a second")
    assert rate >= RESOLUTIONS


@pytest.mark.parametrize("kind", [2, 5])
def test_calls(kind: int, figure: Figure) -> None:
    """At least 20,000 a second through the engine, and through the scheduler, with a table of functions."""
    engine = AeEngine(
        AeContext(), FILES, TableCaller({("libmy.so", "f"): lambda argument, block: 0})
    )
    event = AeEvent(kind, "libmy.so", "f", NULL, 1, 8)

    def calls() -> None:
        for _ in range(COUNT):
            engine.call(event)

    def tasks() -> None:
        for _ in range(COUNT):
            execute(event, engine)

    call, task = best(calls, COUNT), best(tasks, COUNT)
    assert engine.call(event).status == 0
    figure(f"type {kind}: {call:,.0f} calls a second, {task:,.0f} tasks (target {CALLS:,})")
    assert min(call, task) >= CALLS


def test_so_path_command(figure: Figure) -> None:
    """The whole process: at most 2.2 times `cannkit --version`."""
    ours, version = in_pairs(
        lambda: cannkit("so-path", "--vf", "40", "--pid", "123").seconds,
        lambda: cannkit("--version").seconds,
        15,
    )
    figure(
        f"cannkit so-path --vf 40 --pid 123: {ours * MS:.0f} ms, --version: {version * MS:.0f} ms, "
        f"ratio {ours / version:.2f} (target {TABLE_RATIO})"
    )
    assert ours / version <= TABLE_RATIO


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_ae_call_command(form: tuple[str, ...], figure: Figure) -> None:
    """A trivial function in a process of its own: at most 0.6 s in all."""
    library = built("ops")
    line = ("ae-call", "--so-file", library, "--func", "code_0", *form)
    ours, dry = in_pairs(
        lambda: process(command(*line)).seconds,
        lambda: process(command(*line, "--dry-run")).seconds,
        9,
    )
    figure(
        f"cannkit {' '.join(('ae-call', *form))}: {ours * MS:.0f} ms (target {CALL_SECONDS * MS:.0f}), "
        f"with --dry-run {dry * MS:.0f} ms"
    )
    assert ours <= CALL_SECONDS


def test_real_calls(tmp_path: Path, figure: Figure) -> None:
    """No target is set: calls a second of one child process."""
    from cannkit.ae.host_caller import HostCaller
    from cannkit.inputs.rooted import RootedFiles

    place = tmp_path / K.lstrip("/")
    place.mkdir(parents=True)
    (place / "libmy.so").write_bytes(Path(built("ops")).read_bytes())
    files = RootedFiles(str(tmp_path))
    with HostCaller(files) as caller:
        engine = AeEngine(AeContext(), files, caller)
        event = AeEvent(2, "libmy.so", "code_0")

        def calls() -> None:
            for _ in range(500):
                engine.call(event)

        assert engine.call(event).status == 0
        figure(f"real calls of a library that is open: {best(calls, 500):,.0f} a second")
