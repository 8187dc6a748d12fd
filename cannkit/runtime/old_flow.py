"""Host stubs of the old flow: kernels registered, asked for and located by stub. Spec 02, section 8."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.device.device import Device
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_name import MIX_SUFFIXES
from cannkit.runtime.kernel import Kernel, MixType, strip_mix
from cannkit.runtime.kernel_build import build_kernel, merge_kernel
from cannkit.runtime.kernel_facts import count_prefetch
from cannkit.runtime.process import Process
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program, bytes_of
from cannkit.runtime.stub_table import StubEntry, StubTable

UNKNOWN_KEY: Final = (1 << 64) - 1  # POL-6: the marker of a tiling key that is not known yet


class KernelDetail(NamedTuple):
    """rtKernelDetailInfo_t: both halves of a kernel on a device; `pc2` is None without a second."""

    pc1: int
    prefetch1: int
    pc2: int | None
    prefetch2: int
    mix: MixType


def register_function(
    stubs: StubTable, program: Program, stub: int, stub_name: str, info: str | None = None
) -> StubEntry:
    """rtFunctionRegister: a kernel of a program under a host stub. STB-6.

    `info` is kernelInfoExt, the name of the kernel; none stands for the first of the object. Raises
    RtError, in this order: 507028 for a stub that is taken, 107000 for a program that is no ELF,
    507000 for one without kernels or without this one, 107000 for halves that make no pair. QK-29:
    nothing is left in the table then.
    """
    known = stubs.find(stub)
    if known is not None:
        why = f"kernel {known.kernel.name} is registered under it"
        raise RtError(RtStatus.KERNEL_DUPLICATE, "stub is taken", where=f"{stub:#x}", why=why)
    if not isinstance(program, ElfProgram):
        why = "the program is no kernel object"
        raise RtError(RtStatus.INVALID_VALUE, "cannot register a function", why=why)
    kernel = kernel_of_object(program, _target(program, info))
    entry = stubs.add(program, kernel, stub, stub_name, info)
    program.names_size += len(bytes_of(kernel.symbols[0])) + 1
    return entry


def _target(program: ElfProgram, info: str | None) -> str:
    if not program.obj.kernels:
        raise RtError(RtStatus.KERNEL_NULL, "cannot register a function", why="no kernels in it")
    first = program.obj.kernels[0].name
    name = info or strip_mix(first)
    if not name:
        why = f"{first!r} is a mix mark alone"
        raise RtError(RtStatus.INVALID_VALUE, "kernel without a name", why=why)
    return name


def kernel_of_object(program: ElfProgram, name: str) -> Kernel:
    """The kernel called `name`: the function of that name, or the halves of a mix, in file order."""
    images = program.images_of([name, *(name + mark for mark in MIX_SUFFIXES)])[:2]
    if not images:
        why = "no function of this name, nor with _mix_aic or _mix_aiv behind it"
        raise RtError(RtStatus.KERNEL_NULL, "no such kernel", where=repr(name), why=why)
    rules = program.build_rules()
    kernel = build_kernel(images[0], name, program.names_size, rules)
    for image in images[1:]:
        merge_kernel(kernel, image, rules)
    count_prefetch(kernel, program.soc)
    return kernel


def function_by_name(process: Process, stub_name: str) -> int:
    """rtGetFunctionByName: the stub of this name. Raises RtError (507027) for none. STB-7."""
    stub = process.stubs.stub_of(stub_name)
    if stub is None:
        what = "no kernel is registered under this stub name"
        raise RtError(RtStatus.KERNEL_LOOKUP, what, where=repr(stub_name))
    return stub


def query_function(process: Process, stub: int) -> Kernel:
    """rtQueryFunctionRegistered: the kernel of a stub. STB-7.

    Raises RtError: 507027 for an unknown one, 507024 while its program is being unregistered.
    """
    entry = _hold(process, stub, RtStatus.KERNEL_LOOKUP)
    process.put(entry.program.id)
    if process.is_unregistering(entry.program):
        what = "the program of this stub is being unregistered"
        raise RtError(RtStatus.KERNEL_UNREGISTERING, what, where=f"{stub:#x}")
    return entry.kernel


def address_of_stub(process: Process, stub: int, device: Device | None) -> int:
    """rtGetAddrByFun: where the kernel of a stub starts on the current device. STB-7.

    Raises RtError, 507027 to the caller whatever failed.
    """
    try:
        return _detail_of_stub(process, stub, device).pc1
    except RtError as error:
        raise error.collapsed(RtStatus.KERNEL_LOOKUP.acl) from error


def detail_of_stub(process: Process, stub: int, device: Device | None) -> KernelDetail:
    """rtKernelGetAddrAndPrefCntV2, static: addresses and prefetch counts by stub.

    Raises RtError: 207000 on a chip without the call, 507000 for an unknown stub, 107002, and as
    `Modules.take` does.
    """
    _require_details(process)
    return _detail_of_stub(process, stub, device)


def detail_of_key(
    process: Process, program: Program, key: int, device: Device | None
) -> KernelDetail | None:
    """rtKernelGetAddrAndPrefCntV2, dynamic: the same by tiling key; None for 2^64-1 (POL-6).

    Raises RtError as `detail_of_stub` does; no kernel of the new flow is found (POL-5).
    """
    _require_details(process)
    if key == UNKNOWN_KEY:
        return None
    kernel = program.table.find(key) if isinstance(program, ElfProgram) else None
    if kernel is None or process.pool.get(program.id) is None:
        why = "the call does not see programs of the new flow" if program.is_new_flow else ""
        raise RtError(RtStatus.KERNEL_NULL, "no kernel of this entry", where=f"{key}", why=why)
    try:
        return _detail(process, program, kernel, device)
    finally:
        process.put(program.id)


def _require_details(process: Process) -> None:
    if not process.soc.has_prefetch_count:
        why = f"{process.soc.chip} does not tell prefetch counts"
        raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "the call is not supported", why=why)


def _detail_of_stub(process: Process, stub: int, device: Device | None) -> KernelDetail:
    entry = _hold(process, stub, RtStatus.KERNEL_NULL)
    try:
        return _detail(process, entry.program, entry.kernel, device)
    finally:
        process.put(entry.program.id)


def _detail(
    process: Process, program: Program, kernel: Kernel, device: Device | None
) -> KernelDetail:
    module = process.module(program, device)
    pc1, pc2 = module.function(kernel)
    prefetch1, prefetch2 = module.prefetch(kernel) or (0, 0)
    return KernelDetail(pc1, prefetch1, pc2, prefetch2, kernel.mix)


def _hold(process: Process, stub: int, status: RtStatus) -> StubEntry:
    entry = process.stubs.lookup(stub)
    if entry is None:
        raise RtError(status, "no kernel is registered under this stub", where=f"{stub:#x}")
    return entry


def register_metadata(program: Program, text: str) -> None:
    """rtMetadataRegister: `so name,...` of a program. POL-9. Raises RtError (107000) without a comma."""
    so_name, comma, _ = text.partition(",")
    if not comma:
        why = "no comma behind the so name"
        raise RtError(RtStatus.METADATA, "cannot register metadata", where=repr(text), why=why)
    program.so_name, program.metadata = so_name, text
