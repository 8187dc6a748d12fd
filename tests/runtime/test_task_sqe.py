"""Entries byte for byte: the recorded launches, and W-1 to W-13. Spec 04, sections 4 and 9."""

from __future__ import annotations

import pytest

from cannkit.format.ascend_meta import VfType
from cannkit.format.sqe import v100, v200
from cannkit.runtime.cpu_sqe import cpu_sqe, cpu_sqe_v200
from cannkit.runtime.kernel import AttrType, CpuKernelType, MixType
from cannkit.runtime.launch_config import ALL_ONES, DEFAULT_CONFIG, SECOND, TaskConfig
from cannkit.runtime.launch_env import LaunchEnv, QosConfig, QosEntry
from cannkit.runtime.task import CpuTask, KernelPlace, Task, make_task, simt_dcu_size
from cannkit.runtime.task_sqe import (
    core_sqe,
    kernel_sqe,
    mix_context,
    mix_sqe,
)
from tests.facts import rows
from tests.runtime.launch_rows import STACKS, Row, answer
from tests.runtime.test_task import name_of
from tests.sqe import examples

LAUNCHED = [row for row in rows("sqe") if "sqe" in row["result"]]
DEFAULT = LaunchEnv(stacks=STACKS, stream_id=3)

VECTOR = KernelPlace(func1=0x12C0_4120_0400, attr=AttrType.VECTOR)
CUBE = KernelPlace(func1=0x12C0_4130_0000, attr=AttrType.CUBE)
PAIR = KernelPlace(
    func1=0x12C0_4140_0000,
    func2=0x12C0_4140_1C00,
    attr=AttrType.MIX,
    mix=MixType.MIX_AIC_AIV_MAIN_AIC,
    ratio=2,
)
BATCH = TaskConfig(dump_flag=2, schem_mode=1, qos=2, part_id=5)
TEN_SECONDS = DEFAULT._replace(op_timeout=10 * SECOND)
WIDE_STACK = STACKS._replace(custom_size=65536)


def example(name: str, key: str = "sqe") -> bytes:
    """The bytes of a worked example, of its `sqe` or its `context`."""
    return bytes.fromhex(examples()[name][key])


def task_of(
    place: KernelPlace, blocks: int, args: int, config: TaskConfig = DEFAULT_CONFIG, size: int = 0
) -> Task:
    return make_task(place, blocks, config, DEFAULT)._replace(args=args, args_size=size)


@pytest.mark.parametrize("row", LAUNCHED, ids=name_of)
def test_recorded(row: Row) -> None:
    found, told = answer(row), row["result"]
    assert found.sqe.hex() == told["sqe"]
    assert (found.context.hex() if found.context else None) == told.get("ctx")


def test_w1() -> None:
    assert kernel_sqe(task_of(VECTOR, 48, 0x1240_8010_0000), VECTOR, DEFAULT, 17).encode() == (
        example("W-1")
    )


def test_w2() -> None:
    """LCH-16: the 10 s are the process-wide operator timeout."""
    place = CUBE._replace(min_stacks=(49152, 0))
    env = TEN_SECONDS._replace(stacks=WIDE_STACK, stream_id=5)
    task = task_of(place, 24, 0x1240_8020_0040, BATCH)
    assert kernel_sqe(task, place, env, 1000).encode() == example("W-2")


def test_w3() -> None:
    place = PAIR._replace(prefetch=(4, 8))
    task = task_of(place, 20, 0x1240_8030_0080, size=72)._replace(mix_opt=1)
    assert mix_sqe(task, place, DEFAULT, 18, 0x1240_8030_0000).encode() == example("W-3")
    assert mix_context(task, place, DEFAULT).encode() == example("W-3", "context")


def test_w4() -> None:
    place = VECTOR._replace(prefetch=(2, 0))
    task = task_of(place, 33, 0x1240_8010_0000)
    assert core_sqe(task, place, DEFAULT, 0x1234, count=1).encode() == example("W-4")


def test_w5() -> None:
    place = CUBE._replace(prefetch=(16, 0))
    task = task_of(place, 36, 0x1240_8020_0040, BATCH)
    assert core_sqe(task, place, TEN_SECONDS, 0x1235, count=1).encode() == example("W-5")


def test_w6() -> None:
    place = KernelPlace(
        func1=0x12C0_4150_0000,
        attr=AttrType.VECTOR,
        prefetch=(1, 0),
        vf_type=VfType.SIMT_VF,
        share_memory=1024,
    )
    task = task_of(place, 12, 0x1240_8040_0000, size=44)
    task = task._replace(simt_offset=32, simt_dcu_size=simt_dcu_size(place, 2000))
    assert core_sqe(task, place, DEFAULT, 0x1236, count=1).encode() == example("W-6")


def test_w7() -> None:
    place = PAIR._replace(prefetch=(3, 5))
    task = task_of(place, 36, 0x1240_8030_0000)
    assert core_sqe(task, place, DEFAULT, 0x1237, count=1).encode() == example("W-7")


