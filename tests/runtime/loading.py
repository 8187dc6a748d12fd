"""Look-alikes of real objects for loading, and a process to load them in."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from cannkit.device.device import Device, DeviceConfig
from cannkit.device.trace import EventLog
from cannkit.format.elf_types import Binding, SectionType, SymbolType
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import CpuFunction, CpuKernelType, cpu_kernel
from cannkit.runtime.load import Loader
from cannkit.runtime.program import ElfProgram, PlainProgram, register
from cannkit.runtime.program_base import Flow
from cannkit.soc import find_soc
from tests.build import SHF_ALLOC, SHF_EXEC, SHF_WRITE, ObjectBuilder
from tests.device.drivers import Faults, TestDriver, as_recorded
from tests.facts import A2_SOC, read

DATA_SIZE: Final = 8


class Function(NamedTuple):
    """A global function of the image."""

    name: str = "k_0"
    offset: int = 0
    length: int = 64


def image_builder(
    size: int,
    *functions: Function,
    writable: bool = False,
    at: int = 0xB0,
    binary_meta: bytes = b"",
    kind: int = 2,
) -> ObjectBuilder:
    """An object whose device image has `size` bytes from file offset `at` on."""
    builder = ObjectBuilder(type=kind)
    data_size = min(DATA_SIZE, size) if writable else 0
    text = bytes(step * 7 & 0xFF for step in range(min(size - data_size, 4096)))
    builder.section(
        ".text", text.ljust(size - data_size, b"\x5a"), flags=SHF_ALLOC | SHF_EXEC, at=at
    )
    if writable:
        flags = SHF_ALLOC | SHF_WRITE
        builder.section(".data", bytes(data_size), flags=flags, addr=size - data_size)
        builder.symbol(
            "g_opSystemRunCfg", SymbolType.OBJECT, section=".data", value=size - 8, size=256
        )
        builder.symbol(
            "g_weak", SymbolType.OBJECT, Binding.WEAK, section=".data", value=size - 8, size=8
        )
    if binary_meta:
        builder.section(".ascend.meta", binary_meta, SectionType.NOTE)
    for function in functions or (Function(),):
        builder.symbol(function.name, value=function.offset, size=function.length)
    return builder


def image_program(
    size: int,
    *functions: Function,
    soc: str = A2_SOC,
    writable: bool = False,
    flow: Flow = Flow.NEW,
    lazy: bool = False,
) -> ElfProgram:
    """A registered program whose image has `size` bytes."""
    built = image_builder(size, *functions, writable=writable).build()
    program = register(read(built, soc), flow)
    program.is_lazy = lazy
    return program


def cpu_program(
    *functions: str,
    library: bytes = bytes(65536),
    so_name: str = "libcust_aicpu_kernels.so",
    mode: int = 1,
    soc: str = A2_SOC,
) -> PlainProgram:
    """An AI CPU program with a kernel for each function name, called `Op<function>`."""
    program = PlainProgram(find_soc(soc))
    program.so_name = so_name
    program.keep(memoryview(library), mode)
    program.enter(
        cpu_kernel(CpuFunction(f"Op{name}", so_name, name, CpuKernelType.AICPU_CUSTOM))
        for name in functions
    )
    return program


def refused(status: RtStatus, acl: int, call: object, *arguments: object) -> RtError:
    assert callable(call)
    with pytest.raises(RtError) as caught:
        call(*arguments)
    assert (caught.value.rt, int(caught.value.acl)) == (status, acl)
    return caught.value


class Process:
    """A loader with started devices of one chip; what they ask is in `log`."""

    def __init__(self, soc: str = A2_SOC, *, lenient: bool = False, pool: bool = True) -> None:
        self.soc = find_soc(soc)
        self.log = EventLog()
        self.faults = Faults()
        self.loader = Loader(lenient=lenient)
        self.config = DeviceConfig(use_pool=pool)

    def device(self, number: int = 0) -> Device:
        driver = TestDriver.sharing(self.faults)
        device = Device(number, self.soc, self.config, driver=driver, trace=self.log)
        device.start()
        self.log.clear()
        return device

    def told(self) -> list[list[object]]:
        """What was asked since the last time, in the words of the recorded rows."""
        events = as_recorded(self.log)
        self.log.clear()
        return events

    def kinds(self) -> list[object]:
        return [event[0] for event in self.told()]
