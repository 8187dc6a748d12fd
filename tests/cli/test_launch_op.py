"""cannkit launch --op: operators of our own library, really called. cli.md, section 6; spec 07."""

from __future__ import annotations

import json
import re
import shutil
import struct
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from cannkit.errors import ExitCode
from tests.cli.runner import BOX, Result, cannkit, command, run, terminal
from tests.facts import FIXTURES
from tests.ops.library import ENV, library
from tests.ops.packages import installed, tensor
from tests.packages import CPU_CONFIG, CPU_LIBS, cpu_info

SO: Final = "libcust_cpu_kernels.so"
CACHE: Final = {"XDG_CACHE_HOME": ENV["XDG_CACHE_HOME"]}
SCHEMA: Final = Draft202012Validator(
    json.loads((FIXTURES / "schema/launch-op.1.json").read_text("utf-8"))
)
FAILED: Final = 0xFFFF_FFFF
ADD: Final = ("--arg", "in:f32[2,2]=1,2,3,4", "--arg", "in:f32[2,2]=.1,.2,.3,.4")
KEYS: Final = (
    "schema", "op", "library", "arch", "emulated", "param_size", "node_def_hex", "returned", "status",
    "class", "reason", "outputs", "inputs_changed", "log", "child", "error",
)  # fmt: skip


def operators() -> dict[str, Any]:
    """The JSON of our package: AddN has a prototype, too."""
    x, y = tensor("x"), tensor("y")
    any_type = ",".join(f"DT_{each}" for each in ("FLOAT", "INT32", "BF16", "COMPLEX64", "BOOL"))
    return {
        "Add": {**cpu_info(), "input0": x, "input1": y, "output0": tensor("z")},
        "Echo": {**cpu_info(), "input0": tensor("x", any_type), "output0": tensor("y", any_type)},
        "Attr": {**cpu_info(), "output0": tensor("y", "DT_INT64")},
        "NonZero": {
            **cpu_info(subTypeOfInferShape="3"),
            "input0": x,
            "output0": tensor("y", "DT_INT64"),
        },
        "AddOne": {**cpu_info(), "input0": x, "output0": y},
        "Fail": {**cpu_info(), "input0": x},
        "Say": cpu_info(),
        "Harm": cpu_info(),
        "Count": {**cpu_info(), "output0": tensor("y", "DT_INT64")},
        "Overrun": {**cpu_info(), "output0": y},
        "AddN": {**cpu_info(), "dynamic_input0": x, "output0": y},
        "Gone": {**cpu_info(), "input0": x},
    }


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("package"), ops=operators())


@pytest.fixture(scope="module")
def lib(package: Path) -> Path:
    return package / CPU_LIBS / SO


def launch(file: Path, *more: str | Path, **env: str) -> Result:
    return cannkit("launch", file, *more, env={**CACHE, **env})


def document(
    file: Path, op: str, *more: str | Path, code: int = ExitCode.OK, **env: str
) -> dict[str, Any]:
    """The answer in JSON: the keys of the contract, in its order."""
    found = launch(file, "--op", op, *more, "--json", **env)
    assert found.code == code, found.err
    answer = found.document
    assert tuple(answer)[: len(KEYS)] == KEYS
    SCHEMA.validate(answer)
    assert (answer["error"] is None) == (code == ExitCode.OK)
    return answer


def test_an_operator_runs(lib: Path) -> None:
    found = document(lib, "Add", *ADD, "--arg", "out:f32[2,2]")
    assert (found["op"], found["arch"], found["emulated"]) == ("Add", "x86-64", False)
    assert (found["returned"], found["class"], found["reason"]) == (0, "ok", None)
    assert found["status"] == {"code": 0, "name": "AE_STATUS_SUCCESS"}
    (out,) = found["outputs"]
    assert (out["index"], out["name"], out["dtype"], out["shape"]) == (0, "z", "float32", [2, 2])
    assert out["values"] == [pytest.approx(each) for each in (1.1, 2.2, 3.3, 4.4)]
    assert found["child"]["exit"] == 0
    assert found["findings"] == []
    assert len(found["param_hex"]) == 2 * found["param_size"]
    assert found["node_def_hex"] in found["param_hex"]


def test_from_the_json(package: Path, lib: Path) -> None:
    """The JSON of a package leads to its library."""
    config = package / CPU_CONFIG
    found = document(config, "Add", *ADD, "--arg", "out:auto")
    assert found["returned"] == 0
    assert Path(found["library"]).resolve() == lib.resolve()
    assert found["outputs"][0]["shape"] == [2, 2]


