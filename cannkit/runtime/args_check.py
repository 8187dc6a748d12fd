"""check_args: what the runtime asks of the arguments of a launch, in its order. Spec 04, 1.3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.device.memory import ADDRESS_BITS
from cannkit.device.trace import Finding, Severity
from cannkit.errors import UsageError
from cannkit.format.ascend_meta import VfType
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.args import (
    U16,
    U32,
    U64,
    WORD,
    ArgsArray,
    ArgsEx,
    Arguments,
    CpuArgsEx,
    Dim3,
    Placeholder,
    SimtArgs,
    host_bytes,
    invalid,
    unsigned,
    with_params,
)
from cannkit.runtime.kernel import Kernel

MOST_BLOCKS: Final = 0xFFFF
SIMT_TYPES: Final = (VfType.SIMT_VF, VfType.SIMD_SIMT_MIX)


def check_args(kernel: Kernel | None, args: Arguments, *, lenient: bool = False) -> None:
    """LCH-6, step 2: what the runtime checks of arguments, in its order.

    With `lenient` a placeholder may cross the end of the block, as in the original; what is behind
    the end is not written. Raises RtError INVALID_VALUE (107000), FEATURE_NOT_SUPPORT (207000) for an
    array to an AI CPU kernel; UsageError for what no C structure could hold.
    """
    if isinstance(args, ArgsEx):
        _check_ex(args, lenient)
    elif isinstance(args, ArgsArray):
        if with_params(kernel).cpu is not None:
            why = "an AI CPU kernel takes a block"
            raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "no argument array", why=why)
        _check_array(kernel, args)
    elif isinstance(args, SimtArgs):
        _check_simt(kernel, args, lenient)
    else:
        _check_cpu(args, lenient)


def check_address(address: int, what: str = "argument block") -> None:
    """Q-12: refuse an address above the 48 bits of a device. Raises RtError INVALID_VALUE (107000)."""
    if not 0 <= address < 1 << ADDRESS_BITS:
        why = f"{address:#x} is not below 2^{ADDRESS_BITS}"
        hint = "the original mixes the upper bits with those of the stack level"
        raise RtError(RtStatus.INVALID_VALUE, f"no device address of an {what}", why=why, hint=hint)


def remarks(args: Arguments) -> tuple[Finding, ...]:
    """Q-4: placeholders that have no data; their words will point at the start of the block."""
    if isinstance(args, SimtArgs | CpuArgsEx):
        args = args.args if isinstance(args, SimtArgs) else args.ex
    if not isinstance(args, ArgsEx) or args.no_copy:
        return ()
    message = "has no data: its word points at the start of the block"
    return tuple(
        Finding("Q-4", Severity.WARNING, f"placeholder {number} {message}")
        for number, place in enumerate(args.placeholders or ())
        if not place[1]
    )


def _check_ex(ex: ArgsEx, lenient: bool) -> None:
    """Type 1, and the legacy structure."""
    _check_block(ex)
    if ex.no_copy:
        return
    if ex.tiling is not None:
        _check_offset("tiling data", ex.tiling[1], ex.size)
        _check_slot("the tiling slot", ex.tiling[0], ex.size, lenient)
    if ex.placeholders is None:
        raise invalid("placeholders", "their list is null")
    unsigned(len(ex.placeholders), U16, "the number of placeholders")
    for number, place in enumerate(ex.placeholders):
        addr_offset, data_offset = _pair(place)
        _check_slot(f"placeholder {number}", addr_offset, ex.size, lenient)
        _check_offset(f"data of placeholder {number}", data_offset, ex.size)


def _pair(place: Placeholder) -> Placeholder:
    try:
        addr_offset, data_offset = place
    except (TypeError, ValueError):
        raise UsageError("a placeholder is a pair of offsets, as Placeholder(8, 40)") from None
    return Placeholder(addr_offset, data_offset)


def _check_offset(what: str, offset: int, size: int) -> None:
    if unsigned(offset, U32, what) >= size:
        raise invalid(what, f"offset {offset} in a block of {size} bytes")


def _check_slot(what: str, offset: int, size: int, lenient: bool) -> None:
    _check_offset(what, offset, size)
    if offset + WORD > size and not lenient:
        over = offset + WORD - size
        why = f"the word at {offset} crosses the end of a block of {size} bytes"
        raise invalid(what, why, f"the original writes {over} bytes behind the end of the block")


def _check_block(ex: ArgsEx) -> None:
    """What every structure shares: an address, a size, and as many bytes."""
    args = ex.args
    if args is None or (isinstance(args, int) and not args):
        raise invalid("args", "it is null")
    if not unsigned(ex.size, U32, "argsSize"):
        raise invalid("argsSize", "it is 0")
    if isinstance(args, int):
        if not ex.no_copy:
            why = f"{args:#x} is an address; only with no_copy it is one of the device"
            raise UsageError("arguments on the host are given as bytes", why=why)
        unsigned(args, U64, "args")
    elif ex.no_copy:
        raise UsageError("a block that is not copied is given by its device address")
    elif (held := len(args) if type(args) is bytes else host_bytes(args, "args").nbytes) < ex.size:
        raise UsageError("argument block too short", why=f"argsSize is {ex.size}, there are {held}")


def _check_cpu(args: CpuArgsEx, lenient: bool) -> None:
    """Type 2, and LCH-9 as far as the arguments go; the original looks at no placeholder (Q-4)."""
    ex = args.ex
    _check_block(ex)
    for name, value, largest in (
        ("soNameAddrOffset", args.so_name_offset, U32),
        ("kernelNameAddrOffset", args.kernel_name_offset, U32),
        ("headParamOffset", args.head_offset, U32),
        ("timeout", args.timeout, U16),
    ):
        unsigned(value, largest, name)
    if ex.no_copy:
        return
    for what, (addr_offset, data_offset) in _cpu_places(args):
        over = unsigned(addr_offset, U32, what) + WORD - ex.size
        beyond = unsigned(data_offset, U32, f"data of {what}") - ex.size
        if lenient or (over <= 0 and beyond <= 0):
            continue
        bad = f"its word at {addr_offset}" if over > 0 else f"its data at {data_offset}"
        hint = "the original does not look" + (f": it writes {over} bytes too far" * (over > 0))
        raise invalid(what, f"{bad} leaves the block of {ex.size} bytes", hint)


def _cpu_places(args: CpuArgsEx) -> Iterator[tuple[str, Placeholder]]:
    for number, place in enumerate(args.ex.placeholders or ()):
        yield f"placeholder {number}", _pair(place)
    for number, place in enumerate(args.kernel_offsets):
        yield f"kernel offset {number}", _pair(place)


def _check_summary(kernel: Kernel, hint: str) -> None:
    if not kernel.has_param_summary:
        raise invalid(f"kernel {kernel.name}", "it does not state its parameters", hint)


def _check_array(kernel: Kernel | None, array: ArgsArray) -> None:
    """Type 4, and type 5 but for its dimensions."""
    kernel = with_params(kernel)
    _check_summary(kernel, "give its arguments as one block, which needs no metadata")
    if array.values is None and kernel.params:
        raise invalid("the argument array", "it is null")


def _check_simt(kernel: Kernel | None, simt: SimtArgs, lenient: bool) -> None:
    """Types 5 and 6."""
    kernel = with_params(kernel)
    if kernel.vf_type not in SIMT_TYPES:
        why = (
            f"its AIV type is {kernel.vf_type.name}, not {' or '.join(t.name for t in SIMT_TYPES)}"
        )
        raise invalid(f"kernel {kernel.name}", why, "launch it without a grid")
    _check_summary(kernel, "launch it without a grid, as operators with SIMT code are")
    user = simt.args
    if isinstance(user, ArgsEx):
        _check_block(user)
        if user.no_copy:
            raise UsageError("a SIMT launch copies its arguments")
    _check_dims("grid", simt.grid)
    _check_dims("block", simt.block)
    unsigned(simt.dynamic_ubuf, U64, "dynUbuf")
    if isinstance(user, ArgsArray):
        _check_array(kernel, user)
    else:
        _check_ex(user, lenient)
    if simt.grid.total > MOST_BLOCKS:
        shape = " x ".join(map(str, simt.grid))
        why = f"{shape} is {simt.grid.total} blocks, at most {MOST_BLOCKS} fit"
        raise invalid("grid", why, f"the original would launch {simt.grid.total & U16}")


def _check_dims(what: str, dims: Dim3) -> None:
    for axis, size in zip(Dim3._fields, dims, strict=True):
        if not unsigned(size, U32, f"{what}.{axis}"):
            raise invalid(what, f"{axis} is 0")
