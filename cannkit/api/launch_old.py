"""OldLaunchCalls: launch calls of the runtime that the ACL does not have. Spec 04, section 1.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cannkit.api.binary import BinaryHandle
from cannkit.api.function import FunctionHandle, target_of
from cannkit.api.session import Session, call
from cannkit.format.status import RtError, RtStatus

if TYPE_CHECKING:
    from cannkit.runtime.args import ArgsEx, CpuArgsEx
    from cannkit.runtime.launch_config import LaunchConfig, TaskConfig
    from cannkit.runtime.launch_cpu import CpuNames
    from cannkit.runtime.launched import Launched
    from cannkit.runtime.stream import Stream


class OldLaunchCalls:
    """The part of a Runtime that launches by stub, by tiling key, and AI CPU kernels by name.

    Where `config` is None, nothing of a TaskConfig is set. `stream` None is the default stream.
    """

    session: Session

    @call
    def launch_stub(
        self,
        stub: int,
        blocks: int,
        args: ArgsEx,
        config: TaskConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """The kernel of a host stub (rtKernelLaunchWithFlagV2).

        Raises RtError: 107000 for null, blocks, arguments, config, 107002, 107003, 507000 for an
        unknown stub, 207000 for an AI CPU kernel, and that of making the module.
        """
        from cannkit.runtime.launch_config import TaskConfig
        from cannkit.runtime.launch_old import launch_stub

        launcher, device = self.session.launcher, self.session.contexts.device
        return launch_stub(launcher, stub, blocks, args, config or TaskConfig(), device, stream)

    @call
    def launch_with_key(
        self,
        binary: BinaryHandle | None,
        key: int,
        blocks: int,
        args: ArgsEx,
        config: TaskConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """The kernel of a tiling key in a binary of the old flow (rtKernelLaunchWithHandleV2).

        Raises RtError: 107017, 107000 for blocks, arguments, config, 107002, 107003, 507000 for an
        unknown key and for any binary of the new flow, and that of making the module.
        """
        from cannkit.runtime.launch_config import TaskConfig
        from cannkit.runtime.launch_old import launch_with_key

        if binary is None:
            raise RtError(RtStatus.INVALID_VALUE, "null binary handle")
        launcher, device = self.session.launcher, self.session.contexts.device
        return launch_with_key(
            launcher, binary.program, key, blocks, args, config or TaskConfig(), device, stream
        )

    @call
    def launch_cpu_kernel(
        self,
        function: FunctionHandle,
        blocks: int,
        args: CpuArgsEx,
        config: LaunchConfig | None = None,
        stream: Stream | None = None,
    ) -> Launched:
        """An AI CPU kernel by its handle (rtsLaunchCpuKernel). LCH-10.

        Raises RtError: 107017, 107000 for another function, arguments, blocks and config, 107002,
        107003, 507000 for a kernel type that is not launched, 207000 for KFC without MC2.
        """
        from cannkit.runtime.launch_cpu import launch_cpu

        target = target_of(self.session, function)
        if target[1].cpu is None:
            raise RtError(RtStatus.INVALID_VALUE, "not an AI CPU kernel", where=target[1].name)
        launcher, device = self.session.launcher, self.session.contexts.device
        return launch_cpu(launcher, target, blocks, args, config, device, stream)

    @call
    def launch_cpu_ex(
        self,
        kernel_type: int,
        op_name: str | None,
        blocks: int,
        args: CpuArgsEx | None,
        stream: Stream | None = None,
        flags: int = 0,
    ) -> Launched:
        """An AI CPU kernel whose names are in its arguments (rtAicpuKernelLaunchExWithArgs). LCH-9.

        Raises RtError: 107000 for the kernel type, a null name, blocks and arguments, 507000 for a
        stream of the control process, 107002, 107003, 207000 for KFC without MC2.
        """
        from cannkit.runtime.launch_cpu import launch_cpu_ex

        launcher, device = self.session.launcher, self.session.contexts.device
        return launch_cpu_ex(launcher, kernel_type, op_name, blocks, args, device, stream, flags)

    @call
    def launch_cpu_names(
        self,
        names: CpuNames | None,
        blocks: int,
        args: ArgsEx,
        stream: Stream | None = None,
        flags: int = 0,
    ) -> Launched:
        """An AI CPU kernel by names (rtCpuKernelLaunchWithFlag, rtAicpuKernelLaunchWithFlag). LCH-9.

        Raises RtError: 107000 for a null name or one of more than 255 bytes, blocks and arguments,
        107002, 107003.
        """
        from cannkit.runtime.launch_cpu import launch_cpu_names

        launcher, device = self.session.launcher, self.session.contexts.device
        return launch_cpu_names(launcher, names, blocks, args, device, stream, flags)

    @call
    def launch_framework(
        self, args: int, size: int, stream: Stream | None = None, flags: int = 0
    ) -> Launched:
        """A framework kernel, its struct of `size` bytes in device memory (rtKernelLaunchEx).

        Raises RtError: 107000 for a null or empty struct, 107002, 107003.
        """
        from cannkit.runtime.launch_cpu import launch_framework

        launcher, device = self.session.launcher, self.session.contexts.device
        return launch_framework(launcher, args, size, device, stream, flags)
