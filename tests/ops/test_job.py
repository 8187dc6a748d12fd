"""Job files as the runner reads them, and what foreign code may leave in them. OPR-810."""

from __future__ import annotations

import mmap
import os
import resource
import struct
from collections.abc import Iterator

import pytest

from cannkit.errors import OutputError, UsageError
from cannkit.ops.job import (
    HEAD_OUT_AT,
    HEAD_SIZE,
    NOTED_AT,
    PAGE,
    Job,
    JobCall,
    Region,
    Relocation,
    RunStage,
    write_job,
)
from cannkit.ops.job_result import Fault, JobResult, is_noted
from cannkit.ops.spot import Address, Spot


@pytest.fixture
def fd() -> Iterator[int]:
    fd = os.memfd_create("job")
    yield fd
    os.close(fd)


@pytest.mark.parametrize(
    ("size", "align", "pages", "end"),
    [(0, 64, 0, 0), (1, 64, 1, PAGE - 64), (64, 64, 1, PAGE - 64), (65, 64, 1, PAGE - 128),
     (1, 1, 1, PAGE - 1), (PAGE, 64, 1, 0), (PAGE + 1, 64, 2, PAGE - 64)],
)  # fmt: skip
def test_data_touch_the_page_behind(fd: int, size: int, align: int, pages: int, end: int) -> None:
    layout = write_job(fd, Job("lib", "", (Region(None, size, align),)))
    place = layout.places[0]
    assert place.pages == pages
    assert place.data % PAGE == end
    assert place.first % PAGE == 0
    assert os.fstat(fd).st_size == layout.size == place.end


def test_data_are_written_and_come_back(fd: int) -> None:
    job = Job("lib", "f", (Region(memoryview(b"abc"), 8), Region(memoryview(b"x" * 5000), 5000)))
    result = JobResult(fd, write_job(fd, job))
    assert bytes(result.region(0)) == b"abc" + bytes(5)
    assert bytes(result.region(1)) == b"x" * 5000
    assert result.region(0).readonly
    assert (result.stage, result.calls, result.fault()) == (RunStage.NONE, (), None)
    assert list(result.overruns()) == []


def test_zeros_take_no_memory(fd: int) -> None:
    write_job(fd, Job("lib", "f", (Region(None, 1 << 30),)))
    assert os.fstat(fd).st_blocks * 512 < 1 << 16


def test_what_cannot_be_is_refused(fd: int) -> None:
    with pytest.raises(UsageError, match="the tensors are too large"):
        write_job(fd, Job("lib", "f", (Region(None, 1 << 41),)))


def test_nothing_that_is_read_back_is_trusted(fd: int) -> None:
    """All bytes that the runner maps, but for the tables' place, are what they like."""
    job = Job("lib", "f", (Region(None, 8),), (Relocation(0, 0, None, 7),), (JobCall(0),) * 3)
    layout = write_job(fd, job)
    size = PAGE * (layout.places[0].first // PAGE)
    for fill in (b"\xff", b"\x00", b"\x7f"):
        with mmap.mmap(fd, layout.size) as whole:
            whole[0:size] = fill * size
        result = JobResult(fd, layout)
        assert len(result.calls) == 3
        assert len(bytes(result.region(0))) == 8
        assert result.stage in RunStage
        assert len(result.opname) <= 128
        result.fault()
        assert result.spot is None or len(result.spot.place.path) <= PAGE
        list(result.overruns())


def test_a_crash_before_anything_had_a_place(fd: int) -> None:
    layout = write_job(fd, Job("lib", "", (Region(None, 8),)))
    os.pwrite(fd, (11).to_bytes(4, "little"), HEAD_OUT_AT + 16)
    assert JobResult(fd, layout).fault() == Fault(11, 0, None, "", 0, code=0)


def test_a_place_that_was_noted(fd: int) -> None:
    layout = write_job(fd, Job("lib"))
    assert (JobResult(fd, layout).spot, is_noted(fd)) == (None, False)
    os.pwrite(fd, struct.pack("<6QII", 0x1010, 0x1000, 0x2000, 0, 0, 0, 0, 2) + b"/x\0y", 96)
    spot = JobResult(fd, layout).spot
    assert (spot, is_noted(fd)) == (Spot(Address(0x1010, 0x1000, 0x2000, "/x")), True)


def test_no_memory(fd: int) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
        with pytest.raises(
            OutputError, match=r"cannot hold the tensors: \d+ bytes of shared memory"
        ):
            write_job(fd, Job("lib", "", (Region(None, 2 << 20),)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_stage_that_is_none(fd: int) -> None:
    layout = write_job(fd, Job("lib"))
    os.pwrite(fd, (7).to_bytes(4, "little"), HEAD_OUT_AT)
    assert JobResult(fd, layout).stage is RunStage.NONE


def test_the_head_is_that_of_the_runner() -> None:
    """runner.h asserts the same number."""
    assert (HEAD_SIZE, NOTED_AT) == (4888, 148)
