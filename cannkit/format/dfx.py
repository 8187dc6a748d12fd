"""The nested argument records of DFX_TYPE: always big endian, lengths in words of 8 bytes.

Spec 01, section 7.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final, NamedTuple

from cannkit.format.ascend_meta import FunctionMeta
from cannkit.format.bits import OpenEnum

WORD: Final = 8
SHORT: Final = 4  # words of a record that is worth remembering
UNKNOWN_SIZE: Final = 0xFFFF_FFFF_FFFF_FFFF  # DFX-04: -1, not known at compile time
HEAD: Final = struct.Struct(">HH")  # DFX-01: type, number of words


class TensorType(OpenEnum):
    """Word 0, bits 15 to 0: what an argument slot is. DFX-03."""

    TENSOR = 1
    INPUT = 2
    OUTPUT = 3
    WORKSPACE = 4
    ASCENDC_LOG = 5
    MC2_CTX = 6
    TILING = 7
    L1 = 8
    L2 = 9
    OVERFLOW = 10
    FFTS = 11
    SHAPE_TENSOR = 12
    ARGS = 101
    STACK = 102
    DEVICE_KERNEL_OBJECT = 103
    SIMT_STACK = 104


class PointerType(OpenEnum):
    """Word 0, bits 31 to 16: how the slot points at it. DFX-03."""

    NONE = 0
    LEVEL_1 = 1
    LEVEL_2 = 2
    LEVEL_2_WITH_SHAPE = 3
    LEVEL_1_WITH_SHAPE = 4


ARG_INFO: Final = FunctionMeta.DFX_ARG_INFO.value
TILING: Final = TensorType.TILING.value
WORDS: Final = tuple(struct.Struct(f">{count}Q") for count in range(SHORT + 1))


class DfxArg(NamedTuple):
    """One record: an argument slot of the kernel. Sizes are bytes, None where not recorded."""

    type: int
    words: tuple[int, ...]
    tensor_type: TensorType | None
    pointer_type: PointerType | None
    size: int | None
    dtype_size: int | None
    dims: tuple[int, ...] | None
    tiling_size: int | None


class DfxArgs(NamedTuple):
    """All records of a DFX TLV, how many of them are argument slots, and what is wrong with them."""

    args: tuple[DfxArg, ...]
    arg_info_count: int
    problem: str | None

    @property
    def tiling_size(self) -> int | None:
        """The tiling word of the (last) TILING record, bytes. DFX-06."""
        sizes = [arg.tiling_size for arg in self.args if arg.tiling_size is not None]
        return sizes[-1] if sizes else None


def read_dfx(value: bytes) -> DfxArgs:
    """Decode the value of a DFX_TYPE record; what does not fit ends the walk with a `problem`."""
    found: list[tuple[int, tuple[int, ...]]] = []
    problem = None
    dynamic = False
    slots = at = 0
    size = len(value)
    while at < size:
        if size - at < HEAD.size:
            problem = f"{size - at} bytes left at {at}, a record header takes {HEAD.size}"
            break
        kind, count = HEAD.unpack_from(value, at)
        at += HEAD.size
        if at + WORD * count > size:
            problem = f"record at {at - HEAD.size} says {count} words, {size - at} bytes are left"
            break
        if 0 < count <= SHORT:
            words = WORDS[count].unpack_from(value, at)
        else:
            words = struct.unpack_from(f">{count}Q", value, at)
        found.append((kind, words))
        slots += kind == ARG_INFO
        dynamic = dynamic or (count > 0 and words[0] & 0xFFFF == TILING)
        at += WORD * count
    args = tuple(
        _short_argument(kind, words, dynamic)
        if len(words) <= SHORT
        else _argument(kind, words, dynamic)
        for kind, words in found
    )
    if problem is None and not all(words for _, words in found):
        problem = "a record has no words"
    return DfxArgs(args, slots, problem)


def _argument(kind: int, words: tuple[int, ...], dynamic: bool) -> DfxArg:
    """DFX-04: the meaning of the words, by tensor type, pointer type and mode."""
    if not words:
        return DfxArg(kind, words, None, None, None, None, None, None)
    tensor = TensorType(words[0] & 0xFFFF)
    pointer = PointerType(words[0] >> 16 & 0xFFFF)
    second = words[1] if len(words) > 1 else None
    size = dtype_size = tiling_size = dims = None
    if tensor is TensorType.TILING:
        tiling_size = second
    elif second != UNKNOWN_SIZE:
        size = second
    if tensor in (TensorType.INPUT, TensorType.OUTPUT):
        if pointer is PointerType.LEVEL_2_WITH_SHAPE:
            dtype_size = words[2] if len(words) > 2 else None
        elif not dynamic and len(words) > 2:
            dims = words[3 : 3 + words[2]]
    return DfxArg(kind, words, tensor, pointer, size, dtype_size, dims, tiling_size)


# Kernels describe their slots in the same few words: a third of the time of reading an object.
_short_argument = lru_cache(maxsize=1024)(_argument)


def encode_dfx(records: list[tuple[int, tuple[int, ...]]]) -> bytes:
    """The value of a DFX_TYPE record from (type, words) pairs."""
    return b"".join(HEAD.pack(kind, len(w)) + struct.pack(f">{len(w)}Q", *w) for kind, w in records)


def runtime_arg_count(value: bytes) -> int | None:
    """UserArgsNum as the runtime counts it; None where it would read out of bounds. DFX-09."""
    size = len(value)
    if size == 0:
        return 0
    if size < HEAD.size:  # HAZ-07: the remainder underflows
        return None
    count, at, rest = 1, 0, size - HEAD.size  # sic: 4 too small, the last record never fits
    while rest > HEAD.size:
        kind, words = HEAD.unpack_from(value, at)
        length = WORD * words & 0xFFFF
        if HEAD.size + length > rest:
            break
        count += kind == ARG_INFO
        at += HEAD.size + length
        rest -= HEAD.size + length
    return count
