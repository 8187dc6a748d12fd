"""`cannkit ae-call` for people: the task, its way through scheduler and engine, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.ae_union import union_text
from cannkit.render.console import from_file
from cannkit.render.so_path import search_parts
from cannkit.render.text import as_text, facts
from cannkit.report.ae_call import AeCallDocument
from cannkit.report.ae_parts import LogicEntry, SchedulerEntry
from cannkit.report.base import CodeEntry
from cannkit.report.so_path import SearchEntry

CLASS_STYLES: Final = {"ok": "green", "special": "yellow", "error": "red"}
SHOWN: Final = 64  # bytes of parameters
OUTPUT_LINES: Final = 20


Pair = tuple[str, Text]


@as_text.register(AeCallDocument)
def ae_call_text(
    document: AeCallDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """The stages of one call, in their order; the task as each type reads it where `raw` is wanted."""
    parts: list[RenderableType] = []
    if document.event_hex is not None and raw:
        event = bytes.fromhex(document.event_hex)
        parts += [union_text(document.union, event, console), ""]
    way = list(_way(document))
    if way:
        parts.append(facts(way))
    if document.so is not None:
        parts += search_parts(document.so, _so_name(document.so), console, alone=False)
    end = [*_call(document), *_end(document)]
    end += [_pair("note", f"{each.rule}: {each.text}") for each in document.notes]
    end += [_pair("hint", hint, "cyan") for hint in document.hints]
    if end:
        parts.append(facts(end))
    return Group(*parts)


def step_lines(number: int, document: AeCallDocument) -> Iterator[Text]:
    """One operation of a script on one line, and below it why it failed."""
    line = Text(f"{number:>3}  {document.op:<9}")
    call, so = document.call, document.so
    if call is not None:
        where = f" of {_so_name(so)}" if so is not None else ""
        line.append_text(from_file(f"{call.symbol}{where}  "))
    for load in document.loads:
        end = "loaded" if load.loaded else "not loaded"
        line.append_text(from_file(f"{_so_name(load)} {end}  "))
    if document.returned is not None:
        line.append(f"returned {document.returned}  ")
    elif call is not None and call.address_found and document.error is None:
        line.append("not called  ")
    style = CLASS_STYLES[document.class_]
    if document.status is not None:
        line.append(_code(document.status), style)
    scheduler = document.scheduler
    if scheduler is not None and scheduler.code is not None and document.status is None:
        line.append(f"{scheduler.name} ({scheduler.code})", style)
    response = scheduler.response if scheduler else None
    if response is not None and document.status and response.result != document.status.code:
        line.append(f"  answered as {response.result}")
    line.rstrip()
    yield line
    if document.exit_code:
        searches = [so] if so is not None else document.loads
        missed = [search for search in searches if search.loaded is None]
        for attempt in (each for search in missed for each in search.attempts):
            if attempt.reason:
                yield from_file(f"     {attempt.path}  {attempt.reason}", "dim")
        for text in (*(note.text for note in document.notes), *document.hints):
            yield from_file(f"     {text}", "cyan")


def _so_name(search: SearchEntry) -> str:
    """What was asked for is what an attempt ends in."""
    if not search.attempts:
        return (search.loaded or "the library").rpartition("/")[2]
    attempt = search.attempts[0]
    return attempt.path.removeprefix(attempt.directory)


def _way(document: AeCallDocument) -> Iterator[Pair]:
    """Before anything is looked for: scheduler, logic kernel or lib."""
    if document.scheduler is not None:
        yield _pair("scheduler", _scheduler(document.scheduler, document.route))
    if document.logic is not None:
        yield from _logic(document.logic)
    if document.lib is not None:
        yield _pair("lib", document.lib)


def _scheduler(entry: SchedulerEntry, route: str | None) -> str:
    ends = {"logic": "a logic kernel", "engine": "to the engine", "rejected": "refused"}
    text = f"{entry.site_name}, {entry.rule}: {ends[route or 'engine']}"
    if route == "rejected" and entry.code is not None:
        text += f" with {entry.name} ({entry.code})"
    return text


def _logic(entry: LogicEntry) -> Iterator[Pair]:
    if entry.name is not None:
        yield _pair("kernel", f"{entry.number}. {entry.name} ({entry.source}): {entry.does}")
        for field in entry.argument or ():
            yield _pair("", f"{field.name} = {field.value}")
        yield _pair("", "not simulated: it has side effects in the driver")
    for remark in entry.remarks:
        yield _pair("", remark)


def _call(document: AeCallDocument) -> Iterator[Pair]:
    call = document.call
    if call is None:
        return
    if not call.address_found:
        is_asked = call.is_global or (document.so is not None and document.so.loaded is not None)
        if document.error is None and is_asked:
            yield _pair("function", f"{call.symbol}: not found")
        return
    signature = (call.signature or "f(param)").removeprefix("f")
    where = f", found in {call.provider}" if call.provider else ""
    end = "not called" if document.returned is None else f"returned {document.returned}"
    if document.is_crash:
        end = "did not return"
    yield _pair("function", f"{call.symbol}{signature}{where}: {end}")
    yield _pair("op name", call.opname or "null: nobody set it")


def _end(document: AeCallDocument) -> Iterator[Pair]:
    if document.is_crash and document.child is not None and document.error is not None:
        text = f"{document.error.what} ({document.child.seconds} s)"
        yield _pair("process", text, "red")
    if document.child is not None and document.child.output:
        lines = document.child.output.splitlines()
        for line in lines[:OUTPUT_LINES]:
            yield _pair("output", line)
        if len(lines) > OUTPUT_LINES:
            yield _pair("", f"and {len(lines) - OUTPUT_LINES} more lines")
    if document.param_after_hex is not None:
        raw = bytes.fromhex(document.param_after_hex)
        more = f" and {len(raw) - SHOWN} more bytes" if len(raw) > SHOWN else ""
        yield _pair("param", raw[:SHOWN].hex(" ", 4) + more)
    for overrun in document.overruns:
        yield _pair("overrun", overrun, "red")
    style = CLASS_STYLES[document.class_]
    if document.status is not None:
        text = f"{_code(document.status)}, {document.class_}"
        yield _pair("status", text, style)
    response = document.scheduler.response if document.scheduler else None
    if response is not None:
        text = f"{response.status_name} ({response.status}), result {response.result}"
        yield _pair("response", text)


def _pair(name: str, text: str, style: str = "") -> Pair:
    return f"{name:<9}", from_file(text, style)


def _code(entry: CodeEntry) -> str:
    return f"{entry.name} ({entry.code})"
