"""LaunchCalls: launch a kernel with what one has at hand, and host models. Spec 04."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cannkit.api.function import FunctionHandle, target_of
from cannkit.api.session import Session, call
from cannkit.errors import UsageError

if TYPE_CHECKING:
    from cannkit.api.models import ModelContext
    from cannkit.runtime.launch_config import LaunchConfig
    from cannkit.runtime.launched import Launched
    from cannkit.runtime.prepared import PreparedLaunch
    from cannkit.runtime.stream import Stream


class LaunchCalls:
    """The part of a Runtime that launches without much ado. `stream` None is the default stream."""

    session: Session

    @call
    def launch(
        self,
        function: FunctionHandle,
        blocks: int,
        args: Any = (),
        *,
        stream: Stream | None = None,
        config: LaunchConfig | None = None,
        grid: Sequence[int] | None = None,
        threads: Sequence[int] = (1, 1, 1),
        dynamic_ubuf: int = 0,
    ) -> Launched:
        """Launch `blocks` blocks of a kernel.

        `args` are a list of what the kernel takes, checked against its metadata: numbers of 64 bits
        such as addresses, bytes (tiling data where it takes those, else a value), None for null,
        UserArg; or the whole block as bytes; or an ArgsHandle. What the runtime adds (FFTS, overflow)
        is added. `grid` and `threads`, up to three numbers each, make it a SIMT launch of A5, with
        `dynamic_ubuf` bytes of unified buffer; `blocks` is then the product of the grid.

        Nothing runs before `synchronize`, or before the stream is full. Stands for the call that fits:
        aclrtLaunchKernelWithHostArgs, aclrtLaunchKernelWithArgsArray, aclrtLaunchKernelWithConfig or
        one of SIMT. Raises RtError as those calls do, UsageError for arguments that do not fit.
        """
        session = self.session
        program, kernel = target_of(session, function)
        simt = session.launcher.simt(grid, threads, dynamic_ubuf) if grid is not None else None
        return session.launcher.launch_values(
            program, kernel, blocks, args, config, session.contexts.device, stream, simt
        )

    @call
    def prepare(
        self,
        function: FunctionHandle,
        blocks: int,
        args: Any = (),
        *,
        stream: Stream | None = None,
        config: LaunchConfig | None = None,
    ) -> PreparedLaunch:
        """Settle all of a launch but the values of its arguments, for many launches.

        `prepared()` launches with these arguments, `prepared(values)` with others that take as many
        bytes. Nothing is launched yet. Raises RtError and UsageError as `launch` does, for an AI CPU
        kernel, too.
        """
        session = self.session
        program, kernel = target_of(session, function)
        return session.launcher.prepare(
            program, kernel, blocks, args, config, session.contexts.device, stream
        )

    @call
    def register_model(self, name: str, model: Callable[[ModelContext], object] | None) -> None:
        """Run `model` where the device would run the kernel called `name`; None takes it away.

        `name` is what `FunctionHandle.name` tells, `*` is for every kernel without one of its own. The
        model is called once for each block and sub-block. Raises UsageError for what is no function.
        """
        from cannkit.api.models import device_model

        if type(name) is not str:
            hint = "the name of a function handle is function.name()"
            raise UsageError(f"a kernel name is text, not a {type(name).__name__}", hint=hint)
        if model is not None and not callable(model):
            raise UsageError(f"a host model is a function, not a {type(model).__name__}")
        launcher = self.session.launcher
        bound = None if model is None else device_model(model, launcher.given.at)
        launcher.targets.set_model(name, bound)
