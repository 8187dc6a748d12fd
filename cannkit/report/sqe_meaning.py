"""What the value of a field of a queue entry means, in words. Spec 04, sections 3 and 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cannkit.format.bits import OpenEnum, Record, Span
from cannkit.format.sqe import IdMode, restore_ids, v100, v200

CREDIT_NS: Final = 1 << 32  # LCH-52
NEVER: Final = 255
STACK_UNIT: Final = 16_384  # LCH-55: a level is a stack of (level + 2) of these
PREFETCH_UNIT: Final = 2_048  # bytes of code
NO_OFFSET: Final = 0xFFFF
SCHEDULES: Final = {0: "normal", 1: "batch: all blocks at once"}
SWITCHES: Final = ("ie", "pre_p", "post_p")  # two bits each in v100
FLAGS: Final = {1: "dump", 2: "BIU perf", 4: "L2 profiling", 8: "data cache lock"}


def meaning_of(sqe: Record, name: str, span: Span, value: int) -> str:
    """The name of a value, or what it amounts to, or what the field is for."""
    if name in COMPUTED:
        return COMPUTED[name](sqe, value)
    if isinstance(value, OpenEnum):
        return value.name
    if span.kind is bool:
        return f"yes: {span.doc}" if value and span.doc else "yes" if value else "no"
    if name in SWITCHES:
        return f"yes: {span.doc}" if value else "no"
    return span.doc


def _credit(sqe: Record, value: int) -> str:
    """LCH-52: the hardware of A5 adds one."""
    if value == NEVER:
        return "no timeout"
    units = value + 1 if isinstance(sqe, v200.Header) else value
    return f"timeout {units * CREDIT_NS / 1e9:,.1f} s"


def _stack(_: Record, value: int) -> str:
    return f"stack of {(value + 2) * STACK_UNIT:,} B"


def _schedule(_: Record, value: int) -> str:
    return SCHEDULES.get(value, "no such schedule mode")


def _flags(_: Record, value: int) -> str:
    names = [name for bit, name in FLAGS.items() if value & bit]
    rest = value & ~sum(FLAGS)
    return ", ".join(names + [f"unknown {rest:#x}"] * bool(rest)) or "none"


def _prefetch(sqe: Record, value: int) -> str:
    if isinstance(sqe, v100.MixContext) and sqe.context_type == v100.ContextType.MIX_AIV:
        return f"{value * PREFETCH_UNIT:,} B of code, always 0 for AIV alone (Q-7)"
    return f"{value * PREFETCH_UNIT:,} B of code"


def _ratio(sqe: Record, value: int) -> str:
    """LCH-50: blocks of the other side for each of the main side."""
    if isinstance(sqe, v200.KernelSqe):
        is_mix, is_aiv = sqe.mix, sqe.sqe_type == v200.SqeType.AIV
    else:
        is_mix = bool(value)
        is_aiv = getattr(sqe, "context_type", None) == v100.ContextType.MIX_AIV
    if not is_mix:
        return "one side alone"
    main, other = ("AIV", "AIC") if is_aiv else ("AIC", "AIV")
    return f"{value} {other} for each {main} block"


def _stream(sqe: Record, _: int) -> str:
    ids = restore_ids(sqe) if isinstance(sqe, v100.Header) else None
    return "stream" if not ids or ids.mode is IdMode.PLAIN else f"exchanged: stream {ids.stream_id}"


def _task(sqe: Record, _: int) -> str:
    ids = restore_ids(sqe) if isinstance(sqe, v100.Header) else None
    return "task" if not ids or ids.mode is IdMode.PLAIN else f"exchanged: task {ids.task_id}"


def _kfc_args(_: Record, value: int) -> str:
    return "none" if value == NO_OFFSET else ""


COMPUTED: Final[Mapping[str, Callable[[Record, int], str]]] = {
    "stream_id": _stream,
    "task_id": _task,
    "kernel_credit": _credit,
    "schem": _schedule,
    "flags": _flags,
    "feature_flag": _flags,
    "stack_level": _stack,
    "aic_stack_level": _stack,
    "aiv_stack_level": _stack,
    "thread_id": _stack,
    "aic_prefetch_count": _prefetch,
    "aiv_prefetch_count": _prefetch,
    "ratio": _ratio,
    "tail_ratio": _ratio,
    "kfc_args_offset": _kfc_args,
}
