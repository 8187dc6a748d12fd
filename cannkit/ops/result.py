"""OpResult: what a call of an operator came to. Spec 07: OPR-309, OPR-410, OPR-420, OPR-602."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from math import prod
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from cannkit.ae.caller import Verdict
from cannkit.ae.scheduler import LogClass, Response, Site, classify, respond
from cannkit.ae.translate import translate_aicpu
from cannkit.errors import ReadWarning
from cannkit.format.ae_status import AeStatus
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.elf_types import ByteView
from cannkit.format.ext_info import ExtType, Record, shape_at, workspace_records
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.call import EXT, Prepared
from cannkit.ops.op_args import CallTensor
from cannkit.ops.runner import LogLine, Outcome
from cannkit.runtime.cpu_ops import KERNEL_LIBS

T = TypeVar("T")

PIECE: Final = 1 << 20
OVERRUN: Final = "overrun"  # of a remark
SHOWN_LEVELS: Final = ("ERROR", "WARNING")
SLOG_WORDS: Final = ("DEBUG", "INFO", "WARNING", "ERROR")
SLOG_SOURCE: Final = re.compile(
    r"\[(?:[^\]\n]*/)?([^\]/\n]+:\d+)\](?:\[[^\]\n]*:\d+\])*(?:\[[^\]\n]*\]\[tid:\d+\])?:?"
)
SHARDER: Final = (  # OPR-731: no process of ours has one
    "Device sharder dlopen so[libaicpu_sharder.so] failed",
    "Function[GetCPUNum] is null",
    "Function[ParallelFor] is null",
)


class OutputBack(NamedTuple):
    """An output as the operator left it. `data` is its whole buffer, `shape` what came back of it.

    Bytes behind those of the shape mean nothing (Q-13). Not `is_whole` when the shape is in doubt (OPR-410).
    """

    name: str
    dtype: OpDtype
    shape: tuple[int, ...]
    data: memoryview
    is_whole: bool = True

    @property
    def filled(self) -> memoryview:
        """The bytes that the shape takes."""
        size = self.dtype.size
        return self.data if size is None else self.data[: prod(self.shape) * size]


class OpResult(NamedTuple):
    """A call that was made, or that ended its process: `child` tells how, and `returned` is None.

    `returns` has the value of each block; `returned` is the first that is not 0. `status` is the code of
    the AI CPU engine, `response` what goes back to the task scheduler (OPR-602). `reason` is why, in the
    operator's own words: its first error. `records` are from its workspace, `logs` from the log of the
    device. `changed` are inputs that it wrote (OPR-309), `changed_data` their bytes. `printed` is what the
    process wrote to stdout and stderr, where it made this call alone.
    """

    prepared: Prepared
    returned: int | None
    returns: tuple[int | None, ...]
    status: AeStatus | None
    log_class: LogClass
    response: Response | None
    reason: str | None
    records: tuple[Record, ...]
    logs: tuple[LogLine, ...]
    outputs: tuple[OutputBack, ...]
    changed: tuple[int, ...]
    changed_data: tuple[memoryview, ...]
    remarks: tuple[ReadWarning, ...]
    child: Verdict | None
    seconds: float
    emulated: bool
    printed: str = ""

    @property
    def op(self) -> str:
        """The operator."""
        return self.prepared.op

    @property
    def is_good(self) -> bool:
        """Whether it returned 0."""
        return self.returned == 0

    def log_lines(self, *, every: bool = False, usual: bool = False) -> tuple[str, ...]:
        """What the operator logged, in words: errors and warnings, or `every` record.

        What each call logs that runs here is left out, unless it is wanted as `usual`.
        """
        records = (*self.records, *slog_records(self.logs))
        return tuple(
            f"{record.level} {record.text}".strip()
            for record in records
            if (every or record.level in SHOWN_LEVELS) and (usual or not _is_usual(record))
        )


def slog_records(logs: Sequence[LogLine]) -> Iterator[Record]:
    """OPR-720: lines of the log of the device as records: no folder of a source, no number of a thread."""
    for line in logs:
        text = line.text
        if source := SLOG_SOURCE.match(text):
            text = f"{source[1]}: {text[source.end() :].lstrip()}"
        yield Record(SLOG_WORDS[min(max(line.level, 0), 3)], text)


def _is_usual(record: Record) -> bool:
    return any(text in record.text for text in SHARDER)


def is_cust_sd(kernel_lib: str) -> bool:
    """OPR-602, AE-203: whether the process of custom operators runs it; a package without JSON is one."""
    return not kernel_lib or KERNEL_LIBS.get(kernel_lib) == CpuKernelType.AICPU_CUSTOM


class CallEnd(NamedTuple):
    """What is left of a call: the memory of its regions, what each block returned, how its process ended.

    `overruns` are in words, each with the region it is about.
    """

    regions: Callable[[int], memoryview]
    returns: tuple[int | None, ...]
    seconds: float
    child: Verdict | None
    logs: tuple[LogLine, ...]
    overruns: tuple[tuple[int, str], ...]
    emulated: bool
    printed: str = ""


def read_result(
    prepared: Prepared,
    outcome: Outcome,
    *,
    first_region: int = 0,
    first_call: int = 0,
    timeout: float,
) -> OpResult:
    """The result of a call whose regions and calls are those of a job from `first_region` and `first_call` on.

    A call that did not come back is the one that a crash is blamed on.
    """
    memory = outcome.memory
    span = range(first_call, first_call + len(prepared.calls))
    done = [outcome.calls[number] for number in span]
    returns = tuple(each.ret for each in done)
    child = None
    if None in returns:
        child = outcome.verdict(timeout, lambda number: _named(prepared, number - first_region))
    overruns = _of(outcome.overruns, first_region, len(prepared.regions), attrgetter("region"))
    end = CallEnd(
        lambda number: memory.region(first_region + number),
        returns,
        sum(each.ns for each in done) / 1e9,
        child,
        _of(outcome.logs, first_call, len(span), attrgetter("call")),
        tuple(
            (each.region - first_region, f"{each.size} bytes {each.where} it were written")
            for each in overruns
        ),
        outcome.emulated,
        outcome.printed if len(outcome.calls) == len(span) else "",
    )
    return result_of(prepared, end)


def _of(found: Sequence[T], first: int, count: int, number: Callable[[T], int]) -> tuple[T, ...]:
    """Those of some calls or regions, out of the ones of a whole batch, which are in order."""
    start = bisect_left(found, first, key=number)
    return tuple(found[start : bisect_left(found, first + count, start, key=number)])


def result_of(prepared: Prepared, end: CallEnd) -> OpResult:
    """The result of a call, from what is left of it."""
    returned = None if end.child else next((code for code in end.returns if code), 0)
    changed = dict(_changed(prepared, end))
    code, log_class, response = _judged(prepared, returned)
    records = _records(prepared, end)
    overruns = (
        ReadWarning(OVERRUN, prepared.region_name(number), text)
        for number, text in end.overruns
    )
    return OpResult(
        prepared,
        returned,
        end.returns,
        code,
        log_class,
        response,
        None if returned == 0 else _reason(records, end.logs),
        records,
        end.logs,
        tuple(_outputs(prepared, end, is_good=returned == 0)),
        tuple(changed),
        tuple(changed.values()),
        (*prepared.remarks, *overruns),
        end.child,
        end.seconds,
        end.emulated,
        end.printed,
    )


def _named(prepared: Prepared, number: int) -> str:
    inside = 0 <= number < len(prepared.regions)
    return prepared.region_name(number) if inside else "memory of another call"


def _judged(
    prepared: Prepared, returned: int | None
) -> tuple[AeStatus | None, LogClass, Response | None]:
    """OPR-602: what the engine and the scheduler make of a returned value."""
    if returned is None:
        return None, LogClass.ERROR, None
    cust = is_cust_sd(prepared.kernel_lib)
    code = translate_aicpu(returned, is_cust_sd=cust)
    site = Site.CUST_TASK if cust else Site.TASK
    return code, classify(code, site), respond(code, is_cust_sd=cust)


def _records(prepared: Prepared, end: CallEnd) -> tuple[Record, ...]:
    """OPR-420; OPR-903: each block has its part of the workspace."""
    if prepared.workspace is None:
        return ()
    raw = end.regions(prepared.workspace)
    blocks = len(prepared.calls)
    part = len(raw) // blocks
    found: list[Record] = []
    for block in range(blocks):
        stop = len(raw) if block == blocks - 1 else (block + 1) * part
        piece = raw[block * part : stop]
        if piece and piece[0]:
            found += workspace_records(piece)
    return tuple(found)


def _reason(records: Sequence[Record], logs: Sequence[LogLine]) -> str | None:
    """The first error of the operator, or of the library around it; or else the last warning."""
    said = [record for record in (*records, *slog_records(logs)) if not _is_usual(record)]
    errors = [record.text for record in said if record.level == "ERROR"]
    warnings = [record.text for record in said if record.level == "WARNING"]
    return next(iter(errors), None) or next(reversed(warnings), None)


def _outputs(prepared: Prepared, end: CallEnd, *, is_good: bool) -> Iterator[OutputBack]:
    """OPR-410: with the shapes that came back, where the call is dynamic and went well."""
    slots = prepared.ext.shape_slots(ExtType.OUTPUT_SHAPE) if prepared.is_dynamic else ()
    raw = end.regions(EXT)
    places = prepared.places[len(prepared.inputs) :]
    for number, (tensor, place) in enumerate(zip(prepared.outputs, places, strict=True)):
        data = end.regions(place) if place is not None else memoryview(b"")
        shape, is_whole = tensor.bound, True
        if is_good and number < len(slots):
            shape, is_whole = shape_at(raw, slots[number], len(tensor.bound))
            if not _fits(shape, tensor):
                shape, is_whole = tensor.bound, False
        yield OutputBack(tensor.name, tensor.dtype, shape, data, is_whole)


def _fits(shape: Sequence[int], tensor: CallTensor) -> bool:
    """Whether a shape that came back is one of the buffer."""
    size = tensor.dtype.size or 0
    return all(dim >= 0 for dim in shape) and prod(shape) * size <= tensor.size


def _changed(prepared: Prepared, end: CallEnd) -> Iterator[tuple[int, memoryview]]:
    """OPR-309: inputs that are no outputs, and have other bytes than they were given."""
    outputs = set(prepared.places[len(prepared.inputs) :])
    places = prepared.places[: len(prepared.inputs)]
    for number, (tensor, place) in enumerate(zip(prepared.inputs, places, strict=True)):
        if place is None or place in outputs or tensor.data is None:
            continue
        after = end.regions(place)
        if _differs(tensor.data, after):
            yield number, after


def _differs(before: ByteView, after: memoryview) -> bool:
    return any(
        before[at : at + PIECE] != after[at : min(at + PIECE, len(before))]
        for at in range(0, len(before), PIECE)
    )
