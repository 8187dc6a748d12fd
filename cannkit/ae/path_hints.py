"""What to look at when a library was not found, or another one than meant. Spec 05, AE-1208."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.ae.fwk_path import TF_KERNELS
from cannkit.ae.so_path import CUST_TYPES, IN_OLD_ROOT, OLD_ROOT
from cannkit.ae.so_walk import Resolution
from cannkit.errors import brief
from cannkit.format.ae_status import AeStatus

LEVELS_HINT: Final = (
    "it is looked for in its own directory, then in /usr/lib64/aicpu_kernels/, then in the folder of the "
    "host process: none of them has it"
)
CUST_HINT: Final = (
    "the ordinary scheduler refuses custom types outside thread mode (21008): they run in cust-sd"
)


def resolution_hints(kernel_type: int, resolution: Resolution) -> Iterator[str]:
    """What to know of a search."""
    name = resolution.so_name
    if name in IN_OLD_ROOT and kernel_type not in CUST_TYPES:
        yield f"{' and '.join(IN_OLD_ROOT)} are looked for in {OLD_ROOT} itself, whatever the vf"
    if any(decision.rule == "AE-602.2" for decision in resolution.decisions):
        yield CUST_HINT
    if is_renamed_tf(name):
        yield f"only the exact name {TF_KERNELS} goes to the framework lib: {name} goes to aicpu"
    absent = [attempt.exists is False for attempt in resolution.attempts]
    if resolution.status == AeStatus.OPEN_SO_FAILED and len(absent) > 2 and all(absent):
        yield LEVELS_HINT
    if resolution.status == AeStatus.BAD_PARAM and "/" in name:
        yield f"a task names the file, not its path: {brief(name.rpartition('/')[2])}"


def is_renamed_tf(name: str) -> bool:
    """Whether a name looks like TensorFlow's kernels, but is not theirs."""
    return name != TF_KERNELS and name.startswith("libtf_kernels")
