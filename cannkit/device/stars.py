"""Stars: the scheduler of a device takes entries in order, checks, runs and completes them. Spec 04, 6.

It knows the 64 bytes of an entry (and the 128 of a context), device memory and the code map.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from cannkit.device.executor import DONE, ErrorType, Outcome, Work
from cannkit.device.hardware import Completion, Hardware
from cannkit.device.kernel_entry import Generation, KernelEntry, Reading
from cannkit.device.memory import DeviceFaultError
from cannkit.device.ring import Ring
from cannkit.device.sim_rules import ERROR, Case, case_of, finding, judge, outcome_of
from cannkit.device.sim_rules_args import BlockNeed, block_need, check_blocks
from cannkit.device.sim_rules_cpu import CPU_RECORDS, AicpuSqe, cpu_name, judge_cpu
from cannkit.device.trace import Finding, Severity, TaskEvent, no_trace
from cannkit.format.bits import Record
from cannkit.format.cqe import Cqe
from cannkit.soc import Soc

PLANS: Final = 4096  # kept at once
SQE_BITS: Final = 512
TYPE_MASK: Final = 0x3F  # of byte 0
U8: Final = 0xFF
U32: Final = 0xFFFF_FFFF
INTERRUPTED: Final = Outcome(ErrorType.EXCEPTION, 0, "interrupted")


class Plan(NamedTuple):
    """What a kernel entry comes to, whatever its ids and the addresses of its arguments are.

    `args`: the fields with the argument addresses of the sides that work, of which those in `live`
    must have `span` live bytes, `prefix` of them in front. `outcome`: how the entry ends without
    having run, None where it runs.
    """

    case: Case
    need: BlockNeed
    args: tuple[str, ...]
    live: tuple[str, ...]
    prefix: int
    span: int
    findings: tuple[Finding, ...]
    outcome: Outcome | None


class Seen(NamedTuple):
    """An entry as it was read: where, its bytes and record, and those of its context if it has one."""

    ring: Ring
    position: int
    raw: bytes
    sqe: Record
    context_raw: bytes | None = None
    context: Record | None = None


class Stars:
    """The scheduler of one device. Changes: it remembers what the static part of entries comes to."""

    def __init__(self, hardware: Hardware) -> None:
        self._hardware = hardware
        self._generation = generation_of(hardware.soc)
        self._plans: dict[int, Plan] = {}
        self._basis: tuple[object, ...] = ()
        self._running = False

    def run(self, rings: Iterable[Ring]) -> None:
        """Work off what waits in every ring now, in order of their queues.

        What a host model queues meanwhile waits for the next time; a call from within one does nothing.
        An interrupt ends the task that it hits.
        """
        if self._running:
            return
        self._running = True
        try:
            for ring, left in [(ring, ring.count) for ring in rings]:
                for _ in range(left):
                    if ring.head == ring.tail:  # dropped after a failure, or closed
                        break
                    self._step(ring)
        finally:
            self._running = False

    def _step(self, ring: Ring) -> None:
        position, raw = ring.head, ring.peek()
        outcome, wants_cqe = INTERRUPTED, False
        try:
            sqe = self._generation.decode(raw)
            wants_cqe = sqe.__dict__["wr_cqe"]
            reading = self._generation.readings.get(type(sqe))
            if reading is not None:
                outcome = self._kernel(ring, position, raw, sqe, reading)
            elif isinstance(sqe, CPU_RECORDS):
                outcome = self._cpu(Seen(ring, position, raw, sqe), sqe)
            else:
                outcome = self._other(Seen(ring, position, raw, sqe))
        finally:
            if ring.head == position:  # it is not where the task closed its own queue
                ring.advance()
            if outcome.error_type or wants_cqe:
                self._complete(ring, position, raw, outcome)

    def _kernel(
        self, ring: Ring, position: int, raw: bytes, sqe: Record, reading: Reading
    ) -> Outcome:
        """The hot path: all is known of the entry but where its arguments lie, and nobody listens."""
        hardware = self._hardware
        memory = hardware.memory
        context = context_raw = None
        fields = sqe.__dict__
        key = int.from_bytes(raw, "little") & reading.fixed
        if reading.context is not None:
            try:
                context_raw = memory.read(fields["context_addr"], reading.context.SIZE)
            except DeviceFaultError as fault:
                return self._without_context(Seen(ring, position, raw, sqe), fault)
            context = reading.context.decode(context_raw)
            fields = context.__dict__
            key |= (int.from_bytes(context_raw, "little") & reading.context_fixed) << SQE_BITS
        basis = memory.changes, hardware.code.changes, hardware.config
        if basis != self._basis:
            self._basis = basis
            self._plans.clear()
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(key, reading, reading.kernel(sqe, context))
        if plan.outcome is None and hardware.trace is no_trace and not hardware.config.strict:
            prefix, span = plan.prefix, plan.span
            for name in plan.live:
                if not memory.holds(fields[name] - prefix, span):
                    break
            else:
                functions, entry = hardware.models.functions, plan.case.entry
                if entry.aic_pc not in functions and entry.aiv_pc not in functions:
                    return DONE
        return self._with_care(Seen(ring, position, raw, sqe, context_raw, context), plan)

    def _plan(self, key: int, reading: Reading, entry: KernelEntry) -> Plan:
        case = case_of(entry, self._hardware)
        need = block_need(case)
        findings = judge(case)
        used = zip(reading.args, (entry.uses_aic, entry.uses_aiv), strict=True)
        args = tuple(name if is_used else "" for name, is_used in used)
        live = tuple(dict.fromkeys(filter(None, args))) if need.size else ()
        plan = Plan(
            case,
            need,
            args,
            live,
            need.prefix,
            need.prefix + need.size,
            findings,
            outcome_of(findings),
        )
        if len(self._plans) >= PLANS:
            self._plans.clear()
        self._plans[key] = plan
        return plan

    def _with_care(self, seen: Seen, plan: Plan) -> Outcome:
        """Check the argument blocks, run the task if nothing is wrong, and tell of it."""
        hardware = self._hardware
        entry, strict = plan.case.entry, hardware.config.strict
        fields = (seen.context or seen.sqe).__dict__
        aic_args, aiv_args = (fields[name] if name else 0 for name in plan.args)
        used = [fields[name] for name in plan.args if name]
        findings = plan.findings + tuple(
            finding(rule, remark, strict=strict)
            for rule, remark in check_blocks(plan.need, used, hardware.memory)
        )
        facts = plan.case.facts
        outcome = outcome_of(findings)
        work = Work(
            seen.sqe,
            seen.context,
            hardware.soc,
            hardware.memory,
            seen.ring.queue,
            seen.position,
            entry.dim,
            entry.ratio,
            entry.aic_pc,
            entry.aiv_pc,
            aic_args,
            aiv_args,
            facts,
        )
        if outcome is None:
            outcome = hardware.models.execute(work)
        self._tell(seen, facts.name if facts else "", (work.aic, work.aiv), findings, outcome)
        return outcome

    def _without_context(self, seen: Seen, fault: DeviceFaultError) -> Outcome:
        """SIM-11: nothing else can be said of a mix whose context is not there."""
        found = finding("SIM-11", (ERROR, f"no context: {fault.why}"), strict=False)
        outcome = Outcome(ErrorType.SQE_ERROR, 0, found.message)
        self._tell(seen, "", (0, 0), (found,), outcome)
        return outcome

    def _cpu(self, seen: Seen, sqe: AicpuSqe) -> Outcome:
        """A task of the AI CPU: SIM-12 to SIM-14, then its engine."""
        hardware = self._hardware
        findings = judge_cpu(sqe, hardware)
        outcome = outcome_of(findings)
        if outcome is None:
            work = Work(sqe, None, hardware.soc, hardware.memory, seen.ring.queue, seen.position)
            outcome = hardware.ai_cpu.execute(work)
        if hardware.trace is not no_trace:
            self._tell(seen, cpu_name(sqe, hardware), (0, 0), findings, outcome)
        return outcome

    def _other(self, seen: Seen) -> Outcome:
        """An entry that is no task of this simulation. 04, section 6, step 1."""
        outcome = self._generation.end_of_other(seen.raw)
        severity = Severity.ERROR if outcome.error_type else Severity.NOTE
        findings = (Finding("decode", severity, outcome.note),) if outcome.note else ()
        self._tell(seen, self._generation.type_name(seen.raw), (0, 0), findings, outcome)
        return outcome

    def _tell(
        self,
        seen: Seen,
        name: str,
        blocks: tuple[int, int],
        findings: tuple[Finding, ...],
        outcome: Outcome,
    ) -> None:
        hardware = self._hardware
        if hardware.trace is no_trace:
            return
        queue, position = seen.ring.queue, seen.position
        hardware.trace(
            TaskEvent(
                hardware.id,
                queue,
                position,
                seen.raw,
                seen.context_raw,
                name,
                *blocks,
                findings,
                outcome,
            )
        )

    def _complete(self, ring: Ring, position: int, raw: bytes, outcome: Outcome) -> None:
        """LCH-67; what waits behind a failure goes where the queue stops for one (STR, CHOICE)."""
        if outcome.error_type and ring.stops_on_failure:
            ring.discard()
        stream_id, task_id = self._generation.ids(raw, ring.queue, position)
        cqe = Cqe(
            stream_id=stream_id,
            task_id=task_id,
            error_code=outcome.error_code & U32,
            error_type=outcome.error_type & U8,
            sqe_type=raw[0] & TYPE_MASK,
            sq_id=ring.queue,
            sq_head=ring.head,
            match=True,
            error_bit=bool(outcome.error_type),
            sqe_index=position,
        )
        self._hardware.completions.append(Completion(cqe, outcome.note))


def generation_of(soc: Soc) -> Generation:
    """The entries that the scheduler of a chip takes."""
    if soc.library in ("v200", "v201"):
        from cannkit.device.entry_v200 import EntriesV200  # here, for a chip has one generation

        return EntriesV200()
    from cannkit.device.entry_v100 import EntriesV100

    return EntriesV100(has_ffts_plus=soc.has_ffts_plus)
