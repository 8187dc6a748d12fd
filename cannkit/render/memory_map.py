"""`cannkit load --svg`: the memory map as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from cannkit.report.base import safe
from cannkit.report.load import AllocationEntry, FunctionEntry, GlobalPlace, LoadDocument

WIDTH = 960
MARGIN = 24
BAR = 28
BAR_TOP = 40
LINE = 16
MOST_LABELS = 16
COLORS = ("#4e79a7", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f")
STYLE = (
    "text{font:12px ui-monospace,monospace;fill:#222}.s{font-size:11px;fill:#555}"
    ".h{font-weight:bold;font-size:14px}.pad{fill:#ccc}.var{fill:#edc948}"
    "@media(prefers-color-scheme:dark){svg{background:#1b1b1b}text{fill:#ddd}.s{fill:#aaa}}"
)


def memory_map(document: LoadDocument, code: Mapping[int, int]) -> str:
    """An SVG: a bar for each image, functions and variables to scale and named, the rest in grey.

    `code` tells how many bytes the function at an address has.
    """
    device = document.device
    head = f"device {device.id}, {device.soc}: {_images(len(document.allocations))}"
    lines = [_text(MARGIN, MARGIN + 4, head, "h")]
    top = MARGIN + 24
    for image in document.allocations:
        aligned = int(image.aligned, 16)
        starts = _starts(document.functions, aligned, aligned + image.size)
        lines += _image(document, image, code, starts, top)
        top += BAR_TOP + BAR + LINE * (min(len(starts), MOST_LABELS + 1) + 1)
    height = top + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
            f'  width="{WIDTH}" height="{height}" role="img" aria-label={quoteattr(head)}>',
            f"<style>{STYLE}</style>",
            *lines,
            _text(MARGIN, height - 8, "grey: data and padding, yellow: variables", "s"),
            "</svg>\n",
        ]
    )


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count:,} images"


def _image(
    document: LoadDocument,
    image: AllocationEntry,
    code: Mapping[int, int],
    starts: Sequence[tuple[int, str]],
    top: int,
) -> Iterator[str]:
    base, aligned = int(image.base, 16), int(image.aligned, 16)
    end = aligned + image.size
    scale = (WIDTH - 2 * MARGIN) / (end - base)
    kind = f"{'pool' if image.from_pool else 'own memory'}, {'ro' if image.read_only else 'rw'}"
    name = image.file.rpartition("/")[2]
    yield _text(MARGIN, top + 14, name, title=image.file)
    yield _text(MARGIN, top + 30, f"{image.aligned} .. {end:#x}, {image.size:,} B, {kind}", "s")
    bar = top + BAR_TOP
    yield _box(MARGIN, bar, WIDTH - 2 * MARGIN, "pad", "data and padding")
    for number, (start, kernel) in enumerate(starts):
        color = COLORS[number % len(COLORS)]
        length = min(code.get(start, 0), end - start)
        title = f"{kernel} at {start:#x}, {length:,} B"
        yield _box(MARGIN + (start - base) * scale, bar, length * scale, "", title, color)
        label = bar + BAR + LINE * (number + 1)
        if number < MOST_LABELS:
            yield _box(MARGIN, label - 9, 10, "", title, color, height=10)
            yield _text(MARGIN + 16, label, f"{start:#x} {kernel}", "s")
        elif number == MOST_LABELS:
            yield _text(MARGIN + 16, label, f"and {len(starts) - MOST_LABELS:,} more", "s")
    for variable in _variables(document.globals, aligned, end):
        address = int(variable.address, 16)
        width = max(2.0, min(variable.size, end - address) * scale)
        left = min(MARGIN + (address - base) * scale, WIDTH - MARGIN - width)
        title = f"{variable.name} at {variable.address}, {variable.size:,} B"
        yield _box(left, bar, width, "var", title)


def _starts(functions: Sequence[FunctionEntry], aligned: int, end: int) -> list[tuple[int, str]]:
    places = [(int(pc, 16), each.kernel) for each in functions for pc in (each.pc1, each.pc2) if pc]
    return sorted(place for place in places if aligned <= place[0] < end)


def _variables(variables: Sequence[GlobalPlace], aligned: int, end: int) -> list[GlobalPlace]:
    return [each for each in variables if aligned <= int(each.address, 16) < end]


def _text(x: float, y: float, text: str, style: str = "", title: str = "") -> str:
    hover = f"<title>{escape(safe(title))}</title>" if title else ""
    return f'<text x="{x:.1f}" y="{y}" class="{style}">{hover}{escape(safe(text))}</text>'


def _box(
    x: float, y: float, width: float, style: str, title: str, color: str = "", *, height: int = BAR
) -> str:
    fill = f' fill="{color}"' if color else ""
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.5):.1f}" height="{height}" '
        f'class="{style}"{fill}><title>{escape(safe(title))}</title></rect>'
    )
