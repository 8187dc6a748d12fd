"""Launches of AI CPU kernels: names, head, timeout, entry. Spec 04, LCH-9, LCH-10, 2.6 and 4.4."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.device.device import Device
from cannkit.device.task_error import TaskCore
from cannkit.errors import brief
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.args import U32, ArgsEx, CpuArgsEx, block_of, unsigned
from cannkit.runtime.args_check import check_args
from cannkit.runtime.args_memory import ArgsKind
from cannkit.runtime.cpu_load import name_bytes
from cannkit.runtime.cpu_sqe import cpu_sqe, cpu_sqe_v200
from cannkit.runtime.kernel import CpuKernelType, Kernel
from cannkit.runtime.launch import Launcher, place_block
from cannkit.runtime.launch_config import ALL_ONES, DEFAULT_CONFIG, SECOND, LaunchConfig
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.launched import Launched
from cannkit.runtime.load import current
from cannkit.runtime.program_base import Program
from cannkit.runtime.stream import InFlight, Stream, StreamFlag
from cannkit.runtime.task import CpuTask, KernelFlag, check_blocks

NO_NAME: Final = 0xFFFF_FFFF  # LCH-43: as soNameAddrOffset
NEVER_SECONDS: Final = 0xFFFF  # LCH-44
LONGEST_NAME: Final = 255  # LCH-41, with the NUL 256
LAUNCH_TYPES: Final = (  # LCH-9, LCH-10
    CpuKernelType.FWK,
    CpuKernelType.AICPU,
    CpuKernelType.AICPU_CUSTOM,
    CpuKernelType.AICPU_KFC,
)


class CpuNames(NamedTuple):
    """The names of an AI CPU function as a caller gives them; `so_name` may be None."""

    so_name: str | None
    kernel_name: str | None
    op_name: str | None


class Names(NamedTuple):
    """Where the two names of a task lie, 0 for none."""

    so: int = 0
    func: int = 0


def launch_cpu(
    launcher: Launcher,
    target: tuple[Program, Kernel],
    blocks: int,
    args: CpuArgsEx,
    config: LaunchConfig | None,
    device: Device | None,
    stream: Stream | None = None,
) -> Launched:
    """LaunchKernelV2 with a CPU function. LCH-6, LCH-8, LCH-10.

    Raises RtError in this order: that of `check_args`, 107000 for the block count and the config,
    107002, 107003, 107017 where the program is not prepared, 507000 for a kernel type that the chip
    does not launch, 207000 for KFC without MC2.
    """
    program, kernel = target
    check_args(kernel, args)
    check_blocks(blocks)
    task_config = DEFAULT_CONFIG if config is None else config.to_task()
    device = current(device)
    stream = launcher.stream_for(device, stream)
    loaded = launcher.process.loader.require_prepared(program, device)
    assert kernel.cpu is not None
    kind = kernel.cpu.kernel_type
    if device.soc.library != "v100" and kind not in LAUNCH_TYPES:
        raise RtError(
            RtStatus.KERNEL_TYPE, "cannot launch an AI CPU kernel", why=f"type {kind.name}"
        )
    if device.soc.library == "v100":
        _require_mc2(kind, stream.env)
    placed = loaded.names.addresses(kernel)
    names = Names(*placed) if placed else Names()
    timeout = task_config.timeout or struct_timeout(args, stream.env, task_config.kernel_flag)
    task = CpuTask(kind, blocks, flags=task_config.kernel_flag & KernelFlag.DATA_DUMP)
    return _submit(launcher, task._replace(timeout=timeout), args, names, stream, (program, kernel))


def launch_cpu_ex(
    launcher: Launcher,
    kernel_type: int,
    op_name: str | None,
    blocks: int,
    args: CpuArgsEx | None,
    device: Device | None,
    stream: Stream | None = None,
    flags: int = 0,
) -> Launched:
    """rtAicpuKernelLaunchExWithArgs: without a kernel object, names inside the block. LCH-9.

    Raises RtError in this order: 107000 for the kernel type, a null name, the block count, 507000 for
    a stream of the control process, that of `check_args`, 107002, 107003, 207000 for KFC without MC2.
    """
    kind = CpuKernelType(unsigned(kernel_type, U32, "the kernel type"))
    if kind not in LAUNCH_TYPES:
        raise _invalid(f"kernel type {kind.name} is not launched by this call")
    if op_name is None:
        raise _invalid("null operator name")
    check_blocks(blocks)
    if stream is not None and stream.flags & StreamFlag.CP_PROCESS:
        raise RtError(
            RtStatus.STREAM_INVALID, "cannot launch", why="a stream of the control process"
        )
    if args is None:
        raise _invalid("null arguments")
    check_args(None, args)
    device = current(device)
    stream = launcher.stream_for(device, stream)
    v100 = device.soc.library == "v100"
    if v100:
        _require_mc2(kind, stream.env)
    timeout = struct_timeout(args, stream.env, flags)
    task = CpuTask(kind, blocks, flags=flags, timeout=timeout)
    return _submit(launcher, task, args, None, stream, None)


def launch_cpu_names(
    launcher: Launcher,
    names: CpuNames | None,
    blocks: int,
    args: ArgsEx,
    device: Device | None,
    stream: Stream | None = None,
    flags: int = 0,
) -> Launched:
    """rtCpuKernelLaunchWithFlag, rtAicpuKernelLaunchWithFlag: by names. LCH-9, LCH-43.

    Raises RtError: 107000 for a null operator or kernel name, the block count and the arguments, 107002,
    107003; UsageError for a name of more than 255 bytes, which the original would cut (Q-15).
    """
    if names is None or names.op_name is None or names.kernel_name is None:
        raise _invalid("null operator name or kernel name")
    check_blocks(blocks)
    cpu_args = CpuArgsEx(args)
    check_args(None, cpu_args)
    device = current(device)
    stream = launcher.stream_for(device, stream)
    custom = flags & KernelFlag.CUSTOM_AICPU
    kind = CpuKernelType.AICPU_CUSTOM if custom else CpuKernelType.AICPU
    placed = Names(
        0 if names.so_name is None else _put_name(stream, names.so_name),
        _put_name(stream, names.kernel_name),
    )
    return _submit(launcher, CpuTask(kind, blocks, flags=flags), cpu_args, placed, stream, None)


def launch_framework(
    launcher: Launcher,
    args: int,
    size: int,
    device: Device | None,
    stream: Stream | None = None,
    flags: int = 0,
) -> Launched:
    """rtKernelLaunchEx: a framework kernel, 1 block, its struct in device memory at `args`. LCH-43.

    Raises RtError: 107000 for a null or empty struct, 107002, 107003.
    """
    cpu_args = CpuArgsEx(ArgsEx(args or None, size, no_copy=True))
    check_args(None, cpu_args)
    device = current(device)
    stream = launcher.stream_for(device, stream)
    task = CpuTask(CpuKernelType.FWK, 1, flags=flags)
    return _submit(launcher, task, cpu_args, Names(), stream, None)


def _submit(
    launcher: Launcher,
    task: CpuTask,
    args: CpuArgsEx,
    names: Names | None,
    stream: Stream,
    owner: tuple[Program, Kernel] | None,
) -> Launched:
    stream.refuse_if_stopped()
    key, serial = stream.identify()
    block = block_of(None, args)
    kind = ArgsKind.CPU if owner or names else ArgsKind.CPU_EX
    placement, content = place_block(stream, kind, block, key)
    in_block = owner is None and names is None
    placed = name_addresses(
        args, names or Names(), placement.address, v200=stream.is_v200, in_block=in_block
    )
    task = task._replace(
        args=placement.address,
        args_size=block.size,
        head_offset=args.head_offset,
        so_name=placed.so,
        func_name=placed.func,
    )
    if stream.is_v200:
        raw = cpu_sqe_v200(task, stream.env, serial, count=stream.count + 1).encode()
    else:
        raw = cpu_sqe(task, stream.env, key).encode()
    program, kernel = owner or (None, None)
    position = stream.push(raw, InFlight(key, TaskCore.AI_CPU, placement, program, kernel))
    return Launched(None, task, key, raw, None, content, placement, position)


def name_addresses(
    args: CpuArgsEx, kept: Names, block: int, *, v200: bool, in_block: bool
) -> Names:
    """LCH-43: where the entry says the names are. `in_block`: there is no kernel object."""
    so, func = args.so_name_offset, args.kernel_name_offset
    if not so and not func and (v200 or not in_block):
        return kept
    null_so = so == NO_NAME and (v200 or in_block)
    return Names(0 if null_so else block + so, block + func)


def struct_timeout(args: CpuArgsEx, env: LaunchEnv, flags: int) -> int:
    """LCH-44: the timeout of the argument struct in us, where it counts."""
    if not (env.online or flags & KernelFlag.SPECIAL_TIMEOUT):
        return 0
    return ALL_ONES if args.timeout == NEVER_SECONDS else args.timeout * SECOND


def _require_mc2(kind: CpuKernelType, env: LaunchEnv) -> None:
    if kind is CpuKernelType.AICPU_KFC and not env.has_mc2:
        why = "the device does not support MC2"
        raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "cannot launch a KFC kernel", why=why)


def _put_name(stream: Stream, name: str) -> int:
    raw = name_bytes(name)
    if len(raw) > LONGEST_NAME:
        why = f"{len(raw)} bytes, the original would keep {LONGEST_NAME} of them"
        raise RtError(
            RtStatus.INVALID_VALUE, "name too long for an AI CPU task", where=brief(name), why=why
        )
    return stream.args.place_name(raw)


def _invalid(why: str) -> RtError:
    return RtError(RtStatus.INVALID_VALUE, "cannot launch an AI CPU kernel", why=why)
