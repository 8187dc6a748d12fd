"""What documents share: text that any terminal and JSON reader can take, errors, 64-bit values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar, dataclass_transform

from cannkit.errors import CannkitError, ExitCode, ReadWarning, sentence
from cannkit.format.status import AclStatus, RtError, RtStatus

T = TypeVar("T")

NO_BYTES: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates that stand for no byte


@dataclass_transform(frozen_default=True, eq_default=False)
def document(cls: type[T]) -> type[T]:
    """A frozen dataclass for a shape of JSON, without the methods that nobody calls.

    Made for every run of a command, these shapes take half the time so.
    """
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)


class Pattern:
    """Marks a text that JSON Schema describes by a regular expression."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __get_pydantic_json_schema__(self, schema: object, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}


class PlainDict:
    """Marks a `typing.TypedDict`, which pydantic takes from Python 3.12 on only."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        import typing_extensions  # here, for only `cannkit schema` needs it

        make: Any = typing_extensions.TypedDict
        return handler.generate_schema(make(source.__name__, source.__annotations__))


U64 = Annotated[str, Pattern("^[0-9]+$")]  # decimal text: it outgrows a double
Address = Annotated[str, Pattern("^0x[0-9a-f]+$")]


def printable(text: str) -> str:
    r"""`text` that can be written anywhere: bytes that were no UTF-8 are `\xff`.

    JSON and host models have surrogates of their own, which are `\ud800`.
    """
    if text.isascii():
        return text
    text = NO_BYTES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def safe(text: str) -> str:
    r"""`text` with what is not printable as `\x1b`: a name can not drive or fake a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@document
class Document:
    """A public JSON shape: its fields are the keys, in their order."""

    SCHEMA: ClassVar[str]

    @property
    def exit_code(self) -> ExitCode:
        """What the process answers when this is all it has to say."""
        return ExitCode.OK


@document
class CodeEntry:
    """A status code with its name."""

    code: int
    name: str

    @classmethod
    def of(cls, status: RtStatus | AclStatus | None) -> Self | None:
        """The entry of a status, or None for none."""
        return None if status is None else cls(int(status), status.c_name)


@document
class ErrorEntry:
    """An error as `cannkit: error:` tells it."""

    kind: str
    what: str
    where: str | None
    why: str
    hint: str | None
    acl: CodeEntry | None
    rt: CodeEntry | None

    def __str__(self) -> str:
        line = sentence(self.what, self.where, self.why)
        codes = [f"{c.code} {c.name} ({c.code:#x})" for c in (self.acl, self.rt) if c]
        return f"{line} [{', '.join(codes)}]" if codes else line

    @classmethod
    def of(cls, error: CannkitError, place: str = "") -> Self:
        """The entry of an error, its `where` led by the file and member it happened in."""
        where, place = printable(error.where or ""), printable(place)
        if place not in where:
            where = f"{place}, {where}" if where else place
        what, why, hint = map(printable, (error.what, error.why, error.hint or ""))
        acl, rt = (error.acl, error.rt) if isinstance(error, RtError) else (None, None)
        codes = CodeEntry.of(acl), CodeEntry.of(rt)
        return cls(error.kind, what, where or None, why, hint or None, *codes)


@document
class FileError:
    """A file, or a member of it, that could not be read, and why."""

    file: str
    error: ErrorEntry

    @classmethod
    def of(cls, place: str, error: CannkitError) -> Self:
        """The entry of a file and what was wrong with it."""
        shown = printable(place)
        return cls(shown, ErrorEntry.of(error, shown))


@document
class WarningEntry:
    """A remark made while reading."""

    code: str
    where: str
    message: str

    @classmethod
    def of(cls, warning: ReadWarning) -> Self:
        """The entry of a warning."""
        return cls(warning.code, printable(warning.where), printable(warning.message))


@document
class ResultDocument(Document):
    """A document about one input: what the printer of text and the loop over inputs ask of it.

    Its kinds have the fields `file`, `warnings` and `error`.
    """

    @property
    def place(self) -> str:
        """File and member, as one text."""
        return str(getattr(self, "file", ""))

    @property
    def has_content(self) -> bool:
        """Whether there is more to show than the error."""
        return self.problem is None

    @property
    def remarks(self) -> tuple[WarningEntry, ...]:
        """Its warnings."""
        return getattr(self, "warnings", ())

    @property
    def problem(self) -> ErrorEntry | None:
        """Its error."""
        return getattr(self, "error", None)
