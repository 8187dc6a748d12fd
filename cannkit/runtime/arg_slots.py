"""DfxSlot: one argument slot by its DFX record, and what a user may put there. Spec 01, section 7."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

from cannkit.errors import UsageError, brief
from cannkit.format.dfx import UNKNOWN_SIZE, DfxArg, PointerType, TensorType
from cannkit.runtime.arg_values import TENSORS, WORDS, ArgKind, SlotOrigin, UserArg
from cannkit.runtime.args import WORD

DUMP_WORD: Final = 8  # DFX-06: bytes behind the tiling struct, for the exception dump
LISTS: Final = (PointerType.LEVEL_2, PointerType.LEVEL_2_WITH_SHAPE)
SYSTEM: Final = {TensorType.FFTS: SlotOrigin.FFTS, TensorType.OVERFLOW: SlotOrigin.OVERFLOW}
COUNTED: Final = (  # DFX-06
    TensorType.INPUT,
    TensorType.OUTPUT,
    TensorType.WORKSPACE,
    TensorType.SHAPE_TENSOR,
)
KINDS: Final = {
    TensorType.INPUT: (ArgKind.IN, ArgKind.INOUT),
    TensorType.OUTPUT: (ArgKind.OUT, ArgKind.INOUT),
    TensorType.TENSOR: TENSORS,
    TensorType.SHAPE_TENSOR: TENSORS,
    TensorType.WORKSPACE: (ArgKind.WORKSPACE,),
    TensorType.TILING: (ArgKind.TILING,),
}
ANY_MEMORY: Final = (*TENSORS, ArgKind.WORKSPACE)  # of a slot that is none of these
RAW: Final = (ArgKind.ADDRESS, ArgKind.NULL)


class DfxSlot(NamedTuple):
    """An 8-byte slot: its record, `what` it is in plain words, and `origin`, who fills it.

    `dtype_bits` are those of a unit in which records count the size of a dtype (DFX-05). Tiling data
    have `slack` bytes less at least than is recorded.
    """

    offset: int
    what: str
    origin: SlotOrigin
    record: DfxArg
    dtype_bits: int
    slack: int

    @property
    def is_users(self) -> bool:
        """Whether the user fills it."""
        return self.origin is SlotOrigin.USER

    @property
    def is_tiling(self) -> bool:
        """Whether it points at tiling data."""
        return self.record.tensor_type is TensorType.TILING

    @property
    def is_list(self) -> bool:
        """Whether it points at a list of tensors. DFX-07."""
        return self.record.pointer_type in LISTS

    @property
    def tiling_sizes(self) -> tuple[int, int] | None:
        """The least and the most bytes of tiling data, None where they are not recorded. DFX-06."""
        size = self.record.tiling_size
        return (max(size - self.slack, 1), size) if size not in (None, UNKNOWN_SIZE) else None

    @property
    def name(self) -> str:
        """What it is, `input list` for a list of inputs."""
        return f"{self.what} list" if self.is_list else self.what

    @property
    def words(self) -> str:
        """The same, with the size where that is recorded: `tiling (56 bytes)`."""
        sizes = self.tiling_sizes
        size = sizes[1] if sizes else self.record.size
        return f"{self.name} ({size} bytes)" if size else self.name

    def check(self, arg: UserArg, where: str) -> None:
        """Raises UsageError for what does not belong there; `where` names the argument."""
        if arg.kind in RAW:
            return
        if arg.is_scalar:
            if not arg.is_word and not (self.is_list and arg.data and not arg.dtype):
                size = len(arg.data or b"")
                what = f"{where} is {size} bytes by value, the kernel takes an address"
                raise UsageError(what, hint="copy them to the device and give their address")
        elif arg.kind not in KINDS.get(self.record.tensor_type or TensorType.TENSOR, ANY_MEMORY):
            given = WORDS.get(arg.kind, f"of kind {brief(str(arg.kind))}")
            raise UsageError(f"{where} is given as {given}")
        elif self.is_tiling:
            self._check_tiling(len(arg.data) if arg.data is not None else None, where)
        elif self.is_list:
            self._check_elements(arg, where)
        else:
            self._check_memory(arg, where)

    def behind(self, arg: UserArg) -> bytes | None:
        """What lies behind the table for an argument, None where the slot holds it itself."""
        if self.is_tiling and arg.kind == ArgKind.TILING and arg.data is not None:
            sizes = self.tiling_sizes
            return arg.data.ljust(sizes[1], b"\0") if sizes else arg.data
        if arg.is_scalar:
            return None if arg.is_word else arg.data
        if self.is_list and arg.kind in TENSORS:
            with_shape = self.record.pointer_type is PointerType.LEVEL_2_WITH_SHAPE
            return _list_of(arg, with_shape=with_shape)
        return None

    def _check_tiling(self, size: int | None, where: str) -> None:
        if size is None or (size and self.tiling_sizes is None):
            return
        least, most = self.tiling_sizes or (1, 1)
        if not least <= size <= most:
            takes = f"{least} to {most}" if least < most else f"{most}"
            taken = f", the kernel takes {takes}" if self.tiling_sizes else ""
            raise UsageError(f"{where} has {size} bytes{taken}")

    def _check_elements(self, arg: UserArg, where: str) -> None:
        """DFX-05."""
        bits = (self.record.dtype_size or 0) * self.dtype_bits
        if bits and arg.dtype and arg.size * 8 != prod(arg.shape) * bits:
            what = f"{where} has elements of {brief(arg.dtype)}, the kernel takes {bits} bits"
            raise UsageError(what)

    def _check_memory(self, arg: UserArg, where: str) -> None:
        """DFX-04: size and shape, where both sides know them."""
        size, dims = self.record.size, self.record.dims
        if (arg.size or arg.dtype) and size is not None and arg.size < size:
            raise UsageError(f"{where} has {arg.size} bytes, the kernel takes {size}")
        if arg.shape and dims is not None and prod(arg.shape) != prod(dims):
            given, wanted = brief(str(list(arg.shape))), brief(str(list(dims)))
            raise UsageError(f"{where} has the shape {given}, the kernel takes {wanted}")


def slots_of(records: Sequence[DfxArg], *, dtype_bits: int, has_oom: bool) -> tuple[DfxSlot, ...]:
    """The slots of a kernel in the order of its records. DFX-02.

    `has_oom` tells of that compiler option, by which tiling data grow (DFX-06).
    """
    slack = DUMP_WORD
    if has_oom:  # the struct is rounded up too
        count = sum(record.tensor_type in COUNTED for record in records)
        slack += WORD * count + WORD - 1
    return tuple(
        DfxSlot(
            WORD * place,
            kind.name.lower().replace("_", " "),
            SYSTEM.get(kind, SlotOrigin.USER),
            record,
            dtype_bits,
            slack,
        )
        for place, record in enumerate(records)
        for kind in (record.tensor_type or TensorType.TENSOR,)
    )


def _list_of(arg: UserArg, *, with_shape: bool) -> bytes:
    """DFX-07: a list of one tensor."""
    if not with_shape:
        return struct.pack("<Q", arg.address)
    head = 1 << 32 | len(arg.shape)
    offset = WORD * (2 + len(arg.shape))
    return struct.pack(f"<{3 + len(arg.shape)}Q", offset, head, *arg.shape, arg.address)
