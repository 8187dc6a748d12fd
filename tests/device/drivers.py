"""The driver behind the recorded rows: it keeps books, and fails when it is told to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from cannkit.device.allocation import Bytes
from cannkit.device.driver import CpuLaunch, MemoryRequest, SimulatedDriver
from cannkit.device.memory import DeviceMemory, RegionName
from cannkit.device.trace import (
    AdviseEvent,
    AllocEvent,
    CopyEvent,
    Event,
    FreeEvent,
    LaunchEvent,
    PrintBufferEvent,
    PrintKind,
)
from cannkit.format.status import RtError, RtStatus
from cannkit.soc import Soc
from tests.facts import SOC_OF_PROFILE

SOCS: Final = SOC_OF_PROFILE | {
    "350": "ascend350",
    "310B": "Ascend310B1",
    "MC62": "MC62CM12A",
    "MC32": "MC32DM11A",
    "9201": "CLOUD_V5",
}
FNV_BASIS, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


class Faults:
    """The n-th next call of a kind answers a code; what all drivers of a session share."""

    def __init__(self) -> None:
        self.due: dict[str, list[tuple[int, int]]] = {}
        self.next_address: int | None = None
        self.l2: tuple[int, int] = (0, 0)  # code, value

    def plan(self, kind: str, after: int, code: int) -> None:
        self.due.setdefault(kind, []).append((after, code))

    def check(self, kind: str) -> None:
        waiting = [(left - 1, code) for left, code in self.due.get(kind, [])]
        self.due[kind] = [pair for pair in waiting if pair[0] > 0]
        for left, code in waiting:
            if left <= 0 and code:
                raise RtError(RtStatus(code), f"{kind} failed, as told")


class TestDriver(SimulatedDriver):
    """The simulated driver with faults, an address of choice and an L2 offset of choice."""

    __test__ = False

    def __init__(self, memory: DeviceMemory, faults: Faults) -> None:
        super().__init__(memory)
        self._places = memory
        self._faults = faults

    @classmethod
    def sharing(cls, faults: Faults) -> Any:
        def make(memory: DeviceMemory, soc: Soc) -> TestDriver:
            return cls(memory, faults)

        return make

    def allocate(self, request: MemoryRequest) -> int:
        self._faults.check("alloc")
        address, self._faults.next_address = self._faults.next_address, None
        if address is None:
            return super().allocate(request)
        return self._places.allocate(request.size, RegionName.DATA_RW, at=address)

    def free(self, address: int) -> None:
        self._faults.check("free")
        super().free(address)

    def copy_to_device(self, address: int, contents: Bytes) -> None:
        self._faults.check("copy")
        super().copy_to_device(address, contents)

    def advise(self, address: int, size: int, *, read_only: bool) -> None:
        self._faults.check("advise")
        super().advise(address, size, read_only=read_only)

    def print_buffer(self, kind: PrintKind, size: int, *, reader: bool) -> int:
        self._faults.check("print")
        return super().print_buffer(kind, size, reader=reader)

    def c2c_address(self) -> int:
        self._faults.check("c2c")
        return super().c2c_address()

    def l2_cache_offset(self) -> int:
        code, value = self._faults.l2
        if code:
            raise RtError(RtStatus(code), "l2 failed, as told")
        return value

    def start_ai_cpu(self) -> None:
        self._faults.check("aicpusd")

    def launch(self, launch: CpuLaunch) -> None:
        self._faults.check("launch")

    def synchronize(self) -> None:
        self._faults.check("sync")


def fnv1a(raw: Bytes) -> int:
    """CPU-3 of chapter 02."""
    value = FNV_BASIS
    for byte in bytes(raw):
        value = (value ^ byte) * FNV_PRIME & 0xFFFF_FFFF_FFFF_FFFF
    return value


def as_recorded(events: Iterable[Event]) -> list[list[Any]]:
    """Events in the words of the rows; what the rows do not tell is left out."""
    return [told for event in events if (told := _told(event))]


def _told(event: Event) -> list[Any]:
    told: list[Any]
    match event:
        case AllocEvent(device, size, memory_type, module, read_only, address):
            told = ["alloc", device, size, memory_type, module, read_only, address]
        case FreeEvent(device, address):
            told = ["free", device, address]
        case CopyEvent(_, address, _, contents, None):
            raw = bytes(contents)
            told = ["copy", address, len(raw), "bytes"]
            told.append(raw.hex() if len(raw) <= 64 else fnv1a(raw))
        case CopyEvent(_, address, _, contents, offset):
            told = ["copy", address, len(contents), "file", offset, fnv1a(contents)]
        case AdviseEvent():
            told = ["advise", event.device, *event.asked, int(event.advice)]
        case PrintBufferEvent(device, kind, reader):
            told = ["printbuf", device, kind.name.lower(), "reader" if reader else "noreader"]
        case LaunchEvent(_, kernel, so_name, args):
            told = ["launch", kernel, so_name, args.hex()]
        case _:
            return []
    return told + ([int(event.status)] if event.status else [])
