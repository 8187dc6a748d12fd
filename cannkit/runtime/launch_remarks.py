"""What is worth a word about a launch that the runtime accepts. Spec 04, section 10."""

from __future__ import annotations

from typing import Final

from cannkit.device.trace import Finding, Severity
from cannkit.format.ascend_meta import VfType
from cannkit.runtime.launch_config import LaunchConfig, TaskConfig
from cannkit.runtime.task import KernelPlace, Task
from cannkit.soc import Soc

LARGEST_SIZE: Final = 0xFFFF


def launch_remarks(
    place: KernelPlace, task: Task, config: TaskConfig, asked: LaunchConfig | None, soc: Soc
) -> tuple[Finding, ...]:
    """What was asked for and has no effect, or another than it seems."""
    found = [
        ("Q-27", f"{attribute.name} is given more than once: the last value counts")
        for attribute in (asked.repeated if asked else ())
    ]
    if config.block_dim_offset:
        found.append(("Q-26", "the block offset reaches no entry: it has no effect"))
    if soc.library == "v100" and place.mix:
        if task.args_size > LARGEST_SIZE:
            kept = task.args_size & LARGEST_SIZE
            found.append(("Q-8", f"the context keeps {kept} of {task.args_size} argument bytes"))
        if task.qos or task.part_id:
            found.append(("Q-9", "a mix entry has neither qos nor part id: they have no effect"))
    if soc.library == "v200" and place.vf_type is VfType.SIMD_VF:
        wanted = place.share_memory + task.dynamic_share_memory
        there = soc.facts.get("ub_bytes")
        if isinstance(there, int) and wanted > there:
            found.append(("LCH-48", f"{wanted} bytes of unified buffer, {soc.name} has {there}"))
    return tuple(Finding(rule, Severity.WARNING, message) for rule, message in found)