def test_text_for_people(lib: Path) -> None:
    """OPR-1305: outputs first, each number as short as it can be."""
    found = launch(lib, "--op", "Add", *ADD, "--arg", "out:f32[2,2]")
    assert (found.code, found.err) == (0, b"")
    lines = found.text.splitlines()
    assert lines[0] == "z  float32[2,2]  [[1.1, 2.2], [3.3, 4.4]]"
    assert lines[1].startswith("operator  Add: returned 0 (")
    assert "AE_STATUS_SUCCESS (0), ok" in lines[2]
    assert not BOX.search(found.text)
    assert launch(lib, "--op", "Add", *ADD, "--arg", "out:f32[2,2]").out == found.out  # no times
    timed = launch(lib, "--op", "Add", *ADD, "--arg", "out:f32[2,2]", "-v").text.splitlines()[2]
    assert re.fullmatch(r"time +\d+\.\d{3} ms", timed)


def test_on_a_terminal(lib: Path) -> None:
    screen = terminal("launch", lib, "--op", "Add", *ADD, "--arg", "out:auto", "-v", env=CACHE)
    assert screen.code == 0
    assert all(len(line) <= 80 for line in screen.lines)
    assert "[[1.1, 2.2], [3.3, 4.4]]" in screen.text


def test_every_byte_with_v(lib: Path) -> None:
    """OPR-1305: head, addresses and what they are of, NodeDef, ext info."""
    found = launch(lib, "--op", "Add", *ADD, "--arg", "out:auto", "-v")
    assert found.code == 0
    rows = [line.split() for line in found.text.splitlines()]
    for words in (
        "0x0004 4 ioAddrNum 3",
        "0x0014 8 io address 0 of input 0 (x)",
        "0x0024 8 io address 2 of output 0 (z)",
        "NodeDef of Add",
        "output z float32[2,2] ND",
        "WORKSPACE_INFO (11) 16 65536 bytes",
    ):
        assert words.split() in rows


@pytest.mark.parametrize(
    ("spec", "raw", "values"),
    [
        ("bf16[2]=1.5,-2", "c03f00c0", [1.5, -2.0]),
        ("c64[1]=1-2j", "0000803f000000c0", [[1.0, -2.0]]),
        ("bool[2]=1,0", "0100", [True, False]),
        ("i32=7,8", "0700000008000000", [7, 8]),
        ("DT_INT32[1]=7", "07000000", [7]),
        ("float32[2]=hex:0000803f00000040", "0000803f00000040", [1.0, 2.0]),
        ("i64[1]=9007199254740993", "0100000000002000", ["9007199254740993"]),
        ("f16[0]=", "", []),
        ("u8[2,2]=arange", "00010203", [0, 1, 2, 3]),
    ],
)
def test_every_type(lib: Path, spec: str, raw: str, values: list[Any], tmp_path: Path) -> None:
    """OPR-1304."""
    back = tmp_path / "back.bin"
    shape = spec.partition("=")[0] if "[" in spec else "i32[2]"
    found = document(lib, "Echo", "--arg", f"in:{spec}", "--arg", f"out:{shape}@{back}")
    assert found["outputs"][0]["values"] == values
    assert back.read_bytes().hex() == raw
    assert found["outputs"][0]["file"] == str(back)


def test_a_type_that_only_has_a_number(lib: Path, tmp_path: Path) -> None:
    """OPR-1304: its bytes are what is told."""
    given = tmp_path / "in.bin"
    given.write_bytes(b"\x01\x02\x03\x04")
    found = document(lib, "Echo", "--arg", f"in:dt:35[4]@{given}", "--arg", "out:dt:35[4]")
    assert found["outputs"][0]["dtype"] == "float8_e5m2"
    assert found["outputs"][0]["values"] is None
    assert found["outputs"][0]["size"] == 4
    wrong = launch(lib, "--op", "Echo", "--arg", "in:dt:35[4]=1,2,3,4", "--arg", "out:auto")
    assert wrong.code == ExitCode.USAGE
    assert "values of float8_e5m2 are not spelled" in wrong.errors[0]


@pytest.mark.parametrize(
    ("attr", "kind"),
    [
        ("value:int=-3", "int"),
        ("value:float=.5", "float"),
        ("value:bool=true", "bool"),
        ("value:string=NHWC", "string"),
        ("value:type=DT_INT64", "type"),
        ("value:ints=1,2", "ints"),
        ("value:floats=1,.5", "floats"),
        ("value:bools=true,false", "bools"),
        ("value:types=f32,i64", "types"),
        ("value:strings=a,b", "strings"),
        ("value:listlist=1,2;3", "listlist"),
    ],
)
def test_attributes_of_every_kind(lib: Path, attr: str, kind: str) -> None:
    """OPR-1303."""
    found = document(lib, "Attr", "--attr", attr, "--arg", "out:i64[64]", "--dynamic")
    assert found["outputs"][0]["values"] is not None
    assert [(each["name"], each["kind"]) for each in found["call"]["attrs"]] == [("value", kind)]


