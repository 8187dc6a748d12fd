"""What `cannkit launch` does for a kernel of the AI CPU alone: its process, parameter head, hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.errors import UsageError, brief

if TYPE_CHECKING:
    from cannkit.api.ai_cpu import AiCpu
    from cannkit.device.trace import AiCpuEvent
    from cannkit.errors import CannkitError
    from cannkit.runtime.arg_values import UserArg

JSON_HINT: Final = "this looks like an operator JSON of AI CPU kernels: --cpu-mode 0 or 1, or --op NAME to call an operator"
MIB: Final = 1 << 20
LAYOUT: Final = "length u32, ioAddrNum u32, extInfoLength u32, extInfoAddr u64, then the addresses"
NO_ARGUMENTS: Final = (
    f"arguments of an AI CPU kernel begin with a head ({LAYOUT}): --arg in:... puts one in front, and "
    f"--args-hex {'14' + '00' * 19} is one with nothing behind it"
)


class AeOptions(NamedTuple):
    """The process of the AI CPU as the command line tells of it; its limits go with a root."""

    vf: int | None = None
    pid: int = 0
    device: int = 0
    run_mode: str | None = None
    cust_sd: bool | None = None
    root: str | None = None
    timeout: float | None = None
    memory: int | None = None
    home: str | None = None
    no_home: bool = False
    env: tuple[str, ...] = ()
    inherit_env: bool = False

    def ai_cpu(self, extents: Mapping[int, int]) -> AiCpu:
        """How the AI CPU is set up. `extents` are the sizes of tensors by address, once they are known.

        Raises UsageError, and InputError for what is no directory.
        """
        from cannkit.api.ai_cpu import AiCpu
        from cannkit.cli.ae_options import environment, make_context

        context = make_context(
            vf=self.vf,
            pid=self.pid,
            device=self.device,
            mode=self.run_mode,
            is_cust_sd=False,
            env=environment(self.home, self.no_home, self.env, self.inherit_env),
        )
        if self.root is None:
            for option, value in (("--timeout", self.timeout), ("--memory", self.memory)):
                if value is not None:
                    raise UsageError(f"{option} goes with --root", why="without one nothing runs")
            return AiCpu(context, cust_sd=self.cust_sd)
        return AiCpu.below(
            self.root,
            context=context,
            timeout=self.timeout,
            memory=None if self.memory is None else self.memory * MIB,
            cust_sd=self.cust_sd,
            extents=extents,
        )

    def check_kernel(self, name: str, *, is_cpu: bool, no_head: bool) -> None:
        """Raise UsageError where a kernel of the AI Core is to run in such a process, or without a head."""
        if no_head and not is_cpu:
            raise UsageError(f"--no-cpu-head: {brief(name)} is no kernel of the AI CPU")
        if self != AeOptions() and not is_cpu:
            what = f"{brief(name)} is no kernel of the AI CPU"
            options = "--vf, --pid, --device, --run-mode, --cust-sd, --root, --home and --env"
            raise UsageError(what, hint=f"{options} tell of its process")


def is_json(file: str) -> bool:
    """Whether a file is called as operator JSONs are."""
    return file.lower().endswith(".json")


def with_head(args: Sequence[UserArg]) -> Sequence[UserArg]:
    """LCH-42, AE-105: a head, then all addresses, then what is given by value.

    Without a tensor as the first argument they are taken as they are: a head may be among them.
    """
    from cannkit.format.ae_structs import AicpuParamHead
    from cannkit.runtime.arg_values import TENSORS, ArgKind, UserArg
    from cannkit.runtime.args import WORD

    if not args or args[0].kind not in TENSORS:
        return args
    addresses = [arg for arg in args if not arg.is_scalar]
    values = [arg for arg in args if arg.is_scalar]
    size = AicpuParamHead.SIZE + WORD * len(addresses)
    size += sum(len(arg.data or b"") for arg in args)  # of tiling data, too: they come behind
    head = AicpuParamHead(length=size, io_addr_num=len(addresses)).encode()
    return [UserArg(ArgKind.HEAD, head, size=len(head)), *addresses, *values]


def add_hint(
    error: CannkitError, blocks: Sequence[AiCpuEvent], uploaded: str | None, *, has_args: bool
) -> None:
    """Say what to look at after a launch that failed; `uploaded` is the library of the program, if any."""
    if error.hint is not None:
        return
    if not has_args:
        error.hint = NO_ARGUMENTS
    elif uploaded is not None and _is_missing(blocks, PurePosixPath(uploaded).name):
        error.hint = (
            f"the upload of {brief(uploaded)} is not stored below --root: "
            "cannkit so-path --install LIB --root DIR does it"
        )


def overruns_of(blocks: Sequence[AiCpuEvent]) -> Sequence[str]:
    """What was written beside the arguments of the last block."""
    from cannkit.ae.ae_run import AeRun

    story = blocks[-1].story if blocks else None
    return story.overruns if isinstance(story, AeRun) else ()


def _is_missing(blocks: Sequence[AiCpuEvent], name: str) -> bool:
    """Whether a custom library of this name was not found."""
    from cannkit.ae.ae_run import AeRun
    from cannkit.ae.so_path import CUST_TYPES
    from cannkit.format.ae_status import AeStatus

    story = blocks[-1].story if blocks else None
    if not isinstance(story, AeRun) or story.call is None:
        return False
    event, status = story.event, story.call.status
    is_custom = event.kernel_type in CUST_TYPES and event.so_name == name
    return is_custom and status == AeStatus.OPEN_SO_FAILED
