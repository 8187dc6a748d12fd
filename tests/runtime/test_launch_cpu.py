"""Launches of AI CPU kernels. Spec 04, LCH-9, LCH-10, LCH-41, LCH-43, LCH-44."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cannkit.ae.ae_run import NOT_KNOWN
from cannkit.api.function import FunctionHandle
from cannkit.api.runtime import Runtime
from cannkit.device.trace import EventLog, TaskEvent
from cannkit.format.sqe import v100, v200
from cannkit.format.status import RtError
from cannkit.runtime.args import ArgsEx, CpuArgsEx
from cannkit.runtime.kernel import CpuKernelType
from cannkit.runtime.launch_config import LaunchConfig
from cannkit.runtime.launch_cpu import CpuNames, Names, name_addresses, struct_timeout
from cannkit.runtime.launch_env import LaunchEnv
from tests.api.runtimes import refused
from tests.facts import A2_SOC, A5_SOC, rows
from tests.runtime.launch_rows import CPU_CALLS, Row, env_of
from tests.runtime.test_task import name_of

BOTH = pytest.mark.parametrize("soc", [A2_SOC, A5_SOC])
CPU_ROWS = [row for row in rows("sqe") if row["call"] in CPU_CALLS and "task" in row["result"]]
HEAD = (20).to_bytes(4, "little") + bytes(16)  # AicpuParamHead without addresses
ARGS = CpuArgsEx(ArgsEx(HEAD + b"so\0func\0" + bytes(4), 32))


def world(soc: str, env: LaunchEnv | None = None) -> tuple[Runtime, FunctionHandle, EventLog]:
    log = EventLog()
    runtime = Runtime(soc, trace=log, launch_env=env)
    binary = runtime.load_from_data(b"\x7fELF library", cpu_mode=2)
    return runtime, binary.register_cpu_function("RunCpuKernel", "Add"), log


def decoded(raw: bytes, soc: str) -> Any:
    return (v200 if soc == A5_SOC else v100).AicpuSqe.decode(raw)


def args_of(row: Row) -> CpuArgsEx:
    launch = row["launch"]
    return CpuArgsEx(
        ArgsEx(1, 1, no_copy=True),
        so_name_offset=launch.get("soOff", 0),
        kernel_name_offset=launch.get("nameOff", 0),
        timeout=launch.get("cpuTimeout", 0),
    )


@pytest.mark.parametrize("row", CPU_ROWS, ids=name_of)
def test_recorded_names(row: Row) -> None:
    """LCH-43."""
    kernel, told, call = row.get("kernel", {}), row["result"]["task"], row["call"]
    kept = Names(kernel.get("soName", 0), kernel.get("funcName", 0))
    if call == "fwk":
        kept = Names()
    found = name_addresses(
        args_of(row),
        kept,
        told["args"],
        v200=row["family"] == "v200",
        in_block=call == "cpu_ex",
    )
    assert found == (told["soName"], told["funcName"])


@pytest.mark.parametrize("row", CPU_ROWS, ids=name_of)
def test_recorded_timeouts(row: Row) -> None:
    """LCH-44: names and framework launches have none of their own."""
    timeout = 0
    if row["call"] in ("cpu", "cpu_ex"):
        flags = row["launch"].get("flag", 0) if row["call"] == "cpu_ex" else 0
        timeout = struct_timeout(args_of(row), env_of(row), flags)
    assert timeout == row["result"]["task"]["timeout"]


@BOTH
def test_by_handle(soc: str) -> None:
    """The kernel's own names, its head; where the library lies is not known."""
    rt, function, log = world(soc)
    done = rt.launch_cpu_kernel(function, 3, ARGS)
    entry = decoded(done.sqe, soc)
    memory = rt.devices[0].memory
    assert memory.read(entry.func_name_addr, 13) == b"RunCpuKernel\0"
    assert memory.read(entry.so_name_addr, 3) != bytes(3)
    assert entry.args_addr == done.placement.address
    assert entry.kernel_type == CpuKernelType.AICPU_CUSTOM
    assert entry.block_dim == 3
    rt.synchronize()
    (task,) = [event for event in log if isinstance(event, TaskEvent)]
    assert task.outcome.note == NOT_KNOWN
    assert done.placement.policy == ("stream_pool" if soc == A5_SOC else "cpu")


