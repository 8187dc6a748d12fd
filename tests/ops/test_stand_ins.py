"""The bounds-checked functions of the runner, against what the public library does. OPR-710."""

from __future__ import annotations

import struct
from functools import cache
from typing import Final, NamedTuple

import pytest

from cannkit.ops.job import Job, JobCall, Region
from cannkit.ops.runner import Runner
from tests.ops.library import library, toolchain

CALL: Final = struct.Struct("<IiQQqq32s64s")
TO, FROM = 0, 32  # places in the 64 bytes
FULL: Final = b"~" * 32
MAX: Final = 0x7FFF_FFFF
SNPRINTF, VSNPRINTF, TRUNCATED_LIST, TRUNCATED, MEMCPY, MEMSET = range(6)
EINVAL, ERANGE = 22, 34
RESET: Final = 128


class Row(NamedTuple):
    """A call, what it returns, and how the buffer begins then; it was full of `~`."""

    function: int
    max: int
    size: int
    result: int
    begins: bytes
    format: bytes = b"%s"
    source: bytes = b"abcdef"
    to: int = TO
    origin: int = FROM


def texts(function: int) -> list[Row]:
    """Rows that hold for both printing functions with a count."""
    return [
        Row(function, 16, 15, 6, b"abcdef\0~"),
        Row(function, 16, 6, 6, b"abcdef\0~"),
        Row(function, 16, 5, -1, b"abcde\0~"),  # what fits is kept
        Row(function, 7, 7, 6, b"abcdef\0~"),
        Row(function, 6, 6, -1, b"\0"),
        Row(function, 6, 100, -1, b"\0"),
        Row(function, 0, 4, -1, b"~"),
        Row(function, MAX + 1, 4, -1, b"~"),
        Row(function, 16, MAX, -1, b"\0~"),
        Row(function, 16, (1 << 64) - 1, -1, b"\0~"),
        Row(function, 16, MAX - 1, 6, b"abcdef\0~"),
        Row(function, 16, 15, -1, b"\0~", format=b""),  # null
        Row(function, 16, 15, -1, b"~", to=-1),
        Row(function, 16, 15, -1, b"\0~", format=b"%n"),
        Row(function, 16, 15, -1, b"\0~", format=b"%s%hhn"),
        Row(function, 16, 15, 2, b"%n\0~", format=b"%%n"),
        Row(function, 16, 15, 6, b"(null)\0~", origin=-1),
        Row(function, 16, 15, 8, b"abcdef42\0~", format=b"%s%d"),
    ]


def cut(function: int) -> list[Row]:
    return [
        Row(function, 16, 0, 6, b"abcdef\0~"),
        Row(function, 6, 0, 5, b"abcde\0~"),
        Row(function, 1, 0, 0, b"\0~"),
        Row(function, 0, 0, -1, b"~"),
        Row(function, MAX + 1, 0, -1, b"~"),
        Row(function, 16, 0, -1, b"\0~", format=b""),
        Row(function, 16, 0, -1, b"\0~", format=b"%ln"),
        Row(function, 16, 0, -1, b"~", to=-1),
    ]


ROWS: Final = [
    *texts(SNPRINTF),
    *texts(VSNPRINTF),
    *cut(TRUNCATED_LIST),
    *cut(TRUNCATED),
    Row(MEMCPY, 8, 4, 0, b"abcd~"),
    Row(MEMCPY, 8, 0, 0, b"~"),
    Row(MEMCPY, 8, 8, 0, b"~", origin=TO),
    Row(MEMCPY, 0, 4, ERANGE, b"~"),
    Row(MEMCPY, MAX + 1, 4, ERANGE, b"~"),
    Row(MEMCPY, 8, 4, EINVAL, b"~", to=-1),
    Row(MEMCPY, 8, 4, EINVAL + RESET, bytes(8) + b"~", origin=-1),
    Row(MEMCPY, 8, 9, ERANGE + RESET, bytes(8) + b"~"),
    Row(MEMCPY, 8, 4, 54 + RESET, bytes(8) + b"~", origin=TO + 3),
    Row(MEMCPY, 8, 4, 0, b"~", origin=TO + 4),
    Row(MEMSET, 8, 4, 0, b"####~"),
    Row(MEMSET, 8, 0, 0, b"~"),
    Row(MEMSET, 0, 4, ERANGE, b"~"),
    Row(MEMSET, MAX + 1, 4, ERANGE, b"~"),
    Row(MEMSET, 8, 4, EINVAL, b"~", to=-1),
    Row(MEMSET, 8, 9, ERANGE + RESET, b"########~"),
]


@cache
def answers(emulated: bool) -> list[tuple[int, bytes]]:
    """All rows in one process: what each returned, and its buffer."""
    blocks = [
        CALL.pack(
            row.function, 7, row.max, row.size, row.to, row.origin, row.format, FULL + row.source
        )
        for row in ROWS
    ]
    regions = tuple(Region(memoryview(raw), CALL.size) for raw in blocks)
    calls = tuple(JobCall(at) for at in range(len(ROWS)))
    job = Job(library(emulated, "bounds.c"), "RunCpuKernel", regions, (), calls)
    outcome = Runner(toolchain()).run(job, emulate=emulated, timeout=30)
    assert outcome.is_whole
    assert outcome.overruns == ()
    back = [CALL.unpack(outcome.memory.region(at)) for at in range(len(ROWS))]
    return [(fields[1], fields[7]) for fields in back]


@pytest.mark.parametrize("emulated", [False, True], ids=["native", "emulated"])
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_bounds(number: int, emulated: bool) -> None:
    row = ROWS[number]
    result, after = answers(emulated)[number]
    assert (result, after[: len(row.begins)]) == (row.result, row.begins), row
    if not row.begins.endswith(b"~"):
        return
    rest = after[len(row.begins) : FROM]
    assert rest == FULL[: len(rest)] or row.function < MEMCPY, row
