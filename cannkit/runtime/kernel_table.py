"""TilingKeyTable: a program's kernels by entry, and what is made of it. Spec 02, section 7."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Self

from cannkit.format.status import RtError, RtStatus
from cannkit.format.tlv import Entry, wide
from cannkit.image.kernel_meta import EntryKind
from cannkit.runtime.kernel import Kernel, Part

PC_MASK: Final = 0x07FF_FFFF_FFFF_FFFF  # TBL-4
U64: Final = (1 << 64) - 1


class TilingKeyTable:
    """Kernels by tiling key or function entry, ascending. Filled once, by `build`; then read only.

    `shadowed` are the kernels that came too late for their key, `left_out` those without an entry;
    both are found by name alone (QK-17, REG-17).
    """

    __slots__ = ("_by_key", "kernels", "keys", "left_out", "shadowed")

    def __init__(self) -> None:
        self.keys: tuple[int, ...] = ()
        self.kernels: tuple[Kernel, ...] = ()
        self.shadowed: tuple[Kernel, ...] = ()
        self.left_out: tuple[Kernel, ...] = ()
        self._by_key: dict[int, Kernel] = {}

    @classmethod
    def build(cls, kernels: Iterable[Kernel], *, with_disabled: bool = False) -> Self:
        """The table of `kernels`, which come in ascending byte order of name (REG-16).

        TBL-1: the first kernel of a key keeps it. `with_disabled` takes in the kernels whose entry is
        disabled, as the old flow does (REG-17, POL-4). Takes n log n.
        """
        table = cls()
        by_key = table._by_key
        shadowed, left_out = [], []
        for kernel in kernels:
            if kernel.entry_kind is EntryKind.UNSUPPORTED and not with_disabled:
                left_out.append(kernel)
            elif by_key.setdefault(kernel.tiling_key, kernel) is not kernel:
                shadowed.append(kernel)
        table.keys = tuple(sorted(by_key))
        table.kernels = tuple(map(by_key.__getitem__, table.keys))
        table.shadowed, table.left_out = tuple(shadowed), tuple(left_out)
        return table

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[tuple[int, Kernel]]:
        return zip(self.keys, self.kernels, strict=True)

    def find(self, key: int) -> Kernel | None:
        """TBL-2: the kernel of exactly this key."""
        return self._by_key.get(key)


class PcHit(NamedTuple):
    """A kernel, which slot of it, and how many bytes into the slot's code."""

    kernel: Kernel
    slot: int
    offset: int


class PcAnswer(NamedTuple):
    """TBL-4, QK-19: what is there, and what the runtime's own search says."""

    exact: PcHit | None
    original: Kernel | None


def search_pc(pc: int, base: int, kernels: Iterable[Kernel], table: TilingKeyTable) -> PcAnswer:
    """The kernel that holds the address `pc`, of those whose image begins at `base`. TBL-4.

    The exact answer looks at all `kernels` and ends before the byte after a kernel. The runtime looks
    at the table alone, takes that byte for the kernel's, and misses an AIV half at offset 0 (QK-6).
    """
    if pc == 0:
        return PcAnswer(None, None)
    at = (pc & PC_MASK) - base
    exact = next(_hits(at, kernels), None)
    original = next((k for k in table.kernels if _reaches(at, k)), None)
    return PcAnswer(exact, original)


def _hits(at: int, kernels: Iterable[Kernel]) -> Iterator[PcHit]:
    for kernel in kernels:
        for slot, part in enumerate((kernel.part1, kernel.part2), 1):
            if part.present and 0 <= at - part.offset < part.length:
                yield PcHit(kernel, slot, at - part.offset)


def _reaches(at: int, kernel: Kernel) -> bool:
    first, second = kernel.part1, kernel.part2
    return _inclusive(at, first) or bool(second.offset and second.length and _inclusive(at, second))


def _inclusive(at: int, part: Part) -> bool:
    return (at - part.offset) & U64 <= part.length


# fmt: off
# TBL-5: a row of the table that the device searches, 32 bytes and 40 bytes.
NARROW_ROW: Final = Entry("QQQIB3x",   tiling_key=wide, pc1=wide, pc2=wide, task_ratio=int, mix=int)
WIDE_ROW: Final   = Entry("QQQIB3xII", tiling_key=wide, pc1=wide, pc2=wide, task_ratio=int, mix=int,
                                       ub_size=int, vf_type=int)
# fmt: on


def row_layout(*, is_wide: bool) -> Entry:
    """Which row a chip takes (`Soc.has_wide_tiling_table`)."""
    return WIDE_ROW if is_wide else NARROW_ROW


def tiling_rows(table: TilingKeyTable, base: int) -> tuple[Mapping[str, int], ...]:
    """TBL-5: the rows in key order, for an image at the aligned address `base`.

    QK-12: the address of a slot that is not there is 0. Raises RtError (507000) for an empty table.
    """
    if not table:
        why = "no kernel of the program has an entry"
        raise RtError(RtStatus.PROGRAM_SIZE, "no tiling table", why=why)
    return tuple(
        {
            "tiling_key": key,
            "pc1": base + kernel.part1.offset,
            "pc2": base + kernel.part2.offset if kernel.is_paired else 0,
            "task_ratio": kernel.task_ratio_value,
            "mix": kernel.mix,
            "ub_size": kernel.ub_size,
            "vf_type": kernel.vf_type,
        }
        for key, kernel in table
    )


def encode_rows(rows: Iterable[Mapping[str, int]], *, is_wide: bool) -> bytes:
    """The bytes of rows."""
    layout = row_layout(is_wide=is_wide)
    return b"".join(
        layout.encode("little", **{name: row[name] for name in layout.fields}) for row in rows
    )


def decode_rows(raw: bytes, *, is_wide: bool) -> tuple[Mapping[str, int], ...]:
    """Whole rows out of bytes; a rest shorter than a row is dropped."""
    layout = row_layout(is_wide=is_wide)
    starts = range(0, len(raw) - layout.size + 1, layout.size)
    rows = (layout.decode(raw[at : at + layout.size], "little") for at in starts)
    return tuple(row for row in rows if row is not None)
