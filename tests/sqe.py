"""Queue entries as tests need them: golden examples, recorded ones, and text as logs show them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, Final

from cannkit.format.bits import Record
from cannkit.format.sqe import Family, v100, v200
from tests.facts import golden, rows

MODULES: Final[dict[Family, ModuleType]] = {Family.V100: v100, Family.V200: v200}
PREFIX: Final = "[DEBUG] RUNTIME(4711,python):2026-01-01-10:00:00.000.001 [task.cc:88] 4712 Print: "


def facts(family: Family) -> Any:
    """The golden facts of a family."""
    return golden(f"sqe_{family}")


def records(family: Family) -> dict[str, type[Record]]:
    """The records of a family by their names in C."""
    kinds = [kind for kind in vars(MODULES[family]).values() if isinstance(kind, type)]
    return {kind.C_NAME: kind for kind in kinds if issubclass(kind, Record) and kind.C_NAME}


ALL_RECORDS: Final = [kind for family in Family for kind in records(family).values()]


@cache
def examples() -> dict[str, Any]:
    """W-1 to W-13 with `family`."""
    return {
        name: {"family": family, **example}
        for family in Family
        for name, example in facts(family)["examples"].items()
    }


def sqe(name: str) -> bytes:
    """The entry of an example."""
    return bytes.fromhex(examples()[name]["sqe"])


def context(name: str) -> bytes:
    """The context of an example."""
    return bytes.fromhex(examples()[name]["context"])


@cache
def recorded() -> tuple[tuple[Family, bytes, bytes | None], ...]:
    """Family, entry and context of each recorded launch that was not refused."""
    return tuple(
        (
            Family(row["family"]),
            bytes.fromhex(row["result"]["sqe"]),
            bytes.fromhex(row["result"]["ctx"]) if "ctx" in row["result"] else None,
        )
        for row in rows("sqe")
        if "sqe" in row["result"]
    )


def words(raw: bytes, order: str = "<") -> tuple[int, ...]:
    """Bytes as 32-bit words."""
    return struct.unpack(f"{order}{len(raw) // 4}I", raw)


def word_lines(label: str, raw: bytes, order: str = "<") -> list[str]:
    """LCH-80: two lines of eight words."""
    shown = [f"{word:08x}" for word in words(raw, order)]
    return [f"{PREFIX}{label}: {' '.join(shown[at : at + 8])}" for at in (0, 8)]


def numbered_lines(raw: bytes, label: str = "sqe") -> list[str]:
    """LCH-81, LCH-82 at error level: a line for each word."""
    return [f"{PREFIX}{label}[{at}]=0x{word:08x}." for at, word in enumerate(words(raw))]


def context_line(raw: bytes) -> str:
    """LCH-82 at info level."""
    shown = "".join(f"{word:#010x}, " if word else "0000000000, " for word in words(raw))
    return f"{PREFIX}MixKernel, Mix context-buf:{shown}"


def error_line(task: str = "task_id=18") -> str:
    """What LCH-81 has before the words."""
    return f"{PREFIX}sqe error, chipId:0, dieId:0, serial number is 1, stream_id=3, {task}, sq_id=5"


def hex_lines(raw: bytes) -> Iterator[str]:
    """Bytes as the specification shows them, 16 in a line."""
    for at in range(0, len(raw), 16):
        yield raw[at : at + 16].hex(" ")
