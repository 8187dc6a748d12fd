"""In which directories the engine looks for a library: pure rules over a context. Spec 05, section 6."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from cannkit.ae.context import (
    CUST_PATH,
    HOME,
    INNER_PATH,
    VIRTUAL_DEVICES,
    AeContext,
    byte_length,
)
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.format.cpu_kernel import CUST_TYPES as CUST_TYPES
from cannkit.inputs.real_path import PATH_LIMIT

SYSTEM_ROOT: Final = "/usr/lib64/aicpu_kernels/"
OLD_ROOT: Final = "/usr/lib64/"
SO_NAME_LIMIT: Final = 100  # of a call
CUST_USER: Final = "/home/CustAiCpuUser"
UNPACKED: Final = "aicpu_kernels_device/"
IN_SYSTEM_ROOT: Final = "libretr_kernels.so"
IN_OLD_ROOT: Final = ("libhccl_operator_call.so", "libbuiltin_kernels.so")

_is_so_name = re.compile(r"[A-Za-z0-9._-]+").fullmatch


OK: Final = AeStatus.SUCCESS
INNER_ERROR: Final = AeStatus.INNER_ERROR


class Decision(NamedTuple):
    """A rule that was asked, its condition, and whether it was the one that counted."""

    rule: str
    condition: str
    taken: bool


class Settings(NamedTuple):
    """What a so manager keeps from its start. AE-505: `status` is 11006 for a bad variable, `why` names it.

    A path ends with a slash; None is an unset variable.
    """

    run_mode: RunMode
    inner_path: str | None
    cust_path: str | None
    status: AeStatus = OK
    why: str = ""


class Placement(NamedTuple):
    """The directory of a library, or the status instead. AE-603."""

    directory: str | None
    status: AeStatus
    decisions: tuple[Decision, ...]
    why: str = ""


def vf_suffix(vf: int) -> str:
    """AE-601: S(vf), put behind a directory without a slash between."""
    if vf in VIRTUAL_DEVICES:
        vf = (vf - VIRTUAL_DEVICES.start) // 2 + 1
    return f"{vf}/" if vf else "/"


def cust_folder(context: AeContext) -> str:
    """AE-605: the folder of the custom libraries of a host process."""
    return f"cust_aicpu_{context.device}_{context.vf}_{context.pid}/"


def cust_lib(vf: int) -> str:
    """AE-607: the text that the second condition of the guard looks for."""
    return f"{CUST_USER}{vf_suffix(vf)}lib/"


def is_so_name(name: str) -> bool:
    """Section 6: letters, digits, `-`, `_` and `.` only, and not empty."""
    return _is_so_name(name) is not None


def read_settings(context: AeContext) -> Settings:
    """AE-505: what a so manager reads when its kernel lib is made."""
    mode, env = context.run_mode, context.env
    if context.mode_fails:
        return Settings(mode, None, None, INNER_ERROR, "the run mode cannot be read")
    paths: list[str | None] = []
    for name in (INNER_PATH, CUST_PATH):
        value = env.get(name)
        if value is not None:
            size = byte_length(value)
            if not 0 < size < PATH_LIMIT:
                state = "set, but empty" if not size else f"{size} bytes long (at most 4095)"
                return Settings(mode, None, None, INNER_ERROR, f"{name} is {state}")
            value = value if value.endswith("/") else value + "/"
        paths.append(value)
    inner_path, cust_path = paths
    return Settings(mode, inner_path, cust_path)


def place(kernel_type: int, name: str, settings: Settings, context: AeContext) -> Placement:
    """AE-603: the directory of the first level."""
    if kernel_type in CUST_TYPES:
        return _place_cust(settings, context)
    return _place_inner(name, settings, context)


def level_directories(first: str, context: AeContext) -> tuple[str | None, ...]:
    """AE-606: the directories that are tried one after the other; None where the last is not known."""
    if first == SYSTEM_ROOT:
        return (first,)
    third = None if context.context_fails else f"{first}{context.pid}_{context.device}/"
    return first, SYSTEM_ROOT, third


def _place_inner(name: str, settings: Settings, context: AeContext) -> Placement:
    is_thread = context.run_mode == RunMode.THREAD
    unpacked = f"{context.vf}/{UNPACKED}"
    if is_thread and settings.inner_path is not None:
        at, directory = 0, settings.inner_path
    elif name == IN_SYSTEM_ROOT:
        at, directory = 1, SYSTEM_ROOT
    elif name in IN_OLD_ROOT:
        at, directory = 2, OLD_ROOT
    elif is_thread and (home := home_of(context)):
        at, directory = 3, f"{home}aicpu_kernels/{unpacked}"
    elif context.context_fails:  # this rule alone asks for the whole context
        return Placement(None, INNER_ERROR, INNER_STORIES[4], NO_CONTEXT)
    else:
        at, directory = 4, SYSTEM_ROOT + unpacked
    return Placement(directory, OK, INNER_STORIES[at])


def _place_cust(settings: Settings, context: AeContext) -> Placement:
    why, prefix = "", ""
    if settings.cust_path is not None:
        at, prefix = 0, settings.cust_path
    elif context.run_mode == RunMode.PCIE:
        at, prefix = 1, CUST_USER + vf_suffix(context.vf)
    elif context.run_mode == RunMode.SOCKET:
        at, home = 2, context.env.get(HOME)
        if home is None:
            why = "HOME is not set"
        else:
            prefix = home + vf_suffix(context.vf)
    else:
        at, prefix = 3, home_of(context)
        if not prefix:
            why = "HOME is not set, empty, or has 4096 bytes or more"
    if context.context_fails:
        why = why or NO_CONTEXT
    if why:
        return Placement(None, INNER_ERROR, CUST_STORIES[at], why)
    return Placement(prefix + cust_folder(context), OK, CUST_STORIES[at])


def home_of(context: AeContext) -> str:
    """HOME with a slash behind it; empty where it has not 1 to 4095 bytes."""
    home = context.env.get(HOME, "")
    if not 0 < byte_length(home) < PATH_LIMIT:
        return ""
    return home if home.endswith("/") else home + "/"


def _stories(*rules: tuple[str, str]) -> tuple[tuple[Decision, ...], ...]:
    """For each rule that may be the one taken: those before it, and itself."""
    asked = [Decision(*rule, taken=False) for rule in rules]
    return tuple((*asked[:at], Decision(*rule, taken=True)) for at, rule in enumerate(rules))


NO_CONTEXT: Final = "for which host process it works cannot be read"
INNER_STORIES: Final = _stories(
    ("AE-604.1", f"thread mode, and {INNER_PATH} is set"),
    ("AE-604.2", f"the library is {IN_SYSTEM_ROOT}"),
    ("AE-604.3", f"the library is {' or '.join(IN_OLD_ROOT)}"),
    ("AE-604.4", "thread mode, and HOME has 1 to 4095 bytes"),
    ("AE-604.5", "otherwise: below the system root, by vf"),
)
CUST_STORIES: Final = _stories(
    ("AE-605.1", f"{CUST_PATH} is set"),
    ("AE-605.2", "PCIe mode: the home of CustAiCpuUser, by vf"),
    ("AE-605.3", "socket mode: HOME, by vf"),
    ("AE-605.4", "thread or any other mode: HOME, whatever the vf"),
)
