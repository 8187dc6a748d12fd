"""UserLauncher: launches with the arguments of a user, by what is known of the kernel. Spec 04, LCH-91."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cannkit.device.device import Device
from cannkit.device.trace import Finding, Severity
from cannkit.errors import UsageError
from cannkit.runtime.arg_layout import ArgPlan
from cannkit.runtime.arg_values import is_block
from cannkit.runtime.args import ArgsArray, ArgsEx, Arguments, CpuArgsEx, Dim3, SimtArgs
from cannkit.runtime.args_handle import ArgsHandle
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.launch import Launcher
from cannkit.runtime.launch_config import DEFAULT_CONFIG, LaunchConfig
from cannkit.runtime.launch_cpu import launch_cpu
from cannkit.runtime.launched import Given, Launched
from cannkit.runtime.load import current
from cannkit.runtime.prepared import PreparedLaunch
from cannkit.runtime.program_base import Program
from cannkit.runtime.stream import Stream
from cannkit.runtime.task import check_blocks

AXES: Final = 3


class Simt(NamedTuple):
    """How a SIMT kernel is launched, up to three numbers each; `dynamic_ubuf` in bytes."""

    grid: Sequence[int]
    threads: Sequence[int] = (1, 1, 1)
    dynamic_ubuf: int = 0


class UserLauncher(Launcher):
    """A Launcher that takes arguments as an ArgPlan does. Changes."""

    simt = Simt

    def launch_v2(
        self,
        program: Program,
        kernel: Kernel,
        blocks: int,
        args: Arguments | ArgsHandle,
        config: LaunchConfig | None,
        device: Device | None,
        stream: Stream | None = None,
    ) -> Launched:
        """LaunchKernelV2, by the kind of function and of arguments.

        Raises RtError as `launch` and `launch_cpu` do, and that of `ArgsHandle.to_args`.
        """
        if isinstance(args, ArgsHandle):
            args = args.to_args()
        if kernel.cpu is not None and isinstance(args, ArgsEx):
            args = CpuArgsEx(args)
        if isinstance(args, CpuArgsEx):
            return launch_cpu(self, (program, kernel), blocks, args, config, device, stream)
        return self.launch(program, kernel, blocks, args, config, device, stream)

    def launch_values(
        self,
        program: Program,
        kernel: Kernel,
        blocks: int,
        values: object,
        config: LaunchConfig | None,
        device: Device | None,
        stream: Stream | None = None,
        simt: Simt | None = None,
    ) -> Launched:
        """Launch with arguments as an ArgPlan takes them, or with a handle.

        Raises UsageError for what the kernel does not take, RtError as `launch_v2` does.
        """
        if isinstance(values, ArgsHandle):
            return self.launch_v2(program, kernel, blocks, values, config, device, stream)
        device = current(device)
        ffts, overflow = self.system(device)
        plan = self.targets.plan(program, kernel)
        given = Given(plan, values)
        short = check_block_size(plan, values, lenient=device.config.lenient)
        if simt is not None or kernel.cpu is not None or is_block(values):
            args: Arguments = plan.bind(values, ffts=ffts, overflow=overflow)[0]
            if simt is not None:
                grid, threads = dims(simt.grid, "grid"), dims(simt.threads, "threads")
                assert isinstance(args, ArgsArray | ArgsEx)
                args = SimtArgs(grid, threads, simt.dynamic_ubuf, args)
                blocks = grid.total
            launched = self.launch_v2(program, kernel, blocks, args, config, device, stream)
            launched = launched._replace(given=given, findings=(*launched.findings, *short))
        else:  # a block that the plan has made needs no check
            block = plan.block(values, ffts=ffts, overflow=overflow)
            check_blocks(blocks)
            task_config = DEFAULT_CONFIG if config is None else config.to_task()
            target, stream = self.aim(program, kernel, device, stream, task_config)
            launched = self.submit(target, blocks, block, task_config, stream, config, given)
        self.given.keep(launched.args_address, given)
        return launched

    def prepare(
        self,
        program: Program,
        kernel: Kernel,
        blocks: int,
        values: object,
        config: LaunchConfig | None,
        device: Device | None,
        stream: Stream | None = None,
    ) -> PreparedLaunch:
        """Settle a launch but for the values of its arguments, of which `values` are an example.

        Raises UsageError, and RtError as `launch` does.
        """
        if kernel.cpu is not None:
            what = "an AI CPU kernel is not prepared"
            raise UsageError(what, why="its launches have nothing in common but their names")
        device = current(device)
        system = self.system(device)
        plan = self.targets.plan(program, kernel)
        check_block_size(plan, values, lenient=device.config.lenient)
        block = plan.block(values, ffts=system.ffts, overflow=system.overflow)
        check_blocks(blocks)
        task_config = DEFAULT_CONFIG if config is None else config.to_task()
        target, stream = self.aim(program, kernel, device, stream, task_config)
        given = Given(plan, values)
        return PreparedLaunch(target, blocks, block, task_config, stream, system, given, self.given)


def check_block_size(plan: ArgPlan, values: object, *, lenient: bool) -> tuple[Finding, ...]:
    """Whether a block that was given as bytes has at least what the kernel takes by its metadata.

    Raises UsageError, where nothing is `lenient`.
    """
    if not is_block(values) or plan.args_size is None:
        return ()
    size = memoryview(values).nbytes
    if size >= plan.args_size:
        return ()
    what = f"an argument block of {size} bytes, the kernel takes {plan.args_size}"
    if not lenient:
        raise UsageError(what, hint="arguments one by one are checked by name")
    return (Finding("LCH-91", Severity.WARNING, what),)


def dims(sizes: Sequence[int], what: str) -> Dim3:
    """Up to three dimensions; those that are not given are 1. Raises UsageError."""
    if not 0 < len(sizes) <= AXES:
        raise UsageError(f"{what} has {len(sizes)} dimensions", why=f"1 to {AXES} are possible")
    return Dim3(*sizes)
