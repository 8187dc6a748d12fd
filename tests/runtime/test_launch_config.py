"""Launch configs checked and converted. Spec 04, section 1.4 and W-14."""

from __future__ import annotations

import pytest

from cannkit.format.status import AclStatus, RtError
from cannkit.runtime.launch_config import (
    ALL_ONES,
    DEFAULT_CONFIG,
    LaunchAttribute,
    LaunchConfig,
    TaskConfig,
    check_legacy,
)

NAMES = {attribute.name: int(attribute) for attribute in LaunchAttribute}


def converted(*attributes: tuple[int, int]) -> TaskConfig:
    return LaunchConfig(attributes).to_task()


def test_numbers() -> None:
    """04, 1.4."""
    assert NAMES == {
        "SCHEM_MODE": 1,
        "DYN_UBUF_SIZE": 2,
        "ENGINE_TYPE": 3,
        "BLOCKDIM_OFFSET": 4,
        "BLOCK_TASK_PREFETCH": 5,
        "DATA_DUMP": 6,
        "TIMEOUT": 7,
        "TIMEOUT_US": 8,
        "ENABLE_PROFILING": 9,
    }


def test_without_attributes() -> None:
    """LCH-13: no config and an empty one are the same: timeout 0, schem unset."""
    assert converted() == DEFAULT_CONFIG
    assert TaskConfig(schem_mode=2, timeout=0) == DEFAULT_CONFIG


def test_every_attribute() -> None:
    config = converted((1, 1), (2, 4096), (4, 7), (5, 1), (6, 1), (8, 30), (9, 1))
    assert config == TaskConfig(
        dump_flag=2,
        schem_mode=1,
        local_memory=4096,
        block_dim_offset=7,
        enable_profiling=1,
        timeout=30,
        prefetch=True,
    )
    assert config.kernel_flag == 2


@pytest.mark.parametrize(
    ("attribute", "timeout"),
    [
        ((7, 0), ALL_ONES),
        ((7, 10), 10_000_000),
        ((8, 0), ALL_ONES),
        ((8, 1), 1),
        ((8, ALL_ONES), ALL_ONES - 1),
    ],
)
def test_timeouts(attribute: tuple[int, int], timeout: int) -> None:
    """LCH-14: 0 is never, all ones one less."""
    assert converted(attribute).timeout == timeout


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        (None, "null attributes"),
        (((1, 2),), "SCHEM_MODE is 2"),
        (((5, 2),), "BLOCK_TASK_PREFETCH is 2"),
        (((6, 255),), "DATA_DUMP is 255"),
        (((9, 2),), "ENABLE_PROFILING is 2"),
        (((2, 1 << 32),), "DYN_UBUF_SIZE is 4294967296"),
        (((2, -1),), "DYN_UBUF_SIZE is -1"),
        (((7, 1), (8, 1)), "exclude each other"),
        (((8, 1), (7, 1)), "exclude each other"),
        (((10, 0),), "there is no attribute 10"),
        (((0, 0),), "there is no attribute 0"),
    ],
)
def test_refused(attributes: tuple[tuple[int, int], ...] | None, why: str) -> None:
    """LCH-12: each is 107000."""
    with pytest.raises(RtError, match=why) as caught:
        LaunchConfig(attributes).to_task()
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID


def test_the_last_value_counts() -> None:
    """LCH-12, Q-27: a bad value followed by a good one passes, and is worth a word."""
    config = LaunchConfig(((6, 2), (6, 1)))
    assert config.to_task().dump_flag == 2
    assert config.repeated == (LaunchAttribute.DATA_DUMP,)
    assert LaunchConfig(((1, 0), (6, 1))).repeated == ()
    with pytest.raises(RtError):
        LaunchConfig(((6, 1), (6, 2))).to_task()


def test_by_name() -> None:
    asked = LaunchConfig.of(sched_mode=1, local_memory=64, timeout_us=5, data_dump=0)
    assert asked.attributes == ((1, 1), (2, 64), (8, 5), (6, 0))
    assert LaunchConfig.of().attributes == ()


def test_legacy() -> None:
    """LCH-7, LCH-16: modes up to 2; a dump flag other than 2 and 4 is no flag."""
    check_legacy(TaskConfig(schem_mode=2))
    with pytest.raises(RtError, match="scheduling mode is 3"):
        check_legacy(TaskConfig(schem_mode=3))
    assert [TaskConfig(dump_flag=flag).kernel_flag for flag in (0, 1, 2, 4, 6)] == [0, 0, 2, 4, 0]
    assert TaskConfig().timeout is None
