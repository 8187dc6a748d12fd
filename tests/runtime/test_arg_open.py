"""cannkit/runtime/arg_open.py: kernels that state nothing of their arguments, or their parameters."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.arg_open import OpenPlan, ParamPlan
from cannkit.runtime.arg_values import ArgKind, Slot, SlotOrigin, UserArg
from cannkit.runtime.args import ArgsArray, ArgsEx, Placeholder, block_of
from cannkit.runtime.args_check import check_args
from cannkit.runtime.args_handle import ArgsHandle, SystemAddresses
from cannkit.runtime.kernel import Kernel
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.arg_rows import a_cpu_kernel, any_kernel, with_params

A2, A5 = find_soc(A2_SOC), find_soc(A5_SOC)
FFTS, OVERFLOW = 0x1300_0000_0000, 0x12F9_8000_0000
BASE = 0x1240_8030_0080
USER = SlotOrigin.USER


def registered(*, ffts: bool = False) -> Kernel:
    """As an object is registered. REG-14."""
    return any_kernel(system_args=1 + ffts, ffts_in_args=ffts, supports_overflow=True)


def words(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def test_layout_of_a_mix() -> None:
    """LCH-24, LCH-27, LCH-28, LCH-29."""
    plan = OpenPlan(registered(ffts=True), A2)
    given = [0x1000, b"\x05\0\0\0", None, UserArg(ArgKind.TILING, b"tile")]
    args, slots = plan.bind(given, ffts=FFTS, overflow=OVERFLOW)
    assert args == ArgsEx(
        words(FFTS, 0x1000, 5, 0, 0, OVERFLOW) + b"tile", 52, (), Placeholder(32, 48)
    )
    assert slots == (
        Slot(0, 8, "ffts", SlotOrigin.FFTS),
        Slot(8, 8, "address", USER, 0),
        Slot(16, 4, "scalar", USER, 1),
        Slot(24, 8, "null", USER, 2),
        Slot(32, 8, "tiling", SlotOrigin.TILING, 3),
        Slot(40, 8, "overflow", SlotOrigin.OVERFLOW),
        Slot(48, 4, "tiling data", SlotOrigin.TILING, 3),
    )
    check_args(None, args)
    assert plan.block(given, ffts=FFTS, overflow=OVERFLOW) == block_of(None, args)


def test_facts() -> None:
    plan = OpenPlan(registered(), A2)
    assert (plan.source, plan.args_size, plan.pointers, plan.remarks) == ("none", None, (), ())
    assert OpenPlan(registered(), A2, 24).args_size == 24
    params = ParamPlan(with_params((0, 8), (8, 4), total=16))
    assert (params.source, params.args_size, params.pointers) == ("PARAM_INFO", 16, ())
    assert params.remarks == ()


@given(
    st.sampled_from([A2, A5]),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=6),
    st.booleans(),
)
def test_the_same_as_a_handle(
    soc: Any, system_args: int, overflow: bool, ffts: bool, values: list[bytes], cpu: bool
) -> None:
    """The block is that of aclrtKernelArgs, wherever that does not lose a parameter (Q-16)."""
    kernel = any_kernel(system_args=system_args, supports_overflow=overflow, ffts_in_args=ffts)
    if cpu:
        kernel = a_cpu_kernel()
    handle = ArgsHandle(kernel, soc, lambda: SystemAddresses(FFTS, OVERFLOW))
    for value in values:
        handle.append(value)
    try:
        handle.finalize()
    except RtError:
        args, _ = OpenPlan(kernel, soc).bind(values, ffts=FFTS, overflow=OVERFLOW)
        assert block_of(kernel, args).patched(0)[:8] == words(FFTS)
        return
    args, _ = OpenPlan(kernel, soc).bind(values, ffts=FFTS, overflow=OVERFLOW)
    assert block_of(kernel, args).content == block_of(kernel, handle.to_args()).content


def test_words_are_packed() -> None:
    plain, mix = OpenPlan(registered(), A2), OpenPlan(registered(ffts=True), A2)
    for _ in range(2):
        assert plain.pack([1, 2], overflow=OVERFLOW) == words(1, 2, OVERFLOW)
        assert mix.pack([1], ffts=FFTS, overflow=OVERFLOW) == words(FFTS, 1, OVERFLOW)
        assert mix.pack([], ffts=FFTS, overflow=OVERFLOW) == words(FFTS, OVERFLOW)
    assert OpenPlan(registered(ffts=True), A5).pack([1], ffts=9, overflow=2) == words(0, 1, 2)
    assert OpenPlan(a_cpu_kernel(), A2).pack([1, 2]) == words(1, 2)
    assert plain.block([1, 2], overflow=3).content == plain.pack([1, 2], overflow=3)


def test_cpu_kernels() -> None:
    """LCH-23: nothing is aligned."""
    args, slots = OpenPlan(a_cpu_kernel(), A2).bind([b"abc", 7])
    assert args.args == b"abc" + words(7)
    assert [slot.offset for slot in slots] == [0, 3]


def test_a_block_is_taken_as_it_is() -> None:
    plan = OpenPlan(registered(ffts=True), A2, 4096)
    assert plan.bind(b"abc")[0] == ArgsEx(b"abc", 3)
    assert plan.block(b"abc").content == b"abc"
    assert plan.resolve(b"abc")[0].data == b"abc"
    params = ParamPlan(with_params((0, 8), total=8))
    assert params.bind(b"abc")[0] == ArgsEx(b"abc", 3)
    assert params.block(b"abc").content == b"abc"
    assert params.resolve(bytearray(b"abc"))[0].data == b"abc"


@pytest.mark.parametrize("size", [24, 32])
def test_the_stated_size(size: int) -> None:
    """ARG-01: with or without the overflow slot."""
    plan = OpenPlan(registered(ffts=True), A2, size)
    plan.check([1, 2])
    plan.check([1, b"\x01\0\0\0"])
    assert len(plan.pack([1, 2])) == 32
    assert len(plan.block([words(1, 2)]).content or b"") == 32
    with pytest.raises(UsageError) as caught:
        plan.check([])
    assert caught.value.what == (
        f"8 bytes of arguments, the kernel takes {size}, 8 of them by the runtime"
    )
    for call in (plan.pack, plan.block, plan.bind):
        with pytest.raises(UsageError, match=f"the kernel takes {size}"):
            call([1, 2, 3, 4])


def test_the_stated_size_without_system_slots() -> None:
    plan = OpenPlan(registered(), A2, 16)
    plan.check([1, 2])
    plan.check([1])  # and the overflow slot
    with pytest.raises(UsageError, match=r"24 bytes of arguments, the kernel takes 16$"):
        plan.check([1, 2, 3])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"", "argument 2 of 2 has no bytes"),
        (UserArg(ArgKind.SCALAR), "argument 2 of 2 has no bytes"),
        (UserArg(ArgKind.TILING, b""), "is empty"),
        (-1, "argument 2 of 2 does not fit in 64 bits"),
        (1.5, "argument 2 of 2 is a float"),
    ],
)
def test_what_no_block_can_hold(value: object, words: str) -> None:
    plan = OpenPlan(registered(), A2)
    for call in (plan.check, plan.bind, plan.block, plan.pack):
        with pytest.raises(UsageError, match=words):
            call([1, value])  # type: ignore[list-item]


@pytest.mark.parametrize("args", [5, None, "text", {"x": 1}])
def test_what_is_no_list(args: Any) -> None:
    for plan in (OpenPlan(registered(), A2), ParamPlan(with_params((0, 8), total=8))):
        for call in (plan.check, plan.bind, plan.block, plan.pack):
            with pytest.raises(UsageError):
                call(args)


def test_only_numbers_are_packed() -> None:
    with pytest.raises(UsageError, match="only whole numbers"):
        OpenPlan(registered(), A2).pack([None])  # type: ignore[list-item]


PARAMS = with_params((0, 8), (8, 4), (12, 1), (16, 8), total=24)


def test_parameters() -> None:
    """LCH-33."""
    plan = ParamPlan(PARAMS)
    args, slots = plan.bind([0x1000, 7, b"\x09", UserArg(ArgKind.OUT, address=0x2000)])
    assert args == ArgsArray([words(0x1000), b"\7\0\0\0", b"\x09", words(0x2000)])
    assert slots[1] == Slot(8, 4, "parameter", USER, 1)
    check_args(PARAMS, args)
    content = block_of(PARAMS, args).content
    assert content == words(0x1000) + b"\7\0\0\0\x09\0\0\0" + words(0x2000)
    assert plan.pack([0x1000, 7, 9, 0x2000]) == content
    assert plan.block([0x1000, 7, b"\x09", 0x2000]).content == content


def test_signed_numbers_and_null() -> None:
    plan = ParamPlan(PARAMS)
    args, _ = plan.bind([None, -2, -1, -3])
    assert isinstance(args, ArgsArray)
    assert args.values == [bytes(8), b"\xfe\xff\xff\xff", b"\xff", b"\xfd" + b"\xff" * 7]
    assert plan.pack([0, -2, -1, -3]) == block_of(PARAMS, args).content
    assert plan.resolve([1, 2, 3, None])[0] == UserArg(ArgKind.SCALAR, words(1), size=8)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "argument 1 of 4 (8 bytes) is missing"),
        ([1, 2, 3], "argument 4 of 4 (8 bytes) is missing"),
        ([1] * 5, "5 arguments, the kernel takes 4"),
        ([1, 2**32, 3, 4], "argument 2 of 4 (4 bytes) does not hold 0x100000000"),
        ([1, 2, -129, 4], "argument 3 of 4 (1 bytes) does not hold -0x81"),
        ([1, None, 3, 4], "argument 2 of 4 (4 bytes) is given 8 bytes"),
        ([b"abc", 2, 3, 4], "argument 1 of 4 (8 bytes) is given 3 bytes"),
        ([1, 2, 3, UserArg(ArgKind.TILING, bytes(40), label="tiling:@t")], "(8 bytes), tiling:@t is given 40"),
        ([1, 2, 3, 1.5], "argument 4 of 4 (8 bytes) is a float"),
    ],
)  # fmt: skip
def test_what_a_parameter_does_not_take(args: list[Any], words: str) -> None:
    plan = ParamPlan(PARAMS)
    for call in (plan.check, plan.bind, plan.block, plan.pack):
        with pytest.raises(UsageError) as caught:
            call(args)
        assert words in str(caught.value)


def test_no_parameters() -> None:
    """LCH-33: there is no block."""
    plan = ParamPlan(with_params(total=0))
    assert plan.pack([]) == b""
    assert plan.block([]) == (None, 0, 0, (), 0)
    assert plan.bind([])[1] == ()


def test_structures_by_value() -> None:
    plan = ParamPlan(with_params((0, 12), (16, 8), total=24))
    assert plan.pack([b"a" * 12, 5]) == b"a" * 12 + bytes(4) + words(5)
    with pytest.raises(UsageError, match="given 8 bytes"):
        plan.pack([5, 5])


@pytest.mark.parametrize(
    "kernel",
    [
        with_params((0, 8), (4, 8), total=16),  # they overlap: the later one counts
        with_params((8, 8), (0, 8), total=16),
    ],
)
def test_parameters_in_any_order(kernel: Kernel) -> None:
    first, second = (param.offset for param in kernel.params)
    content = ParamPlan(kernel).pack([2**64 - 1, 2])
    assert content[second : second + 8] == words(2)
    assert content[first : first + 4] == b"\xff" * 4


@pytest.mark.parametrize(
    "kernel", [with_params((9, 8), total=16), with_params((2**31, 8), total=8)]
)
def test_parameters_that_leave_their_block(kernel: Kernel) -> None:
    """Q-5."""
    with pytest.raises(RtError) as caught:
        ParamPlan(kernel).pack([1])
    assert caught.value.rt is RtStatus.INVALID_VALUE


def test_sizes_that_metadata_make_up() -> None:
    for kernel in (
        with_params((0, 2**32 - 1), total=2**63),
        with_params((2**32 - 1, 8), total=2**63),
        with_params((0, 8), total=2**63),
    ):
        with pytest.raises(CannkitError):
            ParamPlan(kernel).pack([1])
