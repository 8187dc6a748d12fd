"""The call of the AI CPU engine for people: the library, the paths, the function, the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console, RenderableType
from rich.text import Text

from cannkit.render.console import from_file
from cannkit.render.so_path import ASCII_SIGNS, GUARDS, SIGNS
from cannkit.render.text import facts, named, plural
from cannkit.report.launch_ae import LaunchAeEntry
from cannkit.report.so_path import AttemptEntry

OUTPUT_LINES: Final = 16
STYLES: Final = {"ok": "bold green", "special": "bold yellow", "error": "bold red"}


def ae_lines(entry: object, console: Console) -> Iterator[RenderableType]:
    """What is shown between the queue entry and its completion."""
    assert isinstance(entry, LaunchAeEntry)
    yield Text(f"AI CPU engine, in {'cust-sd' if entry.cust_sd else 'aicpusd'}", "bold")
    arrow = (SIGNS if console.encoding.startswith("utf") else ASCII_SIGNS).arrow
    yield facts(_facts(entry, arrow))


def has_status(entry: object) -> bool:
    """Whether the engine has answered, so that a status is shown."""
    assert isinstance(entry, LaunchAeEntry)
    return entry.status is not None


def _facts(entry: LaunchAeEntry, arrow: str) -> Iterator[tuple[str, RenderableType]]:
    kind = entry.kernel_type
    yield "type", named(kind.code, kind.name)
    if entry.so_name is not None:
        yield "library", from_file(entry.so_name)
    for attempt in entry.attempts:
        yield f"path {attempt.level}", from_file(f"{_place(attempt, arrow)}: {_end(attempt)}")
    returned = "" if entry.returned is None else f" returned {entry.returned}"
    if entry.func_name is not None:
        yield "function", from_file(f"{entry.func_name}{'' if entry.blocks > 1 else returned}")
    if entry.blocks > 1:
        yield from _blocks(entry, returned)
    if entry.child is not None and entry.child.output:
        yield from _printed(entry.child.output)
    if entry.status is not None:
        yield "status", Text(named(entry.status.code, entry.status.name), STYLES[entry.class_])
    if entry.response is not None:
        yield "response", f"{entry.response.status_name}, result {entry.response.result}"
    for note in entry.notes:
        yield "note", from_file(f"{note.rule}: {note.text}")
    if entry.class_ == "error":
        for hint in entry.hints:
            yield "hint", from_file(hint)


def _blocks(entry: LaunchAeEntry, returned: str) -> Iterator[tuple[str, RenderableType]]:
    """All of them where they went well; else the last, which is the first that did not."""
    if entry.returned == 0 and entry.class_ == "ok" and entry.block == entry.blocks - 1:
        yield "blocks", f"{plural(entry.blocks, 'block')}, all returned 0"
    elif entry.class_ != "ok" or entry.returned is not None:
        yield "block", f"{entry.block} of {entry.blocks} (counted from 0){returned}"


def _printed(output: str) -> Iterator[tuple[str, RenderableType]]:
    lines = output.splitlines()
    for line in lines[:OUTPUT_LINES]:
        yield "printed", from_file(line)
    if len(lines) > OUTPUT_LINES:
        yield "", f"and {len(lines) - OUTPUT_LINES} more lines: --json has them"


def _place(attempt: AttemptEntry, arrow: str) -> str:
    """The path, and where it leads through links."""
    leads = attempt.real_path not in (None, attempt.path)
    return f"{attempt.path} {arrow} {attempt.real_path}" if leads else attempt.path


def _end(attempt: AttemptEntry) -> str:
    if attempt.exists is None and attempt.status is None:
        return "not looked up"
    is_loaded = attempt.status is not None and not attempt.status.code
    return "; ".join(
        filter(None, ("loaded" if is_loaded else "", GUARDS[attempt.guard], attempt.reason))
    )
