"""cannkit launch of an AI CPU kernel whose library is really called. cli.md, sections 6 and 7; spec 05."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.ae.library import built
from tests.cli.runner import ADD, ROOT, Result, cannkit, terminal

INNER: Final = "usr/lib64/aicpu_kernels/0/aicpu_kernels_device"
CUST: Final = "home/CustAiCpuUser/cust_aicpu_0_0_0"
FUNCTIONS: Final = (
    "Triple", "RunCpuKernelWithBlock", "Count", "Give201", "Give301", "Give501", "Give1050",
    "Give30000", "Crash", "Overrun", "Missing",
)  # fmt: skip
LIBS: Final = {
    "": "AICPUKernel",
    "Cust": "CUSTAICPUKernel",
    "Kfc": "KFCKernel",
    "CustKfc": "CUSTKFCKernel",
}
HEAD: Final = ("--arg", "u32:36", "--arg", "u32:2", "--arg", "u32:0", "--arg", "u64:0")
TENSORS: Final = (*HEAD, "--arg", "in:f32[4]=1,2,3,4", "--arg")
BARE: Final = ("--args-hex", "14" + "00" * 19)


class Place(NamedTuple):
    """A program of AI CPU kernels, one for each function and kernel lib, and the root with its library."""

    program: Path
    root: Path

    def run(self, kernel: str, *more: str, json_: bool = False) -> Result:
        """Launch one block, if no more is said."""
        blocks = () if "--blocks" in more else ("--blocks", "1")
        line = ["launch", str(self.program), "--cpu-mode", "0", "--kernel", kernel, *blocks, *more]
        return cannkit(*line, *(["--json"] if json_ else []))

    def document(self, kernel: str, *more: str, code: int = 0) -> dict[str, Any]:
        """The same with the root, in JSON."""
        found = self.run(kernel, *more, "--root", str(self.root), json_=True)
        assert found.code == code, found.err
        assert code or found.err == b""
        return found.document


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("device")
    ops: dict[str, Any] = {
        f"{prefix}{name}": {
            "opInfo": {
                "kernelSo": "libops.so",
                "functionName": name,
                "opKernelLib": lib,
                "userDefined": "False",
            }
        }
        for prefix, lib in LIBS.items()
        for name in FUNCTIONS
    }
    gone = {"kernelSo": "libgone.so", "functionName": "Run", "opKernelLib": "AICPUKernel"}
    ops["Gone"] = {"opInfo": gone}
    program = folder / "libops.json"
    program.write_text(json.dumps(ops))
    root = folder / "root"
    for each in (INNER, CUST):
        (root / each).mkdir(parents=True)
        shutil.copy(built("device"), root / each / "libops.so")
    return Place(program, root)


@pytest.mark.parametrize("prefix", LIBS)
def test_a_tensor_comes_back(place: Place, tmp_path: Path, prefix: str) -> None:
    """From --arg through the queue entry, the engine and a process of its own into a file."""
    out = tmp_path / "out"
    document = place.document(f"{prefix}Triple", *TENSORS, f"out:f32[4]@{out}")
    assert out.read_bytes() == struct.pack("<4f", 3, 6, 9, 12)
    assert document["outputs"][0]["values"] == [3, 6, 9, 12]
    assert document["result"]["message"] == "Triple of libops.so returned 0"
    ae = document["ae"]
    is_cust = prefix.startswith("Cust")
    assert ae["cust_sd"] == is_cust
    assert ae["loaded"] == f"/{CUST if is_cust else INNER}/libops.so"
    assert [attempt["guard"] for attempt in ae["attempts"]] == ["prefix"]
    assert (ae["so_name"], ae["func_name"]) == ("libops.so", "Triple")
    assert ae["status"] == {"code": 0, "name": "AE_STATUS_SUCCESS"}
    assert (ae["returned"], ae["class"]) == (0, "ok")
    assert ae["response"] == {"status": 0, "status_name": "TASK_SUCC", "result": 0}
    assert list(document)[-1] == "ae"


# fmt: off
ENDS: Final = [  # kernel, returned, status, class, result
    ("Give201", 201, 6, "special", 6),
    ("Give501", 501, 7, "error", 7),
    ("Give1050", 1050, 1050, "error", 1050),
    ("Give30000", 30000, 30000, "error", 21008),
    ("CustGive501", 501, 501, "error", 501),
    ("KfcGive1050", 1050, 1050, "error", 1050),
    ("KfcGive501", 501, 1, "error", 1),
    ("Gone", None, 11002, "error", 11002),
    ("Missing", None, 11003, "error", 11003),
    ("KfcMissing", None, 11006, "error", 11006),
]
# fmt: on


@pytest.mark.parametrize(("kernel", "returned", "status", "log", "result"), ENDS)
def test_ends(
    place: Place, kernel: str, returned: int | None, status: int, log: str, result: int
) -> None:
    """AE-804, ERR-6: exit 5, 507018, and the code of the engine in the message."""
    document = place.document(kernel, *BARE, code=5)
    ae = document["ae"]
    assert (ae["returned"], ae["status"]["code"], ae["class"]) == (returned, status, log)
    assert ae["response"]["result"] == result
    assert document["result"]["acl"]["code"] == 507018
    assert document["error"]["kind"] == "device-fault"
    assert f"AE {status} " in document["error"]["why"]
    assert len(ae["attempts"]) == (3 if kernel == "Gone" else 1)


def test_an_abort_is_no_error_of_the_host(place: Place) -> None:
    """AE-208, ERR-2."""
    document = place.document("KfcGive301", *BARE)
    assert document["ae"]["response"]["result"] == 8
    assert document["result"]["message"].startswith("AE 8 TASK_ABORT: ")


def test_a_crash(place: Place) -> None:
    """AE-1206: no code at all."""
    document = place.document("Crash", *BARE, code=5)
    ae = document["ae"]
    assert (ae["status"], ae["response"], ae["class"]) == (None, None, "error")
    assert (ae["child"]["signal"], ae["child"]["stage"]) == (11, "call")
    assert "crashed in stage call with SIGSEGV" in document["error"]["why"]
    assert ae["loaded"] == f"/{INNER}/libops.so"
    assert [attempt["level"] for attempt in ae["attempts"]] == [1]
    text = place.run("Crash", *BARE, "--root", str(place.root))
    assert "hint      wrong signature?" in text.text
    assert f"path 1    /{INNER}/libops.so: loaded" in text.text
    assert "stage call with SIGSEGV" in text.text.splitlines()[-1]


def test_blocks(place: Place) -> None:
    """OPR-902: in order, as far as the one that fails."""
    document = place.document("RunCpuKernelWithBlock", "--blocks", "4", *HEAD, "--arg", "out:u32[4]",
                              "--arg", "null", code=5)  # fmt: skip
    assert (document["ae"]["block"], document["ae"]["blocks"]) == (2, 4)
    assert "block 2 of 4 (counted from 0): AE 7 SILENT_FAULT" in document["error"]["why"]


def test_repeat(place: Place) -> None:
    """The process lives on, and so does what it has loaded."""
    line = (*HEAD, "--arg", "out:u32[1]", "--arg", "null", "--repeat", "50")
    document = place.document("Count", *line)
    assert document["outputs"][0]["values"] == [50]
    assert document["ae"]["attempts"] == []
    assert document["ae"]["loaded"] == f"/{INNER}/libops.so"


def test_hints(place: Place) -> None:
    """AE-1208."""
    for kernel, hint in (("Give1050", "belong to KFC"), ("Gone", "none of them has it")):
        assert any(hint in each for each in place.document(kernel, *BARE, code=5)["ae"]["hints"])


def test_without_a_root(place: Place, tmp_path: Path) -> None:
    """The paths are told, and nothing is called."""
    found = place.run("Triple", *TENSORS, f"out:f32[4]@{tmp_path}/out")
    assert found.code == 0
    assert (
        "path 3    /usr/lib64/aicpu_kernels/0/aicpu_kernels_device/0_0/libops.so: not looked up"
        in found.text
    )
    assert "result  not executed: where the library lies is not known" in found.text
    assert found.errors == [
        "cannkit: warning: without --root no code ran: outputs are as they were before"
    ]
    ae = place.run("Triple", *BARE, json_=True).document["ae"]
    assert (ae["status"], ae["returned"], ae["response"], ae["class"]) == (None, None, None, "ok")


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (
            ("--vf", "40", "--pid", "7", "--device", "40"),
            "/home/CustAiCpuUser5/cust_aicpu_40_40_7/",
        ),
        (("--device", "40"), "/home/CustAiCpuUser5/cust_aicpu_40_40_0/"),
        (("--run-mode", "socket", "--home", "/h"), "/h/cust_aicpu_0_0_0/"),
        (("--run-mode", "thread"), "/home/HwHiAiUser/cust_aicpu_0_0_0/"),
        (("-e", "ASCEND_CUST_AICPU_KERNEL_CACHE_PATH=/c"), "/c/cust_aicpu_0_0_0/"),
        (("--inherit-env",), "/home/CustAiCpuUser/cust_aicpu_0_0_0/"),
        (("--cust-sd",), "/home/CustAiCpuUser/cust_aicpu_0_0_0/"),
    ],
)
def test_the_process_is_told_of(place: Place, options: tuple[str, ...], path: str) -> None:
    ae = place.run("CustTriple", *BARE, *options, json_=True).document["ae"]
    assert ae["attempts"][0]["path"] == f"{path}libops.so"


@pytest.mark.parametrize(
    ("kernel", "options", "code"),
    [
        ("CustTriple", ("--no-cust-sd",), 21008),
        ("CustKfcTriple", ("--no-cust-sd",), 21206),
        ("CustKfcTriple", ("--run-mode", "thread"), 21206),
        ("Triple", ("--cust-sd",), 22002),
        ("CustTriple", ("--run-mode", "socket", "--no-home"), 11002),
    ],
)
def test_the_wrong_process(place: Place, kernel: str, options: tuple[str, ...], code: int) -> None:
    """AE-203, AE-303.2, SP-31."""
    document = place.document(kernel, *BARE, *options, code=5)
    assert document["ae"]["response"]["result"] == code
    assert str(code) in document["error"]["why"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--root", "/nonexistent"), "cannot use the root"),
        (("--root", "README.md"), "cannot use the root"),
        (("--home", "/h", "--no-home"), "--home and --no-home"),
        (("--env", "X=1"), "the engine does not read it"),
        (("--run-mode", "hdc"), "--run-mode 'hdc'"),
        (("--root", "/", "--timeout", "0"), "bad timeout"),
        (("--timeout", "1"), "--timeout goes with"),
        (("--memory", "64"), "--memory goes with"),
        (("--root", "/", "--memory", "63"), "--memory"),
    ],
)
def test_refused(place: Place, options: tuple[str, ...], why: str) -> None:
    found = place.run("Triple", *BARE, *options)
    assert found.code == (3 if "the root" in why else 2)
    assert why in found.errors[0]


def test_only_kernels_of_the_ai_cpu() -> None:
    for options in (
        ("--pid", "1"),
        ("--root", "/"),
        ("--cust-sd",),
        ("--no-home",),
        ("--no-cpu-head",),
    ):
        found = cannkit("launch", ADD, "--blocks", "1", "--args-hex", "00" * 40, *options)
        assert found.code == 2
        assert "is no kernel of the AI CPU" in found.errors[0]


def test_the_story_for_people(place: Place) -> None:
    """Between the queue entry and the completion, short."""
    root = ("--root", str(place.root))
    for shown in (
        place.run("CustTriple", *TENSORS, "out:f32[4]", *root).text,
        terminal("launch", place.program, "--cpu-mode", "0", "--kernel", "CustTriple", "--blocks", "1",
                 *TENSORS, "out:f32[4]", *root, width=100).text,
    ):  # fmt: skip
        at = shown.index("AI CPU engine, in cust-sd")
        assert shown.index("queue entry") < at < shown.index("completion: ok")
        lines = shown[at : shown.index("completion: ok")].splitlines()
        assert len(lines) < 12
    told = place.run("CustTriple", *TENSORS, "out:f32[4]", *root, "-v").errors
    (line,) = [each for each in told if "cust-sd" in each]
    assert line.endswith(f"Triple of libops.so returned 0; /{CUST}/libops.so: loaded")


def example(
    tmp_path: Path, *more: str, blocks: int = 2, count: int = 4, json_: bool = False
) -> Result:
    """The commands of the README for fixtures/ops/add_one.c."""
    library, root = tmp_path / "libadd_one.so", tmp_path / "device"
    if not root.exists():
        line = ["gcc", "-shared", "-fPIC", "-o", str(library), "fixtures/ops/add_one.c"]
        subprocess.run(line, check=True, cwd=ROOT)
        root.mkdir()
        stored = cannkit("so-path", "--install", str(library), "--root", str(root))
        assert stored.code == 0, stored.err
    return cannkit(
        "launch", "fixtures/ops/add_one.json", "--cpu-mode", "0", "--blocks", str(blocks),
        "--root", str(root), "--arg", "in:i32[4]=1,2,3,4", "--arg", f"out:i32[4]@{tmp_path}/out.bin",
        "--arg", f"u32:{count}", *more, *(["--json"] if json_ else []),
    )  # fmt: skip


def test_the_example(tmp_path: Path) -> None:
    """From a C file to the outputs: what it printed, all blocks, where the link leads, the head."""
    found = example(tmp_path, "--sqe", "none")
    assert (found.code, found.err) == (0, b"")
    assert (tmp_path / "out.bin").read_bytes() == struct.pack("<4i", 2, 3, 4, 5)
    lines = found.text.splitlines()
    assert "type      KERNEL_TYPE_AICPU_CUSTOM (4)" in lines
    assert "blocks    2 blocks, all returned 0" in lines
    assert "printed   block 0 of 2: 2 numbers" in lines
    assert "printed   block 1 of 2: 2 numbers" in lines
    assert "status    AE_STATUS_SUCCESS (0)" in lines
    (path,) = [line for line in lines if line.startswith("path 1")]
    assert path == (
        f"path 1    /{CUST}/libadd_one.so → /home/CustAiCpuUser/lib/libadd_one.so.0.0.0: "
        "loaded; guard: below the lib/ of custom libraries"
    )
    (head,) = [line for line in lines if " parameters " in line]
    assert head.split()[3:] == ["parameters", "head", "2800000002" + "0" * 30]
    document = example(tmp_path, "--repeat", "2", blocks=20, json_=True).document
    child = document["ae"]["child"]
    assert child["output"].splitlines()[19] == "block 19 of 20: 0 numbers"
    assert (child["stage"], child["exit"], child["signal"]) == ("done", None, None)
    assert 0 <= child["seconds"] < 60
    slots = [(slot["offset"], slot["origin"], slot["kind"]) for slot in document["args"]["slots"]]
    assert slots == [(0, "head", "parameters"), (20, "user", "in"), (28, "user", "out"), (36, "user", "scalar")]  # fmt: skip
    text = example(tmp_path, "--sqe", "none", blocks=20).text
    assert "and 4 more lines" in text


def test_memory_beside_a_tensor(tmp_path: Path) -> None:
    """AE-1205: not only behind the allocation, which is larger than the tensor."""
    found = example(tmp_path, "--sqe", "none", count=6)
    assert found.code == 5
    assert not (tmp_path / "out.bin").exists()
    warning, error = found.errors
    assert warning.startswith("cannkit: warning: ")
    assert "behind the segment at" in warning
    assert "(counted from 0): RunCpuKernelWithBlock of libadd_one.so returned 0, but " in error
    assert "block     0 of 2 (counted from 0) returned 0" in found.text
    assert "result  AI CPU kernel execution failed" in found.text.splitlines()
    assert example(tmp_path, "-q", count=6).errors == [error]
    ae = example(tmp_path, count=6, json_=True).document["ae"]
    assert (ae["class"], ae["returned"]) == ("error", 0)
    assert ae["notes"][0]["rule"] == "AE-1205"


def test_limits_of_a_call(tmp_path: Path) -> None:
    """A function that has no end, and one that prints without end."""
    source, root = tmp_path / "loop.c", tmp_path / "device" / CUST
    source.write_text("int Loop(void *p) { for (;;) *(volatile char *)&p; }")
    root.mkdir(parents=True)
    line = ["gcc", "-shared", "-fPIC", "-o", str(root / "libloop.so"), str(source)]
    subprocess.run(line, check=True)
    op = {"kernelSo": "libloop.so", "functionName": "Loop", "opKernelLib": "CUSTAICPUKernel"}
    program = tmp_path / "loop.json"
    program.write_text(json.dumps({"Loop": {"opInfo": {**op, "userDefined": "True"}}}))
    line = ["launch", str(program), "--cpu-mode", "0", "--blocks", "1", *BARE]
    line += ["--root", str(tmp_path / "device"), "--timeout", "0.5", "--memory", "256", "--json"]
    found = cannkit(*line)
    assert found.code == 5
    ae = found.document["ae"]
    assert "0.5 s" in found.document["error"]["why"]
    assert (ae["loaded"], ae["status"]) == (f"/{CUST}/libloop.so", None)


def test_a_head_of_the_users_own(place: Place) -> None:
    """LCH-42: none is put in front of one, nor where none is wanted."""

    def origins(kernel: str, *line: str) -> list[str]:
        document = place.run(kernel, *line, json_=True).document
        return [slot["origin"] for slot in document["args"]["slots"]]

    assert origins("Triple", *TENSORS, "out:f32[4]") == ["user"] * 6
    assert origins("Triple", "--arg", "in:f32[4]=ones", "--no-cpu-head") == ["user"]
    assert origins("Triple", "--arg", "u32:1", "--arg", "in:f32[1]=1") == ["user"] * 2
    assert origins("Triple", *BARE) == ["user"]
    line = ("--arg", "inout:f32[4]=ones", "--arg", "u64:5", "--arg", "null", "--arg", "ws:64")
    slots = place.run("Triple", *line, json_=True).document["args"]["slots"]
    assert [slot["kind"] for slot in slots] == ["parameters", "inout", "null", "ws", "scalar"]
    head = bytes.fromhex(slots[0]["value"])
    assert struct.unpack("<IIIQ", head) == (20 + 4 * 8, 3, 0, 0)


def test_a_head_that_is_none(place: Place) -> None:
    """SIM-14 says how the bytes were read; no bytes at all are refused with a hint."""
    found = place.run("Triple", "--args-hex", "14000000" + "ff" * 4 + "00" * 12, "--sqe", "none")
    assert found.code == 5
    assert (
        "begin with AicpuParamHead: yours read as length 0x14, ioAddrNum 4294967295"
        in found.errors[0]
    )
    assert "result  AI CPU kernel execution failed" in found.text.splitlines()
    found = place.run("Triple")
    assert found.code == 4
    assert found.errors[1].startswith(
        "hint: arguments of an AI CPU kernel begin with a head (length u32, "
    )


def test_an_upload_is_not_below_the_root(place: Place, tmp_path: Path) -> None:
    """The runtime uploads the library beside the JSON; nothing stores it here."""
    shutil.copy(built("device"), place.program.with_suffix(".so"))
    line = ["launch", str(place.program), "--blocks", "1", *BARE, "--root", str(tmp_path)]
    for kernel, mode, hints in (("CustTriple", "1", 1), ("Triple", "1", 0), ("CustTriple", "0", 0)):
        found = cannkit(*line, "--kernel", kernel, "--cpu-mode", mode)
        assert found.code == 5
        assert len(found.errors) == 1 + hints
        if hints:
            assert "so-path --install LIB --root DIR does it" in found.errors[1]


def test_a_json_without_a_mode(place: Place) -> None:
    """No hint that is for kernels of the AI Core."""
    looks = "hint: this looks like an operator JSON of AI CPU kernels: --cpu-mode 0 or 1"
    hint = f"{looks}, or --op NAME to call an operator"
    found = cannkit("launch", str(place.program), "--kernel", "Triple")
    assert (found.code, found.errors[1:]) == (2, [hint])
    found = cannkit("launch", str(place.program), "--kernel", "Triple", "--blocks", "1")
    assert (found.code, found.errors[1:]) == (3, [hint])
    found = cannkit("launch", str(place.program), "--cpu-mode", "0", "--kernel", "Triple")
    assert (found.code, len(found.errors)) == (2, 1)
    assert "--grid" in cannkit("launch", ADD).errors[1]