def test_a_shape_comes_back(lib: Path) -> None:
    """OPR-410; bytes behind the shape are counted and not shown."""
    found = document(lib, "NonZero", "--arg", "in:f32[4]=0,1,0,2", "--arg", "out:i64[4]")
    (out,) = found["outputs"]
    assert (out["shape"], out["values"], out["rest"]) == ([2], ["1", "3"], 16)
    assert found["dynamic"] is True


def test_an_input_is_written(lib: Path) -> None:
    """OPR-309."""
    found = document(lib, "AddOne", "--arg", "in:f32[2]=1,2", "--arg", "out:auto")
    assert found["inputs_changed"] == [0]
    both = document(lib, "AddOne", "--arg", "inout:f32[2]=1,2")
    assert both["outputs"][0]["values"] == [2.0, 3.0]
    assert both["inputs_changed"] == []


def test_a_refusal_in_its_own_words(lib: Path) -> None:
    """OPR-420, OPR-602: what a device answers, and why."""
    found = document(lib, "Fail", "--arg", "in:f32[1]=1", code=ExitCode.FAULT)
    assert found["returned"] == FAILED
    assert (found["class"], found["response"]["result"]) == ("error", 22007)
    assert found["reason"].endswith(": the value of x is bad")
    assert found["error"]["what"] == f"Fail returned {FAILED}"
    assert any("that will not do" in line for line in found["log"])
    text = launch(lib, "--op", "Fail", "--arg", "in:f32[1]=1")
    assert text.code == ExitCode.FAULT
    assert ": the value of x is bad" in text.text
    assert text.errors == [f"cannkit: error: Fail returned {FAILED}: {found['reason']}"]


def test_log_lines(lib: Path) -> None:
    """OPR-420: errors and warnings, with -v all."""
    few, every = launch(lib, "--op", "Say"), launch(lib, "--op", "Say", "-v")
    assert (few.code, every.code) == (0, 0)
    assert "a warning" in few.text
    assert "a detail" not in few.text
    assert "a detail" in every.text
    assert "printed   on stdout" in few.text
    assert document(lib, "Say")["child"]["output"] == "on stdout\non stderr\n"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("null", "crashed in stage call with SIGSEGV"),
        ("abort", "SIGABRT"),
        ("hang", "timed out in stage call after 1 s"),
        ("exit", "terminated the process"),
    ],
)
def test_it_dies(lib: Path, how: str, words: str) -> None:
    """OPR-1306: a clear answer, and 5."""
    more = ("--timeout", "1") if how == "hang" else ()
    line = ("--attr", f"how:string={how}", *more)
    found = document(lib, "Harm", *line, code=ExitCode.FAULT)
    assert found["returned"] is None
    assert words in found["error"]["what"]
    assert "Harm" in found["error"]["hint"]
    assert found["class"] == "error"
    if how in ("null", "abort"):
        assert found["child"]["signal"] == (11 if how == "null" else 6)


def test_bytes_beside_an_output(lib: Path) -> None:
    """Q-7: the operator is told to have written past its output; it returned 0 all the same."""
    found = document(lib, "Overrun", "--attr", "count:int=8", "--arg", "out:f32[1]")
    assert [each["code"] for each in found["findings"]] == ["overrun"]
    assert "output 0 (y)" in found["findings"][0]["where"]
    for more in ((), ("--trace",)):
        args = (
            "--op",
            "Overrun",
            "--attr",
            "count:int=8",
            "--arg",
            "out:f32[1]",
            "--strict",
            *more,
        )
        strict = launch(lib, *args, "--json")
        assert strict.code == ExitCode.FAULT
        assert (strict.document["returned"], strict.document["class"]) == (0, "ok")
        assert strict.document["error"]["what"] == "Overrun wrote beside output 0 (y)"
        assert strict.document["error"]["why"] == "8 bytes behind it were written"


def test_a_library_of_which_no_json_tells(tmp_path: Path) -> None:
    """Nothing is checked then, which is told."""
    file = tmp_path / SO
    shutil.copy(library(False), file)
    found = document(file, "Say")
    assert [each["code"] for each in found["findings"]] == ["not-described"]
    no_op = launch(file, "--arg", "null")
    assert no_op.code == ExitCode.USAGE
    assert no_op.errors[1].endswith("; of an AI CPU library, --op NAME calls an operator")


