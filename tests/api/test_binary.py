"""Binary handles: look-ups, addresses, variables, callbacks. Spec 02, section 3.1; WE-10."""

from __future__ import annotations

from pathlib import Path

import pytest

import cannkit
from cannkit.api.binary import BinaryHandle
from cannkit.api.runtime import Runtime
from cannkit.format.status import RtStatus
from cannkit.runtime.kernel import AttrType, MixType
from tests.api.runtimes import image, kernels, refused, world
from tests.facts import A2_SOC
from tests.runtime.programs import DISABLED, Function

OFFSETS_RANGE = "OffsetsRange_67fb5b7825e97597c68d8ae6a1db5fc8"


def _check_we10(path: Path) -> None:
    """WE-10, on an object whose one kernel is a mix pair with key 0."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_file(path)
    (name,) = (kernel.name for kernel in binary.program.kernels)
    function = binary.get_function(name)
    assert binary.get_function(name) is function
    for wrong in (f"{name}_mix_aic", name.removesuffix("_0"), "", name.upper(), name + "\0"):
        with refused(107000):
            binary.get_function(wrong)
    assert binary.get_function_by_entry(0) is function
    for entry in (1, (1 << 64) - 1, 1 << 64, -1):
        with refused(107000, RtStatus.INVALID_VALUE):
            binary.get_function_by_entry(entry)
    with refused(507000):  # rtKernelGetAddrAndPrefCnt with a handle of the new flow
        binary.kernel_detail(0)

    bare = Runtime(A2_SOC, device=None)
    lone = bare.load_from_file(path)
    with refused(107000, RtStatus.CONTEXT_NULL):
        lone.get_function(name)
    with refused(107002, RtStatus.CONTEXT_NULL):
        lone.get_function_by_entry(0)

    as_binary = rt.binary(function.id)
    rt.unload(binary)
    for stale in (binary, as_binary, rt.binary(4711)):
        with refused(107017, RtStatus.INVALID_HANDLE):
            stale.get_function(name)
        with refused(107017, RtStatus.INVALID_HANDLE):
            stale.get_function_by_entry(0)
    null = rt.binary(0)
    with refused(100000):
        null.get_function(name)
    with refused(100000):
        null.get_function_by_entry(0)
    with refused(107000):
        null.meta_count(0)

    old = rt.binary_load(rt.create_binary(path.read_bytes()))
    assert old.get_function(name).name() == name
    with refused(107000):
        old.get_function_by_entry(0)

    stubs = rt.register_binary(path.read_bytes())
    for stub, info in ((0x10, name), (0x20, None), (0x30, "")):
        stubs.register_function(stub, f"s{stub}", info)
        assert rt.query_function(stub) == name
        kernel = rt.process.stubs.entries_of(stubs.program)[-1].kernel
        assert (kernel.attr, kernel.mix, kernel.tiling_key) == (
            AttrType.MIX,
            MixType.MIX_AIC_AIV_MAIN_AIC,
            0,
        )
    stubs.register_function(0x40, "aic", f"{name}_mix_aic")
    half = rt.process.stubs.entries_of(stubs.program)[-1].kernel
    assert (half.name, half.attr, half.mix, half.tiling_key, half.is_paired) == (
        f"{name}_mix_aic",
        AttrType.CUBE,
        MixType.MIX_AIC,
        0,
        False,
    )
    with refused(507000):
        stubs.register_function(0x50, "n", "nope")
    with refused(507028):
        stubs.register_function(0x10, "again", name)


def test_worked_example(tmp_path: Path) -> None:
    path = tmp_path / "op.o"
    path.write_bytes(kernels())
    _check_we10(path)


@pytest.mark.corpus
def test_worked_example_on_the_real_object(corpus: Path) -> None:
    (path,) = corpus.rglob(f"A2/**/{OFFSETS_RANGE}.o")
    _check_we10(path)


@pytest.mark.corpus
def test_real_kernels_are_found(corpus: Path) -> None:
    """Every kernel of every A2 object, by name and by entry."""
    rt = cannkit.Runtime(A2_SOC)
    for path in sorted((corpus / "fbgemm_ascend" / "opp" / "A2").rglob("*.o")):
        binary = rt.load_from_file(path)
        for kernel in binary.program.kernels:
            function = binary.get_function(kernel.name)
            assert binary.get_function_by_entry(kernel.tiling_key) is function
            assert any(function.addresses())
        rt.unload(binary)


def test_null_arguments() -> None:
    """Section 3.1: 100000, before the guard of the handle."""
    rt = Runtime(A2_SOC)
    stale = rt.load_from_data(kernels())
    rt.unload(stale)
    for call in (
        lambda: stale.get_function(None),
        lambda: stale.get_global(None),
        lambda: stale.set_exception_callback(None),
        lambda: stale.register_cpu_function(None, "k"),
        lambda: stale.register_cpu_function("f", None),
    ):
        with refused(100000):
            call()


def test_null_handles() -> None:
    """QK-3: where the ACL has no null test of its own, 107000 instead of a crash."""
    null = Runtime(A2_SOC).binary(0)
    for call in (
        lambda: null.get_function("k"),
        lambda: null.device_address(),
        lambda: null.get_global("g"),
        lambda: null.set_exception_callback(print),
        lambda: null.register_cpu_function("f", "k"),
    ):
        with refused(100000):
            call()
    for rt_call in (
        lambda: null.program,
        lambda: null.exception_callback,
        lambda: null.meta_count(0),
        lambda: null.meta(0),
        lambda: null.register_function(1, "s"),
        lambda: null.register_function_symbol(1, "k"),
        lambda: null.register_variable(1, "g", 4),
        lambda: null.register_metadata("a,b"),
        lambda: null.depend_on(null),
        lambda: null.kernel_detail(0),
    ):
        with refused(107000):
            rt_call()


def test_entries() -> None:
    """REG-7, REG-17: by key, by function entry, and by name alone where the entry is disabled."""
    rt = Runtime(A2_SOC)
    functions = (Function("k_1", entry=99), Function("k_2", entry=DISABLED), Function("k_3"))
    binary = rt.load_from_data(kernels(*functions))
    assert binary.get_function_by_entry(99) is binary.get_function("k_1")
    assert binary.get_function_by_entry(3) is binary.get_function("k_3")
    assert binary.get_function("k_2").name() == "k_2"
    for key in (1, 2):
        with refused(107000):
            binary.get_function_by_entry(key)
    everything = rt.register_all_kernels(kernels(*functions))
    assert everything.get_function_by_entry(2).name() == "k_2"  # POL-4


def test_entries_of_a_cpu_program() -> None:
    """Section 3.1: 107000 comes before the context."""
    binary = Runtime(A2_SOC, device=None).load_from_data(b"lib", cpu_mode=2)
    with refused(107000):
        binary.get_function_by_entry(0)


def test_a_miss_leaves_the_image() -> None:
    """DEV-13: prepared before it is looked up."""
    each = world()
    binary = each.runtime.load_from_data(image())
    with refused(107000):
        binary.get_function("nope")
    assert each.told() == ["Alloc", "Copy"]
    binary.get_function("k_0")
    assert each.told() == []


def test_a_failed_copy() -> None:
    """By name 107000, by entry as it is; the next look-up tries again. DEV-13, POL-11."""
    rt, _, faults = world()
    binary = rt.load_from_data(image())
    for _ in range(2):
        faults.plan("copy", 1, RtStatus.DRV_OUT_MEMORY)
        with refused(107000, RtStatus.DRV_OUT_MEMORY):
            binary.get_function("k_0")
        faults.plan("copy", 1, RtStatus.DRV_OUT_MEMORY)
        with refused(207001, RtStatus.DRV_OUT_MEMORY):
            binary.get_function_by_entry(0)
    assert binary.get_function("k_0") is binary.get_function_by_entry(0)


def test_device_address() -> None:
    """ADDR-3: the image, and its size; it prepares, but does not copy a lazy binary."""
    rt = Runtime(A2_SOC)
    eager, lazy = rt.load_from_data(image(128)), rt.load_from_data(image(128), lazy=True)
    address, size = eager.device_address()
    assert address > 0
    assert (address % 4096, size) == (0, 128)
    assert lazy.device_address() == (0, 128)
    function = lazy.get_function("k_0")
    assert lazy.device_address() == (0, 128)
    address = max(function.addresses())
    assert lazy.device_address() == (address, 128)


def test_device_address_without_a_context() -> None:
    binary = Runtime(A2_SOC, device=None).load_from_data(image())
    with refused(107002):
        binary.device_address()


def test_device_address_of_a_cpu_program() -> None:
    """QK-10: an error with a reason, not null and success."""
    binary = Runtime(A2_SOC).load_from_data(b"lib", cpu_mode=2)
    with refused(107000):
        binary.device_address()


def test_globals() -> None:
    """ADDR-4: copies in any case; only global symbols."""
    each = world()
    binary = each.runtime.load_from_data(image(128), lazy=True)
    address, size = binary.get_global("g_opSystemRunCfg")
    assert each.told() == ["Alloc", "Copy"]
    assert (address, size) == (binary.device_address().address + 120, 256)
    for name in ("g_weak", "nope", ""):
        with refused(107042):
            binary.get_global(name)


def test_order_of_checks_of_globals() -> None:
    """Section 3.1: XPU before the guard, AI CPU before the context."""
    with refused(207000):
        Runtime("CHIP_XPU", device=None).binary(99).get_global("g")
    rt = Runtime(A2_SOC, device=None)
    with refused(107017):
        rt.binary(99).get_global("g")
    with refused(207000):
        rt.load_from_data(b"lib", cpu_mode=2).get_global("g")
    with refused(107002):
        rt.load_from_data(image()).get_global("g")


def test_exception_callback() -> None:
    """A later one takes the place of an earlier one."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    assert rt.binary(binary.id).exception_callback is None
    binary.set_exception_callback(print, "first")
    binary.set_exception_callback(repr)
    assert rt.binary(binary.id).exception_callback == (repr, None)
    rt.unload(binary)
    with refused(107017):
        binary.set_exception_callback(print)


