"""cannkit ae-call on pipes and terminals: each option, tasks as bytes, calls that really run and how they end."""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.ae.task import PARAMS_END
from cannkit.errors import ExitCode
from tests.ae.library import built
from tests.ae.structs import EXAMPLE, tagged
from tests.cli.runner import ESCAPE, Result, cannkit, each, run, terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

K: Final = "/usr/lib64/aicpu_kernels"
K0: Final = f"{K}/0/aicpu_kernels_device"
USER: Final = "/home/CustAiCpuUser"
INNER: Final = "ASCEND_AICPU_KERNEL_PATH"
BLOCK: Final = "RunCpuKernelWithBlock"
SEVEN: Final = "0700000000000000"

# cli.md, section 8; what is not there follows
DOCUMENT: Final = ["event_hex", "size", "kernel_type", "union", "scheduler", "route", "lib", "so", "call",
                   "returned", "status", "class", "child", "param_after_hex", "error"]  # fmt: skip
PARTS: Final = {
    "kernel_type": ["code", "name", "supported"],
    "scheduler": ["site", "rule", "code", "name", "response"],
    "so": ["kernel_type", "run_mode", "cust_sd", "init", "decision", "attempts", "loaded", "status",
           "call_status"],
    "call": ["symbol", "address_found", "signature", "opname"],
    "status": ["code", "name"],
    "child": ["exit", "signal", "stage", "seconds"],
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A device with one library: libops.so."""
    folder = tmp_path_factory.mktemp("device")
    place = folder / K0.lstrip("/")
    place.mkdir(parents=True)
    shutil.copy(built("ops"), place / "libops.so")
    shutil.copy(built("ops"), place / "libtf_kernels.so")
    return folder


def ae_call(*args: str | Path, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> Result:
    return cannkit("ae-call", *args, env=env, stdin=stdin)


def answer(
    *args: str | Path, code: int = 0, env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    found = ae_call(*args, "--json", env=env)
    assert found.code == code, (found.out, found.err)
    return found.document


def ops(func: str, *args: str | Path, code: int = 0) -> dict[str, Any]:
    """A function of tests/ae/c/ops.c."""
    return answer("--so-file", built("ops"), "--func", func, *args, code=code)


def summary(found: Mapping[str, Any]) -> tuple[Any, ...]:
    """What was returned, the engine's code, its class, the result of the response."""
    response = found["scheduler"] and found["scheduler"]["response"]
    status = found["status"]
    return (
        found["returned"],
        status and status["code"],
        found["class"],
        response and response["result"],
    )


# --- what a call tells


def test_keys() -> None:
    found = ops("RunCpuKernel", "--param", SEVEN)
    assert list(found)[: len(DOCUMENT) + 1] == ["schema", *DOCUMENT]
    assert found["schema"] == "cannkit.ae-call/1"
    for name, keys in PARTS.items():
        assert list(found[name])[: len(keys)] == keys
    assert [list(reading)[:3] for reading in found["union"]] == [["member", "live", "fields"]] * 3
    assert list(found["union"][0]["fields"][0])[:4] == ["name", "offset", "size", "value"]


def test_a_call() -> None:
    """Parameters come back as the function left them."""
    found = ops(BLOCK, "--param", SEVEN, "--block-id", "3", "--block-num", "8")
    assert summary(found) == (0, 0, "ok", 0)
    assert found["param_after_hex"] == "0800000003000000"
    assert found["call"]["signature"] == "f(param, blkinfo)"
    assert found["call"]["opname"] == BLOCK
    assert (found["route"], found["lib"], found["scheduler"]["site"]) == ("engine", "aicpu", 1)
    assert found["so"]["loaded"] == f"{K0}/libops.so"
    assert found["child"] | {"seconds": 0} == {
        "exit": None, "signal": None, "stage": "done", "seconds": 0, "output": None,
    }  # fmt: skip
    assert (found["error"], found["size"]) == (None, 72)


def test_a_call_for_people() -> None:
    lines = ae_call(
        "--so-file", built("ops"), "--func", BLOCK, "--param", SEVEN, "--block-num", "8"
    ).text
    for text in (
        "scheduler  ExecuteTsKernelTask (aicpusd), AE-303.4: to the engine",
        f"    1 \u2713 {K0}/libops.so  guard: below its directory",
        f"function   {BLOCK}(param, blkinfo): returned 0",
        "param      08000000 00000000",
        "status     AE_STATUS_SUCCESS (0), ok",
        "response   TASK_SUCC (0), result 0",
    ):
        assert f"\n{text}\n" in lines


def test_output_of_the_library() -> None:
    """It is part of the answer, never of stdout itself."""
    found = ops("greet")
    assert sorted(found["child"]["output"].splitlines()) == ["hello", "world"]
    text = ae_call("--so-file", built("ops"), "--func", "greet").text
    assert "output     hello\n" in text or "output     world\n" in text


CODES: Final = {  # what a function returns -> status, class, result
    "code_1": (1, 1, "error", 1),
    "code_101": (101, 101, "special", 101),
    "code_201": (201, 6, "special", 6),
    "code_501": (501, 7, "error", 7),
    "code_1050": (1050, 1050, "error", 1050),
    "code_30000": (30000, 30000, "error", 21008),
    "code_0xFFFFFFFF": (0xFFFFFFFF, -1, "error", 21008),
}


def test_codes_of_real_functions() -> None:
    """AE-804; special codes are exit 0, an error is 5."""
    options = ("ae-call", "--so-file", built("ops"), "--json", "--func")
    for func, result in zip(CODES, each([(*options, func) for func in CODES]), strict=True):
        assert summary(result.document) == CODES[func]
        assert result.code == (ExitCode.FAULT if CODES[func][2] == "error" else 0)


# fmt: off
PRETENDED: Final = {  # options with --returns -> status, class, result
    "--returns 0": (0, "ok", 0),
    "--returns 301": (301, "error", 301),
    "--returns 505": (12, "error", 12),
    "--returns 4294967295": (-1, "error", 21008),
    "--returns 501 --kernel-type custom": (501, "error", 501),
    "--returns 501 --kernel-type custom --no-cust-sd --run-mode thread": (7, "error", 7),
    "--returns 30000 --kernel-type 4": (30000, "error", 22007),
    "--returns 0 --kernel-type kfc": (0, "ok", 0),
    "--returns 301 --kernel-type kfc": (8, "special", 8),
    "--returns 1099 --kernel-type custom-kfc": (1099, "error", 1099),
    "--returns 12 --kernel-type fwk": (6, "special", 6),
    "--returns 8 --kernel-type fwk": (8, "special", 8),
    "--returns 201 --entry engine": (6, "special", None),
    "--returns 201 --so libmy.so --func f": (6, "special", 6),
}
# fmt: on


def test_pretended_codes() -> None:
    """T1 to T32 without any code or file."""
    lines = [("ae-call", *line.split(), "--json") for line in PRETENDED]
    for line, result in zip(PRETENDED, each(lines), strict=True):
        status, log, answered = PRETENDED[line]
        returned, *rest = summary(result.document)
        assert (*rest,) == (status, log, answered), line
        assert returned == int(line.split()[1], 0)
        assert result.code == (ExitCode.FAULT if log == "error" else 0)
        assert result.document["child"] is None


def test_pretence_below_a_root(root: Path) -> None:
    """There files count: what is not there is not called."""
    line = ("--returns", "7", "--root", root, "--func", "code_0", "--so")
    assert summary(answer(*line, "libops.so", code=5)) == (7, 7, "error", 7)
    assert summary(answer(*line, "libno.so", code=5)) == (None, 11002, "error", 11002)


GATES: Final = {  # options -> route, rule, status, result
    "--kernel-type aicpu": ("logic", "AE-303.1", None, 21001),
    "--func nobody": ("logic", "AE-303.1", None, 21005),
    "--func endGraph --param 07000000": ("logic", "AE-303.1", None, None),
    "--so a.so --func f --kernel-type cce": ("engine", "AE-303.4", 11001, 11001),
    "--so a.so --func f --kernel-type 3": ("engine", "AE-303.4", 11001, 11001),
    "--so a.so --func f --kernel-type 4294967295": ("engine", "AE-303.4", 11001, 11001),
    "--so a.so": ("engine", "AE-303.4", 11001, 11001),
    "--func f --entry engine": ("engine", None, 11001, None),
    "--so a.so --func f": ("engine", "AE-303.4", 11002, 11002),
    "--so= --func f": ("engine", "AE-303.4", 11002, 11002),
    "--so libops.so --func f": ("engine", "AE-303.4", 11003, 11003),
    "--so libops.so --func=": ("engine", "AE-303.4", 11003, 11003),
    "--so libops.so --func f --kernel-type custom --no-cust-sd": ("rejected", "AE-303.2", None, 21008),
    "--so libops.so --func f --kernel-type custom": ("engine", "AE-305 #4", 11002, 11002),
    "--func f --kernel-type custom": ("engine", "AE-305 #4", 11001, 11001),
    "--func f --kernel-type kfc": ("engine", "AE-305 #2", 11001, 11001),
    "--so libno.so --func f --kernel-type kfc": ("engine", "AE-305 #2", 11006, 11006),
    "--so libno.so --func f --kernel-type custom-kfc": ("engine", "AE-305 #5", 11006, 11006),
    "--kernel-type fwk": ("engine", "AE-303.4", 11001, 11001),
    "--kernel-type fwk --param 0a000000": ("engine", "AE-303.4", 11001, 11001),
    "--so libops.so --func f -e ASCEND_AICPU_KERNEL_PATH=": ("engine", "AE-303.4", 11001, 11001),
}  # fmt: skip


def test_gates(root: Path) -> None:
    """AE-303, AE-701 to AE-703: where a task goes, and what comes of null pointers and unknown types."""
    lines = [("ae-call", *line.split(), "--root", str(root), "--json") for line in GATES]
    for line, result in zip(GATES, each(lines), strict=True):
        found = result.document
        scheduler = found["scheduler"]
        _, status, log, response = summary(found)
        rule = scheduler and scheduler["rule"]
        assert (found["route"], rule, status, response) == GATES[line], line
        assert result.code == (0 if log == "ok" else ExitCode.FAULT)


def test_logic_kernel() -> None:
    """AE-403: its argument is decoded, it is not run."""
    found = answer("--func", "endGraph", "--param", "07000000")
    assert (found["logic"]["name"], found["logic"]["number"]) == ("endGraph", 1)
    assert found["logic"]["argument"] == [{"name": "modelId", "value": 7}]
    assert (found["scheduler"]["code"], found["scheduler"]["response"]) == (None, None)
    assert "not simulated" in ae_call("--func", "endGraph", "--param", "07000000").text
    near = ae_call("--func", "endGraf")
    assert near.code == ExitCode.FAULT
    assert "endGraph" in near.text


def test_list_of_logic_kernels() -> None:
    found = answer("--list-logic")
    assert (found["schema"], len(found["kernels"])) == ("cannkit.ae-call-logic/1", 21)
    assert "CloseAicpuMonitor" in ae_call("--list-logic").text


def test_framework() -> None:
    """AE-703: the function gets the address of the operate block, which follows the type."""
    found = answer(
        "--so-file", built("ops"), "--kernel-type", "fwk", "--param", "0000000029000000", code=5
    )
    assert summary(found) == (42, 42, "error", 42)
    assert found["call"]["signature"] == "f(u64)"
    assert found["so"]["loaded"] == f"{K0}/libtf_kernels.so"
    assert found["kernel_type"]["name"] == "KERNEL_TYPE_FWK"


@pytest.mark.parametrize("size", [200, 201])
def test_long_function_names(size: int) -> None:
    """Q-5: AiCpu uses 200 bytes of a name, and says so; KFC looks up no longer one."""
    names = {
        name: f'-D{name}="{"a" * count}"' for name, count in (("LONGEST", 200), ("TOO_LONG", 201))
    }
    library = built("recorded", *names.values())
    found = answer("--so-file", library, "--func", "a" * size, code=5)
    assert summary(found) == (11, 11, "error", 11)
    assert found["call"]["symbol"] == "a" * 200
    assert [note["rule"] for note in found["notes"]] == (["Q-5"] if size > 200 else [])
    kfc = answer("--so-file", library, "--func", "a" * size, "--kernel-type", "kfc", code=5)
    assert summary(kfc)[:2] == ((11, 1) if size == 200 else (None, 11006))


def test_long_library_names(root: Path) -> None:
    name = "l" * 100
    place = root / K0.lstrip("/") / name
    shutil.copy(built("ops"), place)
    for size, rules in ((100, []), (101, ["Q-5"])):
        found = answer("--so", "l" * size, "--func", "code_0", "--root", root)
        assert [note["rule"] for note in found["notes"]] == rules
    place.unlink()


def test_names_with_odd_letters(root: Path) -> None:
    for so in ("lib\u00fc.so", os.fsdecode(b"lib\xff.so")):
        found = answer("--so", so, "--func", os.fsdecode(b"f\xff"), "--root", root, code=5)
        assert summary(found) == (None, 11002, "error", 11002)
        assert found["call"]["symbol"] == r"f\xff"


def test_kfc_global_lookup() -> None:
    """Q-8: the C library's functions are refused, unless they are allowed."""
    line = (
        "--so",
        "libno.so",
        "--func",
        "getpid",
        "--kernel-type",
        "kfc",
        "--root",
        "/nonexistent",
    )
    assert ae_call(*line).code == ExitCode.INPUT
    found = answer(*line[:-2], code=5)
    assert summary(found) == (None, 11006, "error", 11006)
    found = answer(*line[:-2], "--allow-global", code=5)
    assert (found["call"]["provider"], found["call"]["is_global"]) == ("libc.so.6", True)
    assert found["status"]["code"] == 1


# --- tasks as bytes


def test_worked_example_as_bytes(root: Path) -> None:
    """10.1, from hex, from a file of bytes and from a file of hex."""
    line = ("--so", "libops.so", "--func", BLOCK, "--param", SEVEN, "--root", root)
    found = answer("--event", EXAMPLE.hex(), *line)
    assert found["param_after_hex"] == "0800000003000000"
    assert found["event_hex"] == EXAMPLE.hex()
    assert [reading["member"] for reading in found["union"] if reading["live"]] == ["cceKernel"]
    for content in (EXAMPLE, EXAMPLE.hex().encode() + b"\n", b"0x" + EXAMPLE.hex().encode()):
        file = root / "event"
        file.write_bytes(content)
        assert answer("--event", f"@{file}", *line) | {"child": 0} == found | {"child": 0}


def test_names_that_nobody_knows() -> None:
    """The union is shown, and nothing is called."""
    found = answer("--event", EXAMPLE.hex())
    assert (found["route"], found["scheduler"], found["status"]) == (None, None, None)
    assert any(
        "kernelSo 0x124000001040 is not known: --so NAME says it" in hint for hint in found["hints"]
    )
    assert "kernelSo 0x124000001040 is not known" in ae_call("--event", EXAMPLE.hex()).text


def test_a_wrong_tag(root: Path) -> None:
    """10.1: type 2 tagged 1 takes the first letters of the function name for the type of its block."""
    line = ("--event", tagged(1).hex(), "--func", "RunCpuKernel", "--root", root)
    found = answer(*line, code=5)
    assert summary(found) == (None, 11001, "error", 11001)
    notes = " ".join(note["text"] for note in found["notes"])
    assert "0x436e7552" in notes
    assert "it looks like a CCE kernel" in notes
    (unknown,) = [
        hint for hint in answer("--event", tagged(1).hex())["hints"] if "not known" in hint
    ]
    assert unknown == "what lies at kernel 0x124000001000 is not known: --param HEX says it"


def test_an_event_with_returns() -> None:
    """What nobody named is any; what is null in the event stays null."""
    assert summary(answer("--event", EXAMPLE.hex(), "--returns", "201")) == (201, 6, "special", 6)
    assert summary(answer("--event", tagged(1).hex(), "--returns", "12")) == (12, 6, "special", 6)
    null = bytes(72).hex()
    assert answer("--event", "02" + null[2:], "--returns", "0", code=5)["route"] == "logic"
    found = answer("--event", "01" + null[2:], "--returns", "0", code=5)
    assert summary(found) == (None, 11001, "error", 11001)


def test_events_of_other_lengths() -> None:
    """Two are tasks, the others an error that says so."""
    sizes = (0, 1, 7, 8, 55, 56, 57, 71, 72, 73, 80)
    lines = [("ae-call", "--event", bytes(size).hex(), "--json") for size in sizes]
    for size, result in zip(sizes, each(lines), strict=True):
        assert b"Traceback" not in result.err
        if size in (56, 72):
            assert result.code == ExitCode.FAULT
            assert (result.document["size"], result.document["route"]) == (size, "logic")
        else:
            assert result.code == ExitCode.INPUT
            assert "72 bytes, 56 in a cloud build" in result.document["error"]["why"]


def test_cloud(root: Path) -> None:
    """AE-101: 56 bytes, of which the engine reads the same."""
    line = ("--so", "libops.so", "--func", "code_0", "--root", root)
    full, cloud = answer(*line), answer(*line, "--cloud")
    assert (full["size"], cloud["size"]) == (72, 56)
    assert full["event_hex"].startswith(cloud["event_hex"])
    assert full["status"] == cloud["status"]


@pytest.mark.parametrize(
    "event", ["xy", "0", "@/nonexistent", "@tests", "@/dev/zero", "@README.md", "0x"]
)
def test_bytes_that_are_none(event: str) -> None:
    found = ae_call("--event", event, "--json")
    assert found.code == ExitCode.INPUT
    assert found.document["error"]["what"]


def test_parameters_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "param"
    file.write_bytes(bytes(10_000))
    found = ops(BLOCK, "--param", f"@{file}")
    assert found["param_after_hex"] == "01" + "00" * 9_999
    assert ops("is_null", "--param", "", code=0)["returned"] == 0
    assert ops("is_null", code=5)["returned"] == 1


def test_overruns() -> None:
    """Bytes written behind the parameters are told; a guard page ends the process."""
    address = PARAMS_END - 24
    param = struct.pack("<qq4x", address, 20)
    found = ops("poke", "--param", param.hex(), code=5)
    assert found["overruns"] == [
        "1 byte behind the parameter block was written (0x1240ffffffe8+0x14)"
    ]
    assert found["param_after_hex"] == param.hex()
    assert (found["error"]["kind"], found["class"]) == ("overrun", "ok")
    text = ae_call("--so-file", built("ops"), "--func", "poke", "--param", param.hex()).text
    assert "overrun    1 byte behind the parameter block" in text
    found = ops("poke", "--param", struct.pack("<qq4x", address, 24).hex(), code=5)
    assert found["child"]["signal"] == 11


# --- files and processes


def test_root_and_library(root: Path) -> None:
    found = answer("--so", "libops.so", "--func", "code_201", "--root", root)
    assert summary(found) == (201, 6, "special", 6)
    assert str(root) not in json.dumps(found)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ("--kernel-type custom --pid 7", f"{USER}/cust_aicpu_0_0_7/"),
        ("--kernel-type custom --vf 40 --device 40", f"{USER}5/cust_aicpu_40_40_0/"),
        ("--kernel-type custom --run-mode socket --home /h", "/h/cust_aicpu_0_0_0/"),
        ("--kernel-type custom-kfc --run-mode thread", "/home/HwHiAiUser/cust_aicpu_0_0_0/"),
        ("--run-mode thread --no-home", f"{K0}/"),
        (f"--run-mode thread -e {INNER}=/opt", "/opt/"),
        ("--run-mode socket --inherit-env --kernel-type custom", "/home/me/cust_aicpu_0_0_0/"),
    ],
)
def test_a_library_goes_where_it_is_looked_for(options: str, path: str) -> None:
    """--so-file: a copy in a root of its own."""
    line = ("--so-file", built("ops"), "--func", "code_0", *options.split())
    found = answer(*line, env={"HOME": "/home/me"})
    assert found["so"]["loaded"] == f"{path}libops.so"
    assert summary(found) == (0, 0, "ok", 0)


