"""Errors: their one line, and the way out of the process that met them."""

from __future__ import annotations

import pickle

import pytest

from cannkit.errors import (
    BugError,
    CannkitError,
    ExitCode,
    FormatError,
    InputError,
    OutputError,
    UsageError,
    unexpected,
)
from cannkit.format.status import RtError, RtStatus
from cannkit.inputs.contents import NothingInsideError
from cannkit.inputs.files import NoSuchFileError, read_host

ERRORS = (
    CannkitError("what", where="place", why="reason", hint="do it"),
    UsageError("what"),
    InputError("what", where="place"),
    NoSuchFileError("what", why="reason"),
    OutputError("what"),
    FormatError("what", where="offset 0x0", why="reason", rule="ELF-01"),
    NothingInsideError("dir", "a directory"),
    RtError(RtStatus.FEATURE_NOT_SUPPORT, "what", why="reason"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_leaves_its_process(error: CannkitError) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert found.__dict__ == error.__dict__
    assert (str(found), found.args) == (str(error), error.args)
    assert (found.acl, found.rt, found.exit_code) == (error.acl, error.rt, error.exit_code)


def test_an_error_of_the_system_does_so_too() -> None:
    with pytest.raises(InputError) as caught:
        read_host("/proc", 1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_unexpected() -> None:
    found = unexpected(ValueError("x" * 300))
    assert isinstance(found, BugError)
    assert (found.exit_code, found.why) == (ExitCode.BUG, f"ValueError: {'x' * 188}")
    assert isinstance(unexpected(MemoryError()), InputError)
