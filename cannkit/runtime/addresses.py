"""Device addresses of functions, images and variables. Spec 03, section 4."""

from __future__ import annotations

from typing import NamedTuple

from cannkit.device.device import Device, Range
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.kernel_facts import assign_slots
from cannkit.runtime.kernel_table import PcAnswer
from cannkit.runtime.load import Loader, current
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program


class FunctionAddresses(NamedTuple):
    """Where the two halves of a kernel start on a device; `pc2` is None without a second one."""

    pc1: int
    pc2: int | None


def function_addresses(
    loader: Loader, program: Program, kernel: Kernel, device: Device | None
) -> FunctionAddresses:
    """GetFunctionDevAddr: loads a lazy program. ADDR-1, DEV-11.

    A second half exists where the kernel has one, at offset 0 too (Q-6). Raises RtError:
    KERNEL_INVALID (107017) where the program is not loaded (QK-7: the original answers bare
    offsets), and as `Loader.load` does.
    """
    device = current(device)
    loaded = loader.load(program, device) if program.is_lazy else loader.on(program, device)
    if loaded.image is None:
        why = f"device {device.id} has no image of it: the original answers offsets as addresses"
        raise RtError(RtStatus.KERNEL_INVALID, "program is not loaded", where=kernel.name, why=why)
    pc1, pc2 = loaded.aligned + kernel.part1.offset, loaded.aligned + kernel.part2.offset
    return FunctionAddresses(pc1, pc2 if kernel.is_paired else None)


def core_addresses(
    loader: Loader, program: Program, kernel: Kernel, device: Device | None
) -> tuple[int, int]:
    """aclrtGetFunctionAddr: (AIC, AIV), 0 for cores the kernel has no code for. ADDR-2.

    Raises RtError: INVALID_VALUE (107000) for an AI CPU kernel, and as `function_addresses` does.
    """
    if kernel.cpu is not None:
        why = "an AI CPU kernel is found by its names"
        raise RtError(RtStatus.INVALID_VALUE, "no address", where=kernel.name, why=why)
    pc1, pc2 = function_addresses(loader, program, kernel, device)
    return assign_slots(kernel, pc1, pc2 or 0)


def image_range(loader: Loader, program: Program, device: Device | None) -> Range:
    """aclrtBinaryGetDevAddress: prepares, then tells where the image is and its bytes. ADDR-3.

    The address is 0 where no image is: for a lazy program that nothing has loaded yet, an old one on
    another device, and an AI CPU program (QK-10). Raises RtError as `Loader.prepare` does.
    """
    loaded = loader.prepare(program, device)
    return Range(loaded.aligned, program.load_size)


def global_range(loader: Loader, program: Program, name: str, device: Device | None) -> Range:
    """aclrtBinaryGetGlobal: loads, then looks the variable up. ADDR-4; its size is as stated.

    Raises RtError: FEATURE_NOT_SUPPORT (207000) for an AI CPU program or on XPU, SYMBOL_NOT_FOUND
    (107042), and as `Loader.load` does.
    """
    if not isinstance(program, ElfProgram) or program.soc.is_xpu:
        raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "no global variables", why="not an ELF program")
    aligned = loader.load(program, device).aligned
    symbol = program.global_symbol(name)
    return Range(aligned + symbol.offset, symbol.size)


def kernel_at(loader: Loader, program: ElfProgram, pc: int, device: Device | None) -> PcAnswer:
    """The kernel at an address on a device; loads a lazy program. ADDR-5.

    Raises RtError as `Loader.load` does; a program that is not on the device has no kernel there.
    """
    if pc == 0:
        return PcAnswer(None, None)
    device = current(device)
    loaded = loader.load(program, device) if program.is_lazy else loader.on(program, device)
    return program.by_pc(pc, loaded.aligned) if loaded.image else PcAnswer(None, None)
