"""Public handles. Spec 02, API-4, QK-1, QK-3."""

from __future__ import annotations

import pytest

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.handles import NULL, Handle, HandleKind, Handles


class Bin(Handle):
    KIND = HandleKind.BINARY


class Func(Handle):
    KIND = HandleKind.FUNCTION


def test_kinds() -> None:
    """API-4: the magics are four letters each."""
    letters = [kind.letters for kind in HandleKind]
    assert letters == ["BINH", "FUNC", "ARGS", "PARA", "LARG", "STRM"]


def test_find() -> None:
    handles = Handles()
    binary, function = Bin(), Func()
    handles.add(binary)
    handles.add(function)
    assert (binary.id, function.id, len(handles)) == (1, 2, 2)
    assert handles.find(1, Bin) is handles.get(1) is binary
    assert handles.find(2, Func) is function


@pytest.mark.parametrize(
    ("handle", "why"),
    [
        (1, "handle 1 was destroyed"),
        (2, "handle 2 is a function handle"),
        (3, "there is no handle 3"),
        (-1, "there is no handle -1"),
        (0x7FFF_0000_1234, "there is no handle 140733193392692"),
    ],
)
def test_no_handle(handle: int, why: str) -> None:
    """QK-1: a clear error where the original reads freed or foreign memory."""
    handles = Handles()
    handles.add(Bin())
    handles.add(Func())
    handles.destroy(1)
    handles.destroy(1)
    with pytest.raises(RtError, match=f"not a binary handle: {why}") as caught:
        handles.find(handle, Bin)
    assert (caught.value.rt, caught.value.acl) == (RtStatus.INVALID_HANDLE, 107017)


def test_null() -> None:
    """QK-3: 107000, where the original crashes."""
    with pytest.raises(RtError, match="null function handle") as caught:
        Handles().find(NULL, Func)
    assert (caught.value.rt, caught.value.acl) == (RtStatus.INVALID_VALUE, 107000)


def test_ids_never_come_twice() -> None:
    handles = Handles()
    for number in range(1, 1000):
        binary = Bin()
        handles.add(binary)
        assert binary.id == number
        handles.destroy(number)
    assert len(handles) == 0
