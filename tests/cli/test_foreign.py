"""Code of the user's in this process: its time, its failures in plain text, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.cli.foreign import TIME_UP, ForeignCode, ForeignError, place_of
from cannkit.device.executor import HostModelTimeout
from cannkit.errors import ExitCode, UsageError
from tests.cli.runner import ADD, ROOT, Result, cannkit, each

SOON: Final = 0.2  # seconds
RAW: Final = ["launch", ADD, "--blocks", "2", "--args-hex", "00" * 40]
MY_FILE: Final = __file__


def called(function: Callable[[], Any], seconds: float = 60) -> Any:
    foreign = ForeignCode(seconds)
    with foreign:
        return foreign.call(function)


class OwnError(BaseException):
    """What no `except Exception` sees."""


class NamelessError(BaseException):
    """Fails as soon as it is told."""

    def __str__(self) -> str:
        raise OwnError("again")


class NumberError(Exception):
    def __str__(self) -> str:
        return 5  # type: ignore[return-value]


class EndlessError(Exception):
    def __str__(self) -> str:
        while True:
            pass


class ShoutingText(str):
    __slots__ = ()

    def split(self, *args: Any) -> Any:
        raise OwnError


class Opaque:
    """Fails at any look at it."""

    def __getattr__(self, name: str) -> Any:
        raise OwnError(name)

    def __repr__(self) -> str:
        raise OwnError


def raiser(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


# what it says


@pytest.mark.parametrize(
    ("error", "name", "text"),
    [
        (ValueError("a\nb \x1b"), "ValueError", "a b \x1b"),
        (MemoryError(), "MemoryError", ""),
        (asyncio.CancelledError(), "CancelledError", ""),
        (GeneratorExit(), "GeneratorExit", ""),
        (StopIteration(1), "StopIteration", "1"),
        (SystemExit(3), "SystemExit", "it asks to end the process with 3"),
        (SystemExit(Opaque()), "SystemExit", ""),
        (OwnError("own"), "OwnError", "own"),
        (NamelessError(), "NamelessError", ""),
        (NumberError(), "NumberError", ""),
        (ValueError(Opaque()), "ValueError", ""),
        (ValueError(ShoutingText("a b")), "ValueError", "a b"),
        (ValueError("x" * 10**7), "ValueError", "x" * 400 + "... (10000000 characters)"),
        (type("A\nB\x1b", (Exception,), {})("x"), r"A B\x1b", "x"),
        (SyntaxError("no"), "SyntaxError", "no"),
    ],
)
def test_any_exception_in_plain_text(error: BaseException, name: str, text: str) -> None:
    """No code of the user's runs when the failure is told later."""
    with pytest.raises(ForeignError) as caught:
        called(raiser(error))
    assert (type(caught.value).__name__, str(caught.value)) == (name, text)
    assert place_of(caught.value) == f"{MY_FILE}:{raiser.__code__.co_firstlineno + 2}"


def test_ctrl_c_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        called(raiser(KeyboardInterrupt()))


def test_place_is_in_the_users_code() -> None:
    """Not in what it calls, nor in a file that it only claims to be from."""

    def model() -> None:
        __import__("json").loads("[")

    with pytest.raises(ForeignError) as caught:
        called(model)
    assert place_of(caught.value) == f"{MY_FILE}:{model.__code__.co_firstlineno + 1}"
    with pytest.raises(ForeignError) as caught:
        called(lambda: exec(compile("1 / 0", "/dev/zero", "exec")))
    assert place_of(caught.value) == "/dev/zero:1"
    with pytest.raises(ForeignError) as caught:
        called(lambda: compile("\nf(", "m.py", "exec"))
    assert place_of(caught.value) == "m.py:2"
    assert place_of(ValueError("never raised")) is None
    assert place_of(None) is None


# how long


def catches() -> None:
    """As models in the wild do."""
    while True:
        with suppress(Exception):
            time.sleep(0.01)


def catches_all() -> None:
    end = time.monotonic() + 2 * SOON
    while time.monotonic() < end:
        with suppress(BaseException):
            time.sleep(0.01)


def by_signal(handler: Any, number: int = signal.SIGALRM) -> Callable[[], None]:
    def run() -> None:
        signal.signal(number, handler)
        while True:
            pass

    return run


def masked() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    while True:
        pass


def deaf() -> None:
    """Nothing reaches it before it comes back."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(2 * SOON)


def careless() -> None:
    signal.signal(TIME_UP, signal.SIG_DFL)
    time.sleep(2 * SOON)


def handlers() -> list[Any]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGALRM, TIME_UP)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return [*map(signal.getsignal, numbers), mask, signal.getitimer(signal.ITIMER_REAL)]


@pytest.mark.parametrize(
    "function",
    [
        catches,
        catches_all,
        lambda: time.sleep(60),
        raiser(EndlessError()),
        by_signal(signal.SIG_DFL),
        by_signal(signal.SIG_IGN),
        by_signal(lambda *args: None),
        masked,
        deaf,
        careless,
    ],
)
def test_time_limit(function: Callable[[], Any]) -> None:
    """Whatever becomes of SIGALRM, which is the user's own."""
    before, threads, start = handlers(), threading.active_count(), time.monotonic()
    with pytest.raises(HostModelTimeout, match=r"^it takes more than 0\.2 s$"):
        called(function, SOON)
    assert time.monotonic() - start < 10
    assert handlers() == before
    assert threading.active_count() == threads


