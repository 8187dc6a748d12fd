"""cannkit sqe decode and encode: what is taken, what is answered, and what it costs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.cli.sqe import HELD
from cannkit.errors import ExitCode
from tests.cli.conftest import Keep
from tests.cli.runner import ROOT, Result, cannkit, command, each, environment, terminal, together
from tests.cli.sqe_page import page
from tests.facts import A2_SOC, A5_SOC
from tests.report.test_json import validator
from tests.sqe import context, context_line, examples, hex_lines, sqe, word_lines

PAGE: Final = ROOT / "docs" / "sqe.md"
W1, W3, W4 = (sqe(name) for name in ("W-1", "W-3", "W-4"))
MIX_LOG: Final = "\n".join([*word_lines("MixTask", W3), context_line(context("W-3"))])
LOG: Final = "\n".join([MIX_LOG, *word_lines("AIV Task", W4)])


def decode(*args: str | Path, stdin: bytes = b"") -> Result:
    return cannkit("sqe", "decode", *args, stdin=stdin)


def encode(*args: str) -> Result:
    return cannkit("sqe", "encode", *args)


def sqes(result: Result) -> list[dict[str, Any]]:
    """The entries of an answer that found some."""
    assert (result.code, result.err) == (0, b"")
    return list(result.document["sqes"])


def test_page_of_layouts(keep: Keep) -> None:
    """docs/sqe.md is written from the records."""
    keep(PAGE, page().encode())


def test_commands_of_the_page() -> None:
    """What it shows as an example does what it says."""
    line = next(line for line in page().splitlines() if "encode --soc" in line)
    made = cannkit(*line.split()[1:])
    assert made.code == 0
    (entry,) = sqes(decode(made.text.strip(), "--json"))
    assert (entry["record"], entry["fields"][7]["value"]) == ("kernel", 48)


def test_where_entries_come_from(tmp_path: Path) -> None:
    """An argument, words of a shell, a file, stdin: the same answer."""
    path = tmp_path / "sqe.txt"
    path.write_text("\n".join(hex_lines(W1)))
    answers = together(
        lambda: decode(W1.hex(), "--json"),
        lambda: decode(*W1.hex(" ").split(), "--json"),
        lambda: decode(f"@{path}", "--json"),
        lambda: decode("-", "--json", stdin=path.read_bytes()),
    )
    found = [sqes(answer) for answer in answers]
    assert found[0] == found[1] == found[2] == found[3]
    (entry,) = found[0]
    assert (entry["hex"], entry["arch"], entry["guessed"]) == (W1.hex(), "v100", True)


def test_entries_of_a_log(tmp_path: Path) -> None:
    """LCH-80, LCH-82: a mix with its context, and what else there is."""
    path = tmp_path / "plog.txt"
    path.write_text(LOG)
    first, second = sqes(decode(f"@{path}", "--json"))
    assert (first["hex"], first["context"]["hex"]) == (W3.hex(), context("W-3").hex())
    assert (second["hex"], second["label"], second["line"]) == (W4.hex(), "AIV Task", 4)
    assert (second["guessed"], second["evidence"]) == (True, "label")
    given = sqes(decode(f"@{path}", "--soc", A5_SOC, "--json"))
    assert [entry["arch"] for entry in given] == ["v200", "v100", "v200"]  # a context is of v100
    assert [entry["guessed"] for entry in given] == [False, True, False]


def test_what_is_missing_is_told() -> None:
    """Q-28: on stderr, or in the document; it changes no exit code."""
    text = "\n".join([LOG, word_lines("AICpuTask", W1)[0]])
    shown, quiet, answer = each(
        [["sqe", "decode", text, *args] for args in ([], ["-q"], ["--json"])]
    )
    line = "line 6: AICpuTask: 8 of 16 words, the other line is missing"
    assert shown.errors == [f"cannkit: warning: {line} [incomplete]"]
    assert (shown.code, quiet.code, quiet.err, quiet.out) == (0, 0, b"", shown.out)
    (warning,) = answer.document["warnings"]
    assert f"{warning['where']}: {warning['message']}" == line


def test_the_chip_of_the_environment() -> None:
    """cli.md: CANNKIT_SOC counts as --soc."""
    answer = cannkit("sqe", "decode", W4.hex(), "--json", env={"CANNKIT_SOC": A2_SOC})
    (entry,) = sqes(answer)
    assert (entry["arch"], entry["guessed"]) == ("v100", False)
    assert entry["notes"] == ["by its bytes it looks like an entry of v200"]


@pytest.mark.parametrize("count", [HELD, HELD + 1, 3 * HELD])
def test_many_entries(count: int) -> None:
    """One document, however many there are; from some number on an entry is a line."""
    answer = decode("-", "--json", stdin=b"\n".join([W1.hex().encode()] * count + [b"00"]))
    found = answer.document
    assert (answer.code, len(found["sqes"])) == (0, count)
    assert list(found) == ["schema", "sqes", "warnings", "error"]
    assert len(found["warnings"]) == 1
    assert answer.text.startswith(
        '{\n  "schema"' if count <= HELD else '{"schema": "cannkit.sqe/1",'
    )
    from cannkit.report.sqe import SqeDocument

    validator(SqeDocument).validate(found)


def test_errors() -> None:
    """cli.md: input that is malformed or holds nothing is exit 3, a bad option exit 2."""
    lines: dict[tuple[str, ...], tuple[int, str]] = {
        ("decode", "00zz00"): (3, "no queue entry found (HEX): neither 64 bytes of hex nor"),
        ("decode", W1.hex()[:-1] + "g"): (3, "no queue entry found (HEX): 'g' at 128 is no hex"),
        ("decode", W1.hex()[:-1]): (3, "no complete queue entry found (HEX, line 1): 63 bytes"),
        ("decode", ""): (3, "no queue entry found (HEX): neither"),
        ("decode", "@pyproject.toml"): (3, "no queue entry found (pyproject.toml): neither"),
        ("decode", "@nothing"): (3, "cannot read the file (nothing): No such file or directory"),
        ("decode", "@"): (3, "cannot read the file"),
        ("decode", "@fixtures"): (3, "cannot read the file (fixtures): Is a directory"),
        ("decode", "-"): (3, "no queue entry found (-): neither"),
        ("decode", W1.hex(), "--soc", "Ascend910B11"): (2, "unknown SoC 'Ascend910B11'"),
        ("decode", W1.hex(), "--soc", "Ascend310P3"): (2, "the layout of queue entries of"),
        ("decode",): (2, "Missing argument 'HEX|@FILE|-'"),
        ("encode", "--set", "block_dim"): (2, "--set block_dim: it takes FIELD=VALUE"),
        ("encode", "--set", "blokdim=1"): (2, "RtFftsPlusKernelSqe has no field 'blokdim'"),
        ("encode", "--set", "block_dim=70000"): (2, "block_dim=70000 does not fit in 16 bits"),
        ("encode", "--type", "KERNEL"): (2, "sqe_type=KERNEL: neither a decimal nor a 0x"),
        ("encode", "--record", "nothing"): (2, "Invalid value for '--record'"),
        ("encode", "--soc", A5_SOC, "--record", "mix"): (2, "v200 has no record mix"),
        ("encode", "--base", "00" * 64): (2, "--base does not tell its family"),
        ("encode", "--base", "00"): (3, "no queue entry found (HEX): neither 64 bytes"),
        ("encode", "--base", W1.hex() * 2): (3, "--base takes one entry (HEX): there are more"),
        ("encode", "block_dim=1"): (2, "Got unexpected extra argument"),
        (): (2, "Missing command"),
        ("show",): (2, "No such command 'show'"),
    }
    results = each([["sqe", *line] for line in lines])
    for result, (line, (code, said)) in zip(results, lines.items(), strict=True):
        assert (result.code, result.out) == (code, b""), line
        assert result.errors[0].startswith(f"cannkit: error: {said}"), line
    answers = each([["sqe", *line, "--json"] for line in lines if line])
    for answer in answers:
        assert list(answer.document) == ["schema", "error"]
        assert answer.document["schema"] == "cannkit.sqe/1"
    hint = decode("README.md").errors[1]
    assert hint == "hint: `@README.md` reads the file"


def test_encode_what_was_decoded() -> None:
    """Every field of an example, set by name: the same bytes."""

    def call(name: str) -> Callable[[], Result]:
        known = examples()[name]
        soc = A2_SOC if known["family"] == "v100" else A5_SOC
        fields = [f"--set={field}={value}" for field, value in known["fields"].items()]
        return lambda: encode("--soc", soc, *fields)

    results = together(*map(call, examples()))
    for name, result in zip(examples(), results, strict=True):
        assert (result.code, result.text, result.err) == (0, f"{sqe(name).hex()}\n", b""), name


def test_encode_a_context() -> None:
    known = examples()["W-3"]["context_fields"]
    fields = [f"--set={field}={value}" for field, value in known.items()]
    made, answer = together(
        lambda: encode("--record", "context", *fields),
        lambda: encode("--record", "context", *fields, "--json"),
    )
    assert made.text == f"{context('W-3').hex()}\n"
    (entry,) = sqes(answer)
    assert (entry["size"], entry["record"], entry["hex"]) == (128, "context", made.text.strip())


def test_encode_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    """cli.md: --base; bits without a name stay; the family of the base is a guess, and told."""
    raw = bytearray(W4)
    raw[13] = 0xA5  # reserved
    path = tmp_path / "base.hex"
    path.write_text(raw.hex(" "))
    line = "cannkit: --base is an entry of v200 by its bytes: --soc NAME makes it sure"
    told, quiet, sure = together(
        lambda: encode("--base", f"@{path}", "--set", "blockDim=34"),
        lambda: encode("--base", f"@{path}", "--set", "block_dim=34", "-q"),
        lambda: encode("--base", raw.hex(), "--set", "block_dim=34", "--soc", A5_SOC),
    )
    raw[2] = 34
    assert {told.text, quiet.text, sure.text} == {f"{raw.hex()}\n"}
    assert (told.errors, quiet.err, sure.err) == ([line], b"", b"")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_on_a_terminal(width: int) -> None:
    """Nothing is wider than the screen; the guess is told beside the entry."""
    screen = terminal("sqe", "decode", LOG, width=width)
    assert screen.code == 0
    assert max(map(len, screen.lines)) <= width
    assert "\u2026" not in screen.text
    assert "MIX_AIC" in "".join(screen.text.split())


def test_colour_in_a_pipe() -> None:
    plain, forced = together(lambda: decode(LOG), lambda: decode(LOG, "--color", "always"))
    assert b"\x1b" not in plain.out
    assert b"\x1b[" in forced.out


def limited(megabytes: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return limit


def in_little_memory(*args: str | Path) -> Result:
    """Run where no more than 400 MiB of addresses are there."""
    done = subprocess.run(
        command("sqe", "decode", *args),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        preexec_fn=limited(400),
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def test_file_of_a_gibibyte(tmp_path: Path) -> None:
    """No line of it is kept; what stands at its end is found."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    result = in_little_memory(f"@{path}")
    assert (result.code, result.out) == (ExitCode.INPUT, b"")
    assert "1,048,576 bytes without a line end" in result.errors[0]
    with path.open("ab") as file:
        file.write(b"\n" + LOG.encode())
    result = in_little_memory(f"@{path}", "--json")
    assert result.code == 0
    assert len(result.document["sqes"]) == 2


