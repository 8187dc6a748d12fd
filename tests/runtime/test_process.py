"""Programs of one process, and what goes with them. Spec 02, sections 3, 9, 10, 11."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from cannkit.device.device import Device
from cannkit.device.trace import EventLog
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.kernel import CpuFunction, CpuKernelType
from cannkit.runtime.load_options import LoadOptions, Magic
from cannkit.runtime.old_flow import register_function
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.process import Process
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import NO_ID, Program
from cannkit.soc import find_soc
from tests.device.drivers import Faults, TestDriver
from tests.facts import A2_SOC
from tests.runtime.loading import Function, image_builder


class World(NamedTuple):
    """A process with two started devices, what it destroyed, and how its driver fails."""

    process: Process
    device: Device
    second: Device
    gone: list[Program]
    faults: Faults
    log: EventLog

    def load(self, size: int = 64, *, lazy: bool = False) -> Program:
        data = memoryview(image_builder(size, Function("k_3"), writable=True).build())
        return self.process.binaries.load_from_data(data, LoadOptions.of(lazy=lazy))

    def old(self, *functions: Function) -> ElfProgram:
        """A program whose kernels come under stubs."""
        data = memoryview(image_builder(64, *functions).build())
        program = self.process.binaries.register_binary(data)
        assert isinstance(program, ElfProgram)
        return program

    def live_bytes(self) -> int:
        return self.device.memory.used + self.second.memory.used


def _world(soc: str = A2_SOC, capacity: int = 100) -> World:
    gone: list[Program] = []
    faults, log = Faults(), EventLog()
    process = Process(
        BinaryLoader(find_soc(soc), ProgramPool(capacity)), destroyed=lambda p: gone.append(p)
    )
    driver = TestDriver.sharing(faults)
    first, second = (Device(at, process.soc, driver=driver, trace=log) for at in (0, 1))
    first.start()
    second.start()
    return World(process, first, second, gone, faults, log)


def _bytes(size: int = 64) -> memoryview:
    return memoryview(image_builder(size, Function("k_3"), writable=True).build())


def test_load_without_tiling() -> None:
    """POL-4: copied to the current device at once."""
    world = _world()
    program = world.process.load_without_tiling(_bytes(), world.device)
    assert [place.device for place in world.process.loader.places(program)] == [world.device]
    assert program.by_name("k_3") is program.kernels[0]
    with pytest.raises(RtError, match="loaded without tiling keys"):  # QK-27
        program.by_entry(3)


@pytest.mark.parametrize(
    ("soc", "data", "has_context", "acl"),
    [
        ("Ascend310B1", b"", False, 207000),
        (A2_SOC, b"", False, 107000),
        (A2_SOC, b"no ELF", False, 107002),
        (A2_SOC, b"no ELF", True, 107000),
    ],
)
def test_order_of_checks(soc: str, data: bytes, has_context: bool, acl: int) -> None:
    """Section 3.1, aclrtBinaryLoad."""
    world = _world(soc)
    with pytest.raises(RtError) as caught:
        world.process.load_without_tiling(memoryview(data), world.device if has_context else None)
    assert caught.value.acl == acl
    assert len(world.process.pool) == 0


def test_pool_full() -> None:
    """DEV-26: 507032 in the old flow, and nothing is left of the one refused."""
    world = _world(capacity=1)
    first = world.process.load_old(_bytes(), Magic.ELF, world.device)
    with pytest.raises(RtError) as caught:
        world.process.load_old(_bytes(), Magic.ELF, world.device)
    assert caught.value.acl == 507032
    assert world.process.pool.programs() == (first,)


def test_failed_copy() -> None:
    """The program is destroyed again, its memory is back."""
    world = _world()
    before = world.live_bytes()
    world.faults.plan("copy", 1, RtStatus.DRV_OUT_MEMORY)
    with pytest.raises(RtError) as caught:
        world.process.load_old(_bytes(3 << 20), Magic.ELF, world.device)
    assert caught.value.acl == 207001
    assert (len(world.process.pool), len(world.gone), world.live_bytes()) == (0, 1, before)


def test_unload_of_the_new_flow() -> None:
    """POL-7, DEV-22: off every device, without a context; QK-2 for its symbols."""
    world = _world()
    process, program = world.process, world.load()
    before = world.live_bytes()
    process.functions.register(program, 0x10, "k_3")
    process.variables.register(program, 0x20, "g_opSystemRunCfg", 8)
    for device in (world.device, world.second):
        process.loader.prepare(program, device)
    assert process.unload(program, None) == ()
    assert (world.gone, program.id, len(process.pool)) == ([program], NO_ID, 0)
    assert (len(process.functions), len(process.variables)) == (0, 0)
    assert process.loader.places(program) == ()
    assert world.live_bytes() == before + 2 * (2 << 20)  # a writable pool on each device


def test_unload_reports_an_error() -> None:
    """QK-9: the first error of a device, and the program is destroyed all the same."""
    world = _world()
    program = world.load(3 << 20)
    world.process.loader.prepare(program, world.device)
    world.faults.plan("free", 1, RtStatus.DRV_INPUT)
    with pytest.raises(RtError, match="free failed"):
        world.process.unload(program, world.device)
    assert (world.gone, len(world.process.pool)) == ([program], 0)


def test_unload_of_the_old_flow() -> None:
    """It needs a context, and on an error of the device it lives on. DEV-22."""
    world = _world()
    program = world.process.load_old(_bytes(3 << 20), Magic.ELF, world.device)
    with pytest.raises(RtError) as caught:
        world.process.unload(program, None)
    assert caught.value.acl == 107002
    world.faults.plan("free", 1, RtStatus.DRV_INPUT)
    with pytest.raises(RtError, match="free failed"):
        world.process.unload(program, world.device)
    assert (world.gone, program.id) == ([], 0)
    assert world.process.unload(program, world.device) == ()
    assert world.gone == [program]


def test_unload_elsewhere() -> None:
    """Q-25: taken off the device it is on, where the original leaks."""
    world = _world()
    before = world.live_bytes()
    program = world.process.load_old(_bytes(3 << 20), Magic.ELF, world.device)
    assert world.process.unload(program, world.second) == (world.device.id,)
    assert world.live_bytes() == before


def test_unregister() -> None:
    """POL-7: it lives until the last reference is given back, and its stubs with it."""
    world = _world()
    process, program = world.process, world.old(Function("k_3"))
    register_function(process.stubs, program, 0x40, "stub")
    assert process.stubs.lookup(0x40) is not None  # a reference
    assert not process.unregister(program)
    assert process.is_unregistering(program)
    assert len(process.stubs) == 1
    process.put(program.id)
    assert (world.gone, len(process.stubs), len(process.pool)) == ([program], 0, 0)
    assert not process.is_unregistering(program)


def test_unregister_without_references() -> None:
    world = _world()
    program = world.old(Function("k_3"))
    assert world.process.unregister(program)
    assert world.gone == [program]


def test_unregister_of_the_new_flow() -> None:
    """POL-5: nothing happens to it."""
    world = _world()
    program = world.load()
    assert not world.process.unregister(program)
    assert (world.gone, program.id) == ([], 0)


def test_dependencies() -> None:
    """POL-9: b stays while a is registered."""
    world = _world()
    process, a, b, new = world.process, world.old(), world.old(), world.load()
    assert process.depend(a, b)
    assert not process.depend(a, new)
    assert process.pool.references(b.id) == 2
    assert not process.unregister(b)
    assert process.unregister(a)
    assert world.gone == [b, a]
    assert not process.depend(new, a)  # released


def test_modules() -> None:
    """MOD-1: one for each device, kept while the program is registered."""
    world = _world()
    process, program = world.process, world.old(Function("k_3"))
    before = world.live_bytes()
    module = process.module(program, world.device)
    assert process.module(program, world.device) is module
    assert process.module(program, world.second) is not module
    assert process.pool.references(program.id) == 3
    assert process.unregister(program)
    assert (module.image, world.live_bytes()) == (None, before)


def test_modules_go_with_an_unload() -> None:
    """QK-31: rtBinaryUnLoad frees them, too."""
    world = _world()
    program = world.old(Function("k_3"))
    module = world.process.module(program, world.device)
    world.process.unload(program, world.device)
    assert (module.image, world.gone, len(world.process.pool)) == (None, [program], 0)


def test_reset() -> None:
    """DEV-25, QK-32: no program has anything on the device any more."""
    world = _world()
    process, program, new = world.process, world.old(Function("k_3")), world.load()
    old = process.load_old(_bytes(), Magic.ELF, world.device)
    module = process.module(program, world.device)
    process.loader.prepare(new, world.device)
    process.reset(world.device)
    places = [process.loader.places(known) for known in (program, new, old)]
    assert (module.image, places) == (None, [(), (), ()])
    assert process.pool.references(program.id) == 1
    world.device.start()
    assert process.module(program, world.device) is not module


def test_destroyed_by_the_last_reference() -> None:
    """What it has on devices is given back, where the original leaks it."""
    world = _world()
    before = world.live_bytes()
    program = world.process.load_old(_bytes(3 << 20), Magic.ELF, world.device)
    assert world.process.unregister(program)
    assert (world.live_bytes(), world.process.loader.places(program)) == (before, ())


def test_function_by_symbol() -> None:
    """DEV-13: looked up first, then prepared; no context comes before both."""
    world = _world()
    process, program = world.process, world.load()
    process.functions.register(program, 0x10, "k_3")
    for device, symbol, acl in ((None, 0x99, 107002), (world.device, 0x99, 107044)):
        with pytest.raises(RtError) as caught:
            process.function_by_symbol(symbol, device)
        assert caught.value.acl == acl
    assert process.loader.places(program) == ()
    assert process.function_by_symbol(0x10, world.device).kernel.name == "k_3"
    assert process.loader.on(program, world.device).prepared


def test_variables() -> None:
    """SYM-1: rtSymbolLookup loads the binary, and tells the caller's size."""
    world = _world()
    process, program = world.process, world.load(128, lazy=True)
    process.variables.register(program, 0x20, "g_opSystemRunCfg", 4)
    where = process.variable_range(0x20, world.device)
    assert where == (process.loader.on(program, world.device).aligned + 120, 4)
    with pytest.raises(RtError) as caught:
        process.variable_range(0x21, world.device)
    assert caught.value.acl == 107043


