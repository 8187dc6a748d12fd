"""ArgsHandle: an argument block built piece by piece, the aclrtKernelArgs calls. Spec 04, section 2.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.args import (
    U64,
    WORD,
    ArgsEx,
    CpuArgsEx,
    HostBytes,
    Placeholder,
    host_bytes,
    invalid,
    unsigned,
)
from cannkit.runtime.handles import Handle, HandleKind
from cannkit.runtime.kernel import CPU_USER_ARGS, Kernel
from cannkit.soc import Soc

BUFFER_SIZE: Final = 65536  # LCH-23
MOST_PARAMS: Final = 128
MOST_PLACEHOLDERS: Final = 128
SYSTEM_PARAMS: Final = 8
HANDLE_SIZE: Final = 96  # LCH-31, bytes of RtArgsHandle
PARAM_SIZE: Final = 48  # and of ParaDetail


class SystemAddresses(NamedTuple):
    """What system slots hold on one device: the C2C control address and the overflow buffer."""

    ffts: int = 0
    overflow: int = 0


def leading_slots(kernel: Kernel, soc: Soc) -> int:
    """LCH-24: words before the first user parameter."""
    count = kernel.system_args
    if count and kernel.supports_overflow:
        count -= 1
    elif not count:
        return 0
    if not soc.has_core_sync_address and kernel.ffts_in_args and count > 1:
        count -= 1
    return count


def has_overflow_slot(kernel: Kernel) -> bool:
    """LCH-27: whether the overflow address follows the user parameters."""
    return kernel.cpu is None and kernel.system_args > 0 and kernel.supports_overflow


def has_ffts_slot(kernel: Kernel, soc: Soc) -> bool:
    """LCH-28: whether the C2C control address is the first word."""
    return kernel.cpu is None and soc.has_core_sync_address and kernel.ffts_in_args


def handle_size(kernel: Kernel) -> int:
    """LCH-31: bytes of memory for a handle (aclrtKernelArgsGetHandleMemSize)."""
    count = CPU_USER_ARGS if kernel.cpu is not None else kernel.user_args
    return HANDLE_SIZE + PARAM_SIZE * count


def memory_size(kernel: Kernel, user_size: int) -> int:
    """LCH-31: bytes of memory for a block with `user_size` bytes (aclrtKernelArgsGetMemSize)."""
    unsigned(user_size, U64, "the size of the arguments")
    if kernel.cpu is not None:
        return user_size
    return user_size + WORD * SYSTEM_PARAMS + WORD * kernel.user_args


class ParamHandle(Handle):
    """A parameter of an ArgsHandle (aclrtParamHandle). Changes: where a placeholder's data are."""

    KIND = HandleKind.PARAM
    __slots__ = ("args", "data_offset", "is_placeholder", "offset", "size")

    def __init__(self, args: ArgsHandle, offset: int, size: int, *, is_placeholder: bool) -> None:
        super().__init__()
        self.args = args
        self.offset = offset
        self.size = size
        self.is_placeholder = is_placeholder
        self.data_offset = 0


