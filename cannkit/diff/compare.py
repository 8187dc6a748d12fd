"""The changes between two objects, in the words of `change`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cannkit.diff.change import FACTS, OTHER, SIDECAR, Change, Effect, Value, grade
from cannkit.diff.side import HASH
from cannkit.diff.sidecar_facts import entry_key
from cannkit.diff.summary import Facts, KernelSummary, Summary

KernelPair = tuple[KernelSummary, KernelSummary]


class Place(NamedTuple):
    """Whose facts are compared."""

    subject: str
    file: str | None
    kernel: str | None = None

    def change(self, effect: Effect, kind: str, before: Value, after: Value) -> Change:
        """A change of what lies here."""
        return Change(effect, kind, self.subject, before, after, self.file, self.kernel)

    def of_kernel(self, name: str) -> Place:
        """A kernel of the object."""
        return Place(name, self.file, name)


def compare(a: Summary, b: Summary, place: Place, *, moved: bool = False) -> Iterator[Change]:
    """What differs between two objects; `moved`: another hash in the name is told already.

    Bytes that are in no fact are one change, where it is the only one and kernels keep their names.
    """
    if a.sha256 == b.sha256 and a.facts == b.facts and a.entries == b.entries:
        return
    nothing = True
    for change in _changes(a, b, place, moved=moved):
        nothing = False
        yield change
    if nothing and a.sha256 != b.sha256 and a.kernels.keys() == b.kernels.keys():
        yield place.change(Effect.SIZE, "file", a.sha256, b.sha256)


def _changes(a: Summary, b: Summary, place: Place, *, moved: bool) -> Iterator[Change]:
    pairs, gone, new = _match(a.kernels, b.kernels)
    yield from _object_facts(a.facts, b.facts, place)
    yield from _names(pairs, place, moved=moved)
    for kernel in gone:
        yield place.of_kernel(kernel.name).change(Effect.BREAKING, "kernel", _present(kernel), None)
    for kernel in new:
        yield place.of_kernel(kernel.name).change(
            Effect.BEHAVIOUR, "kernel", None, _present(kernel)
        )
    for first, second in pairs:
        yield from _kernel_facts(first.facts, second.facts, place.of_kernel(first.name))
    bases = {entry_key(kernel.parts.base): kernel.parts.base for kernel in a.kernels.values()}
    for key in (each for each in bases if each in a.entries and each in b.entries):
        yield from _facts(a.entries[key], b.entries[key], place.of_kernel(bases[key]))
    for kind, before, after in (
        ("variable", a.variables, b.variables),
        ("section", a.sections, b.sections),
    ):
        for name in _union(before, after):
            if before.get(name) != after.get(name):
                yield Place(name, place.file).change(
                    Effect.BEHAVIOUR, kind, before.get(name), after.get(name)
                )


def _present(kernel: KernelSummary) -> Value:
    """What a kernel is found by."""
    return kernel.facts["key"] if kernel.facts["key"] is not None else kernel.name


def _match(
    a: Mapping[str, KernelSummary], b: Mapping[str, KernelSummary]
) -> tuple[list[KernelPair], list[KernelSummary], list[KernelSummary]]:
    """Kernels by name, and by key where the file that they are named after is another one."""
    pairs = [(a[name], b[name]) for name in a if name in b]
    gone = [kernel for name, kernel in a.items() if name not in b]
    new = [kernel for name, kernel in b.items() if name not in a]
    left = {_role(kernel): kernel for kernel in gone}
    right = {_role(kernel): kernel for kernel in new}
    counts = Counter(map(_role, gone)) + Counter(map(_role, new))
    roles = {role for role in left.keys() & right.keys() if counts[role] == 2 and role[0]}
    pairs += [(kernel, right[role]) for role, kernel in left.items() if role in roles]
    return (
        pairs,
        [kernel for kernel in gone if _role(kernel) not in roles],
        [kernel for kernel in new if _role(kernel) not in roles],
    )


def _role(kernel: KernelSummary) -> tuple[str, str]:
    key = kernel.parts.key
    return "" if key is None else str(key), kernel.parts.mix_suffix


def _names(pairs: list[KernelPair], place: Place, *, moved: bool) -> Iterator[Change]:
    """Kernels that are called after another file."""
    renamed = {(a.prefix, b.prefix): None for a, b in pairs if a.name != b.name}
    for before, after in renamed:
        hashed = HASH.sub("", before) == HASH.sub("", after)
        effect = Effect.BEHAVIOUR if hashed else Effect.BREAKING
        if not (moved and hashed):
            yield place.change(effect, "name", before, after)


def _object_facts(a: Facts, b: Facts, place: Place) -> Iterator[Change]:
    """Facts of the object; those of a sidecar only where both have one."""
    if a["sidecar"] != b["sidecar"]:
        a, b = _without_sidecar(a), _without_sidecar(b)
    yield from _facts(a, b, place)


def _without_sidecar(facts: Facts) -> Facts:
    return {kind: value for kind, value in facts.items() if not kind.startswith(SIDECAR)}


def _kernel_facts(a: Facts, b: Facts, place: Place) -> Iterator[Change]:
    """Facts of a kernel: how it is found tells nothing new where it is found by another key."""
    if a["key"] != b["key"]:
        a, b = {**a, "entry_kind": None}, {**b, "entry_kind": None}
    yield from _facts(a, b, place)


def _facts(a: Facts, b: Facts, place: Place) -> Iterator[Change]:
    for kind in _union(a, b):
        default = FACTS.get(kind, OTHER).default
        before, after = a.get(kind, default), b.get(kind, default)
        if before != after:
            yield place.change(grade(kind, before, after), kind, before, after)


def _union(a: Facts, b: Facts) -> tuple[str, ...]:
    """The kinds of both, in their order."""
    return tuple(dict.fromkeys((*a, *b)))
