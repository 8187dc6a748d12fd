"""Runtime: load, unload, devices. Spec 02, section 3.1; spec 03, section 2."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest

import cannkit
from cannkit.api.runtime import Runtime
from cannkit.device.device import DeviceConfig
from cannkit.device.stacks import StackConfig
from cannkit.errors import InputError, UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.inputs.files import MemoryFiles
from cannkit.runtime.load_options import LoadOption, LoadOptions, Magic
from tests.api.runtimes import image, kernels, refused, world
from tests.build import OBJECTS
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.programs import Function

PRINTF = OBJECTS / "BoundsCheckCustom_fb38dbe3245f5ac10c1c328b07aed377.o"
ADD = OBJECTS / "AddCustom.o"


def test_the_sample_of_the_contract() -> None:
    """cli.md, section 10, up to the launch."""
    rt = cannkit.Runtime(soc="Ascend910B1")
    prog = rt.load_from_file(ADD)
    fn = prog.get_function("AddCustom_0")
    assert fn.kernel.tiling_key == 0
    assert rt.current_device == 0


def test_load_object() -> None:
    """With the sidecar that parse has read: QK-4 as from a file."""
    rt = Runtime(A2_SOC)
    binary = rt.load_object(cannkit.parse(ADD), lazy=True)
    assert binary.program.is_lazy
    with pytest.raises(UsageError, match="read for Ascend950PR_9599, not Ascend910B1"):
        rt.load_object(cannkit.parse(PRINTF, soc=A5_SOC))
    with refused(107000, RtStatus.FEATURE_NOT_SUPPORT):
        Runtime(A5_SOC).load_object(cannkit.parse(PRINTF, soc=A5_SOC))


def test_printf_objects() -> None:
    """QK-4: from a file 107000, though the inner code is 207000; from data, or lenient, it loads."""
    with refused(107000, RtStatus.FEATURE_NOT_SUPPORT):
        Runtime(A5_SOC).load_from_file(PRINTF)
    assert Runtime(A5_SOC).load_from_data(PRINTF.read_bytes()).program.kernels
    assert Runtime(A5_SOC, lenient=True).load_from_file(PRINTF).program.kernels


def test_null_and_empty() -> None:
    """Section 3.1: null 100000, nothing in it 107000."""
    rt = Runtime(A2_SOC)
    with refused(100000):
        rt.load_from_file(None)
    with refused(100000):
        rt.load_from_data(None)
    with refused(107000):
        rt.load_from_data(b"")
    with refused(107000):
        rt.load_from_file("")
    with refused(107000):
        rt.load_from_file("no/such.o")
    with refused(107000):
        rt.load_from_data(b"no ELF")
    assert len(rt.process.pool) == len(rt.session.handles) == 0


@pytest.mark.parametrize(
    ("is_file", "options"),
    [
        (True, [(2, Magic.ELF)]),
        (False, [(2, Magic.ELF_AICPU)]),
        (True, [(3, 2)]),
        (False, [(3, 0)]),
        (False, [(3, 1)]),
        (False, [(1, 2)]),
        (False, [(4, 0)]),
        (False, [(0, 0)]),
    ],
)
def test_refused_options(is_file: bool, options: list[tuple[int, int]]) -> None:
    """WE-8."""
    rt = Runtime(A2_SOC)
    given = LoadOptions(tuple(LoadOption(*pair) for pair in options))
    with refused(107000, RtStatus.INVALID_VALUE):
        rt.load_from_file(ADD, given) if is_file else rt.load_from_data(kernels(), given)


def test_options() -> None:
    """LDR-3, LDR-4, WE-8: whole or by name; a later one counts."""
    rt = Runtime(A2_SOC)
    lazy = LoadOptions((LoadOption(1, 1), LoadOption(1, 0)))
    assert not rt.load_from_file(ADD, lazy).program.is_lazy
    assert rt.load_from_file(ADD, lazy=True).program.is_lazy
    assert rt.load_from_data(kernels(), magic=Magic.ELF_AIVEC).program.magic == Magic.ELF_AIVEC
    with refused(107000):
        rt.load_from_file(ADD, LoadOptions(None))
    with pytest.raises(UsageError, match="both whole and by name"):
        rt.load_from_file(ADD, lazy, lazy=True)


def test_data_is_copied() -> None:
    """LDR-6: the caller may use its buffer again."""
    raw = bytearray(kernels())
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(raw)
    before = bytes(raw)
    raw[:] = bytes(len(raw))
    assert bytes(binary.program.data[0 : len(raw)]) == before


def test_files_of_another_place() -> None:
    """`files`: CPU programs by the JSON and the library beside it (WE-7)."""
    op = b'{"Add": {"opInfo": {"functionName": "F", "opKernelLib": "CUSTAICPUKernel"}}}'
    files = MemoryFiles({"/a/libx.json": memoryview(op), "/a/libx.so": memoryview(b"so")})
    rt = Runtime(A2_SOC, files=files)
    binary = rt.load_from_file("/a/libx.json", cpu_mode=1)
    assert binary.get_function("Add").kernel.cpu is not None
    with refused(107000):
        rt.load_from_file("/a/liby.json", cpu_mode=0)


def test_symlinks(tmp_path: Path) -> None:
    """QK-22: the sidecar stands beside the target of a link."""
    target = tmp_path / "real.v2.o"
    target.write_bytes(kernels())
    (tmp_path / "real.v2.json").write_text('{"magic": "RT_DEV_BINARY_MAGIC_ELF_AIVEC"}')
    link = tmp_path / "link.o"
    link.symlink_to(target)
    assert Runtime(A2_SOC).load_from_file(link).program.magic == Magic.ELF_AIVEC


def test_descriptors() -> None:
    """aclrtCreateBinary does not look at its bytes; aclrtBinaryLoad does."""
    rt = Runtime(A2_SOC)
    assert rt.create_binary(None) is None
    for call in (rt.destroy_binary, rt.binary_load):
        with refused(100000):
            call(None)
    raw = kernels()
    descriptor = rt.create_binary(raw)
    binary = rt.binary_load(descriptor)
    rt.destroy_binary(descriptor)
    assert binary.get_function("op_0").name() == "op_0"  # the descriptor alone is gone
    for call in (rt.destroy_binary, rt.binary_load):
        with refused(107017):
            call(descriptor)
    for size in (0, len(raw) + 1):
        with refused(107000):
            rt.binary_load(rt.create_binary(raw, size))
    with refused(207000):
        Runtime("Ascend310B1").binary_load(rt.create_binary(raw))
    with refused(107002):
        Runtime(A2_SOC, device=None).binary_load(rt.create_binary(raw))


def test_unload() -> None:
    """QK-1: its handle and those of its functions are 107017; QK-20: the slot is free."""
    rt = Runtime(A2_SOC, max_programs=1)
    with refused(100000):
        rt.unload(None)
    with refused(100000):
        rt.unload(rt.binary(0))
    for load in (rt.load_from_data, rt.register_all_kernels):
        binary = load(kernels())
        function = binary.get_function("op_0")
        with refused(107017):
            rt.unload(function)
        with refused(107000 if load == rt.load_from_data else 507032, RtStatus.PROGRAM_USEOUT):
            load(kernels())
        assert rt.unload(binary) == ()
        for stale in (binary, function):
            with refused(107017):
                rt.unload(stale)
        with refused(107017):
            function.name()
    assert len(rt.session.handles) == len(rt.session.binaries) == len(rt.process.pool) == 0


def test_unload_needs_a_context_in_the_old_flow() -> None:
    """DEV-22."""
    rt = Runtime(A2_SOC)
    new, old = rt.load_from_data(kernels()), rt.register_all_kernels(kernels())
    new.get_function("op_0")
    rt.reset_device(0)
    rt.unload(new)
    with refused(107002):
        rt.unload(old)
    rt.set_device(0)
    rt.unload(old)


def test_unload_tells_errors() -> None:
    """QK-9: the original answers success; the binary is gone all the same."""
    rt, _, faults = world()
    binary = rt.load_from_data(image(3 << 20))
    binary.get_function("k_0")
    faults.plan("free", 1, RtStatus.DRV_INPUT)
    with refused(RtStatus.DRV_INPUT.acl, RtStatus.DRV_INPUT):
        rt.unload(binary)
    with refused(107017):
        rt.unload(binary)


def test_what_the_original_leaks() -> None:
    """Q-24: an image loaded through get_global alone."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(image())
    binary.get_global("g_opSystemRunCfg")
    assert rt.unload(binary) == (0,)


