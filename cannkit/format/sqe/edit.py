"""Entries made from names and texts: which record, which field, which value. Raises UsageError."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from cannkit.errors import UsageError, brief
from cannkit.format.bits import OpenEnum, Record, Span
from cannkit.format.sqe import RECORDS, SQE_SIZE, Family, decode_sqe, v100, v200

NUMBER: Final = re.compile("[0-9]{1,20}|0[xX][0-9a-fA-F]{1,20}")
BOOLS: Final = {"true": 1, "yes": 1, "on": 1, "false": 0, "no": 0, "off": 0}
TYPE: Final = "sqe_type"
SHOWN: Final = 12  # names of values that an error tells

Settings = Sequence[tuple[str, str]]  # field, in Python or in C, and value; the last one counts


def make_sqe(
    family: Family, settings: Settings, *, record: str | None = None, base: bytes | None = None
) -> Record:
    """A record with these values, the others as in `base` or, without one, as a kernel has them.

    Without the name of a `record` it is that of `base`, else the first one that has all the fields
    and is what its own bytes are decoded to.
    """
    kind = _kind(family, settings, record, base)
    if base is not None and len(base) != kind.SIZE:
        raise UsageError(f"{kind.C_NAME} has {kind.SIZE} bytes, the base {len(base)}")
    start = kind() if base is None else kind.decode(base)
    return start.replace(**_values(kind, settings, family))


def _kind(
    family: Family, settings: Settings, record: str | None, base: bytes | None
) -> type[Record]:
    records = RECORDS[family]
    if record is not None:
        if record not in records:
            raise UsageError(
                f"{family} has no record {record}", hint=f"one of {', '.join(records)}"
            )
        return records[record]
    if base is not None:
        return _kind_of(family, settings, base)
    complete = [kind for kind in records.values() if _has_all(kind, settings)]
    for kind in complete:
        if kind.SIZE != SQE_SIZE or _is_itself(kind(**_values(kind, settings, family)), family):
            return kind
    if complete:
        return complete[0]
    best = max(records.values(), key=lambda kind: sum(_has(kind, name) for name, _ in settings))
    missing = next(name for name, _ in settings if not _has(best, name))
    raise _unknown(missing, best, records)


def _kind_of(family: Family, settings: Settings, base: bytes) -> type[Record]:
    """The record of given bytes, with the type that they shall have."""
    if len(base) != SQE_SIZE:
        return RECORDS[family].get("context", RECORDS[family]["kernel"])
    header = v200.Header if family is Family.V200 else v100.Header
    types = [(name, text) for name, text in settings if name in (TYPE, header.SPANS[TYPE].c_name)]
    return type(
        decode_sqe(header.decode(base).replace(**_values(header, types, family)).encode(), family)
    )


def _is_itself(sqe: Record, family: Family) -> bool:
    return type(decode_sqe(sqe.encode(), family)) is type(sqe)


def _values(kind: type[Record], settings: Settings, family: Family) -> dict[str, int]:
    values = {}
    for name, text in settings:
        field = find_field(kind, name)
        if field is None:
            raise _unknown(name, kind, RECORDS[family])
        values[field] = parse_value(field, kind.SPANS[field], text)
    return values


def find_field(kind: type[Record], name: str) -> str | None:
    """The field of a name in Python or in C; the halves of a value have none of their own."""
    if name in kind.SPANS:
        return name
    if name in _halves(kind):
        return None
    return next((field for field, span in kind.SPANS.items() if span.c_name == name), None)


def parse_value(field: str, span: Span, text: str) -> int:
    """A value from a decimal or `0x` number, the name of a value, or yes and no."""
    names: Mapping[str, int] = {}
    if span.kind is bool:
        names = BOOLS
    elif issubclass(span.kind, OpenEnum):
        names = {name.lower(): member for name, member in span.kind.__members__.items()}
    if text.lower() in names:
        return int(names[text.lower()])
    if not NUMBER.fullmatch(text):
        known = ", ".join(name.upper() for name in list(names)[:SHOWN])
        raise UsageError(
            f"{field}={brief(text)}: neither a decimal nor a 0x number",
            hint=f"or one of {known}" if names else None,
        )
    value = int(text, 16 if text[:2] in ("0x", "0X") else 10)
    if value >> span.width:
        limit = (1 << span.width) - 1
        why = f"at most {limit:#x}, {limit}" if limit > 9 else f"at most {limit}"
        plural = "" if span.width == 1 else "s"
        raise UsageError(f"{field}={text} does not fit in {span.width} bit{plural}", why=why)
    return value


def _has(kind: type[Record], name: str) -> bool:
    return find_field(kind, name) is not None


def _has_all(kind: type[Record], settings: Settings) -> bool:
    return all(_has(kind, name) for name, _ in settings)


def _halves(kind: type[Record]) -> dict[str, list[str]]:
    """C names of halves, and the fields they have bits of: `param_addr_high` of two."""
    halves: dict[str, list[str]] = {}
    for field, span in kind.SPANS.items():
        low, split, high = span.c_name.partition("/")
        if split:
            high = re.sub("(L|Low|low)$", high, low) if high.lower() in ("h", "high") else high
            halves[low], halves[high] = [field], [field]
        elif low in halves:
            halves[low].append(field)
    return halves


def _unknown(name: str, kind: type[Record], records: Mapping[str, type[Record]]) -> UsageError:
    from difflib import get_close_matches

    what = f"{kind.C_NAME} has no field {brief(name)!r}"
    if fields := _halves(kind).get(name):
        return UsageError(what, hint=f"that is a half in C: set {' or '.join(fields)}")
    if others := [each for each, other in records.items() if _has(other, name)]:
        return UsageError(what, hint=f"it is one of --record {' or '.join(others)}")
    known = {each.lower(): each for f, span in kind.SPANS.items() for each in (f, span.c_name)}
    near = [known[match] for match in get_close_matches(name.lower(), known, n=3)]
    hint = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(kind.SPANS)}"
    return UsageError(what, hint=hint)
