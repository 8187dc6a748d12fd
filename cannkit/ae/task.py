"""A task for the engine, made of its parts or read from bytes. Spec 05, sections 1 and 10.1."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.ae.context import byte_length
from cannkit.ae.event import NULL, AeEvent, Argument, Segment
from cannkit.ae.mistag import mistag_notes
from cannkit.errors import UsageError, brief
from cannkit.format.ae_event import AeRecord, CceKernel, FwkKernel, TsKernel
from cannkit.format.ae_structs import FwkOperateParam, StrFwkOpKernel
from cannkit.format.cpu_kernel import CpuKernelType

# Where the parts of a task lie: those of the example in 05, section 10.1. Parameters end at a page, so
# that who reads or writes behind them meets a guard page.
NAMES_AT: Final = 0x1240_0000_1000
NAME_ALIGN: Final = 64
PARAMS_END: Final = 0x1241_0000_0000
PARAM_ALIGN: Final = 8
FWK_SIZE: Final = StrFwkOpKernel.SIZE
FWK_TYPE: Final = FWK_SIZE - FwkOperateParam.SIZE  # fwkKernelType, in front of the operate block
READ_AS_CCE: Final = (
    CpuKernelType.CCE,
    CpuKernelType.AICPU,
    CpuKernelType.AICPU_CUSTOM,
    CpuKernelType.AICPU_KFC,
    CpuKernelType.CUSTOM_KFC,
)


class Task(NamedTuple):
    """A task as bytes, and what its addresses point to; no event where the task itself is null.

    `unknown` says which of its names are not known: then the task goes nowhere. `remarks` tell of a kernel
    type that does not go with the bytes.
    """

    kernel: TsKernel
    event: AeEvent | None
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class Parts(NamedTuple):
    """What a task is made of; a name of None is a null pointer, so are parameters of None."""

    kernel_type: int
    so_name: str | None = None
    func_name: str | None = None
    param: bytes | None = None
    block_id: int = 0
    block_num: int = 1


def make_task(parts: Parts, *, is_cloud: bool = False) -> Task:
    """The task of its parts. Raises UsageError for names that no C string can be."""
    func_at = NAMES_AT
    func_size = 0 if parts.func_name is None else _c_length(parts.func_name, "--func") + 1
    so_at = func_at + max(-(-func_size // NAME_ALIGN), 1) * NAME_ALIGN
    if parts.so_name is not None:
        _c_length(parts.so_name, "--so")
    is_framework = parts.kernel_type == CpuKernelType.FWK
    if is_framework and parts.param is not None:
        parts = parts._replace(param=parts.param.ljust(FWK_SIZE, b"\0"))
    param_at = _param_address(parts.param)
    member: AeRecord = (
        FwkKernel(operate_addr=param_at)
        if is_framework
        else CceKernel(
            func_name_addr=0 if parts.func_name is None else func_at,
            so_name_addr=0 if parts.so_name is None else so_at,
            args_addr=param_at,
            block_id=parts.block_id,
            block_num=parts.block_num,
        )
    )
    kernel = TsKernel.of(parts.kernel_type, member, is_cloud=is_cloud)
    return Task(kernel, _event(parts, param_at))


def read_task(raw: bytes, parts: Parts) -> Task:
    """A task given as bytes. Raises FormatError for another length, UsageError.

    Names and parameters of `parts` are what lies at its addresses; a null address has none. Without a
    parameter for a framework kernel its operate block is the function name, as where a tag is wrong.
    """
    kernel = TsKernel.decode(raw)
    kind = kernel.kernel_type
    for name, option in ((parts.func_name, "--func"), (parts.so_name, "--so")):
        if name is not None:
            _c_length(name, option)
    if kind == CpuKernelType.FWK:
        address = kernel.fwk.operate_addr
        data = parts.param
        if data is None and parts.func_name is not None:  # 10.1: what a wrong tag makes of a name
            data = parts.func_name.encode("utf-8", "surrogateescape") + b"\0"
        _check(address, data, "kernel", "--param")
        names = {} if parts.func_name is None else {address: parts.func_name}
        event = _event(Parts(kind, param=data), address)
        lost = (_unknown("kernel", address, "--param HEX"),) if address and data is None else ()
        return Task(kernel, event, lost, mistag_notes(kernel, names))
    cce = kernel.cce
    _check(cce.so_name_addr, parts.so_name, "kernelSo", "--so")
    _check(cce.func_name_addr, parts.func_name, "kernelName", "--func")
    _check(cce.args_addr, parts.param, "paramBase", "--param")
    found = parts._replace(kernel_type=kind, block_id=cce.block_id, block_num=cce.block_num)
    unknown = tuple(
        _unknown(field, address, f"{option} NAME")
        for address, name, field, option in (
            (cce.so_name_addr, parts.so_name, "kernelSo", "--so"),
            (cce.func_name_addr, parts.func_name, "kernelName", "--func"),
        )
        if address and name is None and kind in READ_AS_CCE
    )
    return Task(kernel, _event(found, cce.args_addr), unknown, mistag_notes(kernel))


def _unknown(field: str, address: int, option: str) -> str:
    return f"what lies at {field} {address:#x} is not known: {option} says it"


def _event(parts: Parts, param_at: int) -> AeEvent:
    argument, fwk_type = NULL, None
    data = parts.param
    if parts.kernel_type == CpuKernelType.FWK:
        if param_at:
            block = b"" if data is None else data.ljust(FWK_SIZE, b"\0")
            fwk_type = int.from_bytes(block[:FWK_TYPE], "little")
            argument = Argument(param_at + FWK_TYPE, (Segment(param_at, block),) if block else ())
    elif param_at:
        segments = (Segment(param_at, data),) if data else ()
        argument = Argument(param_at, segments)
    names = parts.so_name, parts.func_name
    return AeEvent(parts.kernel_type, *names, argument, parts.block_id, parts.block_num, fwk_type)


def _param_address(data: bytes | None) -> int:
    if data is None:
        return 0
    return PARAMS_END - max(-(-len(data) // PARAM_ALIGN), 1) * PARAM_ALIGN


def _check(address: int, value: object, field: str, option: str) -> None:
    if not address and value is not None:
        raise UsageError(f"{option}: {field} of the event is null")


def _c_length(name: str, option: str) -> int:
    if "\0" in name:
        raise UsageError(f"{option} {brief(name)!r}: no C string has a NUL in it")
    return byte_length(name)
