"""Whether the runtime accepts an object, from a file and from data. Spec 01, OUT-03."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cannkit.errors import brief
from cannkit.format.sidecar import Sidecar
from cannkit.format.status import RtStatus
from cannkit.image.kernel_meta import Refusal


class Outcome(NamedTuple):
    """Accepted, or the rule, runtime code and reason of the refusal.

    `rt` is None where cannkit refuses what the runtime would read out of bounds.
    """

    accepted: bool
    rule: str | None = None
    rt: RtStatus | None = None
    message: str | None = None


class Verdict(NamedTuple):
    """`from_file` reads the sidecar too, `from_data` never does (JSN-03)."""

    from_file: Outcome
    from_data: Outcome


ACCEPTED: Final = Outcome(True)


def judge(refusals: Sequence[Refusal], sidecar: Sidecar | None) -> Verdict:
    """The verdict on an object with these refusals, the gravest being the first."""
    from_data = _refused(refusals[0]) if refusals else ACCEPTED
    from_file = from_data if refusals else _by_sidecar(sidecar)
    return Verdict(from_file, from_data)


def _refused(refusal: Refusal) -> Outcome:
    status = RtStatus.INVALID_VALUE if refusal.rt else None
    return Outcome(False, refusal.rule, status, refusal.message)


def _by_sidecar(sidecar: Sidecar | None) -> Outcome:
    """JSN-05: the runtime refuses to load a kernel built for printf from a file."""
    if sidecar is None or "debugOptions" not in sidecar.keys:
        return ACCEPTED
    options = sidecar.debug_options
    if options is None:
        return Outcome(
            False, "JSN-05", RtStatus.INVALID_VALUE, "debugOptions of the sidecar is not a string"
        )
    if "printf" in options:
        return Outcome(
            False,
            "JSN-05",
            RtStatus.FEATURE_NOT_SUPPORT,
            f"debugOptions of the sidecar is {brief(options)!r}: built with printf it loads from data only",
        )
    return ACCEPTED
