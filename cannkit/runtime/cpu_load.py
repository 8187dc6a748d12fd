"""Names and libraries of AI CPU programs on a device. Spec 03, section 5."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, NamedTuple

from cannkit.device.allocation import Bytes
from cannkit.device.device import Device
from cannkit.device.driver import CpuLaunch
from cannkit.format.cust_so import LOAD_KERNEL, UNLOAD_KERNEL, BatchArgs, CpuSoBuf
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.program import PlainProgram

WITH_LIBRARY: Final = (1, 2)  # CPU-1: modes in which the library goes to the device
LARGEST_LIBRARY: Final = (1 << 31) - 1


NameMark = tuple[frozenset[str], frozenset[str]]
NO_NAMES: Final[NameMark] = (frozenset(), frozenset())


class NameAddresses(NamedTuple):
    """Where the two names of an AI CPU kernel lie on one device."""

    so: int
    function: int


class DeviceNames:
    """CPU-2: the names that one program has on one device, one copy of each text. Changes."""

    def __init__(self, device: Device) -> None:
        self.so: dict[str, int] = {}
        self.function: dict[str, int] = {}
        self._device = device

    def store(self, kernel: Kernel) -> None:
        """Copy both names of a kernel to the device unless they are there.

        Raises RtError of the driver; a name already copied stays (CPU-3).
        """
        if kernel.cpu is not None:
            for names, text in self._places(kernel):
                if text not in names:
                    names[text] = self._copy(text)

    def addresses(self, kernel: Kernel) -> NameAddresses | None:
        """Where the names of a kernel lie; None when they are not there."""
        if kernel.cpu is None:
            return None
        so, function = (names.get(text) for names, text in self._places(kernel))
        return None if so is None or function is None else NameAddresses(so, function)

    def mark(self) -> NameMark:
        """Which names are there now."""
        return frozenset(self.so), frozenset(self.function)

    def free(self, keep: NameMark = NO_NAMES) -> list[RtError]:
        """DEV-23: give back the names but those to keep, each map in byte order; the errors met."""
        errors = []
        for names, kept in zip((self.so, self.function), keep, strict=True):
            for text in sorted(names.keys() - kept, key=name_bytes):
                try:
                    self._device.free(names.pop(text))
                except RtError as error:
                    errors.append(error)
        return errors

    def _places(self, kernel: Kernel) -> tuple[tuple[dict[str, int], str], ...]:
        assert kernel.cpu is not None
        return (self.so, kernel.cpu.kernel_so), (self.function, kernel.cpu.function)

    def _copy(self, text: str) -> int:
        raw = name_bytes(text) + b"\0"
        memory_type = self._device.name_memory_type(len(raw))
        return place(self._device, raw, memory_type=memory_type)


def name_bytes(text: str) -> bytes:
    """The bytes of a name."""
    return text.encode("utf-8", "surrogateescape")


def place(device: Device, raw: Bytes, *, memory_type: int, file_offset: int | None = None) -> int:
    """The address of new memory that holds `raw`. Raises RtError of the driver, with nothing left."""
    address = device.allocate(len(raw), memory_type=memory_type)
    try:
        device.copy_to_device(address, raw, file_offset=file_offset)
    except RtError:
        with suppress(RtError):
            device.free(address)
        raise
    return address


def hand_over(program: PlainProgram, device: Device, *, load: bool) -> None:
    """Send the library of a CPU program to the AI CPU process, or take it away. CPU-5, CPU-6.

    Does nothing without a library, or on XPU. What is allocated for it is freed in any case, for the
    device keeps a copy of its own. Raises RtError: INVALID_VALUE for an empty library or name and
    one of 2 GiB (Q-16, Q-17), else that of the driver; a failed start is not tried twice (Q-27).
    """
    if program.cpu_mode not in WITH_LIBRARY or program.soc.is_xpu or not program.is_cpu:
        return
    library, name = program.image(), name_bytes(program.so_name)
    _check_library(program, len(library), len(name))
    taken: list[int] = []

    def put(raw: Bytes, file_offset: int | None = None) -> int:
        address = device.allocate(len(raw))
        taken.append(address)
        device.copy_to_device(address, raw, file_offset=file_offset)
        return address

    try:
        so_address = put(library, 0) if load else 0
        buf = CpuSoBuf(so_address, len(library), put(name), len(name))
        args = BatchArgs(1, put(buf.encode()))
        device.driver.start_ai_cpu()
        device.launch_cpu(CpuLaunch(LOAD_KERNEL if load else UNLOAD_KERNEL, None, args.encode()))
        device.driver.synchronize()
    finally:
        for address in taken:
            with suppress(RtError):  # told in the trace; nothing is left to undo
                device.free(address)


def _check_library(program: PlainProgram, size: int, name_size: int) -> None:
    why = ""
    if not name_size:
        why = "the library has no name"
    elif not size:
        why = "the library is empty"
    elif size > LARGEST_LIBRARY:
        why = f"the library has {size} bytes, its size is sent in 32 bits"
    if why:
        what = "cannot hand the library of a CPU program over"
        raise RtError(RtStatus.INVALID_VALUE, what, where=program.so_name or None, why=why)
