"""cannkit ae-call --emulate: a library of AArch64 is called under qemu. Spec 05, AE-704; spec 07, OPR-801."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.errors import ExitCode
from cannkit.ops.toolchain import Tool
from tests.cli.runner import Result, cannkit
from tests.ops.library import ENV, need_emulation, toolchain

CACHE: Final = {"XDG_CACHE_HOME": ENV["XDG_CACHE_HOME"]}
SOURCE: Final = r"""
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
static uint32_t calls;
uint32_t RunCpuKernel(uint32_t *p) { printf("word %u\n", p[0]); p[1] = p[0] + 1; return calls++; }
uint32_t RunCpuKernelWithBlock(uint32_t *p, uint32_t *b) { p[0] = b[0]; p[1] = b[1]; return 0; }
uint32_t Crash(void *p) { *(volatile int *)8 = 1; return 0; }
uint32_t Hang(void *p) { for (;;) pause(); }
uint32_t Behind(unsigned char *p) { return p[4096]; }
uint32_t Give7(void *p) { return 7; }
"""


@pytest.fixture(scope="module")
def lib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_emulation()
    folder = tmp_path_factory.mktemp("aarch64")
    (folder / "ops.c").write_text(SOURCE)
    compiler = toolchain().cross_compiler()
    assert isinstance(compiler, Tool)
    path = folder / "libops.so"
    words = ["-shared", "-fPIC", "-w", "-o", str(path), str(folder / "ops.c")]
    subprocess.run([*compiler.command, *words], check=True)
    return path


def call(lib: Path, func: str, *more: str | Path, **env: str) -> Result:
    line = ("ae-call", "--so-file", lib, "--func", func, "--param", "0500000000000000", *more)
    return cannkit(*line, env={**CACHE, **env})


def document(lib: Path, func: str, *more: str, code: int = 0) -> dict[str, Any]:
    found = call(lib, func, *more, "--json")
    assert found.code == code, found.err
    return found.document


def test_a_call(lib: Path) -> None:
    """What it was given, changed and returned."""
    found = document(lib, "RunCpuKernel")
    assert (found["returned"], found["class"]) == (0, "ok")
    assert found["param_after_hex"] == "0500000006000000"
    assert found["child"]["output"] == "word 5\n"
    assert "a process of its own" in found["so"]["attempts"][0]["reason"]


def test_a_block(lib: Path) -> None:
    more = ("--block-id", "2", "--block-num", "3")
    assert document(lib, "RunCpuKernelWithBlock", *more)["param_after_hex"] == "0300000002000000"


def test_a_code(lib: Path) -> None:
    assert document(lib, "Give7", code=ExitCode.FAULT)["returned"] == 7


@pytest.mark.parametrize(
    ("func", "more", "words"),
    [
        ("Crash", (), "crashed in stage call with SIGSEGV"),
        ("Behind", (), "crashed in stage call with SIGSEGV"),
        ("Hang", ("--timeout", "2"), "timed out in stage call after 2 s"),
    ],
)
def test_it_dies(lib: Path, func: str, more: tuple[str, ...], words: str) -> None:
    found = document(lib, func, *more, code=ExitCode.FAULT)
    assert found["error"]["what"] == words
    assert found["returned"] is None


def test_no_such_function(lib: Path) -> None:
    found = document(lib, "RunCpuKerne1", code=ExitCode.FAULT)
    assert found["call"]["address_found"] is False
    assert any("RunCpuKernel" in each["text"] for each in found["notes"]), found["notes"]


def test_a_script_keeps_no_state(lib: Path, tmp_path: Path) -> None:
    """Each call is a process of its own; closing and loading again works."""
    root = tmp_path / "root"
    place = root / "usr/lib64/aicpu_kernels/0/aicpu_kernels_device"
    place.mkdir(parents=True)
    (place / "libops.so").write_bytes(lib.read_bytes())
    script = tmp_path / "script.jsonl"
    one = '{"op": "call", "so": "libops.so", "func": "RunCpuKernel", "param": "0500000000000000"}\n'
    script.write_text(one * 2 + '{"op": "close", "so": "libops.so", "type": 2}\n' + one)
    found = cannkit("ae-call", "--script", script, "--root", root, env=CACHE)
    assert found.code == 0, found.text
    assert found.text.count("returned 0") == 3


def test_it_is_not_emulated(lib: Path, tmp_path: Path) -> None:
    """A machine of its own, and what is missing: a clear result, as without an emulator."""
    never = call(lib, "RunCpuKernel", "--emulate", "never")
    assert never.code == ExitCode.FAULT
    assert "it is for AArch64, this machine is x86-64" in never.text
    gone = call(lib, "RunCpuKernel", CANNKIT_QEMU="/nonexistent/qemu")
    assert gone.code == ExitCode.FAULT
    assert "the emulator qemu-aarch64 is missing" in gone.text
    assert "apt-get install qemu-user" in gone.text
    wrong = call(lib, "RunCpuKernel", "--sysroot", tmp_path)
    assert wrong.code == ExitCode.FAULT
    assert f"{tmp_path} has no lib/ld-linux-aarch64.so.1" in wrong.text
