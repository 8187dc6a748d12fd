"""The document of `cannkit ae-call --list-logic`: kernels that the scheduler runs itself. Spec 05, AE-402."""

from __future__ import annotations

from typing import ClassVar, Self

from cannkit.ae.logic_kernels import LOGIC_KERNELS, LogicKernel
from cannkit.report.base import Document, document


@document
class LogicKernelEntry:
    """A logic kernel: its argument in bytes, and whether a null one is seen before it is read."""

    number: int
    name: str
    source: str
    argument: str
    size: int
    checks_null: bool
    does: str
    sender: str | None

    @classmethod
    def of(cls, kernel: LogicKernel) -> Self:
        """The entry of a row."""
        argument = kernel.argument
        return cls(
            kernel.number,
            kernel.name,
            kernel.source,
            argument.C_NAME or argument.__name__,
            argument.SIZE,
            kernel.checks_null,
            kernel.does,
            kernel.sender,
        )


@document
class LogicListDocument(Document):
    """All of them."""

    SCHEMA: ClassVar[str] = "cannkit.ae-call-logic/1"
    kernels: tuple[LogicKernelEntry, ...]

    @classmethod
    def of(cls) -> Self:
        """The document."""
        return cls(tuple(map(LogicKernelEntry.of, LOGIC_KERNELS)))
