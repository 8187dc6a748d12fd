"""The job file: all that the runner is to do, and all that comes back, in shared memory. Spec 07, OPR-810.

The parent writes it and the runner maps it, so what was done before a crash is not lost. Foreign code
can write into it: nothing that is read back is an offset or a size.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from enum import IntEnum
from itertools import accumulate
from typing import Final, NamedTuple

from cannkit.errors import OutputError, UsageError
from cannkit.format.elf_types import ByteView
from cannkit.inputs.files import reason

PAGE: Final = mmap.PAGESIZE
CHUNK: Final = 1 << 20
MAGIC: Final = b"cannkjob"
VERSION: Final = 1
NOTHING: Final = 0xFFFF_FFFF  # no region
CANARY: Final = b"\xa5"  # beside the data of a region, up to the end of its pages

HEAD_IN: Final = struct.Struct(
    "<8s11I"
)  # what the runner reads, and what it writes: `head` in runner.h
HEAD_OUT: Final = struct.Struct("<IIQiiQ6QII4096s128s512s")
HEAD_OUT_AT: Final = 64
NOTED_AT: Final = 148  # in the head
KNOWN: Final = 2
HEAD_SIZE: Final = HEAD_OUT_AT + HEAD_OUT.size
REGION: Final = struct.Struct("<QQQQQII")
RELOCATION: Final = struct.Struct("<IIQQ")
CALL: Final = struct.Struct("<IIQIIIIQ")
ADDRESS_AT: Final = 32  # in REGION
BIND_NOW: Final = 1
MOST_REGIONS: Final = 16_000  # each takes three of the 65,530 mappings that a process may have
MOST_BYTES: Final = 1 << 40


class RunStage(IntEnum):
    """How far the runner came. OPR-810."""

    NONE = 0
    STARTED = 1
    MAPPED = 2
    LOADED = 3
    FOUND = 4
    CALLED = 5
    LEAVING = 6


class CallKind(IntEnum):
    """AE-704: how the function is called."""

    PARAM = 0
    BLOCK = 1


class Region(NamedTuple):
    """Memory of its own between two pages without access: `data`, then zeros up to `size`.

    Its end, rounded up to `align`, touches the page behind. With an address `at` it lies there, and
    shares its pages with no other region.
    """

    data: ByteView | None
    size: int
    align: int = 64
    at: int | None = None
    is_writable: bool = True


class Relocation(NamedTuple):
    """A slot of 8 bytes at `offset` in a region that gets the address of another one, plus `addend`."""

    region: int
    offset: int
    target: int | None
    addend: int = 0


class JobCall(NamedTuple):
    """A call with the address of a region plus `offset`, or with `offset` alone."""

    param_region: int | None
    kind: CallKind = CallKind.PARAM
    block_num: int = 1
    block_id: int = 0
    offset: int = 0


class Job(NamedTuple):
    """What the runner does: load a library, find a function, and call it, each call on its own regions.

    Without calls nothing is looked up. Log lines below `log_level` are not wanted: 0 is DEBUG, 2 WARN.
    With `bind_now` a missing function is told when the library is loaded, not when it is called.
    """

    library: str
    function: str = ""
    regions: tuple[Region, ...] = ()
    relocations: tuple[Relocation, ...] = ()
    calls: tuple[JobCall, ...] = ()
    log_level: int = 2
    bind_now: bool = True


class Place(NamedTuple):
    """Where a region lies in the job file."""

    first: int
    pages: int
    data: int
    size: int

    @property
    def end(self) -> int:
        """Behind its last page."""
        return self.first + self.pages * PAGE


class Layout(NamedTuple):
    """Where everything lies in a job file."""

    places: tuple[Place, ...]
    regions: int
    relocations: int
    calls: int
    n_calls: int
    size: int


def write_job(fd: int, job: Job) -> Layout:
    """Write a job into an empty file, once; tensors are copied there and nowhere else.

    Raises UsageError for more than it can hold, OutputError where there is no memory for it.
    """
    paths = b"\0".join((os.fsencode(job.library), os.fsencode(job.function), b""))
    layout = _layout(job, HEAD_SIZE + len(paths))
    head = HEAD_IN.pack(
        MAGIC,
        VERSION,
        PAGE,
        len(job.regions),
        len(job.relocations),
        len(job.calls),
        job.log_level,
        BIND_NOW if job.bind_now else 0,
        HEAD_SIZE,
        layout.regions,
        layout.relocations,
        layout.calls,
    )
    start = head.ljust(HEAD_SIZE, b"\0") + paths
    tables = b"".join((*_regions(job, layout), *_relocations(job), *_calls(job)))
    try:
        os.ftruncate(fd, layout.size)
        _write(fd, start.ljust(layout.regions, b"\0") + tables, 0)
        for region, place in zip(job.regions, layout.places, strict=True):
            _write_region(fd, region, place)
    except OSError as error:
        why = f"{layout.size} bytes of shared memory: {reason(error)}"
        raise OutputError("cannot hold the tensors", why=why) from error
    return layout


def _layout(job: Job, head: int) -> Layout:
    if len(job.regions) > MOST_REGIONS:
        why = f"{len(job.regions)} buffers, more than {MOST_REGIONS}"
        raise UsageError("too many calls for one process", why=why, hint="make fewer at once")
    counts = (
        len(job.regions) * REGION.size,
        len(job.relocations) * RELOCATION.size,
        len(job.calls) * CALL.size,
    )
    regions, relocations, calls, end = accumulate((-(-head // 8) * 8, *counts))
    places = []
    at = _up(end, PAGE)
    for region in job.regions:
        lead = 0 if region.at is None else region.at % PAGE
        pages = _up(_up(region.size, region.align) + lead, PAGE) // PAGE
        data = at + (pages * PAGE - _up(region.size, region.align) if region.at is None else lead)
        places.append(Place(at, pages, data, region.size))
        at += pages * PAGE
    if at > MOST_BYTES:
        raise UsageError("the tensors are too large", why=f"{at} bytes, more than {MOST_BYTES}")
    return Layout(tuple(places), regions, relocations, calls, len(job.calls), at)


def _up(size: int, step: int) -> int:
    return -(-size // step) * step


def _regions(job: Job, layout: Layout) -> Iterator[bytes]:
    for region, place in zip(job.regions, layout.places, strict=True):
        first, pages, data, size = place
        yield REGION.pack(first, pages, data, size, region.at or 0, region.is_writable, 0)


def _relocations(job: Job) -> Iterator[bytes]:
    for region, offset, target, addend in job.relocations:
        assert 0 <= offset <= job.regions[region].size - 8
        yield RELOCATION.pack(region, NOTHING if target is None else target, offset, addend)


def _calls(job: Job) -> Iterator[bytes]:
    for param, kind, block_num, block_id, offset in job.calls:
        number = NOTHING if param is None else param
        yield CALL.pack(kind, number, offset, block_num, block_id, 0, 0, 0)


def _write(fd: int, data: bytes | memoryview, at: int) -> None:
    view = memoryview(data).cast("B")
    while view:
        done = os.pwrite(fd, view, at)
        view, at = view[done:], at + done


def _write_region(fd: int, region: Region, place: Place) -> None:
    """Data by pieces: a window of a file is never in memory as a whole."""
    data = region.data or memoryview(b"")
    assert len(data) <= region.size
    for at in range(0, len(data), CHUNK):
        _write(fd, data[at : at + CHUNK], place.data + at)
    _write(fd, CANARY * (place.data - place.first), place.first)
    behind = place.data + place.size
    _write(fd, CANARY * (place.end - behind), behind)
