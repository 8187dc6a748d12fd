"""Every real kernel launched; W-12 and W-13 on their own objects. Spec 04, section 9."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

import pytest

from cannkit.api.runtime import Runtime
from cannkit.device.trace import EventLog, TaskEvent
from cannkit.format.bits import Record
from cannkit.format.sqe import v100, v200
from cannkit.format.status import RtError
from cannkit.runtime.args import block_of
from cannkit.runtime.kernel import AttrType, MixType
from cannkit.runtime.launch_config import DEFAULT_CONFIG, LaunchConfig
from cannkit.runtime.launch_env import LaunchEnv, StackPlaces
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.task import make_task, place_kernel, simt_dcu_size
from cannkit.runtime.task_sqe import core_sqe, mix_context, mix_sqe
from tests.facts import A5_SOC
from tests.reals import SOCS, reals
from tests.runtime.launch_rows import STACKS
from tests.runtime.test_task_sqe import example

pytestmark = pytest.mark.corpus

W12: Final = "A2/**/OffsetsRange_67fb5b7825e97597c68d8ae6a1db5fc8.o"
W13: Final = "A5/**/BoundsCheckIndicesV2_221d45954f8abeec3fbd6721ee4fd084.o"


def only(corpus: Path, pattern: str) -> Path:
    (path,) = corpus.glob(f"fbgemm_ascend/opp/{pattern}")
    return path


@pytest.mark.parametrize("product", SOCS)
def test_every_kernel(product: str, corpus: Path) -> None:
    """Two blocks each, with arguments by their metadata: nothing is refused, nothing fails."""
    log = EventLog()
    runtime = Runtime(SOCS[product], trace=log)
    buffer, launched = runtime.malloc(1 << 16), 0
    for real in reals(corpus):
        if real.product != product:
            continue
        binary = runtime.load_from_data(real.data)
        for kernel in binary.program.kernels:
            function = binary.get_function(kernel.name)
            plan = runtime.session.launcher.targets.plan(*function.target())
            assert plan.source == "DFX"
            assert not plan.remarks
            done = runtime.launch(function, 2, [buffer] * len(plan.pointers))
            assert not done.findings
            launched += 1
        runtime.synchronize()
        runtime.unload(binary)
    tasks = [event for event in log if isinstance(event, TaskEvent)]
    assert len(tasks) == launched > 200
    assert {finding.rule for task in tasks for finding in task.findings} == set()
    assert {task.outcome.error_type for task in tasks} == {0}


def test_w12(corpus: Path) -> None:
    """Mix type 3, ratio 2, two prefetch counts; the block by its metadata, tiling behind it."""
    runtime = Runtime("Ascend910B3")
    binary = runtime.load_from_file(only(corpus, W12))
    (kernel,) = binary.program.kernels
    assert (kernel.attr, kernel.mix, kernel.task_ratio_value) == (
        AttrType.MIX,
        MixType.MIX_AIC_AIV_MAIN_AIC,
        2,
    )
    assert (kernel.part1.length, kernel.part2.offset, kernel.part2.length) == (2968, 0xB98, 3168)
    function = binary.get_function(kernel.name)
    plan = runtime.session.launcher.targets.plan(*function.target())
    values = [0x1240_9000_0000, 0x1240_9010_0000, 0x1240_9020_0000, bytes(40)]
    args, slots = plan.bind(values, ffts=0x1300_0000_0000)
    assert [(slot.offset, slot.origin) for slot in slots] == [
        (0, "ffts"),
        (8, "user"),
        (16, "user"),
        (24, "user"),
        (32, "tiling"),
        (40, "tiling"),
    ]
    block = block_of(kernel, args)
    assert block.size == 80
    assert struct.unpack("<5Q", block.patched(0x1240_8030_0080)[:40]) == (
        0x1300_0000_0000,
        *values[:3],
        0x1240_8030_00A8,
    )
    assert isinstance(binary.program, ElfProgram)
    stack = binary.program.stack_size
    place = place_kernel(kernel, 0x12C0_4140_0000, 0x12C0_4140_0B98, stack, runtime.soc)
    assert place.prefetch == (2, 2)
    env = LaunchEnv(stacks=STACKS, stream_id=7)
    task = make_task(place, 20, DEFAULT_CONFIG, env, args=0x1240_8030_0080, args_size=80)
    assert mix_sqe(task, place, env, 100, 0x1240_8030_0000).encode() == example("W-12")
    assert mix_context(task, place, env).encode() == example("W-12", "context")


def test_w12_batch(corpus: Path) -> None:
    """W-12, W-14: 20 blocks are 20 AIC and 40 AIV on an Ascend910B3; 21 are too many for a batch."""
    runtime = Runtime("Ascend910B3")
    binary = runtime.load_from_file(only(corpus, W12))
    function = binary.get_function(binary.program.kernels[0].name)
    buffers = [runtime.malloc(64) for _ in range(4)]
    batch = LaunchConfig.of(sched_mode=1)
    runtime.launch(function, 20, buffers, config=batch)
    runtime.synchronize()
    runtime.launch(function, 21, buffers, config=batch)
    with pytest.raises(RtError, match="cores"):
        runtime.synchronize()


def test_w13(corpus: Path) -> None:
    """A SIMT kernel of A5: 12,192 bytes are rounded to 0x3000; 221,185 dynamic ones are too many."""
    runtime = Runtime(A5_SOC)
    binary = runtime.load_from_data(only(corpus, W13).read_bytes())
    (kernel,) = binary.program.kernels
    place = place_kernel(kernel, 0x12C0_4200_0000, None, 0, runtime.soc)
    assert place.prefetch == (4, 0)
    size = simt_dcu_size(place, 4000)
    env = LaunchEnv(stacks=StackPlaces(STACKS.large))
    task = make_task(
        place,
        56,
        DEFAULT_CONFIG,
        env,
        args=0x1240_8090_0000,
        simt_offset=32,
        simt_dcu_size=size,
    )
    assert core_sqe(task, place, env, 0x2000, count=1).encode() == example("W-13")
    assert simt_dcu_size(place, 221_184) == 229_376
    with pytest.raises(RtError):
        simt_dcu_size(place, 221_185)


def test_entries_by_product(corpus: Path) -> None:
    """04, 4.2 and 4.6: the records that real kernels make."""
    for product, wanted in (("A2", {v100.KernelSqe, v100.MixSqe}), ("A5", {v200.KernelSqe})):
        runtime, seen = Runtime(SOCS[product]), set[type[Record]]()
        for real in reals(corpus)[:: len(reals(corpus)) // 60]:
            if real.product != product:
                continue
            binary = runtime.load_from_data(real.data)
            for kernel in binary.program.kernels:
                function = binary.get_function(kernel.name)
                plan = runtime.session.launcher.targets.plan(*function.target())
                raw = runtime.launch(function, 1, [0] * len(plan.pointers)).sqe
                if product == "A5":
                    seen.add(v200.KernelSqe)
                    assert v200.KernelSqe.decode(raw).mix == kernel.is_paired
                else:
                    is_mix = raw[8] & 7 == v100.FftsType.MIX
                    seen.add(v100.MixSqe if is_mix else v100.KernelSqe)
                    assert is_mix == (kernel.mix > 0)
            runtime.synchronize()
        assert seen == wanted
