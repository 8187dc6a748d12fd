"""Structures of the AI CPU as tests need them: golden facts, the worked example, every record."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from cannkit.ae import logic_args
from cannkit.format import ae_event, ae_structs
from cannkit.format.ae_event import AeRecord
from tests.facts import golden

FACTS: Final[Any] = golden("ae_structs")
EXAMPLE: Final = bytes.fromhex("".join(FACTS["example"]["task"]))  # 10.1
FULL: Final = 72
CLOUD: Final = 56


def number(known: int | str) -> int:
    """A number of the facts, some of which stand there as in the chapter: `0x124000001000`."""
    return known if isinstance(known, int) else int(known, 0)


def tagged(kernel_type: int, raw: bytes = EXAMPLE) -> bytes:
    """The same bytes under another kernel type."""
    return kernel_type.to_bytes(4, "little") + raw[4:]


def records(*modules: ModuleType) -> list[type[AeRecord]]:
    """The records that modules define."""
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, AeRecord)
        and kind.SIZE
        and kind.__module__ == module.__name__
    ]


ALL_RECORDS: Final = records(ae_event, ae_structs, logic_args)


Places = dict[str, tuple[int, int]]


def places(kind: type[AeRecord]) -> Places:
    """Lowest bit and width of each field, by its name in C, else by ours."""
    return {span.c_name or name: (span.lo, span.width) for name, span in kind.SPANS.items()}


def known_places(fields: dict[str, list[int]]) -> Places:
    """The same of golden facts: byte and bytes, or byte, bit and bits."""
    found = {}
    for name, (byte, *rest) in fields.items():
        found[name] = (8 * byte + rest[0], rest[1]) if len(rest) > 1 else (8 * byte, 8 * rest[0])
    return found
