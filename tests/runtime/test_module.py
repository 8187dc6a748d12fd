"""Modules of the old flow. Spec 02, section 10; spec 03, section 2.8."""

from __future__ import annotations

import pytest

from cannkit.device.memory import DeviceFaultError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import AttrType
from cannkit.runtime.module import Module, Modules
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.program import ElfProgram, PlainProgram
from cannkit.runtime.program_base import Flow
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.loading import Function, Process, image_program

RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000
CODE = RtStatus(0x07020024)


def setting(soc: str = A2_SOC, *, pool: bool = True) -> tuple[Process, ProgramPool, Modules]:
    process, programs = Process(soc, pool=pool), ProgramPool()
    return process, programs, Modules(process.loader, programs.get, programs.put)


def old_program(programs: ProgramPool, size: int = 100, **options: bool | str) -> ElfProgram:
    soc = str(options.pop("soc", A2_SOC))
    program = image_program(size, soc=soc, flow=Flow.OLD, writable=bool(options.get("writable")))
    programs.add(program)
    return program


def cpu_binary(programs: ProgramPool, data: bytes, soc: str = A2_SOC) -> PlainProgram:
    program = PlainProgram(find_soc(soc), Flow.STUBS, AttrType.AICPU)
    program.keep(memoryview(data))
    programs.add(program)
    return program


def test_a_module_is_made_once_and_counted() -> None:
    """MOD-1: one for each program and device, with a reference on the program."""
    process, programs, modules = setting()
    device, other = process.device(0), process.device(1)
    program = old_program(programs)
    first, second = modules.take(program, device), modules.take(program, device)
    elsewhere = modules.take(program, other)
    assert first is second
    assert elsewhere is not first
    assert (first.references, programs.references(program.id)) == (2, 3)
    assert not modules.release(first)
    assert modules.release(first)
    assert modules.release(elsewhere)
    assert programs.references(program.id) == 1


