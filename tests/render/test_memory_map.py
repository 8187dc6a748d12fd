"""The memory map as a picture: XML that any reader takes, boxes to scale. cli.md, section 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.render.memory_map import BAR, MARGIN, MOST_LABELS, WIDTH, memory_map
from cannkit.report.base import printable, safe
from cannkit.report.device import DeviceEntry
from cannkit.report.load import (
    AllocationEntry,
    FunctionEntry,
    GlobalPlace,
    LoadDocument,
)
from tests.cli.inputs import ODD_NAMES, SHOWN_NAMES

BASE: Final = 0x12C0_0000_0000
INSIDE: Final = WIDTH - 2 * MARGIN
SVG: Final = "{http://www.w3.org/2000/svg}"
LEGEND: Final = "grey: data and padding, yellow: variables"
HOSTILE: Final = ("</title></rect><script>x</script>", '"><a href="x">', "a&b;&amp;", "]]>", "<!--")


def document(
    *images: tuple[str, int, int],
    functions: Sequence[tuple[str, int, int | None]] = (),
    variables: Sequence[tuple[str, int, int]] = (),
) -> LoadDocument:
    """Images as (file, aligned address, bytes), each in memory from BASE on."""
    return LoadDocument(
        device=DeviceEntry(0, "Ascend910B1", "0x124000000000"),
        allocations=tuple(
            AllocationEntry(file, hex(BASE), hex(aligned), size, True, False)
            for file, aligned, size in images
        ),
        functions=tuple(
            FunctionEntry("k.o", name, hex(pc1), None if pc2 is None else hex(pc2))
            for name, pc1, pc2 in functions
        ),
        globals=tuple(
            GlobalPlace("k.o", name, hex(address), size, False) for name, address, size in variables
        ),
        errors=(),
    )


def drawn(found: LoadDocument, code: Mapping[int, int] | None = None) -> ElementTree.Element:
    root = ElementTree.fromstring(memory_map(found, code or {}))
    assert root.tag == f"{SVG}svg"
    return root


def bars(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The boxes in the bars, without the swatches of the legend."""
    return [box for box in root.iter(f"{SVG}rect") if box.attrib["height"] == str(BAR)]


def boxes(root: ElementTree.Element) -> list[tuple[str, float, float]]:
    """Title, left edge and width of each box in a bar."""
    return [
        (str(box.findtext(f"{SVG}title")), float(box.attrib["x"]), float(box.attrib["width"]))
        for box in bars(root)
    ]


def texts(root: ElementTree.Element) -> list[str]:
    """The lines; what shows when the mouse is over one is not in it."""
    return [
        "".join([t.text or "", *(part.tail or "" for part in t)]) for t in root.iter(f"{SVG}text")
    ]


def test_boxes_are_to_scale() -> None:
    """The bar is the memory from the base on, the gap before the image and all."""
    code = {BASE + 0x1000: 0x400, BASE + 0x1800: 0x200, BASE + 0x1C00: 0x100}
    found = document(
        ("k.o", BASE + 0x1000, 0x1000),
        functions=[("mm_0", BASE + 0x1000, BASE + 0x1800), ("add_1", BASE + 0x1C00, None)],
        variables=[("g_x", BASE + 0x1E00, 0x200)],
    )
    pixel = INSIDE / 0x2000
    expected = [
        ("data and padding", MARGIN, INSIDE),
        (f"mm_0 at {BASE + 0x1000:#x}, 1,024 B", MARGIN + 0x1000 * pixel, 0x400 * pixel),
        (f"mm_0 at {BASE + 0x1800:#x}, 512 B", MARGIN + 0x1800 * pixel, 0x200 * pixel),
        (f"add_1 at {BASE + 0x1C00:#x}, 256 B", MARGIN + 0x1C00 * pixel, 0x100 * pixel),
        (f"g_x at {BASE + 0x1E00:#x}, 512 B", MARGIN + 0x1E00 * pixel, 0x200 * pixel),
    ]
    for (title, left, width), wanted in zip(boxes(drawn(found, code)), expected, strict=True):
        assert (title, left, width) == (
            wanted[0],
            *(pytest.approx(x, abs=0.06) for x in wanted[1:]),
        )


def test_small_things_can_be_seen() -> None:
    found = document(
        ("k.o", BASE, 1 << 21),
        functions=[("k_0", BASE, None)],
        variables=[("g_x", BASE + 0x1000, 8)],
    )
    _, function, variable = boxes(drawn(found, {BASE: 16}))
    assert function[2] >= 0.5
    assert variable[2] >= 2


