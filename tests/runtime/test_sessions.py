"""Recorded sessions of loading: answers, addresses, and what the driver was asked, in order.

cannkit differs where the tables of the chapters say so. Which rule that is, is told from the step and
from what we know of the session, never from a list of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cannkit.format.status import RtStatus
from tests.facts import rows
from tests.runtime.answers import OK, Answer
from tests.runtime.sessions import Session

pytestmark = pytest.mark.corpus

Row = dict[str, Any]


def _differing(row: Row, corpus: Path) -> list[str]:
    """The rules by which the session differs; raises AssertionError where none explains a step."""
    session = Session(row, corpus)
    used = []
    for op, theirs in zip(row["ops"], row["out"], strict=True):
        before = session.bare_addresses(op)
        ours = session.run(op)
        if ours == theirs:
            continue
        assert ours is not None
        rule = _rule(session, op, ours, theirs, before)
        assert rule, (op, ours, theirs)
        used.append(rule)
    return used


def _rule(
    session: Session, op: Mapping[str, Any], ours: Answer, theirs: Answer, bare: Answer | None
) -> str | None:
    asked, told = ours.get("ev", []), theirs.get("ev", [])
    match op["op"]:
        case "faddr" if ours.get("ret") == RtStatus.KERNEL_INVALID and bare is not None:
            return "QK-7" if theirs == ours | OK | bare else None
        case "unload" if ours["ret"] and theirs == OK | {"ev": asked}:
            return "Q-9"
        case "unload" if session.leaks and ours | {"ev": told} == OK | {"ev": told}:
            return "Q-24" if [event for event in asked if event in told] == told else None
        case "unload":  # the image of a Module: theirs is freed a second time
            rest = [event for event in told if event not in asked]
            return "QK-31" if {event[2] for event in rest} <= session.module_bases else None
        case "state":
            known = {base for pair in theirs["addr"] for base in pair[:2]}
            return "QK-31" if known - {0} <= session.module_bases else None
        case "modrel" if ours["freed"] and theirs == {"freed": False}:
            return "QK-31"
    return None


@pytest.mark.parametrize("row", rows("load"), ids=lambda row: f"{row['id']}-{row['style']}")
def test_recorded_sessions(row: Row, corpus: Path) -> None:
    assert set(_differing(row, corpus)) <= {"QK-7", "Q-9", "Q-24", "QK-31"}


def test_few_steps_differ(corpus: Path) -> None:
    """Guards the comparison: most sessions are the same to the last byte, each rule is seen."""
    rules: Counter[str] = Counter()
    for row in rows("load"):
        rules.update(set(_differing(row, corpus)) or {"exact"})
    assert rules == {"exact": 33, "QK-7": 5, "Q-24": 1, "QK-31": 1}
