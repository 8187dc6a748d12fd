"""`cannkit doctor` for people: what works, the tools, and the command that gets what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.console import from_file
from cannkit.render.text import as_text, facts, plural, size
from cannkit.report.doctor import AbilityEntry, DoctorDocument, ToolEntry

Pair = tuple[str, RenderableType]


@as_text.register(DoctorDocument)
def doctor_text(document: DoctorDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """Abilities first, then what they are made of."""
    parts: list[RenderableType] = [Text(f"AI CPU operators on {document.machine or '?'}", "bold")]
    parts.append(facts(pair for each in document.abilities for pair in _ability(each)))
    parts += [
        "",
        Text("Tools", "bold"),
        facts(pair for each in document.tools for pair in _tool(each)),
    ]
    cache = document.cache
    state = f"{plural(cache.programs, 'program')}, {size(cache.size)}"
    if cache.programs:
        state += ", not compiled again"
    if not cache.writable:
        state += ", cannot be written"
    return Group(*parts, "", facts([("cache", from_file(f"{cache.path}: {state}"))]))


def _ability(entry: AbilityEntry) -> Iterator[Pair]:
    end, style = ("works", "green") if entry.works else ("does not work", "red")
    yield entry.name, Text.assemble((end, style), from_file(f": {entry.meaning}"))
    if entry.why:
        yield "", from_file(entry.why)
    if entry.hint:
        yield "", Text.assemble("to change that: ", from_file(entry.hint, "cyan"))


def _tool(entry: ToolEntry) -> Iterator[Pair]:
    if entry.path is None:
        why = f": {entry.why}" if entry.why else ""
        yield entry.name, from_file(f"missing{why}", "yellow")
        return
    path = " ".join(entry.command) if entry.command else entry.path
    yield entry.name, from_file(f"{path}  {entry.version or ''}".rstrip())
