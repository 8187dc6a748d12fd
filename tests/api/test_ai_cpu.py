"""The AI CPU of a Runtime: how it is set up, and what synchronise answers. Spec 05; ERR-6, AE-208."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from cannkit.ae.ae_run import NOT_KNOWN, AeRun
from cannkit.ae.callers import TableCaller
from cannkit.ae.context import AeContext
from cannkit.api.ai_cpu import AiCpu
from cannkit.api.runtime import Runtime
from cannkit.device.trace import AiCpuEvent, EventLog, TaskEvent
from cannkit.errors import InputError, UsageError
from cannkit.format.status import RtError
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.runtime.args import ArgsEx, CpuArgsEx
from cannkit.runtime.kernel import CpuKernelType
from tests.ae.library import built
from tests.facts import A2_SOC, A5_SOC

BOTH = pytest.mark.parametrize("soc", [A2_SOC, A5_SOC])
CUST = "home/CustAiCpuUser/cust_aicpu_0_0_0"
TREE = MemoryTree({f"/{CUST}/libops.so": b""})


def args_of(*addresses: int, func: str = "Run") -> CpuArgsEx:
    """A head and addresses, and behind them the names of LCH-43."""
    size = 20 + 8 * len(addresses)
    block = struct.pack(f"<IIIQ{len(addresses)}Q", size, len(addresses), 0, 0, *addresses)
    block += f"libops.so\0{func}\0".encode()
    return CpuArgsEx(ArgsEx(block, len(block)), so_name_offset=size, kernel_name_offset=size + 10)


def returning(*codes: int) -> AiCpu:
    """A function Run that returns one code after the other."""
    left = list(codes)
    table = {("libops.so", "Run"): lambda argument, block: left.pop(0)}
    return AiCpu(files=TREE, caller=lambda: TableCaller(table))


def launch(runtime: Runtime, *addresses: int, blocks: int = 1) -> None:
    kind = CpuKernelType.AICPU_CUSTOM
    runtime.launch_cpu_ex(kind, "op", blocks, args_of(*addresses))
    runtime.synchronize()


@BOTH
def test_nothing_is_known(soc: str) -> None:
    log = EventLog()
    launch(Runtime(soc, trace=log))
    block, task = log[-2:]
    assert isinstance(task, TaskEvent)
    assert isinstance(block, AiCpuEvent)
    assert task.outcome.note == NOT_KNOWN
    assert (block.position, block.process) == (task.position, "cust-sd")
    assert isinstance(block.story, AeRun)
    assert block.story.event.so_name == "libops.so"


@BOTH
def test_what_synchronise_answers(soc: str) -> None:
    runtime = Runtime(soc, ai_cpu=returning(0, 501, 0))
    launch(runtime)
    with pytest.raises(RtError, match=r"AE 501 .*: Run of libops.so returned 501") as caught:
        launch(runtime)
    assert caught.value.acl == 507018
    launch(runtime)


@BOTH
def test_an_abort_is_no_exception(soc: str) -> None:
    """AE-208, ERR-2."""
    log = EventLog()
    runtime = Runtime(soc, trace=log, ai_cpu=returning(8))
    launch(runtime)
    task = log[-1]
    assert isinstance(task, TaskEvent)
    assert task.outcome.error_type == 1
    assert "AE 8 TASK_ABORT" in task.outcome.note


@BOTH
def test_two_streams_share_the_processes_until_a_reset(soc: str, tmp_path: Path) -> None:
    """AE-308: what a library keeps is that of its process."""
    (tmp_path / CUST).mkdir(parents=True)
    shutil.copy(built("device"), tmp_path / CUST / "libops.so")
    runtime = Runtime(soc, ai_cpu=AiCpu.below(str(tmp_path)))
    kind = CpuKernelType.AICPU_CUSTOM

    def counts() -> list[int]:
        out = runtime.malloc(16)
        args = args_of(out, func="Count")
        found = []
        for stream in (None, runtime.create_stream()):
            for _ in range(2):
                runtime.launch_cpu_ex(kind, "op", 1, args, stream=stream)
                runtime.synchronize(stream)
                found.append(runtime.devices[0].memory.read(out, 1)[0])
        return found

    assert counts() == [1, 2, 3, 4]
    runtime.reset_device(0)
    runtime.set_device(0)
    assert counts() == [1, 2, 3, 4]


def test_contexts() -> None:
    """A device has its own id, unless a context is given."""
    seen = []
    for ai_cpu in (None, AiCpu(AeContext(device=5, pid=9))):
        log = EventLog()
        runtime = Runtime(A2_SOC, device=3, trace=log, ai_cpu=ai_cpu)
        launch(runtime)
        seen += [event.text.split("; ")[1] for event in log if isinstance(event, AiCpuEvent)]
    assert seen == [
        "/home/CustAiCpuUser/cust_aicpu_3_0_0/libops.so: not looked up",
        "/home/CustAiCpuUser/cust_aicpu_5_0_9/libops.so: not looked up",
    ]


def test_a_virtual_device() -> None:
    """AE-309: its unique vf id is its own id."""
    log = EventLog()
    launch(Runtime(A2_SOC, devices=64, device=40, trace=log))
    (text,) = [event.text for event in log if isinstance(event, AiCpuEvent)]
    assert "/home/CustAiCpuUser5/cust_aicpu_40_40_0/libops.so: not looked up" in text


@BOTH
def test_memory_beside_an_allocation_is_a_fault(soc: str, tmp_path: Path) -> None:
    """AE-1205: with the bytes in use, behind the tensor; without them, behind what was allocated."""
    (tmp_path / CUST).mkdir(parents=True)
    shutil.copy(built("device"), tmp_path / CUST / "libops.so")
    extents: dict[int, int] = {}
    log = EventLog()
    runtime = Runtime(soc, trace=log, ai_cpu=AiCpu.below(str(tmp_path), extents=extents))
    out = runtime.malloc(16)
    kind = CpuKernelType.AICPU_CUSTOM
    runtime.launch_cpu_ex(kind, "op", 1, args_of(out, func="Overrun"))
    runtime.synchronize()
    extents[out] = 16
    runtime.launch_cpu_ex(kind, "op", 1, args_of(out, func="Overrun"))
    with pytest.raises(RtError, match=r"returned 0, but 1 byte behind the segment at") as caught:
        runtime.synchronize()
    assert caught.value.acl == 507018
    story = [event.story for event in log if isinstance(event, AiCpuEvent)][-1]
    assert isinstance(story, AeRun)
    assert story.seconds is not None


def test_refused() -> None:
    with pytest.raises(UsageError, match="needs a caller"):
        Runtime(ai_cpu=AiCpu(files=TREE))
    with pytest.raises(InputError, match="cannot use the root"):
        AiCpu.below("/nonexistent")
    with pytest.raises(UsageError, match="bad timeout"):
        AiCpu.below("/", timeout=0)
    with pytest.raises(UsageError, match="bad memory limit"):
        AiCpu.below("/", memory=1)