def test_a_library_under_another_name() -> None:
    found = answer("--so-file", built("ops"), "--so", "libother.so", "--func", "code_0")
    assert found["so"]["loaded"] == f"{K0}/libother.so"


def test_nothing_is_left(tmp_path: Path) -> None:
    """However the call ends, no copy stays."""
    env = {"TMPDIR": str(tmp_path)}
    for source, func, code in (
        ("ops", "code_0", 0),
        ("harm", "do_abort", 5),
        ("harm", "exit_0", 5),
    ):
        answer("--so-file", built(source), "--func", func, code=code, env=env)
        assert list(tmp_path.iterdir()) == []


ENDS: Final = {  # function -> what, exit, signal
    "write_null": ("crashed in stage call with SIGSEGV", None, 11),
    "do_abort": ("crashed in stage call with SIGABRT", None, 6),
    "exit_0": ("the op terminated the process with code 0 in stage call", 0, None),
    "hang": ("timed out in stage call after 0.5 s", None, 15),
    "fork_often": ("timed out in stage call after 0.5 s", None, 15),
    "flood": ("exceeded limit: output (in stage call)", None, 9),
    "kill_itself": ("exceeded limit, or killed from outside: SIGKILL (in stage call)", None, 9),
    "write_everywhere": ("the op wrote into cannkit's result pipe in stage call", None, 9),
}


