"""Digests of the code of kernels and of what is loaded beside it, in bounded time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from cannkit.diff.change import DIGEST
from cannkit.format.elf_types import SHF_ALLOC, ByteView, SectionType
from cannkit.image.kernel_object import KernelImage, KernelObject
from cannkit.inputs.files import CHUNK

HASHED_AGAIN: Final = 8  # kernels that overlap: how often the bytes of an object are hashed at most
FLOOR: Final = 1 << 20
SPAN: Final = 256  # bytes that a span counts for at least: it takes as long
META_PREFIX: Final = ".ascend.meta"


class Names:
    """Names of which none is twice there."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def unique(self, name: str) -> str:
        """The name, with a number behind it unless it is the first of its kind."""
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name}#{self._seen[name]}"


class Digests:
    """Digests of code and of what is loaded beside it, in bounded time."""

    def __init__(self, obj: KernelObject) -> None:
        self._obj = obj
        self._data: ByteView = obj.elf.data
        self._left = max(HASHED_AGAIN * obj.size, FLOOR)
        self._known: dict[tuple[int, int], str | None] = {}

    def code(self, kernel: KernelImage) -> str | None:
        """The digest of a kernel's code; None when kernels overlap too much."""
        span = (self._obj.text_offset + kernel.offset, kernel.length)
        if span not in self._known:
            self._known[span] = self._digest([span])
        return self._known[span]

    def sections(self) -> Iterator[tuple[str, str | None]]:
        """What is loaded of each section, without the code of kernels and metadata."""
        taken = _merged(
            sorted((start, start + size) for start, size in self._known if size > 0 and start >= 0)
        )
        texts, names = self._obj.elf.section_names, Names()
        for section in self._obj.elf.sections:
            if not section.flags & SHF_ALLOC or section.type == SectionType.NOBITS:
                continue
            if not section.size or section.name_offset > len(texts):
                continue
            name = texts.bytes_at(section.name_offset, 256).decode("utf-8", "surrogateescape")
            if not name.startswith(META_PREFIX):  # TLVs are facts of their own
                end = min(section.offset + section.size, len(self._data))
                spans = _between(section.offset, end, taken)
                yield names.unique(name), self._digest(spans, strip=True)

    def _digest(self, spans: Iterable[tuple[int, int]], *, strip: bool = False) -> str | None:
        digest, length = sha256(), 0
        for start, size in spans:
            start, size = max(start, 0), max(min(size, len(self._data) - start), 0)
            self._left -= max(size, SPAN)
            if self._left < 0:
                return None
            for at in range(start, start + size, CHUNK):
                part = bytes(self._data[at : min(at + CHUNK, start + size)])
                part = part.strip(b"\0") if strip else part  # what aligns kernels moves with them
                digest.update(part)
                length += len(part)
        return digest.hexdigest()[:DIGEST] if length or not strip else None


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans, sorted by their start, without overlaps."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _between(start: int, end: int, taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans (start, size) of start..end that are not `taken`, which is sorted."""
    for at in range(max(bisect_right(taken, (start,)) - 1, 0), len(taken)):
        first, last = taken[at]
        if first >= end:
            break
        if first > start:
            yield start, first - start
        start = max(start, last)
    if start < end:
        yield start, end - start
