"""cannkit launch on pipes and terminals, the files it reads and writes, and what may go wrong."""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.errors import ExitCode
from cannkit.format.ascend_meta import FuncType
from tests.build import OBJECTS as FOLDER
from tests.cli.runner import (
    ADD,
    OBJECTS,
    ROOT,
    Result,
    all_of,
    cannkit,
    command,
    each,
    environment,
    run,
    terminal,
)
from tests.cli.test_load import GATHER, RELOCATABLE, SOFT
from tests.cli.test_register import MISSING, MIX
from tests.compiled import a2_object
from tests.shapes import Kernel, Operator

MATMUL: Final = f"{OBJECTS}/{MIX}"
CUBE: Final = f"{OBJECTS}/{next(FOLDER.glob('MatmulCustom*.o')).name}"
PARAMS: Final = "fixtures/cases/params/input.o"
TILING: Final = f"--arg tiling:=0a000000{'0' * 56}"
ARGS: Final = (
    f"--arg in:f32[10]=arange --arg in:f32[10]=ones --arg out:f32[10] --arg ws:1k {TILING}"
)
RUN: Final = f"{ADD} --blocks 4 {ARGS}"
RAW: Final = f"{ADD} --blocks 4 --args-hex {'00' * 40}"
CPU: Final = (
    "fixtures/cases/register-cpu-mode-1/libcust.json --cpu-mode 1 --kernel AddCust --blocks 1"
)
VECTOR_ADD: Final = "--model fixtures/models/vector_add.py:vector_add"
WARNING: Final = "cannkit: warning: "
KEYS: Final = ["schema", "kernel", "device", "blocks", "args", "task", "sqe", "submission", "result",
               "findings", "outputs", "error", "ae"]  # fmt: skip

