"""What the simulated hardware checks of an argument block at every launch: SIM-4 and SIM-5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from cannkit.device.memory import DeviceMemory
from cannkit.device.sim_rules import ERROR, WARNING, Case, Remark, is_simt

SIMT_PREFIX: Final = 32  # LCH-34
POINTER: Final = 8


class BlockNeed(NamedTuple):
    """What a kernel needs of its argument block: `size` bytes from its address on, `prefix` before.

    The size is a guess of 1 where it is not `known`. `pointers`: offsets of words that are pointers.
    """

    size: int
    known: bool
    prefix: int
    pointers: tuple[int, ...]


def block_need(case: Case) -> BlockNeed:
    """By metadata and, on v100, by the context of a mix (Q-8: it may know less).

    Only what states its parameters can have been launched with a grid, and has LCH-34's block in front:
    the operators of real packages do not, and run SIMT code all the same.
    """
    facts = case.facts
    sizes = [case.entry.args_size] if case.entry.args_size else []
    if facts and facts.args_size is not None:
        sizes.append(facts.args_size)
    prefix = SIMT_PREFIX if is_simt(case) and facts and facts.has_parameters else 0
    pointers = facts.pointers if facts else ()
    return BlockNeed(max(sizes, default=1), bool(sizes), prefix, pointers)


def check_blocks(
    need: BlockNeed, addresses: Iterable[int], memory: DeviceMemory
) -> Iterator[tuple[str, Remark]]:
    """Rule and remark on the argument blocks of both sides, or of the one that works."""
    for address in dict.fromkeys(addresses):
        size, known, prefix, pointers = need
        if not address and not known:
            why = "the argument pointer is 0, and metadata does not say whether it may be"
            yield "SIM-4", (WARNING, why)
        elif size and not memory.holds(address - prefix, prefix + size):
            beside = f" and {prefix} in front of it" if prefix else ""
            why = f"argument block at {address:#x}: {size} bytes{beside} are not in live memory"
            yield "SIM-4", (ERROR, why)
        else:
            for offset in pointers:
                yield from _check_pointer(address, offset, memory)


def _check_pointer(address: int, offset: int, memory: DeviceMemory) -> Iterator[tuple[str, Remark]]:
    if not memory.holds(address + offset, POINTER):
        return
    target = int.from_bytes(memory.read(address + offset, POINTER), "little")
    if target and not memory.holds(target, 1) and not memory.holds(target, 0):
        yield "SIM-5", (WARNING, f"argument at offset {offset}: {target:#x} is not in live memory")
