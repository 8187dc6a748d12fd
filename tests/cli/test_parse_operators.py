"""cannkit parse on the JSON of AI CPU operators, and on the library beside it. cli.md, section 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cannkit.errors import ExitCode
from tests.cli.runner import ADD, ROOT, cannkit, each
from tests.ops.packages import operators
from tests.packages import AARCH64, CPU_CONFIG, CPU_LIBS, X86_64, cpu_vendor, folder, library

SO = f"{CPU_LIBS}libcust_cpu_kernels.so"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(folder(tmp_path, cpu_vendor(operators())))


@pytest.mark.parametrize("file", [CPU_CONFIG, SO])
def test_json_and_library(package: Path, file: str) -> None:
    found = cannkit("parse", package / file)
    assert found.code == ExitCode.OK
    assert found.text.splitlines() == [
        f"{package}/{file}",
        f"library     {package}/{SO}",
        f"JSON        {package}/{CPU_CONFIG}",
        "prototypes  none",
        "operators   3",
        "kernelSo    libcust_cpu_kernels.so",
        "function    RunCpuKernel",
        "kernel lib  CUSTAICPUKernel",
        "",
        "Operators",
        "Operator  Inputs  Outputs  Output shape",
        "AddN      x...    y",
        "All       x, n    z...     up to a bound",
        "Alone     x, x",
    ]
    assert found.errors == ["cannkit: warning: op All: input0: unknown DT_FLOAT32 [op-type]"]


@pytest.mark.parametrize("machine", [AARCH64, X86_64])
def test_libraries_of_any_machine(package: Path, machine: int) -> None:
    (package / SO).write_bytes(library("RunCpuKernel", machine=machine))
    found = cannkit("parse", package / SO, "--json").document
    assert (found["schema"], len(found["operators"])) == ("cannkit.operators/1", 3)
    assert (found["file"], found["library"]) == (str(package / SO), str(package / SO))
    assert found["json"] == str(package / CPU_CONFIG)


def test_some_operators(package: Path) -> None:
    some, none, types, quiet = each(
        [
            ["parse", str(package / CPU_CONFIG), "--json", "--kernel", "A*n*", "--kernel", "AddN"],
            ["parse", str(package / SO), "--kernel", "Z*"],
            ["parse", str(package / SO), "--kernel", "AddN", "-v"],
            ["parse", str(package / SO), "-q"],
        ]
    )
    assert [op["name"] for op in some.document["operators"]] == ["AddN", "Alone"]
    assert (none.code, none.errors) == (ExitCode.NEGATIVE, ["cannkit: no operator matches Z*"])
    assert types.text.splitlines()[-3:] == [
        "     Name  Types",
        "in   x...  float32, int32",
        "out  y     float32, int32",
    ]
    assert (quiet.code, quiet.errors) == (ExitCode.OK, [])


def test_the_json_that_was_named(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"Other": {"opInfo": {}}}))
    found = cannkit("parse", str(package / SO), "--sidecar", str(other), "--json").document
    assert [op["name"] for op in found["operators"]] == ["Other"]


def test_the_library_as_an_object(package: Path) -> None:
    """Without the JSON it is what any other file is."""
    found = cannkit("parse", str(package / SO), "--no-sidecar", "--json").document
    assert found["schema"] == "cannkit.parse/1"
    (package / CPU_CONFIG).unlink()
    assert cannkit("parse", str(package / SO), "--json").document["schema"] == "cannkit.parse/1"


def test_folders_have_kernel_objects(package: Path) -> None:
    (package / "add.o").write_bytes((ROOT / ADD).read_bytes())
    found = cannkit("parse", str(package), "--json").document
    assert f"{package}/add.o" in [each["file"] for each in found["results"]]


HOSTILE: dict[str, Any] = {
    "no operators": {"a": {"b": {}}},
    "wrong types": {"A": {"opInfo": {"kernelSo": [1]}, "input0": 7, "output0": {"type": {}}}},
    "odd names": {"\x1b[31m\n": {"opInfo": {}, "input0": {"name": "\u202e\x07"}}},
    "many": {f"O{number}": {"opInfo": {}} for number in range(20_000)},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json(tmp_path: Path, name: str) -> None:
    path = tmp_path / "ops.json"
    path.write_text(json.dumps(HOSTILE[name], ensure_ascii=False))
    text, answer = each([["parse", str(path)], ["parse", str(path), "--json"]])
    assert text.code == answer.code in (ExitCode.OK, ExitCode.INPUT)
    assert answer.document["schema"] in ("cannkit.operators/1", "cannkit.parse/1")
    assert b"\x1b" not in text.out + text.err
    assert b"Traceback" not in text.err + answer.err


@pytest.mark.parametrize("raw", [b"{" * 999_999, b'{"a": ' * 99_999, b"{", b'{"a": 1e999}'])
def test_json_that_is_none(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "ops.json"
    path.write_bytes(raw)
    found = cannkit("parse", str(path), "--json")
    assert found.code == ExitCode.INPUT
    assert found.document["error"] is not None


def test_the_real_package(aicpu_package: Path) -> None:
    file = aicpu_package / CPU_CONFIG
    found = cannkit("parse", str(file), "--json").document
    assert len(found["operators"]) == 490
    assert found["library"] == str(aicpu_package / SO)
