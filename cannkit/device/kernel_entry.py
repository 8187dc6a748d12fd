"""KernelEntry: what an entry asks of the cores, the same for both generations. Spec 04, section 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

from cannkit.device.executor import DONE, ErrorType, Outcome
from cannkit.format.bits import OpenEnum, Record, span_mask

RATIOS: Final = (1, 2)
CONTEXT_ALIGN: Final = 128  # LCH-57


class KernelEntry(NamedTuple):
    """A decoded kernel entry, and the context that belongs to a mix of v100.

    `vector_main`: blocks are counted on the vector side. `paired`: both sides work (mix types 3, 4),
    as `ratio_value` says. Program counters are those of the entry, whether the side works or not.
    `args_size`: bytes of arguments by the context, else 0. `groups`: groups, and blocks of each.
    `groups` and `dcu_size` are None on v100.
    """

    sqe: Record
    context: Record | None
    vector_main: bool
    paired: bool
    ratio_value: int
    dim: int
    schem: int
    credit: int
    aic_pc: int
    aiv_pc: int
    args_size: int
    stack_base: int
    stack_level: int
    groups: tuple[int, int] | None = None
    dcu_size: int | None = None

    @property
    def ratio(self) -> tuple[int, int]:
        """Sub-blocks (AIC, AIV) of each block; (0, 0) where the ratio is none. LCH-49, LCH-50."""
        if not self.paired:
            return (0, 1) if self.vector_main else (1, 0)
        if self.ratio_value not in RATIOS:
            return 0, 0
        return (self.ratio_value, 1) if self.vector_main else (1, self.ratio_value)

    @property
    def uses_aic(self) -> bool:
        """Cube cores have work."""
        return self.paired or not self.vector_main

    @property
    def uses_aiv(self) -> bool:
        """Vector cores have work."""
        return self.paired or self.vector_main


class Reading(NamedTuple):
    """How a kernel record is read: `kernel` makes the entry of it and its context, if it has one.

    `fixed` and `context_fixed`: the bits that are the same at every launch, which leaves out ids and
    the addresses of arguments and context. `args`: the fields with argument addresses, AIC and AIV;
    they are in the context where there is one.
    """

    kernel: Callable[..., KernelEntry]
    fixed: int
    args: tuple[str, str]
    context: type[Record] | None = None
    context_fixed: int = 0


class Generation(Protocol):
    """The entries of one STARS generation. `readings` has its kernel records."""

    readings: Mapping[type[Record], Reading]

    def decode(self, raw: bytes) -> Record:
        """The record in 64 bytes; of an entry that is neither kernel nor AI CPU, its header."""

    def type_name(self, raw: bytes) -> str:
        """What kind of entry it is."""

    def end_of_other(self, raw: bytes) -> Outcome:
        """How an entry ends that is neither kernel nor AI CPU."""

    def ids(self, raw: bytes, queue: int, position: int) -> tuple[int, int]:
        """Stream and task of an entry."""


def fixed_bits(record: type[Record], *variable: str) -> int:
    """The bits of a record without those of some fields, as a mask of the number it is."""
    taken = sum(span_mask(record.SPANS[name]) for name in variable)
    return (1 << 8 * record.SIZE) - 1 & ~taken


def end_of_type(sqe_type: OpenEnum, place_holder: OpenEnum, invalid: OpenEnum) -> Outcome:
    """How an entry ends that is no task of this simulation. 04, section 6, step 1."""
    if sqe_type is place_holder:
        return DONE
    if sqe_type is invalid or not sqe_type.known:
        return Outcome(ErrorType.SQE_ERROR, 0, f"no such entry type: {sqe_type.name}")
    return Outcome(note=f"not simulated: {sqe_type.name}")