def test_time_is_that_of_all_calls_together() -> None:
    """Within a block, and over several of them; what lies between does not count."""
    foreign = ForeignCode(1)
    for _ in range(2):
        with foreign:
            foreign.call(time.sleep, SOON)
        time.sleep(2 * SOON)
    with foreign:
        start = time.monotonic()
        with pytest.raises(HostModelTimeout):
            foreign.call(time.sleep, 60)
        assert time.monotonic() - start < 1
        with pytest.raises(HostModelTimeout):
            foreign.call(time.sleep, 0)


def test_our_own_code_is_not_interrupted() -> None:
    foreign = ForeignCode(1)
    with foreign:
        foreign.call(time.sleep, 0)
        time.sleep(1 + SOON)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e300])
def test_no_limit(seconds: float) -> None:
    with pytest.raises(UsageError, match="--model-timeout"):
        ForeignCode(seconds)


# what stays as it was


def test_alarms_of_its_own() -> None:
    """They work while it runs; afterwards none ends the process, or fails code of ours."""

    def own() -> str:
        def ring(*args: object) -> None:
            raise TimeoutError

        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            time.sleep(60)
        except TimeoutError:
            signal.setitimer(signal.ITIMER_REAL, SOON)
            return "rang"
        return ""

    def alarmed() -> None:
        signal.setitimer(signal.ITIMER_REAL, SOON)
        time.sleep(60)

    before, foreign = handlers(), ForeignCode(60)
    with foreign:
        assert foreign.call(own) == "rang"
        time.sleep(2 * SOON)
        with pytest.raises(ForeignError, match="SIGALRM, and it has no handler"):
            foreign.call(alarmed)
        foreign.call(signal.setitimer, signal.ITIMER_REAL, SOON)
        time.sleep(2 * SOON)
        foreign.call(signal.signal, signal.SIGALRM, signal.SIG_DFL)
        foreign.call(signal.signal, signal.SIGINT, signal.SIG_IGN)
        foreign.call(signal.setitimer, signal.ITIMER_REAL, SOON)
    time.sleep(2 * SOON)
    assert handlers() == before


def test_limit_of_recursion() -> None:
    before, foreign = sys.getrecursionlimit(), ForeignCode(60)
    with foreign:
        foreign.call(sys.setrecursionlimit, before + 1000)
        assert sys.getrecursionlimit() == before

        def fails() -> None:
            sys.setrecursionlimit(before + 1000)
            raise ValueError("x")

        with pytest.raises(ForeignError):
            foreign.call(fails)
        assert sys.getrecursionlimit() == before


def test_streams_are_as_before() -> None:
    before = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__

    def spoils() -> None:
        sys.stdout.close()
        sys.__stderr__ = sys.stderr = None  # type: ignore[misc]
        del sys.__stdout__

    foreign = ForeignCode(60)
    with foreign:
        assert sys.stdout is not before[0]
        foreign.call(spoils)
        with foreign.paused():
            assert (sys.stdout, sys.stderr) == before[:2]
        assert sys.stderr is None
    assert (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__) == before
    with foreign.paused():
        assert sys.stdout is before[0]


# all of it on the command line


def run(folder: Path, text: str, *options: str) -> Result:
    (folder / "m.py").write_text(text)
    return cannkit(*RAW, "--model", f"{folder}/m.py:f", *options)


PRINTING: Final = {
    "print('x')": "x\n",
    "print('x', end='')": "x",
    "os.write(1, b'x')": "x",
    "os.system('echo x')": "x\n",
    "sys.__stdout__.write('x')": "x",
    "sys.stdout.buffer.write(b'x')": "x",
    "sys.stdout.close()": "",
    "sys.stdout = None": "",
    "os.dup2(2, 1)": "",
    "logger.warning('x')": "x\n",
    "raise ValueError(print('x', end=''))": "x",
}