def test_devices() -> None:
    """DEV-2, EX-DEV-12: a handle is the same on each device, its addresses are not."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(image())
    function = binary.get_function("k_0")
    first = function.addresses()
    rt.set_device(1)
    with refused(107017):
        function.addresses()
    assert binary.get_function("k_0") is function
    assert max(function.addresses()) - max(first) == 0x40_0000_0000
    rt.set_device(0)
    assert function.addresses() == first
    assert sorted(rt.devices) == [0, 1]
    for unknown in (-1, 8):
        with refused(107001):
            rt.set_device(unknown)
        with refused(107001):
            rt.reset_device(unknown)
    assert rt.current_device == 0


def test_reset() -> None:
    """DEV-25: prepared again at the next look-up, at new addresses."""
    each = world()
    rt = each.runtime
    binary = rt.load_from_data(image())
    function, address = binary.get_function("k_0"), rt.malloc(100)
    before = function.addresses()
    rt.set_device(0)
    rt.reset_device(0)
    assert binary.get_function("k_0") is function  # it was set twice
    rt.reset_device(0)
    assert rt.current_device is None
    with refused(107002):
        rt.reset_device(0)
    with refused(107000, RtStatus.CONTEXT_NULL):
        binary.get_function("k_0")
    rt.set_device(0)
    with refused(107017):
        function.addresses()
    with refused(107017):
        rt.free(address)
    assert binary.get_function("k_0") is function
    assert function.addresses() != before


def test_visible_devices() -> None:
    """DEV-3."""
    rt = Runtime(A2_SOC, devices=4, visible="1,3")
    rt.set_device(1)
    assert (rt.current_device, sorted(rt.devices)) == (1, [1, 3])
    with refused(107001):
        rt.set_device(2)


def test_a_device_that_does_not_start() -> None:
    """EX-DEV-10."""
    with refused(107000):
        Runtime(A2_SOC, config=DeviceConfig(stacks=StackConfig(custom=200_000)))


def test_unknown_soc() -> None:
    with pytest.raises(UsageError, match="unknown SoC"):
        Runtime("Ascend911")
    with pytest.raises(InputError):
        cannkit.parse("no/such.o")


def test_a_thread_without_a_device() -> None:
    """STR-1: each thread has a context of its own, or none; 507007 for one that another has reset."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    binary.get_function("op_0")
    codes: list[tuple[int, int | None]] = []

    def other() -> None:
        try:
            binary.get_function("op_0")
        except RtError as error:
            codes.append((error.acl, error.rt))
        rt.reset_device(0)

    thread = Thread(target=other)
    thread.start()
    thread.join()
    assert codes == [(107000, RtStatus.CONTEXT_NULL)]
    with refused(507007):
        binary.get_function_by_entry(0)


