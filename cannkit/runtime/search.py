"""Kernels by name, entry or address over registered programs, and why none is found. Spec 02, 7."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Final, NamedTuple

from cannkit.errors import brief
from cannkit.image.kernel_meta import EntryKind
from cannkit.runtime.kernel import Kernel, Part, strip_mix, tiling_key
from cannkit.runtime.kernel_table import PC_MASK
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program

ALL_KEYS: Final = 20  # so few keys are told all
NEAREST: Final = 5
PAGE: Final = (
    0x1000  # DIAG-80: images begin at a page, so low bits of an address are those of an offset
)
CUTOFF: Final = 0.6
MOST_NAMES: Final = 20_000  # more are not compared one by one


class Query(NamedTuple):
    """One of the three; `base` is the aligned device address of the image that `pc` lies in."""

    name: str | None = None
    entry: int | None = None
    pc: int | None = None
    base: int | None = None


class Found(NamedTuple):
    """A kernel; `pc_offset` bytes into the code of its `part`. `base` is that of the image, if known."""

    program: Program
    kernel: Kernel
    part: Part
    pc_offset: int | None = None
    base: int | None = None


class Miss(NamedTuple):
    """What would have been found instead, and why nothing was."""

    nearest: tuple[str, ...]
    reason: str


def search(program: Program, query: Query) -> tuple[Found, ...]:
    """What the runtime finds in a program: one kernel at most by name or entry (TBL-2, TBL-3).

    An address is looked up in the image at `base`. Without a base it is an offset if the image is
    large enough for it; else it is taken for a logged `pc start`, which has the low 12 bits of the
    kernel's offset (DIAG-80), and every kernel that fits is a hit.
    """
    if query.name is not None:
        kernel = program.find_name(query.name)
        return (Found(program, kernel, kernel.part1),) if kernel else ()
    if not isinstance(program, ElfProgram):
        return ()
    if query.entry is not None:
        kernel = program.table.find(query.entry)
        return (Found(program, kernel, kernel.part1),) if kernel else ()
    return tuple(_at(program, (query.pc or 0) & PC_MASK, query.base))


def _at(program: ElfProgram, pc: int, base: int | None) -> Iterator[Found]:
    if base is not None or pc < program.load_size:
        # TBL-4 finds nothing at address 0, but as an offset that is one
        hit = (
            program.by_pc(pc + PAGE, PAGE).exact if base is None else program.by_pc(pc, base).exact
        )
        if hit is not None:
            part = hit.kernel.part1 if hit.slot == 1 else hit.kernel.part2
            yield Found(program, hit.kernel, part, hit.offset, base)
        return
    for kernel in program.kernels:
        for part in (kernel.part1, kernel.part2):
            if part.present and part.offset % PAGE == pc % PAGE:
                yield Found(program, kernel, part, 0, pc - part.offset)


def by_low_bits(query: Query, found: Found) -> bool:
    """Whether an address was too large for an offset, so that only its low bits could be used."""
    return query.base is None and found.base is not None


def explain_miss(programs: Sequence[Program], query: Query) -> Miss:
    """Why nothing was found in `programs`, in the words of somebody who asked for it."""
    if not programs:
        return Miss((), "no binary could be searched")
    kernels = list(chain.from_iterable(program.kernels for program in programs))
    if query.name is not None:
        return _name_miss(kernels, query.name)
    if query.entry is not None:
        return _entry_miss(programs, kernels, query.entry)
    return _pc_miss(programs, kernels, query)


def _name_miss(kernels: Sequence[Kernel], name: str) -> Miss:
    names = {kernel.name: kernel for kernel in kernels}
    stripped = strip_mix(name)
    if stripped != name and stripped in names:
        symbols = names[stripped].symbols
        reason = f"the runtime registers the halves of a mix pair as {brief(stripped)}"
        if name not in symbols:
            reason = f"it exists as {brief(symbols[0])} only, registered as {brief(stripped)}"
        return Miss((stripped,), reason)
    keyed = [each for each in names if _lacks_key(name, each)]
    if keyed:
        reason = "the name lacks its key: the runtime looks for the whole name, number included"
        return Miss(tuple(keyed[:ALL_KEYS]), reason)
    same = [each for each in names if each.lower() == name.lower()]
    if same:
        return Miss(tuple(same), "only the case of letters differs: the runtime compares bytes")
    near = [each for each in names if name and name.lower() in each.lower()][:NEAREST]
    near = near or get_close_matches(name, list(names)[:MOST_NAMES], NEAREST, CUTOFF)
    return Miss(tuple(near), f"none of {len(names):,} registered kernels has this name")


def _lacks_key(name: str, whole: str) -> bool:
    head, _, tail = whole.rpartition("_")
    return head == name and tail.isdecimal()


def _entry_miss(programs: Sequence[Program], kernels: Sequence[Kernel], entry: int) -> Miss:
    tables = [program.table for program in programs if isinstance(program, ElfProgram)]
    keys = sorted({key for table in tables for key in table.keys})
    nearest = tuple(map(str, keys if len(keys) <= ALL_KEYS else _closest(keys, entry)))
    if not tables:
        return Miss((), "AI CPU programs have no entries: their kernels are found by name")
    for kernel in kernels:
        if kernel.entry_kind is EntryKind.UNSUPPORTED and kernel.tiling_key == entry:
            reason = f"{brief(kernel.name)} has its entry disabled: it is found by name alone"
            return Miss(nearest, reason)
        if kernel.tiling_key != entry and tiling_key(kernel.name) == entry != 0:
            reason = (
                f"{brief(kernel.name)} ends in {entry}, but its metadata says entry "
                f"{kernel.tiling_key}"
            )
            return Miss(nearest, reason)
    if keys == [0]:
        reason = (
            "every kernel is registered under key 0 only: the host passed a real tiling key "
            "to a binary without any"
        )
        return Miss(nearest, reason)
    if not keys:
        return Miss((), "no kernel of these binaries has an entry")
    reason = f"none of {len(keys):,} keys is {entry}: they go from {keys[0]} to {keys[-1]}"
    return Miss(nearest, reason)


def _closest(keys: Sequence[int], entry: int) -> list[int]:
    return sorted(sorted(keys, key=lambda key: abs(key - entry))[:NEAREST])


def _pc_miss(programs: Sequence[Program], kernels: Sequence[Kernel], query: Query) -> Miss:
    pc = (query.pc or 0) & PC_MASK
    if query.base is None and all(pc >= program.load_size for program in programs):
        reason = "too large for an offset, and no kernel starts at an offset that ends in"
        return Miss((), f"{reason} {pc % PAGE:#05x}: --base ADDR tells where the image begins")
    at = pc - (query.base or 0)
    if at < 0:
        return Miss((), f"the address lies {-at:#x} bytes before the image")
    ends = (
        (part.offset + part.length, kernel.name)
        for kernel in kernels
        for part in (kernel.part1, kernel.part2)
        if part.present
    )
    end, name = max((each for each in ends if each[0] <= at), default=(0, ""))
    if not name:
        return Miss((), f"offset {at:#x} is in no kernel")
    past = f"{at - end:#x} bytes past {brief(name)}"
    return Miss((name,), f"offset {at:#x} is in no kernel: {past}")
