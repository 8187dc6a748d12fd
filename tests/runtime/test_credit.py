"""Kernel credit. Spec 04, section 3.5 and W-14."""

from __future__ import annotations

import pytest

from cannkit.runtime.credit import core_credit, cpu_credit
from cannkit.runtime.launch_config import ALL_ONES, SECOND
from cannkit.runtime.launch_env import LaunchEnv

DEFAULT = LaunchEnv()
UNIT = 4_294_968  # us, rounded up


def both(timeout: int, env: LaunchEnv = DEFAULT) -> tuple[int, int, int, int]:
    """AI Core on A2 and A5, AI CPU on A2 and A5."""
    core = [core_credit(timeout, env, v200=v200) for v200 in (False, True)]
    cpu = [cpu_credit(timeout, 2, env, dumps=False, v200=v200) for v200 in (False, True)]
    return (core[0], core[1], cpu[0], cpu[1])


@pytest.mark.parametrize(
    ("timeout", "wanted"),
    [
        (0, (254, 253, 254, 253)),
        (ALL_ONES, (255, 255, 255, 255)),
        (ALL_ONES - 1, (254, 253, 255, 255)),  # too long for an AI CPU: never
        (1, (1, 0, 5, 4)),
        (1 * SECOND, (1, 0, 5, 4)),
        (UNIT - 1, (1, 0, 5, 4)),
        (UNIT, (2, 1, 6, 5)),
        (10 * SECOND, (3, 2, 7, 6)),
        (245 * UNIT, (246, 245, 250, 249)),
        (249 * UNIT, (250, 249, 250, 249)),  # no margin from 250 on
        (1_091 * SECOND, (254, 253, 254, 253)),
        (1_091 * SECOND + 1, (254, 253, 255, 255)),
    ],
)
def test_task_timeout(timeout: int, wanted: tuple[int, int, int, int]) -> None:
    """LCH-52, LCH-53."""
    assert both(timeout) == wanted


@pytest.mark.parametrize(
    ("op_timeout", "in_ms", "wanted"),
    [
        (10 * SECOND, False, (3, 2, 7, 6)),
        (0, False, (254, 253, 254, 253)),
        (0, True, (255, 255, 254, 253)),
        (1 << 60, False, (254, 253, 254, 253)),
    ],
)
def test_operator_timeout(op_timeout: int, in_ms: bool, wanted: tuple[int, int, int, int]) -> None:
    """W-14; a process-wide value never gives 255 on the AI CPU."""
    env = DEFAULT._replace(op_timeout=op_timeout, op_timeout_in_ms=in_ms)
    assert both(0, env) == wanted
    assert both(1, env) == (1, 0, 5, 4), "the task's own comes first"


def test_unit_of_the_device() -> None:
    """LCH-52: unless the device reports another interval."""
    assert both(2_000, DEFAULT._replace(credit_unit_us=1000.0)) == (2, 1, 6, 5)
    assert both(5, DEFAULT._replace(credit_unit_us=0.0))[:2] == (254, 253)


def test_ai_cpu_alone() -> None:
    """LCH-53: kernel types, offline, dump, old firmware."""
    far = 1_091 * SECOND + 1
    offline = DEFAULT._replace(online=False)
    assert cpu_credit(far, 2, offline, dumps=False, v200=False) == 254
    assert cpu_credit(far, 5, offline, dumps=False, v200=False) == 255
    assert cpu_credit(far, 6, offline, dumps=False, v200=False) == 255
    for v200 in (False, True):
        assert cpu_credit(ALL_ONES, 2, DEFAULT, dumps=True, v200=v200) == 254
        assert cpu_credit(1, 2, DEFAULT, dumps=True, v200=v200) == 254
    old = DEFAULT._replace(scheduler_version=0x10022)
    assert cpu_credit(ALL_ONES, 2, old, dumps=False, v200=False) == 254
    assert cpu_credit(ALL_ONES, 2, old, dumps=False, v200=True) == 255
    assert cpu_credit(1, 2, old, dumps=False, v200=False) == 5
