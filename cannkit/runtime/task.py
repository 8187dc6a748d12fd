"""Task: one launch as the runtime holds it, and every value derived for it. Spec 04, section 3."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.device.stacks import LARGE_STACK, SMALL_STACK, stack_level
from cannkit.errors import UsageError, brief
from cannkit.format.ascend_meta import VfType
from cannkit.format.bits import OpenEnum
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import PAIRED, AttrType, CpuKernelType, Kernel, MixType
from cannkit.runtime.kernel_facts import launch_prefetch
from cannkit.runtime.launch_config import ALL_ONES, UNSET_SCHEM, TaskConfig
from cannkit.runtime.launch_env import LaunchEnv, StackPlaces
from cannkit.soc import Soc

MOST_BLOCKS: Final = 0xFFFF
UB: Final = 262_144  # LCH-48, bytes
UB_FOR_SIMT: Final = 229_376
UB_ALIGN: Final = 128
SIMT: Final = (VfType.SIMT_VF, VfType.SIMD_SIMT_MIX)


class TaskType(OpenEnum):
    """ts_task_type, as far as kernels go."""

    KERNEL_AICORE = 0
    KERNEL_AICPU = 1
    KERNEL_AIVEC = 66


class KernelFlag(OpenEnum):
    """LCH-45."""

    CONVERT = 0x1
    DATA_DUMP = 0x2
    FUSION_DUMP = 0x4
    CUSTOM_AICPU = 0x8
    DEVICE_FIRST = 0x10
    HOST_ONLY = 0x20
    HOST_FIRST = 0x40
    BIU_PERF = 0x80
    SPECIAL_TIMEOUT = 0x100


class KernelPlace(NamedTuple):
    """A kernel on a device: where its halves start (0 for none), and what follows from it.

    `prefetch` counts units of code for both halves, `min_stacks` bytes for both, `program_stack` is
    what its program declares. `kernel` is None for a launch without a kernel object (Q-14).
    """

    kernel: Kernel | None = None
    func1: int = 0
    func2: int = 0
    attr: AttrType = AttrType.AICORE
    mix: MixType = MixType.NO_MIX
    ratio: int = 0
    prefetch: tuple[int, int] = (0, 0)
    min_stacks: tuple[int, int] = (0, 0)
    program_stack: int = 0
    dcache_lock: bool = False
    schem_mode: int = 0
    vf_type: VfType = VfType.NONE
    share_memory: int = 0

    @property
    def is_paired(self) -> bool:
        """Whether cube and vector work together."""
        return self.mix in PAIRED


class Task(NamedTuple):
    """TaskInfo of an AI Core launch. `args` is where the argument block lies on the device.

    `simt_offset` bytes of it come before the first parameter of a SIMT kernel. `timeout` is in us,
    0 for the default, all ones for never.
    """

    type: TaskType
    dim: int
    kernel_flag: int
    schem_mode: int
    qos: int
    part_id: int
    dynamic_share_memory: int
    block_dim_offset: int
    enable_profiling: int
    timeout: int
    simt_dcu_size: int = UB
    args: int = 0
    args_size: int = 0
    mix_opt: int = 0
    simt_offset: int = 0
    group_dim: int = 0
    group_block_dim: int = 0

    @property
    def dumps(self) -> bool:
        """Whether its data are dumped."""
        return bool(self.kernel_flag & KernelFlag.DATA_DUMP)


class CpuTask(NamedTuple):
    """TaskInfo of an AI CPU launch; addresses are the device's. LCH-46."""

    kernel_type: CpuKernelType
    dim: int
    flags: int = 0
    timeout: int = 0
    args: int = 0
    args_size: int = 0
    head_offset: int = 0
    so_name: int = 0
    func_name: int = 0

    @property
    def type(self) -> TaskType:
        """Always the same."""
        return TaskType.KERNEL_AICPU

    @property
    def kernel_flag(self) -> int:
        """The low 8 bits of its flags."""
        return self.flags & 0xFF

    @property
    def dumps(self) -> bool:
        """Whether its data are dumped."""
        return bool(self.flags & KernelFlag.DATA_DUMP)


