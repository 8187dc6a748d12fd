"""docs/ae.md: limits, codes, structures and logic kernels of the AI CPU engine, from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.ae.kernel_libs import FUNC_NAME_LIMIT
from cannkit.ae.logic_kernels import LOGIC_KERNELS
from cannkit.ae.logic_kernels import LONGEST_NAME as LOGIC_NAME_LIMIT
from cannkit.ae.so_path import SO_NAME_LIMIT
from cannkit.ae.write_checks import NOTICE_NAME
from cannkit.ae.write_rules import ENV_LIMIT, NAME_LIMIT
from cannkit.format import ae_event, ae_status, ae_structs
from cannkit.format.ae_event import AeRecord
from cannkit.format.bits import OpenEnum
from cannkit.inputs.real_path import PATH_LIMIT
from tests.ae.structs import records

INTRO: Final = """\
# The AI CPU engine

What `cannkit so-path` and `cannkit ae-call` know as tables. Generated from `cannkit/format/ae_*.py` and `cannkit/ae/`;
`pytest --update-cases` writes it again.

## Limits in bytes

| what | at most | where it counts |
| --- | --- | --- |
"""
LIMITS: Final = (
    ("name of a logic kernel", LOGIC_NAME_LIMIT, "what is longer is cut"),
    ("name of a library that cust-sd is told of", NOTICE_NAME, "a longer one is opened at its first call"),
    ("name of a library in a call", SO_NAME_LIMIT, "aicpu cuts it, kfc asks no library"),
    ("name of a library that is stored", NAME_LIMIT, "21001"),
    ("name of a function", FUNC_NAME_LIMIT, "aicpu cuts it, kfc answers 11006"),
    ("variable that the write side reads", ENV_LIMIT - 1, "a longer one counts as not set"),
    ("variable that the engine reads", PATH_LIMIT - 1, "a longer one is 11006, and 11001 for every call"),
    ("path", PATH_LIMIT - 1, "11002, it is not asked for"),
)  # fmt: skip
BYTE: Final = 8


def page() -> str:
    """The whole text."""
    parts = [INTRO, *(f"| {what} | {limit} | {where} |\n" for what, limit, where in LIMITS)]
    parts.append("\n## Codes\n")
    for kind in vars(ae_status).values():
        if isinstance(kind, type) and issubclass(kind, OpenEnum) and kind is not OpenEnum:
            parts += ["\n", *_codes(kind)]
    parts.append("\n## Structures\n")
    for record in records(ae_event, ae_structs):
        parts += ["\n", *_record(record)]
    parts.append("\n## Logic kernels\n\nTasks of type 0 and 2 without a library.\n")
    for kernel in LOGIC_KERNELS:
        null = "21001" if kernel.checks_null else "not seen: the original crashes, here 21001"
        parts.append(f"\n### {kernel.number}. `{kernel.name}`\n\n{kernel.does}.\n\n")
        parts.append(f"`{kernel.source}`; a null paramBase: {null}; argument:\n\n")
        parts += _fields(kernel.argument)
    return "".join(parts)


def _codes(kind: type[OpenEnum]) -> Iterator[str]:
    head = " ".join((kind.__doc__ or "").split())
    yield f"### {kind.__name__}\n\n{head}\n\n| code | name |\n| --- | --- |\n"
    for name, member in kind.__members__.items():
        yield f"| {int(member)} | `{getattr(member, 'c_name', name)}` |\n"


def _record(kind: type[AeRecord]) -> Iterator[str]:
    yield f"### {kind.C_NAME or kind.__name__}, {kind.SIZE} bytes\n\n"
    yield f"{' '.join((kind.__doc__ or '').split())}\n\n"
    yield from _fields(kind)


def _fields(kind: type[AeRecord]) -> Iterator[str]:
    yield "| byte | bytes | field |\n| --- | --- | --- |\n"
    for name, span in kind.SPANS.items():
        byte, bit = divmod(span.lo, BYTE)
        size = (
            str(span.width // BYTE)
            if span.width % BYTE == 0
            else f"bits {bit} to {bit + span.width - 1}"
        )
        yield f"| {byte} | {size} | `{span.c_name or name}` |\n"