def test_image_addresses_and_prefetch() -> None:
    """MOD-2, MOD-3, MOD-4: 1280 bytes more on SIMT chips, counted by the prefetch."""
    process, programs, modules = setting(A5_SOC)
    device = process.device()
    pair = Function("m_1_mix_aic", 0), Function("m_1_mix_aiv", 2048)
    program = image_program(8192, *pair, soc=A5_SOC, flow=Flow.OLD)
    programs.add(program)
    module = modules.take(program, device)
    assert module.image is not None
    assert (module.image.base, module.image.size) == (RO, 8192 + 1280)
    (kernel,) = program.kernels
    assert module.function(kernel) == (RO, RO + 2048)
    assert module.prefetch(kernel) == ((8192 + 1280) // 2048, (8192 + 1280 - 2048) // 2048)
    single = image_program(4096, soc=A5_SOC, flow=Flow.OLD)
    assert modules.take(single, device).function(single.kernels[0]).pc2 is None


def test_an_ai_cpu_program_is_loaded_whole_with_its_names() -> None:
    """MOD-2: names before the image, size + 1 allocated; a so name of nothing is asked for too."""
    process, programs, modules = setting(pool=False)
    device = process.device()
    data = bytes(range(200))
    program = cpu_binary(programs, data)
    module = modules.take(program, device, b"one\0two\0")
    assert process.told()[:4] == [
        ["alloc", 0, 9, 2, 7, False, RW],
        ["copy", RW, 8, "bytes", b"one\0two\0".hex()],
        ["alloc", 0, 0, 2, 7, False, RW + 0x1000],
        ["copy", RW + 0x1000, 0, "bytes", ""],
    ]
    assert module.image is not None
    assert module.image.read_only
    assert device.memory.read(module.image.aligned, 200) == data
    modules.release(module)
    assert process.told() == [
        ["free", 0, RO],
        ["free", 0, RW],
        ["free", 0, RW + 0x1000],
    ]
    named = cpu_binary(programs, data)
    named.so_name = "liba.so"
    modules.take(named, device, b"")
    assert [event[0] for event in process.told()] == ["alloc", "advise", "copy", "advise"]
    other = cpu_binary(programs, data)
    other.so_name = "liba.so"
    module = modules.take(other, device, b"k\0")
    assert device.memory.read(module.so_address, 7) == b"liba.so"


def test_an_image_of_nothing() -> None:
    """MOD-2: 0x07090004."""
    process, programs, modules = setting()
    program = cpu_binary(programs, b"")
    with pytest.raises(RtError) as caught:
        modules.take(program, process.device())
    assert caught.value.rt is RtStatus.PROGRAM_SIZE
    with pytest.raises(RtError) as caught:
        modules.take(program, None)
    assert caught.value.rt is RtStatus.CONTEXT_NULL


@pytest.mark.parametrize(
    ("kind", "number"), [("alloc", 1), ("alloc", 2), ("alloc", 3), ("copy", 1), ("copy", 3)]
)
def test_a_failed_load_leaves_nothing(kind: str, number: int) -> None:
    """MOD-2, Q-29: nor does it hold a reference or publish its base."""
    process, programs, modules = setting(pool=False)
    device = process.device()
    program = cpu_binary(programs, bytes(100))
    used = device.memory.used
    process.faults.plan(kind, number, CODE)
    with pytest.raises(RtError) as caught:
        modules.take(program, device, b"k\0")
    assert caught.value.rt == CODE
    assert device.memory.used == used
    assert programs.references(program.id) == 1
    assert process.loader.find(program, device) is None
    assert modules.take(program, device, b"k\0").references == 1


def test_its_base_is_published_and_withdrawn() -> None:
    """MOD-2, QK-31: loads are skipped while it is there, and only then; nothing is freed twice."""
    process, programs, modules = setting(pool=False)
    device, loader = process.device(), process.loader
    program = old_program(programs)
    module = modules.take(program, device)
    assert module.image is not None
    assert loader.load(program, device).base == module.image.base
    assert loader.unload(program, device) == ()
    assert "free" not in process.kinds()
    modules.take(program, device)
    modules.release(module)
    modules.release(module)
    assert process.kinds() == ["free"]
    assert loader.on(program, device).image is None


def test_it_does_not_touch_an_image_that_is_there() -> None:
    """MOD-2: it publishes only where none is set."""
    process, programs, modules = setting(pool=False)
    device, loader = process.device(), process.loader
    program = old_program(programs)
    loaded = loader.load(program, device)
    base = loaded.base
    module = modules.take(program, device)
    assert module.image is not None
    assert (loaded.base, module.image.base) == (base, base + 0x2000)
    modules.release(module)
    assert loaded.base == base


def test_it_is_freed_after_its_program_too() -> None:
    """QK-31: the original leaks it."""
    process, programs, modules = setting(pool=False)
    device = process.device()
    used = device.memory.used
    program = old_program(programs)
    module = modules.take(program, device)
    programs.remove(program.id)
    process.loader.unload(program, device)
    assert modules.release(module)
    assert device.memory.used == used
    assert process.loader.places(program) == ()


def test_a_reset_takes_it() -> None:
    """DEV-25; its release is harmless then."""
    process, programs, modules = setting()
    device = process.device()
    program = old_program(programs)
    module = modules.take(program, device)
    modules.reset(device)
    process.loader.reset(device)
    device.start()
    assert programs.references(program.id) == 1
    process.told()
    anew = modules.take(program, device)
    assert modules.release(module)
    assert (anew.references, programs.references(program.id)) == (1, 2)
    assert "free" not in process.kinds()


def test_a_release_that_fails_is_told_after_all_was_tried() -> None:
    process, programs, modules = setting(pool=False)
    device = process.device()
    program = cpu_binary(programs, bytes(100))
    module = modules.take(program, device, b"k\0")
    process.told()
    process.faults.plan("free", 1, CODE)
    process.faults.plan("free", 2, CODE)
    with pytest.raises(RtError):
        modules.release(module)
    assert [event[-1] for event in process.told()] == [CODE, CODE, RW + 0x1000]


def test_a_module_alone() -> None:
    """Before it is loaded it has no addresses."""
    process, programs, _ = setting()
    module = Module(old_program(programs), process.device())
    assert module.close() == []
    assert module.image is None


def test_a_read_only_block_among_writable_ones() -> None:
    """Q-4: on a chip whose driver gives writable memory, the advice alone protects; block by block."""
    process, programs, modules = setting("MC62CM12A")
    device = process.device()
    images = [
        modules.take(cpu_binary(programs, bytes(100), "MC62CM12A"), device).image for _ in range(2)
    ]
    assert images[0]
    assert images[1]
    assert [image.base for image in images if image] == [RW, RW + 0x1000]
    for image in images:
        assert image
        with pytest.raises(DeviceFaultError, match="must not write"):
            device.memory.write(image.base + 4095, b"x", by_device=True)
    device.memory.write(RW + 0x2000, b"x", by_device=True)
