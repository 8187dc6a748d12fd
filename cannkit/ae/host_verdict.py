"""Verdicts: how the process that ran foreign code ended, in words. Spec 05, AE-1206."""

from __future__ import annotations

import mmap
import re
import signal
from collections.abc import Sequence
from typing import Final, NamedTuple

from cannkit.ae import host_wire as wire
from cannkit.ae.caller import Signature, Stage, Verdict
from cannkit.ae.event import Argument, Segment
from cannkit.ae.host_end import Cause, End
from cannkit.errors import brief

LOOKUP_ERROR: Final = re.compile(r"symbol lookup error: .*undefined symbol: ([^\s,]+)")
LOOKUP_EXIT: Final = 127
WRONG_SIGNATURE: Final = (
    "wrong signature? only RunCpuKernelWithBlock gets a second argument (AE-704)"
)
CRASHES: Final = frozenset(
    {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP,
     signal.SIGSYS}
)  # fmt: skip
OF_SIGNALS: Final = {
    signal.SIGFPE: "a division by zero, or one whose result is too large (the least number by -1)",
    signal.SIGILL: "an instruction that this CPU does not have, or a trap of the compiler: a function "
    "without its return, code that cannot be reached",
    signal.SIGTRAP: "a trap: __builtin_trap or an assertion of the compiler",
    signal.SIGBUS: "an access behind the end of a mapped file, or one that is not aligned",
    signal.SIGABRT: "abort() was called: assert, std::terminate, a corrupted heap",
}
LIMITS: Final = {signal.SIGXCPU: "CPU time", signal.SIGXFSZ: "size of a file"}
IN_STAGE: Final = {
    Stage.LOAD: "constructors run while a library is loaded, destructors while it is closed",
    Stage.LOOKUP: "the resolver of an indirect function runs when it is looked up",
    Stage.DONE: "the function had returned: it left something behind that is at work or broken",
}


class Made(NamedTuple):
    """The call that was made last."""

    signature: Signature
    argument: Argument


def verdict_of(
    end: End, timeout: float, made: Made | None = None, unresolved: Sequence[str] = ()
) -> Verdict:
    """The verdict on an end. `made` tells of a crash in a call.

    `unresolved` are names that nothing defines, which tell of an exit with code 127.
    """
    if end.cause is Cause.STOPPED:
        why = "it was closed or interrupted, or belongs to the process that this one is a fork of"
        return Verdict("the process was ended before", end.stage, hints=(why,))
    what, hints = _what(end, timeout, unresolved)
    if end.cause is Cause.ITSELF and end.signal is not None:
        hints += _of_crash(end, end.signal, made)
    if end.stage in IN_STAGE:
        hints.append(IN_STAGE[end.stage])
    if end.returned is not None:
        hints.append(f"the function returned {end.returned} before")
    return Verdict(
        what,
        end.stage,
        end.exit,
        end.signal,
        end.seconds,
        None,
        tuple(hints),
        end.output,
        end.cause is Cause.TIMEOUT,
    )


def _what(end: End, timeout: float, unresolved: Sequence[str]) -> tuple[str, list[str]]:
    stage = f"in stage {end.stage}"
    if end.cause is Cause.TIMEOUT:
        stubborn = ["it did not end with SIGTERM"] if end.signal == signal.SIGKILL else []
        return f"timed out {stage} after {timeout:g} s", stubborn
    if end.cause is Cause.OUTPUT:
        return f"exceeded limit: output ({stage})", []
    if end.cause is Cause.GARBLED:
        why = ["it writes to descriptors that it did not open"]
        return f"the op wrote into cannkit's result pipe {stage}", why
    if end.cause is Cause.CLOSED:
        why = ["it closes descriptors that it did not open: what it returned is not known"]
        return f"the op closed cannkit's result pipe {stage}", why
    if end.signal is not None:
        return _by_signal(end.signal, stage)
    if end.stage is Stage.START:
        lines = end.output.strip().splitlines()
        what = f"the process for foreign code did not start: it ended with code {end.exit}"
        return what, [brief(line) for line in lines[-1:]]
    return _by_exit(end, stage, unresolved)


def _by_signal(number: int, stage: str) -> tuple[str, list[str]]:
    name = _signal_name(number)
    if number in CRASHES:
        return f"crashed {stage} with {name}", []
    if number in LIMITS:
        return f"exceeded limit: {LIMITS[signal.Signals(number)]} ({stage})", []
    if number == signal.SIGKILL:
        hints = ["the kernel ends what takes too much memory; anybody else may have, too"]
        return f"exceeded limit, or killed from outside: SIGKILL ({stage})", hints
    return f"ended {stage} by {name}", []


def _by_exit(end: End, stage: str, unresolved: Sequence[str]) -> tuple[str, list[str]]:
    if end.exit == LOOKUP_EXIT:
        found = LOOKUP_ERROR.search(end.output)
        names = [found[1]] if found else list(unresolved)
        if names:
            which = brief(", ".join(names))
            where = "at call time" if end.stage is Stage.CALL else stage
            hints = ["no library that was opened defines it: link with the one that does"]
            return f"undefined symbol {which} {where} (lazy binding)", hints
    if end.exit == wire.NO_MEMORY and end.stage is not Stage.CALL:
        return f"exceeded limit: memory ({stage})", []
    hints = ["it called exit(): on a device the process of the scheduler would be gone"]
    return f"the op terminated the process with code {end.exit} {stage}", hints


def _of_crash(end: End, number: int, made: Made | None) -> list[str]:
    """What is known of a crash; where it was is not."""
    if number == signal.SIGSEGV and end.stage is Stage.CALL and made is not None:
        signature = [] if made.signature is Signature.BLOCK else [WRONG_SIGNATURE]
        return _of_access(made.argument, signature)
    if number == signal.SIGABRT and "bad_alloc" in end.output:
        return ["std::bad_alloc: the memory limit was reached"]
    if number == signal.SIGABRT and end.output:
        return [f"{OF_SIGNALS[signal.SIGABRT]}; what it printed tells more"]
    return [text for each, text in OF_SIGNALS.items() if each == number]


def _of_access(argument: Argument, hints: list[str]) -> list[str]:
    """Where an access to the parameter block, or beside it, faults; in front if any does."""
    if not argument.address:
        return ["the parameter block is null", *hints]
    segments = [each for each in argument.segments if each.data]
    block = next(
        (each for each in segments if 0 <= argument.address - each.address < len(each.data)), None
    )
    if block is None:
        return ["the parameter block has no bytes: each access to it faults", *hints]
    start, end = _reach(block, segments)
    size = block.address + len(block.data) - argument.address
    front, behind = argument.address - start, end - argument.address
    guards = f"a guard page ends {front} bytes before it, and one begins at +{behind:#x}"
    is_constant = not all(each.is_writable for each in segments)
    more = "; a write to constant memory faults, too" if is_constant else ""
    return [*hints, f"the parameter block has {size} bytes: {guards}{more}"]


def _reach(block: Segment, segments: Sequence[Segment]) -> tuple[int, int]:
    """The mapped pages around a segment, which those of others may go on."""
    page = mmap.PAGESIZE
    spans = sorted(
        (each.address // page * page, -(-(each.address + len(each.data)) // page) * page)
        for each in segments
    )
    start, end = spans[0]
    for low, high in spans[1:]:
        if low > end and end > block.address:
            break
        start, end = (low, high) if low > end else (start, max(end, high))
    return start, end


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