CODES: Final = {
    RUN: 0,
    RAW: 0,
    f"{ADD} --kernel AddCustom_0 --blocks 65535 --args-hex {'00' * 40}": 0,
    f"{ADD} --entry 0 --blocks 1 --args-hex @{ADD}": 0,
    f"{OBJECTS} --kernel AddCustom_0 --blocks 1 --args-hex {'00' * 40}": 0,
    f"{PARAMS} --blocks 1 --arg u64:1 --arg null": 0,
    # the answer is no
    f"{SOFT} --kernel Softmax --blocks 1": 1,
    f"{SOFT} --entry 1168 --blocks 1": 1,
    f"{RAW} --cpu-mode 0": 1,
    f"{RAW} --cpu-mode 2": 1,
    # the command line
    "": 2,
    ADD: 2,
    f"{ADD} --blocks x": 2,
    f"{ADD} --blocks 1": 2,
    f"{SOFT} --blocks 1": 2,
    f"{OBJECTS} --blocks 1": 2,
    f"{RAW} --kernel AddCustom_0 --entry 0": 2,
    f"{RAW} --entry 0x10000000000000000": 2,
    f"{RUN} --args-hex 00": 2,
    f"{ADD} --blocks 1 --args-hex 0": 2,
    f"{ADD} --blocks 1 --args-hex xy": 2,
    f"{ADD} --blocks 1 --args-hex=": 2,
    f"{ADD} --blocks 1 --args-hex {'00' * 39}": 2,
    f"{RAW} --grid 2": 2,
    f"{RAW} --threads 2": 2,
    f"{ADD} --grid 1,2,3,4 --args-hex 00": 2,
    f"{ADD} --grid x --args-hex 00": 2,
    f"{RAW} --stream 1024": 2,
    f"{RAW} --stream=-1": 2,
    f"{RAW} --repeat 0": 2,
    f"{RAW} --sched-mode maybe": 2,
    f"{RAW} --local-memory=-1": 2,
    f"{RAW} --timeout-us 18446744073709551616": 2,
    f"{RAW} --sqe all": 2,
    f"{RAW} --soc Ascend910X": 2,
    f"{RAW} --model fixtures/models/vector_add.py": 2,
    f"{RAW} --model fixtures/models/vector_add.py:nothing": 2,
    f"{RAW} {VECTOR_ADD} --model-timeout 0": 2,
    f"{RAW} {VECTOR_ADD} --model-timeout nan": 2,
    f"{CPU} --args-hex 14{'00' * 19} {VECTOR_ADD}": 2,
    f"{RUN} --arg ws:1": 2,
    f"{ADD} --blocks 1 --arg in:f32[2]=1": 2,
    f"{ADD} --blocks 1 --arg u64:-1": 2,
    f"{ADD} --blocks 1 --arg out:f32[1]@-": 2,
    f"{ADD} --blocks 1 --arg out:f32[1]@{ADD}": 2,
    f"{ADD} --blocks 1 --arg in:u8@README.md --arg out:f32[1]@README.md": 2,
    f"{ADD} --blocks 1 --arg out:f32[1]@/tmp/y --arg out:f32[1]@/tmp/y": 2,
    f"{RAW} --model /tmp/m.py:f --arg out:u8[1]@/tmp/m.py": 2,
    # files
    f"{MISSING} --blocks 1": 3,
    "completions --blocks 1": 3,
    f"{ADD} --blocks 1 --arg in:f32[2]@{MISSING}": 3,
    f"{ADD} --blocks 1 --arg in:f32[2]@README.md": 3,
    f"{ADD} --blocks 1 --arg in:u8@/dev/zero": 3,
    f"{ADD} --blocks 1 --arg out:f32[2]@/nonexistent/y": 3,
    f"{ADD} --blocks 1 --args-hex @{MISSING}": 3,
    f"{RAW} --model no/such.py:f": 3,
    f"{RAW} --model no_such_module:f": 3,
    f"{RUN.replace('out:f32[10]', 'out:f32[10]@/dev/full')}": 3,
    # the runtime refuses
    f"{ADD} --blocks 0 --args-hex {'00' * 40}": 4,
    f"{ADD} --blocks=-1 --args-hex {'00' * 40}": 4,
    f"{ADD} --blocks 65536 --args-hex {'00' * 40}": 4,
    f"{ADD} --blocks 100000000000000000000 --args-hex {'00' * 40}": 4,
    f"{RAW} --sched-mode 2": 4,
    f"{RAW} --soc Ascend310P3": 4,
    f"{ADD} --grid 4 --threads 4 --args-hex {'00' * 40}": 4,
    f"{RELOCATABLE} --entry 0 --blocks 1": 4,
    f"{RUN.replace('ws:1k', 'ws:9999g')}": 4,
    # the device refuses
    f"{CUBE} --blocks 25 --sched-mode batch --args-hex {'00' * 56}": 5,
    f"{CUBE} --blocks 2 --strict --args-hex {'11' * 56}": 5,
}


def words(line: str) -> list[str]:
    return ["launch", *shlex.split(line)]


def launched(line: str, *more: str, code: int = 0) -> dict[str, Any]:
    """The document of a launch."""
    found = cannkit(*words(line), *more, "--json")
    assert found.code == code, found.err
    assert code or found.err == b""
    return found.document


def test_exit_codes() -> None:
    """One document whatever happens, and for people one line that says why."""
    kinds = {
        1: {"not-found"}, 2: {"usage"}, 3: {"input", "output"}, 4: {"runtime"}, 5: {"device-fault"},
    }  # fmt: skip
    answers = each([[*words(line), "--json"] for line in CODES])
    for (line, code), answer in zip(CODES.items(), answers, strict=True):
        assert answer.code == code, line
        document = answer.document
        assert document["schema"] == "cannkit.launch/1"
        if code == ExitCode.OK:
            assert list(document) == KEYS
            assert document["error"] is None, line
            continue
        assert document["error"]["kind"] in kinds[code], line
        assert list(document) in (KEYS, ["schema", "error"])
        told = [each_ for each_ in answer.errors if not each_.startswith(("hint:", WARNING))]
        assert len(told) == 1, line
        assert told[0].startswith("cannkit: error: ")
        assert len(told[0]) < 700, line
    assert not list(FOLDER.glob(".cannkit-*"))