def test_blocks(lib: Path) -> None:
    """OPR-904: a function that knows no blocks is called once."""
    line = (*ADD, "--arg", "out:f32[2,2]", "--blocks", "3")
    found = document(lib, "Add", *line)
    assert found["returns"] == [0]
    assert [each["code"] for each in found["findings"]] == ["blocks-ignored"]


def test_blocks_share_the_work(tmp_path: Path) -> None:
    """OPR-902, OPR-904: each block is called, and does its part; in one process, through the stack, too."""
    info = cpu_info(function="RunCpuKernelWithBlock", flagSupportBlockDim="True")
    add = {**info, "input0": tensor("x"), "input1": tensor("y"), "output0": tensor("z")}
    lib = installed(tmp_path, ops={"Add": add}) / CPU_LIBS / SO
    args = ("--arg", "in:f32[7]=arange", "--arg", "in:f32[7]=ones", "--arg", "out:auto")
    for more in ((), ("--trace",)):
        found = document(lib, "Add", *args, "--blocks", "3", "-v", *more)
        assert (found["function"], found["returns"]) == ("RunCpuKernelWithBlock", [0, 0, 0])
        assert found["outputs"][0]["values"] == [1, 2, 3, 4, 5, 6, 7]
        told = [line for line in found["log"] if "block" in line]
        parts = [line.rpartition("block ")[2] for line in told]
        assert parts == ["0 of 3", "1 of 3", "2 of 3"] * 2  # the workspace's, then the device's log
    assert found["trace"]["ae"]["blocks"] == 3
    assert "blocks    3, all returned 0" in launch(lib, "--op", "Add", *args, "--blocks", "3").text


def test_not_reproducible(lib: Path) -> None:
    """Q-24."""
    same = document(lib, "Add", *ADD, "--arg", "out:auto", "--repeat", "3")
    assert same["repeat"] == {"runs": 3, "reproducible": True, "differing": []}
    found = launch(lib, "--op", "Count", "--arg", "out:i64[1]", "--repeat", "3")
    assert found.code == 0
    assert "not reproducible: 3 runs differ in output 0" in found.text


def test_a_session(lib: Path) -> None:
    """OPR-210."""
    found = document(lib, "Add", *ADD, "--arg", "out:auto", "--session", "7:5:0")
    assert ("SESSION_INFO", "session 7, kernel 5, flag 0") in [
        (each["name"], each["value"]) for each in found["call"]["ext"]
    ]


def test_raw_bytes(lib: Path) -> None:
    """Q-1: a block that somebody made; one that is cut off is malformed input."""
    args = (*ADD, "--arg", "out:f32[2,2]")
    made = document(lib, "Add", *args)
    raw = ("--args-hex", made["param_hex"], "--ext-hex", made["ext_hex"])
    again = document(lib, "Add", *args, *raw)
    assert again["outputs"] == made["outputs"]
    cut = launch(lib, "--op", "Add", *args, "--args-hex", made["param_hex"][:-6], *raw[2:])
    assert cut.code == ExitCode.INPUT
    other = launch(lib, "--op", "Echo", *args, *raw)
    assert (other.code, other.errors[0]) == (
        ExitCode.USAGE,
        "cannkit: error: --args-hex is a call of Add, not of Echo",
    )


def test_through_the_whole_stack(lib: Path) -> None:
    """Registered, launched, scheduled, looked for, called: the same numbers."""
    line = ("launch", lib, "--op", "Add", *ADD, "--arg", "out:f32[2,2]", "--trace")
    found = cannkit(*line, env=CACHE)
    assert found.code == 0, found.err
    assert found.text.startswith("z  float32[2,2]  [[1.1, 2.2], [3.3, 4.4]]")
    told = found.err.decode()
    for step in (
        "trace: register ",  # its program, then what its memory is for
        "trace: 0x12c000000000  the name of the library",
        "  input 1 (y), 16 bytes",
        "queue entry, v100, 64 bytes",
        "kernel_type     4               AICPU_CUSTOM",
        "AI CPU engine, in cust-sd",
        "cust_aicpu_0_0_0/libcust_cpu_kernels.so: loaded; guard: below its directory",
        "function  RunCpuKernel returned 0",
        "response  TASK_SUCC, result 0",
        "completion: ok",
    ):
        assert step in told
    short = launch(lib, *line[2:], "--sqe", "none").err.decode()
    assert "completion: ok" in short
    assert "queue entry" not in short
    whole = launch(lib, *line[2:], "--json")
    assert whole.err == b""
    trace = whole.document["trace"]
    assert (trace["kernel"], trace["blocks"]["requested"]) == ("Add", 1)
    assert len(trace["sqe"][0]["hex"]) == 128
    assert (trace["ae"]["func_name"], trace["ae"]["returned"]) == ("RunCpuKernel", 0)
    assert trace["result"]["status"] == "ok"
    bad = launch(lib, "--op", "Fail", "--arg", "in:f32[1]=1", "--trace")
    assert bad.code == ExitCode.FAULT
    assert ": the value of x is bad" in bad.text
    died = launch(lib, "--op", "Harm", "--attr", "how:string=null", "--trace", "--json")
    assert died.code == ExitCode.FAULT
    assert died.document["error"]["what"] == "crashed in stage call with SIGSEGV"
    assert died.document["child"]["signal"] == 11
    assert died.document["trace"]["error"]["acl"]["code"] == 507018


