"""`cannkit parse` for people: one object in full, or one line for each of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.format.ascend_meta import BINARY_META, FUNCTION_META, VfType
from cannkit.format.bits import OpenEnum
from cannkit.format.tlv import Entry
from cannkit.image.kernel_meta import PADDING
from cannkit.image.kernel_name import split_kernel_name
from cannkit.render.console import from_file
from cannkit.render.text import as_text, columns, named, plural, size, titled
from cannkit.report.base import CodeEntry, safe
from cannkit.report.kernel import DfxArgEntry, KernelEntry, MetaEntry
from cannkit.report.parse import (
    ElfEntry,
    OutcomeEntry,
    ParseDocument,
    SidecarEntry,
    VerdictEntry,
)
from cannkit.soc import PRODUCTS


@as_text.register(ParseDocument)
def parse_text(document: ParseDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """One object: header, kernels, what is in the image beside them."""
    return Group(*object_parts(document, console, raw=raw, verbose=raw))


def object_parts(
    document: ParseDocument, console: Console, *, raw: bool, verbose: bool
) -> list[RenderableType]:
    """Header, kernels with their records when `verbose`, binary metadata and variables."""
    parts: list[RenderableType] = [titled(document.place, _header_facts(document), console)]
    if document.kernels:
        parts.append(_kernels(document, console))
    if verbose:
        for kernel in document.kernels:
            parts += kernel_records(kernel, console, raw=raw)
    if document.binary_meta:
        parts.append(
            _records("Binary metadata", document.binary_meta, BINARY_META, console, raw=raw)
        )
    if document.globals:
        parts.append(_variables(document, console))
    return parts


def _header_facts(document: ParseDocument) -> Iterator[tuple[str, RenderableType]]:
    if document.size is not None:
        yield "size", size(document.size)
    if document.sha256 is not None:
        yield "sha256", document.sha256
    if document.container is not None:
        yield "inside", f"{document.container.kind} member"
    if document.elf is not None:
        yield "elf", _elf_line(document.elf)
        yield "built for", _built_for(document)
    if document.text_size is not None and document.text_offset is not None:
        data = "writable data" if document.writable_data else "read-only data"
        place = f"offset {document.text_offset:#x}"
        yield "image", f"{size(document.text_size)} at {place}, {data}"
    if document.stack_size is not None:
        yield "stack", size(document.stack_size) if document.stack_size else "not declared"
    if document.so_name is not None:
        yield "so name", from_file(document.so_name)
    if document.implicit:
        yield "asks for", f"{', '.join(document.implicit)} ({document.implicit_flags:#x})"
    if document.relocatable:
        yield "note", "relocatable: input of a super kernel link, never loaded by itself"
    if document.sidecar is not None:
        yield "sidecar", _sidecar_line(document.sidecar, document.file)
    if document.verdict is not None:
        yield "runtime", _verdict_line(document.verdict)


def _elf_line(elf: ElfEntry) -> str:
    machine = (
        named(elf["machine"], elf["machine_name"])
        if elf["machine_name"]
        else f"{elf['machine']:#x}"
    )
    kind = elf["type"] if isinstance(elf["type"], str) else f"type {elf['type']}"
    return f"ELF64 {elf['endian']}-endian {kind}, {machine}, version {elf['version']:#x}"


def _built_for(document: ParseDocument) -> str:
    assert document.elf is not None
    flags = f"e_flags {document.elf['flags']:#x}"
    by_flags = f"{flags}: {document.elf['arch']}" if document.elf["arch"] else flags
    family = document.family
    if family is None:
        return by_flags
    product = f"{PRODUCTS[family]}, " if family in PRODUCTS else ""
    return f"{product}{family.lower()} by its name; {by_flags}"


def _sidecar_line(sidecar: SidecarEntry, file: str) -> Text:
    """The sidecar's name, with its directory where that is not the object's."""
    here = PurePath(sidecar.file).parent == PurePath(file).parent
    line = from_file(PurePath(sidecar.file).name if here else sidecar.file)
    match sidecar.sha256_matches:
        case True:
            line.append("  sha256 matches", style="green")
        case False:
            line.append("  sha256 differs", style="bold red")
        case None:
            line.append("  no sha256", style="yellow")
    known = [sidecar.core_type, sidecar.magic]
    line.append("  " + safe(", ".join(fact for fact in known if fact)), style="dim")
    return line


def _verdict_line(verdict: VerdictEntry) -> Text:
    if verdict.from_file.accepted and verdict.from_data.accepted:
        return Text("accepts it", style="green")
    if verdict.from_data.accepted:
        line = Text("refuses it from a file, accepts it from data: ", style="yellow")
        return line.append_text(_outcome(verdict.from_file))
    return Text("refuses it: ", style="bold red").append_text(_outcome(verdict.from_data))


def _outcome(outcome: OutcomeEntry) -> Text:
    code = "cannkit's own rule" if outcome.rt is None else _code(outcome.rt)
    rule = f", {outcome.rule}" if outcome.rule else ""
    return from_file(f"{outcome.message or ''} ({code}{rule})")


def _code(code: CodeEntry) -> str:
    return f"{code.code} {code.name} ({code.code:#x})"


KERNEL_HEADINGS = (
    "Kernel", "Core", "Ratio", "Offset", "Length", "Args", "Arg bytes", "Tiling", "Found by",
    "VF", "UB", "Min stack", "Modes",
)  # fmt: skip
RIGHT = ("Offset", "Length", "Args", "Arg bytes", "Tiling", "UB", "Min stack")


def _kernels(document: ParseDocument, console: Console) -> RenderableType:
    rows = [_kernel_row(kernel) for kernel in document.kernels]
    return columns(console, plural(len(rows), "kernel"), KERNEL_HEADINGS, rows, RIGHT)


def _kernel_row(kernel: KernelEntry) -> tuple[str | Text, ...]:
    tiling = [arg.tiling_size for arg in kernel.dfx.args if arg.tiling_size] if kernel.dfx else []
    modes = {
        "sync": kernel.cross_core_sync,
        "batch": kernel.sched_mode == 1,
        "early start": kernel.early_start,
        "no metadata": kernel.section is None,
    }
    return (
        from_file(kernel.name, "bold"),
        Text(named(kernel.func_type, kernel.func_type_name), style="cyan"),
        "" if kernel.task_ratio is None else "{}:{}".format(*kernel.task_ratio),
        f"{kernel.offset:#x}",
        size(kernel.length),
        str(kernel.user_args),
        "" if kernel.arg_size is None else size(kernel.arg_size),
        size(tiling[-1]) if tiling else "",
        _entry(kernel),
        named(kernel.vf_type, VfType(kernel.vf_type).name) if kernel.vf_type else "",
        size(kernel.ub_size) if kernel.ub_size else "",
        size(kernel.min_stack_size) if kernel.min_stack_size else "",
        ", ".join(mode for mode, on in modes.items() if on),
    )


def _entry(kernel: KernelEntry) -> str:
    match kernel.entry_kind:
        case "function_entry":
            return f"entry {kernel.function_entry}"
        case "unsupported":
            return "name only"
        case _:
            return f"key {split_kernel_name(kernel.name).key or 0}"  # REG-6: no number is key 0


def kernel_records(kernel: KernelEntry, console: Console, *, raw: bool) -> list[RenderableType]:
    """A kernel's arguments, parameters and TLVs."""
    name = safe(kernel.name)
    parts: list[RenderableType] = []
    if kernel.dfx is not None and kernel.dfx.args:
        rows = [(f"#{index}", *_argument(arg)) for index, arg in enumerate(kernel.dfx.args)]
        headings = ("Arg", "Kind", "Pointer", "Size", "Element", "Shape")
        parts.append(columns(console, f"Arguments of {name}", headings, rows, ("Size", "Element")))
    if kernel.params:
        rows = [(f"#{p.ordinal}", f"{p.offset:#x}", f"{p.size} B", str(p.align), str(p.type),
                 f"{p.space}/{p.space_type}/{p.space_index}") for p in kernel.params]  # fmt: skip
        headings = ("Param", "Offset", "Size", "Align", "Type", "Space")
        parts.append(columns(console, f"Parameters of {name}", headings, rows, ("Offset", "Size")))
    if kernel.meta:
        parts.append(_records(f"Metadata of {name}", kernel.meta, FUNCTION_META, console, raw=raw))
    return parts