def test_binary_files(tmp_path: Path) -> None:
    """Garbage is one clear line, objects and raw entries too."""
    path = tmp_path / "raw"
    for data in (W1, os.urandom(1 << 20), bytes(range(256)) * 64):
        path.write_bytes(data)
        result = decode(f"@{path}")
        assert (result.code, result.out) == (ExitCode.INPUT, b"")
        assert result.errors[0].startswith("cannkit: error: no ")
        assert len(result.errors) == 1


def test_a_log_that_goes_on() -> None:
    """Entries of a pipe are shown as soon as they are there."""
    with subprocess.Popen(
        command("sqe", "decode", "-", python=["-u"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n".join(word_lines("AIV Task", W4)).encode() + b"\n")
        process.stdin.flush()
        first = process.stdout.readline()
        process.stdin.close()
        process.stdout.read()
    assert first == b"v200, kernel, RtDavidStarsAicAivKernelSqe, type AIV (1)\n"
    assert process.returncode == 0


def test_reader_that_leaves() -> None:
    """cli.md: stdout closed by its reader is silent, exit 141."""
    text = "\n".join([W1.hex()] * 2_000)
    shell = '"$0" -m cannkit sqe decode - | head -c 10 >&2; exit ${PIPESTATUS[0]}'
    done = subprocess.run(
        ["bash", "-c", shell, sys.executable],
        input=text.encode(),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (ExitCode.PIPE_CLOSED, b"v100, kern")


def test_json_on_a_terminal_and_in_a_pipe() -> None:
    """The same document."""
    screen = terminal("sqe", "decode", W1.hex(), "--json")
    assert json.loads(screen.text) == decode(W1.hex(), "--json").document