def test_emulated(tmp_path: Path) -> None:
    """OPR-801: the same numbers as here."""
    other = library(True)
    found = document(Path(other), "Add", *ADD, "--arg", "out:f32[2,2]")
    assert (found["arch"], found["emulated"]) == ("AArch64", True)
    assert found["outputs"][0]["values"] == [pytest.approx(each) for each in (1.1, 2.2, 3.3, 4.4)]
    assert found["runner"]["qemu"] is not None
    died = launch(Path(other), "--op", "Harm", "--attr", "how:string=null", "--json")
    assert died.code == ExitCode.FAULT
    assert died.document["child"]["signal"] == 11


def test_it_cannot_run_here(tmp_path: Path) -> None:
    """OPR-1306: 5, and what to do: not to be emulated, no qemu, a folder that is no sysroot."""
    other = Path(library(True))
    args = ("--op", "Add", *ADD, "--arg", "out:f32[2,2]")
    never = launch(other, *args, "--emulate", "never")
    assert (never.code, never.out) == (ExitCode.FAULT, b"")
    assert "the library is for AArch64" in never.errors[0]
    gone = launch(other, *args, CANNKIT_QEMU="/nonexistent/qemu")
    assert gone.code == ExitCode.FAULT
    assert "qemu-aarch64 is missing" in gone.errors[0]
    assert "apt-get install qemu-user" in gone.errors[1]
    wrong = launch(other, *args, "--sysroot", tmp_path)
    assert wrong.code == ExitCode.FAULT
    assert f"{tmp_path} has no lib/ld-linux-aarch64.so.1" in wrong.errors[0]
    assert "--sysroot" in wrong.errors[1]
    data = launch(other, *args, "--sysroot", tmp_path, "--json")
    assert data.code == ExitCode.FAULT
    assert data.document["schema"] == "cannkit.launch-op/1"
    SCHEMA.validate(data.document)
    assert data.document["error"]["kind"] == "cannot-run"


def test_names_that_are_none(lib: Path) -> None:
    found = launch(lib, "--op", "Adda", *ADD, "--arg", "out:auto")
    assert found.code == ExitCode.USAGE
    assert "unknown operator 'Adda'" in found.errors[0]
    assert "did you mean Add" in found.errors[1]
    forced = document(lib, "Adda", *ADD, "--arg", "out:f32[2,2]", "--force", code=ExitCode.FAULT)
    assert forced["returned"] == FAILED


def test_in_the_json_alone(lib: Path) -> None:
    """OPR-212: what the library says of it."""
    found = document(lib, "Gone", "--arg", "in:f32[1]=1", code=ExitCode.FAULT)
    assert "not registered" in " ".join([found["reason"] or "", *found["log"]])


def test_a_json_without_its_library(tmp_path: Path, lib: Path) -> None:
    config = tmp_path / "cust_aicpu_kernel.json"
    config.write_text(json.dumps(operators()))
    found = launch(config, "--op", "Add", *ADD, "--arg", "out:auto")
    assert found.code == ExitCode.INPUT
    assert "has no library" in found.errors[0]
    assert "--library" in found.errors[1]
    named = document(config, "Add", *ADD, "--arg", "out:auto", "--library", lib)
    assert named["returned"] == 0


def test_a_library_without_its_json(tmp_path: Path, lib: Path) -> None:
    """OPR-1302: data types must be told then."""
    alone = tmp_path / SO
    shutil.copy(lib, alone)
    found = document(alone, "Add", *ADD, "--arg", "out:f32[2,2]")
    assert found["returned"] == 0
    config = tmp_path / "ops.json"
    config.write_text(json.dumps(operators()))
    beside = document(alone, "Add", *ADD, "--arg", "out:auto", "--op-json", config)
    assert beside["outputs"][0]["name"] == "z"