def test_nothing_leaves_its_bar() -> None:
    """A variable that ends after its image, code that would: both are cut at the end."""
    found = document(
        ("k.o", BASE, 0x1008),
        functions=[("k_0", BASE + 0x800, None)],
        variables=[("g_opSystemRunCfg", BASE + 0x1000, 256)],
    )
    for title, left, width in boxes(drawn(found, {BASE + 0x800: 0x2000})):
        assert left >= MARGIN, title
        assert left + width <= WIDTH - MARGIN + 0.1, title


def test_what_lies_elsewhere_is_not_drawn() -> None:
    found = document(
        ("k.o", BASE, 0x1000),
        functions=[("before_0", BASE - 0x10, None), ("after_1", BASE + 0x1000, None)],
        variables=[("g_after", BASE + 0x1000, 8)],
    )
    assert [title for title, *_ in boxes(drawn(found))] == ["data and padding"]


def test_a_bar_for_each_image() -> None:
    """One below the other, all inside the picture."""
    images = [(f"k{at}.o", BASE + 0x1000 * at, 0x800) for at in range(5)]
    root = drawn(document(*images))
    tops = [float(box.attrib["y"]) for box in bars(root)]
    assert len(tops) == 5
    assert all(below - above > BAR for above, below in pairwise(tops))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert (width, height) == (float(root.attrib["width"]), float(root.attrib["height"]))
    assert tops[-1] + BAR < height
    lines = texts(root)
    assert lines[0] == root.attrib["aria-label"] == "device 0, Ascend910B1: 5 images"
    for file, aligned, _ in images:
        assert file in lines
        assert f"{aligned:#x} .. {aligned + 0x800:#x}, 2,048 B, pool, rw" in lines


def test_one_image_and_none() -> None:
    assert texts(drawn(document(("k.o", BASE, 16))))[0].endswith(": 1 image")
    assert texts(drawn(document())) == ["device 0, Ascend910B1: 0 images", LEGEND]


def test_every_function_is_labelled() -> None:
    """By address, each beside a swatch of the colour that it has in the bar."""
    functions: list[tuple[str, int, int | None]] = [
        ("b_1", BASE + 0x40, None),
        ("a_0", BASE, BASE + 0x80),
    ]
    root = drawn(document(("k.o", BASE, 0x100), functions=functions))
    assert texts(root)[3:-1] == [
        f"{BASE:#x} a_0",
        f"{BASE + 0x40:#x} b_1",
        f"{BASE + 0x80:#x} a_0",
    ]
    swatches = [box for box in root.iter(f"{SVG}rect") if box not in bars(root)]
    assert [box.attrib["fill"] for box in swatches] == [
        box.attrib["fill"] for box in bars(root)[1:]
    ]


def test_a_long_legend_ends_in_a_number() -> None:
    functions = [(f"k_{n}", BASE + 0x40 * n, None) for n in range(MOST_LABELS + 3)]
    root = drawn(document(("k.o", BASE, 0x1000), functions=functions))
    lines = texts(root)
    assert lines[-3:-1] == [
        f"{BASE + 0x40 * (MOST_LABELS - 1):#x} k_{MOST_LABELS - 1}",
        "and 3 more",
    ]
    assert len(bars(root)) == 1 + MOST_LABELS + 3
    lowest = max(float(text.attrib["y"]) for text in root.iter(f"{SVG}text"))
    assert lowest < float(root.attrib["height"])


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name: str) -> None:
    """HAZ-18: no name can end an element, begin one, or be an entity."""
    check_name(name, name)


@pytest.mark.parametrize(("name", "shown"), list(zip(ODD_NAMES, SHOWN_NAMES, strict=True)))
def test_odd_names(name: str, shown: str) -> None:
    check_name(printable(name), shown)


@given(st.text())
def test_any_name(name: str) -> None:
    check_name(name, safe(name))


def check_name(name: str, shown: str) -> None:
    """A name everywhere: the picture has the elements it always has, and the name in four places."""
    found = document(
        (name, BASE, 0x100), functions=[(name, BASE, None)], variables=[(name, BASE + 0x80, 8)]
    )
    root = drawn(found, {BASE: 64})
    kinds = [element.tag.removeprefix(SVG) for element in root.iter()]
    plain = drawn(document(("x", BASE, 0x100), functions=[("x", BASE, None)],
                           variables=[("x", BASE + 0x80, 8)]), {BASE: 64})  # fmt: skip
    assert set(kinds) == {element.tag.removeprefix(SVG) for element in plain.iter()}
    assert kinds.count("rect") == 4
    told = "\n".join(root.itertext())
    assert f"{shown} at {BASE:#x}" in told
    assert f"{shown} at {BASE + 0x80:#x}" in told
    assert f"{BASE:#x} {shown}" in told
