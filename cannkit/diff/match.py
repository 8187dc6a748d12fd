"""Which object of A is which of B: by path, and by what it is where a hash in its name changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from cannkit.diff.side import Member, Side
from cannkit.diff.summary import Summary

SocChange = tuple[str, str]


class Matching(NamedTuple):
    """Objects of both sides, and those of one alone. `soc`: one family took the place of another."""

    pairs: tuple[tuple[Member, Member], ...]
    gone: tuple[Member, ...]
    new: tuple[Member, ...]
    soc: SocChange | None


def match(a: Side, b: Side, *, single: bool) -> Matching:
    """Match the objects; `single` says that both arguments are one object, whatever they are called."""
    if single and len(a.members) == len(b.members) == 1:
        return Matching(((a.members[0], b.members[0]),), (), (), None)
    soc = _other_soc(a.members, b.members)
    theirs = {as_in_a(each.path, soc): each for each in b.members}
    pairs = {each.path: theirs[each.path] for each in a.members if each.path in theirs}
    gone = [each for each in a.members if each.path not in pairs]
    new = [each for path, each in theirs.items() if path not in pairs]
    pairs |= _by_content(gone, new, soc)
    taken = {each.path for each in pairs.values()}
    return Matching(
        tuple((each, pairs[each.path]) for each in a.members if each.path in pairs),
        tuple(each for each in gone if each.path not in pairs),
        tuple(each for each in new if each.path not in taken),
        soc,
    )


def _other_soc(a: Iterable[Member], b: Iterable[Member]) -> SocChange | None:
    """Where each side is for one family, and for another one: A2 beside A3."""
    before, after = ({each.soc for each in side if each.soc} for side in (a, b))
    if len(before) == len(after) == 1 and before != after:
        return before.pop(), after.pop()
    return None


def soc_in_a(name: str | None, soc: SocChange | None) -> str | None:
    """A family of B as A calls it."""
    return soc[0] if soc is not None and name == soc[1] else name


def as_in_a(path: str, soc: SocChange | None) -> str:
    """A path of B as if it were for the family of A."""
    return "/".join(soc_in_a(part, soc) or "" for part in path.split("/")) if soc else path


def _simplified(summary: Summary) -> Hashable:
    return summary.simplified or None


def _signature(summary: Summary) -> Hashable:
    return summary.signature


def _bytes(summary: Summary) -> Hashable:
    return summary.sha256


TRAITS: Final[tuple[Callable[[Summary], Hashable], ...]] = (_bytes, _simplified, _signature)
"""What tells that two objects of one operator are the same, surest first."""


def _by_content(
    gone: Sequence[Member], new: Sequence[Member], soc: SocChange | None
) -> dict[str, Member]:
    """Objects of B by the path in A, of one operator and SoC, that share a trait with nobody else."""
    pairs: dict[str, Member] = {}
    for trait in TRAITS:
        left, right = _buckets(gone, trait, soc), _buckets(new, trait, soc)
        found = {
            left[key][0].path: right[key][0]
            for key in left.keys() & right.keys()
            if len(left[key]) == len(right[key]) == 1
        }
        seconds = {each.path for each in found.values()}
        gone = [each for each in gone if each.path not in found]
        new = [each for each in new if each.path not in seconds]
        pairs |= found
    return pairs


def _buckets(
    members: Iterable[Member], trait: Callable[[Summary], Hashable], soc: SocChange | None
) -> dict[Hashable, list[Member]]:
    found: dict[Hashable, list[Member]] = defaultdict(list)
    for each in members:
        value = None if each.summary is None else trait(each.summary)
        if value is not None:
            group = each._replace(soc=soc_in_a(each.soc, soc)).group
            found[group, value].append(each)
    return found