def test_how_foreign_code_ends() -> None:
    """AE-1206: one document on stdout, exit 5, no status: the device's process died, too."""
    options = ("ae-call", "--so-file", built("harm"), "--timeout", "0.5", "--json", "--func")
    for func, result in zip(ENDS, each([(*options, func) for func in ENDS]), strict=True):
        what, code, number = ENDS[func]
        assert result.code == ExitCode.FAULT, func
        found = result.document
        assert found["error"]["what"] == what
        assert (found["child"]["exit"], found["child"]["signal"]) == (code, number)
        assert found["child"]["stage"] == "call"
        assert summary(found) == (None, None, "error", None)
        assert found["call"]["symbol"] == func
        assert found["so"]["loaded"] == f"{K0}/libharm.so"


def test_a_fork_that_returns() -> None:
    assert answer("--so-file", built("harm"), "--func", "fork_and_return", code=5)["returned"] == 4


def test_a_crash_for_people() -> None:
    """The story, then one line on stderr and what to look at."""
    found = ae_call("--so-file", built("harm"), "--func", "write_null")
    assert found.code == ExitCode.FAULT
    assert "function   write_null(param): did not return\n" in found.text
    assert "process    crashed in stage call with SIGSEGV (" in found.text
    assert (
        found.errors[0]
        == "cannkit: error: crashed in stage call with SIGSEGV (write_null of libharm.so)"
    )
    assert found.errors[1].startswith("hint: the parameter block is null; wrong signature?")
    assert len(found.errors) == 2


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("abort()", "crashed in stage load with SIGABRT"),
        ("exit(0)", "the op terminated the process with code 0 in stage load"),
        ("for (;;) pause()", "timed out in stage load after 1 s"),
    ],
)
def test_constructors(statement: str, what: str) -> None:
    line = ("--so-file", built("load", f"-DDO={statement}"), "--func", "code_0", "--timeout", "1")
    found = answer(*line, code=5)
    assert (found["error"]["what"], found["child"]["stage"]) == (what, "load")
    assert found["so"]["loaded"] is None
    assert what in found["so"]["attempts"][0]["reason"]


