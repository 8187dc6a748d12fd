"""`cannkit launch` for people: the story of a launch, from its kernel to its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.format.sqe import v100
from cannkit.render.console import from_file
from cannkit.render.sqe import sqe_table
from cannkit.render.text import as_text, columns, facts, named, plural, size
from cannkit.report.launch import LaunchDocument, LaunchSqe, SlotEntry
from cannkit.report.outputs import MOST_VALUES, Number, OutputEntry
from cannkit.report.sqe_fields import ContextEntry
from cannkit.runtime.task import TaskType

SLOTS: Final = ("Offset", "Size", "Kind", "Origin", "Value")
OUTPUTS: Final = ("Argument", "Output", "Values", "sha256", "File")
FULL: Final = "--json has them"  # bytes that are too many for a line
DIGEST: Final = 12  # digits of a digest that tell it from another on a screen
SLOT_COLUMNS: Final = 38  # characters beside kind, origin and value
OUTPUT_COLUMNS: Final = 42  # beside shape, values and file
LEAST_ROOM: Final = 16


@as_text.register(LaunchDocument)
def launch_text(document: LaunchDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """Kernel, addresses, blocks, arguments, queue entry, completion, outputs."""
    parts: list[RenderableType] = [
        from_file(document.kernel, "bold green"),
        facts(_launch_facts(document)),
    ]
    if document.args is not None and document.args.slots:
        parts += _table_slots(document.args.slots, console)
    for sqe in document.sqe:
        parts += ["", *_sqe(sqe, console)]
    if document.ae is not None:
        from cannkit.render.launch_ae import ae_lines  # here, for most kernels need none of it

        parts += ["", *ae_lines(document.ae, console)]
    parts += ["", *_completion(document)]
    if document.outputs:
        parts += _table_outputs(document.outputs, console)
    return Group(*parts)


def _launch_facts(document: LaunchDocument) -> Iterator[tuple[str, RenderableType]]:
    yield "device", f"{document.device.id}, {document.device.soc}"
    task, args, blocks = document.task, document.args, document.blocks
    if task is not None:
        yield "task", f"{task['id']}, {named(int(task['type'] or 0), str(task['type_name']))}"
        if "pc1" in task:
            yield "code", ", ".join(str(pc) for pc in (task["pc1"], task["pc2"]) if pc)
    where = f"{blocks.aic:,} AIC, {blocks.aiv:,} AIV"
    if task is not None and task["type"] == TaskType.KERNEL_AICPU:
        where = "on the AI CPU"
    yield "blocks", f"{blocks.requested:,} requested: {where}"
    if args is not None:
        kept = "memory of the runtime" if args.pool else "memory of its own"
        yield "arguments", f"{size(args.size)} at {args.address}, {args.policy}, {kept}"


def _sqe(sqe: LaunchSqe, console: Console) -> Iterator[RenderableType]:
    yield Text(f"queue entry, {sqe.arch}, {sqe.size} bytes", "bold")
    yield sqe_table(ContextEntry(sqe.size, sqe.hex, sqe.fields), console)
    if sqe.context_hex is not None:
        context = v100.MixContext.decode(bytes.fromhex(sqe.context_hex))
        yield ""
        yield Text(f"its context, {context.SIZE} bytes", "bold")
        yield sqe_table(ContextEntry.of(context), console)


def _completion(document: LaunchDocument) -> Iterator[RenderableType]:
    result = document.result
    good = result.status == "ok"
    word = Text("completion: ", "bold").append(
        "ok" if good else "error", "bold green" if good else "bold red"
    )
    yield word
    yield facts(_result_facts(document))


def _result_facts(document: LaunchDocument) -> Iterator[tuple[str, RenderableType]]:
    result, ring = document.result, document.submission
    if ring is not None:
        yield "ring", f"head {ring.sq_head}, tail {ring.sq_tail} at submission"
    for code in (result.acl, result.rt):
        if code is not None:
            yield "code", f"{code.code} {code.name} ({code.code:#x})"
    message = result.message
    if document.error is not None and _is_told(document):
        message = document.error.what  # the error on stderr has all of it
    yield "result", from_file(message)
    for each in document.findings:
        style = {"error": "red", "warning": "yellow"}.get(each.severity, "")
        yield each.severity, from_file(f"{each.rule}: {each.message}", style)


def _is_told(document: LaunchDocument) -> bool:
    """Whether the reason why a task of the AI CPU failed stands elsewhere: as a finding or a status."""
    if document.ae is None:
        is_cpu = document.task is not None and document.task["type"] == TaskType.KERNEL_AICPU
        return is_cpu and any(each.severity == "error" for each in document.findings)
    from cannkit.render.launch_ae import has_status

    return has_status(document.ae)


def _table_slots(slots: Sequence[SlotEntry], console: Console) -> Iterator[RenderableType]:
    others = max(len(slot.kind) + len(slot.origin) for slot in slots)
    room = _room(console, SLOT_COLUMNS + others)
    rows = [
        (hex(slot.offset), size(slot.size), slot.kind, slot.origin, _cut(slot.value or FULL, room))
        for slot in slots
    ]
    yield from _apart(console)
    yield columns(console, plural(len(rows), "argument slot"), SLOTS, rows, ("Offset", "Size"))


def _table_outputs(outputs: Sequence[OutputEntry], console: Console) -> Iterator[RenderableType]:
    shapes = [f"{each.dtype}[{','.join(map(str, each.shape))}]" for each in outputs]
    digits = DIGEST if console.is_terminal else None
    others = max(
        len(shape) + len(each.file or "") for each, shape in zip(outputs, shapes, strict=True)
    )
    room = _room(console, OUTPUT_COLUMNS + others)
    rows = [
        (str(each.index), shape, _values(each.values, room), each.sha256[:digits], each.file or "")
        for each, shape in zip(outputs, shapes, strict=True)
    ]
    yield from _apart(console)
    yield columns(console, plural(len(rows), "output"), OUTPUTS, rows, ("Argument",))


def _apart(console: Console) -> Iterator[RenderableType]:
    """A pipe gets its blank line from `columns`."""
    if console.is_terminal:
        yield ""


def _room(console: Console, others: int) -> int | None:
    """Characters that a screen leaves for a value; a pipe takes all of it."""
    return max(console.width - others, LEAST_ROOM) if console.is_terminal else None


def _values(values: Sequence[Number] | None, room: int | None) -> str:
    if values is None:
        return f"more than {MOST_VALUES}: @FILE keeps them"
    return _cut(" ".join(map(_value, values)), room)


def _value(value: Number) -> str:
    if isinstance(value, tuple):
        return "+".join(map(_value, value)) + "j"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cut(text: str, room: int | None) -> str:
    return text if room is None or len(text) <= room else f"{text[: room - 3]}..."
