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
    "Runtime.launch",
    "Runtime.prepare",
    "Runtime.register_model",
    "Runtime.binary",
    "Runtime.function",
    "BinaryHandle.function_of",
    "BinaryHandle.on_exception",
    "FunctionHandle.target",
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


@pytest.mark.parametrize("call", [*ACL_CALLS, *RT_CALLS], ids=str)
def test_docstrings(call: Call) -> None:
    """Every public call names the ACL call, and the rt call, that it stands for."""
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
    assert public - OURS == {call.python for call in (*ACL_CALLS, *RT_CALLS)}


def test_no_name_twice() -> None:
    for calls in (ACL_CALLS, RT_CALLS):
        pythons = [call.python for call in calls]
        assert len(set(pythons)) == len(pythons)
    assert len({call.acl for call in ACL_CALLS}) == len(ACL_CALLS)