def test_an_error_is_no_answer() -> None:
    """stdout has the story of what failed on the device, and nothing else."""
    lines = {code: line for line, code in CODES.items() if line}
    for code, found in zip(lines, each(list(map(words, lines.values()))), strict=True):
        assert found.code == code
        assert (found.out != b"") == (code in (ExitCode.OK, ExitCode.FAULT))


def test_refusal_tells_both_values() -> None:
    """Q-1."""
    found = cannkit(*words(f"{ADD} --blocks 65537 --args-hex {'00' * 40}"))
    assert "65537 blocks" in found.errors[0]
    assert "would launch 1 blocks" in found.errors[0]
    assert "107000 ACL_ERROR_RT_PARAM_INVALID" in found.errors[0]


def test_memory_is_refused_as_it_was_asked_for() -> None:
    """Not with what the runtime adds to it."""
    document = launched(RUN.replace("ws:1k", "ws:64g"), code=4)
    error = document["error"]
    told = ("cannot allocate 68719476736 bytes", "--arg ws:64g", 207001)
    assert (error["what"], error["where"], error["acl"]["code"]) == told
    for mode in ("0", "2"):
        (line,) = cannkit(*words(f"{RAW} --cpu-mode {mode}")).errors
        assert "no kernel of the AI CPU" in line


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A kernel whose name is no UTF-8 is told of in every document, in hints, too."""
    raw = (ROOT / SOFT).read_bytes().replace(b"Softmax", b"S\xffft\x80ax")
    (tmp_path / "s.o").write_bytes(raw)
    for options in ("", " --kernel x", " --entry 5", " --kernel S\udcffft\udc80ax"):
        found = cannkit(*words(f"{tmp_path}/s.o --blocks 1{options}"), "--json")
        assert found.code in (ExitCode.NEGATIVE, ExitCode.USAGE)
        assert found.document["error"]["kind"] in ("not-found", "usage")
        if not options:
            assert r"S\xffft\x80ax" in found.document["error"]["hint"]


# arguments and outputs


def test_numbers_come_back(tmp_path: Path) -> None:
    """From files into files, through a host model; the last block takes what is left over."""
    x, y, z = (tmp_path / name for name in "xyz")
    values = [at * 0.5 for at in range(1001)]
    x.write_bytes(struct.pack("<1001f", *values))
    y.write_bytes(struct.pack("<1001f", *reversed(values)))
    tiling = (1001).to_bytes(4, "little") + bytes(28)
    args = (
        f"--arg in:f32[1001]@{x} --arg in:f32@{y} --arg out:f32:1001@{z} --arg ws:1k --arg tiling:="
    )
    for blocks in (1, 3, 48, 2000):
        document = launched(f"{ADD} --blocks {blocks} {args}{tiling.hex()} {VECTOR_ADD}")
        assert z.read_bytes() == struct.pack("<1001f", *[500.0] * 1001)
        (output,) = document["outputs"]
        assert output["values"] is None
        assert (output["index"], output["shape"], output["file"]) == (2, [1001], str(z))
        z.unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]


def test_inout(tmp_path: Path) -> None:
    """It is read from one file and written to another; or starts as a rule says."""
    model, x, y = tmp_path / "m.py", tmp_path / "x", tmp_path / "y"
    model.write_text("def f(ctx):\n    z = ctx.arg(0)\n    for i in range(2): z[i] += ctx.arg(1)\n")
    x.write_bytes(struct.pack("<2q", -1, 2**62))
    line = f"{PARAMS} --blocks 3 --arg inout:i64[2]@{x}@{y} --arg i64:5 --model {model}:f"
    # parameters by value: the kernel takes an address in the first one
    (output,) = launched(line)["outputs"]
    assert output["values"] == ["14", str(2**62 + 15)]
    assert y.read_bytes() == struct.pack("<2q", 14, 2**62 + 15)
    assert x.read_bytes() == struct.pack("<2q", -1, 2**62)
    (output,) = launched(line.replace(f"@{x}@{y}", "=random:1"))["outputs"]
    assert output["file"] is None


def test_what_is_not_finite_is_text() -> None:
    """JSON has no word for it."""
    line = f"{PARAMS} --blocks 1 --arg inout:f32[4]=nan,inf,-inf,-0.0 --arg inout:c64[1]=1+nanj"
    first, second = launched(line)["outputs"]
    assert first["values"] == ["NaN", "Infinity", "-Infinity", -0.0]
    assert second["values"] == [[1.0, "NaN"]]


def test_values_are_few() -> None:
    line = f"{PARAMS} --blocks 1 --arg inout:u8[64]=arange --arg inout:u8[65]=arange"
    first, second = launched(line)["outputs"]
    assert first["values"] == list(range(64))
    assert second["values"] is None
    text = cannkit(*words(line)).text
    assert " ".join(map(str, range(64))) in text
    assert "more than 64" in text


def test_empty_tensors() -> None:
    line = f"{PARAMS} --blocks 1 --arg in:f32[0]= --arg inout:f32[3,0]=zeros"
    (output,) = launched(line)["outputs"]
    assert (output["shape"], output["values"]) == ([3, 0], [])


def test_slots_tell_what_is_in_them() -> None:
    document = launched(f"{PARAMS} --blocks 1 --arg u64:18446744073709551615 --arg bf16:1", code=2)
    assert "argument 2 of 2" in document["error"]["what"]
    document = launched(f"{PARAMS} --blocks 1 --arg u64:18446744073709551615 --arg f64:-1e300")
    assert [slot["value"] for slot in document["args"]["slots"]] == [str(2**64 - 1), "-1e+300"]
    assert document["args"]["hex"] == (b"\xff" * 8 + struct.pack("<d", -1e300)).hex()


def test_no_partial_output(tmp_path: Path) -> None:
    """Of two outputs one cannot be written: the other one keeps what it had."""
    first = tmp_path / "first"
    first.write_text("old")
    for second in ("/dev/full", f"{tmp_path}/gone/y", f"{first}/y"):
        line = f"{PARAMS} --blocks 1 --arg inout:u8[1]=1@{first} --arg inout:u8[1]=1@{second}"
        launched(line, code=3)
        assert first.read_text() == "old"
    failing = f"{ADD} --blocks 1 {ARGS.replace('out:f32[10]', f'out:f32[10]@{first}')}"
    launched(f"{failing} --model fixtures/models/matmul.py:multiply", code=5)
    assert first.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def test_no_output_over_what_was_read(tmp_path: Path) -> None:
    """Inputs that nobody has named: in a folder or beside a file, and modules by their name."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("AddCustom.o", "AddCustom.json"):
        shutil.copy(FOLDER / name, folder / name)
    shutil.copy(ROOT / SOFT, folder / "A.o")
    (tmp_path / "link.o").symlink_to("folder/AddCustom.o")
    for name in ("libcust.json", "libcust.so"):
        shutil.copy(ROOT / "fixtures/cases/register-cpu-mode-1" / name, tmp_path)
    (tmp_path / "bare").write_text("def f(ctx): pass\n")
    (tmp_path / "inner.py").write_text("def f(ctx): pass\n")
    (tmp_path / "outer.py").write_text("import os, inner\nf = inner.f\nos.chdir('/')\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    args = ARGS.replace("out:f32[10]", "out:f32[10]@OUTPUT")
    run_add = f"--kernel AddCustom_0 --blocks 1 {args}"
    cpu = CPU.replace("fixtures/cases/register-cpu-mode-1/", "")
    taken = (
        ("folder/AddCustom.o", f"folder {run_add}"),
        ("folder/AddCustom.json", f"folder {run_add}"),
        ("folder/A.o", f"folder {run_add}"),
        ("folder/../folder/AddCustom.o", f"folder {run_add}"),
        ("folder/AddCustom.json", f"link.o {run_add}"),
        ("bare", f"folder {run_add} --model ./bare:f"),
        ("inner.py", f"folder {run_add} --model outer:f"),
        ("outer.py", f"folder {run_add} --model outer:f"),
        ("outer.py", f"folder {run_add} --model outer.py:f"),
        ("libcust.so", f"{cpu} --arg out:u8[1]@OUTPUT"),
        ("libcust.json", f"{cpu} --arg out:u8[1]@OUTPUT"),
    )
    env = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    for output, line in taken:
        found = cannkit(*words(line.replace("OUTPUT", output)), "--json", cwd=tmp_path, env=env)
        assert found.code == ExitCode.USAGE, line
        assert found.document["error"]["what"].endswith(f" {output}: it is an input, too"), line
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


# the entry


def test_sqe_views() -> None:
    document = launched(RUN)
    (sqe,) = document["sqe"]
    table, bare, none = each([words(f"{RUN} --sqe {view}") for view in ("table", "hex", "none")])
    assert bare.text == sqe["hex"] + "\n"
    assert len(bytes.fromhex(sqe["hex"])) == sqe["size"] == 64
    assert "queue entry, v100, 64 bytes" in table.text
    for field in sqe["fields"]:
        assert re.search(rf"  {field['name']} +{re.escape(str(field['value']))}", table.text)
    assert "queue entry" not in none.text
    assert set(none.text.splitlines()) < set(table.text.splitlines())
    assert "sqe_type" in cannkit("sqe", "decode", sqe["hex"], "--soc", "ascend910b").text


def test_objects_of_another_chip() -> None:
    """ELF-07: a remark that names the chips it is for; for those of its own chip there is none."""
    gather = f"{GATHER} --entry 1 --blocks 1 --args-hex {'00' * 72}"
    advice = {
        f"{gather} --soc ascend950": None,
        gather: "try --soc ascend950 [other-chip]",
        f"{RAW} --soc ascend950": "try --soc ascend910b or ascend910_93 [other-chip]",
        RAW: None,
    }
    for line, advised in advice.items():
        told = [each for each in cannkit(*words(line)).errors if "other-chip" in each]
        assert [each.endswith(str(advised)) for each in told] == [True] * (advised is not None)


def test_hex_of_a_mix_has_its_context() -> None:
    """What `--sqe hex` prints is what `sqe decode -` takes."""
    line = f"{MATMUL} --blocks 2 --args-hex {'00' * 56}"
    (sqe,) = launched(line)["sqe"]
    bare = cannkit(*words(f"{line} --sqe hex"))
    assert bare.text == f"{sqe['hex']}\n{sqe['context_hex']}\n"
    found = cannkit("sqe", "decode", "-", "--json", stdin=bare.out).document
    assert found["sqes"][0]["context"]["hex"] == sqe["context_hex"]


def test_outputs_without_a_model(tmp_path: Path) -> None:
    """A file of zeros that CI would take for a result is written with a warning."""
    path = tmp_path / "y.bin"
    line = f"{ADD} --blocks 4 {ARGS.replace('out:f32[10]', f'out:f32[10]@{path}')}"
    told = WARNING + "without --model no code ran: outputs are as they were before"
    assert cannkit(*words(line)).errors == [told]
    assert path.read_bytes() == bytes(40)
    assert [
        cannkit(*words(f"{each}")).errors for each in (f"{line} {VECTOR_ADD}", f"{line} -q", RUN)
    ] == [[], [], []]


def test_streams_have_numbers() -> None:
    document = launched(f"{RAW} --stream 1023")
    fields = {field["name"]: field["value"] for field in document["sqe"][0]["fields"]}
    assert fields["stream_id"] == 1023


def test_options_reach_the_entry() -> None:
    """LCH-52, LCH-14: 10 s are 3 units; 0 is never. LCH-48: what SIMT takes is rounded up."""
    for timeout, credit in (("10000000", 3), ("0", 255), (str(2**64 - 1), 254)):
        document = launched(f"{RAW} --timeout-us {timeout} --sched-mode batch")
        fields = {field["name"]: field["value"] for field in document["sqe"][0]["fields"]}
        assert (fields["kernel_credit"], fields["schem"]) == (credit, 1)
    line = f"{GATHER} --soc ascend950 --entry 1 --blocks 33 --args-hex {'00' * 72} --local-memory"
    assert launched(f"{line} 4000")["task"]["simt_dcu_size"] == 12288
    launched(f"{line} 230000", code=4)


def test_mix_whose_vector_half_lies_at_offset_0(tmp_path: Path) -> None:
    """Q-3: the runtime takes it for missing, and the error says so."""
    kind = FuncType.MIX_AIC_MAIN
    halves = (Kernel(0, kind, "_mix_aiv", (1, 2)), Kernel(0, kind, "_mix_aic", (1, 2)))
    path = tmp_path / "mix.o"
    path.write_bytes(a2_object(Operator("Mix", "ascend910b", halves)))
    found = cannkit("launch", path, "--blocks", "1", "--args-hex", "00" * 48)
    assert found.code == ExitCode.REFUSED
    assert "Q-3" in found.errors[-1]
    assert found.out == b""


def test_inputs_of_any_kind(tmp_path: Path) -> None:
    """stdin, and a kernel that is found in a folder of others."""
    shutil.copy(ROOT / ADD, tmp_path / "b.o")
    shutil.copy(ROOT / SOFT, tmp_path / "a.o")
    line = ["--kernel", "AddCustom_0", "--blocks", "1", "--args-hex", "00" * 40, "--sqe", "hex"]
    inside = cannkit("launch", tmp_path, *line)
    piped = cannkit("launch", "-", *line, stdin=(ROOT / ADD).read_bytes())
    assert (inside.code, piped.code) == (0, 0)
    assert len(inside.out) == len(piped.out) == 129


# host models


def test_both_examples_as_they_say() -> None:
    """The commands in the docstrings of `fixtures/models`."""
    values = {"vector_add.py": list(range(1, 11)), "matmul.py": None}
    for name, expected in values.items():
        text = (ROOT / "fixtures/models" / name).read_text()
        line = re.search(r"    (cannkit launch (?:.*\\\n)+.*\n)", text)
        assert line
        own = line[1].strip().replace("cannkit", f"{shlex.quote(sys.executable)} -m cannkit", 1)
        found = run(["bash", "-c", f"{own} --json"])
        assert (found.code, found.err) == (0, b"")
        (output,) = found.document["outputs"]
        assert expected is None or output["values"] == expected
        assert any(output["values"])


def test_mix_model_has_the_right_numbers() -> None:
    """Over a cube and two vector cores, any number of blocks."""
    a, b = [[1, 2], [3, 4], [5, 6], [7, 8]], [[1, -1, 0], [2, -2, 1]]
    product = [[sum(x * b[k][j] for k, x in enumerate(row)) for j in range(3)] for row in a]
    expected = [v if v >= 0 else v / 4 for row in product for v in (row[0], row[1], row[2] - 20)]
    for blocks in (1, 2, 3, 9):
        line = (
            f"{MATMUL} --blocks {blocks} --arg in:f32[4,2]=1,2,3,4,5,6,7,8 --arg out:f32[4,3] "
            "--arg in:f32[2,3]=1,-1,0,2,-2,1 --arg in:f32[3]=0,0,-20 --arg ws:4k "
            f"--arg tiling:=0400000003000000020000000000803e{'0' * 352} "
            "--model fixtures/models/matmul.py:matmul_leaky_relu"
        )
        out = "--arg out:f32[4,3] "
        line = line.replace(out, "").replace("--arg ws", f"{out}--arg ws")
        assert launched(line)["outputs"][0]["values"] == expected


MODELS: Final = """
def raises(ctx):
    ctx.block / 0
def loops(ctx):
    while True: pass

def writes_outside(ctx):
    ctx.write(ctx.args_address - (1 << 36), b"x")
def writes_behind(ctx):
    ctx.arg(2)[10] = 1
def ends(ctx):
    raise SystemExit(0)
def shouts(ctx):
    raise ValueError("a\\nb\\x1b[31m" * 99)
def speaks(ctx):
    print("hello")
"""


@pytest.mark.parametrize(
    ("name", "acl", "why", "line"),
    [
        ("raises", 507035, "ZeroDivisionError", 3),
        ("loops", 507034, "more than 0.2 s", 5),
        ("writes_outside", 507035, "no live allocation", 8),
        ("writes_behind", 507035, "IndexError", 10),
        ("ends", 507035, "SystemExit: it asks to end the process with 0", 12),
        ("shouts", 507035, "ValueError: a b", 14),
    ],
)
def test_models_that_fail(tmp_path: Path, name: str, acl: int, why: str, line: int) -> None:
    """Exit 5, one line with file and line of the model, and no output."""
    (tmp_path / "m.py").write_text(MODELS)
    args = ARGS.replace("out:f32[10]", f"out:f32[10]@{tmp_path}/z")
    limit = 0.2 if name == "loops" else 60
    full = f"{ADD} --blocks 4 {args} --model {tmp_path}/m.py:{name} --model-timeout {limit}"
    answer, text = each([[*words(full), "--json"], words(full)])
    assert answer.code == text.code == ExitCode.FAULT
    document = answer.document
    assert document["error"]["acl"]["code"] == document["result"]["acl"]["code"] == acl
    assert why in document["error"]["why"]
    assert re.search(rf"/m\.py:{line}\b", document["error"]["why"])
    assert len(text.errors) == 1
    assert "\x1b" not in text.errors[0]
    assert document["outputs"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["m.py"]


def test_flipped_numpy_or_not(tmp_path: Path) -> None:
    """A model that takes what comes gets the same numbers with and without numpy."""
    (tmp_path / "numpy.py").write_text("raise ImportError('hidden')\n")
    line = [*words(f"{RUN} {VECTOR_ADD}"), "--json"]
    plain = cannkit(*line, env={"PYTHONPATH": str(tmp_path)})
    assert (plain.code, plain.err) == (0, b"")
    assert plain.document == cannkit(*line).document


# many launches


def test_repeat() -> None:
    """The ring wraps, task ids go on, memory is used again: the last launch is shown."""
    document = launched(f"{RAW} --repeat 5000")
    assert document["task"]["id"] == 4999
    assert document["submission"]["sq_tail"] == 5000 % 2048
    assert document["result"]["message"].endswith("5,000 launches")
    failing = launched(
        f"{CUBE} --blocks 25 --sched-mode batch --args-hex {'00' * 56} --repeat 99", code=5
    )
    assert failing["task"]["id"] == 0  # what fails once is not tried again


def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C: a bar on the terminal, then how many were launched, exit 130, no output."""
    args = ARGS.replace("out:f32[10]", f"out:f32[10]@{tmp_path}/z")
    master, slave = pty.openpty()
    line = command(*words(f"{ADD} --blocks 4 {args} --repeat 100000000"))
    env = environment({"TERM": "xterm-256color"})
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=slave, env=env, cwd=ROOT) as process:
        os.close(slave)
        seen = b""
        while b"Launching" not in seen:
            seen += os.read(master, 4096)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        while b"complete" not in seen:
            seen += os.read(master, 4096)
    os.close(master)
    assert process.returncode == ExitCode.INTERRUPTED
    assert out == b""
    found = re.search(rb"cannkit: error: interrupted: ([\d,]+) of 100,000,000 launches", seen)
    assert found
    assert int(found[1].replace(b",", b"")) > 1000
    assert list(tmp_path.iterdir()) == []


def test_interrupt_of_a_model(tmp_path: Path) -> None:
    """Even with --json there is one document."""
    (tmp_path / "m.py").write_text(
        "import sys\ndef f(ctx):\n    print('in', file=sys.stderr, flush=True)\n    while True: pass\n"
    )
    line = command(*words(f"{RAW} --json --model {tmp_path}/m.py:f"))
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, env=environment(), cwd=ROOT) as process:
        assert process.stderr
        assert process.stderr.readline() == b"in\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert b'"kind": "interrupted"' in out
    assert b"0 of 1 launches" in err
    assert b"Traceback" not in err


@pytest.mark.parametrize("before", ["the module", "the object"])
def test_interrupt_before_anything_is_launched(tmp_path: Path, before: str) -> None:
    """One document then, too."""
    (tmp_path / "m.py").write_text("raise KeyboardInterrupt\n")
    if before == "the module":
        found = cannkit(*words(f"{RAW} --json --model {tmp_path}/m.py:f"))
    else:
        line = command(*words("- --blocks 1 --json"), python=("-X", "importtime"))
        found = interrupted_at(line, b"cannkit.inputs.paths\n")
    assert found.code == ExitCode.INTERRUPTED
    assert list(found.document) == ["schema", "error"]
    assert found.document["error"]["kind"] == "interrupted"
    assert found.errors[-1] == "cannkit: error: interrupted"


def interrupted_at(line: list[str], seen: bytes) -> Result:
    """What a command answers to Ctrl-C as soon as it has written something to stderr."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        line, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(), cwd=ROOT
    ) as process:
        assert process.stderr
        while not process.stderr.readline().endswith(seen):
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return Result(process.returncode, out, err)


# for people


@pytest.mark.parametrize(
    "line", [f"{RUN} {VECTOR_ADD}", f"{MATMUL} --blocks 4 --args-hex {'00' * 56}"]
)
def test_terminal(line: str) -> None:
    """Nothing is wider than the screen, whatever its width, and the story is all there."""
    screens = all_of([lambda w=w: terminal(*words(line), width=w) for w in (80, 140)])  # type: ignore[misc]
    for width, screen in zip((80, 140), screens, strict=True):
        assert screen.code == 0
        assert max(map(len, screen.lines)) <= width
        text = "".join(each_line.rstrip() + "\n" for each_line in screen.lines)
        order = ["code ", "blocks ", "arguments ", "argument slot", "queue entry", "completion: ok"]
        assert sorted(order, key=text.index) == order


def test_text_and_json_agree() -> None:
    line = f"{RUN} {VECTOR_ADD}"
    text, document = cannkit(*words(line)).text, launched(line)
    assert document["kernel"] in text
    for slot in document["args"]["slots"]:
        assert re.search(
            rf"{slot['offset']:#x} +{slot['size']} B +{slot['kind']} .*{slot['value']}", text
        )
    assert document["args"]["address"] in text
    assert document["task"]["pc1"] in text
    assert document["outputs"][0]["sha256"] in text
    assert "1 2 3 4 5 6 7 8 9 10" in text
    assert document == launched(line)


def test_trace() -> None:
    found = cannkit(*words(f"{RUN} -v --sqe hex"))
    assert found.text == cannkit(*words(f"{RUN} --sqe hex")).text
    told = [line.removeprefix("trace: ") for line in found.errors]
    assert told[-1].startswith("copy 40 B from device")
    assert "queue 0, entry 0: AddCustom_0, 0 AIC blocks, 4 AIV blocks: completed" in told


def test_help_explains_a_spec() -> None:
    text = " ".join(cannkit("launch", "--help").text.split())
    for form in ("in:f32[4]=1,2,3,4", "out:f32[4]@FILE", "ws:BYTES", "tiling:@FILE", "random:SEED"):
        assert form in text


@pytest.mark.corpus
def test_script(corpus: Path) -> None:
    """`fixtures/launch.sh`: three real kernels and the example, with jq on their JSON."""
    assert shutil.which("jq"), "fixtures/launch.sh needs jq"
    env = {"CANNKIT": f"{sys.executable} -m cannkit"}
    found = run(["bash", "fixtures/launch.sh", str(corpus)], env=env)
    assert (found.code, found.errors) == (0, [])
    assert found.text.endswith("as promised\n")
