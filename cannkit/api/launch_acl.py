"""AclLaunchCalls: the launch calls of the ACL, one by one. Spec 04, section 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cannkit.api.function import FunctionHandle, target_of
from cannkit.api.session import Raw, Session, call, not_null
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.program_base import Program

if TYPE_CHECKING:
    from cannkit.runtime.args import Arguments, Dim3, Placeholder
    from cannkit.runtime.args_handle import ArgsHandle
    from cannkit.runtime.launch_config import LaunchConfig
    from cannkit.runtime.launched import Launched
    from cannkit.runtime.stream import Stream


class AclLaunchCalls:
    """The part of a Runtime that launches, call by call as the ACL has them.

    Every call raises RtError: 100000 as the ACL checks, 107017 for a function that is gone or not on
    the current device, 107000 for arguments, blocks and config, 107002, 107003 for a stream of
    another context, 207000, 207001, 507002. `stream` None is the default stream. Nothing runs before
    somebody waits for the stream, or it is full.
    """

    session: Session

    @call
    def launch_kernel(
        self,
        function: FunctionHandle | None,
        blocks: int,
        args: int | None,
        args_size: int,
        stream: Stream | None = None,
    ) -> Launched:
        """Launch with arguments in device memory (aclrtLaunchKernel, rtLaunchKernelByFuncHandleV3).

        Raises RtError as the class tells.
        """
        from cannkit.runtime.args import ArgsEx
        from cannkit.runtime.launch_config import TaskConfig

        not_null(function=_id(function), args=args or None)
        program, kernel = self._target(function)
        ex = ArgsEx(args, args_size & 0xFFFF_FFFF, no_copy=True)
        launcher, device = self.session.launcher, self.session.contexts.device
        return launcher.launch_legacy(program, kernel, blocks, ex, TaskConfig(), device, stream)

    @call
    def launch_kernel_v2(
        self,
        function: FunctionHandle | None,
        blocks: int,
        args: int | None,
        args_size: int,
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """The same with a config (aclrtLaunchKernelV2, rtsLaunchKernelWithDevArgs).

        Raises RtError as the class tells.
        """
        from cannkit.runtime.args import ArgsEx

        not_null(function=_id(function), args=args or None)
        ex = ArgsEx(args, args_size & 0xFFFF_FFFF, no_copy=True)
        return self._launch(function, blocks, ex, config, stream)

    @call
    def launch_kernel_with_config(
        self,
        function: FunctionHandle | None,
        blocks: int,
        args_handle: ArgsHandle | None,
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
        reserve: object = None,
    ) -> Launched:
        """Launch with an argument handle (aclrtLaunchKernelWithConfig, rtsLaunchKernelWithConfig).

        Raises RtError as the class tells.
        """
        not_null(function=_id(function))
        _positive(blocks)
        not_null(args_handle=args_handle)
        if reserve is not None:
            raise RtError(AclStatus.INVALID_PARAM, "reserve is not null")
        assert args_handle is not None
        return self._launch(function, blocks, args_handle, config, stream)

    @call
    def launch_kernel_with_host_args(
        self,
        function: FunctionHandle | None,
        blocks: int,
        host_args: Raw | None,
        placeholders: Sequence[Placeholder] = (),
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """Launch with arguments that are copied (aclrtLaunchKernelWithHostArgs).

        Stands for rtsLaunchKernelWithHostArgs. Raises RtError as the class tells.
        """
        from cannkit.runtime.args import ArgsEx

        not_null(function=_id(function), host_args=host_args)
        assert host_args is not None
        ex = ArgsEx(host_args, len(host_args), tuple(placeholders))
        return self._launch(function, blocks, ex, config, stream)

    @call
    def launch_kernel_with_args_array(
        self,
        function: FunctionHandle | int | None,
        blocks: int,
        args: Sequence[bytes | None] | None,
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """Launch with one value for each parameter (aclrtLaunchKernelWithArgsArray).

        Stands for rtLaunchKernelWithArgsArray; `function` may be a host symbol (LCH-2). Raises RtError
        as the class tells.
        """
        from cannkit.runtime.args import ArgsArray

        not_null(function=_id(function))
        _positive(blocks)
        return self._launch(self._symbol(function), blocks, ArgsArray(args), config, stream)

    @call
    def launch_simt_kernel_with_args_array(
        self,
        function: FunctionHandle | int | None,
        grid: Dim3,
        block: Dim3,
        args: Sequence[bytes | None] | None,
        dynamic_ubuf: int = 0,
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """Launch SIMT code with a value for each parameter (aclrtLaunchSIMTKernelWithArgsArray).

        Stands for rtLaunchSIMTKernelWithArgsArray; A5 only. `dynamic_ubuf` is in bytes. Raises RtError
        as the class tells.
        """
        from cannkit.runtime.args import ArgsArray, SimtArgs

        not_null(function=_id(function))
        simt = SimtArgs(grid, block, dynamic_ubuf, ArgsArray(args))
        return self._launch(self._symbol(function), grid.total, simt, config, stream)

    @call
    def launch_simt_kernel_with_host_args(
        self,
        function: FunctionHandle | int | None,
        grid: Dim3,
        block: Dim3,
        host_args: Raw | None,
        placeholders: Sequence[Placeholder] = (),
        dynamic_ubuf: int = 0,
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """Launch SIMT code with arguments that are copied (aclrtLaunchSIMTKernelWithHostArgs).

        Stands for rtLaunchSIMTKernelWithHostArgs; A5 only. Placeholders count from the first byte of
        `host_args`. Raises RtError as the class tells.
        """
        from cannkit.runtime.args import ArgsEx, SimtArgs

        not_null(function=_id(function), host_args=host_args or None)
        assert host_args is not None
        ex = ArgsEx(host_args, len(host_args), tuple(placeholders))
        simt = SimtArgs(grid, block, dynamic_ubuf, ex)
        return self._launch(self._symbol(function), grid.total, simt, config, stream)

    def _launch(
        self,
        function: FunctionHandle | None,
        blocks: int,
        args: Arguments | ArgsHandle,
        config: LaunchConfig | None,
        stream: Stream | None,
    ) -> Launched:
        program, kernel = self._target(function)
        launcher, device = self.session.launcher, self.session.contexts.device
        return launcher.launch_v2(program, kernel, blocks, args, config, device, stream)

    def _target(self, function: FunctionHandle | None) -> tuple[Program, Kernel]:
        return target_of(self.session, function)

    def _symbol(self, function: FunctionHandle | int | None) -> FunctionHandle | None:
        """LCH-2: a host symbol, else the id of a function handle."""
        if not isinstance(function, int):
            return function
        session = self.session
        if session.process.soc.is_xpu:
            raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "no argument arrays on XPU")
        try:
            found = session.process.function_by_symbol(function, session.contexts.device)
        except RtError as error:
            if error.rt is not RtStatus.INVALID_DEVICE_FUNCTION:
                raise
            return session.handles.find(function, FunctionHandle)
        return session.binaries[found.program].function_of(found.kernel)


def _id(function: FunctionHandle | int | None) -> int | None:
    """LCH-1: what the null test of the ACL sees."""
    return (function.id if isinstance(function, FunctionHandle) else function) or None


def _positive(blocks: object) -> None:
    if isinstance(blocks, int) and blocks <= 0:
        raise RtError(AclStatus.INVALID_PARAM, "no blocks to launch")
