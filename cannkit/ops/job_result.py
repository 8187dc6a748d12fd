"""What a job file holds after a run: how far it came, what calls returned, the bytes of regions. Spec 07, OPR-810."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import NamedTuple

from cannkit.ops.job import (
    ADDRESS_AT,
    CALL,
    CANARY,
    HEAD_OUT,
    HEAD_OUT_AT,
    KNOWN,
    NOTED_AT,
    PAGE,
    REGION,
    Layout,
    RunStage,
)
from cannkit.ops.spot import Address, Spot


class CallDone(NamedTuple):
    """What a call returned, None where it did not, and how long it took."""

    ret: int | None
    ns: int


class Fault(NamedTuple):
    """The signal of a crash, the address that was accessed, and the region it lies at.

    `where` is "before", "behind" or "inside"; `distance` counts from the first byte of the region. `code` is
    si_code; where it is 0 or less somebody sent the signal, and the address means nothing. `is_full` tells
    that a stack has no room.
    """

    signal: int
    address: int
    region: int | None = None
    where: str = ""
    distance: int = 0
    code: int = 1
    is_full: bool = False


class Overrun(NamedTuple):
    """Bytes beside a region that were written: `size` of them, `where` is "before" or "behind"."""

    region: int
    where: str
    size: int


def is_noted(fd: int) -> bool:
    """Whether the runner has told where it is; asked while it runs."""
    return any(os.pread(fd, 4, NOTED_AT))


class JobResult:
    """What a job file holds after the run; it keeps the memory as long as somebody looks at it."""

    def __init__(self, fd: int, layout: Layout) -> None:
        self._layout = layout
        self._map = memoryview(mmap.mmap(fd, layout.size, mmap.MAP_SHARED, mmap.PROT_READ))
        out = HEAD_OUT.unpack_from(self._map, HEAD_OUT_AT)
        stage, self.call_index, self.load_ns, self._signal, self._code, self._at, *seen = out
        *places, full, noted, path, opname, error = seen
        pc, start, offset, caller, caller_start, caller_offset = places
        self.stage = RunStage(stage) if stage in list(RunStage) else RunStage.NONE
        self.opname = _text(opname)
        self.error = _text(error) or None
        self._is_full = bool(full)
        call = Address(caller, caller_start, caller_offset) if caller else None
        place = Address(pc, start, offset, os.fsdecode(path.partition(b"\0")[0]))
        is_known = noted == KNOWN
        self.spot = Spot(place, call, is_known=is_known) if noted or self._signal else None

    @property
    def calls(self) -> tuple[CallDone, ...]:
        """Each call of the job, done or not."""
        start, stop = self._layout.calls, self._layout.calls + self._layout.n_calls * CALL.size
        rows = CALL.iter_unpack(self._map[start:stop])
        return tuple(CallDone(ret if done else None, ns) for *_, ret, done, ns in rows)

    def region(self, number: int) -> memoryview:
        """The bytes of a region as they are now, without a copy; they cannot be changed."""
        place = self._layout.places[number]
        return self._map[place.data : place.data + place.size]

    def address(self, number: int) -> int:
        """Where a region lay in the process; 0 where it was not mapped."""
        at = self._layout.regions + number * REGION.size + ADDRESS_AT
        return int.from_bytes(self._map[at : at + 8], "little")

    def fault(self) -> Fault | None:
        """The crash, where there was one that the runner saw."""
        if not self._signal:
            return None
        for number, place in enumerate(self._layout.places):
            address = self.address(number)
            if not address:
                continue
            low, size = address - (place.data - place.first), place.pages * PAGE
            if low - PAGE <= self._at < low + size + PAGE:
                where = "before" if self._at < address else "inside"
                where = "behind" if self._at >= address + place.size else where
                distance = self._at - address
                return Fault(self._signal, self._at, number, where, distance, self._code)
        return Fault(self._signal, self._at, code=self._code, is_full=self._is_full)

    def overruns(self) -> Iterator[Overrun]:
        """Regions beside which something was written, within their own pages."""
        for number, place in enumerate(self._layout.places):
            sides = (place.first, place.data), (place.data + place.size, place.end)
            for where, (low, high) in zip(("before", "behind"), sides, strict=True):
                count = high - low - bytes(self._map[low:high]).count(CANARY)
                if count:
                    yield Overrun(number, where, count)


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace")
