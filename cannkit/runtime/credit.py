"""Kernel credit: the timeout of a task as a number of 8 bits. Spec 04, section 3.5."""

from __future__ import annotations

from typing import Final

from cannkit.runtime.launch_config import ALL_ONES
from cannkit.runtime.launch_env import PICO, LaunchEnv

NEVER: Final = 255
LARGEST: Final = 254
CPU_MARGIN: Final = 4  # LCH-53
MARGIN_BELOW: Final = 250
CPU_LIMIT_US: Final = 1_091_000_000
KFC_TYPES: Final = (5, 6)
OLD_SCHEDULER: Final = 35  # before that version there was no "never" for the AI CPU


def core_credit(timeout: int, env: LaunchEnv, *, v200: bool) -> int:
    """LCH-52: of an AI Core task with `timeout` in us, all ones for never, 0 for the default."""
    if timeout == ALL_ONES:
        credit = NEVER
    elif timeout:
        credit = _units(timeout, env)
    elif env.op_timeout is None:
        credit = LARGEST
    elif env.op_timeout == 0:
        credit = NEVER if env.op_timeout_in_ms else LARGEST
    else:
        credit = _units(env.op_timeout, env)
    return _stored(credit, v200=v200)


def cpu_credit(timeout: int, kernel_type: int, env: LaunchEnv, *, dumps: bool, v200: bool) -> int:
    """LCH-53: of an AI CPU task."""
    too_long = timeout > CPU_LIMIT_US and (env.online or kernel_type in KFC_TYPES)
    if timeout == ALL_ONES or too_long:
        credit = NEVER
    else:
        time = timeout or env.op_timeout or 0
        credit = _units(time, env) if time else LARGEST
        credit += CPU_MARGIN if credit < MARGIN_BELOW else 0
    credit = _stored(credit, v200=v200)
    if dumps:
        credit = LARGEST
    if not v200 and credit == NEVER and env.scheduler_version & 0xFFFF < OLD_SCHEDULER:
        credit = LARGEST
    return credit


def _units(timeout: int, env: LaunchEnv) -> int:
    unit = round(env.credit_unit_us * PICO)
    return min(LARGEST, -(-timeout * PICO // unit)) if unit > 0 else LARGEST


def _stored(credit: int, *, v200: bool) -> int:
    """A5 stores one less, for the hardware adds it."""
    return credit - 1 if v200 and 0 < credit < NEVER else credit
