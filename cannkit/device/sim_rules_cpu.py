"""What the simulated hardware checks of an AI CPU entry before it runs: SIM-12 to SIM-14."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.device.hardware import Hardware
from cannkit.device.sim_rules import ERROR, WARNING, Remark, finding
from cannkit.device.trace import Finding
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.sqe import v100, v200

LONGEST_NAME: Final = 255  # LCH-41
HEAD: Final = 20  # LCH-42: AicpuParamHead
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
    """SIM-14. No library name is allowed (LCH-43); no function name only to a framework kernel."""
    if not sqe.kernel_type.known:
        yield ERROR, f"no such kernel type: {sqe.kernel_type.name}"
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
    if not is_framework:  # LCH-43: that one carries a struct of its own
        yield from _param_head(sqe.args_addr, hardware)
    elif not hardware.memory.holds(sqe.args_addr, 1):
        yield ERROR, f"parameters at {sqe.args_addr:#x}: not in live memory"


def _param_head(address: int, hardware: Hardware) -> Iterator[Remark]:
    memory = hardware.memory
    if not memory.holds(address, HEAD):
        yield ERROR, f"parameter head at {address:#x}: {HEAD} bytes are not in live memory"
        return
    head = memory.read(address, HEAD)
    count, ext_size = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8))
    ext_address = int.from_bytes(head[12:], "little")
    if not memory.holds(address, HEAD + ADDRESS * count):
        yield ERROR, f"parameter head at {address:#x}: {count} addresses do not lie behind it"
    if ext_size and not memory.holds(ext_address, ext_size):
        yield ERROR, f"extended info at {ext_address:#x}: {ext_size} bytes are not in live memory"


def _string(address: int, hardware: Hardware) -> bytes | None:
    """A C string of up to 255 bytes; None where there is none."""
    allocation = hardware.memory.allocation_at(address)
    if allocation is None:
        return None
    size = min(LONGEST_NAME + 1, allocation.end - address)
    text, end, _ = hardware.memory.read(address, size).partition(b"\0")
    return text if end else None