def test_undefined_symbol() -> None:
    """Q-17: it is seen before the call, and named after it."""
    found = answer("--so-file", built("needs"), "--func", "through", code=5)
    assert found["error"]["what"] == "undefined symbol code_201 at call time (lazy binding)"
    assert found["child"]["exit"] == 127
    assert "code_201" in found["so"]["attempts"][0]["reason"]


def test_function_with_another_name_in_the_library() -> None:
    found = ops("my_op", code=5)
    assert summary(found) == (None, 11003, "error", 11003)
    assert any("_Z5my_opPv" in note["text"] for note in found["notes"])


def test_memory_limit() -> None:
    found = answer("--so-file", built("harm"), "--func", "allocate_much", "--memory", "128", code=5)
    assert found["returned"] == 12


def spoiled(folder: Path) -> dict[str, str]:
    """Files that are no library of this machine, and why."""
    good = Path(built("ops")).read_bytes()
    other = (62 if os.uname().machine == "aarch64" else 183).to_bytes(2, "little")
    contents = {
        "libtext.so": (b"hello\n", "not with the ELF magic"),
        "libempty.so": (b"", "the file is empty"),
        "lib32.so": (good[:4] + b"\1" + good[5:], "a 32-bit ELF file"),
        "libcut.so": (good[:500], "the library is cut off or damaged"),
        "libjunk.so": (good[:64] + b"\xff" * (len(good) - 64), "not a shared library"),
        "libother.so": (good[:18] + other + good[20:], "it is for "),
    }
    for name, (content, _) in contents.items():
        (folder / name).write_bytes(content)
    return {name: why for name, (_, why) in contents.items()}