def test_a_full_pool() -> None:
    """WE-14: 107000 in the new flow, 507032 in the old one; freed ids come again after a round."""
    rt = Runtime(A2_SOC, max_programs=3)
    a, b, c = (rt.load_from_data(kernels()) for _ in range(3))
    assert [each.program.id for each in (a, b, c)] == [0, 1, 2]
    with refused(107000, RtStatus.PROGRAM_USEOUT):
        rt.load_from_data(kernels())
    for load in (rt.load_old, rt.register_all_kernels, rt.register_binary):
        with refused(507032):
            load(kernels())
    rt.unload(b)
    assert rt.load_from_data(kernels()).program.id == 1
    rt.unload(a)
    assert rt.load_from_data(kernels()).program.id == 0


def test_two_programs_of_one_name() -> None:
    """Names and keys are those of one program."""
    rt = Runtime(A2_SOC)
    first, second = rt.load_from_data(kernels()), rt.load_from_data(kernels())
    assert first.get_function("op_0") is not second.get_function("op_0")
    assert first.get_function("op_0").addresses() != second.get_function("op_0").addresses()


def test_nothing_is_half_registered() -> None:
    """A refused merge: no program, no handle, no memory."""
    rt = Runtime(A2_SOC)
    before = rt.devices[0].memory.used
    raw = kernels(Function("k", 2), Function("k_mix_aic", 2))
    for load in (rt.load_from_data, rt.load_old, rt.register_all_kernels):
        with refused(107000):
            load(raw)
    with refused(107000):
        rt.binary_load(rt.create_binary(raw))
    assert len(rt.process.pool) == len(rt.session.handles) == 0
    assert rt.devices[0].memory.used == before


