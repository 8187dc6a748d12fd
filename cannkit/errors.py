"""Exit codes, and the errors that carry them to the command line."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar, NamedTuple

DEBUG_VAR = "CANNKIT_DEBUG"


class ExitCode(IntEnum):
    """What the process answers to its caller, the same for every command."""

    OK = 0
    NEGATIVE = 1
    USAGE = 2
    INPUT = 3
    REFUSED = 4
    FAULT = 5
    BUG = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


SEVERITY = (
    ExitCode.BUG,
    ExitCode.INPUT,
    ExitCode.REFUSED,
    ExitCode.FAULT,
    ExitCode.NEGATIVE,
    ExitCode.OK,
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The exit code of a run over several inputs: the gravest of theirs."""
    return min(codes, key=SEVERITY.index, default=ExitCode.OK)


def sentence(what: str, where: str | None, why: str) -> str:
    """`what (where): why`, the one line of an error."""
    place = f" ({where})" if where else ""
    reason = f": {why}" if why else ""
    return f"{what}{place}{reason}"


def brief(text: str, limit: int = 128) -> str:
    """`text` for a message: a name that goes on for pages is cut."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


class CannkitError(Exception):
    """An error a user can act on: what failed, where in the input, why, and a hint.

    Every reader raises a child of this class or nothing.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.INPUT
    kind: ClassVar[str] = "error"
    acl: IntEnum | None = None  # the codes of a refusal by the runtime, None for anything else
    rt: IntEnum | None = None

    def __init__(
        self, what: str, *, where: str | None = None, why: str = "", hint: str | None = None
    ) -> None:
        super().__init__(what, where, why, hint)
        self.what = what
        self.where = where
        self.why = why
        self.hint = hint

    def __str__(self) -> str:
        return sentence(self.what, self.where, self.why)

    def __reduce__(self) -> tuple[object, ...]:
        """So that an error can leave the process that met it, whatever its `__init__` takes."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


class UsageError(CannkitError):
    """The command line or a library argument does not make sense."""

    exit_code = ExitCode.USAGE
    kind = "usage"


class InputError(CannkitError):
    """An input is missing, is not readable, or holds nothing to work on."""

    kind = "input"


class OutputError(CannkitError):
    """An output cannot be written."""

    kind = "output"


class BugError(CannkitError):
    """Something cannkit did not foresee."""

    exit_code = ExitCode.BUG
    kind = "bug"


def unexpected(error: Exception) -> CannkitError:
    """What to tell of an exception that nobody foresaw: BugError, or InputError when memory ran out."""
    if isinstance(error, MemoryError):
        return InputError("cannot read the file", why="there is not enough memory for it")
    bug = BugError(
        "internal error",
        why=": ".join(filter(None, (type(error).__name__, str(error))))[:200],
        hint=f"a bug in cannkit: please report it with the output of {DEBUG_VAR}=1",
    )
    bug.__cause__ = error
    return bug


class FormatError(CannkitError):
    """Bytes that do not follow their format; `rule` names the rule of the specification."""

    kind = "format"

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        why: str = "",
        hint: str | None = None,
        rule: str | None = None,
    ) -> None:
        super().__init__(what, where=where, why=why, hint=hint)
        self.rule = rule


class ReadWarning(NamedTuple):
    """A remark made while reading: a stable code, the place, and what is odd there."""

    code: str
    where: str
    message: str
