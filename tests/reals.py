"""The real objects, read once for all corpus tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cannkit.format.elf_types import Symbol
from cannkit.format.sidecar import Sidecar, read_sidecar
from cannkit.image.kernel_object import KernelImage, KernelObject
from tests.facts import A2_SOC, A5_SOC, read

SOCS = {"A2": A2_SOC, "A3": "Ascend910_9391", "A5": A5_SOC}


class Real(NamedTuple):
    """An object of the wheel, its sidecar, and the product whose folder it is in."""

    path: Path
    product: str
    data: bytes
    obj: KernelObject
    sidecar: Sidecar


@cache
def reals(root: Path) -> tuple[Real, ...]:
    def one(path: Path) -> Real:
        product = path.relative_to(root / "fbgemm_ascend" / "opp").parts[0]
        data = path.read_bytes()
        sidecar = read_sidecar(path.with_suffix(".json").read_bytes())
        return Real(path, product, data, read(data, SOCS[product]), sidecar)

    return tuple(map(one, sorted(root.rglob("*.o"))))


def kernels(objects: tuple[Real, ...]) -> Iterator[tuple[Real, KernelImage]]:
    for real in objects:
        for kernel in real.obj.kernels:
            yield real, kernel


def symbols(obj: KernelObject) -> list[Symbol]:
    (table,) = obj.elf.symbol_tables
    return [Symbol._make(raw) for raw in obj.elf.symbols(table, table.size // table.entsize)]


def variables(obj: KernelObject) -> dict[str, tuple[int, int]]:
    return {v.name: (v.offset, v.size) for v in obj.variables if v.is_global}
