"""The call of the AI CPU engine in the document of `cannkit launch`. cli.md, sections 6 and 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from cannkit.ae.ae_run import AeRun
from cannkit.ae.hints import scheduled_hints
from cannkit.ae.operations import Ended
from cannkit.device.trace import AiCpuEvent
from cannkit.report.ae_parts import ChildEntry, KernelTypeEntry, ResponseEntry
from cannkit.report.base import CodeEntry, document, printable
from cannkit.report.so_path import AttemptEntry, NoteEntry, code_entry


@document
class LaunchAeEntry:
    """The last block that ran on the AI CPU; `attempts` are the paths that the first one asked for.

    `notes` and the child's seconds and output are those of all blocks.
    `status` is the engine's code, null where it was not asked or nothing is known of the library.
    `response` is what the task scheduler gets, null where the task was not executed or its process died.
    """

    so_name: str | None
    func_name: str | None
    kernel_type: KernelTypeEntry
    cust_sd: bool
    attempts: tuple[AttemptEntry, ...]
    loaded: str | None
    status: CodeEntry | None
    returned: int | None
    class_: Literal["ok", "special", "error"]
    response: ResponseEntry | None
    blocks: int
    block: int
    child: ChildEntry | None
    notes: tuple[NoteEntry, ...]
    hints: tuple[str, ...]

    @classmethod
    def of(cls, events: Sequence[AiCpuEvent]) -> Self | None:
        """The entry of a task that was told of in these events; None where it did not get there."""
        runs = [event.story for event in events if isinstance(event.story, AeRun)]
        if not runs:
            return None
        first, last = runs[0], runs[-1]
        call, searched = last.call, first.call.resolution if first.call else None
        scheduled, event = last.scheduled, last.event
        hints: tuple[str, ...] = last.verdict.hints if last.verdict else ()
        if scheduled is not None and last.is_executed and last.verdict is None:
            hints = tuple(scheduled_hints(event, scheduled))
        return cls(
            so_name=_text(event.so_name),
            func_name=_text(event.func_name),
            kernel_type=KernelTypeEntry.of(event.kernel_type),
            cust_sd=last.is_cust_sd,
            attempts=tuple(map(AttemptEntry.of, searched.attempts)) if searched else (),
            loaded=_text(searched.loaded if searched else None),
            status=code_entry(call.status) if call and last.is_executed else None,
            returned=call.returned.code if call and call.returned else None,
            class_=_class(last),
            response=ResponseEntry.of(last.response),
            blocks=events[-1].blocks,
            block=events[-1].block,
            child=ChildEntry.of(_ended(last)),
            notes=tuple(NoteEntry(note.rule, printable(note.text)) for note in last.notes),
            hints=tuple(map(printable, hints)),
        )


def _ended(run: AeRun) -> Ended:
    """The end of the last call, with the output of all of them."""
    call, verdict = run.call, run.verdict
    if verdict is not None:
        verdict = verdict._replace(output=run.output)
    if call is not None and call.returned is not None:
        call = call._replace(returned=call.returned._replace(output=run.output))
    seconds = None if run.seconds is None else round(run.seconds, 2)
    return Ended(run.scheduled, call, verdict, seconds)


def _class(run: AeRun) -> Literal["ok", "special", "error"]:
    if not run.is_executed:
        return "ok"
    return "error" if run.scheduled is None or run.overruns else run.scheduled.log.value


def _text(text: str | None) -> str | None:
    return None if text is None else printable(text)
