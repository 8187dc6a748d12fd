"""Launches of the old flow: by host stub, or by program and tiling key. Spec 02, POL-10; 04, LCH-7."""

from __future__ import annotations

from cannkit.device.device import Device
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.args import ArgsEx, block_of
from cannkit.runtime.args_check import check_args
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.launch import Launcher
from cannkit.runtime.launch_config import TaskConfig, check_legacy
from cannkit.runtime.launch_target import Target, check_chip
from cannkit.runtime.launched import Launched
from cannkit.runtime.load import current
from cannkit.runtime.old_flow import UNKNOWN_KEY
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program
from cannkit.runtime.stream import Stream
from cannkit.runtime.task import check_blocks


def launch_stub(
    launcher: Launcher,
    stub: int,
    blocks: int,
    args: ArgsEx,
    config: TaskConfig,
    device: Device | None,
    stream: Stream | None = None,
) -> Launched:
    """rtKernelLaunch: the kernel of a host stub, in the module of its program. LCH-7, POL-10.

    The first launch on a device makes the module. Raises RtError in this order: 107000 for a null
    stub, the block count, the arguments and the config, 107002, 107003, 507000 for an unknown stub,
    207000 for an AI CPU kernel, 207001 for a module that cannot be made.
    """
    if not stub:
        raise RtError(RtStatus.INVALID_VALUE, "null stub")
    check_blocks(blocks)
    check_args(None, args)
    check_legacy(config)
    device = current(device)
    stream = launcher.stream_for(device, stream)
    entry = launcher.process.stubs.lookup(stub)
    if entry is None:
        what = "no kernel is registered under this stub"
        raise RtError(RtStatus.KERNEL_NULL, what, where=f"{stub:#x}")
    try:
        target = _module_target(launcher, entry.program, entry.kernel, device)
        return launcher.submit(target, blocks, block_of(entry.kernel, args), config, stream)
    finally:
        launcher.process.put(entry.program.id)


def launch_with_key(
    launcher: Launcher,
    program: Program,
    key: int,
    blocks: int,
    args: ArgsEx,
    config: TaskConfig,
    device: Device | None,
    stream: Stream | None = None,
) -> Launched:
    """rtKernelLaunchWithHandle: a program of the old flow and a tiling key. LCH-7, POL-5, POL-6.

    Raises RtError in this order: 107000 for the block count, the arguments and the config, 107002,
    107003, 507000 for the key 2^64-1, which says no kernel (Q-14), for an unknown key, and for any
    program of the new flow; then as `launch_stub` does.
    """
    check_blocks(blocks)
    check_args(None, args)
    check_legacy(config)
    device = current(device)
    stream = launcher.stream_for(device, stream)
    if key == UNKNOWN_KEY:
        why = "2^64-1 stands for a key that is not known yet: the original launches PC 0 (Q-14)"
        raise RtError(RtStatus.KERNEL_NULL, "no kernel to launch", why=why)
    kernel = program.table.find(key) if isinstance(program, ElfProgram) else None
    if kernel is None or launcher.process.pool.get(program.id) is None:
        why = "the call does not see programs of the new flow" if program.is_new_flow else ""
        raise RtError(RtStatus.KERNEL_NULL, "no kernel of this entry", where=f"{key}", why=why)
    try:
        target = _module_target(launcher, program, kernel, device)
        return launcher.submit(target, blocks, block_of(kernel, args), config, stream)
    finally:
        launcher.process.put(program.id)


def _module_target(launcher: Launcher, program: Program, kernel: Kernel, device: Device) -> Target:
    """A kernel in the module of its program; of an AI CPU one this call makes nothing."""
    check_chip(device)
    if kernel.cpu is not None or not isinstance(program, ElfProgram):
        why = "an AI CPU kernel is launched by its names"
        raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "cannot launch by stub or key", why=why)
    module = launcher.process.module(program, device)
    addresses, prefetch = module.function(kernel), module.prefetch(kernel)
    return launcher.targets.place(program, kernel, device, module, addresses, prefetch)
