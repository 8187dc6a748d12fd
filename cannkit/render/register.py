"""`cannkit register` for people: the program, its kernels by name, its table by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.format.elf_types import Machine
from cannkit.render.console import from_file
from cannkit.render.text import aligned, as_text, columns, named, plural, size, titled
from cannkit.report.base import safe
from cannkit.report.register import ProgramEntry, RegisterDocument, StubEntry, TilingTable
from cannkit.report.registered import RegisteredKernel
from cannkit.runtime.kernel import AttrType, CpuKernelType

HEADINGS = (
    "Kernel",
    "Attr",
    "Mix",
    "Key",
    "Slot 1",
    "Slot 2",
    "Args",
    "Prefetch",
    "Stack",
    "Notes",
)
CPU_HEADINGS = ("Kernel", "Library", "Function", "Type")


@as_text.register(RegisterDocument)
def register_text(
    document: RegisterDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """One program: header, kernels, table."""
    parts: list[RenderableType] = []
    if document.program is not None:
        parts.append(titled(document.file, _facts(document.program), console))
    if document.kernels:
        parts.append(kernel_table(document.kernels, console, by_entry=document.stubs is None))
    if document.unloaded is not None:
        parts.append(from_file(f"unloaded {document.file}", "bold"))
        if document.unloaded:
            parts.append(_stubs(document.unloaded, console, "Stubs that went with it"))
    if document.table:
        rows = [(entry.tiling_key, entry.kernel) for entry in document.table]
        title = f"Tiling-key table, {plural(len(rows), 'entry').replace('entrys', 'entries')}"
        parts.append(columns(console, title, ("Key", "Kernel"), rows))
    if document.stubs is not None:
        title = f"Stub table, {plural(len(document.stubs), 'stub')}"
        parts.append(_stubs(document.stubs, console, title))
    parts += (_tiling(table, console) for table in document.tiling_tables or ())
    return Group(*parts)


def _facts(program: ProgramEntry) -> Iterator[tuple[str, RenderableType]]:
    kind = {"elf": "kernel object", "plain": "AI CPU program"}[program.type]
    where = "outside the pool" if program.id is None else f"id {program.id}"
    yield "program", f"{kind}, {where}"
    if program.machine is not None:
        machine = Machine(program.machine)
        yield "machine", named(program.machine, machine.name)
    yield "default attr", named(program.default_attr, AttrType(program.default_attr).name)
    if program.so_name:
        yield "so name", from_file(program.so_name)
    if program.metadata:
        yield "metadata", from_file(program.metadata)
    if program.type == "elf":
        yield "stack", size(program.stack_size) if program.stack_size else "not declared"
        access = "read-only" if program.read_only else "writable"
        yield "device image", f"{size(program.load_size)}, {access}"


def kernel_table(
    kernels: Sequence[RegisteredKernel], console: Console, *, by_entry: bool = True
) -> RenderableType:
    """Registered kernels, one a line; AI CPU kernels have columns of their own.

    `by_entry`: they are looked up by entry, so that not being found by it is worth a note.
    """
    title = plural(len(kernels), "kernel")
    if any(kernel.cpu is not None for kernel in kernels):
        rows = [_cpu_row(kernel) for kernel in kernels]
        return columns(console, title, CPU_HEADINGS, rows)
    return columns(
        console,
        title,
        HEADINGS,
        [_row(kernel, by_entry) for kernel in kernels],
        ("Key", "Args", "Stack"),
    )


def _row(kernel: RegisteredKernel, by_entry: bool) -> tuple[str | Text, ...]:
    notes = {
        "not found by entry": by_entry and not kernel.in_table,
        "FFTS address": kernel.ffts_in_args,
        "batch": kernel.sched_mode == 1,
        "early start": kernel.early_start,
    }
    slot2 = "" if kernel.offset2 is None else _slot(kernel.offset2, kernel.length2 or 0)
    return (
        from_file(kernel.name, "bold"),
        Text(named(kernel.attr, kernel.attr_name), "cyan"),
        named(kernel.mix, kernel.mix_name) if kernel.mix else "",
        kernel.tiling_key,
        _slot(kernel.offset1, kernel.length1),
        slot2,
        f"{kernel.user_args}+{kernel.system_args}",
        "/".join(map(str, kernel.prefetch)) if any(kernel.prefetch) else "",
        f"{kernel.min_stack_size:,} B" if kernel.min_stack_size else "",
        ", ".join(note for note, on in notes.items() if on),
    )


def _slot(offset: int, length: int) -> str:
    return f"{offset:#x} {length:,} B"


def _cpu_row(kernel: RegisteredKernel) -> tuple[str, ...]:
    cpu = kernel.cpu
    assert cpu is not None
    kind = named(cpu.kernel_type, CpuKernelType(cpu.kernel_type).name)
    return kernel.name, cpu.kernel_so, cpu.function, kind


def _stubs(stubs: Sequence[StubEntry], console: Console, title: str) -> RenderableType:
    rows = [
        (
            stub.stub,
            stub.stub_name,
            stub.kernel,
            str(stub.program) if stub.program is not None else "",
        )
        for stub in stubs
    ]
    headings = ("Stub", "Stub name", "Kernel", "Program")
    return columns(console, title, headings, rows)


def _tiling(table: TilingTable, console: Console) -> RenderableType:
    use = "used by this chip" if table.used else "not used by this chip"
    rows = [
        (row.tiling_key, row.pc1, row.pc2, str(row.task_ratio), row.row_hex) for row in table.rows
    ]
    title = f"Device tiling table, rows of {table.row_size} bytes, {use}, image at {table.base}"
    return columns(console, title, ("Key", "PC 1", "PC 2", "Ratio", "Bytes"), rows, ("Key",))


class RegisterListing:
    """Registered binaries, one a line."""

    def __init__(self) -> None:
        self._binaries = self._kernels = self._refused = self._errors = 0
        self._stubs: list[tuple[str, str, str]] = []  # the whole table, in order of stub

    def heading(self) -> Text:
        """The names of the columns."""
        return Text(
            f"{'ID':>6}  {'KERNELS':>7}  {'KEYS':>6}  {'IMAGE':<24}{'OUTCOME':<11}FILE", "bold"
        )

    def line(self, document: RegisterDocument) -> Text:
        """One binary."""
        program = document.program
        if program is None:
            refused = document.error is not None and document.error.kind == "runtime"
            self._refused += refused
            self._errors += not refused
            line = Text(" " * 49).append(f"{'refused' if refused else 'error':<11}", "bold red")
            return line.append_text(from_file(document.file))
        self._binaries += 1
        own = document.stubs or ()
        self._stubs += [(stub.stub, safe(stub.stub_name), safe(stub.kernel)) for stub in own]
        self._kernels += len(document.kernels)
        number = "-" if program.id is None else str(program.id)
        line = Text(f"{number:>6}  {len(document.kernels):>7,}  {len(document.table):>6,}  ")
        line.append(f"{size(program.load_size):<24}").append(f"{'registered':<11}", "green")
        return line.append_text(from_file(document.file))

    def totals(self) -> Text:
        """How many were registered, and how many refused."""
        counts = f"{self._binaries:,} registered, {plural(self._kernels, 'kernel')}"
        if self._stubs:
            table = aligned([("STUB", "STUB NAME", "KERNEL"), *self._stubs], (False,) * 3)
            counts = "\n".join([*table, "", counts])
        odd = [f"{self._refused:,} refused"] * bool(self._refused)
        odd += [plural(self._errors, "error")] * bool(self._errors)
        return Text("; ".join([counts, *odd]), "bold")
