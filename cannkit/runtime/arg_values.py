"""UserArg, Slot and BlockBuilder: what a user gives a kernel, and the block it makes. Spec 04, 2.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import index
from typing import Final, NamedTuple, TypeGuard

from cannkit.errors import UsageError, brief
from cannkit.runtime.args import U64, WORD, ArgsEx, HostBytes, Placeholder


class ArgKind(StrEnum):
    """What an argument is to its kernel, in the words of the command line."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    WORKSPACE = "ws"
    TILING = "tiling"
    NULL = "null"
    SCALAR = "scalar"
    ADDRESS = "address"
    HEAD = "head"


class SlotOrigin(StrEnum):
    """Who fills a slot. LCH-91."""

    USER = "user"
    FFTS = "ffts"
    OVERFLOW = "overflow"
    TILING = "tiling"
    PLACEHOLDER = "placeholder"
    HEAD = "head"


@dataclass(frozen=True, slots=True)
class Slot:
    """Bytes of the argument block. `index` is the argument of the user that they are for, if any."""

    offset: int
    size: int
    kind: str
    origin: SlotOrigin
    index: int | None = None


class UserArg(NamedTuple):
    """An argument as the user knows it.

    `address` is where a tensor or a workspace of `size` bytes lies on the device; `data` are the
    bytes of a scalar or of tiling data. `label` is what the user calls it.
    """

    kind: ArgKind
    data: bytes | None = None
    address: int = 0
    size: int = 0
    label: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()

    @property
    def is_word(self) -> bool:
        """Whether it is 8 bytes by value that may be an address."""
        return len(self.data or b"") == WORD and self.dtype in WORD_DTYPES

    @property
    def word(self) -> int:
        """What an 8-byte slot holds for it."""
        return int.from_bytes(self.data or b"", "little") if self.is_scalar else self.address

    @property
    def is_scalar(self) -> bool:
        """Whether it is passed by value."""
        return self.kind == ArgKind.SCALAR


NULL_ARG: Final = UserArg(ArgKind.NULL)
WORD_DTYPES: Final = ("", "u64", "i64")
TENSORS: Final = (ArgKind.IN, ArgKind.OUT, ArgKind.INOUT)
WORDS: Final = {
    ArgKind.IN: "an input",
    ArgKind.OUT: "an output",
    ArgKind.INOUT: "an input and output",
    ArgKind.WORKSPACE: "a workspace",
    ArgKind.TILING: "tiling data",
    ArgKind.SCALAR: "a scalar",
}


def is_block(args: object) -> TypeGuard[HostBytes]:
    """Whether arguments are given as one block of bytes."""
    return isinstance(args, HostBytes)


def listed(args: object) -> Sequence[object]:
    """Arguments as a sequence; raises UsageError for what is none."""
    if isinstance(args, Sequence) and not isinstance(args, str):
        return args
    what = f"arguments are a {type(args).__name__}, not a list"
    raise UsageError(what, hint="a list of ints, bytes, None or UserArg, or the block as bytes")


def user_arg(value: object, where: str, *, is_tiling: bool = False) -> UserArg:
    """What a value of the user means; bytes are tiling data where `is_tiling`.

    Raises UsageError for another type, and for a number that is no unsigned one of 64 bits.
    """
    if isinstance(value, UserArg):
        _check_fields(value, where)
        return value
    if value is None:
        return NULL_ARG
    if isinstance(value, HostBytes):
        kind = ArgKind.TILING if is_tiling else ArgKind.SCALAR
        return UserArg(kind, data=bytes(value), size=memoryview(value).nbytes)
    return UserArg(ArgKind.ADDRESS, address=word_of(value, where))


def word_of(value: object, where: str) -> int:
    """A number of a user; raises UsageError for what is no unsigned one of 64 bits."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        hint = "give the address of what is on the device as an int, or its bytes by value"
        what = f"{where} is a {type(value).__name__}, which is no kernel argument"
        raise UsageError(what, hint=hint) from None
    if not 0 <= number <= U64:
        sign = "give a signed scalar as bytes" if number < 0 else None
        why = f"{brief(hex(number), 32)} is not in 0..{U64:#x}"
        raise UsageError(f"{where} does not fit in 64 bits", why=why, hint=sign)
    return number


def _check_fields(arg: UserArg, where: str) -> None:
    for number in (arg.address, arg.size, *arg.shape):
        word_of(number, where)
    if arg.data is not None and type(arg.data) is not bytes:
        raise UsageError(f"{where} has data that are a {type(arg.data).__name__}, not bytes")


def place_of(number: int, count: int, what: str, value: object = None) -> str:
    """`argument 4 of 5 (workspace)`, counted from 1, with the user's own name for it."""
    label = value.label if isinstance(value, UserArg) else ""
    return f"argument {number} of {count} ({what})" + (f", {brief(label)}" if label else "")


class BlockBuilder:
    """An argument block in the making: a table of words and values, then what its words point at.

    Changes. `align` is that of every value, in bytes (LCH-23).
    """

    def __init__(self, align: int = WORD) -> None:
        self._align = align
        self._block = bytearray()
        self._slots: list[Slot] = []
        self._later: list[tuple[Slot, bytes]] = []

    @property
    def size(self) -> int:
        """Bytes so far, without what comes behind the table."""
        return len(self._block)

    def value(self, data: bytes, kind: str, origin: SlotOrigin, at: int | None = None) -> Slot:
        """Add bytes to the table, for the argument `at` of the user."""
        self._pad()
        slot = Slot(len(self._block), len(data), kind, origin, at)
        self._block += data
        self._slots.append(slot)
        return slot

    def word(self, number: int, kind: str, origin: SlotOrigin, at: int | None = None) -> Slot:
        """Add an address, or another number of 64 bits, to the table."""
        return self.value(number.to_bytes(WORD, "little"), kind, origin, at)

    def pointer(self, data: bytes, kind: str, origin: SlotOrigin, at: int) -> None:
        """Add the address of bytes that come behind the table."""
        self._later.append((self.word(0, kind, origin, at), data))

    def finish(self) -> tuple[ArgsEx, tuple[Slot, ...]]:
        """The block, and its slots in order of offset. Nothing can be added any more."""
        tiling, places = None, []
        for slot, data in self._later:
            kind = "tiling data" if slot.origin is SlotOrigin.TILING else f"{slot.kind} data"
            there = self.value(data, kind, slot.origin, slot.index)
            place = Placeholder(slot.offset, there.offset)
            if slot.origin is SlotOrigin.TILING and tiling is None:
                tiling = place
            else:
                places.append(place)
        block = bytes(self._block)
        return ArgsEx(block, len(block), tuple(places), tiling), tuple(self._slots)

    def _pad(self) -> None:
        self._block += bytes(-len(self._block) % self._align)


def block_arg(block: object) -> UserArg:
    """A block of bytes that the user made."""
    assert isinstance(block, HostBytes)
    raw = bytes(block)
    return UserArg(ArgKind.SCALAR, raw, size=len(raw))


def whole_block(block: object) -> tuple[ArgsEx, tuple[Slot, ...]]:
    """The same as it is launched: taken as it is, one slot."""
    raw = block_arg(block).data or b""
    return ArgsEx(raw, len(raw)), (Slot(0, len(raw), "block", SlotOrigin.USER, 0),)
