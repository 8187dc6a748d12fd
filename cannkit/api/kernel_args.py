"""KernelArgsCalls: the argument handles of the ACL. Spec 04, section 2.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cannkit.api.function import FunctionHandle
from cannkit.api.session import Raw, Session, call, not_null
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.load import current

if TYPE_CHECKING:
    from cannkit.runtime.args_handle import ArgsHandle, ParamHandle


class KernelArgsCalls:
    """The part of a Runtime that builds arguments piece by piece.

    Every call raises RtError: 100000 for null, 107017 for a function or handle that is gone, and the
    codes of the call of ArgsHandle that it stands for.
    """

    session: Session

    @call
    def kernel_args(
        self, function: FunctionHandle | None, memory: bytearray | memoryview | None = None
    ) -> ArgsHandle:
        """A new argument handle of a function (aclrtKernelArgsInit, rtsKernelArgsInit).

        With `memory`, writable bytes of the caller, aclrtKernelArgsInitByUserMem. Raises RtError as
        the class tells.
        """
        from cannkit.runtime.args_handle import ArgsHandle, SystemAddresses

        kernel, session = self._kernel(function), self.session

        def addresses() -> SystemAddresses:
            return session.launcher.system(current(session.contexts.device))

        handle = ArgsHandle(kernel, session.process.soc, addresses, memory)
        session.handles.add(handle)
        return handle

    @call
    def kernel_args_append(self, args: ArgsHandle | None, data: Raw | None) -> ParamHandle:
        """Add a parameter by value (aclrtKernelArgsAppend, rtsKernelArgsAppend).

        Raises RtError as the class tells.
        """
        not_null(args=args, data=data)
        assert args is not None
        assert data is not None
        param = self._args(args).append(data)
        self.session.handles.add(param)
        return param

    @call
    def kernel_args_append_placeholder(self, args: ArgsHandle | None) -> ParamHandle:
        """Add the address of data that come later (aclrtKernelArgsAppendPlaceHolder).

        Stands for rtsKernelArgsAppendPlaceHolder. Raises RtError as the class tells.
        """
        not_null(args=args)
        assert args is not None
        param = self._args(args).append_placeholder()
        self.session.handles.add(param)
        return param

    @call
    def kernel_args_placeholder_buffer(
        self, args: ArgsHandle | None, param: ParamHandle | None, size: int
    ) -> memoryview:
        """Where to write the data of a placeholder (aclrtKernelArgsGetPlaceHolderBuffer).

        Stands for rtsKernelArgsGetPlaceHolderBuffer. Raises RtError as the class tells.
        """
        not_null(args=args, param=param)
        assert args is not None
        assert param is not None
        return self._args(args).placeholder_buffer(param, size)

    @call
    def kernel_args_finalize(self, args: ArgsHandle | None) -> None:
        """The arguments are whole (aclrtKernelArgsFinalize, rtsKernelArgsFinalize).

        Raises RtError as the class tells.
        """
        not_null(args=args)
        assert args is not None
        self._args(args).finalize()

    @call
    def kernel_args_update(
        self, args: ArgsHandle | None, param: ParamHandle | None, data: Raw | None
    ) -> None:
        """New bytes for a parameter by value (aclrtKernelArgsParaUpdate, rtsKernelArgsParaUpdate).

        Raises RtError as the class tells.
        """
        not_null(args=args, param=param, data=data)
        assert args is not None
        assert param is not None
        assert data is not None
        self._args(args).update(param, data)

    @call
    def kernel_args_handle_size(self, function: FunctionHandle | None) -> int:
        """Bytes of memory for a handle (aclrtKernelArgsGetHandleMemSize).

        Stands for rtsKernelArgsGetHandleMemSize. Raises RtError as the class tells.
        """
        from cannkit.runtime.args_handle import handle_size

        return handle_size(self._kernel(function))

    @call
    def kernel_args_memory_size(self, function: FunctionHandle | None, user_size: int) -> int:
        """Bytes of memory for arguments (aclrtKernelArgsGetMemSize, rtsKernelArgsGetMemSize).

        `user_size` are the bytes of the user. Raises RtError as the class tells.
        """
        from cannkit.runtime.args_handle import memory_size

        return memory_size(self._kernel(function), user_size)

    def _kernel(self, function: FunctionHandle | None) -> Kernel:
        not_null(function=(function.id or None) if function else None)
        assert function is not None
        return function.kernel

    def _args(self, args: ArgsHandle) -> ArgsHandle:
        return self.session.handles.find(args.id, type(args))