def test_what_is_no_library(tmp_path: Path) -> None:
    """11002 with the reason; no process is started for it."""
    whys = spoiled(tmp_path)
    lines = [
        ("ae-call", "--so-file", str(tmp_path / name), "--func", "f", "--json") for name in whys
    ]
    for name, result in zip(whys, each(lines), strict=True):
        assert result.code == ExitCode.FAULT
        assert summary(result.document) == (None, 11002, "error", 11002)
        assert whys[name] in result.document["so"]["attempts"][0]["reason"]
        assert result.document["child"] is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "libfifo.so")
    for file in (tmp_path, tmp_path / "libfifo.so", tmp_path / "libno.so"):
        assert ae_call("--so-file", file, "--func", "f").code == ExitCode.INPUT
    found = answer("--so", "libno.so", "--func", "f", "--root", tmp_path, code=5)
    assert len(found["so"]["attempts"]) == 3
    (tmp_path / "loop").symlink_to("loop")
    for root in ("loop", "libfifo.so", "missing"):
        assert (
            ae_call("--so", "a.so", "--func", "f", "--root", tmp_path / root).code == ExitCode.INPUT
        )


def test_dry_runs_load_nothing(tmp_path: Path) -> None:
    """AE-1204, step 6: a constructor that would leave a file leaves none."""
    mark = tmp_path / "mark"
    flag = f'-DDO=fclose(fopen("{mark}","w"))'
    line = ("--so-file", built("load", flag), "--func", "code_0")
    found = answer(*line, "--dry-run")
    assert (found["call"]["address_found"], found["returned"], found["child"]) == (True, None, None)
    assert summary(found) == (None, None, "ok", None)
    assert answer(*line, "--returns", "201")["status"]["code"] == 6
    script = tmp_path / "script"
    script.write_text('{"op": "batch", "type": 2, "sos": ["libload.so"]}\n')
    root = tmp_path / "root" / K.lstrip("/")
    root.mkdir(parents=True)
    shutil.copy(built("load", flag), root / "libload.so")
    assert ae_call("--script", script, "--root", tmp_path / "root", "--dry-run").code == 0
    assert not mark.exists()
    assert answer(*line)["status"]["code"] == 0
    assert mark.exists()


