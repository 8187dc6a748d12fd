"""Places in code: binutils tell them, too; broken files give less, never anything else than FormatError."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from cannkit.errors import FormatError
from cannkit.format.code_place import code_place, is_defined, load_segments
from tests.ops.calling import EMULATED
from tests.ops.library import library

FLAGS: Final = ("-g", "-pthread")


def raw_of(emulated: bool, *flags: str) -> memoryview:
    return memoryview(Path(library(emulated, "where.c", *FLAGS, *flags)).read_bytes())


def functions(path: str) -> dict[str, int]:
    """Functions of the source and their addresses, as nm has them."""
    if shutil.which("nm") is None:
        pytest.skip("nm is missing")
    text = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {
        row[2]: int(row[0], 16)
        for row in rows
        if len(row) == 3 and row[1] in "tT" and row[2].isalpha()
    }


def offset_of(data: memoryview, address: int) -> int:
    return next(
        address - each.address + each.offset
        for each in load_segments(data)
        if each.address <= address < each.address + each.size
    )


@EMULATED
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_function_and_line(emulated: bool, version: int) -> None:
    flag = f"-gdwarf-{version}"
    data, path = raw_of(emulated, flag), library(emulated, "where.c", *FLAGS, flag)
    found = functions(path)
    assert {"touch", "RunCpuKernel"} <= found.keys()
    for name in ("touch", "fill", "jump", "divide", "RunCpuKernel"):
        place = code_place(data, offset_of(data, found[name] + 4))
        assert place is not None
        assert (place.address, place.function, place.distance) == (found[name] + 4, name, 4)
        assert place.line is not None
        assert place.line.file.endswith("/where.c")
    tool = shutil.which("aarch64-linux-gnu-addr2line" if emulated else "addr2line")
    if tool is None:
        pytest.skip("addr2line is missing")
    asked = [tool, "-e", path, *(hex(found[name] + 4) for name in ("touch", "fill", "divide"))]
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split("\n")
    for name, line in zip(("touch", "fill", "divide"), told, strict=False):
        place = code_place(data, offset_of(data, found[name] + 4))
        assert place is not None
        assert place.line is not None
        assert str(place.line.line) == line.partition(" ")[0].rpartition(":")[2]


def test_the_place_before() -> None:
    """Where a call returns to may be another function's: the call was before."""
    data = raw_of(False)
    start = functions(library(False, "where.c", *FLAGS))["touch"]
    here = code_place(data, offset_of(data, start))
    before = code_place(data, offset_of(data, start), back=1)
    assert here is not None
    assert before is not None
    assert (here.function, here.distance) == ("touch", 0)
    assert before.address == here.address
    assert before.function != "touch"


def test_exports_of_a_stripped_library() -> None:
    data, whole = raw_of(False, "-s"), raw_of(False)
    start = functions(library(False, "where.c", *FLAGS))["RunCpuKernel"]
    assert code_place(whole, offset_of(whole, start)) is not None
    names = {
        place.function
        for offset in range(load_segments(data)[1].offset, load_segments(data)[1].end)
        if (place := code_place(data, offset))
    }
    assert names == {None, "RunCpuKernel"} | (names & {"_init", "_fini"})


def test_no_place() -> None:
    data = raw_of(False)
    assert code_place(data, len(data)) is None
    assert code_place(data, 1 << 70) is None


def test_what_is_defined() -> None:
    data = raw_of(False)
    assert is_defined(data, "Hidden")
    assert is_defined(data, "touch")
    assert not is_defined(data, "touc")
    assert not is_defined(data, "pause")
    assert not is_defined(data, "")
    assert not is_defined(memoryview(b"no library"), "touch")


def test_what_is_cut() -> None:
    data = raw_of(False)
    for size in (0, 10, 63):
        with pytest.raises(FormatError):
            load_segments(data[:size])
    with pytest.raises(FormatError, match=r"program headers end at byte \d+, the file has 64"):
        load_segments(data[:64])
    offset = load_segments(data)[1].offset
    place = code_place(data[: offset + 64], offset)
    assert place is not None
    assert place[1:] == (None, 0, None)


@pytest.mark.parametrize("seed", range(40))
def test_hostile_bytes(seed: int) -> None:
    """Headers and tables that hold anything."""
    chance = random.Random(seed)
    raw = bytearray(raw_of(False))
    for _ in range(chance.choice((1, 8, 64))):
        at = chance.choice(
            (chance.randrange(64), chance.randrange(len(raw)), len(raw) - chance.randrange(1, 2400))
        )
        raw[at] = chance.choice((0, 0xFF, 0x7F, chance.randrange(256)))
    data = memoryview(bytes(raw))
    for offset in (0, 0x1200, 0x13F4, (1 << 64) - 1):
        try:
            place = code_place(data, offset, back=1)
        except FormatError:
            continue
        assert place is None or place.address >= 0
    assert is_defined(data, "touch") in (True, False)
