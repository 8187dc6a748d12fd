"""OpenPlan and ParamPlan: blocks of kernels that state nothing, or their parameters. Spec 04, 2.3, 2.4."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final

from cannkit.device.trace import Finding
from cannkit.errors import UsageError, brief
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
from cannkit.runtime.args import (
    LARGEST_ARRAY,
    WORD,
    ArgsArray,
    ArgsBlock,
    ArgsEx,
    block_of,
)
from cannkit.runtime.args_handle import has_ffts_slot, has_overflow_slot, leading_slots
from cannkit.runtime.kernel import Kernel
from cannkit.soc import Soc

CODES: Final = {1: "B", 2: "H", 4: "I", 8: "Q"}  # bytes to struct character


class OpenPlan:
    """Nothing is known of the arguments but what the runtime adds to them. LCH-24, LCH-27, LCH-28.

    The user's arguments are taken in order, each on a multiple of 8 bytes. `arg_size` are the bytes
    that `__CCE_KernelArgSize` states for the kernel, None where it does not (ARG-01).
    """

    def __init__(
        self,
        kernel: Kernel,
        soc: Soc,
        arg_size: int | None = None,
        remarks: Sequence[Finding] = (),
    ) -> None:
        self.source = "none"
        self.args_size = arg_size
        self.pointers: tuple[int, ...] = ()
        self.remarks = tuple(remarks)
        self._has_ffts = has_ffts_slot(kernel, soc)
        self._leading = max(leading_slots(kernel, soc), int(self._has_ffts))  # reserved
        self._has_overflow = has_overflow_slot(kernel)
        self._align = 1 if kernel.cpu is not None else WORD
        self._packers: dict[int, struct.Struct] = {}

    def check(self, args: object) -> None:
        """Raises UsageError, naming the argument, for what no block can hold, and for a wrong size."""
        self.bind(args)

    def resolve(self, args: object) -> tuple[UserArg, ...]:
        """The arguments of the user, checked one by one; a block is one. Raises as `check` does."""
        if is_block(args):
            return (block_arg(args),)
        values = listed(args)
        count = len(values)
        return tuple(
            user_arg(value, f"argument {number} of {count}")
            for number, value in enumerate(values, 1)
        )

    def bind(
        self, args: object, *, ffts: int = 0, overflow: int = 0
    ) -> tuple[ArgsEx, tuple[Slot, ...]]:
        """The block of these arguments and its slots; a block as bytes is taken as it is.

        Raises UsageError as `check` does.
        """
        if is_block(args):
            return whole_block(args)
        block = BlockBuilder(self._align)
        for place in range(self._leading):
            is_ffts = self._has_ffts and not place
            kind = "ffts" if is_ffts else "system"
            block.word(ffts if is_ffts else 0, kind, SlotOrigin.FFTS)
        given = self.resolve(args)
        for at, arg in enumerate(given):
            _add(block, arg, at, f"argument {at + 1} of {len(given)}")
        table = block.size
        if self._has_overflow:
            block.word(overflow, "overflow", SlotOrigin.OVERFLOW)
        self._check_size(table, block.size)
        return block.finish()

    def block(self, args: object, *, ffts: int = 0, overflow: int = 0) -> ArgsBlock:
        """The block of these arguments, fast where they are words. Raises UsageError as `check`."""
        if isinstance(args, list | tuple):
            try:
                content = self._words(args, ffts, overflow)
                return ArgsBlock(content, 0, len(content))
            except (struct.error, TypeError):
                pass  # something else among them
        return block_of(None, self.bind(args, ffts=ffts, overflow=overflow)[0])

    def pack(self, values: Sequence[int], *, ffts: int = 0, overflow: int = 0) -> bytes:
        """The block of arguments that are all words, fast. Raises UsageError as `check` does."""
        try:
            return self._words(values, ffts, overflow)
        except (struct.error, TypeError):
            self.bind(values)
            raise UsageError("only whole numbers can be packed", hint="bind takes all") from None

    def _words(self, values: Sequence[Any], ffts: int, overflow: int) -> bytes:
        """Raises struct.error or TypeError for anything but words."""
        count = len(values)
        words = [*values, overflow] if self._has_overflow else list(values)
        if self._leading:
            words[:0] = [ffts if self._has_ffts else 0] + [0] * (self._leading - 1)
        packer = self._packers.get(count)
        if packer is not None:
            return packer.pack(*words)
        packer = struct.Struct(f"<{len(words)}Q")
        content = packer.pack(*words)
        table = WORD * (self._leading + count)
        self._check_size(table, len(content))
        self._packers[count] = packer
        return content

    def _check_size(self, table: int, with_overflow: int) -> None:
        """ARG-01: the size that the object states, which may count the overflow slot or not."""
        rounded = -(-table // WORD) * WORD
        if self.args_size is None or self.args_size in (table, rounded, with_overflow):
            return
        filled = WORD * self._leading
        of_system = f", {filled} of them by the runtime" if filled else ""
        what = f"{table} bytes of arguments, the kernel takes {self.args_size}"
        raise UsageError(
            what + of_system, hint="a block given as bytes is taken as it is, without this check"
        )


class ParamPlan:
    """The parameters of a kernel as PARAM_INFO places them. LCH-33."""

    def __init__(self, kernel: Kernel, remarks: Sequence[Finding] = ()) -> None:
        self.source = "PARAM_INFO"
        self.args_size: int | None = kernel.param_total_size
        self.pointers: tuple[int, ...] = ()
        self.remarks = tuple(remarks)
        self._kernel = kernel
        self._packer = _packer_of(kernel)

    def check(self, args: object) -> None:
        """Raises UsageError, naming the argument, for what the kernel does not take."""
        self.resolve(args)

    def resolve(self, args: object) -> tuple[UserArg, ...]:
        """One argument for each parameter, checked; a block is one. Raises as `check` does."""
        if is_block(args):
            return (block_arg(args),)
        values, params = listed(args), self._kernel.params
        count = len(params)
        if len(values) < count:
            where = place_of(len(values) + 1, count, f"{params[len(values)].size} bytes")
            raise UsageError(f"{where} is missing")
        if len(values) > count:
            raise UsageError(f"{len(values)} arguments, the kernel takes {count}")
        return tuple(
            _parameter(value, param.size, place_of(number, count, f"{param.size} bytes", value))
            for number, (param, value) in enumerate(zip(params, values, strict=True), 1)
        )

    def bind(
        self, args: object, *, ffts: int = 0, overflow: int = 0
    ) -> tuple[ArgsEx | ArgsArray, tuple[Slot, ...]]:
        """The array of these arguments and their slots; a block as bytes is taken as it is.

        The runtime adds nothing to an array. Raises UsageError as `check` does.
        """
        if is_block(args):
            return whole_block(args)
        slots = tuple(
            Slot(param.offset, param.size, "parameter", SlotOrigin.USER, at)
            for at, param in enumerate(self._kernel.params)
        )
        return self._array(args), slots

    def block(self, args: object, *, ffts: int = 0, overflow: int = 0) -> ArgsBlock:
        """The block of these arguments. Raises UsageError as `check` does, RtError as `pack` does."""
        if is_block(args):
            return block_of(None, whole_block(args)[0])
        content = self.pack(listed(args))
        return ArgsBlock(content or None, 0, len(content))

    def pack(self, values: Sequence[Any], *, ffts: int = 0, overflow: int = 0) -> bytes:
        """The block of these arguments, fast where they are all numbers.

        Raises UsageError as `check` does, RtError (107000) for parameters that leave their block.
        """
        try:
            if self._packer is not None:
                return self._packer.pack(*values)
        except (struct.error, TypeError):
            pass  # a signed number, or something wrong, which is found below
        return block_of(self._kernel, self._array(values)).content or b""

    def _array(self, args: object) -> ArgsArray:
        return ArgsArray([_raw(arg) for arg in self.resolve(args)])


def _add(block: BlockBuilder, arg: UserArg, at: int, where: str) -> None:
    """An argument of a kernel that states nothing. LCH-25, LCH-26."""
    if arg.kind == ArgKind.TILING and arg.data is not None:
        if not arg.data:
            raise UsageError(f"{where} (tiling) is empty")
        block.pointer(arg.data, "tiling", SlotOrigin.TILING, at)
    elif arg.kind == ArgKind.HEAD and arg.data:  # LCH-42
        block.value(arg.data, "parameters", SlotOrigin.HEAD, at)
    elif arg.is_scalar:
        if not arg.data:
            raise UsageError(f"{where} has no bytes")
        block.value(arg.data, "scalar", SlotOrigin.USER, at)
    else:
        block.word(arg.address, str(arg.kind), SlotOrigin.USER, at)


def _parameter(value: object, size: int, where: str) -> UserArg:
    """What a value means as a parameter of `size` bytes. Raises UsageError."""
    if isinstance(value, int) and size <= WORD:
        try:
            raw = value.to_bytes(size, "little", signed=value < 0)
        except OverflowError:
            raise UsageError(f"{where} does not hold {brief(hex(value), 32)}") from None
        return UserArg(ArgKind.SCALAR, raw, size=size)
    arg = user_arg(value, where)
    if len(_raw(arg)) != size:
        raise UsageError(f"{where} is given {len(_raw(arg))} bytes")
    return arg


def _raw(arg: UserArg) -> bytes:
    return arg.address.to_bytes(WORD, "little") if arg.data is None else arg.data


def _packer_of(kernel: Kernel) -> struct.Struct | None:
    """All parameters as unsigned numbers with gaps between them; None where that cannot be said."""
    text, at = "<", 0
    for param in kernel.params:
        if param.size not in CODES or param.offset < at or param.offset > LARGEST_ARRAY:
            return None
        text += f"{param.offset - at}x{CODES[param.size]}"
        at = param.offset + param.size
    rest = kernel.param_total_size - at
    return struct.Struct(f"{text}{rest}x") if 0 <= rest <= LARGEST_ARRAY else None
