"""Pointers of a process: what memory they lead to, and bytes copied between them. Spec 03, MEM-9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cannkit.device.allocation import Bytes
from cannkit.device.device import Device
from cannkit.device.driver import copy_error
from cannkit.device.memory import AddressSpace, DeviceFaultError, HostMemory
from cannkit.device.trace import CopyKind
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.malloc_policy import bad_parameter

PIECE: Final = 64 << 20  # MEM-7: bytes of one asynchronous copy

Source = int | Bytes  # an address, or host memory of the caller
Target = int | bytearray | memoryview

# MEM-9: whether source and target of a copy are on a device.
SIDES: Final[Mapping[CopyKind, tuple[bool, bool]]] = {
    CopyKind.HOST_TO_HOST: (False, False),
    CopyKind.HOST_TO_DEVICE: (False, True),
    CopyKind.DEVICE_TO_HOST: (True, False),
    CopyKind.DEVICE_TO_DEVICE: (True, True),
    CopyKind.HOST_BUFFER_TO_DEVICE: (False, True),
}


class Place(NamedTuple):
    """Where a pointer leads: memory of the caller, pinned host memory, a device, or nowhere."""

    name: str
    space: AddressSpace | None = None
    device: Device | None = None

    @property
    def on_device(self) -> bool:
        """Whether it is an address of a device."""
        return self.device is not None


CALLER: Final = Place("host memory of the caller")
NOWHERE: Final = Place("no memory of this process")


class Pointers:
    """Tells host and device addresses apart. `devices` are those in use, by id; it may change."""

    def __init__(self, host: HostMemory, devices: Mapping[int, Device]) -> None:
        self._host = host
        self._devices = devices

    def place(self, pointer: Source | Target) -> Place:
        """Where a pointer leads. An address counts by its region, whether memory is live there or not."""
        if not isinstance(pointer, int):
            return CALLER
        if self._host.region_of(pointer):
            return Place("pinned host memory", self._host)
        for device in self._devices.values():
            if device.memory.region_of(pointer):
                return Place(f"device {device.id}", device.memory, device)
        return NOWHERE

    def copy_kind(self, target: Target, source: Source, kind: int) -> CopyKind:
        """MEM-9: the kind, by the pointers where it is DEFAULT.

        Raises RtError INVALID_VALUE for pointers that do not fit the kind.
        """
        ends = self.place(source), self.place(target)
        sides = ends[0].on_device, ends[1].on_device
        kind = CopyKind(kind)
        if NOWHERE not in ends:
            if kind is CopyKind.DEFAULT:
                return next(found for found, known in SIDES.items() if known == sides)
            if SIDES[kind] == sides:
                return kind
        raise invalid("cannot copy", f"{kind.name}: from {ends[0].name} to {ends[1].name}")

    def copy(self, target: Target, source: Source, count: int) -> None:
        """Copy bytes, front to back. Raises RtError DEVICE_MEM_ERROR for what is not live."""
        source_at, target_at = self.place(source), self.place(target)
        for at in range(0, count, PIECE):
            size = min(PIECE, count - at)
            _put(target_at, target, at, _get(source_at, source, at, size))


def check_copy(
    target: Target | None, limit: int, source: Source | None, count: int, kind: int
) -> None:
    """MEM-6: the parameters. Raises RtError: 100000 for null or an unknown kind, 107000 by size."""
    if is_null(target) or is_null(source):
        raise bad_parameter("cannot copy", "null pointer")
    if not CopyKind(kind).known:
        raise bad_parameter("cannot copy", f"no such kind of copy: {kind}")
    if limit == 0 or count > limit:
        raise invalid("cannot copy", f"{count} bytes into {limit}")
    check_buffer(source, count)
    check_buffer(target, count, written=True)


def check_buffer(pointer: Source | Target | None, count: int, *, written: bool = False) -> None:
    """Memory of the caller must hold what is asked of it. Raises RtError INVALID_VALUE."""
    if pointer is not None and not isinstance(pointer, int):
        view = memoryview(pointer)
        if view.nbytes < count:
            raise invalid("no such memory", f"{count} bytes of a buffer of {view.nbytes}")
        if written and view.readonly:
            raise invalid("no such memory", f"a {type(pointer).__name__} that is read-only")


def is_null(pointer: Source | Target | None) -> bool:
    """Whether a pointer is None or the address 0."""
    return pointer is None or (isinstance(pointer, int) and pointer == 0)


def invalid(what: str, why: str) -> RtError:
    """A parameter error of the runtime: 107000."""
    return RtError(RtStatus.INVALID_VALUE, what, why=why)


def _get(place: Place, source: Source, at: int, size: int) -> Bytes:
    if not isinstance(source, int):
        return memoryview(source).cast("B")[at : at + size]
    if place.device:
        return place.device.copy_from_device(source + at, size)
    assert place.space is not None
    try:
        return place.space.read(source + at, size)
    except DeviceFaultError as fault:
        raise copy_error(fault) from fault


def _put(place: Place, target: Target, at: int, contents: Bytes) -> None:
    if not isinstance(target, int):
        memoryview(target).cast("B")[at : at + len(contents)] = contents
    elif place.device:
        place.device.copy_to_device(target + at, contents)
    else:
        assert place.space is not None
        try:
            place.space.write(target + at, contents)
        except DeviceFaultError as fault:
            raise copy_error(fault) from fault
