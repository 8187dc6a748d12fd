"""The 64 bytes of an AI CPU task. Spec 04, sections 4.4 and 4.7."""

from __future__ import annotations

from typing import Any

from cannkit.format.sqe import v100, v200
from cannkit.runtime.credit import cpu_credit
from cannkit.runtime.kernel import CpuKernelType
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.task import CpuTask, KernelFlag
from cannkit.runtime.task_sqe import HEAD_UPDATE_EVERY, LOW_16, LOW_48


def cpu_sqe(task: CpuTask, env: LaunchEnv, task_id: int) -> v100.AicpuSqe:
    """A2, A3: the entry of an AI CPU kernel. 04, 4.4."""
    return v100.AicpuSqe(
        sqe_type=v100.SqeType.AICPU,
        post_p=int(env.unbound_debug),
        wr_cqe=env.writes_cqe,
        block_dim=task.dim,
        stream_id=env.stream_id & LOW_16,
        task_id=task_id,
        extra_field=task_id,
        **_cpu_fields(task, env, v200=False),
    )


def cpu_sqe_v200(task: CpuTask, env: LaunchEnv, task_sn: int, *, count: int) -> v200.AicpuSqe:
    """A5: the entry of an AI CPU kernel. 04, 4.7. `count`: tasks of the stream, this one too."""
    fields = _cpu_fields(task, env, v200=True)
    kfc = task.kernel_type is CpuKernelType.AICPU_KFC and task.dim == 1 and env.has_hcom_cpu
    on_host = fields["topic_type"] in (v200.CpuTopic.HOST_ONLY, v200.CpuTopic.HOST_FIRST)
    where = v200.SqeType.AICPU_H if on_host else v200.SqeType.AICPU_D
    return v200.AicpuSqe(
        sqe_type=v200.SqeType.FUSION if kfc else where,
        sub_type=int(kfc),
        post_p=env.unbound_debug,
        wr_cqe=env.writes_cqe,
        head_update=env.is_ub and count % HEAD_UPDATE_EVERY == 0,
        block_dim=task.dim,
        task_sn=task_sn,
        extra_field=task_sn,
        **fields,
    )


def _cpu_fields(task: CpuTask, env: LaunchEnv, *, v200: bool) -> dict[str, Any]:
    topic = 0
    for flag, kind in (  # tested in this order
        (KernelFlag.HOST_FIRST, v100.CpuTopic.HOST_FIRST),
        (KernelFlag.HOST_ONLY, v100.CpuTopic.HOST_ONLY),
        (KernelFlag.DEVICE_FIRST, v100.CpuTopic.DEVICE_FIRST),
    ):
        if task.flags & flag:
            topic = kind
            break
    return {
        "kernel_type": task.kernel_type & 0x7F,
        "topic_type": topic,
        "qos": env.tsd_qos & 7,
        "kernel_credit": cpu_credit(
            task.timeout, task.kernel_type, env, dumps=task.dumps, v200=v200
        ),
        "so_name_addr": task.so_name & LOW_48,
        "args_addr": task.args + task.head_offset & LOW_48,
        "func_name_addr": task.func_name & LOW_48,
        "overflow_en": env.overflow,
        "dump_en": task.dumps,
        "debug_dump_en": env.debug_register and env.bound,
    }
