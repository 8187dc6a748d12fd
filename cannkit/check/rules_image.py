"""Rules about the device image, its variables and code: K040 to K044. Spec 01, sections 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.subject import ObjectSubject
from cannkit.errors import brief
from cannkit.image.kernel_object import KernelImage

K040 = rule(
    "K040",
    "device image larger than the file",
    Level.ERROR,
    why="The object registers, but its image cannot be copied to a device.",
    fix="Build or copy the object again.",
    spec="HAZ-10",
)
K041 = rule(
    "K041",
    "global symbol outside the image",
    Level.WARNING,
    why="Whoever asks for its address and writes there hits other memory.",
    fix="Keep the variable in an allocated section.",
    spec="SYM-13 SYM-15",
)
K042 = rule(
    "K042",
    "kernel outside the image",
    Level.ERROR,
    why="A launch would run what happens to lie there.",
    fix="Build the object again; do not strip or patch it.",
    spec="SYM-09 SYM-10",
)
K043 = rule(
    "K043",
    "empty kernel",
    Level.WARNING,
    why="Nothing is prefetched for it, and an exception in it is told of another kernel.",
    fix="Set the symbol's size; a kernel without code was compiled for another core.",
    spec="SYM-10 TBL-4",
)
K044 = rule(
    "K044",
    "kernels overlap",
    Level.WARNING,
    why="One address belongs to two kernels: an exception is told of the wrong one.",
    fix="Remove the alias, or build the object again.",
    spec="SYM-10 TBL-4",
)


def check_image(subject: ObjectSubject) -> Iterator[Finding]:
    """K040: the file holds the whole image."""
    for code, where, message in subject.obj.warnings:
        if code == "image-extent":
            yield Finding(K040, subject.place, where, message)


def check_variables(subject: ObjectSubject) -> Iterator[Finding]:
    """K041: a global variable starts in the image; real ones may end behind it."""
    size = subject.obj.text_size
    for variable in subject.obj.variables:
        if variable.offset >= size:
            message = f"it is at {variable.offset:#x} of an image of {size:#x} bytes"
            yield Finding(K041, subject.place, f"symbol {brief(variable.name)}", message)


def check_code(subject: ObjectSubject) -> Iterator[Finding]:
    """K042, K043 and K044: where the kernels' code lies."""
    obj = subject.obj
    reached: KernelImage | None = None  # the kernel whose code reaches furthest so far
    for kernel in sorted(obj.kernels, key=lambda kernel: (kernel.offset, kernel.name)):
        where = f"kernel {brief(kernel.name)}"
        end = kernel.offset + kernel.length
        if kernel.offset < 0 or end > obj.text_size:
            message = f"its code is at {kernel.offset:#x} to {end:#x}, the image ends at {obj.text_size:#x}"
            yield Finding(K042, subject.place, where, message)
        if kernel.length <= 0:
            yield Finding(K043, subject.place, where, f"its symbol has size {kernel.length}")
            continue
        if reached and kernel.offset < reached.offset + reached.length:
            message = f"its code at {kernel.offset:#x} begins inside that of {brief(reached.name)}"
            yield Finding(K044, subject.place, where, message)
        if reached is None or end > reached.offset + reached.length:
            reached = kernel


OBJECT_RULES: Final = (check_image, check_variables, check_code)
