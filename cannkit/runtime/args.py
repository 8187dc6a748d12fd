"""Arguments of a launch: the structures of CANN, and the block they make. Spec 04, section 2."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from operator import index
from typing import Final, NamedTuple

from cannkit.errors import UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import Kernel

HostBytes = bytes | bytearray | memoryview

WORD: Final = 8  # bytes of an address
U16: Final = 0xFFFF
U32: Final = 0xFFFF_FFFF
U64: Final = 0xFFFF_FFFF_FFFF_FFFF
LARGEST_ARRAY: Final = 16 << 20  # bytes; what metadata claims beyond is nonsense
SIMT_HEAD: Final = struct.Struct("<Q6I")  # LCH-34


class Placeholder(NamedTuple):
    """rtHostInputInfo_t: the word at `addr_offset` becomes the address of `data_offset` in the block."""

    addr_offset: int
    data_offset: int


class ArgsEx(NamedTuple):
    """rtArgsEx_t: the first `size` bytes of `args` on the host, or a device address with `no_copy`.

    `args` None or 0 is null; `placeholders` None is a null list that should have entries.
    """

    args: HostBytes | int | None
    size: int
    placeholders: Sequence[Placeholder] | None = ()
    tiling: Placeholder | None = None
    no_copy: bool = False


class CpuArgsEx(NamedTuple):
    """rtAicpuArgsEx_t and rtCpuKernelArgs_t: offsets in bytes, `timeout` in seconds, 0xFFFF never."""

    ex: ArgsEx
    so_name_offset: int = 0
    kernel_name_offset: int = 0
    head_offset: int = 0
    timeout: int = 0
    kernel_offsets: Sequence[Placeholder] = ()


class ArgsArray(NamedTuple):
    """One value for each parameter of the kernel, in order; None is a null pointer."""

    values: Sequence[HostBytes | None] | None


class Dim3(NamedTuple):
    """Dimensions of a grid or of a block of threads."""

    x: int = 1
    y: int = 1
    z: int = 1

    @property
    def total(self) -> int:
        """How many there are in all. Q-2: nothing wraps."""
        return self.x * self.y * self.z


class SimtArgs(NamedTuple):
    """A SIMT launch: an array (type 5) or a host block (type 6); `dynamic_ubuf` in bytes (LCH-35)."""

    grid: Dim3
    block: Dim3
    dynamic_ubuf: int
    args: ArgsArray | ArgsEx


Arguments = ArgsEx | CpuArgsEx | ArgsArray | SimtArgs


class ArgsBlock(NamedTuple):
    """What goes to the device: `size` bytes of `content`, or nothing, the block being at `pointer`.

    `patches` are offsets into the block. The kernel's parameters begin `simt_offset` bytes into it.
    """

    content: bytes | None
    pointer: int
    size: int
    patches: tuple[Placeholder, ...] = ()
    simt_offset: int = 0

    def patched(self, base: int) -> bytes:
        """LCH-20: the bytes for a block at `base`, patched in a copy (Q-6)."""
        if not self.patches:
            return self.content or b""
        block = bytearray(self.content or b"")
        for addr_offset, data_offset in self.patches:
            room = max(len(block) - addr_offset, 0)  # never a byte behind the block
            word = (base + data_offset & U64).to_bytes(WORD, "little")[:room]
            block[addr_offset : addr_offset + WORD] = word
        return bytes(block)


def block_of(kernel: Kernel | None, args: Arguments) -> ArgsBlock:
    """The block that checked arguments make. LCH-20 to LCH-22, LCH-33, LCH-34.

    Raises RtError INVALID_VALUE (107000) for a null element of an array, for a SIMT array that is
    null, and for parameters that leave their block (Q-5); UsageError for values of a wrong size.
    """
    if isinstance(args, ArgsEx):
        return _host_block(args)
    if isinstance(args, CpuArgsEx):
        return block_of_cpu(args)
    if isinstance(args, ArgsArray):
        content = _packed(with_params(kernel), args)
        return ArgsBlock(content or None, 0, len(content))
    if isinstance(args.args, ArgsArray):
        if args.args.values is None:
            raise invalid(
                "the argument array is null", "the copy refuses that without parameters too"
            )
        user = ArgsBlock(content := _packed(with_params(kernel), args.args), 0, len(content))
    else:
        user = _host_block(args.args)
    head = SIMT_HEAD.pack(0, *reversed(args.block), *reversed(args.grid))
    shift = SIMT_HEAD.size
    return ArgsBlock(
        head + (user.content or b""),
        0,
        shift + user.size,
        tuple(Placeholder(addr + shift, data + shift) for addr, data in user.patches),
        shift,
    )


def block_of_cpu(args: CpuArgsEx) -> ArgsBlock:
    """The same of an AI CPU launch. LCH-22."""
    block = _host_block(args.ex)
    if block.content is None:
        return block
    places = (Placeholder(index(addr), index(data)) for addr, data in args.kernel_offsets)
    return block._replace(patches=(*block.patches, *places))


def unsigned(value: int, largest: int, what: str) -> int:
    """`value` as an unsigned field of C holds it. Raises UsageError."""
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{what} is a {type(value).__name__}, not a whole number") from None
    if not 0 <= number <= largest:
        raise UsageError(f"{what} does not fit", why=f"{number:#x} is not in 0..{largest:#x}")
    return number


def host_bytes(value: object, what: str) -> memoryview:
    """The bytes of a buffer of the host. Raises UsageError for anything else."""
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"{what} is a {type(value).__name__}, not bytes") from None
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


def invalid(where: str, why: str, hint: str | None = None) -> RtError:
    """A refusal with INVALID_VALUE (107000)."""
    return RtError(RtStatus.INVALID_VALUE, "unusable arguments", where=where, why=why, hint=hint)


def with_params(kernel: Kernel | None) -> Kernel:
    """The kernel whose parameters an array fills. Raises RtError KERNEL_NULL (507000)."""
    if kernel is None:
        raise RtError(RtStatus.KERNEL_NULL, "an argument array needs a kernel")
    return kernel


def _host_block(ex: ArgsEx) -> ArgsBlock:
    """LCH-20, LCH-21, LCH-36."""
    if isinstance(ex.args, int) or ex.args is None:
        return ArgsBlock(None, ex.args or 0, ex.size)
    args = ex.args
    if type(args) is not bytes or len(args) != ex.size:
        args = host_bytes(args, "args")[: ex.size].tobytes()
    places = ex.placeholders or ()
    if ex.tiling is not None:
        places = (*places, ex.tiling)
    if places:
        places = tuple(Placeholder(index(addr), index(data)) for addr, data in places)
    return ArgsBlock(args, 0, ex.size, tuple(places))


def _packed(kernel: Kernel, array: ArgsArray) -> bytes:
    """LCH-33: the values at their offsets, zeros between them (Q-30)."""
    total, params = kernel.param_total_size, kernel.params
    if not total:
        return b""
    if total > LARGEST_ARRAY:
        why = f"it claims {total} bytes of parameters, cannkit takes {LARGEST_ARRAY}"
        raise invalid(f"kernel {kernel.name}", why)
    values, count = array.values or (), len(params)
    if len(values) != count:
        raise UsageError(f"{len(values)} arguments, the kernel takes {count}")
    block = bytearray(total)
    for number, (param, value) in enumerate(zip(params, values, strict=True), 1):
        where = f"argument {number} of {count}"
        if value is None:
            raise invalid(where, "it is null")
        if param.offset + param.size > total:
            why = f"{param.size} bytes at {param.offset} leave the block of {total}"
            raise invalid(where, why, "the original writes behind the end of its buffer")
        raw = host_bytes(value, where)
        if raw.nbytes != param.size:
            raise UsageError(f"{where} has {raw.nbytes} bytes, the kernel takes {param.size}")
        block[param.offset : param.offset + param.size] = raw
    return bytes(block)
