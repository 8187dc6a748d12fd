"""`cannkit diff` for people: the changes by class, `before -> after`, and a line of totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.diff.change import SIDECAR, Effect, Value
from cannkit.format.ascend_meta import DEBUG_OPTIONS, FuncType, ImplicitFeature, VfType
from cannkit.format.elf_types import ElfType
from cannkit.render.console import from_file
from cannkit.render.text import as_text, named, plural, size
from cannkit.report.diff import ChangeEntry, DiffDocument

TITLES: Final = {
    Effect.BREAKING: ("Breaking", "a host built against A fails with B", "bold red"),
    Effect.BEHAVIOUR: ("Behaviour", "", "bold yellow"),
    Effect.SIZE: ("Size", "", "bold cyan"),
}
NOTHING: Final = "none"
EMPTY: Final = '""'
DIGESTS: Final = {
    "code": "code bytes",
    "section": "bytes beside the kernels",
    "file": "bytes that are not loaded",
}
LONGEST_LIST: Final = 256  # entries that are compared one by one
SIZES: Final = frozenset(
    {
        *("code_size", "image_size", "stack_size", "min_stack_size", "ub_size", "debug_buf_size"),
        *("warp_stack_size", "dvg_warp_stack_size", "arg_size", "param_total_size", "tiling_size"),
    }
)
COUNTED: Final = {"soc": "object", "op": "object", "object": "kernel"}


def _debug_options(mask: int) -> str:
    words = [word for word, bit in DEBUG_OPTIONS.items() if mask & bit]
    return named(mask, ",".join(words) or NOTHING)


NUMBERS: Final[Mapping[str, Callable[[int], str]]] = {
    "func_type": lambda value: named(value, FuncType(value).name),
    "vf_type": lambda value: named(value, VfType(value).name),
    "elf_type": lambda value: named(value, ElfType(value).name),
    "implicit_feature": lambda value: named(value, ImplicitFeature(value).name),
    "debug_options": _debug_options,
    "flags": "{:#010x}".format,
    "machine": "{:#x}".format,
}


@as_text.register(DiffDocument)
def diff_text(document: DiffDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """A block for each class that has changes; where there are none, a line that says so."""
    parts: list[RenderableType] = []
    for effect, changes in groupby(document.changes, lambda change: change.class_):
        title, why, style = TITLES[Effect(effect)]
        if parts:
            parts.append(Text())
        parts.append(Text.assemble((title, style), (f": {why}" if why else "", "dim")))
        for (file, subject), group in groupby(changes, _subject):
            place = f"{file}: {subject}" if file is not None and file != subject else subject
            parts.append(from_file(f"  {place}", "bold"))
            for change in group:
                parts += _lines(change)
    totals = document.totals
    compared = f"{plural(totals.compared, 'object')} compared"
    if not document.changes:
        return Group(Text(f"no difference, {compared}"))
    numbers = f"{totals.breaking:,} breaking, {totals.behaviour:,} behaviour, {totals.size:,} size"
    return Group(
        *parts, Text(), Text(f"{plural(len(document.changes), 'change')}: {numbers}; {compared}")
    )


def _subject(change: ChangeEntry) -> tuple[str | None, str]:
    return change.file, change.subject


def _lines(change: ChangeEntry) -> Iterator[Text]:
    kind, before, after = change.kind, change.before, change.after
    spaced = kind if kind.startswith(SIDECAR) else kind.replace("_", " ")
    name = f"    {DIGESTS.get(kind, spaced)}"
    if kind in COUNTED or kind == "kernel":
        yield from_file(f"    {_presence(change)}")
    elif isinstance(before, tuple) or isinstance(after, tuple):
        yield from_file(f"{name}:")
        yield from _list_lines(before, after)
    else:
        grown = ""
        if kind in SIZES and isinstance(before, int) and isinstance(after, int):
            grown = f" ({after - before:+,})"
        yield from_file(f"{name}: {_value(kind, before)} -> {_value(kind, after)}{grown}")


def _presence(change: ChangeEntry) -> str:
    """What is gone, what is new, or which family took the place of another."""
    kind, before, after = change.kind, change.before, change.after
    if before is not None and after is not None:
        return f"{kind}: {before} -> {after}"
    word, value = ("gone", before) if after is None else ("new", after)
    if isinstance(value, int) and kind in COUNTED:
        return f"{kind} {word}: {plural(value, COUNTED[kind])}"
    return f"{kind} {word}, key {value}" if str(value).isdecimal() else f"{kind} {word}"


def _value(kind: str, value: Value) -> str:
    if value is None:
        return NOTHING
    if not isinstance(value, int):
        return f"sha256 {value}" if kind in DIGESTS else str(value) or EMPTY
    if kind in NUMBERS:
        return NUMBERS[kind](value)
    return size(value) if kind in SIZES else str(value)


def _list_lines(before: Value, after: Value) -> Iterator[Text]:
    """Lists entry by entry: those that both have are not shown."""
    old, new = _entries(before), _entries(after)
    if max(len(old), len(new)) > LONGEST_LIST:
        yield Text(f"      {plural(len(old), 'line')} -> {plural(len(new), 'line')}")
        return
    for tag, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            for at in range(first, last):
                yield from_file(f"      - {at + 1} {old[at]}", "red")
            for at in range(start, end):
                yield from_file(f"      + {at + 1} {new[at]}", "green")


def _entries(value: Value) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return () if value is None else (str(value),)