CPU_TASK = CpuTask(
    CpuKernelType.AICPU,
    1,
    args=0x1240_8050_0000,
    so_name=0x1240_8100_0000,
    func_name=0x1240_8100_0100,
)


def test_w8() -> None:
    assert cpu_sqe(CPU_TASK, DEFAULT, 19).encode() == example("W-8")


def test_w9() -> None:
    assert cpu_sqe_v200(CPU_TASK, DEFAULT, 0x1238, count=1).encode() == example("W-9")


def test_w10() -> None:
    """Q-7: the vector prefetch count is that of the second part, which is not there."""
    place = KernelPlace(func1=0x12C0_4160_0000, attr=AttrType.VECTOR, mix=MixType.MIX_AIV)
    task = task_of(place, 40, 0x1240_8060_0000, size=24)
    assert mix_sqe(task, place, DEFAULT, 20, 0x1240_8070_0000).encode() == example("W-10")
    assert mix_context(task, place, DEFAULT).encode() == example("W-10", "context")


def test_w11() -> None:
    place = KernelPlace(func1=0x12C0_4170_0000, attr=AttrType.VECTOR, min_stacks=(120_000, 0))
    env = DEFAULT._replace(stacks=STACKS._replace(custom_size=131072))
    task = task_of(place, 1, 0x1240_8080_0000, TaskConfig(timeout=ALL_ONES))
    assert core_sqe(task, place, env, 0x1239, count=1).encode() == example("W-11")


def test_w12() -> None:
    place = PAIR._replace(func2=0x12C0_4140_0B98, prefetch=(2, 2))
    task = task_of(place, 20, 0x1240_8030_0080, size=80)
    env = DEFAULT._replace(stream_id=7)
    assert mix_sqe(task, place, env, 100, 0x1240_8030_0000).encode() == example("W-12")
    assert mix_context(task, place, env).encode() == example("W-12", "context")


def test_w13() -> None:
    place = KernelPlace(
        func1=0x12C0_4200_0000,
        attr=AttrType.VECTOR,
        prefetch=(4, 0),
        vf_type=VfType.SIMT_VF,
        share_memory=8192,
    )
    task = task_of(place, 56, 0x1240_8090_0000)
    task = task._replace(simt_offset=32, simt_dcu_size=simt_dcu_size(place, 4000))
    assert core_sqe(task, place, DEFAULT, 0x2000, count=1).encode() == example("W-13")


