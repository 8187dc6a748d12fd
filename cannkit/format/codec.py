"""Where the bits of a field lie, and encoders and decoders generated from that."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from cannkit.errors import FormatError

STRUCT_CODES: Final = {8: "B", 16: "H", 32: "I", 64: "Q"}  # width to struct character
Units = list[tuple[int, int]]  # numbers that are read as one: lowest bit and width of each
NARROW: Final = 8  # bits of a field whose values are all made beforehand


class Piece(NamedTuple):
    """Bits that lie together: the lowest of them in the record, their number, the name in C."""

    lo: int
    width: int
    c_name: str


class Span(NamedTuple):
    """A field of a record: its pieces, lowest bits of the value first, and what the value is.

    `doc` says in a few words what it means; `kind` is int, bool or an enumeration.
    """

    pieces: tuple[Piece, ...]
    default: int
    doc: str
    is_address: bool
    kind: type[int] = int

    @property
    def lo(self) -> int:
        """The lowest bit in the record."""
        return self.pieces[0].lo

    @property
    def width(self) -> int:
        """How many bits the value has."""
        return sum(piece.width for piece in self.pieces)

    @property
    def c_name(self) -> str:
        """What it is called in C, `low/high` where C splits it."""
        return "/".join(piece.c_name for piece in self.pieces)


def span_mask(span: Span) -> int:
    """The bits of a span, in the number that a record is."""
    return sum(((1 << piece.width) - 1) << piece.lo for piece in span.pieces)


def make_codec(
    name: str, size: int, spans: Mapping[str, Span]
) -> tuple[Callable[[Any, bytes], Any], Callable[[Any], bytes]]:
    """Straight-line `decode(cls, raw)` and `encode(self)` for a record of `size` bytes.

    The record keeps its values in `__dict__`, and there under `residue` the bits that no span names.
    Both raise FormatError: for bytes of another length, for a value that does not fit.
    """
    units = _units(size, spans.values())
    unnamed = (1 << 8 * size) - 1 & ~sum(map(span_mask, spans.values()))
    values, loads, wide = [], [], []
    parts = [list[str]() for _ in units]  # of each unit: what its fields put there
    scope: dict[str, Any] = {}
    crowds = _crowds(spans.values(), units)
    for unit, members in crowds.items():
        scope[f"t{unit}"] = _crowd_table(members)
    crowded = {number for members in crowds.values() for number in members}
    for number, (field, span) in enumerate(spans.items()):
        value = f"f{number}"
        text = value if number in crowded else _value(span, units)
        if span.kind is not int and number not in crowded:
            scope[f"k{number}"] = _members(span)
            text = f"k{number}[{text}]" if span.width <= NARROW else f"k{number}({text})"
        values.append(f"{field!r}: {text},")
        loads.append(f"{value} = d[{field!r}]")
        wide.append(f"{value} >> {span.width}")
        for unit, part in _parts(value, span, units):
            parts[unit].append(part)
    stray = [
        (f"u{at} & {free:#x}", lo)
        for at, (lo, width) in enumerate(units)
        if (free := unnamed >> lo & (1 << width) - 1)
    ]
    code = f"""
def decode(cls, raw):
    try:
        {", ".join(f"u{at}" for at in range(len(units)))}, = unpack(raw)
    except error as fault:
        raise wrong_size(raw) from fault
    {"; ".join(f"{', '.join(f'f{at}' for at in members)} = t{unit}[u{unit}]" for unit, members in crowds.items())}
    self = new(cls)
    assign(self, "__dict__", {{
        {" ".join(values)}
        "residue": {" | ".join(f"({text}) << {lo}" for text, lo in stray) or "0"}
        if {" or ".join(text for text, _ in stray) or "0"} else 0
    }})
    return self

def encode(self):
    d = self.__dict__
    {"; ".join(loads) or "pass"}
    if {" | ".join(wide) or "0"}:
        raise too_wide(d)
    raw = pack({", ".join(" | ".join(part) or "0" for part in parts)})
    return merged(raw, d["residue"]) if d["residue"] else raw
