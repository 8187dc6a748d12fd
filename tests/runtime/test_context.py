"""Contexts and visible devices. Spec 03, DEV-2, DEV-3, DEV-25, STR-1."""

from __future__ import annotations

from threading import Thread

import pytest

from cannkit.device.device import Device, DeviceConfig
from cannkit.device.stacks import StackConfig
from cannkit.errors import UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.context import Contexts, visible_devices
from cannkit.soc import find_soc
from tests.facts import A2_SOC

SOC = find_soc(A2_SOC)


def _contexts(*ids: int, custom_stack: int = 32768) -> Contexts:
    config = DeviceConfig(stacks=StackConfig(custom=custom_stack))
    return Contexts(ids, lambda device_id: Device(device_id, SOC, config))


def _refusal(contexts: Contexts, user_id: int, *, reset: bool = False) -> RtError:
    with pytest.raises(RtError) as caught:
        contexts.reset_device(user_id) if reset else contexts.set_device(user_id)
    return caught.value


def test_set_and_reset() -> None:
    """DEV-2: a count of how often it was set; the device starts with the first."""
    contexts = _contexts(0, 1)
    assert contexts.device is None
    assert not contexts.devices
    device = contexts.set_device(0)
    assert device.started
    again = contexts.set_device(0)
    assert again is contexts.context.device is device
    assert contexts.reset_device(0) is None
    ended = contexts.reset_device(0)
    assert ended is not None
    assert (ended.device, ended.alive, contexts.device) == (device, False, None)
    assert contexts.set_device(0) is device  # the same one, started again
    assert contexts.context is not ended


def test_another_device() -> None:
    contexts = _contexts(0, 1)
    zero, one = contexts.set_device(0), contexts.set_device(1)
    assert (contexts.device, dict(contexts.devices)) == (one, {0: zero, 1: one})
    assert contexts.reset_device(0) is not None
    assert contexts.device is one  # another one was reset


@pytest.mark.parametrize("user_id", [-1, 2, 64])
def test_unknown_device(user_id: int) -> None:
    for reset in (False, True):
        error = _refusal(_contexts(0, 1), user_id, reset=reset)
        assert (error.rt, error.acl) == (RtStatus.DEVICE_ID, 107001)


def test_reset_of_an_unused_device() -> None:
    assert _refusal(_contexts(0), 0, reset=True).acl == 107002


def test_a_device_that_does_not_start() -> None:
    """EX-DEV-10: a custom stack above the chip's limit; nothing becomes current."""
    contexts = _contexts(0, custom_stack=200_000)
    assert _refusal(contexts, 0).acl == 107000
    assert contexts.device is None
    assert not contexts.devices


def test_each_thread_has_its_own() -> None:
    """STR-1: current is per thread; a context that another thread has reset is 507007."""
    contexts = _contexts(0, 1)
    device = contexts.set_device(0)
    seen: list[object] = []

    def other() -> None:
        seen.append(contexts.device)
        contexts.set_device(1)
        seen.append(contexts.device)
        contexts.reset_device(0)

    thread = Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [None, contexts.devices[1]]
    with pytest.raises(RtError, match="device 0 was reset by another thread") as caught:
        _ = contexts.device
    assert caught.value.acl == 507007
    contexts.set_device(0)
    assert contexts.device is device


def test_no_context() -> None:
    with pytest.raises(RtError, match="no current context") as caught:
        _ = _contexts(0).context
    assert caught.value.acl == 107002


def test_user_ids() -> None:
    """DEV-3: user id i is the i-th visible device."""
    contexts = _contexts(2, 5)
    assert contexts.set_device(1).id == 5
    assert contexts.user_id(contexts.devices[5]) == 1
    assert _refusal(contexts, 5).acl == 107001


@pytest.mark.parametrize(
    ("listed", "visible"),
    [
        (None, (0, 1, 2, 3)),
        ("0,2,3", (0, 2, 3)),
        ("1", (1,)),
        ("", ()),
        ("1,x,3", (1,)),
        ("1, 2", (1,)),
        ("1,-2", (1,)),
        ("1,4,2", (1,)),
        ("\u0663", ()),
        ("0," * 63 + "1", None),
        ("2,1", None),
        ("1,1", None),
        ("1" * 129, None),
    ],
)
def test_visible_devices(listed: str | None, visible: tuple[int, ...] | None) -> None:
    """DEV-3: what stands before the first odd element counts; ids must ascend."""
    if visible is None:
        with pytest.raises(UsageError, match="unusable list"):
            visible_devices(listed, 4, SOC)
    else:
        assert visible_devices(listed, 4, SOC) == visible


def test_chips_that_show_all_devices() -> None:
    assert visible_devices("1", 2, find_soc("Ascend031")) == (0, 1)
