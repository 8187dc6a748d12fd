"""The recorded launches (`fixtures/golden/sqe.jsonl.gz`) in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.bits import Record
from cannkit.format.sqe import IdMode, exchange_ids
from cannkit.image.kernel_meta import EntryKind, Param
from cannkit.runtime.cpu_sqe import cpu_sqe, cpu_sqe_v200
from cannkit.runtime.kernel import AttrType, CpuFunction, CpuKernelType, Kernel, MixType, Part
from cannkit.runtime.kernel_facts import count_prefetch
from cannkit.runtime.launch_config import DEFAULT_CONFIG, LaunchConfig, TaskConfig, check_legacy
from cannkit.runtime.launch_env import (
    CREDIT_UNIT_US,
    LaunchEnv,
    QosConfig,
    QosEntry,
    StackPlaces,
)
from cannkit.runtime.task import CpuTask, KernelPlace, Task, make_task, place_kernel, simt_dcu_size
from cannkit.runtime.task_sqe import (
    core_sqe,
    kernel_sqe,
    mix_context,
    mix_sqe,
)
from cannkit.soc import Soc, find_soc
from tests.facts import A2_SOC, A5_SOC

Row = Mapping[str, Any]

SOC: Final = {"v100": find_soc(A2_SOC), "v200": find_soc(A5_SOC)}
CPU_CALLS: Final = ("cpu", "cpu_ex", "cpu_names", "fwk")
LEGACY_CALLS: Final = ("args_legacy", "default_key")
ID_MODES: Final = (IdMode.PLAIN, IdMode.SAME_TASK_ID, IdMode.SOFTWARE_QUEUE)
STACKS: Final = StackPlaces(0x1240_C000_0000, 0x1240_B000_0000, 0x1240_D000_0000, 32768)
TASK_FIELDS: Final = {
    "args": "args",
    "argsSize": "args_size",
    "blockDimOffset": "block_dim_offset",
    "dim": "dim",
    "dynamicShareMemSize": "dynamic_share_memory",
    "enableProfiling": "enable_profiling",
    "groupBlockDim": "group_block_dim",
    "groupDim": "group_dim",
    "kernelFlag": "kernel_flag",
    "mixOpt": "mix_opt",
    "partId": "part_id",
    "qos": "qos",
    "schemMode": "schem_mode",
    "simtDcuSmSize": "simt_dcu_size",
    "simtParamOffset": "simt_offset",
    "timeout": "timeout",
    "type": "type",
}


class Answer(NamedTuple):
    """What became of a row: the entry, the context of a mix, and what led there."""

    sqe: bytes
    context: bytes | None
    task: Task | CpuTask
    place: KernelPlace


def env_of(row: Row) -> LaunchEnv:
    device, launch = row["device"], row["launch"]
    qos = device.get("qosCfg")
    return LaunchEnv(
        stacks=StackPlaces(
            device.get("stack32", STACKS.large),
            device.get("stack16", STACKS.small),
            device.get("custStack", STACKS.custom),
            device.get("custStackSize", STACKS.custom_size),
        ),
        stream_id=launch.get("stream", 0),
        overflow_switch=bool(device.get("overflow")),
        debug_register=bool(device.get("debugReg")),
        bound=bool(device.get("bind")),
        writes_cqe=bool(device.get("dvpp")),
        biu_perf=bool(device.get("biuPerf")),
        l2_profiling=bool(device.get("l2Prof")),
        op_timeout=device.get("opTimeout"),
        op_timeout_in_ms=bool(device.get("opTimeoutMs")),
        credit_unit_us=device.get("intervalUs", CREDIT_UNIT_US),
        can_wait_forever=bool(device.get("neverTimeoutOk", 1)),
        online=bool(device.get("runMode", 1)),
        tsd_qos=device.get("tsdQos", 0),
        has_mc2=bool(device.get("mc2", 1)),
        scheduler_version=device.get("tschVersion", 36),
        id_mode=ID_MODES[device.get("idMode", 0)],
        qos=QosConfig(*(QosEntry(*entry) for entry in qos)) if qos else None,
        fails_context_copy=bool(device.get("failCtxCopy")),
        dies=device.get("dieNum", 2),
        has_hcom_cpu=bool(device.get("hcomCpu")),
        is_ub=bool(device.get("ub")),
    )


def kernel_of(row: Row) -> Kernel:
    """The kernel of a row as registration would have made it."""
    facts, soc = row["kernel"], SOC[row["family"]]
    params = facts.get("params")
    handle = "userParaNum" in facts
    kernel = Kernel(
        name="k",
        symbols=["k"],
        attr=AttrType(facts.get("attr", AttrType.AICPU)),
        mix=MixType(facts.get("mixType", 0)),
        tiling_key=0,
        entry_kind=EntryKind.TILING_KEY,
        func_type=FuncType.INVALID,
        task_ratio_value=facts.get("taskRation", 0),
        part1=Part(
            facts.get("off1", 0), facts.get("len1", 0), facts.get("minStack1", 0), 0, present=True
        ),
        part2=Part(
            facts.get("off2", 0),
            facts.get("len2", 0),
            facts.get("minStack2", 0),
            0,
            present=bool(facts.get("off2")),
        ),
        sched_mode=facts.get("schedMode", 0),
        vf_type=VfType(facts.get("vf", 0)),
        ub_size=facts.get("shareMem", 0),
        has_param_summary=params is not None,
        params=tuple(Param(offset=offset, size=size) for offset, size in params or ()),
        param_total_size=facts.get("paramTotal", 0),
        user_args=facts.get("userParaNum", 0),
        system_args=facts.get("sysParaNum", 0) if handle else 0,
        ffts_in_args=bool(facts.get("needFfts")),
        supports_overflow=bool(facts.get("ovfSupport")),
    )
    if "aicpuType" in facts:
        kernel.cpu = CpuFunction("op", "so", "func", CpuKernelType(facts["aicpuType"]))
    count_prefetch(kernel, soc)
    return kernel


def place_of(row: Row) -> KernelPlace:
    """Where the kernel of a row is; without one, as a launch by the default key has it."""
    facts = row.get("kernel")
    if not facts:
        return KernelPlace()
    second = facts["base"] + facts["off2"] if facts.get("off2") else None
    place = place_kernel(
        kernel_of(row),
        facts["base"] + facts["off1"],
        second,
        facts.get("progStack", 0),
        SOC[row["family"]],
    )
    return place._replace(dcache_lock=bool(facts.get("dcacheLock")))


def config_of(row: Row) -> TaskConfig:
    """Raises RtError for a config that is refused."""
    launch = row["launch"]
    if row["call"] not in LEGACY_CALLS:
        if launch.get("cfgAttrsNull"):
            return LaunchConfig(None).to_task()
        if "cfg" not in launch:
            return DEFAULT_CONFIG
        return LaunchConfig(tuple((key, value) for key, value in launch["cfg"])).to_task()
    legacy = launch.get("legacy") or {}
    config = TaskConfig(
        dump_flag=legacy.get("dumpflag", 0),
        schem_mode=legacy.get("schemMode", 2),
        local_memory=legacy.get("localMemorySize", 0),
        block_dim_offset=legacy.get("blockDimOffset", 0),
        qos=legacy.get("qos", 0),
        part_id=legacy.get("partId", 0),
        never_timeout=legacy.get("neverTimeout", 0),
        enable_profiling=legacy.get("enableProfiling", 0),
    )
    check_legacy(config)
    return config


def answer(row: Row) -> Answer:
    """Task and entry of a row that was launched, its arguments where the row says they are."""
    if row["call"] in CPU_CALLS:
        return _cpu_answer(row)
    place, env, launch, soc = place_of(row), env_of(row), row["launch"], SOC[row["family"]]
    config, told = config_of(row), row["result"]["task"]
    if row["call"].startswith("simt"):
        config = config._replace(local_memory=launch["dynUbuf"] & 0xFFFF_FFFF)
    task = make_task(place, launch.get("numBlocks") or row["result"]["numBlocks"], config, env)
    task = task._replace(
        args=told["args"],
        args_size=told["argsSize"],
        mix_opt=told["mixOpt"],
        simt_offset=told["simtParamOffset"],
    )
    if soc.library == "v200":
        if place.kernel is not None:
            task = task._replace(simt_dcu_size=simt_dcu_size(place, task.dynamic_share_memory))
        entry: Record = core_sqe(task, place, env, launch["taskSn"], count=count_of(row))
        return Answer(entry.encode(), None, task, place)
    if not place.mix:
        return Answer(kernel_sqe(task, place, env, launch["taskId"]).encode(), None, task, place)
    at = launch["slot"] if task.mix_opt else -(-launch["ctxBuf"] // 128) * 128
    entry = exchange_ids(mix_sqe(task, place, env, launch["taskId"], at), env.id_mode)
    return Answer(entry.encode(), mix_context(task, place, env).encode(), task, place)


def count_of(row: Row) -> int:
    """The task counter of the stream, or without one the number of the task."""
    count: int | None = row["device"].get("allocNum")
    return row["launch"]["taskSn"] if count is None else count


def _cpu_answer(row: Row) -> Answer:
    told, env, launch = row["result"]["task"], env_of(row), row["launch"]
    task = CpuTask(
        CpuKernelType(told["aicpuKernelType"]),
        told["dim"],
        flags=told["aicpuFlags"] or told["kernelFlag"],
        timeout=told["timeout"],
        args=told["args"],
        args_size=told["argsSize"],
        head_offset=told["headParamOffset"],
        so_name=told["soName"],
        func_name=told["funcName"],
    )
    if row["family"] == "v200":
        entry: Record = cpu_sqe_v200(task, env, launch["taskSn"], count=count_of(row))
    else:
        entry = cpu_sqe(task, env, launch["taskId"])
    return Answer(entry.encode(), None, task, KernelPlace())


def task_words(found: Answer) -> dict[str, int]:
    """The fields of the task record under the names of the rows."""
    words = {name: int(getattr(found.task, ours)) for name, ours in TASK_FIELDS.items()}
    return words | {"funcAddr": found.place.func1, "funcAddr1": found.place.func2}


def soc_of(row: Row) -> Soc:
    return SOC[row["family"]]
