"""The document of `cannkit soc`: a row of the chip table."""

from __future__ import annotations

from typing import ClassVar, Self

from cannkit.report.base import Document, document
from cannkit.soc import FLAGS, PRODUCTS, Soc


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
    library: str
    cv_arch: int
    default_task_ratio: int
    prefetch_unit: int
    features: dict[str, bool]
    columns: dict[str, int | str | tuple[str, ...] | None]

    @classmethod
    def of(cls, soc: Soc) -> Self:
        """The document of a chip."""
        return cls(
            name=soc.name,
            family=soc.family,
            product=PRODUCTS.get(soc.family),
            chip=soc.chip,
            library=soc.library,
            cv_arch=soc.cv_arch.value,
            default_task_ratio=soc.default_task_ratio,
            prefetch_unit=soc.prefetch_unit,
            features={name: getattr(soc, name) for name in FLAGS},
            columns=dict(soc.facts),
        )
