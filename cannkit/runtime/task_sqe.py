"""The 64 bytes of an AI Core task, and the 128 of a mix context. Spec 04, 4.2, 4.3 and 4.6."""

from __future__ import annotations

from typing import Any, Final

from cannkit.format.sqe import v100, v200
from cannkit.runtime.credit import core_credit
from cannkit.runtime.kernel import AttrType, MixType
from cannkit.runtime.launch_env import LaunchEnv, QosConfig, QosEntry
from cannkit.runtime.task import KernelPlace, Task, stack_place

LOW_16: Final = 0xFFFF
LOW_48: Final = (1 << 48) - 1
LOW_52: Final = (1 << 52) - 1
BATCHES: Final = 3  # 2 bits
CUBE_MIX: Final = (
    MixType.MIX_AIC,
    MixType.MIX_AIC_AIV_MAIN_AIC,
    MixType.MIX_AIC_AIV_MAIN_AIV,
)
AIC_MAIN: Final = (MixType.MIX_AIC, MixType.MIX_AIC_AIV_MAIN_AIC)
AIV_MAIN: Final = (MixType.MIX_AIV, MixType.MIX_AIC_AIV_MAIN_AIV)

# Business flags: of word 13 on v100, featureFlag on v200.
DUMP, BIU_PERF, L2_PROFILING, DCACHE_LOCK = 1, 2, 4, 8
HEAD_UPDATE_EVERY: Final = 64
AIC_WRR, AIV_WRR = 1, 2  # read and write weights


def kernel_sqe(task: Task, place: KernelPlace, env: LaunchEnv, task_id: int) -> v100.KernelSqe:
    """A2, A3: the entry of a kernel on one kind of core. 04, 4.2."""
    pre, post, flags = _v100_flags(task, place, env)
    stack, level = stack_place(place, env.stacks, v200=False)
    is_vector = place.attr is AttrType.VECTOR
    pmg, part_id, qos = _qos(env.qos, 0, task.part_id, task.qos, is_vector=is_vector)
    return v100.KernelSqe(
        pre_p=pre,
        post_p=post,
        wr_cqe=env.writes_cqe,
        block_dim=task.dim,
        stream_id=env.stream_id & LOW_16,
        task_id=task_id,
        ffts_type=v100.FftsType.AIV if is_vector else v100.FftsType.AIC,
        kernel_credit=core_credit(task.timeout, env, v200=False),
        schem=task.schem_mode & BATCHES,
        stack_base=stack,
        pmg=pmg & 3,
        part_id=part_id & 0xFF,
        qos=qos & 0xF,
        pc=place.func1 & LOW_48,
        args_addr=task.args & LOW_52,
        stack_level=level if place.min_stacks[0] else task.args >> 52,
        flags=flags,
    )


def mix_sqe(
    task: Task, place: KernelPlace, env: LaunchEnv, task_id: int, context: int
) -> v100.MixSqe:
    """A2, A3: the entry of a kernel under the mix mechanism, its context at `context`. 04, 4.3.

    Stream and task are not exchanged yet (LCH-73).
    """
    pre, post, flags = _v100_flags(task, place, env)
    stack, _ = stack_place(place, env.stacks, v200=False)
    sub_type = v100.ContextType.MIX_AIC if place.mix in AIC_MAIN else v100.ContextType.MIX_AIV
    if place.dcache_lock:
        sub_type = v100.ContextType.DCACHE_LOCK
    failed = env.fails_context_copy
    return v100.MixSqe(
        sqe_type=v100.SqeType.INVALID if failed else v100.SqeType.FFTS,
        pre_p=pre,
        post_p=post,
        wr_cqe=env.writes_cqe,
        overflow_en=env.overflow,
        block_dim=task.dim,
        stream_id=env.stream_id & LOW_16,
        task_id=task_id,
        kernel_credit=core_credit(task.timeout, env, v200=False),
        sub_type=sub_type,
        stack_base=stack,
        context_addr=context,
        flags=flags,
    )


def mix_context(task: Task, place: KernelPlace, env: LaunchEnv) -> v100.MixContext:
    """A2, A3: the context of a mix entry. 04, 4.3; Q-8: only 16 bits of the size are kept."""
    mix = place.mix
    cube, vector = mix in CUBE_MIX, mix is not MixType.MIX_AIC
    aic_pc = place.func1 & LOW_48 if cube else 0
    aiv_pc = 0
    if vector:
        aiv_pc = (place.func2 if place.is_paired else place.func1) & LOW_48
    prefetch_aiv = place.prefetch[1] if mix is not MixType.MIX_AIC else 0
    if mix is MixType.MIX_AIC_AIV_MAIN_AIV:
        prefetch_aiv = 0
    _, level = stack_place(place, env.stacks, v200=False)
    pmg, part_id, qos = _qos(env.qos, 0, 0, 0, is_vector=mix not in AIC_MAIN)
    ratio = place.ratio & 0xFF if place.is_paired else 0
    args, size = task.args & LOW_48, task.args_size & LOW_16
    return v100.MixContext(
        context_type=v100.ContextType.MIX_AIC if mix in AIC_MAIN else v100.ContextType.MIX_AIV,
        schem=task.schem_mode & BATCHES,
        aic_prefetch_count=place.prefetch[0] if cube else 0,
        aiv_prefetch_count=prefetch_aiv,
        pmg=pmg & 3,
        part_id=part_id & 0xFF,
        qos=qos & 0xF,
        ratio=ratio,
        tail_ratio=ratio,
        thread_id=level,
        block_dim=task.dim,
        tail_block_dim=task.dim,
        aic_args_addr=args,
        aic_args_size=size,
        aiv_args_addr=args,
        aiv_args_size=size,
        aic_pc=aic_pc,
        aic_tail_pc=aic_pc,
        aiv_pc=aiv_pc,
        aiv_tail_pc=aiv_pc,
    )