def test_dry_run_for_people(root: Path) -> None:
    text = ae_call("--so", "libops.so", "--func", BLOCK, "--root", root, "--dry-run").text
    assert f"function   {BLOCK}(param, blkinfo): not called\n" in text
    missing = answer("--so", "libops.so", "--func", "no", "--root", root, "--dry-run", code=5)
    assert summary(missing) == (None, 11003, "error", 11003)


# --- scripts

SCRIPT: Final[list[dict[str, Any]]] = [
    {"op": "batch", "type": "aicpu", "sos": ["libops.so", None, "libno.so"]},
    {"op": "call", "type": 2, "so": "libops.so", "func": "code_201"},
    {"type": "kfc", "so": "libops.so", "func": "code_301"},
    {"op": "addWhite", "so": "a.so"},
    {"op": "delWhite", "so": "a.so"},
    {"op": "close", "type": 2, "so": "libops.so"},
    {"op": "clear"},
    {"type": "kfc", "so": "libops.so", "func": "code_301"},
]


def script(*rows: Mapping[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def lines_of(found: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in found.out.splitlines()]


def test_script(root: Path, tmp_path: Path) -> None:
    """One process, a line for each operation; after `clear` KFC is gone (Q-2)."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(script(*SCRIPT))
    found = ae_call("--script", file, "--root", root, "--json")
    assert found.code == ExitCode.FAULT
    rows = lines_of(found)
    assert [row["op"] for row in rows] == [row.get("op", "call") for row in SCRIPT]
    codes = [row["status"] and row["status"]["code"] for row in rows]
    assert codes == [0, 6, 8, 0, None, 0, None, 11001]
    assert {row["schema"] for row in rows} == {"cannkit.ae-call/1"}
    assert [load["loaded"] for load in rows[0]["loads"]] == [f"{K0}/libops.so", None]
    assert rows[1]["so"]["attempts"] == []
    text = ae_call("--script", "-", "--root", root, stdin=script(*SCRIPT)).text.splitlines()
    assert text[0] == "  1  batch    libops.so loaded  libno.so not loaded  AE_STATUS_SUCCESS (0)"
    assert (
        text[1]
        == "  2  call     code_201 of libops.so  returned 201  AE_STATUS_END_OF_SEQUENCE (6)"
    )
    assert (text[4], text[6]) == ("  5  delWhite", "  7  clear")
    assert "destroyed" in text[-1] or "destroyed" in text[-2]  # why the last one failed


def test_script_with_other_options(root: Path) -> None:
    rows = script({"type": 2, "so": "libops.so", "func": "code_0"})
    for options, status in (
        (("--returns", "101"), 101),
        (("--returns", "101", "--entry", "engine"), 101),
        (("--dry-run",), None),
        (("--root", str(root), "--cloud"), 0),
    ):
        line = options if "--returns" in options else (*options, "--root", str(root))
        (row,) = lines_of(ae_call("--script", "-", "--json", *line, stdin=rows))
        assert (row["status"] and row["status"]["code"]) == status


def test_collision_of_two_libraries(tmp_path: Path) -> None:
    """SP-40, Q-6: the cache knows names alone."""
    for folder, source in ((K0, "ops"), (f"{USER}/cust_aicpu_0_0_0", "load")):
        place = tmp_path / folder.lstrip("/")
        place.mkdir(parents=True)
        shutil.copy(built(source, *(["-DDO="] if source == "load" else [])), place / "libsame.so")
    rows = script(
        {"type": "custom", "so": "libsame.so", "func": "code_201", "custSd": True},
        {"type": "aicpu", "so": "libsame.so", "func": "code_201"},
    )
    found = ae_call("--script", "-", "--root", tmp_path, "--entry", "engine", "--json", stdin=rows)
    assert [row["status"]["code"] for row in lines_of(found)] == [11003, 11003]
    rows = b"".join(reversed(rows.splitlines(keepends=True)))
    found = ae_call("--script", "-", "--root", tmp_path, "--entry", "engine", "--json", stdin=rows)
    assert [row["status"]["code"] for row in lines_of(found)] == [6, 6]


def test_script_whose_process_dies() -> None:
    """What would follow is not run, and that is said."""
    rows = script(*[{"type": 2, "so": "libharm.so", "func": "exit_3"}] * 3)
    place = Path(tempfile.mkdtemp(prefix="cannkit-tests-"))
    (place / K.lstrip("/")).mkdir(parents=True)
    shutil.copy(built("harm"), place / K.lstrip("/") / "libharm.so")
    found = ae_call("--script", "-", "--root", place, "--json", stdin=rows)
    quiet = ae_call("--script", "-", "--root", place, "--json", "-q", stdin=rows)
    shutil.rmtree(place)
    assert found.code == quiet.code == ExitCode.FAULT
    (row,) = lines_of(found)
    assert row["child"]["exit"] == 3
    assert (
        found.errors[-1] == "cannkit: warning: 2 more operations are not run: the process is gone"
    )
    assert not any("not run" in line for line in quiet.errors)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"op": "x"}',
        b'{"op": ["call"]}',
        b'{"type": 99999999999}',
        b"\xff",
        b"[" * 9999,
    ],
)
def test_script_that_is_none(line: bytes) -> None:
    """Nothing of it is run."""
    found = ae_call("--script", "-", "--json", stdin=b'{"op": "clear"}\n' + line)
    assert found.code == ExitCode.INPUT
    error = found.document["error"]
    assert (error["what"], error["where"]) == ("cannot read the script", "-, line 2")


def test_empty_script() -> None:
    for stdin in (b"", b"\n \n"):
        found = ae_call("--script", "-", "--json", stdin=stdin)
        assert (found.code, found.out, found.err) == (0, b"", b"")


# --- the command line


USAGE: Final = [
    ["--kernel-type", "aicore"],
    ["--kernel-type", ""],
    ["--run-mode", ""],
    ["--block-id", "-1"],
    ["--block-num", "4294967296"],
    ["--returns", "4294967296"],
    ["--returns", "-1"],
    ["--returns", "x"],
    ["--param", "0"],
    ["--param", "xy"],
    ["--memory", "1"],
    ["--entry", "driver"],
    ["--so-file", "README.md", "--root", "/"],
    ["--home", "/h", "--no-home"],
    ["-e", "PATH=/"],
    ["--event", EXAMPLE.hex(), "--kernel-type", "kfc"],
    ["--event", bytes(72).hex(), "--so", "a.so"],
    ["--event", bytes(72).hex(), "--func", "f"],
    ["--event", bytes(72).hex(), "--param", "00"],
    ["--script", "-", "--so", "a.so"],
    ["--script", "-", "--so-file", "README.md"],
    ["--script", "-", "--func", "f"],
    ["--script", "-", "--param", "00"],
    ["--script", "-", "--event", EXAMPLE.hex()],
    ["--script", "-", "--kernel-type", "kfc"],
    ["libmy.so"],
    ["--color", "sometimes"],
    *[
        ["--so", "a.so", "--func", "f", "--timeout", value]
        for value in ("0", "-1", "nan", "inf", "1e300", "x")
    ],
]


def test_usage() -> None:
    for line, result in zip(
        USAGE, each([("ae-call", *line, "--json") for line in USAGE]), strict=True
    ):
        assert result.code == ExitCode.USAGE, (line, result.err)
        assert result.document["schema"] == "cannkit.ae-call/1"
        assert result.document["error"]["kind"] == "usage"


def test_help_warns() -> None:
    """cli.md, section 8."""
    text = " ".join(ae_call("--help").text.split())
    assert "RUNS ITS CODE" in text
    assert "do not use it on files that you do not trust" in text
    for option in ("--so", "--so-file", "--func", "--kernel-type", "--param", "--block-id", "--block-num",
                   "--event", "--cloud", "--entry", "--root", "--timeout", "--memory", "--dry-run", "--returns",
                   "--script"):  # fmt: skip
        assert f" {option} " in text


def test_verbose(root: Path) -> None:
    line = ("--so", "libops.so", "--func", "code_0", "--root", root)
    plain, verbose = ae_call(*line), ae_call(*line, "-v")
    assert plain.out == verbose.out
    assert any(each.startswith("trace: aicpu: AE-604.5 ") for each in verbose.errors)


def test_pipes_and_terminals(root: Path) -> None:
    """A pipe gets all three readings, a screen of 80 columns the live one; neither is cut."""
    line = ("ae-call", "--so", "libops.so", "--func", "code_501", "--root", str(root))
    pipe = cannkit(*line)
    assert not ESCAPE.search(pipe.out)
    assert "hwtsKernel" in pipe.text.splitlines()[1]
    screen = terminal(*line)
    assert screen.code == ExitCode.FAULT
    assert max(map(len, screen.lines)) <= 80
    assert b"\x1b[31mAE_STATUS_SILENT_FAULT (7), error" in screen.raw
    assert not ESCAPE.search(terminal(*line, env={"TERM": "dumb"}).raw)
    assert ESCAPE.search(cannkit(*line, "--color", "always").out)
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    ascii_only = cannkit(*line, env=plain)
    assert ascii_only.out.isascii()
    assert ascii_only.code == ExitCode.FAULT


def test_what_a_library_prints_drives_no_terminal(tmp_path: Path) -> None:
    library = built("load", r'-DDO=printf("\033[31mred\007\n")')
    screen = terminal("ae-call", "--so-file", library, "--func", "code_0")
    assert b"\x1b[31mred" not in screen.raw
    assert r"\x1b[31mred\x07" in screen.text


def test_output_closed(root: Path) -> None:
    words: Sequence[str] = [
        "bash", "-c", f"{sys.executable} -m cannkit ae-call --returns 0 | true; exit ${{PIPESTATUS[0]}}",
    ]  # fmt: skip
    assert run(words).code in (0, 141)