@pytest.mark.parametrize(
    ("op", "line", "words"),
    [
        ("Add", ("--arg", "in:f33[1]=1"), "unknown data type 'f33'"),
        ("Add", ("--arg", "in:f32[2]=1"), "1 values"),
        ("Add", ("--arg", "in:f32[-1]=1"), "only a dimension of an output may be -1"),
        ("Add", ("--arg", "in:f32[2x]=1"), "is no shape"),
        ("Add", ("--arg", "out:f32[2]=1"), "an output starts as zeros"),
        ("Add", ("--arg", "u64:5"), "an operator takes tensors"),
        ("Add", ("--arg", "in:f32[1]=hex:0"), "hex: takes whole bytes"),
        ("AddN", ("--arg", "in:f32[1]=1", "--arg", "out:auto"), "AddN needs N (int)"),
        ("AddN", ("--attr", "N=x", "--arg", "in:f32[1]=1", "--arg", "out:auto"), "is of kind int"),
        ("AddN", ("--attr", "N:float=1", "--arg", "in:f32[1]=1", "--arg", "out:auto"), "N is int"),
        ("Attr", ("--attr", "value=1", "--arg", "out:auto"), "which kind?"),
        ("Attr", ("--attr", "value:number=1"), "unknown kind 'number'"),
        (
            "Attr",
            (
                "--attr",
                "value",
            ),
            "--attr 'value'",
        ),
        ("Say", ("--session", "x"), "--session x"),
        ("Say", ("--sqe", "hex"), "--sqe hex is not for an operator"),
        ("Say", ("--sqe", "none"), "--sqe none is not for an operator"),
        ("Say", ("--trace", "--align", "4"), "--align is not for --trace"),
        ("Say", ("--attr", "a:int=1", "--attr", "a:int=2"), "--attr a is there twice"),
        ("Say", ("--format", "NCWH"), "unknown format"),
        ("Say", ("--align", "3"), "an alignment of 3"),
        ("Say", ("--blocks", "0"), "0 blocks"),
        ("Say", ("--timeout", "0"), "--timeout"),
        ("Say", ("--kernel", "K"), "--kernel is not for an operator"),
        ("Say", ("--model", "m:f"), "--model is not for an operator"),
        ("Say", ("--list-ops",), "ask for one of"),
        ("Say", ("--ext-hex", "00"), "--ext-hex goes with --args-hex"),
        ("Say", ("--args-hex", "0"), "neither @FILE nor whole bytes"),
    ],
)
def test_what_makes_no_sense(lib: Path, op: str, line: tuple[str, ...], words: str) -> None:
    """Told by name, and before anything runs."""
    found = launch(lib, "--op", op, *line)
    assert (found.code, found.out) == (ExitCode.USAGE, b""), found.err
    assert words in found.errors[0], found.err
    data = launch(lib, "--op", op, *line, "--json")
    assert data.code == ExitCode.USAGE
    assert words in data.document["error"]["what"] + data.document["error"]["why"]


def test_options_of_operators_alone() -> None:
    found = cannkit(
        "launch", f"{FIXTURES}/objects/AddCustom.o", "--attr", "a:int=1", "--blocks", "1"
    )
    assert found.code == ExitCode.USAGE
    assert "--attr goes with --op" in found.errors[0]


def test_a_forced_call(lib: Path) -> None:
    """Q-5: what would have stopped it is a finding."""
    line = ("--arg", "in:f32[1]=1", "--arg", "out:auto", "--force")
    found = document(lib, "AddN", *line, code=ExitCode.FAULT)
    assert "attr-missing" in [each["code"] for each in found["findings"]]


def test_a_wrong_type_is_a_finding(lib: Path) -> None:
    """Q-3: the list of the JSON is not to be trusted; the operator decides."""
    line = ("--arg", "in:f64[2]=1,2", "--arg", "in:f64[2]=1,2", "--arg", "out:f64[2]")
    found = document(lib, "Add", *line, code=ExitCode.FAULT)
    assert "dtype-differs" in [each["code"] for each in found["findings"]]
    assert found["reason"].endswith(": Unsupported input data type [11].")


def test_files_that_are_none(tmp_path: Path, lib: Path) -> None:
    nothing = tmp_path / "nothing.so"
    found = launch(nothing, "--op", "Add")
    assert found.code == ExitCode.INPUT
    text = tmp_path / "text.so"
    text.write_bytes(b"\x7fELF" + bytes(100))
    broken = launch(text, "--op", "Add", *ADD, "--arg", "out:f32[2,2]")
    assert broken.code in (ExitCode.INPUT, ExitCode.FAULT)
    assert "internal" not in broken.errors[0]
    config = tmp_path / "bad.json"
    config.write_text("{")
    assert launch(config, "--op", "Add").code == ExitCode.INPUT


