"""Allocation: bytes of simulated memory that cost what was written to them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

CHUNK: Final = 1 << 16
FLAT_LIMIT: Final = 1 << 32  # bytes that are ever laid out in one piece

Bytes = bytes | bytearray | memoryview


class Allocation:
    """`size` bytes from `address` on, kept in chunks of 64 KiB that were written to. Changes.

    `rounded` is what it takes of the device, `region` the region it lies in; the device must not
    write to it at all where it is `host_only`. Once somebody looks at its bytes in place, they are
    kept in one piece.
    """

    __slots__ = (
        "_chunks",
        "_flat",
        "_protected",
        "address",
        "host_only",
        "region",
        "rounded",
        "size",
    )

    def __init__(
        self, address: int, size: int, rounded: int, region: str, *, host_only: bool = False
    ) -> None:
        self.address = address
        self.size = size
        self.rounded = rounded
        self.region = region
        self.host_only = host_only
        self._chunks: dict[int, bytes | bytearray] = {}
        self._flat: memoryview | None = None
        self._protected: dict[int, int] = {}  # address -> end of ranges the device must not write

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.size

    @property
    def stored(self) -> int:
        """Bytes of ours that hold its contents."""
        if self._flat is not None:
            return self.size
        return sum(len(chunk) for chunk in self._chunks.values() if isinstance(chunk, bytearray))

    def read(self, address: int, size: int) -> bytes:
        """The bytes of a range that lies inside."""
        if self._flat is not None:
            at = address - self.address
            return bytes(self._flat[at : at + size])
        pieces = []
        for index, start, stop in self._pieces(address, size):
            chunk = self._chunks.get(index)
            pieces.append(bytes(stop - start) if chunk is None else bytes(chunk[start:stop]))
        return b"".join(pieces)

    def write(self, address: int, data: Bytes) -> None:
        """Write bytes to a range that lies inside."""
        at = 0
        view = memoryview(data).cast("B")
        if self._flat is not None:
            at = address - self.address
            self._flat[at : at + len(view)] = view
            return
        for index, start, stop in self._pieces(address, len(view)):
            piece = view[at : at + stop - start]
            is_zero = bytes(piece) == bytes(len(piece))
            if index in self._chunks or not is_zero:  # what was never written to reads as zeros
                self._writable(index)[start:stop] = piece
            at += stop - start

    def fill(self, address: int, value: int, size: int) -> None:
        """Set a range that lies inside to one value; whole chunks share their bytes."""
        for index, start, stop in self._pieces(address, size):
            if self._flat is not None:
                at = index * CHUNK
                self._flat[at + start : at + stop] = bytes([value]) * (stop - start)
            elif stop - start < self._chunk_size(index):
                self._writable(index)[start:stop] = bytes([value]) * (stop - start)
            elif value:
                self._chunks[index] = _uniform(value, stop)
            else:
                self._chunks.pop(index, None)

    def view(self, address: int, size: int) -> memoryview:
        """The live bytes of a range that lies inside.

        Raises MemoryError where the allocation is above 4 GiB, or there is no memory for it.
        """
        if self._flat is None:
            flat = _flat(self.size)
            for index, chunk in self._chunks.items():
                flat[index * CHUNK : index * CHUNK + len(chunk)] = chunk
            self._chunks.clear()
            self._flat = flat
        return self._flat[address - self.address : address - self.address + size]

    def protect(self, address: int, size: int, *, read_only: bool) -> None:
        """Mark a range read-only for the device, or every marked range it meets writable."""
        end = address + size
        for start, stop in list(self._protected.items()):
            if start < end and address < stop:
                del self._protected[start]
        if read_only:
            self._protected[address] = end

    def is_protected(self, address: int, size: int) -> bool:
        """Whether the device must not write to some byte of a range."""
        end = address + size
        return self.host_only or any(
            start < end and address < stop for start, stop in self._protected.items()
        )

    def _pieces(self, address: int, size: int) -> Iterator[tuple[int, int, int]]:
        """Chunk number, first and last offset in the chunk, in order."""
        at, end = address - self.address, address - self.address + size
        while at < end:
            index, start = divmod(at, CHUNK)
            stop = min(CHUNK, start + end - at)
            yield index, start, stop
            at += stop - start

    def _chunk_size(self, index: int) -> int:
        return min(CHUNK, self.size - index * CHUNK)

    def _writable(self, index: int) -> bytearray:
        chunk = self._chunks.get(index)
        if not isinstance(chunk, bytearray):
            chunk = bytearray(self._chunk_size(index) if chunk is None else chunk)
            self._chunks[index] = chunk
        return chunk


def _flat(size: int) -> memoryview:
    """Zeros in one piece; pages of a large one cost nothing until they are written to."""
    if size <= CHUNK:
        return memoryview(bytearray(size))
    if size > FLAT_LIMIT:
        raise MemoryError
    from mmap import ACCESS_COPY, mmap  # here, for a command that runs no task needs none

    try:
        return memoryview(mmap(-1, size, access=ACCESS_COPY))
    except OSError as error:
        raise MemoryError from error


@cache
def _uniform(value: int, size: int) -> bytes:
    return bytes([value]) * size
