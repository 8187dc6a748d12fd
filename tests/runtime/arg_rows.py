"""Kernels and arguments of the recorded launches, in the words of `sqe` rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.image.kernel_meta import EntryKind, Param
from cannkit.runtime.args import (
    ArgsArray,
    ArgsEx,
    Arguments,
    CpuArgsEx,
    Dim3,
    Placeholder,
    SimtArgs,
)
from cannkit.runtime.kernel import (
    AttrType,
    CpuFunction,
    CpuKernelType,
    Kernel,
    MixType,
    Part,
    cpu_kernel,
)
from cannkit.soc import Soc, find_soc
from tests.facts import A2_SOC, A5_SOC, rows

Row = Mapping[str, Any]

CPU_CALLS: Final = ("cpu", "cpu_ex", "cpu_names")
BLOCK_CALLS: Final = ("args", "args_legacy", "array", "simt_array", "simt_host", *CPU_CALLS)
# What first reports a refusal by the arguments alone; the rest is about blocks, config, kernel.
OF_ARGUMENTS: Final = (
    "CheckArgs",
    "CheckCpuArgsInfo",
    "CheckNonArgsHandle",
    "CheckSimtArgsHost",
    "CopyKernelParamsToBuffer",
)


def recorded(*calls: str) -> list[Row]:
    """The recorded launches of these calls."""
    return [row for row in rows("sqe") if row["call"] in calls]


def soc_of(row: Row) -> Soc:
    return find_soc(A2_SOC if row["family"] == "v100" else A5_SOC)


def any_kernel(**fields: Any) -> Kernel:
    """A vector kernel that states no parameters."""
    kernel = Kernel(
        name="k_0",
        symbols=["k_0"],
        attr=AttrType.VECTOR,
        mix=MixType.NO_MIX,
        tiling_key=0,
        entry_kind=EntryKind.TILING_KEY,
        func_type=FuncType.AIV,
        task_ratio_value=0,
        part1=Part(present=True),
    )
    for name, value in fields.items():
        assert hasattr(kernel, name)
        setattr(kernel, name, value)
    return kernel


def a_cpu_kernel() -> Kernel:
    return cpu_kernel(CpuFunction("Op", "libop.so", "RunOp", CpuKernelType.AICPU))


def with_params(*places: tuple[int, int], total: int, **fields: Any) -> Kernel:
    """A kernel whose parameters lie at (offset, size)."""
    params = tuple(
        Param(index=at, ordinal=at, offset=offset, size=size)
        for at, (offset, size) in enumerate(places)
    )
    return any_kernel(has_param_summary=True, params=params, param_total_size=total, **fields)


def kernel_of(row: Row) -> Kernel | None:
    """The kernel of a recorded launch, as far as arguments depend on it."""
    told = row.get("kernel", {})
    if row["call"] in CPU_CALLS:
        return a_cpu_kernel()
    fields = {
        "vf_type": VfType(told.get("vf", 0)),
        "mix": MixType(told.get("mixType", 0)),
        "user_args": told.get("userParaNum", 0),
        "system_args": told.get("sysParaNum", 0),
        "ffts_in_args": bool(told.get("needFfts", 0)),
        "supports_overflow": bool(told.get("ovfSupport", 0)),
    }
    if told.get("params") is None:
        return any_kernel(**fields)
    return with_params(*map(tuple, told["params"]), total=told.get("paramTotal", 0), **fields)


def args_of(row: Row) -> Arguments:
    """The arguments of a recorded launch."""
    launch, call = row["launch"], row["call"]
    if call == "array":
        return _array(launch)
    if call in ("simt_array", "simt_host"):
        user = _array(launch) if call == "simt_array" else _block(launch)
        grid, block = Dim3(*launch["grid"]), Dim3(*launch["block"])
        return SimtArgs(grid, block, launch["dynUbuf"], user)
    ex = _block(launch)
    if call not in CPU_CALLS:
        return ex
    return CpuArgsEx(
        ex,
        launch.get("soOff", 0),
        launch.get("nameOff", 0),
        launch.get("headOff", 0),
        launch.get("cpuTimeout", 0),
    )


def _array(launch: Row) -> ArgsArray:
    values = launch["paramValues"]
    return ArgsArray([None if value is None else bytes.fromhex(value) for value in values])


def _block(launch: Row) -> ArgsEx:
    size, no_copy = launch.get("argsSize", 0), bool(launch.get("noCopy", 0))
    host = bytes.fromhex(launch.get("hostArgs", "")).ljust(size, b"\0")
    tiling = launch.get("tiling")
    return ArgsEx(
        None if launch.get("argsNull") else launch["args"] if no_copy else host,
        size,
        tuple(Placeholder(*place) for place in launch.get("placeholders", ())),
        None if tiling is None else Placeholder(*tiling),
        no_copy,
    )