"""
    layout = struct.Struct("<" + "".join(STRUCT_CODES[width] for _, width in units))
    scope |= {
        "unpack": layout.unpack,
        "pack": layout.pack,
        "error": struct.error,
        "new": object.__new__,
        "assign": object.__setattr__,
        "wrong_size": partial(_wrong_size, name, size),
        "too_wide": partial(_too_wide, name, spans),
        "merged": partial(_merged, unnamed),
    }
    exec(code, scope)  # noqa: S102  (the code above, from the tables of this package)
    return scope["decode"], scope["encode"]


def _value(span: Span, units: Units) -> str:
    """A field, put together from the units it lies in."""
    terms = []
    for unit, at, width, done in _chunks(span, units):
        text = f"u{unit} >> {at}" if at else f"u{unit}"
        if at + width < units[unit][1]:
            text += f" & {(1 << width) - 1:#x}"
        terms.append(f"({text}) << {done}" if done else f"({text})")
    return " | ".join(terms)


def _parts(value: str, span: Span, units: Units) -> Iterator[tuple[int, str]]:
    """What a field puts into each of its units."""
    for unit, at, width, done in _chunks(span, units):
        text = f"({value} >> {done})" if done else value
        if done + width < span.width:
            text = f"({text} & {(1 << width) - 1:#x})"
        yield unit, f"{text} << {at}" if at else text


def _chunks(span: Span, units: Units) -> Iterator[tuple[int, int, int, int]]:
    """A span cut at its units: unit, bit in it, width, and how much of the value is below."""
    done = 0
    for piece in span.pieces:
        end = piece.lo + piece.width
        for number, (start, width) in enumerate(units):
            lo, high = max(piece.lo, start), min(end, start + width)
            if lo < high:
                yield number, lo - start, high - lo, done
                done += high - lo


def _units(size: int, spans: Iterable[Span]) -> Units:
    """The record cut into numbers as small as its fields allow: small ones are cheap."""
    glued = 0  # bytes that a field shares with the byte before
    used = 0
    for span in spans:
        for piece in span.pieces:
            first, last = piece.lo // 8, (piece.lo + piece.width - 1) // 8
            used |= ((1 << last - first + 1) - 1) << first
            glued |= ((1 << last - first) - 1) << first + 1
    units, at = [], 0
    while at < size:
        end = at + 1
        while end < size and (glued >> end & 1 or not (used >> at & 1 or used >> end & 1)):
            end += 1
        while at < end:
            width = next(width for width in (8, 4, 2, 1) if width <= end - at)
            units.append((8 * at, 8 * width))
            at += width
    return units


def _crowds(spans: Iterable[Span], units: Units) -> dict[int, dict[int, Span]]:
    """Fields that share a byte with others, by unit and number: one table has all their values."""
    found: dict[int, dict[int, Span]] = {}
    for number, span in enumerate(spans):
        places = [unit for unit, *_ in _chunks(span, units)]
        if len(places) == 1 and units[places[0]][1] == NARROW:
            found.setdefault(places[0], {})[number] = span
    return {unit: members for unit, members in found.items() if len(members) > 1}


def _crowd_table(members: Mapping[int, Span]) -> tuple[tuple[int, ...], ...]:
    """For each value of a byte the fields in it, in the order of their numbers."""
    return tuple(
        tuple(span.kind(byte >> span.lo % 8 & (1 << span.width) - 1) for span in members.values())
        for byte in range(1 << NARROW)
    )


def _members(span: Span) -> object:
    """What turns a number of a narrow field into its kind: a table; of a wide one: a call."""
    kind = span.kind
    return tuple(kind(at) for at in range(1 << span.width)) if span.width <= NARROW else kind


def _wrong_size(name: str, size: int, raw: bytes) -> FormatError:
    return FormatError(f"{name}: {len(raw)} bytes", why=f"it has {size} bytes")


def _too_wide(name: str, spans: Mapping[str, Span], values: Mapping[str, int]) -> FormatError:
    field = next(field for field, span in spans.items() if values[field] >> span.width)
    why = f"{values[field]:#x} does not fit in {spans[field].width} bits"
    return FormatError(f"{name}: no such {field}", why=why)


def _merged(unnamed: int, raw: bytes, residue: int) -> bytes:
    """The bytes with those of the residue that no field names."""
    word = int.from_bytes(raw, "little") | residue & unnamed
    return word.to_bytes(len(raw), "little")
