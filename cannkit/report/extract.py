"""The document of `cannkit extract`: what was embedded, and where it lies now. cli.md, section 9."""

from __future__ import annotations

from typing import ClassVar, Self

from cannkit.errors import ExitCode
from cannkit.extract.members import Extraction, Member
from cannkit.report.base import (
    ErrorEntry,
    FileError,
    ResultDocument,
    WarningEntry,
    document,
    printable,
)


@document
class MemberEntry:
    """An embedded file: an object by what it came out of, or a `sidecar`. `size` is in bytes."""

    name: str
    kind: str
    size: int
    sha256: str
    written: str | None

    @classmethod
    def of(cls, member: Member) -> Self:
        """The entry of a member."""
        written = None if member.written is None else printable(member.written)
        return cls(printable(member.name), member.kind, member.size, member.sha256, written)


@document
class ExtractDocument(ResultDocument):
    """All members in their order. `error` is why they were not written, `errors` what was not read."""

    SCHEMA: ClassVar[str] = "cannkit.extract/1"
    members: tuple[MemberEntry, ...]
    error: ErrorEntry | None
    errors: tuple[FileError, ...]
    warnings: tuple[WarningEntry, ...]

    @classmethod
    def of(cls, found: Extraction) -> Self:
        """The document of an extraction."""
        return cls(
            members=tuple(map(MemberEntry.of, found.members)),
            error=None if found.problem is None else ErrorEntry.of(found.problem),
            errors=tuple(FileError.of(*each) for each in found.errors),
            warnings=tuple(map(WarningEntry.of, found.warnings)),
        )

    @property
    def has_content(self) -> bool:
        """See ResultDocument: what was written before an error is told, too."""
        return bool(self.members) and (
            self.error is None or any(member.written for member in self.members)
        )

    @property
    def exit_code(self) -> ExitCode:
        """Anything that was not read or not written."""
        return ExitCode.INPUT if self.error or self.errors else ExitCode.OK
