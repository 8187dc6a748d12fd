"""Memory of an argument in the child: segments at their addresses, guard pages, traces of overruns. AE-1205.

Spec 05. The child imports this module: it loads next to nothing but ctypes, through host_libc.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Final, NamedTuple

from cannkit.ae import host_libc as libc
from cannkit.ae.host_wire import BEFORE, BEHIND, INSIDE

PAGE: Final = mmap.PAGESIZE
LOWEST: Final = 0x10000  # as vm.mmap_min_addr: null plus an offset must fault, for root too
PATTERN: Final = b"\xc5"  # of bytes in a page that are of no segment


class PlaceError(Exception):
    """A segment has no place; `number` is its index, None for all of them."""

    def __init__(self, number: int | None, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.why = why


class Part(NamedTuple):
    """A segment to map."""

    number: int
    address: int
    is_writable: bool
    data: bytes

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.address + len(self.data)


class Gap(NamedTuple):
    """Bytes of mapped pages between two segments, or beside one."""

    start: int
    end: int
    before: Part | None
    behind: Part | None


Pages = list[tuple[int, int]]


class Mapping:
    """Segments that are mapped until `unmap`. Changes."""

    def __init__(self, parts: list[Part]) -> None:
        """Map them; raises PlaceError, and nothing is mapped then."""
        self.parts = sorted((part for part in parts if part.data), key=lambda part: part.address)
        self._check()
        self._reserved: Pages = []
        covered = _merge([(_down(part.address), _up(part.end)) for part in self.parts])
        try:
            for start, end in _merge([(start - PAGE, end + PAGE) for start, end in covered]):
                self._reserve(start, end)
            self._fill(covered)
        except PlaceError:
            self.unmap()
            raise

    def _check(self) -> None:
        last = None
        for part in self.parts:
            if part.address < LOWEST:
                raise PlaceError(part.number, f"nothing is mapped below {LOWEST:#x}")
            if part.end + PAGE >= 1 << 63:
                raise PlaceError(part.number, "no process has such addresses")
            if last is not None and part.address < last.end:
                raise PlaceError(part.number, f"it overlaps the segment at {last.address:#x}")
            last = part

    def _reserve(self, start: int, end: int) -> None:
        """Address space without access; the kernel says what is taken."""
        why = libc.reserve(start, end - start)
        if why:
            owner = next(part for part in self.parts if part.end > start)
            raise PlaceError(owner.number, why)
        self._reserved.append((start, end))

    def _fill(self, covered: Pages) -> None:
        for start, end in covered:
            if not libc.protect(start, end - start, libc.READ | libc.WRITE):
                raise PlaceError(None, "the memory limit is reached")
        self._gaps = list(self._find_gaps(covered))
        for gap in self._gaps:
            libc.write(gap.start, PATTERN * (gap.end - gap.start))
        for part in self.parts:
            libc.write(part.address, part.data)
        for start, end in covered:
            libc.protect(start, end - start, libc.READ)
        for part in self.parts:
            if part.is_writable:
                start = _down(part.address)
                libc.protect(start, _up(part.end) - start, libc.READ | libc.WRITE)

    def _find_gaps(self, covered: Pages) -> Iterator[Gap]:
        for start, end in covered:
            before, at = None, start
            for part in self.parts:
                if start <= part.address < end:
                    if at < part.address:
                        yield Gap(at, part.address, before, part)
                    before, at = part, part.end
            if at < end:
                yield Gap(at, end, before, None)

    def changed(self) -> Iterator[tuple[int, bytes]]:
        """Writable segments that were written: number and bytes."""
        for part in self.parts:
            if part.is_writable:
                data = libc.read(part.address, len(part.data))
                if data != part.data:
                    yield part.number, data

    def overruns(self) -> Iterator[tuple[int, int, int, int]]:
        """Bytes that were written and may not be: segment, side, offset of the first, how many."""
        for gap in self._gaps:
            found = _differences(libc.read(gap.start, gap.end - gap.start), None)
            if found:
                first, count = gap.start + found[0], found[1]
                yield _blame(gap, first, count)
        for part in self.parts:
            if not part.is_writable:
                found = _differences(libc.read(part.address, len(part.data)), part.data)
                if found:
                    yield part.number, INSIDE, found[0], found[1]

    def unmap(self) -> None:
        """Give the memory back."""
        for start, end in self._reserved:
            libc.unmap(start, end - start)
        self._reserved.clear()


def _blame(gap: Gap, first: int, count: int) -> tuple[int, int, int, int]:
    """The segment that the first changed byte is nearest to; offsets before one count backwards."""
    behind, before = gap.behind, gap.before
    if behind is None or (before is not None and first - before.end <= behind.address - first):
        assert before is not None
        return before.number, BEHIND, first - before.address, count
    return behind.number, BEFORE, behind.address - first, count


def _differences(now: bytes, once: bytes | None) -> tuple[int, int] | None:
    """Offset of the first byte that differs, and how many do; `once` None is the pattern."""
    once = PATTERN * len(now) if once is None else once
    if now == once:
        return None
    places = [at for at, (a, b) in enumerate(zip(now, once, strict=True)) if a != b]
    return places[0], len(places)


def _down(address: int) -> int:
    return address & -PAGE


def _up(address: int) -> int:
    return (address + PAGE - 1) & -PAGE


def _merge(spans: Pages) -> Pages:
    """Spans in order, those that touch each other as one."""
    merged: Pages = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