def test_cpu_functions() -> None:
    """CPU-9, QK-11."""
    each = world()
    rt = each.runtime
    binary = rt.load_from_data(b"library", cpu_mode=2)
    function = binary.register_cpu_function("RunAdd", "Add")
    assert binary.register_cpu_function("Other", "Add") is function is binary.get_function("Add")
    assert "Launch" in each.told()
    with refused(107000):
        binary.meta_count(0)
    with refused(107000):
        function.meta_size(1)
    with refused(107000):
        rt.load_from_data(kernels()).register_cpu_function("f", "k")


def test_meta() -> None:
    """API-5: types come before the program."""
    binary = Runtime(A2_SOC).load_from_data(kernels())
    assert (binary.meta_count(0), binary.meta(0)) == (0, [])
    with refused(207000):
        binary.meta_count(6)
    with refused(107000):
        binary.meta(0, [4])


def test_symbols() -> None:
    """SYM-1, SYM-2, QK-2: they go with the binary."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(image(128))
    binary.register_function_symbol(0x100, "k_0")
    binary.register_variable(0x200, "g_opSystemRunCfg", 8)
    assert rt.get_function_by_symbol(0x100) is binary.get_function("k_0")
    assert rt.get_symbol(0x200) == (binary.get_global("g_opSystemRunCfg").address, 8)
    with refused(100000):
        rt.get_function_by_symbol(0)
    with refused(100000):
        rt.get_function_by_symbol(None)
    rt.unload(binary)
    with refused(107044):
        rt.get_function_by_symbol(0x100)
    with refused(107043):
        rt.get_symbol(0x200)


def test_handles_are_numbers() -> None:
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    assert rt.binary(binary.id) is binary
    assert rt.binary(99).id == 99
    assert repr(binary) == f"<BinaryHandle {binary.id}>"
    assert isinstance(rt.binary(binary.get_function("op_0").id), BinaryHandle)
