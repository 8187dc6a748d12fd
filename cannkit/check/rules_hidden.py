"""Rules about kernels that the runtime does not see, or knows nothing of: K120 to K129. Spec 01."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.rules_meta import meta_sections
from cannkit.check.subject import ObjectSubject
from cannkit.errors import FormatError, brief
from cannkit.format.container import ContainerKind
from cannkit.format.elf_types import Binding, SymbolType, Visibility
from cannkit.image.kernel_object import KernelObject
from cannkit.image.layout import NAME_LIMIT
from cannkit.image.symbols import symbol_table

SHOWN: Final = 4  # names in one message

K120 = rule(
    "K120",
    "kernel without metadata",
    Level.WARNING,
    why="The runtime takes its defaults: unknown cores, 128 arguments, ratio 1:2.",
    fix="Compile the kernel with the operator compiler, and do not strip the object.",
    spec="FUN-04",
)
K121 = rule(
    "K121",
    "kernel hidden from the runtime",
    Level.ERROR,
    why="A kernel is a GLOBAL function that is not hidden; any other one cannot be looked up.",
    fix='Declare it extern "C" __global__, without static, weak or a hidden visibility.',
    spec="SYM-06",
)
K122 = rule(
    "K122",
    "no kernel in the object",
    Level.ERROR,
    why="Registration succeeds, and every look-up fails.",
    fix='Declare kernels extern "C" __global__, and do not localise their symbols.',
    spec="SYM-05 SYM-06 REG-3",
)
K123 = rule(
    "K123",
    "metadata without a kernel",
    Level.WARNING,
    why="The function was dropped or renamed after its metadata was written.",
    fix="Build the object again; do not strip or rename symbols.",
    spec="FUN-04",
)
K124 = rule(
    "K124",
    "name over the limits",
    Level.ERROR,
    why="The runtime skips a symbol or section whose name has 4096 bytes or more, or none.",
    fix="Shorten the kernel's name.",
    spec="SYM-08 FUN-02 HAZ-11",
)


def check_described(subject: ObjectSubject) -> Iterator[Finding]:
    """K120: each kernel has metadata. Kernels in a fatbin, and relocatable ones, do without."""
    obj, container = subject.obj, subject.item.container
    missing = [kernel.name for kernel in obj.kernels if kernel.section is None]
    direct = container is not None and container.kind == ContainerKind.FATBIN
    if not missing or obj.relocatable or (direct and len(missing) == len(obj.kernels)):
        return
    where = f"kernel {brief(missing[0])}" if len(missing) == 1 else None
    message = f"there is no section .ascend.meta.* for {_few(missing)}"
    yield Finding(K120, subject.place, where, message)


def check_hidden(subject: ObjectSubject) -> Iterator[Finding]:
    """K121 and K123: each metadata section has its kernel; it may be there, but WEAK or hidden."""
    obj = subject.obj
    orphans = meta_sections(obj).keys() - {kernel.name for kernel in obj.kernels}
    if not orphans:
        return
    functions = _functions(obj, orphans)
    for name in sorted(orphans):
        where = f"kernel {brief(name)}"
        reason = functions.get(name)
        if reason is None:
            yield Finding(K123, subject.place, where, "there is no function of this name")
        else:
            yield Finding(K121, subject.place, where, f"its symbol is {reason}")


def check_empty(subject: ObjectSubject) -> Iterator[Finding]:
    """K122: a symbol table of functions that are no kernels."""
    obj = subject.obj
    if not obj.kernels and not obj.refusals:
        message = f"none of {obj.func_count} functions is GLOBAL and visible"
        yield Finding(K122, subject.place, None, message)


def check_names(subject: ObjectSubject) -> Iterator[Finding]:
    """K124: names that the runtime skips."""
    for code, where, message in subject.obj.warnings:
        if code in ("symbol-name", "meta-name"):
            yield Finding(K124, subject.place, where, message)


def _functions(obj: KernelObject, wanted: set[str]) -> dict[str, str]:
    """Of the functions of these names, what keeps them from being kernels."""
    found: dict[str, str] = {}
    elf = obj.elf
    table = symbol_table(elf)
    if table is None:
        return found
    try:
        strings = elf.strings(elf.sections[table.link])
        for name_at, info, other, *_ in elf.symbols(table, table.size // table.entsize):
            if info & 15 == SymbolType.FUNC and (name := strings.at(name_at, NAME_LIMIT)) in wanted:
                binding = Binding(info >> 4)
                weak = binding is not Binding.GLOBAL
                found[name] = binding.name if weak else Visibility(other & 3).name
    except FormatError:  # told by K101 or K004
        pass
    return found


def _few(names: list[str]) -> str:
    shown = ", ".join(map(brief, names[:SHOWN]))
    return f"{shown}, ... ({len(names)} in all)" if len(names) > SHOWN else shown


OBJECT_RULES: Final = (check_described, check_hidden, check_empty, check_names)
