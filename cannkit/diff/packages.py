"""The changes between two arguments of `diff`: SoCs, operators and objects, then what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from cannkit.diff.change import Change, Effect
from cannkit.diff.compare import Place, compare
from cannkit.diff.match import Matching, SocChange, as_in_a, match, soc_in_a
from cannkit.diff.side import Member, Side

ORDER: Final = tuple(Effect)


class Difference(NamedTuple):
    """All changes, breaking ones first, and how many objects were compared with another."""

    changes: tuple[Change, ...]
    compared: int


def compare_sides(a: Side, b: Side, *, single: bool) -> Difference:
    """Compare two arguments; `single` says that each is one object."""
    matching = match(a, b, single=single)
    changes = [*_missing(a.members, b.members, matching), *_pairs(matching, single=single)]
    changes.sort(key=lambda change: ORDER.index(change.effect))
    compared = sum(bool(first.summary and second.summary) for first, second in matching.pairs)
    return Difference(tuple(changes), compared)


def _pairs(matching: Matching, *, single: bool) -> Iterator[Change]:
    for first, second in matching.pairs:
        if first.summary is None or second.summary is None:
            continue
        place = Place(first.path, None if single else first.path)
        moved = not single and first.path != as_in_a(second.path, matching.soc)
        if moved:
            yield place.change(Effect.BEHAVIOUR, "path", first.path, second.path)
        yield from compare(first.summary, second.summary, place, moved=moved)


def _missing(a: Sequence[Member], b: Sequence[Member], matching: Matching) -> Iterator[Change]:
    """What only one side has: told once, as a whole SoC, an operator, or an object."""
    if matching.soc is not None:
        before, after = matching.soc
        yield Change(Effect.BREAKING, "soc", before, before, after)
    for members, others, effect in (
        (matching.gone, b, Effect.BREAKING),
        (matching.new, a, Effect.BEHAVIOUR),
    ):
        for (kind, subject), count in _counts(members, others, matching.soc).items():
            file = subject if kind == "object" else None
            present, absent = (count, None) if effect is Effect.BREAKING else (None, count)
            yield Change(effect, kind, subject, present, absent, file)


def _counts(
    members: Sequence[Member], others: Sequence[Member], soc: SocChange | None
) -> Counter[tuple[str, str]]:
    """Kind and subject of what the other side lacks: of how many objects, an object of how many kernels."""
    socs = {soc_in_a(each.soc, soc) for each in others}
    ops = {(soc_in_a(each.soc, soc), each.op) for each in others}
    counts: Counter[tuple[str, str]] = Counter()
    for each in members:
        own = soc_in_a(each.soc, soc)
        if each.soc is not None and own not in socs:
            counts["soc", each.soc] += 1
        elif each.op is not None and (own, each.op) not in ops:
            counts["op", "/".join(filter(None, (each.soc, each.op)))] += 1
        else:
            counts["object", each.path] = len(each.summary.kernels) if each.summary else 0
    return counts