class ArgsHandle(Handle):
    """The arguments of one kernel, in order (aclrtArgsHandle). Changes.

    Each has a buffer of its own (Q-17), of 65,536 bytes and 128 parameters, unless `memory` is
    given: writable bytes of the caller, for as many parameters as the kernel has. `addresses` tells
    the system addresses of the current context when they are needed, or raises RtError (107002).
    """

    KIND = HandleKind.ARGS
    __slots__ = (
        "_addresses",
        "_buffer",
        "_has_data",
        "_has_overflow",
        "_most_params",
        "_soc",
        "args_size",
        "finalized",
        "kernel",
        "params",
        "system_size",
        "updating",
    )

    def __init__(
        self,
        kernel: Kernel,
        soc: Soc,
        addresses: Callable[[], SystemAddresses],
        memory: bytearray | memoryview | None = None,
    ) -> None:
        super().__init__()
        self.kernel = kernel
        self.system_size = WORD * leading_slots(kernel, soc)
        self.args_size = self.system_size
        self.params: list[ParamHandle] = []
        self.finalized = False
        self.updating = False
        self._soc = soc
        self._addresses = addresses
        self._has_data = False
        self._has_overflow = not has_overflow_slot(kernel)
        self._buffer = memoryview(bytearray(BUFFER_SIZE)) if memory is None else _writable(memory)
        self._most_params = MOST_PARAMS
        if memory is not None and kernel.cpu is None:
            self._most_params = kernel.user_args
        if self.system_size > len(self._buffer):
            raise invalid("buffer", f"{len(self._buffer)} bytes, {self.system_size} for the system")

    def append(self, data: HostBytes) -> ParamHandle:
        """Add a parameter by value (aclrtKernelArgsAppend). LCH-25.

        Raises RtError: 100000 for no bytes, 207000 after Finalize or after the first placeholder has
        data, 107000 for too many parameters or bytes.
        """
        raw = host_bytes(data, "parameter")
        _not_empty(raw.nbytes)
        param = self._append(raw.nbytes, is_placeholder=False)
        self._buffer[param.offset : param.offset + param.size] = raw
        return param

    def append_placeholder(self) -> ParamHandle:
        """Add the address of data that come later (aclrtKernelArgsAppendPlaceHolder). LCH-26.

        Raises RtError as `append` does.
        """
        if sum(param.is_placeholder for param in self.params) >= MOST_PLACEHOLDERS:
            raise invalid("placeholders", f"at most {MOST_PLACEHOLDERS}")
        return self._append(WORD, is_placeholder=True)

    def placeholder_buffer(self, param: ParamHandle, size: int) -> memoryview:
        """Where to write the data of a placeholder (aclrtKernelArgsGetPlaceHolderBuffer). LCH-26.

        A second call gives another area. Raises RtError: 100000 for a size of 0, 107000 for a
        parameter by value or of another handle, 207000 after Finalize, 107000 for too many bytes.
        """
        _not_empty(unsigned(size, U64, "size of the data"))
        self._check_own(param)
        if not param.is_placeholder:
            raise invalid("parameter", "it was appended by value, it has no placeholder")
        if self.finalized:
            raise _unsupported("the arguments are final")
        overflow = None if self._has_overflow else self._aligned(self.args_size)
        start = self._aligned(self.args_size if overflow is None else overflow + WORD)
        self._check_room(start + size)
        if overflow is not None:
            self._put_overflow(overflow)
        self._has_data = True
        param.data_offset, self.args_size = start, start + size
        return self._buffer[start : start + size]

    def finalize(self) -> None:
        """The block is whole (aclrtKernelArgsFinalize). LCH-27, LCH-28, LCH-30.

        Raises RtError: 107002, 107000 where the FFTS address would take the place of the first
        parameter (Q-16), or the overflow address has no room.
        """
        has_ffts, pending = has_ffts_slot(self.kernel, self._soc), not self._has_overflow
        if has_ffts and not self.system_size and (self.args_size or pending):
            why = "the kernel wants the FFTS address and reserves no slot for it"
            raise invalid("parameter 0", why, "the original writes it over the first parameter")
        if pending:
            at = self._aligned(self.args_size)
            self._check_room(at + WORD)
            self._put_overflow(at)
        if has_ffts and self.system_size:
            self._put_word(0, self._addresses().ffts)
        self.finalized, self.updating = True, False

    def update(self, param: ParamHandle, data: HostBytes) -> None:
        """New bytes for a parameter by value (aclrtKernelArgsParaUpdate); Finalize again. LCH-30.

        Raises RtError: 100000 for no bytes, 107000 for a placeholder or another size.
        """
        raw = host_bytes(data, "parameter")
        _not_empty(raw.nbytes)
        self._check_own(param)
        if param.is_placeholder:
            raise invalid("parameter", "a placeholder cannot be updated")
        if raw.nbytes != param.size:
            raise invalid("parameter", f"{raw.nbytes} bytes, it has {param.size}")
        self._buffer[param.offset : param.offset + param.size] = raw
        self.updating = True

    def to_args(self) -> ArgsEx | CpuArgsEx:
        """LCH-32: the structure that is launched, checked as type 3 of 1.3.

        Raises RtError (107000) for a handle that is not final, or empty (Q-29).
        """
        if not self.finalized or self.updating:
            why = "they were updated" if self.updating else "they are not final"
            raise invalid("argument handle", why, "call finalize first")
        if not self.args_size:
            raise invalid(
                "argument handle", "there are no arguments", "launch with an empty argument array"
            )
        places = tuple(
            Placeholder(param.offset, param.data_offset)
            for param in self.params
            if param.is_placeholder
        )
        ex = ArgsEx(self._buffer[: self.args_size].toreadonly(), self.args_size, places)
        return ex if self.kernel.cpu is None else CpuArgsEx(ex)

    def _append(self, size: int, *, is_placeholder: bool) -> ParamHandle:
        if self.finalized or self._has_data:
            raise _unsupported("they are final" if self.finalized else "placeholders have data")
        if len(self.params) >= self._most_params:
            raise invalid(f"parameter {len(self.params)}", f"at most {self._most_params} fit")
        offset = self._aligned(self.args_size)
        self._check_room(offset + size)
        param = ParamHandle(self, offset, size, is_placeholder=is_placeholder)
        self.params.append(param)
        self.args_size = offset + size
        return param

    def _put_overflow(self, offset: int) -> None:
        self._put_word(offset, self._addresses().overflow)
        self.args_size = offset + WORD
        self._has_overflow = True

    def _put_word(self, offset: int, value: int) -> None:
        self._buffer[offset : offset + WORD] = value.to_bytes(WORD, "little")

    def _aligned(self, offset: int) -> int:
        """LCH-23: AI CPU arguments are not aligned."""
        return offset if self.kernel.cpu is not None else -(-offset // WORD) * WORD

    def _check_room(self, end: int) -> None:
        if end > len(self._buffer):
            raise invalid("buffer", f"{len(self._buffer)} bytes, {end} are needed")

    def _check_own(self, param: ParamHandle) -> None:
        if param.args is not self:
            raise invalid("parameter", "it belongs to another argument handle")


def _writable(memory: bytearray | memoryview) -> memoryview:
    view = host_bytes(memory, "argument memory")
    if view.readonly:
        raise invalid("buffer", "it cannot be written to")
    return view


def _not_empty(size: int) -> None:
    """API-3: the ACL's own test."""
    if size <= 0:
        raise RtError(AclStatus.INVALID_PARAM, "no bytes", where=f"size {size}")


def _unsupported(why: str) -> RtError:
    return RtError(RtStatus.FEATURE_NOT_SUPPORT, "cannot change arguments", why=why)
