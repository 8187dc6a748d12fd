"""The old flow through a Runtime. Spec 02, POL-4, POL-7, POL-9, POL-10, STB-6, STB-7."""

from __future__ import annotations

import pytest

from cannkit.api.runtime import Runtime
from cannkit.runtime.load_options import Magic
from tests.api.runtimes import PAIR, kernels, refused
from tests.facts import A2_SOC
from tests.runtime.programs import Function


def test_from_register_to_unregister() -> None:
    """POL-10 up to the launch."""
    rt = Runtime(A2_SOC)
    binary = rt.register_binary(kernels(*PAIR, Function("b_7", offset=0x30)))
    binary.register_function(0x100, "op")
    binary.register_function(0x108, "b", "b_7")
    assert [entry.stub for entry in rt.process.stubs] == [0x100, 0x108]
    assert (rt.stub_of("b"), rt.query_function(0x108)) == (0x108, "b_7")
    assert rt.stub_address(0x108) - rt.stub_address(0x100) == 0x30
    detail = rt.stub_detail(0x100)
    assert detail.pc2 == detail.pc1 + 0x10
    assert rt.unregister_binary(binary)
    for call in (lambda: rt.stub_of("b"), lambda: rt.query_function(0x108)):
        with refused(507027):
            call()
    with refused(507027):
        rt.stub_address(0x108)
    with refused(507000):
        rt.stub_detail(0x108)
    with refused(107017):
        binary.register_function(1, "late")


def test_null_and_unknown() -> None:
    rt = Runtime(A2_SOC)
    for load in (rt.load_old, rt.register_all_kernels, rt.register_binary):
        with refused(107000):
            load(None)
        with refused(107000):
            load(b"")
        with refused(107000):
            load(kernels(), 0x1234)
    binary = rt.register_binary(kernels())
    for stub, name in ((None, "s"), (1, None)):
        with refused(107000):
            binary.register_function(stub, name)
    with refused(107000):
        rt.unregister_binary(rt.binary(0))
    with refused(107017):
        rt.unregister_binary(rt.binary(99))


@pytest.mark.parametrize("magic", [Magic.PLAIN, Magic.PLAIN_AICPU, Magic.ELF_AICPU])
def test_magics_of_register(magic: int) -> None:
    """POL-4: seven magics for rtDevBinaryRegister, three for the two others."""
    rt = Runtime(A2_SOC)
    assert rt.register_binary(kernels(), magic).program.magic == magic
    with refused(107000):
        rt.register_all_kernels(kernels(), magic)
    with refused(107000):
        rt.load_old(kernels(), magic)


def test_load_old_needs_a_context() -> None:
    """It is copied at once; rtRegisterAllKernel is not."""
    rt = Runtime(A2_SOC, device=None)
    with refused(107002):
        rt.load_old(kernels())
    binary = rt.register_all_kernels(kernels())
    rt.set_device(0)
    function = binary.get_function("op_0")
    with refused(107017):  # QK-7: the old flow is not copied by a look-up
        function.addresses()
    assert any(rt.load_old(kernels()).get_function("op_0").addresses())


def test_details() -> None:
    """POL-5, POL-6."""
    rt = Runtime(A2_SOC)
    old = rt.register_all_kernels(kernels())
    detail = old.kernel_detail(0)
    assert detail is not None
    assert detail.pc2 == detail.pc1 + 0x10
    assert old.kernel_detail((1 << 64) - 1) is None
    with refused(507000):
        rt.load_from_data(kernels()).kernel_detail(0)
    with refused(207000):
        Runtime("Ascend950PR_9599").register_all_kernels(kernels()).kernel_detail(0)


def test_dependencies() -> None:
    """POL-9: the other one stays until the first is unregistered; its handle with it."""
    rt = Runtime(A2_SOC)
    a, b = rt.register_binary(kernels()), rt.register_binary(kernels())
    assert a.depend_on(b)
    assert not a.depend_on(rt.load_from_data(kernels()))
    b.register_function(0x10, "s")
    assert not rt.unregister_binary(b)
    with refused(507024):
        rt.query_function(0x10)
    assert b.program.so_name == ""
    assert rt.unregister_binary(a)
    with refused(107017):
        _ = b.program


def test_metadata() -> None:
    rt = Runtime(A2_SOC)
    binary = rt.register_binary(kernels())
    binary.register_metadata("libx.so,0.1,,exclusive;")
    assert binary.program.so_name == "libx.so"
    with refused(107000):
        binary.register_metadata("libx.so")


def test_unregister_leaves_the_new_flow_alone() -> None:
    """POL-5."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    assert not rt.unregister_binary(binary)
    assert binary.get_function("op_0").name() == "op_0"
