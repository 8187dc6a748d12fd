"""Soc: one row per chip. Spec 03, section 7.1; the features of spec 01, section 1 and 02, CHP-2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cannkit.errors import UsageError

DATA = Path(__file__).parent / "data"
DEFAULT_SOC = "Ascend910B1"
ALIASES = {"Ascend910": "Ascend910A"}  # SOC-2

PRODUCTS = {"Ascend910B": "A2", "Ascend910_93": "A3", "Ascend950": "A5"}  # by family

Fact = int | str | tuple[str, ...] | None


class Soc(NamedTuple):
    """One SoC version. `facts` holds every column of the table, empty cells as None."""

    name: str
    family: str
    chip: str
    has_task_ratio: bool  # RT_FEATURE_KERNEL_TASK_RATION
    has_min_stack_meta: bool  # RT_FEATURE_KERNEL_META_TYPE_SU_STACK_SIZE
    has_stack_size_in_version: bool  # RT_FEATURE_KERNEL_ELF_INCLUDE_STACK_SIZE
    has_aicpu_machine: bool  # RT_FEATURE_KERNEL_ELF_AICPU_MACHINE
    keeps_elf_stack: bool  # RT_FEATURE_KERNEL_ELF_16K_STACK
    data_is_read_only: bool  # RT_FEATURE_KERNEL_DATA_READ_ONLY
    dfx_dtype_in_bytes: bool  # DFX-05
    facts: Mapping[str, Fact]


def _rows(file: str) -> Iterator[dict[str, str]]:
    import csv  # here, for a command that asks for no chip pays for no table

    with (DATA / file).open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


@cache
def _table() -> dict[str, dict[str, str]]:
    return {row["soc_version"]: row for row in _rows("soc-table.csv")}


@cache
def _features() -> dict[str, dict[str, str]]:
    return {row["chip"]: row for row in _rows("chip-features.csv")}


def soc_names() -> tuple[str, ...]:
    """Every SoC version, in table order."""
    return tuple(_table())


def family_names() -> tuple[str, ...]:
    """Every family in lower case, as a directory of an operator package is called."""
    return tuple(_families())


def all_socs() -> tuple[Soc, ...]:
    """Every row of the table, in table order."""
    return tuple(map(_of_row, _table().values()))


@cache
def find_soc(name: str) -> Soc:
    """The row of a SoC version, or the first one of a family such as `ascend910b`.

    CHP-4: an exact SoC version comes first, so `Ascend910B` is the old 910 part and `ascend910b`
    the family of Ascend910B1. Raises UsageError with the nearest names for an unknown one.
    """
    table = _table()
    name = ALIASES.get(name, name)
    if name in table:
        return _of_row(table[name])
    lower = name.lower()
    for column in ("short_soc_version", "soc_version"):
        for row in table.values():
            if row[column].lower() == lower:
                return _of_row(row)
    from difflib import get_close_matches

    known = {known.lower(): known for row in table.values() for known in _names_of(row)}
    near = [known[match] for match in get_close_matches(lower, known, n=3)]
    raise UsageError(
        f"unknown SoC {name!r}",
        hint=f"did you mean {', '.join(near)}?" if near else "`cannkit soc` lists all names",
    )


def family_in_path(path: str) -> str | None:
    """The family whose lower-cased short name is a directory of `path` (CHP-4), or None."""
    families = _families()
    return next((families[part] for part in path.split("/")[:-1] if part in families), None)


def family_of_section(name: str) -> str | None:
    """The family of the chip that a fatbin section names, in lower case and without `-` (CON-02)."""
    version = name.removeprefix(".ascend.kernel.").partition(".")[0]
    for row in _table().values():
        if row["soc_version"].lower().replace("-", "_") == version:
            return row["short_soc_version"]
    return _families().get(version)


@cache
def _families() -> dict[str, str]:
    return {row["short_soc_version"].lower(): row["short_soc_version"] for row in _table().values()}


def _names_of(row: Mapping[str, str]) -> tuple[str, str]:
    return row["short_soc_version"].lower(), row["soc_version"]


def _of_row(row: Mapping[str, str]) -> Soc:
    facts = {column: _fact(column, cell) for column, cell in row.items()}
    chip = row["chip_type_name"]
    features = _features().get(chip, {})

    def has(feature: str) -> bool:
        return features.get(feature) == "1"

    return Soc(
        name=row["soc_version"],
        family=row["short_soc_version"],
        chip=chip,
        has_task_ratio=has("task_ratio"),
        has_min_stack_meta=facts["rt_min_stack_meta"] == 1,
        has_stack_size_in_version=has("stack_size_in_version"),
        has_aicpu_machine=has("aicpu_machine"),
        keeps_elf_stack=facts["rt_elf_16k_stack"] == 1,
        data_is_read_only=facts["rt_kernel_data_read_only"] == 1,
        dfx_dtype_in_bytes=has("dfx_dtype_in_bytes"),
        facts=facts,
    )


def _fact(column: str, cell: str) -> Fact:
    if column.endswith("_list"):
        return tuple(filter(None, cell.split(",")))
    return int(cell) if cell.isdecimal() else cell or None
