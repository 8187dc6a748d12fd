"""Change: one difference between two objects or packages, and whom it concerns. cli.md, section 9."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

Value = int | str | tuple[str, ...] | None
"""What a fact is: a number, a word, a list of them, or nothing."""


class Effect(StrEnum):
    """`breaking`: a host built against A would fail with B; `size`: it needs more or less memory."""

    BREAKING = "breaking"
    BEHAVIOUR = "behaviour"
    SIZE = "size"


class Change(NamedTuple):
    """A fact that differs. `kind` names it, `subject` is what has it: a kernel, an object, an operator.

    `file` is the object by its path below A, None for what is no part of one or where there is one alone;
    `kernel` the kernel as A calls it.
    """

    effect: Effect
    kind: str
    subject: str
    before: Value
    after: Value
    file: str | None = None
    kernel: str | None = None


class Fact(NamedTuple):
    """How a change of a fact is graded, and its value where nothing is recorded."""

    effect: Effect
    default: Value = None


_BREAKING, _BEHAVIOUR, _SIZE = Effect

KERNEL_FACTS: Final = {
    "key": Fact(_BREAKING),  # FUN-07: as text, it may have 64 bits
    "entry_kind": Fact(_BEHAVIOUR),
    "func_type": Fact(_BREAKING, 0),
    "task_ratio": Fact(_BREAKING),
    "arguments": Fact(_BREAKING, ()),
    "arg_size": Fact(_BREAKING),
    "params": Fact(_BREAKING, ()),
    "param_count": Fact(_BREAKING, 0),
    "param_total_size": Fact(_BREAKING, 0),
    "tiling_size": Fact(_BREAKING),
    "cross_core_sync": Fact(_BEHAVIOUR, 0),
    "vf_type": Fact(_BEHAVIOUR, 0),
    "early_start": Fact(_BEHAVIOUR, 0),
    "sched_mode": Fact(_BEHAVIOUR, 0),
    "deterministic": Fact(_BEHAVIOUR, 0),
    "is_tik": Fact(_BEHAVIOUR, 0),
    "code": Fact(_BEHAVIOUR),
    "code_size": Fact(_SIZE),
    "min_stack_size": Fact(_SIZE, 0),
    "ub_size": Fact(_SIZE, 0),
    "warp_stack_size": Fact(_SIZE, 0),
    "dvg_warp_stack_size": Fact(_SIZE, 0),
}
OBJECT_FACTS: Final = {
    "machine": Fact(_BREAKING),
    "byte_order": Fact(_BREAKING),
    "elf_type": Fact(_BREAKING),
    "flags": Fact(_BREAKING),  # ELF-07: the chip
    "refused": Fact(_BREAKING, ()),
    "sidecar": Fact(_BREAKING),
    "dynamic_param_mode": Fact(_BREAKING),  # how tensor lists are passed
    "optional_input_mode": Fact(_BREAKING),
    "optional_output_mode": Fact(_BREAKING),
    "debug_buf_size": Fact(_BEHAVIOUR, 0),  # JSN-10 (h)
    "debug_options": Fact(_BEHAVIOUR, 0),
    "image_size": Fact(_SIZE),
    "stack_size": Fact(_SIZE, 0),
    "file": Fact(_SIZE),  # bytes that are in no other fact
}
SIDECAR: Final = "sidecar."
SIDECAR_FACTS: Final = {
    f"{SIDECAR}{key}": Fact(_BREAKING)
    for key in (
        *("opParaSize", "coreType", "core_type", "magic", "intercoreSync", "taskRation"),
        *("dynamicParamMode", "optionalInputMode", "optionalOutputMode", "supportInfo.attrs"),
        *("supportInfo.inputs", "supportInfo.outputs", "supportInfo.simplifiedKey"),
        *("supportInfo.optionalInputMode", "supportInfo.optionalOutputMode"),
        *("kernelList.tilingKey", "kernelList.taskRation", "kernelList.kernelType"),
    )
}
GROWING: Final = frozenset({f"{SIDECAR}supportInfo.simplifiedKey"})  # more of them harm nobody
RECORDED: Final = frozenset(  # not in every object: what they say holds without them, too
    {"dynamic_param_mode", "optional_input_mode", "optional_output_mode", "arg_size"}
)
OTHER: Final = Fact(_BEHAVIOUR)
FACTS: Final = KERNEL_FACTS | OBJECT_FACTS | SIDECAR_FACTS
LONGEST: Final = 1 << 12  # characters of a value that is kept
SHOWN: Final = 256
DIGEST: Final = 16


def cut(text: str, longest: int = LONGEST) -> str:
    """A text of a bounded length, which tells it apart from any other."""
    if len(text) <= longest:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]
    return f"{text[:SHOWN]}... ({len(text)} characters, sha256 {digest})"


def grade(kind: str, before: Value, after: Value) -> Effect:
    """The effect of a change of a fact."""
    effect = FACTS.get(kind, OTHER).effect
    if kind in GROWING and isinstance(before, tuple) and isinstance(after, tuple):
        return _BEHAVIOUR if set(before) <= set(after) else effect
    if kind == "refused" and (before or not after):
        return _BEHAVIOUR
    if kind == "sidecar" and after is not None:
        return _BEHAVIOUR
    if kind in RECORDED and None in (before, after):
        return _BEHAVIOUR
    return effect