def _argument(arg: DfxArgEntry) -> tuple[str, str, str, str, str]:
    if arg.tensor_type is None or arg.tensor_type_name is None:
        return f"type {arg.type}", "", "", "", ""
    pointer = arg.pointer_type
    known = arg.tiling_size if arg.tiling_size is not None else arg.size
    return (
        named(arg.tensor_type, arg.tensor_type_name),
        named(pointer, arg.pointer_type_name or "") if pointer else "",
        "at launch" if known is None and arg.count > 1 else "" if known is None else size(known),
        "" if arg.dtype_bits is None else f"{arg.dtype_bits} bits",
        "" if arg.dims is None else "x".join(map(str, arg.dims)) or "scalar",
    )


def _records(
    title: str,
    records: Sequence[MetaEntry],
    table: Mapping[int, Entry],
    console: Console,
    *,
    raw: bool,
) -> RenderableType:
    """TLVs by first appearance, padding left out, repeated ones in one line (HAZ-17)."""
    rows = []
    counts = Counter((r.type, r.raw_hex) for r in records if r.name != PADDING)
    first = {(r.type, r.raw_hex): r for r in reversed(records)}
    for key, count in counts.items():
        record = first[key]
        value = record.value or {}
        kinds = table[record.type].fields if record.type in table else {}
        fields = "  ".join(f"{name}={_value(v, kinds.get(name))}" for name, v in value.items())
        hexed = record.raw_hex if raw or record.value is None else ""
        times = f"{count}x" if count > 1 else ""
        rows.append((named(record.type, record.name), times, f"{record.length} B", fields, hexed))
    return columns(
        console, title, ("Record", "Times", "Length", "Value", "Bytes"), rows, ("Length",)
    )


def _value(value: int | str, kind: object) -> str:
    if isinstance(kind, type) and issubclass(kind, OpenEnum):
        return named(int(value), kind(int(value)).name)
    return str(value)


def _variables(document: ParseDocument, console: Console) -> RenderableType:
    rows = [
        (entry.name, f"{entry.offset:#x}", size(entry.size), "yes" if entry.implicit else "")
        for entry in document.globals
    ]
    headings = ("Variable", "Offset", "Size", "Set by runtime")
    return columns(console, "Variables", headings, rows, ("Offset", "Size"))
