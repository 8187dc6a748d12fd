"""Exit codes, streams and errors, the same for every command. cli.md, section 1."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from cannkit.cli.driver import answer
from cannkit.cli.printers import JsonPrinter, TextPrinter
from cannkit.errors import ExitCode, worst
from cannkit.inputs.contents import Input
from cannkit.inputs.paths import open_inputs
from cannkit.render.listing import ParseListing
from cannkit.report.parse import ParseDocument
from tests.cli.runner import (
    ADD,
    FATBIN,
    OBJECTS,
    ROOT,
    Result,
    cannkit,
    command,
    each,
    environment,
    run,
    together,
)

DIRECTORY: Final = "completions"  # without kernel objects: still a list, of one
MISSING: Final = "fixtures/nothing.o"
ERROR: Final = re.compile(r"cannkit: error: [^:(]+( \(.+\))?(: .+)?")
ERROR_KEYS: Final = ["kind", "what", "where", "why", "hint", "acl", "rt"]

# A command for each code that a user of `parse`, `soc`, `schema` and `completion` can meet.
CODES: Final = {
    "--version": 0,
    "--help": 0,
    f"parse {ADD}": 0,
    f"parse {ADD} --json": 0,
    f"parse --kernel nothing {ADD}": 1,
    f"parse --kernel nothing {ADD} --json": 1,
    "nosuch": 2,
    "parse": 2,
    f"parse --nosuch {ADD}": 2,
    f"parse --soc nosuch {ADD}": 2,
    f"parse --color nosuch {ADD}": 2,
    "schema nosuch": 2,
    "completion nosuch": 2,
    f"parse {MISSING}": 3,
    f"parse {MISSING} --json": 3,
    "parse README.md": 3,
    f"parse {DIRECTORY}": 3,  # cli.md: nothing found in a directory
}

# Every way an answer leaves the process.
ANSWERS: Final = (
    f"parse {ADD}",
    f"parse {ADD} --json",
    f"parse {OBJECTS}",
    f"parse {OBJECTS} --json",
    f"lookup {ADD} --entry 0",
    f"load {ADD} --json",
    "soc",
    "soc Ascend910B1",
    "soc --json",
    "schema soc",
    "completion bash",
    "--help",
    "--version",
)

USAGE: Final = (
    "--json",
    f"--json parse {ADD}",
    "nosuch --json",
    "parse --json",
    f"parse --nosuch --json {ADD}",
    f"parse --json --nosuch {ADD}",
    f"parse {ADD} --soc nosuch --json",
    f"parse {OBJECTS} --sidecar {OBJECTS}/AddCustom.json --json",
    "soc nosuch --json",
    "soc --nosuch --json",
    "schema nosuch --json",
)

BUG: Final = """
import typer
from cannkit.cli.driver import run
app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)

@app.command()
def boom(json: bool = False) -> None:
    raise RuntimeError("boom")

@app.command()
def other() -> None:
    pass
