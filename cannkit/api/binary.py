"""BinaryHandle: what can be asked of a loaded binary. Spec 02, section 3.1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.api.function import FunctionHandle
from cannkit.api.session import Session, call, not_null
from cannkit.device.device import Range
from cannkit.errors import UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.addresses import global_range, image_range
from cannkit.runtime.context import Context
from cannkit.runtime.handles import NULL, Handle, HandleKind
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.meta_query import binary_meta, binary_meta_count
from cannkit.runtime.old_flow import (
    KernelDetail,
    detail_of_key,
    register_function,
    register_metadata,
)
from cannkit.runtime.program import ElfProgram, PlainProgram
from cannkit.runtime.program_base import Program

if TYPE_CHECKING:
    from cannkit.runtime.stream import Failure

Ready = Mapping[str | int | None, FunctionHandle]
NOTHING: Final[Ready] = MappingProxyType({})


class ExceptionCallback(NamedTuple):
    """Called at synchronise for a kernel that faulted: code, kernel name, stream, `user_data`."""

    callback: Callable[..., object]
    user_data: object


class BinaryHandle(Handle):
    """A binary handle (aclrtBinHandle), from loading until unloading.

    Every call raises RtError: 100000 for a null handle, where the ACL looks for one, and 107000
    where it does not; 107017 once it is unloaded (QK-1).
    """

    KIND = HandleKind.BINARY
    __slots__ = ("_callback", "_functions", "_program", "_ready", "_thread", "session")

    def __init__(
        self, session: Session, handle: int = NULL, program: Program | None = None
    ) -> None:
        super().__init__(handle)
        self.session = session
        self._callback: ExceptionCallback | None = None
        self._functions: dict[Kernel, FunctionHandle] = {}
        # What was found on each device, so that a second look-up is that of a dict (bench_lookup).
        self._ready: dict[Context | None, dict[str | int | None, FunctionHandle]] = {}
        self._thread = session.contexts.thread
        if program is not None:
            self._program = program

    def __repr__(self) -> str:
        return f"<BinaryHandle {self.id}>"

    @property
    def program(self) -> Program:
        """The program behind it. Raises RtError: 107000 for null, 107017."""
        return self._live()._program

    def get_function(self, name: str | None) -> FunctionHandle:
        """The kernel of this name (aclrtBinaryGetFunction, rtsFuncGetByName).

        The binary is copied to the current device at its first look-up there, unless it is lazy.
        Raises RtError: 100000 for null, 107017, and 107000 whatever fails then: no context, the
        copy, an unknown name.
        """
        found = self._ready.get(self._thread.context, NOTHING).get(name)
        return found or self._find_by_name(name)

    def get_function_by_entry(self, entry: int) -> FunctionHandle:
        """The kernel of a function entry or tiling key.

        Stands for aclrtBinaryGetFunctionByEntry, rtsFuncGetByEntry. Raises RtError: 100000 for null,
        107017, 107000 for an AI CPU program or an unknown entry, 107002, that of a copy.
        """
        found = self._ready.get(self._thread.context, NOTHING).get(entry)
        return found or self._find_by_entry(entry)

    @call
    def device_address(self) -> Range:
        """Where it is on the current device (aclrtBinaryGetDevAddress, rtsBinaryGetDevAddress).

        The size is that of the image; the address is 0 until a lazy binary is copied. Raises
        RtError: 100000, 107017, 107002, that of a copy, and 107000 for an AI CPU program, where the
        original tells null (QK-10).
        """
        program = self._guarded()
        if isinstance(program, PlainProgram):
            why = "an AI CPU program has none (the original answers null and success)"
            raise RtError(RtStatus.INVALID_VALUE, "no device address", why=why)
        return image_range(self.session.process.loader, program, self.session.contexts.device)

    @call
    def get_global(self, name: str | None) -> Range:
        """A global variable on the current device (aclrtBinaryGetGlobal, rtBinaryGetGlobal).

        Copies the binary in any case. Raises RtError: 100000 for null, 207000 on XPU, 107017,
        207000 for an AI CPU program, 107002, that of a copy, 107042 for an unknown name.
        """
        self._check_null(name=name)
        process = self.session.process
        if process.soc.is_xpu:
            why = "XPU does not tell them"
            raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "no global variables", why=why)
        assert name is not None
        return global_range(process.loader, self.program, name, self.session.contexts.device)

    @property
    def exception_callback(self) -> ExceptionCallback | None:
        """What is called on a fault of its kernels. Raises RtError as `program` does."""
        return self._live()._callback

    @call
    def set_exception_callback(
        self, callback: Callable[..., object] | None, user_data: object = None
    ) -> None:
        """Have a fault told (aclrtBinarySetExceptionCallback, rtBinarySetExceptionCallback).

        Takes the place of an earlier one. Raises RtError: 100000 for null, 107017.
        """
        self._check_null(callback=callback)
        assert callback is not None
        self._live()._callback = ExceptionCallback(callback, user_data)

    @call
    def register_cpu_function(
        self, function_name: str | None, kernel_name: str | None
    ) -> FunctionHandle:
        """Name a function of an AI CPU library (aclrtRegisterCpuFunc, rtsRegisterCpuFunc). CPU-9.

        Raises RtError: 100000 for null, 107017, 107000 for another program, 107002, that of a copy.
        """
        program = self._guarded(function_name=function_name, kernel_name=kernel_name)
        assert function_name is not None
        assert kernel_name is not None
        kernel = self.session.process.register_cpu_function(
            program, function_name, kernel_name, self.session.contexts.device
        )
        return self._live().function_of(kernel)

    @call
    def meta_count(self, kind: int) -> int:
        """How many records of a BinaryMeta type it has (rtBinaryGetMetaNum). API-5.

        Raises RtError: 107017, 207000 for an unknown type, 107000 for an AI CPU program (QK-11).
        """
        return binary_meta_count(self.program, kind)

    @call
    def meta(self, kind: int, sizes: Sequence[int] | None = None) -> list[bytes]:
        """The values of these records (rtBinaryGetMetaInfo); `sizes` must be theirs when given.

        Raises RtError as `meta_count` does, and 107000 for other sizes.
        """
        return binary_meta(self.program, kind, sizes)

    @call
    def register_function(
        self, stub: int | None, stub_name: str | None, info: str | None = None
    ) -> None:
        """A kernel under a host stub, of the name `info` (rtFunctionRegister). STB-6.

        Raises RtError: 107017, 107000 for null, 507028 for a stub that is taken, 107000 for a
        program that is no ELF, 507000 for one without this kernel.
        """
        program = self.program
        if stub is None or stub_name is None:
            raise RtError(RtStatus.INVALID_VALUE, "null stub or stub name")
        register_function(self.session.process.stubs, program, stub, stub_name, info)

    @call
    def register_function_symbol(self, symbol: int, kernel_name: str) -> None:
        """A kernel under a host symbol (rtRegisterFuncSymbol); the first one stays. API-6.

        Raises RtError: 107017, 107000 for an unknown kernel.
        """
        self.session.process.functions.register(self.program, symbol, kernel_name)

    @call
    def register_variable(self, address: int, name: str, size: int, flags: int = 0) -> None:
        """A global variable under a host address (rtRegisterVariable); the first one stays. SYM-1.

        Raises RtError: 107017, 107000 for a program that is no ELF, 107042 for an unknown variable;
        the original returns nothing.
        """
        self.session.process.variables.register(self.program, address, name, size, flags)

    @call
    def register_metadata(self, text: str) -> None:
        """Its so name and what follows (rtMetadataRegister). POL-9.

        Raises RtError: 107017, 107000 without a comma.
        """
        register_metadata(self.program, text)

    @call
    def depend_on(self, other: BinaryHandle) -> bool:
        """Keep `other` until this one goes (rtDependencyRegister); whether that is so. POL-9.

        Raises RtError (107017) for either handle.
        """
        return self.session.process.depend(self.program, other.program)

    @call
    def kernel_detail(self, key: int) -> KernelDetail | None:
        """Addresses and prefetch counts by tiling key (rtKernelGetAddrAndPrefCntV2). POL-5, POL-6.

        None for the key 2^64-1. Raises RtError: 107017, 207000, 507000 for an unknown key and for
        any program of the new flow, 107002, that of a copy.
        """
        device = self.session.contexts.device
        return detail_of_key(self.session.process, self.program, key, device)

    def function_of(self, kernel: Kernel) -> FunctionHandle:
        """The handle of one of its kernels, always the same one."""
        handle = self._functions.get(kernel)
        if handle is None:
            handle = FunctionHandle(self.session, owner=(self, kernel))
            self.session.handles.add(handle)
            self._functions[kernel] = handle
        return handle

    def on_reset(self, context: Context) -> None:
        """What was found under a context is found no more."""
        self._ready.pop(context, None)

    def on_exception(self, failure: Failure) -> None:
        """A kernel of it failed: call the exception callback."""
        told, kernel = self._callback, failure.task.kernel
        if told is not None and kernel is not None:
            told.callback(failure.status.acl, kernel.name, failure.stream, told.user_data)

    def on_destroyed(self) -> None:
        """Its program is gone: the handle and those of its functions are 107017 from now on."""
        self._ready.clear()
        for function in self._functions.values():
            self.session.handles.destroy(function.id)
        self._functions.clear()
        self.session.handles.destroy(self.id)

    @call
    def _find_by_name(self, name: str | None) -> FunctionHandle:
        program = self._guarded(name=name)
        assert name is not None
        try:
            self._prepare(program)
            return self._found(name, program.by_name(name))
        except RtError as error:
            raise error.collapsed() from error  # DEV-13

    @call
    def _find_by_entry(self, entry: int) -> FunctionHandle:
        if not isinstance(entry, int):
            raise UsageError(f"entry {entry!r} is no integer")
        program = self._guarded()
        if isinstance(program, ElfProgram):
            self._prepare(program)
        return self._found(entry, program.by_entry(entry))

    def _prepare(self, program: Program) -> None:
        self.session.process.loader.prepare(program, self.session.contexts.device)

    def _found(self, query: str | int, kernel: Kernel) -> FunctionHandle:
        handle = self._live()
        function = handle.function_of(kernel)
        handle._ready.setdefault(self.session.contexts.context, {})[query] = function
        return function

    def _guarded(self, **arguments: object) -> Program:
        """API-3: the null tests of the ACL, then the guard."""
        self._check_null(**arguments)
        return self.program

    def _check_null(self, **arguments: object) -> None:
        not_null(binary=self.id or None, **arguments)

    def _live(self) -> BinaryHandle:
        return self.session.handles.find(self.id, BinaryHandle)


def hand(session: Session, program: Program) -> BinaryHandle:
    """A handle for a program that was just registered."""
    handle = session.binaries[program] = BinaryHandle(session, program=program)
    session.handles.add(handle)
    return handle