def test_outputs_are_not_written_after_a_failure(lib: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.bin"
    line = ("--arg", "in:f64[2]=1,2", "--arg", "in:f64[2]=1,2", "--arg", f"out:f64[2]@{target}")
    assert launch(lib, "--op", "Add", *line).code == ExitCode.FAULT
    assert not target.exists()
    over = launch(lib, "--op", "Add", *ADD, "--arg", f"out:f32[2,2]@{lib}")
    assert over.code == ExitCode.USAGE


def test_a_large_output(lib: Path) -> None:
    """Over 64 elements there are no values; the first of them are shown."""
    line = ("--arg", "in:f32[65]=arange", "--arg", "in:f32[65]=zeros", "--arg", "out:f32[65]")
    found = document(lib, "Add", *line)
    (out,) = found["outputs"]
    assert (out["values"], out["first"]) == (None, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    text = launch(lib, "--op", "Add", *line).text
    assert "[0, 1, 2, 3, 4, 5, 6, 7, ...]" in text
    assert out["sha256"][:16] in text


def test_list_and_describe(package: Path, lib: Path) -> None:
    listed = launch(lib, "--list-ops", "--json")
    assert listed.code == 0
    rows = {each["name"]: each["registered"] for each in listed.document["operators"]}
    assert (rows["Add"], rows["Gone"]) == (True, False)
    assert "Process" in listed.document["unlisted"]
    text = launch(package / CPU_CONFIG, "--list-ops")
    assert text.code == 0
    assert "NonZero" in text.text
    one = launch(lib, "--describe", "AddN")
    assert one.code == 0
    assert "N" in one.text
    data = launch(lib, "--describe", "AddN", "--json").document
    assert [(each["name"], each["kind"], each["required"]) for each in data["attrs"]] == [
        ("N", "int", True)
    ]
    missing = launch(lib, "--describe", "Ad")
    assert missing.code == ExitCode.USAGE


def lines(*cases: object) -> bytes:
    return b"".join(
        (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in cases
    )


def test_cases(lib: Path, tmp_path: Path) -> None:
    """One line out for each line in, in its order; hostile lines are errors, and the others run."""
    args = ["in:f32[1]=1", "in:f32[1]=2", "out:f32[1]"]
    x = {"dtype": "float32", "shape": [1], "hex": struct.pack("<f", 3).hex()}
    given = lines(
        {"op": "Add", "args": args, "id": "first"},
        b"{",
        b"[1]",
        {"args": args},
        {"op": "Add", "arg": args},
        {"op": "Nothing", "args": args},
        {"op": "Harm", "attrs": {"how": "null"}},
        {"op": "Add", "inputs": [x, x], "outputs": [{"dtype": "float32", "shape": [1]}]},
        {"op": "Add", "inputs": [{"dtype": "f32", "shape": [1 << 40], "hex": ""}]},
        b'{"op": "Add", "args": ' + b"[" * 100_000,
        b"\xff\xfe\x00",
        {"op": "Attr", "attrs": {"value": {"kind": "list_int", "value": [1, 2]}}, "args": ["out:i64[9]"],
         "dynamic": True},
        b"",
        {"op": "Fail", "args": ["in:f32[1]=1"]},
    )  # fmt: skip
    file = tmp_path / "cases.jsonl"
    file.write_bytes(given)
    found = launch(lib, "--cases", file)
    answers = [json.loads(line) for line in found.out.splitlines()]
    for each in answers:
        SCHEMA.validate(each)
    assert [each["case"] for each in answers] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14]
    good = {each["case"] for each in answers if each["error"] is None}
    assert good == {1, 8, 12}
    assert answers[0]["id"] == "first"
    assert answers[0]["outputs"][0]["values"] == [3.0]
    assert answers[7]["outputs"][0]["values"] == [6.0]
    assert answers[6]["child"]["signal"] == 11
    assert answers[-1]["reason"].endswith(": the value of x is bad")
    assert answers[4]["error"]["hint"] == "did you mean 'args'?"
    assert answers[5]["returned"] == FAILED  # the library has the last word on a name
    assert answers[5]["findings"][0]["code"] == "unknown-op"
    assert answers[5]["findings"][0]["message"].startswith("unknown operator 'Nothing'")
    assert found.code == ExitCode.INPUT
    assert found.errors[-1] == "cannkit: 13 cases: 10 failed"
    assert launch(lib, "--cases", file, "-q").err == b""
    piped = cannkit("launch", lib, "--cases", "-", stdin=lines({"op": "Say"}), env=CACHE)
    assert (piped.code, json.loads(piped.out)["returned"]) == (0, 0)
    assert piped.errors == ["cannkit: 1 case: all good"]
    none = launch(lib, "--cases", tmp_path / "none.jsonl")
    assert none.code == ExitCode.INPUT


def test_cases_in_one_process(lib: Path, tmp_path: Path) -> None:
    """Start-up is paid once: the operator counts its calls."""
    file = tmp_path / "cases.jsonl"
    file.write_bytes(lines(*[{"args": ["out:i64[1]"]}] * 50))
    found = launch(lib, "--op", "Count", "--cases", file)
    assert found.code == 0, found.err
    counts = [json.loads(line)["outputs"][0]["values"] for line in found.out.splitlines()]
    assert counts == [[str(number)] for number in range(1, 51)]
    over = launch(lib, "--cases", file, "--arg", "out:auto")
    assert over.code == ExitCode.USAGE


def test_keys_of_a_case_that_are_misspelled(lib: Path) -> None:
    """Attributes that nobody reads would be lost without a word."""
    for key, right in (("Attrs", "attrs"), ("attributes", "attrs"), ("Arg", "args"), ("OP", "op")):
        found = cannkit(
            "launch", lib, "--cases", "-", stdin=lines({"op": "Say", key: {}}), env=CACHE
        )
        assert found.code == ExitCode.INPUT
        error = json.loads(found.out)["error"]
        assert (error["what"], error["hint"]) == (
            f"no case has a key {key!r}", f"did you mean {right!r}?",
        )  # fmt: skip


def test_cases_from_a_stdin_that_is_closed(lib: Path) -> None:
    words = [*command("launch", lib, "--cases", "-")]
    found = run(["sh", "-c", 'exec "$@" <&-', "sh", *words], env=CACHE)
    assert found.code == ExitCode.INPUT
    assert found.err.decode() == "cannkit: error: cannot read stdin: it is closed\n"


def test_an_argument_is_told_as_it_was_spelled(lib: Path) -> None:
    for text, why in (
        ("in:f32[2]=1", "1 values, f32[2] takes 2"),
        ("in:dt:14[2]@", "no name of a file after @"),
    ):
        found = launch(lib, "--op", "AddOne", "--arg", text, "--arg", "out:auto")
        assert found.code == ExitCode.USAGE
        assert found.err.decode() == f"cannkit: error: --arg {text!r}: {why}\n"


def test_another_json_for_what_is_no_library(package: Path, tmp_path: Path) -> None:
    """The library beside the JSON is not the one that was named."""
    file = tmp_path / "lib.so"
    file.write_text("no library")
    found = launch(file, "--op-json", package / CPU_CONFIG, "--op", "Say")
    assert found.code == ExitCode.INPUT
    told = f"cannkit: error: neither a library nor the JSON of operators ({file})\n"
    assert found.err.decode() == told


@pytest.mark.parametrize("what", [("--list-ops",), ("--describe", "Add")])
def test_a_library_of_which_nothing_is_known(tmp_path: Path, what: tuple[str, ...]) -> None:
    """No operators were found is another answer than that nobody could look."""
    file = tmp_path / "lib.so"
    shutil.copy(library(False, "at_load.c"), file)
    found = launch(file, *what)
    assert (found.code, found.out) == (ExitCode.FAULT, b"")
    assert "SIGABRT" in found.err.decode()
    answer = launch(file, *what, "--json")
    assert (answer.code, answer.document["error"]["what"]) == (
        ExitCode.FAULT,
        "cannot load the library",
    )


def test_limits_are_for_prototypes_too(package: Path, tmp_path: Path) -> None:
    other = shutil.copytree(package, tmp_path / "other")
    (proto,) = (other / "op_proto").iterdir()
    proto.rename(proto.with_name("hang.so"))
    found = launch(other, "--describe", "AddN", "--timeout", "0.5")
    assert found.code == ExitCode.OK
    assert "it did not end within 0.5 seconds" in found.text


def test_no_memory_for_a_copy_of_prototypes(package: Path) -> None:
    assert launch(package, "--describe", "AddN").code == ExitCode.OK
    words = command("launch", package, "--describe", "AddN", "--quiet")
    found = run(["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *words], env=CACHE)
    assert (found.code, found.err) == (ExitCode.OK, b"")
    assert "none: File too large" in found.text
