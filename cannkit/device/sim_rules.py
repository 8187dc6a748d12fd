"""What the simulated hardware checks of a kernel entry before it runs: SIM-1 to SIM-13."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from cannkit.device.code_map import Code, FunctionFacts
from cannkit.device.executor import Core, ErrorType, Outcome
from cannkit.device.hardware import Hardware
from cannkit.device.kernel_entry import CONTEXT_ALIGN, RATIOS, KernelEntry
from cannkit.device.memory import SystemSlot
from cannkit.device.stacks import LARGE_STACK, SMALL_STACK, stack_level
from cannkit.device.trace import Finding, Severity
from cannkit.device.traits import traits_of
from cannkit.format.sqe.v100 import ContextType, MixContext, MixSqe
from cannkit.soc import Soc

INSTRUCTION: Final = 4  # bytes
BATCH: Final = 1
SIMT: Final = (3, 4)  # AIV types, LCH-48
UNIFIED_BUFFER: Final = 262_144
SIMT_BUFFER: Final = 229_376
SIMT_GRANULE: Final = 128
SPARE_CORES: Final = {25: 24, 50: 48}  # LCH-51: one core of the driver's is kept back

Remark = tuple[Severity, str]
ERROR, WARNING = Severity.ERROR, Severity.WARNING


class Case(NamedTuple):
    """A kernel entry in front of its device: the code at either program counter and what it says."""

    entry: KernelEntry
    hardware: Hardware
    aic: Code | None
    aiv: Code | None
    aic_facts: FunctionFacts | None
    aiv_facts: FunctionFacts | None

    @property
    def facts(self) -> FunctionFacts | None:
        """Facts of the main side, else of the other."""
        sides = (self.aiv_facts, self.aic_facts)
        return sides[not self.entry.vector_main] or sides[self.entry.vector_main]


class Rule(NamedTuple):
    """A rule: its number, the bit of errorType where it fails a task, and what it remarks."""

    name: str
    bit: ErrorType
    check: Callable[[Case], Iterator[Remark]]


def case_of(entry: KernelEntry, hardware: Hardware) -> Case:
    """The entry with what the device knows of its code. Code whose memory is gone is none."""
    codes = []
    facts = []
    for pc, is_used in ((entry.aic_pc, entry.uses_aic), (entry.aiv_pc, entry.uses_aiv)):
        code = hardware.code.find(pc) if is_used else None
        if code is not None and not hardware.memory.holds(pc, INSTRUCTION):
            code = None
        codes.append(code)
        facts.append(code.functions.get(pc) if code else None)
    return Case(entry, hardware, codes[0], codes[1], facts[0], facts[1])


def judge(case: Case) -> tuple[Finding, ...]:
    """What the rules say of all that is the same at every launch, in their order."""
    strict = case.hardware.config.strict
    return tuple(
        finding(rule.name, remark, strict=strict) for rule in RULES for remark in rule.check(case)
    )


def finding(rule: str, remark: Remark, *, strict: bool) -> Finding:
    """A remark of a rule; with `strict` a warning is an error."""
    severity, message = remark
    return Finding(rule, ERROR if strict and severity is WARNING else severity, message)


def outcome_of(findings: Sequence[Finding]) -> Outcome | None:
    """How errors among findings end a task: all their bits, the words of the lowest; else None."""
    errors = [(BITS[at.rule], at.message) for at in findings if at.severity is ERROR]
    if not errors:
        return None
    bits = ErrorType.NONE
    for bit, _ in errors:
        bits |= bit
    _, message = min(errors, key=lambda error: error[0])
    return Outcome(bits, 0, message)


def core_counts(soc: Soc) -> tuple[int, int]:
    """AIC and AIV cores that a batch may use. LCH-51."""
    counts = []
    for column, fallback in zip(
        ("ai_core_count", "vector_core_count"), traits_of(soc), strict=False
    ):
        fact = soc.facts.get(column)
        count = fact if isinstance(fact, int) else fallback
        counts.append(SPARE_CORES.get(count, count))
    return counts[0], counts[1]


def sides(case: Case) -> Iterator[tuple[Core, int, Code | None, FunctionFacts | None]]:
    """The sides that work: core, program counter, code and facts."""
    entry = case.entry
    if entry.uses_aic:
        yield Core.AIC, entry.aic_pc, case.aic, case.aic_facts
    if entry.uses_aiv:
        yield Core.AIV, entry.aiv_pc, case.aiv, case.aiv_facts


def code_of_pc(case: Case) -> Iterator[Remark]:
    """SIM-1. A side of a mix without a program counter is left to SIM-3."""
    for core, pc, code, _ in sides(case):
        if not pc and case.entry.paired:
            continue
        if code is None:
            yield ERROR, f"{core.upper()} PC {pc:#x} lies in no loaded code"
        elif pc % INSTRUCTION:
            yield ERROR, f"{core.upper()} PC {pc:#x} is no multiple of {INSTRUCTION}"


def entry_of_pc(case: Case) -> Iterator[Remark]:
    """SIM-2, of a PC that SIM-1 lets pass."""
    for core, pc, code, facts in sides(case):
        if code and not facts and not pc % INSTRUCTION:
            yield WARNING, f"{core.upper()} PC {pc:#x} is mid-function: no kernel begins there"


def sides_of_mix(case: Case) -> Iterator[Remark]:
    """SIM-3."""
    entry = case.entry
    if entry.paired:
        for core, pc, _, _ in sides(case):
            if not pc:
                yield ERROR, f"a mix without a PC for {core.upper()}"
        if case.aic and case.aiv and case.aic is not case.aiv:
            yield ERROR, "the two PCs of a mix lie in different binaries"
    elif unused := entry.aic_pc if entry.vector_main else entry.aiv_pc:
        yield ERROR, f"the side that is not used has PC {unused:#x}"


def size_of_batch(case: Case) -> Iterator[Remark]:
    """SIM-6, both sides (Q-11)."""
    entry = case.entry
    if not entry.dim:
        yield ERROR, "0 blocks"
    if entry.schem != BATCH:
        return
    severity = WARNING if case.hardware.config.lenient else ERROR
    counts = core_counts(case.hardware.soc)
    for core, sub_blocks, count in zip(Core, entry.ratio, counts, strict=True):
        if entry.dim * sub_blocks > count:
            needed = entry.dim * sub_blocks
            yield severity, f"a batch of {needed} {core.upper()} blocks, there are {count} cores"


def scheduling(case: Case) -> Iterator[Remark]:
    """SIM-7."""
    entry = case.entry
    if entry.schem > BATCH:
        yield ERROR, f"schem {entry.schem} is none"
    if entry.paired and entry.ratio_value not in RATIOS:
        yield ERROR, f"the ratio of a mix is 1 or 2, not {entry.ratio_value}"


def groups(case: Case) -> Iterator[Remark]:
    """SIM-8."""
    if case.entry.groups is None:
        return
    count, size = case.entry.groups
    dim = case.entry.dim
    if not 0 <= count * size - dim < max(count, 1):
        yield WARNING, f"{count} groups of {size} blocks do not fit {dim} blocks"


def unified_buffer(case: Case) -> Iterator[Remark]:
    """SIM-9. The AIV type of a mix is that of its vector half."""
    size = case.entry.dcu_size
    if size is None:
        return
    if size > UNIFIED_BUFFER:
        yield ERROR, f"dcu size {size} is above {UNIFIED_BUFFER}"
    elif is_simt(case) and (size > SIMT_BUFFER or size % SIMT_GRANULE):
        yield (
            ERROR,
            f"dcu size {size} of SIMT is not a multiple of {SIMT_GRANULE} up to {SIMT_BUFFER}",
        )


def is_simt(case: Case) -> bool:
    """Whether a kernel of A5 has SIMT code. LCH-48."""
    facts = case.aiv_facts or case.aic_facts
    return case.entry.dcu_size is not None and facts is not None and facts.vf_type in SIMT


def stack(case: Case) -> Iterator[Remark]:
    """SIM-10: a base that is none is an error, a level or size that does not do a warning."""
    entry, hardware = case.entry, case.hardware
    bases = {place.address: slot for slot, place in hardware.stacks.items()}
    slot = bases.get(entry.stack_base)
    if slot is None or slot is SystemSlot.STACK_SIMT:
        yield ERROR, f"no stack region begins at {entry.stack_base:#x}"
        return
    largest = stack_level(traits_of(hardware.soc).max_custom_stack)
    if entry.stack_level > largest:
        yield WARNING, f"stack level {entry.stack_level} is above {largest}"
    size = (entry.stack_level + 2) * SMALL_STACK
    if slot is not SystemSlot.STACK_CUSTOM:
        size = SMALL_STACK if slot is SystemSlot.STACK_16K else LARGE_STACK
    needed = max((facts.min_stack for *_, facts in sides(case) if facts), default=0)
    if size < needed:
        yield WARNING, f"a stack of {size} bytes, the kernel needs {needed}"


def context_of_mix(case: Case) -> Iterator[Remark]:
    """SIM-11; that what is said twice differs is a warning."""
    sqe, context = case.entry.sqe, case.entry.context
    if not isinstance(sqe, MixSqe) or not isinstance(context, MixContext):
        return
    if sqe.context_addr % CONTEXT_ALIGN:
        beside = sqe.context_addr % CONTEXT_ALIGN
        yield ERROR, f"the context lies {beside} bytes beside a multiple of {CONTEXT_ALIGN}"
    if context.context_type not in (ContextType.MIX_AIC, ContextType.MIX_AIV) or (
        sqe.sub_type not in (context.context_type, ContextType.DCACHE_LOCK)
    ):
        yield ERROR, f"context type {context.context_type.name} under {sqe.sub_type.name}"
    counts = sqe.total_contexts, sqe.ready_contexts, sqe.preload_contexts
    if counts != (1, 1, 1):
        yield ERROR, "{} contexts, {} ready, {} preloaded, not 1, 1, 1".format(*counts)
    if context.thread_dim != 1:
        yield ERROR, f"thread dim {context.thread_dim}, not 1"
    head = context.block_dim, context.ratio, context.aic_pc, context.aiv_pc
    tail = context.tail_block_dim, context.tail_ratio, context.aic_tail_pc, context.aiv_tail_pc
    if head != tail:
        yield WARNING, "the tail of the context differs from the rest"
    if sqe.block_dim != context.block_dim:
        yield WARNING, f"{sqe.block_dim} blocks by the entry, {context.block_dim} by its context"


def reserved(case: Case) -> Iterator[Remark]:
    """SIM-12."""
    for record in (case.entry.sqe, case.entry.context):
        if record and record.residue:
            yield WARNING, f"reserved bits of {type(record).__name__} are set: {record.residue:#x}"


def credit(case: Case) -> Iterator[Remark]:
    """SIM-13; on A5 a credit of 0 is one unit."""
    if case.entry.groups is None and not case.entry.credit:
        yield WARNING, "credit 0"


# fmt: off
RULES: Final = (
    Rule("SIM-1",  ErrorType.EXCEPTION, code_of_pc),
    Rule("SIM-2",  ErrorType.EXCEPTION, entry_of_pc),
    Rule("SIM-3",  ErrorType.SQE_ERROR, sides_of_mix),
    Rule("SIM-6",  ErrorType.CONFLICT,  size_of_batch),
    Rule("SIM-7",  ErrorType.SQE_ERROR, scheduling),
    Rule("SIM-8",  ErrorType.SQE_ERROR, groups),
    Rule("SIM-9",  ErrorType.SQE_ERROR, unified_buffer),
    Rule("SIM-10", ErrorType.EXCEPTION, stack),
    Rule("SIM-11", ErrorType.SQE_ERROR, context_of_mix),
    Rule("SIM-12", ErrorType.SQE_ERROR, reserved),
    Rule("SIM-13", ErrorType.SQE_ERROR, credit),
)
# fmt: on

# The table gives no bit to a warning; CHOICE, for `strict`: what the field is about.
BITS: Final = {rule.name: rule.bit for rule in RULES} | {
    "SIM-4": ErrorType.EXCEPTION,
    "SIM-5": ErrorType.EXCEPTION,
    "SIM-14": ErrorType.EXCEPTION,
}
