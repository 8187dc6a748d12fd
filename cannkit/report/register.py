"""The document of `cannkit register`: a registered program and its tables. cli.md, section 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from cannkit.errors import CannkitError, ReadWarning
from cannkit.inputs.contents import Input, Unreadable, place_of
from cannkit.report.base import (
    U64,
    Address,
    ErrorEntry,
    ResultDocument,
    WarningEntry,
    document,
    printable,
)
from cannkit.report.registered import RegisteredKernel
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.kernel_table import encode_rows, row_layout, tiling_rows
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program, bytes_of
from cannkit.runtime.stub_table import StubEntry as Stub


@document
class ProgramEntry:
    """A program of the pool; `id` is null where it never entered it. Sizes are bytes."""

    id: int | None
    type: Literal["elf", "plain"]
    machine: int | None
    default_attr: int
    so_name: str | None
    metadata: str | None
    stack_size: int
    read_only: bool
    load_size: int

    @classmethod
    def of(cls, program: Program) -> Self:
        """The entry of a program."""
        elf = program if isinstance(program, ElfProgram) else None
        return cls(
            id=program.pool_id,
            type="plain" if elf is None else "elf",
            machine=elf.obj.elf.header.machine if elf else None,
            default_attr=int(program.default_attr),
            so_name=printable(program.so_name) or None,
            metadata=printable(program.metadata) or None,
            stack_size=elf.stack_size if elf else 0,
            read_only=program.read_only,
            load_size=program.load_size,
        )


@document
class TableEntry:
    """A row of the tiling-key table."""

    tiling_key: U64
    kernel: str


@document
class StubEntry:
    """An element of the process-wide stub table."""

    stub: Address
    stub_name: str
    kernel: str
    program: int | None

    @classmethod
    def of(cls, stub: Stub) -> Self:
        """The entry of an element."""
        name, kernel = printable(stub.stub_name), printable(stub.kernel.name)
        return cls(hex(stub.stub), name, kernel, stub.program.pool_id)


@document
class TilingRow:
    """A row of the table that the device searches. TBL-5."""

    tiling_key: U64
    pc1: Address
    pc2: Address
    task_ratio: int
    mix: int
    ub_size: int
    vf_type: int
    row_hex: str


@document
class TilingTable:
    """The device's tiling table in one of its two layouts; `used` by the chip or not."""

    row_size: int
    used: bool
    base: Address
    rows: tuple[TilingRow, ...]

    @classmethod
    def of(cls, program: ElfProgram, base: int, *, is_wide: bool) -> Self:
        """The table of a program whose image lies at the aligned address `base`."""
        rows = tiling_rows(program.table, base) if len(program.table) else ()
        return cls(
            row_size=row_layout(is_wide=is_wide).size,
            used=is_wide == program.soc.has_wide_tiling_table,
            base=hex(base),
            rows=tuple(
                TilingRow(
                    tiling_key=str(row["tiling_key"]),
                    pc1=hex(row["pc1"]),
                    pc2=hex(row["pc2"]),
                    task_ratio=row["task_ratio"],
                    mix=int(row["mix"]),
                    ub_size=row["ub_size"],
                    vf_type=int(row["vf_type"]),
                    row_hex=encode_rows([row], is_wide=is_wide).hex(),
                )
                for row in rows
            ),
        )


def _name_order(kernel: Kernel) -> bytes:
    return bytes_of(kernel.name)


@document
class RegisterDocument(ResultDocument):
    """One registered binary, or the refusal; with `unloaded`, what went when it was unloaded."""

    SCHEMA: ClassVar[str] = "cannkit.register/1"
    file: str
    program: ProgramEntry | None
    kernels: tuple[RegisteredKernel, ...]
    table: tuple[TableEntry, ...]
    stubs: tuple[StubEntry, ...] | None
    warnings: tuple[WarningEntry, ...]
    error: ErrorEntry | None
    tiling_tables: tuple[TilingTable, ...] | None = None
    unloaded: tuple[StubEntry, ...] | None = None

    @classmethod
    def of(
        cls,
        file: str,
        program: Program,
        warnings: Sequence[ReadWarning] = (),
        *,
        stubs: Sequence[Stub] | None = None,
        tiling_base: int | None = None,
    ) -> Self:
        """The document of a program.

        `stubs` is the process-wide table in the old flow, `tiling_base` the aligned address of an
        image whose device tables are wanted.
        """
        elf = program if isinstance(program, ElfProgram) else None
        table: tuple[tuple[int, Kernel], ...] = tuple(elf.table) if elf else ()
        held = {id(kernel) for _, kernel in table}
        under: dict[Kernel, int] = {s.kernel: s.stub for s in stubs or () if s.program is program}
        return cls(
            file=printable(file),
            program=ProgramEntry.of(program),
            kernels=tuple(
                RegisteredKernel.of(kernel, in_table=id(kernel) in held, stub=under.get(kernel))
                for kernel in sorted(under, key=_name_order) or program.kernels
            ),
            table=tuple(TableEntry(str(key), printable(kernel.name)) for key, kernel in table),
            stubs=None if stubs is None else tuple(map(StubEntry.of, stubs)),
            warnings=tuple(WarningEntry.of(w) for w in (*warnings, *program.warnings)),
            error=None,
            tiling_tables=None
            if tiling_base is None or elf is None
            else tuple(TilingTable.of(elf, tiling_base, is_wide=wide) for wide in (False, True)),
        )

    @classmethod
    def of_unload(cls, file: str, removed: Sequence[Stub], left: Sequence[Stub] | None) -> Self:
        """The document of an unload: the stubs that went with the program, and those that are left."""
        return cls(
            file=printable(file),
            program=None,
            kernels=(),
            table=(),
            stubs=None if left is None else tuple(map(StubEntry.of, left)),
            warnings=(),
            error=None,
            unloaded=tuple(map(StubEntry.of, removed)),
        )

    @classmethod
    def failed(cls, item: Input | Unreadable, error: CannkitError) -> Self:
        """The document of an input that could not be read or was refused."""
        place = printable(place_of(item))
        return cls(place, None, (), (), None, (), ErrorEntry.of(error, place))