"""


def words(*lines: str) -> list[list[str]]:
    return [line.split() for line in lines]


@pytest.fixture(scope="module")
def answers() -> dict[str, Result]:
    return dict(zip(CODES, each(words(*CODES)), strict=True))


def test_exit_codes(answers: dict[str, Result]) -> None:
    assert {line: result.code for line, result in answers.items()} == CODES


def test_error_is_one_line_and_perhaps_a_hint(answers: dict[str, Result]) -> None:
    """cli.md: `cannkit: error: <what> (<where>): <why>`, then `hint: ...`; stdout has the answer."""
    for line, code in CODES.items():
        if code < ExitCode.USAGE or "--json" in line:
            continue
        first, *rest = answers[line].errors
        assert ERROR.fullmatch(first), line
        assert "\\" not in first, f"{line}: {first}"
        assert len(rest) == len([hint for hint in rest if hint.startswith("hint: ")]) <= 1, line
        assert answers[line].out == b"" or line.endswith(DIRECTORY), line


def test_choices_of_a_usage_error_stay_on_its_line() -> None:
    """click sets them out in lines of their own."""
    found = cannkit("schema")
    assert found.code == ExitCode.USAGE
    assert "\\" not in found.errors[0]
    assert len(found.errors) == 2


def test_usage_error_in_json() -> None:
    """cli.md: a usage error with `--json` anywhere on the line prints it too, exit 2."""
    for line, result in zip(USAGE, each(words(*USAGE)), strict=True):
        assert result.code == ExitCode.USAGE, line
        assert result.out, f"{line}: no document"
        found = result.document
        assert list(found) == ["schema", "error"], line
        assert re.fullmatch(r"cannkit\.[a-z-]+/1", found["schema"]), line
        assert list(found["error"]) == ERROR_KEYS, line
        assert found["error"]["kind"] == "usage", line


@pytest.mark.parametrize("severe", range(5))
def test_worst_of_several(severe: int) -> None:
    """cli.md: in the order 70 > 3 > 4 > 5 > 1 > 0."""
    order = [ExitCode(code) for code in (70, 3, 4, 5, 1, 0)]
    assert worst(reversed(order[severe:])) == order[severe]


def test_several_inputs() -> None:
    """Each is answered, and the gravest code is the exit code."""
    lines = words(f"parse {MISSING} {ADD}", f"parse --kernel nothing {ADD} {MISSING}")
    for result in each(lines):
        assert result.code == ExitCode.INPUT
        assert ADD in result.text
        assert result.errors[0].startswith("cannkit: error: ")


def test_stdout_closed_by_its_reader() -> None:
    """141, silent, whatever the answer: `cannkit parse DIR | head -0`."""

    def call(line: str) -> Result:
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as nobody:
            return run(command(*line.split()), stdout=nobody)

    results = together(*(lambda line=line: call(line) for line in ANSWERS))
    found = {line: (r.code, r.err.decode()) for line, r in zip(ANSWERS, results, strict=True)}
    assert found == dict.fromkeys(ANSWERS, (ExitCode.PIPE_CLOSED, ""))


def test_reader_of_stdout_leaves_after_a_line() -> None:
    """The same when the pipe closes in the middle."""
    process = subprocess.Popen(
        command("parse", "-v", OBJECTS),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    with process:
        errors = process.stderr.read()
    assert (process.returncode, errors) == (ExitCode.PIPE_CLOSED, b"")


def test_output_that_cannot_be_written() -> None:
    """cli.md: exit 3 and one line, never a traceback; /dev/full has no space left."""

    def call(line: str) -> Result:
        with Path("/dev/full").open("wb") as full:
            return run(command(*line.split()), stdout=full)

    results = together(*(lambda line=line: call(line) for line in ANSWERS))
    found = {line: (r.code, r.errors) for line, r in zip(ANSWERS, results, strict=True)}
    told = ["cannkit: error: cannot write the output: No space left on device"]
    assert found == dict.fromkeys(ANSWERS, (ExitCode.INPUT, told))


def test_stdout_closed_from_the_start() -> None:
    """`cannkit parse FILE >&-`: as for a full disk."""
    lines = [f"parse {ADD}", f"parse {ADD} --json", f"parse {OBJECTS}", "soc", "--version"]
    calls = [
        lambda line=line: run(["sh", "-c", 'exec "$@" >&-', "sh", *command(*line.split())])
        for line in lines
    ]
    for line, result in zip(lines, together(*calls), strict=True):
        assert result.code == ExitCode.INPUT, line
        assert len(result.errors) == 1, line
        assert result.errors[0].startswith("cannkit: error: cannot write the output"), line


def test_stderr_closed_from_the_start() -> None:
    """stdout is the answer: what belongs on a closed stderr does not go there."""
    found = run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command("parse", MISSING)])
    assert (found.code, found.out) == (ExitCode.INPUT, b"")


def test_stdin_closed_from_the_start() -> None:
    found = run(["sh", "-c", 'exec "$@" <&-', "sh", *command("parse", "-")])
    assert found.code == ExitCode.INPUT
    assert found.errors == ["cannkit: error: cannot read the standard input (-): it is closed"]


def interrupted(line: str, seen: str, *python: str, stream: str) -> Result:
    """Send SIGINT as soon as `seen` comes out of a stream; what comes after it is the result."""
    process = subprocess.Popen(
        command(*line.split(), python=python),
        stdin=subprocess.PIPE,  # and nothing comes
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment({"PYTHONUNBUFFERED": "1"}),
        cwd=ROOT,
    )
    pipe = process.stdout if stream == "out" else process.stderr
    assert pipe
    text = b""
    while seen not in text.decode():
        part = os.read(pipe.fileno(), 1 << 16)
        assert part, f"ended without {seen}: {text.decode()}"
        text += part
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    return Result(process.returncode, out, errors)


def test_interrupted_while_it_waits() -> None:
    """130, silent."""
    text = interrupted(f"parse - {ADD}", "CHIP", stream="out")
    answer_ = interrupted(f"parse - {ADD} --json", "results", stream="out")
    assert (text.code, text.err) == (ExitCode.INTERRUPTED, b"")
    assert (answer_.code, answer_.err) == (ExitCode.INTERRUPTED, b"")


def test_interrupted_before_its_answer() -> None:
    """130 and the one document that `--json` promises."""
    found = interrupted(
        "parse - --json", "  cannkit.inputs.contents\n", "-X", "importtime", stream="err"
    )
    assert found.code == ExitCode.INTERRUPTED
    assert (found.document["schema"], found.document["error"]["kind"]) == (
        "cannkit.parse/1",
        "interrupted",
    )


def test_interrupted_while_it_starts() -> None:
    """130 from the first import on: `-X importtime` tells when the command line begins to load."""
    found = interrupted("parse -", "  cannkit.cli\n", "-X", "importtime", stream="err")
    assert "Traceback" not in found.err.decode()
    assert found.code == ExitCode.INTERRUPTED


def test_bug() -> None:
    """70 and one line, and how to report it; the traceback for CANNKIT_DEBUG=1."""
    program = [sys.executable, "-c"]
    plain, json_too, debug = together(
        lambda: run([*program, f"{BUG}\nrun(app, ['boom'])"]),
        lambda: run([*program, f"{BUG}\nrun(app, ['boom', '--json'])"]),
        lambda: run([*program, f"{BUG}\nrun(app, ['boom'])"], env={"CANNKIT_DEBUG": "1"}),
    )
    assert plain.code == json_too.code == debug.code == ExitCode.BUG
    assert plain.errors[0] == "cannkit: error: internal error: RuntimeError: boom"
    assert len(plain.errors) == 2
    assert "CANNKIT_DEBUG=1" in plain.errors[1]
    assert json_too.document["error"]["kind"] == "bug"
    assert "Traceback" in debug.err.decode()


def test_bug_without_words() -> None:
    program = BUG.replace('RuntimeError("boom")', "RuntimeError")
    found = run([sys.executable, "-c", f"{program}\nrun(app, ['boom'])"])
    assert found.errors[0] == "cannkit: error: internal error: RuntimeError"


def test_debug_shows_the_traceback_of_an_error() -> None:
    plain, debug = together(
        lambda: cannkit("parse", MISSING),
        lambda: cannkit("parse", MISSING, env={"CANNKIT_DEBUG": "1"}),
    )
    assert "Traceback" not in plain.err.decode()
    assert "Traceback" in debug.err.decode()
    assert (plain.code, plain.out) == (debug.code, debug.out)


@pytest.mark.parametrize("json_too", [False, True])
def test_memory_that_runs_out_is_no_bug(
    json_too: bool, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """It is the input that is too large for this machine."""
    listing = TextPrinter("auto", listing=ParseListing())
    printer = JsonPrinter(ParseDocument.SCHEMA) if json_too else listing

    def one(item: Input) -> ParseDocument:
        raise MemoryError

    code = answer(open_inputs([str(ROOT / FATBIN)]), one, ParseDocument.failed, printer)
    sys.stdout.flush()
    found = capfdbinary.readouterr()
    assert code == ExitCode.INPUT
    assert b"there is not enough memory for it" in (found.out if json_too else found.err)


@pytest.mark.parametrize("json_too", [False, True])
def test_bug_in_one_input_does_not_hide_the_others(
    json_too: bool, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    printer = (
        JsonPrinter(ParseDocument.SCHEMA)
        if json_too
        else TextPrinter("auto", listing=ParseListing())
    )
    inputs = open_inputs([str(ROOT / FATBIN)])
    asked = []

    def one(item: Input) -> ParseDocument:
        asked.append(item)
        raise ZeroDivisionError

    code = answer(inputs, one, ParseDocument.failed, printer)
    sys.stdout.flush()
    found = capfdbinary.readouterr()
    assert code == ExitCode.BUG
    assert len(asked) == 3
    if json_too:
        kinds = [entry["error"]["kind"] for entry in json.loads(found.out)["results"]]
        assert kinds == ["bug"] * 3
    else:
        assert found.err.count(b"internal error") == found.err.count(b"ZeroDivisionError") == 3
        assert b"3 objects" in found.out


LIGHT: Final = {"lief", "elftools", "pydantic", "pydantic_core", "rich"}
BANNED: Final = {
    "--version": LIGHT,
    "--help": LIGHT,
    "parse --help": LIGHT,
    "completion bash": LIGHT,
    f"parse {ADD}": LIGHT - {"rich"},
    f"parse {OBJECTS}": LIGHT - {"rich"},
    f"parse {ADD} --json": LIGHT - {"pydantic", "pydantic_core"},
    f"register {ADD}": LIGHT - {"rich"},
    f"register {ADD} --json": LIGHT - {"pydantic", "pydantic_core"},
    f"lookup {ADD} --entry 0": LIGHT - {"rich"},
    f"lookup {ADD} --entry 0 --json": LIGHT - {"pydantic", "pydantic_core"},
    f"load {ADD}": LIGHT - {"rich"},
    f"load {ADD} --json": LIGHT - {"pydantic", "pydantic_core"},
    "soc": LIGHT - {"rich"},
    "soc --json": LIGHT - {"pydantic", "pydantic_core"},
}


def test_imports() -> None:
    """cli.md: `--version`, `--help` and completion import none of the five; text no pydantic."""

    def call(line: str) -> Callable[[], Result]:
        return lambda: cannkit(*line.split(), python=("-X", "importtime"))

    results = together(*map(call, BANNED))
    found = {line: imported(r) & BANNED[line] for line, r in zip(BANNED, results, strict=True)}
    assert found == {line: set() for line in BANNED}
    assert {result.code for result in results} == {0}


def imported(found: Result) -> set[str]:
    """The packages that `-X importtime` saw."""
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in found.errors}


def test_imports_see_what_is_imported() -> None:
    """The guard itself: schema does import pydantic, and soc rich."""
    schema, soc = together(
        lambda: cannkit("schema", "soc", python=("-X", "importtime")),
        lambda: cannkit("soc", python=("-X", "importtime")),
    )
    assert "pydantic" in imported(schema)
    assert "rich" in imported(soc)