@BOTH
def test_general_calls(soc: str) -> None:
    """04, 1.1: V2, host arguments and `launch` take CPU functions too."""
    rt, function, log = world(soc)
    rt.launch_kernel_with_host_args(function, 1, HEAD)
    rt.launch(function, 1, HEAD)
    config = LaunchConfig.of(data_dump=1)
    done = rt.launch_kernel_with_host_args(function, 1, HEAD, config=config)
    assert decoded(done.sqe, soc).dump_en
    assert decoded(done.sqe, soc).kernel_credit == 254
    args = rt.kernel_args(function)
    rt.kernel_args_append(args, HEAD)
    rt.kernel_args_finalize(args)
    rt.launch_kernel_with_config(function, 1, args)
    with refused(207000):
        rt.launch_kernel_with_args_array(function, 1, [])
    rt.synchronize()
    assert sum(isinstance(event, TaskEvent) for event in log) == 4


@BOTH
@pytest.mark.parametrize(
    ("timeout", "config", "credit"),
    [
        (0, (), (254, 253)),
        (1, (), (5, 4)),
        (0xFFFF, (), (255, 255)),
        (1, ((7, 10),), (7, 6)),  # the attribute comes first
        (1, ((7, 0),), (255, 255)),
    ],
)
def test_timeouts(soc: str, timeout: int, config: Any, credit: tuple[int, int]) -> None:
    """LCH-44, LCH-53."""
    rt, function, _ = world(soc)
    done = rt.launch_cpu_kernel(function, 1, ARGS._replace(timeout=timeout), LaunchConfig(config))
    assert decoded(done.sqe, soc).kernel_credit == credit[soc == A5_SOC]


@BOTH
def test_names_in_the_block(soc: str) -> None:
    """LCH-43: without a kernel object, and with one that is given offsets."""
    rt, function, _ = world(soc)
    args = ARGS._replace(so_name_offset=20, kernel_name_offset=23)
    for done in (rt.launch_cpu_ex(2, "op", 1, args), rt.launch_cpu_kernel(function, 1, args)):
        entry = decoded(done.sqe, soc)
        assert entry.so_name_addr == done.placement.address + 20
        assert entry.func_name_addr == done.placement.address + 23
    rt.synchronize()
    no_so = rt.launch_cpu_ex(2, "op", 1, args._replace(so_name_offset=0xFFFF_FFFF))
    assert decoded(no_so.sqe, soc).so_name_addr == 0


@BOTH
def test_by_names(soc: str) -> None:
    """LCH-9, LCH-41: copies of the names, custom by flag bit 3."""
    rt, _, _ = world(soc)
    ex = ArgsEx(HEAD, 20)
    done = rt.launch_cpu_names(CpuNames("libx.so", "Run", "op"), 2, ex, flags=0x8)
    entry, memory = decoded(done.sqe, soc), rt.devices[0].memory
    assert memory.read(entry.so_name_addr, 8) == b"libx.so\0"
    assert memory.read(entry.func_name_addr, 4) == b"Run\0"
    assert entry.kernel_type == CpuKernelType.AICPU_CUSTOM
    built_in = decoded(rt.launch_cpu_names(CpuNames(None, "Run", "op"), 2, ex).sqe, soc)
    assert (built_in.so_name_addr, built_in.kernel_type) == (0, CpuKernelType.AICPU)
    with pytest.raises(RtError, match=r"21005 .* no logic kernel is called 'Run'"):  # AE-401
        rt.synchronize()


@BOTH
def test_framework(soc: str) -> None:
    """04, 1.1: one block, no names."""
    rt, _, _ = world(soc)
    where = rt.malloc(64)
    entry = decoded(rt.launch_framework(where, 64).sqe, soc)
    assert (entry.kernel_type, entry.block_dim, entry.args_addr) == (1, 1, where)
    assert (entry.so_name_addr, entry.func_name_addr) == (0, 0)


