"""The table of calls against the classes that carry them out. Spec 02, section 3.1."""

from __future__ import annotations

from inspect import getdoc, isfunction

import pytest

from cannkit.api.binary import BinaryHandle
from cannkit.api.calls import ACL_CALLS, RT_CALLS, Call
from cannkit.api.function import FunctionHandle
from cannkit.api.runtime import Runtime

CLASSES = {cls.__name__: cls for cls in (Runtime, BinaryHandle, FunctionHandle)}
OURS = {  # they stand for no call
    "Runtime.load_object",
    "Runtime.binary",
    "Runtime.function",
    "BinaryHandle.function_of",
    "BinaryHandle.on_reset",
    "BinaryHandle.on_destroyed",
}
ISSUE = {
    "aclrtCreateBinary",
    "aclrtDestroyBinary",
    "aclrtBinaryLoad",
    "aclrtBinaryUnLoad",
    "aclrtBinaryLoadFromFile",
    "aclrtBinaryLoadFromData",
    "aclrtBinaryGetFunction",
    "aclrtBinaryGetFunctionByEntry",
    "aclrtBinaryGetDevAddress",
    "aclrtBinaryGetGlobal",
    "aclrtBinarySetExceptionCallback",
    "aclrtLaunchKernel",
    "aclrtLaunchKernelV2",
    "aclrtLaunchKernelWithConfig",
    "aclrtLaunchKernelWithHostArgs",
    "aclrtLaunchKernelWithArgsArray",
}


def test_the_16_names() -> None:
    by_acl = {call.acl: call for call in ACL_CALLS}
    assert by_acl.keys() >= ISSUE
    assert len(ISSUE) == 16
    launches = {call.acl for call in ACL_CALLS if call.python is None}
    assert all(name.startswith(("aclrtLaunchKernel", "aclrtLaunchSIMT")) for name in launches)
    assert len(launches & ISSUE) == 5


@pytest.mark.parametrize("call", [c for c in (*ACL_CALLS, *RT_CALLS) if c.python], ids=str)
def test_docstrings(call: Call) -> None:
    """Every public call names the ACL call, and the rt call, that it stands for."""
    assert call.python is not None
    owner, _, name = call.python.partition(".")
    method = getattr(CLASSES[owner], name)
    words = (getdoc(method) or "").split()
    assert {call.acl, call.rt} - {""} <= {word.strip("(),.;") for word in words}
    assert "Raises RtError" in " ".join(words) or call.acl == "aclrtCreateBinary"


def test_nothing_is_left_out() -> None:
    public = {
        f"{cls.__name__}.{name}"
        for cls in CLASSES.values()
        for base in cls.__mro__
        for name, member in vars(base).items()
        if isfunction(member) and not name.startswith("_")
    }
    assert public - OURS == {call.python for call in (*ACL_CALLS, *RT_CALLS)} - {None}


def test_no_name_twice() -> None:
    for calls in (ACL_CALLS, RT_CALLS):
        pythons = [call.python for call in calls if call.python]
        assert len(set(pythons)) == len(pythons)
    assert len({call.acl for call in ACL_CALLS}) == len(ACL_CALLS)