def test_what_it_prints_is_no_part_of_the_answer(tmp_path: Path) -> None:
    """Nor what the module, its threads and its exit handlers print; it goes to stderr."""
    plain = cannkit(*RAW, "--json").document
    head = "import atexit, logging, os, sys, threading, time\n"
    logging = "logger = logging.getLogger()\nlogger.addHandler(logging.StreamHandler(sys.stdout))\n"
    lines = []
    for at, statement in enumerate(PRINTING):
        text = f"{head}{logging}print('module')\ndef f(ctx):\n    {statement}\n"
        (tmp_path / f"m{at}.py").write_text(text)
        lines.append([*RAW, "--model", f"{tmp_path}/m{at}.py:f", "--json"])
    for (statement, told), found in zip(PRINTING.items(), each(lines), strict=True):
        failed = statement.startswith("raise")
        assert found.code == (ExitCode.FAULT if failed else ExitCode.OK), statement
        assert found.err.decode().startswith(f"module\n{told if failed else told * 2}"), statement
        if not failed:
            assert found.document == plain | {"result": plain["result"] | {"message": "completed"}}
    text = (
        f"{head}atexit.register(print, 'exit')\n"
        "def late():\n    time.sleep(0.5)\n    print('late', flush=True)\n    os.write(1, b'fd\\n')\n"
        "def f(ctx):\n    threading.Thread(target=late).start()\n"
    )
    found = run(tmp_path, text, "--json")
    assert found.document["error"] is None
    assert sorted(found.errors) == ["exit", "fd", "fd", "late", "late"]


def test_closed_files_and_a_trace(tmp_path: Path) -> None:
    """Our own lines come through, and its own redirection stays."""
    text = (
        "import contextlib, io, os, sys\n"
        "def f(ctx):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as said:\n"
        "        print('a'); ctx.write(ctx.args_address, b'1'); print('b')\n"
        "    assert said.getvalue() == 'a\\nb\\n'\n"
        "    if ctx.block == 1:\n"
        "        os.close(1); os.close(2); sys.stdout = sys.stderr = None\n"
    )
    found = run(tmp_path, text, "--json", "-v")
    assert (found.code, found.document["error"]) == (ExitCode.OK, None)
    assert found.errors[-1].endswith("2 AIV blocks: completed")


def test_a_child_answers_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, "import os\ndef f(ctx):\n    if os.fork(): os.wait()\n", "--json")
    assert (found.code, found.document["error"], found.err) == (0, None, b"")


def test_anything_it_raises_is_a_fault(tmp_path: Path) -> None:
    """One line, exit 5; in the module itself exit 3; and one document."""
    raised = {
        "import asyncio; raise asyncio.CancelledError": "CancelledError",
        "raise GeneratorExit": "GeneratorExit",
        "raise type('Own', (BaseException,), {})('x')": "Own: x",
        "raise type('Bad', (Exception,), {'__str__': lambda self: [][0]})": "Bad",
        "raise ValueError('\\ud800\\udcff')": r"ValueError: \ud800\xff",
        "raise MemoryError": "MemoryError",
        "import sys; sys.exit(0)": "SystemExit: it asks to end the process with 0",
        "import sys; sys.setrecursionlimit(60); raise KeyError(5)": "KeyError: 5",
    }
    lines = []
    for at, statement in enumerate(raised):
        (tmp_path / f"model{at}.py").write_text(f"def f(ctx):\n    {statement}\n")
        (tmp_path / f"module{at}.py").write_text(f"{statement}\n")
        lines += [
            [*RAW, "--model", f"{tmp_path}/{kind}{at}.py:f", "--json"]
            for kind in ("model", "module")
        ]
    answers = iter(each(lines))
    for at, why in enumerate(raised.values()):
        in_model, in_module = next(answers), next(answers)
        assert (in_model.code, in_module.code) == (ExitCode.FAULT, ExitCode.INPUT), why
        for found in (in_model, in_module):
            assert len(found.errors) == 1
            assert f"{why} ({tmp_path}/mod" in found.document["error"]["why"]
        where = f"({tmp_path}/module{at}.py): {why} ({tmp_path}/module{at}.py:1)"
        assert in_module.errors[0].endswith(f"cannot load the host model {where}")


def test_time_is_that_of_the_module_too(tmp_path: Path) -> None:
    found = run(tmp_path, "while True: pass\n", "--model-timeout", "0.5", "--json")
    assert found.code == ExitCode.INPUT
    why = f"it takes more than 0.5 s ({tmp_path}/m.py:1)"
    assert found.document["error"]["why"] == why


def test_it_moves_to_another_folder(tmp_path: Path) -> None:
    """Module and model do; outputs lie where the user meant, and are called as the user does."""
    params = str(ROOT / "fixtures/cases/params/input.o")
    (tmp_path / "away").mkdir()
    (tmp_path / "m.py").write_text(
        "import os\nos.chdir('away')\ndef f(ctx):\n    ctx.arg(0)[0] = 7\n    os.chdir('/')\n"
    )
    found = cannkit(
        "launch", params, "--blocks", "1", "--arg", "inout:u8[1]=1@y", "--arg", "u64:1",
        "--model", "m.py:f", "--json", cwd=tmp_path, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (found.code, found.err) == (0, b"")
    assert found.document["outputs"][0]["file"] == "y"
    assert (tmp_path / "y").read_bytes() == b"\7"
    assert os.listdir(tmp_path / "away") == []  # noqa: PTH208
