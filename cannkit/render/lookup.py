"""`cannkit lookup` for people: the hits, or what would have been found."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.format.ascend_meta import VfType
from cannkit.render.console import from_file
from cannkit.render.text import as_text, facts, named, size
from cannkit.report.base import safe
from cannkit.report.lookup import Hit, LookupDocument


@as_text.register(LookupDocument)
def lookup_text(document: LookupDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """Each hit with what a caller of the runtime would get, or the miss explained."""
    if document.hits:
        parts: list[RenderableType] = []
        if document.reason:
            parts += [Text(document.reason, "yellow"), ""]
        for hit in document.hits:
            parts += [from_file(hit.kernel.name, "bold green"), facts(_hit_facts(hit)), ""]
        return Group(*parts[:-1])
    parts = [Text.assemble(("not found: ", "bold red"), safe(document.reason or ""))]
    if document.nearest:
        what = (
            "keys" if document.query.entry else "before it" if document.query.pc else "did you mean"
        )
        parts.append(Text(f"{what}:", "bold"))
        parts += [from_file(f"  {name}") for name in document.nearest]
    return Group(*parts)


def _hit_facts(hit: Hit) -> Iterator[tuple[str, RenderableType]]:
    kernel = hit.kernel
    yield "file", from_file(hit.file)
    if hit.pc_offset is not None:
        yield "at", f"{hit.pc_offset:#x} bytes into its code"
    if hit.source is not None:
        yield "source", from_file(f"{hit.source.file}:{hit.source.line}")
    if hit.function_address is not None:
        yield "address", hit.function_address
    yield "core", named(kernel.attr, kernel.attr_name)
    if kernel.mix:
        yield "mix", named(kernel.mix, kernel.mix_name)
    how = "by entry and by name" if kernel.in_table else "by name alone"
    yield "key", f"{kernel.tiling_key}, found {how}"
    yield "slot 1", f"offset {kernel.offset1:#x}, {size(kernel.length1)}"
    if kernel.offset2 is not None:
        yield "slot 2", f"offset {kernel.offset2:#x}, {size(kernel.length2 or 0)}"
    yield "args", f"{kernel.user_args} of the user, {kernel.system_args} of the system"
    if kernel.vf_type:
        yield "vf", named(kernel.vf_type, VfType(kernel.vf_type).name)
    if kernel.min_stack_size:
        yield "stack", size(kernel.min_stack_size)
