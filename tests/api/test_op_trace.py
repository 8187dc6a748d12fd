"""A call of an operator through the whole simulated stack: program, entry, gates, path, call, answer. Spec 07, OPR-1301."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import cannkit
from cannkit.ae.ae_run import AeRun
from cannkit.device.trace import CopyEvent, TaskEvent
from cannkit.errors import UsageError
from cannkit.format.param_block import decode_block
from cannkit.ops.call import EXT, PLAIN
from cannkit.ops.errors import CannotRunError
from cannkit.ops.op_args import OpArg, Role
from tests.facts import A2_SOC, A5_SOC
from tests.ops.calling import EMULATED
from tests.ops.library import ENV, library
from tests.ops.packages import installed, tensor
from tests.packages import cpu_info

SO: Final = "libcust_cpu_kernels.so"
CUST: Final = "/home/CustAiCpuUser/cust_aicpu_0_0_0/"
BUILT_IN: Final = "/usr/lib64/aicpu_kernels/0/aicpu_kernels_device/"


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of ours are kept with those of the other tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", ENV["XDG_CACHE_HOME"])


def floats(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@EMULATED
@pytest.mark.parametrize("soc", [A2_SOC, A5_SOC])
def test_the_whole_story(emulated: bool, soc: str) -> None:
    add = cannkit.Operator(library(emulated), "Add")
    trace = add.trace([floats(1, 2), floats(3, 4)], outputs=[(2,)], soc=soc)
    result = trace.result
    assert result is not None
    assert bytes(result.outputs[0].data) == floats(4, 6).tobytes()
    assert (result.returned, result.status, result.response) == (0, 0, (0, 0))
    assert (trace.error, trace.is_fault, result.emulated) == (None, False, emulated)
    assert trace.so_path == CUST + Path(library(emulated)).name
    assert trace.launched is not None
    block = decode_block(trace.launched.block or b"")
    assert block.addresses == tuple(trace.addresses[each] for each in (2, 3, 4))
    assert block.ext_address == trace.addresses[EXT]
    assert trace.task is not None
    assert trace.task.raw[:4] == trace.launched.sqe[:4]
    assert isinstance(trace.run, AeRun)
    assert trace.run.process == "cust-sd"
    assert trace.run.paths == (f"{trace.so_path}: loaded",)
    assert trace.run.text == f"RunCpuKernel of {Path(library(emulated)).name} returned 0"
    memory = trace.runtime.devices[0].memory
    assert memory.read(trace.addresses[4], 8) == floats(4, 6).tobytes()
    kinds = [type(event) for event in trace.events]
    assert kinds.index(CopyEvent) < kinds.index(TaskEvent)


@EMULATED
def test_a_refusal(emulated: bool) -> None:
    """The host sees the code alone, the workspace has the reason: OPR-602, OPR-420."""
    trace = cannkit.Operator(library(emulated), "Add").trace(
        [floats(1, 2), floats(3)], outputs=[(2,)]
    )
    assert trace.error is not None
    assert (trace.error.acl, trace.is_fault) == (507018, True)
    assert trace.result is not None
    assert (trace.result.returned, trace.result.response) == (0xFFFF_FFFF, (1, 22007))
    assert trace.result.reason is not None
    assert trace.result.reason.endswith("shape mismatch, x has 2 elements, y 1, z 2")


@EMULATED
def test_a_crash(emulated: bool) -> None:
    trace = cannkit.Operator(library(emulated), "Harm").trace([floats(0)], {"how": "null"}, [(1,)])
    assert trace.error is not None
    assert trace.result is not None
    assert trace.result.child is not None
    assert trace.result.child.signal == 11
    assert trace.result.child.hints[0] == "the operator Harm was running"
    assert trace.run is not None
    assert trace.run.verdict is not None


@EMULATED
def test_blocks(emulated: bool) -> None:
    options = PLAIN._replace(function="RunCpuKernelWithBlock", blocks=3)
    data = floats(*range(10))
    add = cannkit.Operator(library(emulated), "Add")
    trace = add.trace([data, data], outputs=[(10,)], options=options)
    assert trace.result is not None
    assert trace.result.returns == (0, 0, 0)
    assert bytes(trace.result.outputs[0].data) == (2 * data).tobytes()
    assert len(trace.result.records) == 3
    assert [event.block for event in trace.blocks] == [0, 1, 2]


@EMULATED
def test_shapes_inputs_and_empty_tensors(emulated: bool) -> None:
    add_one = cannkit.Operator(library(emulated), "AddOne").trace([floats(1)], outputs=[(1,)])
    assert add_one.result is not None
    assert add_one.result.changed == (0,)
    both = cannkit.Operator(library(emulated), "AddOne").trace([floats(1)], outputs=[], inout=[0])
    assert both.result is not None
    assert bytes(both.result.outputs[0].data) == floats(2).tobytes()
    empty = cannkit.Operator(library(emulated), "Echo").trace([floats()], outputs=[(0,)])
    assert empty.result is not None
    assert empty.result.returned == 0
    found = cannkit.Operator(library(emulated), "NonZero").trace(
        [floats(0, 1)], outputs=[("i64", (-1,))]
    )
    assert found.result is not None
    assert found.result.outputs[0].shape == (1,)


def test_what_the_device_has_beside_a_tensor(tmp_path: Path) -> None:
    """An overrun is told as it is without the stack: no device sees it."""
    overrun = cannkit.Operator(library(False), "Overrun")
    trace = overrun.trace([], {"count": 5}, [("f32", (3,))])
    assert trace.result is not None
    assert trace.result.remarks == (
        ("overrun", "output 0 (output0)", "5 bytes behind it were written"),
    )
    assert trace.error is None
    assert overrun.run([], {"count": 5}, [("f32", (3,))]).remarks == trace.result.remarks


def test_more_than_the_ai_cpu_is_handed() -> None:
    add_one = cannkit.Operator(library(False), "AddOne")
    with pytest.raises(UsageError, match=r"too large: .* at most 134,217,728 are handed on"):
        add_one.trace([np.zeros(1 << 24, np.float32)], outputs=[(1 << 24,)])


def test_the_program_of_a_package(tmp_path: Path) -> None:
    """Its own JSON is registered; the type and the name in it say where the library lies."""
    ops = {
        "Add": {
            **cpu_info(lib="AICPUKernel"),
            "input0": tensor("x"),
            "input1": tensor("y"),
            "output0": tensor("z"),
        }
    }
    root = installed(tmp_path, protos=False, ops=ops)
    trace = cannkit.Operator(root, "Add").trace([floats(1), floats(2)])
    assert trace.so_path == BUILT_IN + SO
    assert trace.run is not None
    assert trace.run.process == "aicpusd"
    assert trace.result is not None
    assert trace.result.is_good
    block = PLAIN._replace(function="RunCpuKernelWithBlock")
    trace = cannkit.Operator(root, "Add").trace([floats(1), floats(2)], options=block)
    assert trace.run is not None
    assert trace.run.text == f"RunCpuKernelWithBlock of {SO} returned 0"


def test_what_cannot_run() -> None:
    add = cannkit.Operator(library(False), "Add")
    with pytest.raises(UsageError):
        add.trace([floats(1), floats(2)], outputs=[(1,)], soc="Ascend999")
    with pytest.raises(CannotRunError, match="no function Nobody"):
        add.trace([floats(1)], outputs=[(1,)], options=PLAIN._replace(function="Nobody"))
    trace = add.trace([OpArg(Role.NULL), floats(1)], outputs=[("f32", (1,))])
    assert trace.result is not None
    assert trace.result.reason is not None
    assert "null" in trace.result.reason
