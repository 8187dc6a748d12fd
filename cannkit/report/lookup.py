"""The document of `cannkit lookup`: what was asked, the hits, and why there are none. cli.md, 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from cannkit.errors import CannkitError
from cannkit.format.debug_line import source_of
from cannkit.inputs.contents import Input, Unreadable, place_of
from cannkit.report.base import U64, Address, Document, FileError, document, printable
from cannkit.report.registered import RegisteredKernel
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.search import Found, Miss, Query


@document
class QueryEntry:
    """What is looked for: one of the three, and the device base that an address refers to."""

    name: str | None
    entry: U64 | None
    pc: Address | None
    base: Address | None

    @classmethod
    def of(cls, query: Query) -> Self:
        """The entry of a query."""
        return cls(
            name=None if query.name is None else printable(query.name),
            entry=None if query.entry is None else str(query.entry),
            pc=None if query.pc is None else hex(query.pc),
            base=None if query.base is None else hex(query.base),
        )


@document
class SourceEntry:
    """A line of source code."""

    file: str
    line: int

    @classmethod
    def of(cls, found: Found) -> Self | None:
        """The line of the instruction, where the object has line numbers."""
        if found.pc_offset is None or not isinstance(found.program, ElfProgram):
            return None
        line = source_of(found.program.obj.elf, found.part.offset + found.pc_offset)
        return None if line is None else cls(printable(line.file), line.line)


@document
class Hit:
    """A kernel that was found. `pc_offset` is counted from the start of its code, bytes."""

    file: str
    kernel: RegisteredKernel
    function_address: Address | None
    pc_offset: int | None
    source: SourceEntry | None

    @classmethod
    def of(cls, file: str, found: Found, address: int | None) -> Self:
        """The entry of a kernel, whose code begins at a device address."""
        program, kernel = found.program, found.kernel
        in_table = (
            isinstance(program, ElfProgram) and program.table.find(kernel.tiling_key) is kernel
        )
        return cls(
            file=printable(file),
            kernel=RegisteredKernel.of(kernel, in_table=in_table),
            function_address=None if address is None else hex(address),
            pc_offset=found.pc_offset,
            source=SourceEntry.of(found),
        )


@document
class LookupDocument(Document):
    """The answer over all files: hits, or the nearest names or keys and the reason."""

    SCHEMA: ClassVar[str] = "cannkit.lookup/1"
    query: QueryEntry
    hits: tuple[Hit, ...]
    nearest: tuple[str, ...]
    reason: str | None
    errors: tuple[FileError, ...]

    @classmethod
    def of(
        cls,
        query: Query,
        hits: Sequence[Hit],
        miss: Miss | None,
        errors: Sequence[tuple[Input | Unreadable, CannkitError]],
        note: str | None = None,
    ) -> Self:
        """The document of a search; `miss` explains an empty one, `note` what was assumed."""
        return cls(
            query=QueryEntry.of(query),
            hits=tuple(hits),
            nearest=tuple(map(printable, miss.nearest)) if miss else (),
            reason=printable(miss.reason) if miss else note,
            errors=tuple(FileError.of(place_of(item), error) for item, error in errors),
        )
