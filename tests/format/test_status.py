"""Codes and their translation. Spec 02, section 1."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, ExitCode
from cannkit.format.status import INNER_BASE, AclStatus, RtError, RtStatus, external
from cannkit.report.base import ErrorEntry

# The table of section 1: name, inner code, external code, its name.
TABLE: Final = """
DEVICE_NULL              07010001 507033 DEV_SETUP_ERROR
STREAM_NULL              07030001 507000 INTERNAL_ERROR
STREAM_NEW               07030002 207001 MEMORY_ALLOCATION
STREAM_CONTEXT           07030003 107003 STREAM_CONTEXT
CONTEXT_NULL             07070001 107002 CONTEXT_NULL
KERNEL_NULL              07080001 507000 INTERNAL_ERROR
KERNEL_NEW               07080002 207001 MEMORY_ALLOCATION
KERNEL_LOOKUP            07080003 507027 KERNEL_LOOKUP
KERNEL_NAME              07080004 507000 INTERNAL_ERROR
KERNEL_TYPE              07080005 507000 INTERNAL_ERROR
KERNEL_DUPLICATE         07080007 507028 KERNEL_DUPLICATE
KERNEL_UNREGISTERING     07080008 507024 KERNEL_UNREGISTERING
KERNEL_INVALID           07080009 107017 INVALID_HANDLE
SYMBOL_NOT_FOUND         0708000A 107042 SYMBOL_NOT_FOUND
INVALID_SYMBOL           0708000B 107043 INVALID_SYMBOL
INVALID_DEVICE_FUNCTION  0708000C 107044 INVALID_DEVICE_FUNCTION
PROGRAM_BASE             07090000 507000 INTERNAL_ERROR
PROGRAM_NULL             07090001 507000 INTERNAL_ERROR
PROGRAM_NEW              07090002 207001 MEMORY_ALLOCATION
PROGRAM_DATA             07090003 507000 INTERNAL_ERROR
PROGRAM_SIZE             07090004 507000 INTERNAL_ERROR
PROGRAM_MACHINE_TYPE     07090006 507000 INTERNAL_ERROR
PROGRAM_USEOUT           07090007 507032 PROGRAM_USE_OUT
MODULE_NULL              070A0001 507000 INTERNAL_ERROR
MODULE_NEW               070A0002 207001 MEMORY_ALLOCATION
INSTANCE_NULL            070B0001 507000 INTERNAL_ERROR
API_NULL                 070C0001 507000 INTERNAL_ERROR
INVALID_VALUE            07110001 107000 PARAM_INVALID
SEC_HANDLE               07110003 507000 INTERNAL_ERROR
CALLOC                   07110007 507000 INTERNAL_ERROR
METADATA                 0711000A 107000 PARAM_INVALID
FEATURE_NOT_SUPPORT      0711000D 207000 FEATURE_NOT_SUPPORT
MEMORY_ALLOCATION        0711000E 207001 MEMORY_ALLOCATION
INVALID_HANDLE           07110016 107017 INVALID_HANDLE
DRV_OUT_MEMORY           07020016 207001 MEMORY_ALLOCATION
DRV_ERR                  07020010 507899 DRV_INTERNAL_ERROR
"""

# Spec 03: 2.7 and the chain of 10.2, as far as section 1 of 02 does not say it.
MORE: Final = {
    0x07010003: 107001,
    0x07150025: 507014,
    0x07150026: 507015,
    0x07150027: 507016,
    0x07150028: 507017,
    0x0715002A: 507018,
    0x0715005D: 507034,
    0x0715005E: 507035,
    0x0715005F: 507036,
    0x0715005B: 207003,
    0x07150061: 207016,
    0x0715006F: 507902,
    0x07010026: 507053,
    0x07150050: 507011,
    0x07150059: 107020,
    0x07180002: 507904,
    0x07150062: 507001,
    # ERR-3: no entry in the table
    0x0715005C: 507000,
    0x07200000: 507000,
    0x071F0001: 507000,
}


@pytest.mark.parametrize("line", TABLE.split("\n")[1:-1], ids=lambda line: line.split()[0])
def test_every_row_of_the_table(line: str) -> None:
    name, inner, number, acl_name = line.split()
    status = RtStatus(int(inner, 16))
    assert status.c_name == f"RT_ERROR_{name}"
    assert (status.acl, external(status)) == (int(number), int(number))
    assert status.acl.c_name == f"ACL_ERROR_RT_{acl_name}"
    assert status.meaning
    assert status.acl.meaning


@pytest.mark.parametrize(("inner", "number"), MORE.items(), ids=hex)
def test_codes_of_the_device(inner: int, number: int) -> None:
    assert external(inner) == number


def test_zero_and_unknown_codes() -> None:
    """API-1."""
    assert external(0) == 0
    assert external(507018) == 507018
    assert external(1) == 1
    assert external(0x07FFFFFF) == AclStatus.RT_INTERNAL_ERROR
    assert RtStatus(0x07FFFFFF).c_name == "RT_ERROR_UNKNOWN_0x7ffffff"
    assert (RtStatus(0x07FFFFFF).meaning, AclStatus(7).meaning) == ("", "")
    assert AclStatus(7).c_name == "ACL_ERROR_UNKNOWN_0x7"


def test_codes_of_the_table_have_names() -> None:
    """API-2: also those that no rule here needs, so that a caller who prints one sees which it is."""
    assert (AclStatus(507035).name, int(AclStatus(507035))) == ("RT_VECTOR_CORE_EXCEPTION", 507035)
    assert RtStatus(0x0715005E).name == "TSFW_VECTOR_CORE_EXCEPTION"
    assert AclStatus(507035).c_name == "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"


@given(st.integers(0, INNER_BASE - 1))
def test_what_is_no_inner_code_passes(code: int) -> None:
    assert external(code) == code


@given(st.integers(INNER_BASE, 1 << 32))
def test_no_inner_code_gets_out(code: int) -> None:
    assert 100_000 <= external(code) < 600_000


def test_members_are_named_as_in_the_tables() -> None:
    for status in RtStatus:
        assert status.meaning, status
    for acl in AclStatus:
        assert acl.meaning, acl


@pytest.mark.parametrize(
    ("number", "category"),
    [(107000, "caller"), (100000, "caller"), (207001, "resource"), (507018, "internal"), (0, "")],
)
def test_category(number: int, category: str) -> None:
    """API-2."""
    assert AclStatus(number).category == category


def test_an_error_carries_both_codes() -> None:
    error = RtError(RtStatus.PROGRAM_USEOUT, "no id left", where="k.o", why="full", hint="unload")
    assert isinstance(error, CannkitError)
    assert (error.rt, error.acl) == (RtStatus.PROGRAM_USEOUT, AclStatus.RT_PROGRAM_USE_OUT)
    assert (error.exit_code, error.kind) == (ExitCode.REFUSED, "runtime")
    assert str(error) == "no id left (k.o): full"


def test_an_error_of_the_acl_layer_has_no_inner_code() -> None:
    error = RtError(AclStatus.INVALID_PARAM, "path is null")
    assert (error.rt, error.acl) == (None, 100000)
    assert error.collapsed().acl == AclStatus.RT_PARAM_INVALID


def test_a_collapsing_call_keeps_the_cause() -> None:
    error = RtError(RtStatus.FEATURE_NOT_SUPPORT, "no printf", why="why", hint="hint")
    told = error.inside("k.o").collapsed()
    assert (told.rt, told.acl) == (RtStatus.FEATURE_NOT_SUPPORT, AclStatus.RT_PARAM_INVALID)
    assert (str(told), told.hint) == ("no printf (k.o): why", "hint")
    assert told.inside("a.whl").where == "a.whl, k.o"


def test_the_document_has_both_codes() -> None:
    entry = ErrorEntry.of(RtError(RtStatus.INVALID_VALUE, "refused"), "k.o")
    assert entry.acl is not None
    assert entry.rt is not None
    assert (entry.acl.code, entry.acl.name) == (107000, "ACL_ERROR_RT_PARAM_INVALID")
    assert (entry.rt.code, entry.rt.name) == (0x07110001, "RT_ERROR_INVALID_VALUE")
    acl_only = ErrorEntry.of(RtError(AclStatus.INVALID_PARAM, "null"))
    assert (acl_only.rt, acl_only.acl is not None) == (None, True)
    plain = ErrorEntry.of(CannkitError("what"))
    assert (plain.acl, plain.rt) == (None, None)
