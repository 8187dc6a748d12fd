"""Addresses of functions, images and variables. EX-DEV-3, 12."""

from __future__ import annotations

from cannkit.format.status import RtStatus
from cannkit.runtime.addresses import (
    core_addresses,
    function_addresses,
    global_range,
    image_range,
    kernel_at,
)
from cannkit.runtime.load import Loader
from cannkit.runtime.program import register
from cannkit.runtime.program_base import Flow
from tests.facts import read
from tests.runtime import programs
from tests.runtime.loading import (
    Function,
    Process,
    cpu_program,
    image_builder,
    image_program,
    refused,
)

RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000


def test_a2_images_functions_and_globals() -> None:
    """EX-DEV-3: not SIMT, writable but for a relocatable object."""
    process = Process()
    device = process.device()
    loader = process.loader
    functions = Function("t_0_mix_aiv"), Function("t_1_mix_aiv", 13812), Function("t_2", 18620)
    topk = image_program(24584, *functions, writable=True)
    images = [
        image_program(4104, writable=True),
        topk,
        image_program(12296, writable=True),
        register(read(image_builder(162160, at=512, kind=1).build())),
    ]
    assert [loader.load(image, device).base for image in images] == [
        RW,
        RW + 0x2000,
        RW + 0x9000,
        RO,
    ]
    pcs = {k.name: function_addresses(loader, topk, k, device).pc1 for k in topk.kernels}
    assert pcs == {"t_0": RW + 0x2000, "t_1": RW + 0x55F4, "t_2": RW + 0x68BC}
    assert global_range(loader, topk, "g_opSystemRunCfg", device) == (RW + 0x8000, 256)
    refused(RtStatus.SYMBOL_NOT_FOUND, 107042, global_range, loader, topk, "g_weak", device)


def test_both_halves_of_a_pair() -> None:
    """EX-DEV-3, ADDR-1, ADDR-2; Q-6: a second half at offset 0 is one."""
    process = Process()
    device, loader = process.device(), process.loader
    halves = Function("m_3_mix_aic", 0), Function("m_3_mix_aiv", 8704)
    for pair, expected in ((halves, (RO, RO + 8704)), (halves[::-1], (RO + 0x4000, RO + 0x4000))):
        functions = [f._replace(offset=0) for f in pair] if pair is not halves else pair
        program = image_program(16384, *functions)
        loader.load(program, device)
        (kernel,) = program.kernels
        assert core_addresses(loader, program, kernel, device) == expected
        assert function_addresses(loader, program, kernel, device) == expected
    vector = register(programs.named("v_1_mix_aiv"))
    loader.load(vector, device)
    assert core_addresses(loader, vector, vector.kernels[0], device)[0] == 0


def test_a_second_device_needs_its_own_look_up() -> None:
    """EX-DEV-12, DEV-12, QK-7."""
    process = Process()
    first, second = process.device(0), process.device(1)
    loader, program = process.loader, image_program(100)
    kernel = program.kernels[0]
    loader.prepare(program, first)
    assert loader.require_prepared(program, first).base == RO
    refused(RtStatus.KERNEL_INVALID, 107017, loader.require_prepared, program, second)
    error = refused(
        RtStatus.KERNEL_INVALID, 107017, function_addresses, loader, program, kernel, second
    )
    assert "bare" in str(error) or "offsets as addresses" in str(error)
    loader.prepare(program, second)
    assert function_addresses(loader, program, kernel, second).pc1 == 0x1242_0000_0000


def test_a_lazy_program_is_copied_at_its_first_use() -> None:
    """DEV-8, DEV-11, EX-DEV-12, ADDR-3."""
    process = Process()
    device, loader, program = process.device(), process.loader, image_program(100, lazy=True)
    assert loader.prepare(program, device).prepared
    assert image_range(loader, program, device) == (0, 100)
    assert process.told() == []
    assert kernel_at(loader, program, 0, device).exact is None
    assert process.told() == []
    assert function_addresses(loader, program, program.kernels[0], device).pc1 == RO
    assert image_range(loader, program, device) == (RO, 100)


def test_a_global_loads_whatever_the_options() -> None:
    """ADDR-4; and preparation is still to come."""
    process = Process()
    device, loader = process.device(), process.loader
    program = image_program(100, lazy=True, writable=True)
    refused(RtStatus.SYMBOL_NOT_FOUND, 107042, global_range, loader, program, "nope", device)
    assert loader.on(program, device).base == RW
    refused(RtStatus.KERNEL_INVALID, 107017, loader.require_prepared, program, device)
    cpu = cpu_program("f")
    refused(RtStatus.FEATURE_NOT_SUPPORT, 207000, global_range, loader, cpu, "x", device)


def test_a_program_counter_finds_its_kernel() -> None:
    """ADDR-5, QK-19: our answer ends before the byte behind the kernel."""
    process = Process()
    device, loader = process.device(), process.loader
    program = image_program(200, Function("k_0", 0, 64), Function("k_1", 128, 64))
    assert kernel_at(loader, program, RO + 4, device).exact is None  # not there
    loader.prepare(program, device)
    hit = kernel_at(loader, program, RO + 130 | 0x0800_0000_0000_0000, device).exact
    assert hit is not None
    assert (hit.kernel.name, hit.offset) == ("k_1", 2)
    end = kernel_at(loader, program, RO + 64, device)
    assert end.exact is None
    assert end.original is program.kernels[0]


def test_no_context() -> None:
    """107002, for whatever needs a device."""
    loader, program, old = Loader(), image_program(64), image_program(64, flow=Flow.OLD)
    lost = RtStatus.CONTEXT_NULL, 107002
    refused(*lost, loader.load, program, None)
    refused(*lost, loader.prepare, program, None)
    refused(*lost, loader.require_prepared, program, None)
    refused(*lost, function_addresses, loader, program, program.kernels[0], None)
    refused(*lost, global_range, loader, program, "x", None)
    refused(*lost, loader.unload, old, None)
    assert loader.unload(program, None) == ()
