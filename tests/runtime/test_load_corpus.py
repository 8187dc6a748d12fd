"""Every real object on a simulated device, and the worked examples with the objects they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from cannkit.device.kernel_pool import IDLE_LIMIT
from cannkit.runtime.addresses import function_addresses, global_range
from cannkit.runtime.program import ElfProgram, register
from tests.facts import A2_SOC, A5_SOC, read
from tests.reals import Real, reals
from tests.runtime.loading import Process

pytestmark = pytest.mark.corpus

RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000


def _find(corpus: Path, product: str, stem: str, soc: str) -> ElfProgram:
    (path,) = corpus.glob(f"fbgemm_ascend/opp/{product}/**/{stem}*.o")
    return register(read(path.read_bytes(), soc))


@pytest.mark.parametrize("product", ["A2", "A3", "A5"])
def test_every_object_is_loaded_and_unloaded(product: str, corpus: Path) -> None:
    """DEV-4 to DEV-7, DEV-15: no real object leaves the pool path, and nothing is left behind."""
    objects = [real for real in reals(corpus) if real.product == product]
    process = Process(objects[0].obj.soc.name)
    device, loader = process.device(), process.loader
    loaded: list[tuple[Real, ElfProgram]] = []
    for real in objects:
        program = register(real.obj)
        place = loader.prepare(program, device)
        assert place.image is not None
        assert place.image.from_pool
        assert place.image.read_only == (real.product == "A5" and not real.obj.writable_data)
        assert place.aligned % 4096 == 0
        start = real.obj.text_offset
        image = bytearray(real.data[start : start + program.load_size])
        for patch in place.refreshed:
            image[patch.image_offset : patch.image_offset + 8] = patch.value.to_bytes(8, "little")
        assert device.memory.read(place.aligned, program.load_size) == image
        for kernel in program.kernels:
            pc1, pc2 = function_addresses(loader, program, kernel, device)
            assert pc1 == place.aligned + kernel.part1.offset
            assert (pc2 is None) == (not kernel.part2.present)
        loaded.append((real, program))
    for pool in device.pools.pools:
        assert pool.used + sum(node.size for node in pool.free) == 2 << 20
    for _, program in loaded:
        loader.unload(program)
    assert sum(pool.used for pool in device.pools.pools) == 0
    assert len(device.pools.pools) <= IDLE_LIMIT


def test_the_objects_of_ex_dev_1(corpus: Path) -> None:
    """EX-DEV-1, its functions."""
    process = Process(A5_SOC)
    device, loader = process.device(), process.loader
    named = [
        ("AsynchronousCompleteCumsum_0cd5", {"_0": RO}),
        (
            "RunLengthEncode_4ad7",
            {
                "_21": RO + 0x5000,
                "_20": RO + 0x7C00,
                "_11": RO + 0x9500,
                "_10": RO + 0xA700,
                "_666": RO + 0xB200,
            },
        ),
        ("BoundsCheckIndicesV1_9881", {"_0": RW}),
    ]
    for stem, expected in named:
        program = _find(corpus, "A5", stem, A5_SOC)
        loader.load(program, device)
        pcs = {
            kernel.name[kernel.name.rindex("_") :]: function_addresses(
                loader, program, kernel, device
            ).pc1
            for kernel in program.kernels
        }
        assert pcs == expected


def test_the_object_of_ex_dev_3(corpus: Path) -> None:
    """EX-DEV-3, the one object of it that the corpus has."""
    process = Process()
    device, loader = process.device(), process.loader
    program = _find(corpus, "A2", "AsynchronousCompleteCumsum_0cd5", A2_SOC)
    assert loader.load(program, device).base == RW
    assert device.pools.pools[1].used == 8192
    assert global_range(loader, program, "g_opSystemRunCfg", device) == (RW + 4096, 256)
