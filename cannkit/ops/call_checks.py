"""Checks: what is wrong with a call, as an error or, where it is forced, as a remark. Spec 07, section 12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cannkit.errors import ReadWarning, UsageError, brief
from cannkit.ops.description import DescribedTensor
from cannkit.ops.proto_records import Presence, ProtoTensor


class Checks:
    """Collects remarks on a call. Changes. With `force` what would stop it is a remark as well."""

    def __init__(self, *, force: bool = False) -> None:
        self._force = force
        self._remarks: list[ReadWarning] = []

    @property
    def remarks(self) -> tuple[ReadWarning, ...]:
        """In the order in which they came up."""
        return tuple(self._remarks)

    def warn(self, code: str, where: str, message: str) -> None:
        """Something odd that the call may have."""
        self._remarks.append(ReadWarning(code, where, message))

    def fail(self, code: str, where: str, message: str, hint: str | None = None) -> None:
        """Something that the call must not have; raises UsageError unless it is forced."""
        if not self._force:
            raise UsageError(message, hint=hint)
        self.warn(code, where, message)


def check_count(
    op: str,
    what: str,
    given: Sequence[object],
    json: Sequence[DescribedTensor] | None,
    proto: Sequence[ProtoTensor] | None,
    checks: Checks,
) -> None:
    """OPR-506: a count that fits one source is told where another has it differently.

    `json` are the tensors that the JSON has: dynamic also where the prototype alone says so.
    """
    count = len(given)
    sources = []
    if proto is not None:
        low = sum(tensor.kind is Presence.REQUIRED for tensor in proto)
        is_open = any(tensor.kind is Presence.DYNAMIC for tensor in proto)
        sources.append(
            _Wanted("prototype", low, len(proto), is_open, [each.name for each in proto])
        )
    if json is not None:
        low = sum(not tensor.is_dynamic for tensor in json)
        sources.append(
            _Wanted("JSON", low, len(json), low < len(json), [each.name for each in json])
        )
    wrong = [source for source in sources if not source.fits(count)]
    if not wrong:
        return
    told = "; ".join(str(source) for source in wrong)
    are = f"{what} is" if count == 1 else f"{what}s are"
    message = f"{brief(op)}: {count} {are} given, {told}"
    if proto is not None and len(wrong) == len(sources):
        checks.fail("args-differ", f"{what}s", message)
    else:
        checks.warn("args-differ", f"{what}s", message)


class _Wanted(NamedTuple):
    source: str
    low: int
    high: int
    is_open: bool
    names: list[str]

    def fits(self, count: int) -> bool:
        return self.low <= count and (self.is_open or count <= self.high)

    def __str__(self) -> str:
        span = str(self.low) if self.low == self.high else f"{self.low} to {self.high}"
        span = f"at least {self.low}" if self.is_open else span
        return f"the {self.source} has {span} ({', '.join(self.names) or 'none'})"