def core_sqe(
    task: Task, place: KernelPlace, env: LaunchEnv, task_sn: int, *, count: int
) -> v200.KernelSqe:
    """A5: the entry of any AI Core kernel. 04, 4.6. `count`: tasks of the stream, this one too."""
    mix = place.mix
    is_vector = place.attr is AttrType.VECTOR or mix in AIV_MAIN
    paired = place.is_paired
    aic, aiv = paired or not is_vector, paired or is_vector
    pre, post, flags = _v200_flags(task, place, env)
    stack, level = stack_place(place, env.stacks, v200=True)
    groups = 1 if task.dim <= 1 else 2  # LCH-58
    args = task.args + task.simt_offset
    args_addr, level = args & LOW_52, level | args >> 52
    qos, part_id, ratio = task.qos & 0xF, task.part_id & 0xFF, place.ratio & 0xFF
    pc = place.func1 & LOW_48
    sides: dict[str, Any] = {}
    if aic:
        sides = {
            "aic_part_id": part_id,
            "aic_qos": qos,
            "aic_wrr_rd": AIC_WRR,
            "aic_wrr_wr": AIC_WRR,
            "aic_prefetch_count": place.prefetch[0],
            "aic_pc": pc,
            "aic_args_addr": args_addr,
            "aic_stack_level": level,
        }
    if aiv:
        sides |= {
            "aiv_part_id": part_id,
            "aiv_qos": qos,
            "aiv_wrr_rd": AIV_WRR,
            "aiv_wrr_wr": AIV_WRR,
            "aiv_prefetch_count": place.prefetch[paired],
            "aiv_pc": place.func2 & LOW_48 if paired else pc,
            "aiv_args_addr": args_addr,
            "aiv_stack_level": level,
        }
    return v200.KernelSqe(
        sqe_type=v200.SqeType.AIV if is_vector else v200.SqeType.AIC,
        pre_p=pre,
        post_p=post,
        wr_cqe=env.writes_cqe,
        head_update=env.is_ub and count % HEAD_UPDATE_EVERY == 0,
        block_dim=task.dim,
        task_sn=task_sn,
        group_dim=groups,
        group_block_dim=-(-task.dim // groups),
        feature_flag=flags,
        kernel_credit=core_credit(task.timeout, env, v200=True),
        die_friendly=env.dies > 1,
        mix=paired,
        loose=not (paired and not is_vector and ratio == 2),
        stack_base=stack,
        pi_mix=paired,
        schem=task.schem_mode & BATCHES,
        ratio=ratio if paired else 1,
        dcu_size=task.simt_dcu_size,
        **sides,
    )


def _v100_flags(task: Task, place: KernelPlace, env: LaunchEnv) -> tuple[int, int, int]:
    """LCH-56: pre_p, post_p and the business flags; each step sees those before."""
    if not (task.kernel_flag or env.debug_register or env.biu_perf or env.l2_profiling):
        return 0, int(place.dcache_lock and place.mix > 0), 0
    pre, post, flags = 0, int(task.dumps or env.unbound_debug), 0
    if place.mix:
        if task.dumps:
            flags, pre = DUMP, int(env.overflow)
        if env.l2_profiling:
            post, flags = 1, flags | L2_PROFILING
        if env.biu_perf and not env.bound and not post:
            pre, post, flags = 1, 1, flags | BIU_PERF
        return pre, post | int(place.dcache_lock), flags
    if env.biu_perf and not env.bound and not post:
        pre, post, flags = 1, 1, BIU_PERF
    if task.dumps:
        flags, pre = flags | DUMP, int(env.overflow) or pre
    if env.l2_profiling:
        post, flags = 1, flags | L2_PROFILING
    return pre, post, flags


def _v200_flags(task: Task, place: KernelPlace, env: LaunchEnv) -> tuple[bool, bool, int]:
    """LCH-59: preP, postP and featureFlag."""
    if not (
        task.kernel_flag
        or env.debug_register
        or env.biu_perf
        or env.l2_profiling
        or place.dcache_lock
    ):
        return False, False, 0
    pre, post, flags = False, task.dumps or env.unbound_debug, 0
    if env.biu_perf and not env.bound and not post:
        post, flags = True, BIU_PERF
    if task.dumps:
        flags, pre = flags | DUMP, env.overflow
    if env.l2_profiling:
        post, flags = True, flags | L2_PROFILING
    if place.dcache_lock and place.mix:
        pre, post, flags = True, True, flags | DCACHE_LOCK
    return pre, post, flags


def _qos(
    config: QosConfig | None, pmg: int, part_id: int, qos: int, *, is_vector: bool
) -> tuple[int, int, int]:
    """LCH-74: pmg, part_id and qos, replaced by the entry of the core's instructions."""
    if config is None:
        return pmg, part_id, qos
    entry: QosEntry = config.aiv_instruction if is_vector else config.aic_instruction
    if entry.mode:
        return pmg, part_id, qos
    return entry.pmg, entry.part_id, entry.qos
