"""The document of `cannkit sqe`: queue entries field by field. cli.md, section 6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Self

from cannkit.errors import CannkitError, ReadWarning
from cannkit.format.bits import Record
from cannkit.format.sqe import RECORDS, IdMode, decode_sqe, restore_ids, v100
from cannkit.format.sqe.dump import Dump, Evidence
from cannkit.report.base import Document, ErrorEntry, WarningEntry, document
from cannkit.report.sqe_fields import ContextEntry, FieldEntry

DOUBLE: Final = 53  # bits of a whole number that every JSON reader keeps
NAMES: Final = {kind: name for records in RECORDS.values() for name, kind in records.items()}
FAMILIES: Final = {kind: family for family, records in RECORDS.items() for kind in records.values()}
HEADER_WORDS: Final = 2
HEADERS: Final = tuple(records["header"] for records in RECORDS.values())


@document
class IdsEntry:
    """Stream and task. An A5 entry names no stream, and of the task its serial number (Q-18).

    `mode` says how a mix carries them: `same_task_id` and `software_queue` exchange them (LCH-73).
    """

    stream_id: int | None
    task_id: int
    mode: str

    @classmethod
    def of(cls, sqe: Record) -> Self | None:
        """The ids of an entry; None of a context."""
        if isinstance(sqe, v100.MixContext):
            return None
        if isinstance(sqe, v100.Header):
            ids = restore_ids(sqe)
            return cls(ids.stream_id, ids.task_id, ids.mode.name.lower())
        return cls(None, getattr(sqe, "task_sn", 0), IdMode.PLAIN.name.lower())


@document
class SqeEntry(Document):
    """An entry, or with 128 bytes the context of one that is not there.

    `arch` is v100 (A2, A3), v200 (A5) or null where nothing tells; `guessed` unless it was given.
    `evidence` tells why: soc, label of the log line, bytes, none. `record` names the layout: kernel,
    mix, aicpu, context, or header where nothing is known of the rest.
    """

    arch: str | None
    guessed: bool
    type: int | None
    size: int
    hex: str
    fields: tuple[FieldEntry, ...]
    type_name: str | None
    record: str | None
    c_name: str | None
    ids: IdsEntry | None
    evidence: str
    label: str | None
    line: int | None
    context: ContextEntry | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, record: Record, context: v100.MixContext | None = None) -> Self:
        """The entry of a record whose family is known."""
        return cls._of(record, context, Evidence.SOC)

    @classmethod
    def of_dump(cls, dump: Dump) -> Self:
        """The entry of what a text holds."""
        if dump.family is None:
            return cls._unknown(dump)
        decode = v100.MixContext.decode
        record = decode(dump.raw) if dump.is_context else decode_sqe(dump.raw, dump.family)
        context = decode(dump.context) if dump.context is not None else None
        return cls._of(record, context, dump.evidence, dump)

    @classmethod
    def _of(
        cls,
        record: Record,
        context: v100.MixContext | None,
        evidence: Evidence,
        dump: Dump | None = None,
    ) -> Self:
        raw, fields = record.encode(), FieldEntry.all_of(record)
        kind: int | None = getattr(record, "sqe_type", None)
        return cls(
            arch=FAMILIES[type(record)].value,
            guessed=evidence is not Evidence.SOC,
            type=None if kind is None else int(kind),
            size=len(raw),
            hex=raw.hex(),
            fields=fields,
            type_name=None if kind is None else fields[0].meaning,
            record=NAMES[type(record)],
            c_name=record.C_NAME,
            ids=IdsEntry.of(record),
            evidence=evidence.value,
            label=dump.label or None if dump else None,
            line=dump.line if dump else None,
            context=None if context is None else ContextEntry.of(context),
            notes=(*(dump.notes if dump else ()), *_notes(record)),
        )

    @classmethod
    def _unknown(cls, dump: Dump) -> Self:
        return cls(
            arch=None,
            guessed=True,
            type=None,
            size=len(dump.raw),
            hex=dump.raw.hex(),
            fields=tuple(FieldEntry.words_of(dump.raw)),
            type_name=None,
            record=None,
            c_name=None,
            ids=None,
            evidence=dump.evidence.value,
            label=dump.label or None,
            line=dump.line,
            context=None,
            notes=dump.notes,
        )


def _notes(record: Record) -> Iterator[str]:
    """What is odd about an entry as a whole."""
    if isinstance(record, v100.MixSqe) and record.sqe_type == v100.SqeType.INVALID:
        yield "its context could not be copied to the device (Q-10)"


@document
class SqeDocument(Document):
    """The entries that a text holds, or the one that was made."""

    SCHEMA: ClassVar[str] = "cannkit.sqe/1"
    sqes: tuple[SqeEntry, ...]
    warnings: tuple[WarningEntry, ...]
    error: ErrorEntry | None

    @classmethod
    def of(
        cls,
        sqes: Sequence[SqeEntry],
        warnings: Sequence[ReadWarning] = (),
        error: CannkitError | None = None,
    ) -> Self:
        """The document of entries, what is missing beside them, and what ended the reading."""
        failed = None if error is None else ErrorEntry.of(error)
        return cls(tuple(sqes), tuple(map(WarningEntry.of, warnings)), failed)
