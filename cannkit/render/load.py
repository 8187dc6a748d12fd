"""`cannkit load` for people: the memory map as tables."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.render.text import as_text, columns, plural, size
from cannkit.report.load import LoadDocument

IMAGES = ("Image at", "Pad", "Size", "Memory", "File")
FUNCTIONS = ("Kernel", "PC 1", "PC 2")
VARIABLES = ("Variable", "Address", "Size", "Set by loader")


@as_text.register(LoadDocument)
def load_text(document: LoadDocument, console: Console, *, raw: bool = False) -> RenderableType:
    """Images, functions and variables of a device."""
    device = document.device
    parts: list[RenderableType] = []
    if document.allocations:
        parts.append(Text(f"device {device.id}, {device.soc}, memory from {device.base}", "bold"))
    if document.allocations:
        rows = [
            (
                each.aligned,
                size(int(each.aligned, 16) - int(each.base, 16)),
                size(each.size),
                f"{'pool' if each.from_pool else 'own'}, {'ro' if each.read_only else 'rw'}",
                each.file,
            )
            for each in document.allocations
        ]
        title = plural(len(rows), "image")
        parts.append(columns(console, title, IMAGES, rows, ("Pad", "Size")))
    if document.functions:
        rows3 = [(each.kernel, each.pc1, each.pc2 or "") for each in document.functions]
        parts.append(columns(console, plural(len(rows3), "function"), FUNCTIONS, rows3))
    if document.globals:
        rows4 = [
            (each.name, each.address, size(each.size), "yes" if each.refreshed else "")
            for each in document.globals
        ]
        title = plural(len(rows4), "variable")
        parts.append(columns(console, title, VARIABLES, rows4, ("Size",)))
    return Group(*parts)
