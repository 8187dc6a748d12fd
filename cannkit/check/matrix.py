"""The matrix of operators and SoCs: what packages have no kernels for. cli.md, section 9."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from cannkit.image.package import Package

MOST_MISSING: Final = 100_000  # a package may name thousands of operators, and of SoCs


class Coverage(NamedTuple):
    """What a package has: operators and SoCs, and the (operator, SoC) that are declared, and built."""

    ops: frozenset[str]
    socs: frozenset[str]
    declared: frozenset[tuple[str, str]]
    built: frozenset[tuple[str, str]]


class Missing(NamedTuple):
    """An operator without kernels for a SoC; `declared`: although `aic-<soc>-ops-info.json` has it."""

    op: str
    soc: str
    declared: bool


class Matrix(NamedTuple):
    """All operators and SoCs of some packages, sorted, and the pairs without kernels."""

    ops: tuple[str, ...]
    socs: tuple[str, ...]
    missing: tuple[Missing, ...]


def coverage_of(package: Package) -> Coverage:
    """An operator counts that is declared, or has kernels by a configuration."""
    declared = frozenset((each.op, each.soc) for each in package.declared)
    ops = frozenset(each.op for each in package.binaries if each.op) | {op for op, _ in declared}
    return Coverage(ops, frozenset(package.socs), declared, package.built)


def matrix_of(coverages: Iterable[Coverage]) -> Matrix:
    """What packages have together; of the missing pairs at most MOST_MISSING."""
    every = tuple(coverages)
    ops, socs, declared, built = (
        sorted(frozenset[str]().union(*(each.ops for each in every))),
        sorted(frozenset[str]().union(*(each.socs for each in every))),
        frozenset[tuple[str, str]]().union(*(each.declared for each in every)),
        frozenset[tuple[str, str]]().union(*(each.built for each in every)),
    )
    missing = (
        Missing(op, soc, (op, soc) in declared)
        for op in ops
        for soc in socs
        if (op, soc) not in built
    )
    return Matrix(tuple(ops), tuple(socs), tuple(islice(missing, MOST_MISSING)))
