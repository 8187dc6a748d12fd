"""Queue entries decoded and encoded, beside the bit fields of ctypes; logs of many lines."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from cannkit.format.bits import Record
from cannkit.format.sqe import decode_sqe
from cannkit.format.sqe.dump import DumpReader
from cannkit.format.sqe.printed import lines_of
from tests.bench.conftest import Figure
from tests.bench.measure import cannkit, in_pairs
from tests.sqe import examples, recorded, sqe, word_lines

pytestmark = pytest.mark.bench

COUNT: Final = 1_000_000
SECONDS: Final = 6.0
ROUNDS: Final = 5
NOISE: Final = 1.3
LINES: Final = 200_000
LINES_A_SECOND: Final = 100_000
MIB_OVER: Final = 24  # of a large log over a small one


def peer_of(kind: type[Record]) -> type[ctypes.LittleEndianStructure]:
    """The record as a structure of bit fields; those of more than 32 bits in halves."""
    fields: list[tuple[str, type[ctypes.c_uint32], int]] = []
    at = 0
    pieces = [(p.lo, p.width, name) for name, span in kind.SPANS.items() for p in span.pieces]
    for lo, width, name in sorted(pieces):
        for start, end, prefix in ((at, lo, "free"), (lo, lo + width, name)):
            at = start
            while at < end:
                bits = min(end - at, 32 - at % 32)
                fields.append((f"{prefix}_{at}", ctypes.c_uint32, bits))
                at += bits
    peer = type("Peer", (ctypes.LittleEndianStructure,), {"_pack_": 1, "_fields_": fields})
    assert ctypes.sizeof(peer) <= kind.SIZE
    return peer


def seconds(call: Callable[[bytes], object], entries: Sequence[bytes], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count // len(entries)):
        for raw in entries:
            call(raw)
    return time.perf_counter() - begin


def test_decode(figure: Figure) -> None:
    """1,000,000 entries in at most 6 s."""
    entries = [(raw, family) for family, raw, _ in recorded()]
    begin = time.perf_counter()
    for _ in range(COUNT // len(entries)):
        for raw, family in entries:
            decode_sqe(raw, family)
    took = (time.perf_counter() - begin) / (COUNT // len(entries) * len(entries)) * COUNT
    figure(f"decode_sqe: {took:.2f} s for {COUNT:,} recorded entries (target {SECONDS})")
    assert took <= SECONDS


@pytest.mark.parametrize("name", ["W-1", "W-3", "W-4", "W-8"])
def test_each_record_beside_ctypes(name: str, figure: Figure) -> None:
    """All fields of it read as plain numbers: what a decoder by hand would do."""
    raw, family = sqe(name), examples()[name]["family"]
    kind = type(decode_sqe(raw, family))
    peer = peer_of(kind)
    names = [field[0] for field in peer._fields_ if not field[0].startswith("free")]

    def by_ctypes(data: bytes) -> dict[str, int]:
        entry = peer.from_buffer_copy(data)
        return {field: getattr(entry, field) for field in names}

    entry = kind.decode(raw)
    padded = raw + bytes(64)
    assert sum(by_ctypes(padded).values()) > 0
    count = COUNT // 10

    def ours() -> float:
        return seconds(kind.decode, [raw], count)

    def theirs() -> float:
        return seconds(by_ctypes, [padded], count)

    own, other = in_pairs(ours, theirs, ROUNDS)
    encode = seconds(lambda _: entry.encode(), [raw], count)
    figure(
        f"{kind.C_NAME}: decode {own / count * 1e6:.2f} us, encode {encode / count * 1e6:.2f} us; "
        f"ctypes bit fields, decode: {other / count * 1e6:.2f} us"
    )
    assert own <= NOISE * other


def log(entries: int) -> Iterator[bytes]:
    """Lines of a log, an entry now and then."""
    shown = "\n".join(word_lines("AIV Task", sqe("W-4"))).encode() + b"\n"
    line = shown.partition(b"AIV")[0] + b"kernel info : device_id=0, stream_id=3, count: 17\n"
    for _ in range(entries):
        yield line * (LINES // 1_000) + shown


def test_lines_of_a_log(figure: Figure) -> None:
    begin = time.perf_counter()
    dumps = sum(1 for _ in DumpReader().read(lines_of(log(1_000))))
    took = time.perf_counter() - begin
    assert dumps == 1_000
    figure(f"log without effort: {(LINES + 2_000) / took:,.0f} lines a second")
    assert (LINES + 2_000) / took >= LINES_A_SECOND


def test_memory_of_a_log_stays_flat(tmp_path: Path, figure: Figure) -> None:
    """Entries are written as they are found."""
    small, large = tmp_path / "small.log", tmp_path / "large.log"
    small.write_bytes(b"".join(log(1)))
    large.write_bytes(b"".join(log(10)) * 200)
    peaks = [cannkit("sqe", "decode", f"@{path}", "--json").peak_mib for path in (small, large)]
    figure(
        f"sqe decode of {large.stat().st_size >> 20} MiB with 2,000 entries: {peaks[1]:.0f} MiB, "
        f"of one entry: {peaks[0]:.0f} MiB"
    )
    assert peaks[1] - peaks[0] <= MIB_OVER
