"""Text of files and of errors, as any JSON reader and terminal can take it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, InputError
from cannkit.report.base import ErrorEntry, printable, safe

LETTERS = st.text(st.characters(codec=None), max_size=20)  # surrogates, too
BYTES = st.binary(max_size=20).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("plain", "plain"),
        ("gr\u00fc\u00df", "gr\u00fc\u00df"),
        ("a\udcff\udc80", r"a\xff\x80"),  # bytes of a name
        ("\udcc3\udcbc", "\u00fc"),  # which are UTF-8 together
        ("\ud800\udfff", r"\ud800\udfff"),  # JSON has these
        ("\ud800\udc80\udc7f\udd00", r"\ud800\x80\udc7f\udd00"),
    ],
)
def test_printable(text: str, told: str) -> None:
    assert printable(text) == told


@given(LETTERS | BYTES)
def test_any_text_can_be_written(text: str) -> None:
    told = printable(text)
    assert printable(told) == told
    assert json.loads(json.dumps(told).encode()) == told
    assert safe(told).isprintable()


@given(LETTERS | BYTES)
def test_every_part_of_an_error_can_be_written(text: str) -> None:
    """Its hint and the place that leads it, too."""
    error: CannkitError = InputError(text, where=text, why=text, hint=text)
    for entry in (
        ErrorEntry.of(error),
        ErrorEntry.of(error, text),
        ErrorEntry.of(error, "x" + text),
    ):
        for part in (entry.what, entry.where, entry.why, entry.hint):
            assert (part or "") == printable(part or "")
            (part or "").encode()


def test_no_hint() -> None:
    assert ErrorEntry.of(InputError("what")).hint is None
