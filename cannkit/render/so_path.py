"""`cannkit so-path` for people: the story of each search, or the table of all directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from cannkit.ae.context import AeContext
from cannkit.ae.fwk_path import TF_KERNELS
from cannkit.ae.so_path import cust_lib
from cannkit.ae.survey import TableRow
from cannkit.render.console import from_file, is_plain
from cannkit.render.text import as_text, columns, facts
from cannkit.report.base import CodeEntry
from cannkit.report.so_path import (
    AttemptEntry,
    ContextEntry,
    InstallEntry,
    SearchEntry,
    SoPathDocument,
    mode_word,
    type_word,
)

HEADINGS: Final = ("Kernel types", "Mode", "Level 1", "Level 2", "Level 3")
GROUPS: Final = {"aicpu": "inner", "kfc": "inner", "custom": "custom", "custom-kfc": "custom"}


class Signs(NamedTuple):
    """What the tree of attempts is drawn with."""

    good: str
    bad: str
    arrow: str
    branch: str
    last: str
    below: str


SIGNS: Final = Signs("✓", "✗", "→", "  ├─ ", "  └─ ", "  │")
ASCII_SIGNS: Final = Signs("+", "x", "->", "  |- ", "  `- ", "  |")
REFUSED: Final = "refused: "
BORDERS: Final = 16  # columns of a table
GUARDS: Final = {
    "prefix": "guard: below its directory",
    "cust-substring": "guard: below the lib/ of custom libraries",
    "refused": "guard: refused",
    "not-checked": "",
}


def table_text(context: AeContext, rows: Sequence[TableRow], console: Console) -> RenderableType:
    """05, section 10.2: the directories of every kernel type and run mode."""
    cells = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
    guard = f"in every row the guard takes what leads below {cust_lib(context.vf)}, too"
    place = from_file(_context(ContextEntry.of(context)), "bold")
    if console.is_terminal and sum(widths) + BORDERS > console.width:
        return Group(place, *_blocks(cells), Text(guard, "dim"))
    return Group(place, columns(console, "", HEADINGS, cells), Text(guard, "dim"))


def _blocks(cells: Sequence[tuple[str, ...]]) -> Iterator[Text]:
    """The rows one below the other, for a screen that is too narrow for a table."""
    for types, modes, *paths in cells:
        yield Text.assemble((types, "bold"), f", {modes}")
        for level, path in enumerate(filter(None, paths), 1):
            number = "  " if path.startswith(REFUSED) else f"  {level} "
            yield Text.assemble((number, "dim"), from_file(path))


def _cells(row: TableRow) -> tuple[str, ...]:
    words = [type_word(each) for each in row.kernel_types]
    numbers = ", ".join(str(int(each)) for each in row.kernel_types)
    where = "" if words[0] not in ("custom", "custom-kfc") else _process(row.is_cust_sd)
    name = "type" if words[0].isdecimal() else GROUPS.get(words[0], words[0])
    types = f"{name} ({numbers}){where}"
    modes = ", ".join(map(mode_word, row.modes))
    paths = (f"refused: {row.why}",) if row.why else row.paths
    return (types, modes, *paths, *[""] * (3 - len(paths)))


def _process(is_cust_sd: bool) -> str:
    return " in cust-sd" if is_cust_sd else " in aicpusd"


@as_text.register(SoPathDocument)
def so_path_text(
    document: SoPathDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """What was installed, and each search as a story."""
    parts: list[RenderableType] = [from_file(_context(document.context), "bold")]
    if document.install is not None:
        parts += ["", *_install(document.install)]
    for search in document.results:
        parts += ["", *search_parts(search, document.so_name, console)]
    return Group(*parts)


def search_parts(
    search: SearchEntry, so_name: str | None, console: Console, *, alone: bool = True
) -> Iterator[RenderableType]:
    """A search: which rule chose the directory, the attempts, the status.

    `alone`: no call follows, of which all is told anyhow.
    """
    process = "cust-sd" if search.cust_sd else "aicpusd"
    name = "the directories" if so_name is None else so_name or "an empty name"
    if search.kernel_type == "fwk":
        name = TF_KERNELS
    kind, mode = search.kernel_type, search.run_mode
    kind = f"type {kind}" if kind.isdecimal() else kind
    mode = f"mode {mode}" if mode.isdecimal() else f"{mode} mode"
    yield Text.assemble(from_file(name, "bold"), f" for {kind} in {mode}, {process}")
    pairs = [("init", _code(search.init, search.reason))] if search.init.code else []
    pairs += [
        ("rule", Text(f"{decision.rule} {decision.condition}"))
        for decision in search.decision
        if decision.taken
    ]
    if search.cached:
        pairs.append(("load", from_file(f"it was loaded before, from {search.loaded}")))
    if pairs:
        yield _indented(pairs)
    yield from _tree(search, console)
    if pairs := list(_end(search, alone=alone)):
        yield _indented(pairs)


def _end(search: SearchEntry, *, alone: bool) -> Iterator[tuple[str, Text]]:
    """The status of the loader, and of a call where that is another; what to look at."""
    told = any(each.taken and each.condition == search.reason for each in search.decision)
    if search.status is not None and not search.cached:
        yield "load", _code(search.status, None if search.attempts or told else search.reason)
    if not alone:
        return
    loader = search.status.code if search.status else None
    if search.call_status is not None and search.call_status.code != loader:
        yield "call", _code(search.call_status, "what the caller of the engine sees")
    for hint in search.hints:
        yield "hint", from_file(hint, "cyan")


def _tree(search: SearchEntry, console: Console) -> Iterator[Text]:
    """A line for each level; on a screen that is too narrow for it the remark has one of its own."""
    signs = SIGNS if console.encoding.startswith("utf") else ASCII_SIGNS
    lines = [(each.level, *_attempt(each, signs)) for each in search.attempts]
    for skipped in search.skipped:
        level = int(skipped.rule.removeprefix("level "))
        refused = Text.assemble((signs.bad, "red"), " not asked for")
        lines.append((level, refused, "", skipped.text))
    lines.sort(key=lambda line: line[0])
    for at, (level, line, *remarks) in enumerate(lines):
        last = at == len(lines) - 1
        branch = "    " if is_plain(console) else (signs.last if last else signs.branch)
        whole = Text.assemble((branch, "dim"), f"{level} ", line)
        below = Text.assemble(("  " if last else signs.below, "dim"), " " * (7 + last))
        for remark in filter(None, remarks):
            text = from_file(remark, "dim")
            if not console.is_terminal or whole.cell_len + 2 + text.cell_len <= console.width:
                whole.append(" " if remark.startswith(signs.arrow) else "  ").append_text(text)
            else:
                yield whole
                whole = below.copy().append_text(text)
        yield whole


def _attempt(attempt: AttemptEntry, signs: Signs) -> tuple[Text, str, str]:
    """The path, where it leads, and what is to say of it."""
    mark = "?", "yellow"
    if attempt.status is not None:
        mark = (signs.bad, "red") if attempt.status.code else (signs.good, "green")
    line = Text.assemble(mark, " ", from_file(attempt.path))
    leads = attempt.real_path not in (None, attempt.path)
    real = f"{signs.arrow} {attempt.real_path}" if leads else ""
    return line, real, "; ".join(filter(None, (GUARDS[attempt.guard], attempt.reason)))


def _indented(pairs: Sequence[tuple[str, Text]]) -> RenderableType:
    return Padding(facts((f"{name:<4}", text) for name, text in pairs), (0, 0, 0, 2))


def _code(entry: CodeEntry, why: str | None = None) -> Text:
    text = f"{entry.name} ({entry.code})"
    return from_file(f"{text}: {why}" if why else text)


def _context(context: ContextEntry) -> str:
    home = context.env.get("HOME")
    said = [f"device {context.device}, vf {context.vf}, host process {context.pid}"]
    said.append("HOME is not set" if home is None else f"HOME={home}")
    said += [
        f"{name}={value}"
        for name, value in context.env.items()
        if name != "HOME" and value is not None
    ]
    return ", ".join(said)


def _install(entry: InstallEntry) -> Iterator[RenderableType]:
    """The steps of the write side."""
    verb = "would store" if entry.dry else "stores"
    yield Text.assemble("the write side ", verb, " ", from_file(entry.so_name, "bold"))
    if entry.made:
        yield from_file(f"  made as the device's daemon does: {', '.join(entry.made)}", "dim")
    steps = [(step.kind, from_file(f"{step.path}  {step.text}")) for step in entry.steps]
    yield Padding(facts(steps), (0, 0, 0, 4))
    pairs = [("status", _code(entry.status))]
    pairs += [("remark", from_file(remark)) for remark in entry.remarks]
    pairs += [
        ("differs", from_file(f"{row.rule} {row.text}", "yellow")) for row in entry.disagreements
    ]
    yield _indented(pairs)
