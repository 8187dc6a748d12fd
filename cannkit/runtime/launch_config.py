"""LaunchConfig and TaskConfig: what a launch asks for beside kernel, blocks and arguments. 04, 1.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Self

from cannkit.format.bits import OpenEnum
from cannkit.format.status import RtError, RtStatus

ALL_ONES: Final = (1 << 64) - 1  # never, as a timeout
SECOND: Final = 1_000_000  # in us
UNSET_SCHEM: Final = 2  # LCH-13
DUMP_FLAGS: Final = (2, 4)  # data dump, fusion dump


class LaunchAttribute(OpenEnum):
    """aclrtLaunchKernelAttrId."""

    SCHEM_MODE = 1
    DYN_UBUF_SIZE = 2
    ENGINE_TYPE = 3
    BLOCKDIM_OFFSET = 4
    BLOCK_TASK_PREFETCH = 5
    DATA_DUMP = 6
    TIMEOUT = 7
    TIMEOUT_US = 8
    ENABLE_PROFILING = 9


class SchemMode(OpenEnum):
    """Whether all blocks must be on cores at the same time."""

    NORMAL = 0
    BATCH = 1


# The largest value that fits the union member of an attribute (LCH-12 checks SWITCHES closer).
LARGEST: Final = {
    LaunchAttribute.SCHEM_MODE: 0xFF,
    LaunchAttribute.DYN_UBUF_SIZE: 0xFFFF_FFFF,
    LaunchAttribute.ENGINE_TYPE: 0xFFFF_FFFF,
    LaunchAttribute.BLOCKDIM_OFFSET: 0xFFFF_FFFF,
    LaunchAttribute.BLOCK_TASK_PREFETCH: 0xFF,
    LaunchAttribute.DATA_DUMP: 0xFF,
    LaunchAttribute.TIMEOUT: 0xFFFF,
    LaunchAttribute.TIMEOUT_US: ALL_ONES,
    LaunchAttribute.ENABLE_PROFILING: 0xFF,
}
SWITCHES: Final = (
    LaunchAttribute.SCHEM_MODE,
    LaunchAttribute.BLOCK_TASK_PREFETCH,
    LaunchAttribute.DATA_DUMP,
    LaunchAttribute.ENABLE_PROFILING,
)


class TaskConfig(NamedTuple):
    """rtTaskCfgInfo_t: what goes into a task. `schem_mode` 2 leaves it to the kernel.

    The attributes of a LaunchConfig become one, with `timeout` in us, 0 for the default and all
    ones for never (LCH-13, LCH-14). A legacy launch gives its own, with `timeout` None (LCH-16).
    """

    dump_flag: int = 0
    schem_mode: int = UNSET_SCHEM
    local_memory: int = 0
    block_dim_offset: int = 0
    qos: int = 0
    part_id: int = 0
    never_timeout: int = 0
    enable_profiling: int = 0
    timeout: int | None = None
    prefetch: bool = False  # LCH-15

    @property
    def kernel_flag(self) -> int:
        """Bits of LCH-45, as far as they come from here."""
        return self.dump_flag if self.dump_flag in DUMP_FLAGS else 0


class LaunchConfig(NamedTuple):
    """aclrtLaunchKernelCfg: attributes (id, value) in order; None stands for a null pointer."""

    attributes: Sequence[tuple[int, int]] | None = ()

    @classmethod
    def of(
        cls,
        *,
        sched_mode: int | None = None,
        local_memory: int | None = None,
        timeout_us: int | None = None,
        data_dump: int | None = None,
    ) -> Self:
        """A config of the attributes that are given; sizes in bytes."""
        given = (
            (LaunchAttribute.SCHEM_MODE, sched_mode),
            (LaunchAttribute.DYN_UBUF_SIZE, local_memory),
            (LaunchAttribute.TIMEOUT_US, timeout_us),
            (LaunchAttribute.DATA_DUMP, data_dump),
        )
        return cls(tuple((key, value) for key, value in given if value is not None))

    @property
    def repeated(self) -> tuple[LaunchAttribute, ...]:
        """Q-27: attributes of which only the last value counts."""
        ids = [key for key, _ in self.attributes or ()]
        return tuple(LaunchAttribute(key) for key in dict.fromkeys(ids) if ids.count(key) > 1)

    def to_task(self) -> TaskConfig:
        """LCH-12 to LCH-14: the attributes checked and converted.

        Raises RtError INVALID_VALUE (107000): null attributes, a value out of range, an unknown id,
        both timeouts.
        """
        if self.attributes is None:
            raise _invalid("null attributes")
        last = {LaunchAttribute(key): value for key, value in self.attributes}
        for key, value in last.items():
            largest = 1 if key in SWITCHES else LARGEST.get(key, ALL_ONES)
            if not 0 <= value <= largest:
                raise _invalid(f"{key.name} is {value}, not in 0..{largest}")
        if LaunchAttribute.TIMEOUT in last and LaunchAttribute.TIMEOUT_US in last:
            raise _invalid("TIMEOUT and TIMEOUT_US exclude each other")
        for key in last:
            if key not in LARGEST:
                raise _invalid(f"there is no attribute {int(key)}")
        seconds = last.get(LaunchAttribute.TIMEOUT)
        timeout = last.get(LaunchAttribute.TIMEOUT_US) if seconds is None else seconds * SECOND
        return TaskConfig(
            dump_flag=2 * last.get(LaunchAttribute.DATA_DUMP, 0),
            schem_mode=last.get(LaunchAttribute.SCHEM_MODE, UNSET_SCHEM),
            local_memory=last.get(LaunchAttribute.DYN_UBUF_SIZE, 0),
            block_dim_offset=last.get(LaunchAttribute.BLOCKDIM_OFFSET, 0),
            enable_profiling=last.get(LaunchAttribute.ENABLE_PROFILING, 0),
            timeout=0 if timeout is None else task_timeout(timeout),
            prefetch=bool(last.get(LaunchAttribute.BLOCK_TASK_PREFETCH)),
        )


def task_timeout(timeout: int) -> int:
    """LCH-14: a timeout of the API in us as a task holds it; 0 is never there."""
    if timeout == 0:
        return ALL_ONES
    return min(timeout, ALL_ONES - 1)


DEFAULT_CONFIG: Final = TaskConfig(timeout=0)  # LCH-13: of a launch without a config


def check_legacy(config: TaskConfig) -> None:
    """LCH-7: the scheduling mode of a legacy launch. Raises RtError INVALID_VALUE (107000)."""
    if config.schem_mode > UNSET_SCHEM:
        raise _invalid(f"the scheduling mode is {config.schem_mode}, not in 0..{UNSET_SCHEM}")


def _invalid(why: str) -> RtError:
    return RtError(RtStatus.INVALID_VALUE, "unusable launch config", why=why)