def test_cpu_functions() -> None:
    """CPU-9: a kernel of the program's library; known names are not made again."""
    world = _world()
    process = world.process
    program = process.binaries.load_from_data(memoryview(b"lib"), LoadOptions.of(cpu_mode=2))
    kernel = process.register_cpu_function(program, "Run", "Op", world.device)
    assert kernel.cpu == CpuFunction("Op", program.so_name, "Run", CpuKernelType.AICPU_CUSTOM)
    assert process.register_cpu_function(program, "Other", "Op", world.device) is kernel
    assert [event for event in world.log if type(event).__name__ == "LaunchEvent"]
    with pytest.raises(RtError) as caught:
        process.register_cpu_function(world.load(), "Run", "Op", None)
    assert caught.value.acl == 107000
    with pytest.raises(RtError) as caught:
        process.register_cpu_function(program, "Run", "Op", None)
    assert caught.value.acl == 107002


def test_a_cpu_function_whose_names_do_not_fit() -> None:
    """CPU-9: then it is not entered."""
    world = _world()
    program = world.process.binaries.load_from_data(memoryview(b"lib"), LoadOptions.of(cpu_mode=2))
    world.faults.plan("alloc", 2, RtStatus.DRV_OUT_MEMORY)
    with pytest.raises(RtError) as caught:
        world.process.register_cpu_function(program, "Run", "Op", world.device)
    assert (caught.value.acl, program.kernels) == (207001, ())