def place_kernel(
    kernel: Kernel, pc1: int, pc2: int | None, program_stack: int, soc: Soc
) -> KernelPlace:
    """LCH-47: a kernel whose halves start at `pc1` and `pc2` on the device.

    Raises RtError INVALID_VALUE (107000) for a mix whose second half is not there, or starts the
    image, which the original takes for not there (Q-3); for an unknown attribute (Q-22).
    """
    if kernel.mix in PAIRED and (pc2 is None or not kernel.part2.offset):
        what = "its second half is missing"
        if pc2 is not None:
            what = "its AIV half starts the image: the runtime takes offset 0 for no AIV half (Q-3)"
        raise RtError(
            RtStatus.INVALID_VALUE, "cannot launch a mix kernel", where=brief(kernel.name), why=what
        )
    prefetch: tuple[int, int] | None = kernel.part1.prefetch, kernel.part2.prefetch
    if soc.library == "v100":
        prefetch = launch_prefetch(kernel, soc)
    if prefetch is None:
        why = f"its attribute {kernel.attr.name} says nothing of its cores"
        raise RtError(RtStatus.INVALID_VALUE, "cannot launch", where=brief(kernel.name), why=why)
    return KernelPlace(
        kernel=kernel,
        func1=pc1,
        func2=pc2 or 0 if kernel.part2.offset else 0,
        attr=kernel.attr,
        mix=kernel.mix,
        ratio=kernel.task_ratio_value,
        prefetch=prefetch,
        min_stacks=(kernel.part1.min_stack, kernel.part2.min_stack),
        program_stack=program_stack,
        schem_mode=kernel.sched_mode & 0xFF,
        vf_type=kernel.vf_type,
        share_memory=kernel.ub_size,
    )


def make_task(
    place: KernelPlace,
    blocks: int,
    config: TaskConfig,
    env: LaunchEnv,
    *,
    args: int = 0,
    args_size: int = 0,
    simt_offset: int = 0,
    simt_dcu_size: int = UB,
    mix_opt: int = 0,
) -> Task:
    """AicTaskInit: the task of a launch whose arguments lie at `args`. Spec 04, 3.1."""
    timeout = ALL_ONES if config.never_timeout == 1 else 0
    if config.timeout is not None:
        timeout = config.timeout
    if timeout == ALL_ONES and not env.can_wait_forever:
        timeout = ALL_ONES - 1
    return Task(
        TaskType.KERNEL_AIVEC if place.attr is AttrType.VECTOR else TaskType.KERNEL_AICORE,
        blocks & MOST_BLOCKS,
        config.kernel_flag,
        place.schem_mode if config.schem_mode == UNSET_SCHEM else config.schem_mode,
        config.qos,
        config.part_id,
        config.local_memory,
        config.block_dim_offset,
        config.enable_profiling & 1,
        timeout,
        simt_dcu_size,
        args,
        args_size,
        mix_opt,
        simt_offset,
    )


def check_blocks(blocks: int) -> None:
    """Q-1: a block count is what fits 16 bits. Raises RtError INVALID_VALUE (107000) for any other."""
    if not isinstance(blocks, int):
        raise UsageError(f"the block count is a {type(blocks).__name__}, not a whole number")
    if blocks == 0:
        raise RtError(RtStatus.INVALID_VALUE, "cannot launch 0 blocks")
    if not 0 < blocks <= MOST_BLOCKS:
        asked = f"{blocks}" if abs(blocks) >> 128 == 0 else brief(hex(blocks), 32)
        why = f"it has 16 bits, the original would launch {blocks & MOST_BLOCKS} blocks"
        raise RtError(RtStatus.INVALID_VALUE, f"cannot launch {asked} blocks", why=why)


def simt_dcu_size(place: KernelPlace, dynamic: int) -> int:
    """LCH-48: bytes of unified buffer for the data cache unit, A5 only. Q-13: nothing wraps.

    Raises RtError INVALID_VALUE (107000) where static and dynamic memory exceed what there is.
    """
    is_simt = place.vf_type in SIMT
    total = place.share_memory + dynamic
    most = UB_FOR_SIMT if is_simt else UB if place.vf_type else 0
    if is_simt:
        total = -(-total // UB_ALIGN) * UB_ALIGN
    if total > most:
        why = f"static {place.share_memory} and dynamic {dynamic} bytes make {total}, there are {most}"
        if not place.vf_type:
            why = f"the kernel does not state its vector type, so it has no unified buffer of its own: {why}"
        raise RtError(RtStatus.INVALID_VALUE, "too much unified buffer", why=why)
    return total if is_simt else UB


def stack_place(place: KernelPlace, stacks: StackPlaces, *, v200: bool) -> tuple[int, int]:
    """LCH-54, LCH-55: where the stacks of a kernel lie, and their level."""
    need = place.min_stacks[0]
    if not v200 and place.mix:
        need = max(place.min_stacks)
        if not need and place.program_stack == SMALL_STACK:
            return stacks.small, 0
    if need > LARGE_STACK:
        return stacks.custom, stack_level(stacks.custom_size)
    return stacks.large, 0


def expand_blocks(place: KernelPlace, blocks: int) -> tuple[int, int]:
    """LCH-50: how many blocks run on AIC and AIV."""
    if place.mix is MixType.MIX_AIC_AIV_MAIN_AIC:
        return blocks, blocks * (place.ratio & 0xFF)
    if place.mix is MixType.MIX_AIC_AIV_MAIN_AIV:
        return blocks * (place.ratio & 0xFF), blocks
    if place.attr is AttrType.VECTOR or place.mix is MixType.MIX_AIV:
        return 0, blocks
    return blocks, 0
