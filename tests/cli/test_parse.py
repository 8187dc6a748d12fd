"""cannkit parse on pipes and on terminals. cli.md, sections 1 and 2."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from rich.cells import cell_len

from cannkit.errors import ExitCode
from tests.build import OBJECTS as FOLDER
from tests.cli.inputs import CASES, CHINESE, LONG, ODD_NAMES, SHOWN_NAMES, vector_object
from tests.cli.runner import (
    ADD,
    BOX,
    FATBIN,
    OBJECTS,
    Result,
    Screen,
    all_of,
    cannkit,
    each,
    run,
    terminal,
    together,
)

ODD: Final = "fixtures/cases/odd-names/input.o"
PARAMS: Final = "fixtures/cases/params/input.o"
PRINTF: Final = next(FOLDER.glob("BoundsCheck*.o")).name
SOFTMAX: Final = next(FOLDER.glob("Softmax*.o")).name
ESC: Final = b"\x1b"
NO_BREAK: Final = "\u00a0"
ANSWERS: Final = (
    ["parse", ADD],
    ["parse", "-v", "--raw", ODD],
    ["parse", OBJECTS],
    ["soc"],
    ["soc", "Ascend910B1"],
)
STAMP: Final = "2038-01-19"
C_LOCALE: Final = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def numbers(node: object, key: str = "") -> Iterator[tuple[str, int]]:
    """Every integer of a document with the key it stands under; not those a sidecar has itself."""
    if isinstance(node, dict):
        for name in node.keys() - {"raw"}:
            yield from numbers(node[name], name)
    elif isinstance(node, list):
        for value in node:
            yield from numbers(value, key)
    elif isinstance(node, int) and not isinstance(node, bool):
        yield key, node


# JSON


def test_json_is_the_same_each_time() -> None:
    """cli.md: same input, same bytes out."""
    lines = [["parse", OBJECTS, "--json"], ["parse", "-v", ADD, "--json"]]
    first = each(lines, env={"PYTHONHASHSEED": "1", "TZ": "UTC"})
    second = each(lines, env={"PYTHONHASHSEED": "2", "TZ": "Asia/Shanghai", "FORCE_COLOR": "1"})
    assert [r.out for r in first] == [r.out for r in second]
    assert ESC not in first[0].out


def test_json_says_nothing_of_the_machine(tmp_path: Path) -> None:
    """cli.md: no timestamps, no absolute paths that the user did not give."""
    for name in ("AddCustom.o", "AddCustom.json"):
        shutil.copy(FOLDER / name, tmp_path)
    found = cannkit("parse", "AddCustom.o", "--json", cwd=tmp_path)
    assert str(tmp_path) not in found.text
    assert found.document["file"] == "AddCustom.o"
    assert found.document["sidecar"]["file"] == "AddCustom.json"


def test_json_of_one_and_of_many(tmp_path: Path) -> None:
    """cli.md: flat for one plain object; `results` for several, a directory, a host library."""
    (tmp_path / "only.o").write_bytes(vector_object("add_0"))
    flat, missing, two, directory, library, nothing = each(
        [
            ["parse", ADD, "--json"],
            ["parse", "fixtures/nothing.o", "--json"],
            ["parse", ADD, "fixtures/nothing.o", "--json"],
            ["parse", str(tmp_path), "--json"],
            ["parse", FATBIN, "--json"],
            ["parse", "completions", "--json"],
        ]
    )
    keys = list(flat.document)
    assert keys[:2] == ["schema", "file"]
    assert list(missing.document) == keys
    for result, count in ((two, 2), (directory, 1), (library, 3), (nothing, 1)):
        assert list(result.document) == ["schema", "results"]
        assert result.document["schema"] == flat.document["schema"] == "cannkit.parse/1"
        assert [list(entry) for entry in result.document["results"]] == [keys[1:]] * count
    one = {key: flat.document[key] for key in keys[1:]}
    assert two.document["results"][0] == one
    assert (two.code, nothing.code) == (ExitCode.INPUT, ExitCode.INPUT)
    assert nothing.document["results"][0]["error"]["kind"] == "input"


def test_members_in_their_order() -> None:
    entries = cannkit("parse", FATBIN, ADD, "--json").document["results"]
    assert [(e["file"], (e["container"] or {}).get("kind")) for e in entries] == [
        (FATBIN, "fatbin"),
        (FATBIN, "fatbin"),
        (FATBIN, "fatbin"),
        (ADD, None),
    ]
    members = [e["container"]["member"] for e in entries[:3]]
    assert members == sorted(set(members))


def test_json_keeps_integers_that_a_double_can_hold() -> None:
    """cli.md: 64-bit values are decimal strings; all other numbers are JSON integers."""
    entry, softmax = each(
        [["parse", PARAMS, "--json"], ["parse", f"{OBJECTS}/{SOFTMAX}", "--json"]]
    )
    (kernel,) = entry.document["kernels"]
    assert kernel["function_entry"] == str((1 << 64) - 1)
    (tlv,) = (meta for meta in kernel["meta"] if meta["name"] == "FUNCTION_ENTRY_INFO")
    assert tlv["value"]["function_entry"] == str((1 << 64) - 1)
    words = [arg["words"] for k in softmax.document["kernels"] for arg in k["dfx"]["args"]]
    assert str((1 << 64) - 1) in {word for each_ in words for word in each_}
    for result in (entry, softmax):
        assert [pair for pair in numbers(result.document) if abs(pair[1]) > 1 << 53] == []
        assert "." not in "".join(filter(str.isdecimal, result.text))


def test_bytes_are_lower_case_hex() -> None:
    for kernel in cannkit("parse", PARAMS, "--json").document["kernels"]:
        for meta in kernel["meta"]:
            raw = bytes.fromhex(meta["raw_hex"])
            assert (len(raw), raw.hex()) == (meta["length"], meta["raw_hex"])


def test_json_of_odd_names() -> None:
    """HAZ-18: UTF-8 in and out; bytes that are none are escaped, so that the text is valid."""
    names = [kernel["name"] for kernel in cannkit("parse", ODD, "--json").document["kernels"]]
    assert names == [name.replace("\udcff", r"\xff") for name in ODD_NAMES]


@pytest.mark.parametrize("env", [C_LOCALE, {"PYTHONIOENCODING": "latin-1"}], ids=["C", "latin-1"])
def test_json_is_utf8_everywhere(env: dict[str, str]) -> None:
    """cli.md: UTF-8, also on failure, whatever the locale."""
    lines = [
        ["parse", ODD, "--json"],
        ["parse", ODD, ADD, "--json"],
        ["parse", f"{CHINESE}.o", "--json"],
    ]
    usage = ["parse", "--soc", CHINESE, ADD, "--json"]
    *there, refused = each([*lines, usage], env=env)
    for line, one, other in zip(lines, each(lines), there, strict=True):
        assert (other.code, other.out) == (one.code, one.out), line
    assert refused.code == ExitCode.USAGE
    assert refused.document["error"]["kind"] == "usage"


# Text on pipes


def test_pipe_has_no_colour_and_no_boxes() -> None:
    """cli.md: no colour, no box drawing when stdout is not a terminal."""
    for result in each(ANSWERS, env={"TERM": "xterm-256color", "COLUMNS": "20"}):
        assert result.code == 0
        assert ESC not in result.out
        assert not BOX.search(result.text)


def test_pipe_cuts_and_wraps_nothing() -> None:
    """cli.md: a kernel name of 120 characters stays whole; COLUMNS is that of a screen."""
    assert len(LONG) == 120
    plain, narrow = together(
        lambda: cannkit("parse", ODD), lambda: cannkit("parse", ODD, env={"COLUMNS": "20"})
    )
    assert narrow.out == plain.out
    lines = plain.text.splitlines()
    for name in SHOWN_NAMES:
        (line,) = (line for line in lines if line.startswith(f"{name}  "))
        assert line.endswith(f"key {name[-1]}")
    assert not any(line.endswith(" ") for line in lines)


def test_names_cannot_drive_a_terminal() -> None:
    """HAZ-18: no control character, no bidi mark and no markup of a name takes effect."""
    for result in each([["parse", ODD], ["parse", "-v", ODD], ["parse", "-v", ODD, ADD]]):
        assert {c for c in result.text if not c.isprintable()} == {"\n"}
        assert "[bold]x[/bold]:smile:_2" in result.text


def test_odd_file_names(tmp_path: Path) -> None:
    """The same for names of files, in the listing, the heading, warnings and errors."""
    name = "\u7b97\u5b50[red]\x1b]0;x\x07\u202e.o"
    shown = r"\u7b97\u5b50[red]\x1b]0;x\x07\u202e.o".replace(r"\u7b97\u5b50", "\u7b97\u5b50")
    (tmp_path / name).write_bytes(vector_object("add_0"))
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "bad.o").symlink_to(name)
    one, many, gone = together(
        lambda: cannkit("parse", name, cwd=tmp_path),
        lambda: cannkit("parse", ".", cwd=tmp_path),
        lambda: cannkit("parse", f"no{name}", cwd=tmp_path),
    )
    for result in (one, many, gone):
        told = result.text + result.err.decode()
        assert shown in told
        assert {c for c in told if not c.isprintable()} <= {"\n"}


@pytest.mark.parametrize("env", [C_LOCALE, {"PYTHONIOENCODING": "latin-1"}], ids=["C", "latin-1"])
def test_text_in_any_encoding(env: dict[str, str]) -> None:
    """What an encoding lacks is escaped; nothing fails, nothing is lost."""
    lines = [["parse", ODD], ["parse", ADD, ODD], ["parse", f"{CHINESE}.o"]]
    one, many, gone = each(lines, env=env)
    assert (one.code, many.code, gone.code) == (0, 0, ExitCode.INPUT)
    for result in (one, many, gone):
        assert "internal error" not in result.err.decode("latin-1")
    assert all(name in one.out.decode("latin-1") for name in SHOWN_NAMES if name != CHINESE)
    assert b"_1" in one.out
    assert ADD in many.out.decode("latin-1")
    assert b".o" in gone.err


PIPE_COLOURS: Final[tuple[tuple[dict[str, str], str, bool], ...]] = (
    ({"NO_COLOR": "1"}, "auto", False),
    ({"FORCE_COLOR": "1"}, "auto", True),
    ({"FORCE_COLOR": ""}, "auto", False),  # empty is as good as unset
    ({"NO_COLOR": ""}, "always", True),
    ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", False),
    ({"FORCE_COLOR": "1"}, "never", False),
    ({"NO_COLOR": "1"}, "always", True),  # the option is nearer than the environment
    ({"TERM": "dumb"}, "always", True),
)


def test_colour_in_a_pipe() -> None:
    """cli.md: NO_COLOR, FORCE_COLOR, TERM=dumb and --color work; colour draws no boxes."""

    def call(env: dict[str, str], option: str) -> Callable[[], Result]:
        return lambda: cannkit("parse", ADD, "--color", option, env=env)

    results = all_of([call(env, option) for env, option, _ in PIPE_COLOURS])
    for (env, option, coloured), found in zip(PIPE_COLOURS, results, strict=True):
        assert (b"\x1b[" in found.out) is coloured, (env, option)
        assert not BOX.search(found.text)


def test_colour_of_every_answer() -> None:
    for result in each([[*line, "--color", "always"] for line in ANSWERS]):
        assert b"\x1b[" in result.out
        assert not BOX.search(result.text)


# Text on terminals


@pytest.fixture(scope="module")
def screens() -> dict[tuple[str, int], Screen]:
    """Some answers on terminals of 80 and of 200 columns."""
    lines = [["parse", ODD], ["parse", "-v", ODD], ["parse", f"{OBJECTS}/{SOFTMAX}"], ["soc"]]
    asked = [(line, width) for line in lines for width in (80, 200)]

    def call(line: list[str], width: int) -> Callable[[], Screen]:
        return lambda: terminal(*line, width=width)

    shown = all_of([call(*each_) for each_ in asked])
    return {(" ".join(line), width): s for (line, width), s in zip(asked, shown, strict=True)}


def test_terminal_is_not_overrun(screens: dict[tuple[str, int], Screen]) -> None:
    """No line is wider than the screen, wide characters counted twice."""
    for (line, width), screen in screens.items():
        assert screen.code == 0, line
        assert max(map(cell_len, screen.lines)) <= width, line


def test_terminal_cuts_no_name(screens: dict[tuple[str, int], Screen]) -> None:
    """cli.md: rich tables on a terminal; a name that does not fit goes on in the next line."""
    for width in (80, 200):
        screen = screens[f"parse {ODD}", width]
        together_ = "".join(line.rstrip(" ") for line in screen.lines)
        assert all(name in together_ for name in SHOWN_NAMES)
        assert "\u2026" not in screen.text
        softmax = screens[f"parse {OBJECTS}/{SOFTMAX}", width].text
        assert f"{SOFTMAX.removesuffix('.o')}_10000000000000001_mix_aiv" in softmax
        assert "key 10000000000000001" in softmax.replace(NO_BREAK, " ")
    wide = screens[f"parse {ODD}", 200]
    assert any(LONG in line and "AIV (3)" in line for line in wide.lines)


def test_terminal_has_tables_where_they_fit(screens: dict[tuple[str, int], Screen]) -> None:
    for line in (f"parse {OBJECTS}/{SOFTMAX}", "soc"):
        assert BOX.search(screens[line, 200].text)
    assert not BOX.search(screens["soc", 80].text)  # 73 chips in blocks
    assert ESC in screens["soc", 200].raw


def test_terminal_has_the_same_words() -> None:
    """A list is the same on a screen as in a pipe: nothing wraps it but the terminal."""
    pipe, screen = cannkit("parse", OBJECTS), terminal("parse", OBJECTS)
    assert screen.text == pipe.text


SCREEN_COLOURS: Final[tuple[tuple[dict[str, str], list[str], bool, bool], ...]] = (
    ({}, [], True, True),
    ({"NO_COLOR": "1"}, [], True, False),
    ({}, ["--color", "never"], True, False),
    ({"TERM": "dumb"}, [], False, False),
    ({"TERM": "dumb"}, ["--color", "always"], False, True),
    ({"NO_COLOR": "1"}, ["--color", "always"], True, True),
    ({"FORCE_COLOR": "1", "TERM": "xterm"}, [], True, True),
)


def test_colour_on_a_terminal() -> None:
    def call(env: dict[str, str], options: list[str]) -> Callable[[], Screen]:
        return lambda: terminal("parse", ADD, *options, width=120, env=env)

    screens = all_of([call(env, options) for env, options, *_ in SCREEN_COLOURS])
    for (env, options, boxes, colour), screen in zip(SCREEN_COLOURS, screens, strict=True):
        assert screen.code == 0
        assert bool(BOX.search(screen.text)) is boxes, (env, options)
        assert (b"32m" in screen.raw) is colour, (env, options)
        if "never" in options or (env.get("TERM") == "dumb" and not options):
            assert ESC not in screen.raw, (env, options)


def test_columns_is_the_width_of_a_terminal() -> None:
    """cli.md: COLUMNS works; no number of columns is no reason to show nothing."""
    narrow = terminal("parse", ADD, width=200, env={"COLUMNS": "60"})
    assert max(map(cell_len, narrow.lines)) <= 60
    for columns in ("0", "many"):
        assert "AddCustom_0" in terminal("parse", ADD, env={"COLUMNS": columns}).text


@pytest.mark.parametrize("env", [C_LOCALE, {"PYTHONIOENCODING": "latin-1"}], ids=["C", "latin-1"])
def test_terminal_in_any_encoding(env: dict[str, str]) -> None:
    """Neither boxes nor blanks need more than the encoding has."""
    screen = terminal("parse", ADD, "--color", "never", width=60, env=env)
    assert screen.code == 0
    assert b"AddCustom_0" in screen.raw
    assert b"core AIV (3)" in screen.raw


def test_json_on_a_terminal_is_the_same() -> None:
    """cli.md: never colour, never a progress bar."""
    screen = terminal("parse", ADD, "--json", on="out err", env={"FORCE_COLOR": "1"})
    assert screen.raw.replace(b"\r\n", b"\n") == cannkit("parse", ADD, "--json").out


# Progress


def test_progress_is_on_stderr_and_after_a_second() -> None:
    """cli.md: progress goes to stderr, and only to a terminal; not under -q, not with --json.

    What takes its time is an input whose writer pauses for more than a second.
    """
    data = (FOLDER / "AddCustom.o").read_bytes()

    def call(*args: str, on: str, pause: float) -> Screen:
        return terminal("parse", "-", ADD, *args, on=on, stdin=data, pause=pause)

    with ThreadPoolExecutor(5) as pool:
        slow, quick, quiet, answer, elsewhere = [
            each_.result()
            for each_ in [
                pool.submit(call, on="err", pause=1.1),
                pool.submit(call, on="err", pause=0),
                pool.submit(call, "-q", on="err", pause=1.1),
                pool.submit(call, "--json", on="err", pause=1.1),
                pool.submit(call, on="out", pause=1.1),
            ]
        ]
    assert b"Reading" in slow.raw
    assert quick.raw == quiet.raw == answer.raw == b""
    assert slow.out == quick.out == quiet.out
    assert ESC not in slow.out
    assert elsewhere.err == b""
    assert b"Reading" not in elsewhere.raw


# Options


def test_stdin() -> None:
    """cli.md: `-` is one object from stdin."""
    data = (FOLDER / "AddCustom.o").read_bytes()
    one, text, twice, empty = together(
        lambda: cannkit("parse", "-", "--json", stdin=data),
        lambda: cannkit("parse", "-", stdin=data),
        lambda: cannkit("parse", "-", ADD, "--json", stdin=data),
        lambda: cannkit("parse", "-", "--json"),
    )
    known = cannkit("parse", ADD, "--no-sidecar", "--json").document
    assert one.document == known | {"file": "-"}
    assert text.text.splitlines()[0] == "-"
    assert [entry["file"] for entry in twice.document["results"]] == ["-", ADD]
    assert (empty.code, empty.document["error"]["kind"]) == (ExitCode.INPUT, "input")


def kernel_names(result: Result) -> list[str]:
    return [kernel["name"] for kernel in result.document["kernels"]]


def test_kernel_filter() -> None:
    """cli.md: `--kernel GLOB`, repeatable; letters count."""
    path = f"{OBJECTS}/{SOFTMAX}"
    both, none, upper, one_file, many = each(
        [
            ["parse", path, "--kernel", "*_mix_aic", "--kernel", "*_1_mix_*", "--json"],
            ["parse", path, "--kernel", "nothing", "--json"],
            ["parse", path, "--kernel", "*_MIX_AIC", "--json"],
            ["parse", OBJECTS, "--kernel", "*_mix_aic", "--json"],
            ["parse", OBJECTS, "--kernel", "nothing"],
        ]
    )
    assert [name.partition("_")[2][33:] for name in kernel_names(both)] == [
        "1_mix_aiv",
        "2_mix_aic",
    ]
    assert (none.code, kernel_names(none)) == (ExitCode.NEGATIVE, [])
    assert upper.code == ExitCode.NEGATIVE
    assert one_file.code == 0
    assert many.code == ExitCode.NEGATIVE
    assert len(many.errors) == 1


def test_sidecar_options() -> None:
    path = f"{OBJECTS}/{PRINTF}"
    beside, without, other, gone = each(
        [
            ["parse", path, "--json"],
            ["parse", path, "--no-sidecar", "--json"],
            ["parse", path, "--sidecar", f"{OBJECTS}/AddCustom.json", "--json"],
            ["parse", path, "--sidecar", "fixtures/nothing.json", "--json"],
        ]
    )
    accepted = [r.document["verdict"]["from_file"]["accepted"] for r in (beside, without, other)]
    assert accepted == [False, True, True]
    assert [r.code for r in (beside, without, other, gone)] == [0, 0, 0, ExitCode.INPUT]
    assert beside.document["sidecar"]["sha256_matches"] is True
    assert without.document["sidecar"] is None
    assert other.document["sidecar"]["sha256_matches"] is False
    assert gone.document["error"]["kind"] == "input"


def test_soc_and_its_variable() -> None:
    """cli.md: `--soc`, env CANNKIT_SOC; FUN-08: a chip without the feature reads no ratio."""
    path = str(CASES / "refused-ratio" / "input.o")
    default, option, variable, both = together(
        lambda: cannkit("parse", path, "--json"),
        lambda: cannkit("parse", path, "--soc", "Ascend310P3", "--json"),
        lambda: cannkit("parse", path, "--json", env={"CANNKIT_SOC": "Ascend310P3"}),
        lambda: cannkit(
            "parse", path, "--soc", "ascend910b", "--json", env={"CANNKIT_SOC": "Ascend310P3"}
        ),
    )
    verdicts = [r.document["verdict"]["from_data"]["accepted"] for r in (default, option, both)]
    assert verdicts == [False, True, False]
    assert variable.out == option.out
    assert {r.code for r in (default, option, variable, both)} == {0}


def test_warnings_go_to_stderr_unless_quiet() -> None:
    line = ["parse", "fixtures/cases/big-endian/input.o"]
    loud, quiet, answer = each([line, [*line, "-q"], [*line, "--json"]])
    assert quiet.out == loud.out
    assert [e for e in loud.errors if e.startswith("cannkit: warning: ")] == loud.errors != []
    assert quiet.errors == []
    assert answer.errors == []
    assert len(answer.document["warnings"]) == len(loud.errors)


def test_recursive_changes_nothing() -> None:
    plain, recursive = each([["parse", OBJECTS], ["parse", "-r", OBJECTS]])
    assert plain == recursive


def test_totals_of_a_directory() -> None:
    """The last line counts what the lines above it list."""
    result = cannkit("parse", OBJECTS)
    heading, *lines, totals = result.text.splitlines()
    count = heading.index("KERNELS") + len("KERNELS")
    kernels = [int(line[:count].split()[-1]) for line in lines]
    assert totals.startswith(f"{len(lines)} objects, {sum(kernels)} kernels: ")
    files = [line.partition(OBJECTS)[2].partition("!")[0] for line in lines]
    assert files == sorted(files)


def test_verbose_adds_tables() -> None:
    """cli.md: -v, section and symbol tables too."""
    plain, verbose, text = each(
        [["parse", ADD, "--json"], ["parse", "-v", ADD, "--json"], ["parse", "-v", ADD]]
    )
    more: dict[str, Any] = verbose.document
    assert {key: more[key] for key in plain.document} == plain.document
    assert more.keys() - plain.document.keys() == {"sections", "symbols"}
    assert ".ascend.meta.AddCustom_0" in {section["name"] for section in more["sections"]}
    assert "AddCustom_0" in {symbol["name"] for symbol in more["symbols"]}
    for name in (".symtab", "PROGBITS (1)", "__CCE_KernelArgSize"):
        assert name in text.text


def test_raw_shows_the_bytes() -> None:
    plain, raw = each([["parse", ADD], ["parse", "--raw", ADD]])
    (kernel,) = cannkit("parse", ADD, "--json").document["kernels"]
    for meta in kernel["meta"]:
        assert meta["raw_hex"] in raw.text
        assert meta["raw_hex"] not in plain.text


def test_text_and_json_agree() -> None:
    """Every kernel, its core with its number, its offset in hex: names first, both shown."""
    text, answer = each([["parse", OBJECTS, "-v"], ["parse", OBJECTS, "--json"]])
    for entry in answer.document["results"]:
        assert entry["sha256"] in text.text
        for kernel in entry["kernels"]:
            core = f"{kernel['func_type_name']} ({kernel['func_type']})"
            lines = [li for li in text.text.splitlines() if li.startswith(f"{kernel['name']}  ")]
            assert any(core in li and f"{kernel['offset']:#x}" in li for li in lines)


def test_file_that_is_no_object_among_others(tmp_path: Path) -> None:
    """cli.md: a directory has every `*.o`, readable or not, and what else holds kernels."""
    (tmp_path / "bad.o").write_bytes(b"nothing")
    (tmp_path / "note.txt").write_bytes(b"nothing")
    (tmp_path / "kernel").write_bytes(vector_object("add_0"))
    result = cannkit("parse", ".", "--json", cwd=tmp_path)
    assert result.code == ExitCode.INPUT
    found = [(e["file"], e["error"] is None) for e in result.document["results"]]
    assert found == [("./bad.o", False), ("./kernel", True)]


def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    """HAZ-16: it would wait for ever."""
    made = run(["mkfifo", str(tmp_path / "pipe.o")])
    assert made.code == 0
    result = cannkit("parse", tmp_path / "pipe.o", "--json")
    assert result.code == ExitCode.INPUT
    assert result.document["error"]["why"] == "not a regular file"


def test_lines_of_a_list_come_as_they_are_made() -> None:
    """cli.md: long arrays are written as they are made: each result is a line."""
    text = cannkit("parse", OBJECTS, "--json").text
    head, *entries, tail, end = text.split("\n")
    assert (head, tail, end) == ('{"schema": "cannkit.parse/1", "results": [', "]}", "")
    assert [json.loads(entry.removesuffix(","))["error"] for entry in entries] == [None] * len(
        entries
    )
