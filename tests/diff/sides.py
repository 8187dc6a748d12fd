"""Objects and packages that `diff` compares, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.diff.change import Change
from cannkit.diff.compare import Place, compare
from cannkit.diff.packages import Difference, compare_sides
from cannkit.diff.side import Side, read_side
from cannkit.diff.summary import Summary, summarise
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Input
from cannkit.inputs.files import MemoryFiles
from cannkit.soc import Soc, find_soc
from tests.facts import A2_SOC

SOC: Final[Soc] = find_soc(A2_SOC)
Files = Mapping[str, bytes]


def summary(data: bytes, sidecar: bytes | None = None, stem: str = "k") -> Summary:
    """What is kept of an object, and of the sidecar beside it."""
    files = MemoryFiles({} if sidecar is None else {f"{stem}.json": memoryview(sidecar)})
    item = Input(f"{stem}.o", memoryview(data), None, files, f"{stem}.o")
    return summarise(read_input(item, SOC), stem)


def changes(a: Summary, b: Summary) -> list[Change]:
    """What differs between two objects."""
    return list(compare(a, b, Place("k.o", None)))


def words(found: list[Change]) -> list[tuple[str, str]]:
    """Effect and kind of changes."""
    return [(change.effect.value, change.kind) for change in found]


def side(files: Files) -> Side:
    """A folder `top` of objects and sidecars, by path."""
    view = MemoryFiles({f"top/{path}": memoryview(data) for path, data in files.items()})
    items = [
        Input(f"top/{path}", memoryview(data), None, view, f"top/{path}")
        for path, data in sorted(files.items())
        if path.endswith(".o")
    ]
    return read_side("top", items, SOC)


def compared(a: Files, b: Files, *, single: bool = False) -> Difference:
    """The difference of two folders."""
    return compare_sides(side(a), side(b), single=single)
