"""Function handles. Spec 02, section 3.1, API-5, API-7, API-8."""

from __future__ import annotations

import pytest

from cannkit.api.function import FunctionHandle
from cannkit.api.runtime import Runtime
from cannkit.format.ascend_meta import FunctionMeta, FuncType, VfType
from cannkit.runtime.kernel_facts import FunctionAttribute
from tests.api.runtimes import PAIR, kernels, refused
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.programs import Function, builder
from tests.shapes import function_tlv


def _function(*functions: Function, name: str = "op_0", soc: str = A2_SOC) -> FunctionHandle:
    return Runtime(soc).load_from_data(kernels(*functions)).get_function(name)


def _cpu_function() -> FunctionHandle:
    binary = Runtime(A2_SOC).load_from_data(b"library", cpu_mode=2)
    return binary.register_cpu_function("RunAdd", "Add")


def test_name() -> None:
    """Room for the name and a NUL."""
    function = _function()
    assert function.name() == function.name(5) == "op_0"
    with refused(107000):
        function.name(4)


def test_addresses_and_sizes() -> None:
    """API-7: a vector kernel has its code on AIV."""
    pair = _function()
    aic, aiv = pair.addresses()
    assert (aiv - aic, pair.sizes()) == (0x10, (0x10, 0x20))
    vector = _function(Function("v_1", length=0x40), name="v_1")
    assert vector.addresses().aic == 0 != vector.addresses().aiv
    assert vector.sizes() == (0, 0x40)
    cube = _function(Function("c_1", FuncType.AIC, length=0x40), name="c_1")
    assert cube.addresses().aiv == 0 != cube.addresses().aic


def test_order_of_checks() -> None:
    """Section 3.1: the feature of aclrtGetFunctionSize before the guard."""
    with refused(207000):
        Runtime("Ascend910A").function(99).sizes()
    rt = Runtime(A2_SOC, device=None)
    with refused(107017):
        rt.function(99).sizes()
    with refused(100000):
        rt.function(0).addresses()
    with refused(107000):
        rt.function(0).sizes()


def test_addresses_elsewhere() -> None:
    """QK-7, EX-DEV-12: 107017 on a device where it was not looked up; 107002 without one."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    function = binary.get_function("op_0")
    rt.set_device(1)
    with refused(107017):
        function.addresses()
    assert binary.get_function("op_0") is function
    assert function.addresses() == (0x1242_0000_0000, 0x1242_0000_0010)
    rt.reset_device(1)
    with refused(107002):
        function.addresses()


def test_attributes() -> None:
    """API-8."""
    function = _function()
    values = [function.attribute(attribute) for attribute in FunctionAttribute]
    assert values == [3, 0x0001_0002, 0]
    for attribute in (0, 4, -1):
        with refused(107000):
            function.attribute(attribute)
    with refused(207000):
        _function(soc="Ascend910A").attribute(FunctionAttribute.KERNEL_RATIO)


def test_binary() -> None:
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    function = binary.get_function("op_0")
    assert function.binary() is binary
    rt.unload(binary)
    with refused(107017):
        function.binary()


def _with_params() -> FunctionHandle:
    summary = function_tlv(FunctionMeta.PARAM_SUMMARY, param_count=2, param_total_size=12)
    places = [
        function_tlv(FunctionMeta.PARAM_INFO, index=at, ordinal=at, offset=8 * at, size=8 - 4 * at)
        for at in range(2)
    ]
    built = builder().section(
        ".ascend.meta.p_1",
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV) + summary + b"".join(places),
        align=4,
    )
    built.symbol("p_1", value=0, size=64)
    return Runtime(A5_SOC).load_from_data(built.build()).get_function("p_1")


def test_params() -> None:
    function = _with_params()
    assert function.param_count() == 2
    assert [function.param_info(at) for at in range(2)] == [(0, 8), (8, 4)]
    for index in (2, -1):
        with refused(107000):
            function.param_info(index)


def test_no_params() -> None:
    """Section 3.1: no summary 107000, AI CPU 207000, XPU 207000 before the guard; QK-3."""
    with refused(107000):
        _function().param_count()
    with refused(207000):
        _cpu_function().param_count()
    with refused(207000):
        Runtime("CHIP_XPU", device=None).function(99).param_count()
    rt = Runtime(A2_SOC, device=None)
    for handle, acl in ((0, 100000), (99, 107017)):
        with refused(acl):
            rt.function(handle).param_count()
        with refused(acl):
            rt.function(handle).param_info(0)


@pytest.mark.parametrize(
    ("vf_type", "ub_size", "left"),
    [
        (VfType.SIMD_VF, 8192, 0),
        (VfType.NONE, 0, 0),
        (VfType.SIMT_VF, 8192, 229376 - 8192),
        (VfType.SIMD_SIMT_MIX, 229376, 0),
        (VfType.SIMT_VF, 229377, None),
    ],
)
def test_dynamic_ubuf(vf_type: int, ub_size: int, left: int | None) -> None:
    made = Function("k_1", vf_type=vf_type, ub_size=ub_size)
    function = _function(made, name="k_1", soc=A5_SOC)
    if left is None:
        with refused(107000):
            function.available_dynamic_ubuf()
    else:
        assert function.available_dynamic_ubuf() == left
    with refused(100000):
        function.available_dynamic_ubuf(1)


def test_meta() -> None:
    """API-5: of the sections of both halves, that of AIV counts."""
    function = _function(*PAIR)
    assert function.meta_size(FunctionMeta.MIX_TASK_RATION) == 4
    assert function.meta(FunctionMeta.MIX_TASK_RATION, 4) == b"\1\0\2\0"
    with refused(107000):
        function.meta(FunctionMeta.MIX_TASK_RATION, 3)
    for kind in (0, 19):
        with refused(207000):
            function.meta_size(kind)


def test_cpu_functions() -> None:
    """No address, no size; QK-11 for its records."""
    function = _cpu_function()
    assert (function.name(), function.attribute(FunctionAttribute.KERNEL_TYPE)) == ("Add", 100)
    for call in (
        lambda: function.addresses(),
        lambda: function.sizes(),
        lambda: function.attribute(FunctionAttribute.KERNEL_RATIO),
        lambda: function.meta(1),
    ):
        with refused(107000):
            call()
    assert function.available_dynamic_ubuf() == 0


def test_null_and_stray_handles() -> None:
    """QK-1, QK-3: a number is looked up, never followed."""
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(kernels())
    assert rt.function(binary.get_function("op_0").id) is binary.get_function("op_0")
    for handle, acl, rt_code in ((0, 100000, 107000), (binary.id, 107017, 107017)):
        function = rt.function(handle)
        assert repr(function) == f"<FunctionHandle {handle}>"
        for call in (
            lambda: function.addresses(),  # noqa: B023 - called here
            lambda: function.attribute(1),  # noqa: B023
            lambda: function.available_dynamic_ubuf(),  # noqa: B023
        ):
            with refused(acl):
                call()
        for rt_call in (
            lambda: function.name(),  # noqa: B023
            lambda: function.kernel,  # noqa: B023
            lambda: function.binary(),  # noqa: B023
            lambda: function.meta_size(1),  # noqa: B023
        ):
            with refused(rt_code):
                rt_call()
