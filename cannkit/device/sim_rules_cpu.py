"""What the simulated hardware checks of an AI CPU entry before it runs: SIM-12 to SIM-14."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.device.hardware import Hardware
from cannkit.device.sim_rules import ERROR, WARNING, Remark, finding
from cannkit.device.trace import Finding
from cannkit.format.ae_structs import AicpuParamHead
from cannkit.format.cpu_kernel import LOGIC_TYPES, CpuKernelType
from cannkit.format.sqe import v100, v200

LONGEST_NAME: Final = 255  # LCH-41
HEAD: Final = AicpuParamHead.SIZE  # LCH-42
BEGINS: Final = "arguments of an AI CPU kernel begin with AicpuParamHead"
ADDRESS: Final = 8

AicpuSqe = v100.AicpuSqe | v200.AicpuSqe
CPU_RECORDS: Final = (v100.AicpuSqe, v200.AicpuSqe)


def judge_cpu(sqe: AicpuSqe, hardware: Hardware) -> tuple[Finding, ...]:
    """What the rules say of an entry and of what it points to."""
    strict = hardware.config.strict
    rules = (
        ("SIM-12", _reserved(sqe)),
        ("SIM-13", _credit(sqe)),
        ("SIM-14", _kernel(sqe, hardware)),
    )
    return tuple(
        finding(rule, remark, strict=strict) for rule, remarks in rules for remark in remarks
    )


def cpu_name(sqe: AicpuSqe, hardware: Hardware) -> str:
    """The function an entry asks for, its kernel type where it names none."""
    name = _string(sqe.func_name_addr, hardware)
    return sqe.kernel_type.name if name is None else name.decode(errors="replace")


def _reserved(sqe: AicpuSqe) -> Iterator[Remark]:
    if sqe.residue:
        yield WARNING, f"reserved bits of AicpuSqe are set: {sqe.residue:#x}"


def _credit(sqe: AicpuSqe) -> Iterator[Remark]:
    if isinstance(sqe, v100.AicpuSqe) and not sqe.kernel_credit:
        yield WARNING, "credit 0"


def _kernel(sqe: AicpuSqe, hardware: Hardware) -> Iterator[Remark]:
    """SIM-14. No library name is allowed (LCH-43); no function name only to a framework kernel.

    Which kernel types there are says the parser of the AI CPU, with a code of its own (AE-301).
    """
    is_framework = sqe.kernel_type == CpuKernelType.FWK
    if sqe.so_name_addr and _string(sqe.so_name_addr, hardware) is None:
        yield (
            ERROR,
            f"library name at {sqe.so_name_addr:#x}: no string of up to {LONGEST_NAME} bytes",
        )
    if sqe.func_name_addr:
        if _string(sqe.func_name_addr, hardware) is None:
            where = f"function name at {sqe.func_name_addr:#x}"
            yield ERROR, f"{where}: no string of up to {LONGEST_NAME} bytes"
    elif not is_framework:
        yield WARNING, "no function name"
    is_logic = not sqe.so_name_addr and sqe.kernel_type in LOGIC_TYPES
    if not (is_framework or is_logic):
        yield from _param_head(sqe.args_addr, hardware)
    elif (is_framework or sqe.args_addr) and not hardware.memory.holds(sqe.args_addr, 1):
        yield ERROR, f"parameters at {sqe.args_addr:#x}: not in live memory"


def _param_head(address: int, hardware: Hardware) -> Iterator[Remark]:
    """LCH-42: arguments of an AI CPU kernel begin with a head; what they are read as is told."""
    memory = hardware.memory
    if not memory.holds(address, HEAD):
        why = f"{HEAD} bytes are not in live memory"
        yield ERROR, f"parameter head at {address:#x}: {why}; {BEGINS}"
        return
    head = AicpuParamHead.decode(memory.read(address, HEAD))
    count, ext_size, ext_address = head.io_addr_num, head.ext_info_length, head.ext_info_addr
    read = (
        f"{BEGINS}: yours read as length {head.length:#x}, ioAddrNum {count}, "
        f"extInfoLength {ext_size}, extInfoAddr {ext_address:#x}"
    )
    if not memory.holds(address, HEAD + ADDRESS * count):
        why = f"{count} addresses do not lie behind it"
        yield ERROR, f"parameter head at {address:#x}: {why}; {read}"
    if ext_size and not memory.holds(ext_address, ext_size):
        why = f"{ext_size} bytes are not in live memory"
        yield ERROR, f"extended info at {ext_address:#x}: {why}; {read}"


def _string(address: int, hardware: Hardware) -> bytes | None:
    """A C string of up to 255 bytes; None where there is none."""
    allocation = hardware.memory.allocation_at(address)
    if allocation is None:
        return None
    size = min(LONGEST_NAME + 1, allocation.end - address)
    text, end, _ = hardware.memory.read(address, size).partition(b"\0")
    return text if end else None
