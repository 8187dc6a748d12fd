"""Soc: one row per chip. Spec 03, section 7.1; the features of spec 01, section 1 and 02, CHP-2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cannkit.errors import UsageError

DATA = Path(__file__).parent / "data"
DEFAULT_SOC = "Ascend910B1"
ALIASES = {"Ascend910": "Ascend910A"}  # SOC-2

PRODUCTS = {"Ascend910B": "A2", "Ascend910_93": "A3", "Ascend950": "A5"}  # by family

Fact = int | str | tuple[str, ...] | None


class CvArch(IntEnum):
    """cvArchType: whether cube and vector units share a core. CHP-3."""

    UNKNOWN = -1
    INVALID = 0
    INTEGRATED = 1
    SEPARATED = 2


class Soc(NamedTuple):
    """One SoC version. Everything from `library` on is a property of its chip type.

    `facts` holds every column of the SoC table, empty cells as None; it is empty for a chip type
    that no SoC of the table has.
    """

    name: str
    family: str
    chip: str
    facts: Mapping[str, Fact]
    library: str  # the runtime library: v100, v200, v201, or empty
    cv_arch: CvArch
    default_task_ratio: int
    prefetch_unit: int  # bytes of code that one instruction prefetch takes
    has_task_ratio: bool  # RT_FEATURE_KERNEL_TASK_RATION
    has_aicpu_machine: bool  # ..._KERNEL_ELF_AICPU_MACHINE
    has_stack_size_in_version: bool  # ..._KERNEL_ELF_INCLUDE_STACK_SIZE
    keeps_elf_stack: bool  # ..._KERNEL_ELF_16K_STACK
    has_min_stack_meta: bool  # ..._KERNEL_META_TYPE_SU_STACK_SIZE
    has_ffts_plus: bool  # ..._TASK_FFTS_PLUS
    data_is_read_only: bool  # ..._KERNEL_DATA_READ_ONLY
    has_simt: bool  # ..._DEVICE_SIMT
    has_memory_pool: bool  # ..._KERNEL_MEMORY_POOL, ..._MEM_POOL_ALIGN
    has_wide_tiling_table: bool  # ..._KERNEL_TILING_TAB_COPY_V2
    loads_without_tiling: bool  # ..._KERNEL_BINARY_LOAD_DOT_WITHOUT_TILING
    has_acl_graph: bool  # ..._MODEL_ACL_GRAPH
    has_prefetch_count: bool  # ..._KERNEL_ADDR_PREFETCH_CNT
    has_core_sync_address: bool  # ..._KERNEL_INTER_CORE_SYNC_ADDR
    has_extra_vector_core: bool  # ..._DEVICE_EXTRA_VECTOR_CORE
    has_program_allocator: bool  # ..._KERNEL_DOT_PROGRAM_ALLOCATOR
    is_xpu: bool  # ..._XPU
    dfx_dtype_in_bytes: bool  # DFX-05
    has_fill_callback: bool  # ..._KERNEL_REGISTER_CALLBACK
    has_visible_devices: bool  # the chip reads ASCEND_RT_VISIBLE_DEVICES

    @property
    def is_separated(self) -> bool:
        """Cube and vector cores apart."""
        return self.cv_arch is CvArch.SEPARATED


FLAGS = Soc._fields[8:]  # in the order of the columns of chips.csv


def _rows(file: str) -> Iterator[dict[str, str]]:
    import csv  # here, for a command that asks for no chip pays for no table

    with (DATA / file).open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


@cache
def _table() -> dict[str, dict[str, str]]:
    return {row["soc_version"]: row for row in _rows("soc-table.csv")}


@cache
def _chips() -> dict[str, dict[str, str]]:
    return {row["chip"]: row for row in _rows("chips.csv")}


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
    """The row of a SoC version, the first one of a family such as `ascend910b`, or a chip type.

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
    for chip in _chips():
        if lower in (chip.lower(), chip.removeprefix("CHIP_").lower()):
            return _of_chip(chip, name=chip, family="", facts={})
    from difflib import get_close_matches

    near = [family for family, product in PRODUCTS.items() if product.lower() == lower]
    if not near:
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
    name, family = row["soc_version"], row["short_soc_version"]
    return _of_chip(row["chip_type_name"], name, family, facts)


def _of_chip(chip: str, name: str, family: str, facts: Mapping[str, Fact]) -> Soc:
    """A chip without a row of its own has no feature (CHP-1)."""
    row = _chips().get(chip, {})
    cells = list(row.values())
    return Soc(
        name,
        family,
        chip,
        facts,
        row.get("library", ""),
        CvArch(int(row.get("cv_arch") or CvArch.UNKNOWN)),
        int(row.get("default_task_ratio") or 0),
        int(row.get("prefetch_unit") or 0),
        *(cell == "1" for cell in cells[5:] or "0" * len(FLAGS)),
    )


def _fact(column: str, cell: str) -> Fact:
    if column.endswith("_list"):
        return tuple(filter(None, cell.split(",")))
    return int(cell) if cell.isdecimal() else cell or None