NAMES = CpuNames("so", "func", "op")
EX = ArgsEx(HEAD, 20)


@pytest.mark.parametrize(
    ("call", "acl"),
    [
        (lambda rt, f: rt.launch_cpu_kernel(f, 0, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_kernel(f, 65536, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_kernel(f, 1, CpuArgsEx(ArgsEx(None, 8))), 107000),
        (lambda rt, f: rt.launch_cpu_kernel(f, 1, CpuArgsEx(ArgsEx(b"", 0))), 107000),
        (lambda rt, f: rt.launch_cpu_kernel(f, 1, ARGS, LaunchConfig(((6, 2),))), 107000),
        # LCH-9
        (lambda rt, f: rt.launch_cpu_ex(0, "op", 1, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_ex(6, "op", 1, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_ex(2, None, 1, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_ex(2, "op", 0, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_ex(2, "op", 65536, ARGS), 107000),
        (lambda rt, f: rt.launch_cpu_ex(2, "op", 1, None), 107000),
        (lambda rt, f: rt.launch_cpu_ex(2, "op", 1, ARGS, rt.create_stream(flags=0x20)), 507000),
        (lambda rt, f: rt.launch_cpu_names(NAMES._replace(op_name=None), 1, EX), 107000),
        (lambda rt, f: rt.launch_cpu_names(NAMES._replace(kernel_name=None), 1, EX), 107000),
        (lambda rt, f: rt.launch_cpu_names(NAMES, 0, EX), 107000),
        (lambda rt, f: rt.launch_cpu_names(NAMES._replace(so_name="x" * 256), 1, EX), 107000),
        (lambda rt, f: rt.launch_framework(0, 64), 107000),
        (lambda rt, f: rt.launch_framework(0x1000, 0), 107000),
    ],
)
def test_refused(call: Callable[[Runtime, FunctionHandle], object], acl: int) -> None:
    rt, function, _ = world(A2_SOC)
    with refused(acl):
        call(rt, function)
    assert rt.default_stream.ring.count == 0


def test_not_a_cpu_function() -> None:
    """LCH-10."""
    from tests.api.launching import bench

    found = bench()
    with refused(107000):
        found.runtime.launch_cpu_kernel(found.function, 1, ARGS)


def test_kernel_types() -> None:
    """LCH-10: A5 launches four types; A2 any, but KFC asks for MC2."""
    no_mc2 = LaunchEnv(has_mc2=False)
    for soc, kind, env, acl in (
        (A5_SOC, CpuKernelType.CUSTOM_KFC, None, 507000),
        (A5_SOC, CpuKernelType.AICPU_KFC, no_mc2, None),
        (A2_SOC, CpuKernelType.CUSTOM_KFC, None, None),
        (A2_SOC, CpuKernelType.AICPU_KFC, no_mc2, 207000),
        (A2_SOC, CpuKernelType.AICPU_KFC, None, None),
    ):
        rt, function, _ = world(soc, env)
        assert function.kernel.cpu is not None
        function.kernel.cpu.kernel_type = kind
        if acl is None:
            assert decoded(rt.launch_cpu_kernel(function, 1, ARGS).sqe, soc).kernel_type == kind
        else:
            with refused(acl):
                rt.launch_cpu_kernel(function, 1, ARGS)


def test_ends_with_ai_cpu_codes() -> None:
    """LCH-69, SIM-14: a name that is not there ends as 507018."""
    rt, function, _ = world(A2_SOC)
    rt.launch_cpu_kernel(function, 1, ARGS)
    ring = rt.default_stream.ring
    rt.devices[0].memory.write(ring.address + 32, b"\x10")  # the function name
    rt.devices[0].memory.write(ring.address + 37, b"\x77")
    with pytest.raises(RtError) as caught:
        rt.synchronize()
    assert caught.value.acl == 507018
