"""AI CPU operators for people: the table of a package, and one operator with the source of each fact."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.console import from_file
from cannkit.render.text import as_text, columns, facts, plural, titled
from cannkit.report.operators import (
    DescribedTensorEntry,
    OpAttrEntry,
    OperatorDocument,
    OperatorEntry,
    OperatorsDocument,
    OpTensorEntry,
)

SHAPES: Final = {1: "", 2: "from values", 3: "up to a bound", 4: "computed"}  # OPR-402
HEADINGS: Final = (
    "Operator",
    "Inputs",
    "Outputs",
    "Output shape",
    "Library",
    "Function",
    "Kernel lib",
    "Blocks",
    "Kernel",
)


@as_text.register(OperatorsDocument)
def operators_text(
    document: OperatorsDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """Where the parts of the package lie, what is the same for all operators, and a line for each."""
    ops = document.operators
    parts: list[RenderableType] = [titled(document.place, _package(document), console)]
    if ops:
        parts.append(columns(console, "Operators", HEADINGS, _rows(ops)))
    if raw:
        parts += [_types(op, console) for op in ops]
    if document.unlisted:
        names = [(name,) for name in document.unlisted]
        parts.append(columns(console, "Kernels that the JSON does not have", ("Kernel",), names))
    return Group(*parts)


def _package(document: OperatorsDocument) -> Iterator[tuple[str, RenderableType]]:
    ops = document.operators
    for name, path in (
        ("library", document.library),
        ("JSON", document.json),
        ("prototypes", document.prototypes),
    ):
        yield name, from_file(path) if path else Text("none", "dim")
    yield "operators", Text(f"{len(ops):,}")
    for name, values in (
        ("kernelSo", [op.kernel_so for op in ops]),
        ("function", [op.function for op in ops]),
        ("kernel lib", [op.kernel_lib for op in ops]),
    ):
        if text := _common(values):
            yield name, from_file(text)
    missing = sum(op.registered is False for op in ops)
    if document.unlisted is not None:
        these = f"all but {missing:,} of these" if missing else "all of these" if ops else ""
        more = len(document.unlisted)
        others = f"{plural(more, 'kernel')}{' more' if ops else ''}" if more or not ops else ""
        yield "library has", Text(", ".join(filter(None, (these, others))))


def _rows(ops: Sequence[OperatorEntry]) -> list[list[str | Text]]:
    """What is the same for all is told once, above."""
    so = _common([op.kernel_so for op in ops])
    function = _common([op.function for op in ops])
    lib = _common([op.kernel_lib for op in ops])
    return [
        [
            from_file(op.name, "bold"),
            ", ".join(map(_tensor, op.inputs)),
            ", ".join(map(_tensor, op.outputs)),
            SHAPES.get(op.shape_type, ""),
            "" if so else op.kernel_so,
            "" if function else op.function,
            "" if lib else op.kernel_lib,
            "yes" if op.block_dim else "",
            Text("none", "red") if op.registered is False else "",
        ]
        for op in ops
    ]


def _common(values: Sequence[str]) -> str:
    """What all of them are; empty where they differ."""
    return values[0] if len(set(values)) == 1 else ""


def _tensor(tensor: OpTensorEntry) -> str:
    return (tensor.name or f"#{tensor.number}") + ("..." if tensor.dynamic else "")


def _types(op: OperatorEntry, console: Console) -> RenderableType:
    rows = [
        [what, _tensor(tensor), _type_list(tensor), tensor.format or ""]
        for what, tensors in (("in", op.inputs), ("out", op.outputs))
        for tensor in tensors
    ]
    return columns(console, op.name, ("", "Name", "Types", "Format"), rows)


def _type_list(tensor: OpTensorEntry | DescribedTensorEntry) -> str:
    return ", ".join([*tensor.dtypes, *(f"{name}?" for name in tensor.unknown_types)])


@as_text.register(OperatorDocument)
def operator_text(
    document: OperatorDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """One operator: how it is called, its tensors and attributes, where its sources disagree."""
    parts: list[RenderableType] = [titled(document.op, _call(document), console)]
    for title, tensors in (("Inputs", document.inputs), ("Outputs", document.outputs)):
        if tensors:
            headings = ("Name", "", "Types", "Format", "Declared by", "In the JSON")
            parts.append(
                columns(console, title, headings, [_described(each, document) for each in tensors])
            )
    if document.attrs:
        rows = list(map(_attr, document.attrs))
        parts.append(columns(console, "Attributes", ("Attribute", "Kind", "Default"), rows))
    if document.differences:
        pairs = [("differs", from_file(text, "yellow")) for text in document.differences]
        parts += ["", facts(pairs)]
    return Group(*parts)


def _call(document: OperatorDocument) -> Iterator[tuple[str, RenderableType]]:
    where = from_file(document.json) if document.json else Text("none", "dim")
    yield (
        "JSON",
        where
        if document.in_json or not document.json
        else Text.assemble(where, " does not have it"),
    )
    if document.prototype is not None:
        name = document.prototype if document.prototype != document.op else ""
        yield "prototype", from_file(f"{name} in {document.prototypes}".strip().removeprefix("in "))
    elif document.why_no_prototype:
        why = f"none: {document.why_no_prototype}; nothing is known of attributes"
        yield "prototype", from_file(why, "yellow")
    if document.library:
        has = {True: "", False: " has no kernel of this name", None: ""}[document.registered]
        yield "library", from_file(f"{document.library}{has}")
    kernel = f"{document.function} of {document.kernel_so or 'the library'}"
    yield (
        "function",
        from_file(f"{kernel}, {document.kernel_lib}" if document.kernel_lib else kernel),
    )
    source = "in the JSON" if document.in_json else "by default"
    size = f"{document.workspace_kib:,} KiB {source}"
    yield "workspace", Text(f"{size}; for its log a call gets 64")
    if shape := SHAPES.get(document.shape_type):
        yield "output shape", Text(f"{shape} ({document.shape_type})")
    if document.block_dim:
        split = document.block_dim_index
        what = "elements of input 0" if split < 0 else f"dimension {split} of input 0"
        yield "blocks", Text(f"the {what} are split" if split < 0 else f"{what} is split")


def _described(tensor: DescribedTensorEntry, document: OperatorDocument) -> list[str | Text]:
    presence = "" if tensor.presence in (None, "required") else str(tensor.presence)
    types = _type_list(tensor) or ", ".join(tensor.types)
    other = "" if tensor.json_name in (None, tensor.name) else str(tensor.json_name)
    is_clear = document.prototype is None or not document.in_json or tensor.declared == "both"
    declared = "" if is_clear else tensor.declared
    name = from_file(tensor.name or "?", "bold")
    return [name, presence, types, tensor.format or "", declared, other]


def _attr(attr: OpAttrEntry) -> list[str | Text]:
    default: str | Text = Text("required", "yellow") if attr.required else _shown(attr.default)
    return [from_file(attr.name, "bold"), attr.kind or "unknown", default]


def _shown(value: Any) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
