"""DfxPlan: the argument block of a kernel whose DFX records name its slots. Spec 01, 7; 04, 2.2."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from cannkit.device.trace import Finding
from cannkit.errors import UsageError
from cannkit.runtime.arg_slots import DfxSlot
from cannkit.runtime.arg_values import (
    ArgKind,
    BlockBuilder,
    Slot,
    SlotOrigin,
    UserArg,
    block_arg,
    is_block,
    listed,
    place_of,
    user_arg,
    whole_block,
)
from cannkit.runtime.args import U64, WORD, ArgsBlock, ArgsEx, Placeholder, block_of

MOST_NAMED: Final = 16  # runs of slots in a message


class DfxPlan:
    """The slots of a kernel by its records; the runtime fills FFTS and OVERFLOW itself."""

    def __init__(self, slots: Sequence[DfxSlot], remarks: Sequence[Finding] = ()) -> None:
        self.source = "DFX"
        self.remarks = tuple(remarks)
        self.slots = tuple(slots)
        self.args_size: int | None = WORD * len(self.slots)
        self._wanted = [slot for slot in self.slots if slot.is_users]
        self.pointers = tuple(slot.offset for slot in self._wanted)
        self._system = [
            (place, slot.origin is SlotOrigin.FFTS)
            for place, slot in enumerate(self.slots)
            if not slot.is_users
        ]
        self._struct = struct.Struct(f"<{len(self.slots)}Q")
        self._tilings = [  # one at most, and only where its size is recorded
            (at, (Placeholder(slot.offset, self._struct.size),), *slot.tiling_sizes)
            for at, slot in enumerate(self._wanted)
            if slot.is_tiling and slot.tiling_sizes
        ][:1]

    def check(self, args: object) -> None:
        """Raises UsageError, naming the argument, for what the kernel does not take."""
        self.resolve(args)

    def resolve(self, args: object) -> tuple[UserArg, ...]:
        """One argument for each slot of the user, checked; a block is one. Raises as `check` does."""
        if is_block(args):
            return (block_arg(args),)
        values, count = listed(args), len(self._wanted)
        if len(values) < count:
            where = place_of(len(values) + 1, count, self._wanted[len(values)].name)
            raise UsageError(f"{where} is missing", hint=self._summary())
        if len(values) > count:
            what = f"{len(values)} arguments, the kernel takes {count}"
            raise UsageError(what, hint=self._summary())
        found = []
        for number, (slot, value) in enumerate(zip(self._wanted, values, strict=True), 1):
            if type(value) is int and 0 <= value <= U64:
                found.append(UserArg(ArgKind.ADDRESS, None, value))
                continue
            where = place_of(number, count, slot.name, value)
            arg = user_arg(value, where, is_tiling=slot.is_tiling)
            slot.check(arg, where)
            found.append(arg)
        return tuple(found)

    def bind(
        self, args: object, *, ffts: int = 0, overflow: int = 0
    ) -> tuple[ArgsEx, tuple[Slot, ...]]:
        """The block of these arguments and its slots; a block as bytes is taken as it is.

        Raises UsageError as `check` does.
        """
        if is_block(args):
            return whole_block(args)
        given = enumerate(self.resolve(args))
        block = BlockBuilder()
        for slot in self.slots:
            if not slot.is_users:
                word = ffts if slot.origin is SlotOrigin.FFTS else overflow
                block.word(word, slot.what, slot.origin)
                continue
            at, arg = next(given)
            data = slot.behind(arg)
            if data is None:
                block.word(arg.word, slot.what, SlotOrigin.USER, at)
            else:
                origin = SlotOrigin.TILING if slot.is_tiling else SlotOrigin.PLACEHOLDER
                block.pointer(data, slot.what, origin, at)
        return block.finish()

    def block(self, args: object, *, ffts: int = 0, overflow: int = 0) -> ArgsBlock:
        """The block of these arguments, fast where they are addresses and tiling data as bytes.

        Raises UsageError as `check` does.
        """
        if isinstance(args, list | tuple) and len(args) == len(self._wanted):
            try:
                return self._simple_block(args, ffts, overflow)
            except (struct.error, TypeError):
                pass  # there is something else among them
        return block_of(None, self.bind(args, ffts=ffts, overflow=overflow)[0])

    def pack(self, values: Sequence[int], *, ffts: int = 0, overflow: int = 0) -> bytes:
        """The block of arguments that are all addresses, fast. Raises UsageError as `check` does."""
        try:
            return self._table(values, ffts, overflow)
        except (struct.error, TypeError):
            self.resolve(values)
            raise UsageError("only whole numbers can be packed", hint="bind takes all") from None

    def _table(self, values: Sequence[int], ffts: int, overflow: int) -> bytes:
        if not self._system:
            return self._struct.pack(*values)
        words = list(values)
        for place, is_ffts in self._system:
            words.insert(place, ffts if is_ffts else overflow)
        return self._struct.pack(*words)

    def _simple_block(self, args: Sequence[Any], ffts: int, overflow: int) -> ArgsBlock:
        """Raises struct.error or TypeError for what is not so simple."""
        for at, patches, least, most in self._tilings:
            data = args[at]
            if type(data) is bytes and least <= len(data) <= most:
                words = [*args[:at], 0, *args[at + 1 :]]
                content = self._table(words, ffts, overflow) + data.ljust(most, b"\0")
                return ArgsBlock(content, 0, len(content), patches)
        content = self._table(args, ffts, overflow)
        return ArgsBlock(content, 0, len(content))

    def _summary(self) -> str:
        runs = [(words, len([*same])) for words, same in groupby(self._wanted, lambda s: s.words)]
        named = (f"{many} x {words}" if many > 1 else words for words, many in runs[:MOST_NAMED])
        taken = ", ".join(named) or "nothing"
        if len(runs) > MOST_NAMED:
            taken += f", ... ({len(self._wanted)} in all)"
        own = " and ".join(dict.fromkeys(slot.what for slot in self.slots if not slot.is_users))
        return f"it takes {taken}" + (f"; {own} it gets by itself" if own else "")
