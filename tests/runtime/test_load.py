"""Loader: load once, unload, reset, and any session of them."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from cannkit.device.device import Device
from cannkit.format.status import RtStatus
from cannkit.runtime.load import LoadedProgram, Loader
from cannkit.runtime.program_base import Flow, Program
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.loading import (
    Process,
    cpu_program,
    image_program,
    refused,
)

RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000
CODE = RtStatus(0x07020024)  # 507052, some failure of a driver


def test_an_image_is_loaded_once() -> None:
    """DEV-10: neither copied nor moved."""
    process = Process()
    device, program = process.device(), image_program(100)
    first = process.loader.load(program, device).base
    process.told()
    assert process.loader.load(program, device).base == first
    assert process.loader.prepare(program, device).base == first
    assert process.told() == []


def test_unload_goes_on_after_a_failure() -> None:
    """Q-9, DEV-24: all is tried, the first error is told."""
    process = Process(pool=False)
    devices = [process.device(number) for number in (0, 1)]
    loader, program = process.loader, image_program(100)
    for device in devices:
        loader.prepare(program, device)
    process.told()
    process.faults.plan("free", 1, CODE)
    refused(CODE, 507052, loader.unload, program)
    assert process.told() == [["free", 0, RO, CODE], ["free", 1, 0x1242_0000_0000]]
    assert loader.places(program) == ()


def test_an_old_program_that_cannot_be_freed_stays() -> None:
    """DEV-22: on error it is returned with the program alive; it can be unloaded again."""
    process = Process(pool=False)
    device, loader = process.device(), process.loader
    program = image_program(100, flow=Flow.OLD)
    loader.load(program, device)
    process.faults.plan("free", 1, CODE)
    refused(CODE, 507052, loader.unload, program, device)
    assert loader.on(program, device).base == RO
    assert loader.unload(program, device) == ()
    assert loader.places(program) == ()


def test_what_the_original_leaks_is_freed_and_told() -> None:
    """Q-24: loaded through a global alone; Q-25: the old flow unloaded on another device."""
    process = Process(pool=False)
    devices = [process.device(number) for number in (0, 1)]
    loader = process.loader
    program, old = image_program(100), image_program(100, flow=Flow.OLD)
    loader.prepare(program, devices[0])
    loader.load(program, devices[1])
    loader.load(old, devices[1])
    process.told()
    assert loader.unload(program) == (1,)
    assert loader.unload(old, devices[0]) == (1,)
    assert process.kinds() == ["free"] * 3


def test_a_reset_takes_every_address() -> None:
    """DEV-25, Q-28: also of a program that was never prepared there; then it loads again."""
    process = Process()
    device, other = process.device(0), process.device(1)
    loader = process.loader
    prepared, alone = image_program(100), image_program(100, flow=Flow.OLD)
    for program in (prepared, alone):
        loader.prepare(program, device)
        loader.load(program, device)
        loader.load(program, other)
    process.told()
    loader.reset(device)
    assert process.told() == [["free", 0, RO]]
    assert [loader.find(program, device) for program in (prepared, alone)] == [None, None]
    assert loader.on(alone, other).base
    device.start()
    assert loader.prepare(prepared, device).base == RO + (2 << 20)


def test_ten_thousand_loads_take_no_memory() -> None:
    """Neither on the device nor here."""
    process = Process()
    device, loader = process.device(), process.loader
    device.trace = lambda event: None
    one, two = image_program(5000, writable=True), cpu_program("f", library=bytes(100))

    def rounds(count: int) -> None:
        for _ in range(count):
            for program in (one, two):
                loader.prepare(program, device)
                loader.unload(program)

    rounds(300)  # until every block of the pool was used
    used, live = device.memory.used, len(list(device.memory))
    tracemalloc.start()
    rounds(10)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    rounds(1000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    rounds(4000)
    assert (device.memory.used, len(list(device.memory))) == (used, live)
    assert grown < 50_000
    assert all(len(pool.free) <= 512 for pool in device.pools.pools)


actions = st.lists(
    st.tuples(st.sampled_from(["prepare", "load", "unload", "reset"]), st.integers(0, 5)),
    max_size=40,
)


SIZES = ((64, False), (5000, True), (0x150000, False), (0x1FFFFF, True), (0x300000, False))


@settings(max_examples=40)
@given(actions, st.integers(0, 1))
def test_any_session_keeps_the_books(steps: list[tuple[str, int]], soc: int) -> None:
    """Spec 03, section 14: pools balance, images are apart and 4 KiB aligned, nothing leaks."""
    chip = (A2_SOC, A5_SOC)[soc]
    process = Process(chip)
    device, loader = process.device(), process.loader
    start = device.memory.used
    known: list[Program] = [image_program(size, soc=chip, writable=w) for size, w in SIZES]
    known.append(cpu_program("f", library=bytes(3), soc=chip))
    for action, number in steps:
        program = known[number]
        if action == "unload":
            loader.unload(program)
        elif action == "reset":
            loader.reset(device)
            device.start()
        elif action == "prepare" or number < len(SIZES):
            getattr(loader, action)(program, device)
        _check(loader, device, known)
    for program in known:
        loader.unload(program)
    idle = (len(device.pools.pools) - 1) * (2 << 20)
    assert device.memory.used == start + idle


def _check(loader: Loader, device: Device, known: list[Program]) -> None:
    loaded = [place for p in known if (place := loader.find(p, device)) and place.image]
    spans = sorted((place.aligned, place.aligned + place.program.load_size) for place in loaded)
    for (_, end), (start, _) in pairwise(spans):
        assert end <= start
    assert all(start % 4096 == 0 for start, _ in spans)
    for pool in device.pools.pools:
        assert pool.used + sum(node.size for node in pool.free) == 2 << 20
    pooled = [place for place in loaded if place.image and place.image.from_pool]
    assert sum(pool.used for pool in device.pools.pools) == sum(map(_block_size, pooled))


def _block_size(place: LoadedProgram) -> int:
    assert place.image is not None
    return -(-place.image.size // 4096) * 4096
