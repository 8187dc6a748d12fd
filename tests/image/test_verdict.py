"""Whether the runtime accepts an object. Spec 01, OUT-03 and JSN-05."""

from __future__ import annotations

import json

import pytest

from cannkit.format.sidecar import Sidecar, read_sidecar
from cannkit.format.status import RtStatus
from cannkit.image.kernel_meta import Refusal
from cannkit.image.verdict import ACCEPTED, judge
from tests.build import OBJECTS
from tests.objects import BUILDERS, PRINTF


def options(value: object) -> Sidecar:
    return read_sidecar(json.dumps({"debugOptions": value}).encode())


@pytest.mark.parametrize("sidecar", [None, read_sidecar(b"{}"), read_sidecar(b"[]")])
def test_nothing_against_it(sidecar: Sidecar | None) -> None:
    assert judge((), sidecar) == (ACCEPTED, ACCEPTED)


@pytest.mark.parametrize("value", ["printf", "assert,printf", "xprintfx"])
def test_printf_keeps_from_loading_by_file(value: str) -> None:
    """JSN-05: by substring; from data there is no sidecar (JSN-03)."""
    verdict = judge((), options(value))
    assert verdict.from_data == ACCEPTED
    assert not verdict.from_file.accepted
    assert verdict.from_file[1:3] == ("JSN-05", RtStatus.FEATURE_NOT_SUPPORT)


@pytest.mark.parametrize("value", ["", "assert", "timestamp,oom", "PRINTF"])
def test_other_options_load(value: str) -> None:
    assert judge((), options(value)).from_file == ACCEPTED


@pytest.mark.parametrize("value", [1, None, ["printf"], {}])
def test_options_must_be_a_string(value: object) -> None:
    """JSN-05."""
    outcome = judge((), options(value)).from_file
    assert outcome[:3] == (False, "JSN-05", RtStatus.INVALID_VALUE)


def test_refusal_of_the_runtime_comes_before_the_sidecar() -> None:
    """JSN-03: the sidecar is read after the object."""
    refusals = (Refusal("FUN-07", "flag"), Refusal("FUN-08", "ratio"))
    verdict = judge(refusals, options("printf"))
    assert verdict.from_file == verdict.from_data
    assert verdict.from_data[:3] == (False, "FUN-07", RtStatus.INVALID_VALUE)  # ELF-03


def test_strictness_of_cannkit_has_no_code_of_the_runtime() -> None:
    outcome = judge((Refusal("HAZ-06", "extent", rt=False),), None).from_data
    assert (outcome.accepted, outcome.rt) == (False, None)


@pytest.mark.parametrize("stem", [operator.stem for operator, _ in BUILDERS])
def test_fixtures(stem: str) -> None:
    outcome = judge((), read_sidecar((OBJECTS / f"{stem}.json").read_bytes())).from_file
    assert outcome.accepted == (stem != PRINTF.stem)