@pytest.mark.parametrize(
    ("dump", "changes", "plain", "mix", "a5"),
    [
        # (pre_p, post_p, flags) by LCH-56 for one kind of core and for a mix, by LCH-59 on A5
        (0, {}, (0, 0, 0), (0, 0, 0), (0, 0, 0)),
        (2, {}, (0, 1, 1), (0, 1, 1), (0, 1, 1)),
        (2, {"overflow_switch": True}, (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        (0, {"biu_perf": True}, (1, 1, 2), (1, 1, 2), (0, 1, 2)),
        (0, {"biu_perf": True, "bound": True}, (0, 0, 0), (0, 0, 0), (0, 0, 0)),
        (0, {"l2_profiling": True}, (0, 1, 4), (0, 1, 4), (0, 1, 4)),
        (0, {"biu_perf": True, "l2_profiling": True}, (1, 1, 6), (0, 1, 4), (0, 1, 6)),
        (2, {"biu_perf": True}, (0, 1, 1), (0, 1, 1), (0, 1, 1)),
        (0, {"debug_register": True}, (0, 1, 0), (0, 1, 0), (0, 1, 0)),
        (0, {"debug_register": True, "bound": True}, (0, 0, 0), (0, 0, 0), (0, 0, 0)),
        (2, {"debug_register": True}, (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    ],
)
def test_flags(
    dump: int,
    changes: dict[str, bool],
    plain: tuple[int, int, int],
    mix: tuple[int, int, int],
    a5: tuple[int, int, int],
) -> None:
    """LCH-56, LCH-59, LCH-75, W-14."""
    env, config = DEFAULT._replace(**changes), TaskConfig(dump_flag=dump)  # type: ignore[arg-type]
    one = kernel_sqe(task_of(VECTOR, 1, 0, config), VECTOR, env, 0)
    pair = mix_sqe(task_of(PAIR, 1, 0, config), PAIR, env, 0, 0)
    new = core_sqe(task_of(VECTOR, 1, 0, config), VECTOR, env, 0, count=1)
    assert (one.pre_p, one.post_p, one.flags) == plain
    assert (pair.pre_p, pair.post_p, pair.flags) == mix
    assert (int(new.pre_p), int(new.post_p), new.feature_flag) == a5
    assert pair.overflow_en == env.overflow


def test_dcache_lock() -> None:
    """04, 4.3 and LCH-59: of any mix kernel."""
    place = PAIR._replace(dcache_lock=True)
    pair = mix_sqe(task_of(place, 1, 0), place, DEFAULT, 0, 0)
    assert (pair.sub_type, pair.pre_p, pair.post_p) == (0x0A, 0, 1)
    new = core_sqe(task_of(place, 1, 0), place, DEFAULT, 0, count=1)
    assert (new.pre_p, new.post_p, new.feature_flag) == (True, True, 8)
    alone = VECTOR._replace(dcache_lock=True)
    assert core_sqe(task_of(alone, 1, 0), alone, DEFAULT, 0, count=1).feature_flag == 0


def test_qos_config() -> None:
    """LCH-74: the entry of the core's instructions, where its mode is 0."""
    qos = QosConfig(aic_instruction=QosEntry(0, 1, 7, 3), aiv_instruction=QosEntry(1, 2, 9, 5))
    env, config = DEFAULT._replace(qos=qos), TaskConfig(qos=4, part_id=6)
    cube = kernel_sqe(task_of(CUBE, 1, 0, config), CUBE, env, 0)
    vector = kernel_sqe(task_of(VECTOR, 1, 0, config), VECTOR, env, 0)
    context = mix_context(task_of(PAIR, 1, 0, config), PAIR, env)
    assert (cube.pmg, cube.part_id, cube.qos) == (1, 7, 3)
    assert (vector.pmg, vector.part_id, vector.qos) == (0, 6, 4)
    assert (context.pmg, context.part_id, context.qos) == (1, 7, 3)
    plain = mix_context(task_of(PAIR, 1, 0, config), PAIR, DEFAULT)
    assert (plain.part_id, plain.qos) == (0, 0), "Q-9"
    new = core_sqe(task_of(CUBE, 1, 0, config), CUBE, env, 0, count=1)
    assert (new.aic_pmg, new.aic_part_id, new.aic_qos) == (0, 6, 4)


@pytest.mark.parametrize(
    ("blocks", "groups"),
    [(0, (1, 0)), (1, (1, 1)), (2, (2, 1)), (33, (2, 17)), (65535, (2, 32768))],
)
def test_groups(blocks: int, groups: tuple[int, int]) -> None:
    """LCH-58."""
    entry = core_sqe(task_of(VECTOR, blocks, 0), VECTOR, DEFAULT, 0, count=1)
    assert (entry.group_dim, entry.group_block_dim) == groups


@pytest.mark.parametrize(
    ("flags", "v100_type", "topic"),
    [(0, 1, 0), (0x10, 1, 1), (0x20, 1, 2), (0x40, 1, 3), (0x70, 1, 3), (0x30, 1, 2)],
)
def test_topics(flags: int, v100_type: int, topic: int) -> None:
    """04, 4.4 and 4.7: where an AI CPU kernel runs, and the type that follows on A5."""
    task = CPU_TASK._replace(flags=flags)
    old, new = cpu_sqe(task, DEFAULT, 1), cpu_sqe_v200(task, DEFAULT, 1, count=1)
    assert (old.sqe_type, old.topic_type, new.topic_type) == (v100_type, topic, topic)
    assert new.sqe_type == (4 if topic in (2, 3) else 5)


@pytest.mark.parametrize(
    ("kind", "blocks", "hcom", "fused"),
    [(5, 1, True, True), (5, 2, True, False), (5, 1, False, False), (2, 1, True, False)],
)
def test_kfc(kind: int, blocks: int, hcom: bool, fused: bool) -> None:
    """04, 4.7: KFC with one block on a device with hcom-cpu."""
    task = CPU_TASK._replace(kernel_type=CpuKernelType(kind), dim=blocks, flags=0x20)
    entry = cpu_sqe_v200(task, DEFAULT._replace(has_hcom_cpu=hcom), 1, count=1)
    assert (entry.sqe_type == v200.SqeType.FUSION) is fused
    assert entry.encode()[8:10] == (b"\x00\x08" if fused else b"\0\0")


def test_head_update() -> None:
    """04, 4.5: every 64th task of a stream, on UB."""
    env, task = DEFAULT._replace(is_ub=True), task_of(VECTOR, 1, 0)
    told = [core_sqe(task, VECTOR, env, 0, count=at).head_update for at in (1, 63, 64, 128)]
    assert told == [False, False, True, True]
    assert not core_sqe(task, VECTOR, DEFAULT, 0, count=64).head_update


def test_one_die() -> None:
    """04, 4.6, w3."""
    task = task_of(VECTOR, 1, 0)
    for dies, friendly in ((0, False), (1, False), (2, True)):
        entry = core_sqe(task, VECTOR, DEFAULT._replace(dies=dies), 0, count=1)
        assert entry.die_friendly is friendly


def test_failed_context_copy() -> None:
    """04, 4.3, w0: the entry becomes invalid."""
    env = DEFAULT._replace(fails_context_copy=True)
    assert mix_sqe(task_of(PAIR, 1, 0), PAIR, env, 0, 0).sqe_type == v100.SqeType.INVALID