def test_no_growth() -> None:
    """10,000 loads and unloads: the pools, the tables and the memory are as before."""
    rt = Runtime(A2_SOC)
    raw = image()

    def once() -> None:
        binary = rt.load_from_data(raw)
        binary.get_function("k_0")
        binary.register_function_symbol(0x10, "k_0")
        binary.register_variable(0x20, "g_opSystemRunCfg", 8)
        rt.unload(binary)

    for _ in range(600):  # until the free list has its 512 nodes: POOL-5 never merges
        once()
    device = rt.devices[0]
    gc.collect()
    used = device.memory.used, len(tuple(device.memory)), len(gc.get_objects())
    for _ in range(9_400):
        once()
    gc.collect()
    assert (device.memory.used, len(tuple(device.memory))) == used[:2]
    assert len(gc.get_objects()) < used[2] + 100
    assert [pool.used for pool in device.pools.pools] == [0] * len(device.pools.pools)
    process = rt.process
    tables = process.pool, process.functions, process.variables, process.stubs
    assert [len(table) for table in tables] == [0, 0, 0, 0]
    assert len(rt.session.handles) == len(rt.session.binaries) == 0


def test_threads() -> None:
    """Eight threads load, look up, register stubs, reset and unload on one Runtime."""
    rt = Runtime(A2_SOC)
    raw = kernels(*(Function(f"k_{key}") for key in range(5)))
    shared = rt.load_from_data(raw)
    used = rt.devices[0].memory.used

    def work(number: int) -> int:
        rt.set_device(number % 2)
        found = 0
        for at in range(60):
            binary = rt.load_from_data(raw, lazy=bool(at % 2))
            stubs = rt.register_binary(raw)
            for key in range(5):
                function = binary.get_function(f"k_{key}")
                assert binary.get_function_by_entry(key) is function
                found += shared.get_function(f"k_{key}").name() == f"k_{key}"
                stubs.register_function(number << 16 | at << 8 | key, f"{number}", f"k_{key}")
                assert any(function.addresses())
            assert rt.stub_address(number << 16 | at << 8) > 0
            rt.unload(binary)
            assert rt.unregister_binary(stubs)
            with refused(107017):
                binary.get_function("k_0")
        rt.reset_device(number % 2)
        return found

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(work, range(8))) == 8 * 60 * 5
    assert len(rt.session.handles) == 1 + 5  # the shared binary and its functions
    assert (len(rt.process.pool), len(rt.process.stubs)) == (1, 0)
    rt.unload(shared)
    assert rt.devices[0].memory.used == used


def test_same_calls_same_answers() -> None:
    """Handles, ids and addresses depend on nothing but the calls."""

    def run() -> list[object]:
        each = world()
        rt = each.runtime
        binaries = [rt.load_from_data(image(size)) for size in (64, 4000, 3 << 20)]
        functions = [binary.get_function("k_0") for binary in binaries]
        return [
            [(b.id, b.program.id, b.device_address()) for b in binaries],
            [(f.id, f.addresses()) for f in functions],
            each.told(),
        ]

    assert run() == run()
