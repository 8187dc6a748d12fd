"""The document of `cannkit ae-call`: a task, its way, and how it ended. cli.md, section 8."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, Self

from cannkit.ae.call import AeCall, Note
from cannkit.ae.caller import Verdict
from cannkit.ae.context import AeContext
from cannkit.ae.event import AeEvent
from cannkit.ae.hints import call_hints, scheduled_hints
from cannkit.ae.operations import Ended, StepEnd
from cannkit.ae.scheduler import Scheduled, classify, site_of
from cannkit.ae.task import Task
from cannkit.errors import ExitCode, brief
from cannkit.format.ae_status import AeStatus
from cannkit.report.ae_parts import (
    CallEntry,
    ChildEntry,
    KernelTypeEntry,
    LogicEntry,
    SchedulerEntry,
)
from cannkit.report.ae_union import UnionEntry
from cannkit.report.base import CodeEntry, Document, ErrorEntry, document, printable
from cannkit.report.so_path import NoteEntry, SearchEntry, code_entry

ClassWord = Literal["ok", "special", "error"]
RouteWord = Literal["logic", "engine", "rejected"]
CRASH_KIND: Final = "foreign"
OVERRUN_KIND: Final = "overrun"


@document
class AeCallDocument(Document):
    """One call, or another operation of a script, of which most fields are null then.

    `status` is the engine's code, null where a gate stopped the task, nothing was called, or the process
    died. `class` is how the scheduler logs it: `special` codes (6, 8, 101) are no errors there.
    """

    SCHEMA: ClassVar[str] = "cannkit.ae-call/1"
    event_hex: str | None
    size: int | None
    kernel_type: KernelTypeEntry | None
    union: tuple[UnionEntry, ...]
    scheduler: SchedulerEntry | None
    route: RouteWord | None
    lib: str | None
    so: SearchEntry | None
    call: CallEntry | None
    returned: int | None
    status: CodeEntry | None
    class_: ClassWord
    child: ChildEntry | None
    param_after_hex: str | None
    error: ErrorEntry | None
    op: str
    logic: LogicEntry | None
    loads: tuple[SearchEntry, ...]
    overruns: tuple[str, ...]
    notes: tuple[NoteEntry, ...]
    hints: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """A fault where the call ended in an error, its process died, or memory beside a block was written."""
        is_fault = self.class_ == "error" or self.error is not None
        return ExitCode.FAULT if is_fault else ExitCode.OK

    @property
    def is_crash(self) -> bool:
        """Whether the process that ran the library is gone."""
        return self.error is not None and self.error.kind == CRASH_KIND

    @classmethod
    def of(cls, task: Task, context: AeContext, ended: Ended) -> Self:
        """The document of a call that is over; `context` is the process that it ran in."""
        kernel, event, unknown, remarks = task
        scheduled, verdict = ended.scheduled, ended.verdict
        call = scheduled.call if scheduled else ended.call
        kind = kernel.kernel_type if event is None else event.kernel_type
        returned = call.returned if call else None
        return cls(
            event_hex=kernel.encode().hex(),
            size=len(kernel.encode()),
            kernel_type=KernelTypeEntry.of(kind),
            union=UnionEntry.of(kernel),
            scheduler=SchedulerEntry.of(scheduled) if scheduled else None,
            route=None if unknown else _route(ended),
            lib=call.lib if call else None,
            so=_search(kind, context, call),
            call=CallEntry.of(call),
            returned=returned.code if returned else None,
            status=code_entry(verdict.status if verdict else call.status if call else None),
            class_=_class(ended, kind, context),
            child=ChildEntry.of(ended._replace(call=call)),
            param_after_hex=_after(event, call),
            error=_crash(verdict, call) or _overrun(call),
            op="call",
            logic=LogicEntry.of(scheduled.logic if scheduled else None),
            loads=(),
            overruns=tuple(map(printable, returned.overruns)) if returned else (),
            notes=(*_mistags(remarks), *_notes(scheduled, call)),
            hints=(*unknown, *_hints(event, ended)),
        )

    @classmethod
    def of_step(cls, op: str, kernel_type: int | None, context: AeContext, end: StepEnd) -> Self:
        """The document of an operation that calls nothing."""
        kind = None if kernel_type is None else KernelTypeEntry.of(kernel_type)
        searches = tuple(
            SearchEntry.of_search(kernel_type or 0, context, each, AeStatus.SUCCESS, each.status)
            for each in end.loaded.resolutions
        )
        failed = end.verdict is not None or bool(end.status)
        return cls(
            event_hex=None,
            size=None,
            kernel_type=kind,
            union=(),
            scheduler=None,
            route=None,
            lib=None,
            so=None,
            call=None,
            returned=None,
            status=code_entry(end.status),
            class_="error" if failed else "ok",
            child=ChildEntry.of(Ended(verdict=end.verdict)),
            param_after_hex=None,
            error=_crash(end.verdict, None),
            op=op,
            logic=None,
            loads=searches,
            overruns=(),
            notes=tuple(_note(each) for each in end.loaded.notes),
            hints=(),
        )


def _route(ended: Ended) -> RouteWord:
    return ended.scheduled.route.value if ended.scheduled else "engine"


def _class(ended: Ended, kernel_type: int, context: AeContext) -> ClassWord:
    if ended.scheduled is not None:
        return ended.scheduled.log.value
    if ended.verdict is not None:
        return "error"
    if ended.call is None:
        return "ok"
    site = site_of(kernel_type, is_cust_sd=context.is_cust_sd)
    return classify(ended.call.status or 0, site).value


def _search(kernel_type: int, context: AeContext, call: AeCall | None) -> SearchEntry | None:
    found = call.resolution if call else None
    if call is None or found is None:
        return None
    return SearchEntry.of_search(kernel_type, context, found, AeStatus.SUCCESS, call.status)


def _after(event: AeEvent | None, call: AeCall | None) -> str | None:
    """The parameter bytes after the call: those of the segment that the function got."""
    if event is None or call is None or call.returned is None:
        return None
    for segment, after in zip(event.argument.segments, call.returned.segments, strict=False):
        if segment.address <= event.argument.address < segment.address + len(segment.data):
            return after.hex()
    return None


def _crash(verdict: Verdict | None, call: AeCall | None) -> ErrorEntry | None:
    if verdict is None:
        return None
    where = None
    if call is not None and call.resolution is not None:
        where = printable(f"{brief(call.symbol or '')} of {_library(call)}")
    hint = printable("; ".join(verdict.hints)) or None
    return ErrorEntry(CRASH_KIND, printable(verdict.what), where, "", hint, None, None)


def _overrun(call: AeCall | None) -> ErrorEntry | None:
    """What a device would not have seen: memory beside the parameters is somebody else's there."""
    overruns = call.returned.overruns if call is not None and call.returned is not None else ()
    if not overruns or call is None:
        return None
    where = printable(f"{brief(call.symbol or '')} of {_library(call)}")
    hint = "the function returned all the same; on a device it has damaged what lies there"
    return ErrorEntry(OVERRUN_KIND, printable("; ".join(overruns)), where, "", hint, None, None)


def _library(call: AeCall) -> str:
    return call.resolution.so_name if call.resolution is not None else "a library"


def _mistags(remarks: Iterable[str]) -> tuple[NoteEntry, ...]:
    return tuple(NoteEntry("AE-103", printable(remark)) for remark in remarks)


def _notes(scheduled: Scheduled | None, call: AeCall | None) -> tuple[NoteEntry, ...]:
    notes = (*(scheduled.notes if scheduled else ()), *(call.notes if call else ()))
    return tuple(map(_note, notes))


def _note(note: Note) -> NoteEntry:
    return NoteEntry(note.rule, printable(note.text))


def _hints(event: AeEvent | None, ended: Ended) -> tuple[str, ...]:
    if event is None:
        return ()
    found: Iterable[str] = ()
    if ended.scheduled is not None:
        found = scheduled_hints(event, ended.scheduled)
    elif ended.call is not None:
        found = call_hints(event, ended.call)
    return tuple(map(printable, found))
