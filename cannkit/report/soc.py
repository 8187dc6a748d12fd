"""The document of `cannkit soc`: a row of the chip table."""

from __future__ import annotations

from typing import ClassVar, Self

from cannkit.report.base import Document, document
from cannkit.soc import PRODUCTS, Soc


@document
class SocDocument(Document):
    """One SoC version: features that change what the runtime does, and every column of the table.

    Columns: spec 03, section 7.1. An empty cell is null.
    """

    SCHEMA: ClassVar[str] = "cannkit.soc/1"
    name: str
    family: str
    product: str | None
    chip: str
    has_task_ratio: bool
    has_min_stack_meta: bool
    has_stack_size_in_version: bool
    has_aicpu_machine: bool
    keeps_elf_stack: bool
    data_is_read_only: bool
    dfx_dtype_in_bytes: bool
    columns: dict[str, int | str | tuple[str, ...] | None]

    @classmethod
    def of(cls, soc: Soc) -> Self:
        """The document of a chip."""
        return cls(
            name=soc.name,
            family=soc.family,
            product=PRODUCTS.get(soc.family),
            chip=soc.chip,
            has_task_ratio=soc.has_task_ratio,
            has_min_stack_meta=soc.has_min_stack_meta,
            has_stack_size_in_version=soc.has_stack_size_in_version,
            has_aicpu_machine=soc.has_aicpu_machine,
            keeps_elf_stack=soc.keeps_elf_stack,
            data_is_read_only=soc.data_is_read_only,
            dfx_dtype_in_bytes=soc.dfx_dtype_in_bytes,
            columns=dict(soc.facts),
        )
