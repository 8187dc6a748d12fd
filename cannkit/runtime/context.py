"""Contexts: which device a thread works on. Spec 03, DEV-2, DEV-3, DEV-25, STR-1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import local
from typing import Final

from cannkit.device.device import Device
from cannkit.errors import UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.load import current
from cannkit.soc import Soc

CONTEXT_DELETED: Final = RtStatus(0x0707_0003)  # CONTEXT_DEL -> 507007
LONGEST_LIST: Final = 128  # DEV-3


class Context:
    """The primary context of a device. Changes: how often it was set, and whether it lives."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.references = 0
        self.alive = True


class CurrentContext(local):
    """The context of the running thread."""

    context: Context | None = None


class Contexts:
    """The primary context of every device in use, and the current one of each thread. Changes.

    `ids` are the devices that the user sees, by user id (DEV-3); `make` makes the device of an id
    when it is first used. Call these from one thread at a time, but for `device`.
    """

    def __init__(self, ids: Sequence[int], make: Callable[[int], Device]) -> None:
        self.ids = tuple(ids)
        self.thread = CurrentContext()
        self._make = make
        self._devices: dict[int, Device] = {}
        self._live: dict[int, Context] = {}

    @property
    def devices(self) -> Mapping[int, Device]:
        """Every device that was ever used, by its own id; a view."""
        return self._devices

    @property
    def device(self) -> Device | None:
        """The current device of this thread, None without a context.

        Raises RtError CONTEXT_DEL (507007) where another thread has reset it.
        """
        context = self.thread.context
        if context is None:
            return None
        if not context.alive:
            why = f"device {context.device.id} was reset by another thread"
            raise RtError(CONTEXT_DELETED, "the current context is gone", why=why)
        return context.device

    @property
    def context(self) -> Context:
        """The current context; raises RtError: 107002 without one, 507007 as `device` does."""
        current(self.device)
        assert self.thread.context is not None
        return self.thread.context

    def set_device(self, user_id: int) -> Device:
        """aclrtSetDevice: make a device current, started at first need. DEV-2.

        Raises RtError: DEVICE_ID (107001) for an id the process does not see, and as `Device.start`.
        """
        device_id = self._device_id(user_id)
        context = self._live.get(device_id)
        if context is None:
            device = self._devices.get(device_id) or self._make(device_id)
            device.start()
            self._devices[device_id] = device
            context = self._live[device_id] = Context(device)
        context.references += 1
        self.thread.context = context
        return context.device

    def reset_device(self, user_id: int) -> Context | None:
        """aclrtResetDevice: give a SetDevice back; the context that ended, None while one is left.

        The caller resets the device of that context (DEV-25). Raises RtError: 107001, and 107002 for
        a device that is not in use.
        """
        context = self._live.get(self._device_id(user_id))
        if context is None:
            why = f"device {user_id} is not in use"
            raise RtError(RtStatus.CONTEXT_NULL, "nothing to reset", why=why)
        context.references -= 1
        if context.references:
            return None
        context.alive = False
        del self._live[context.device.id]
        if self.thread.context is context:
            self.thread.context = None
        return context

    def user_id(self, device: Device) -> int:
        """What the user calls a device."""
        return self.ids.index(device.id)

    def _device_id(self, user_id: int) -> int:
        if not 0 <= user_id < len(self.ids):
            why = f"there are {len(self.ids)} devices"
            raise RtError(RtStatus.DEVICE_ID, f"no device {user_id}", why=why)
        return self.ids[user_id]


def visible_devices(listed: str | None, count: int, soc: Soc) -> tuple[int, ...]:
    """DEV-3: the devices that a process sees of `count`; `listed` is ASCEND_RT_VISIBLE_DEVICES.

    None, and any text on a chip without the feature, leave all visible. The list ends at the first
    element that is no number or no device. Raises UsageError for more than 128 characters, and for
    ids that do not ascend.
    """
    if listed is None or not soc.has_visible_devices:
        return tuple(range(count))
    if len(listed) > LONGEST_LIST:
        why = f"{len(listed)} characters, at most {LONGEST_LIST}"
        raise UsageError("unusable list of visible devices", why=why)
    ids: list[int] = []
    for item in listed.split(","):
        if not (item.isascii() and item.isdigit() and int(item) < count):
            break
        if ids and int(item) <= ids[-1]:
            why = f"{item} after {ids[-1]}: ids must ascend"
            raise UsageError("unusable list of visible devices", where=listed, why=why)
        ids.append(int(item))
    return tuple(ids)
