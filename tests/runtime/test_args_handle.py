"""cannkit/runtime/args_handle.py: the aclrtKernelArgs calls. Spec 04, section 2.3."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, UsageError
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.args import ArgsEx, CpuArgsEx, Placeholder, block_of
from cannkit.runtime.args_check import check_args, remarks
from cannkit.runtime.args_handle import (
    BUFFER_SIZE,
    MOST_PARAMS,
    ArgsHandle,
    ParamHandle,
    SystemAddresses,
    handle_size,
    leading_slots,
    memory_size,
)
from cannkit.runtime.handles import HandleKind
from cannkit.runtime.kernel import Kernel
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.arg_rows import OF_ARGUMENTS, Row, a_cpu_kernel, any_kernel, kernel_of, recorded
from tests.runtime.arg_rows import soc_of as chip_of

A2, A5 = find_soc(A2_SOC), find_soc(A5_SOC)
FFTS, OVERFLOW = 0x12F9_0000_0000, 0x12F9_8000_0000
BASE = 0x1240_8030_0080
NO_PARAM: Final = 0xFFFF_FFFF  # in the rows: the op names a parameter that is not there


def addresses() -> SystemAddresses:
    return SystemAddresses(FFTS, OVERFLOW)


def mix_kernel(**fields: Any) -> Kernel:
    """As an object of A2 registers a half of a mix. REG-14."""
    values: dict[str, Any] = {"system_args": 2, "ffts_in_args": True, "supports_overflow": True}
    return any_kernel(**(values | {"user_args": 4} | fields))


def handle(kernel: Kernel | None = None, memory: Any = None, soc: Any = A2) -> ArgsHandle:
    return ArgsHandle(kernel or mix_kernel(), soc, addresses, memory)


def launched(args: ArgsHandle) -> bytes:
    found = args.to_args()
    check_args(args.kernel, found)
    return block_of(args.kernel, found).patched(BASE)


def word(number: int) -> bytes:
    return number.to_bytes(8, "little")


def code(call: Any, *args: Any) -> int:
    """The code of a call in the words of the rows."""
    try:
        call(*args)
    except RtError as error:
        return error.rt or error.acl
    return 0


def run(args: ArgsHandle, op: list[Any]) -> int:
    if op[0] == "a":
        return code(args.append, bytes.fromhex(op[1]))
    if op[0] == "p":
        return code(args.append_placeholder)
    if op[0] == "f":
        return code(args.finalize)
    if op[1] >= len(args.params):
        return NO_PARAM

    def fill(param: ParamHandle, data: bytes) -> None:
        args.placeholder_buffer(param, len(data))[:] = data

    return code(fill, args.params[op[1]], bytes.fromhex(op[2]))


@pytest.mark.parametrize("row", recorded("handle"), ids=lambda row: f"{row['id']}")
def test_recorded_handles(row: Row) -> None:
    """What each call answers, what lies before the parameters, and the bytes that are launched."""
    kernel, soc, launch, result = kernel_of(row), chip_of(row), row["launch"], row["result"]
    assert kernel is not None
    needed = [handle_size(kernel), memory_size(kernel, launch["userSize"])]
    assert needed == result["handleMem"]
    memory = None
    if launch.get("init") != "shared":
        memory = bytearray(launch.get("bufSize", needed[1]))
    system = SystemAddresses(row["device"]["c2c"], row["device"]["ovfAddr"])
    args = ArgsHandle(kernel, soc, lambda: system, memory)
    assert args.system_size == result["handleSys"]
    assert [run(args, op) for op in launch["ops"]] == result["ops"]
    assert args.args_size == result["handleArgsSize"]
    if result.get("refusedIn") == "CheckNonArgsHandle" or not args.args_size:
        assert code(args.to_args) == result["ret"]
    else:
        assert result.get("refusedIn") not in OF_ARGUMENTS
        assert (
            block_of(kernel, args.to_args()).patched(result["argsAt"]).hex()
            == (result["argsBlock"])
        )


def test_layout_of_a_mix() -> None:
    """LCH-29: FFTS, parameters and placeholder slots, overflow, placeholder data."""
    args = handle()
    args.append(word(1) + b"\x02")
    slot = args.append_placeholder()
    args.placeholder_buffer(slot, 3)[:] = b"abc"
    args.finalize()
    assert launched(args) == (
        word(FFTS) + word(1) + word(2) + word(BASE + 40) + word(OVERFLOW) + b"abc"
    )


def test_overflow_slot_at_finalize() -> None:
    """LCH-27: where no placeholder took data, 8-aligned, and only once."""
    args = handle(mix_kernel(system_args=1, ffts_in_args=False))
    args.append(b"\x01")
    args.finalize()
    args.finalize()
    assert launched(args) == word(1) + word(OVERFLOW)


@pytest.mark.parametrize(
    ("soc", "system_args", "overflow", "ffts", "slots"),
    [
        (A2, 0, True, True, 0),
        (A2, 1, True, False, 0),
        (A2, 2, True, True, 1),
        (A2, 2, False, True, 2),
        (A5, 2, True, True, 1),
        (A5, 3, True, True, 1),
        (A5, 3, True, False, 2),
        (A5, 1, False, True, 1),
    ],
)
def test_leading_slots(soc: Any, system_args: int, overflow: bool, ffts: bool, slots: int) -> None:
    """LCH-24."""
    kernel = any_kernel(system_args=system_args, supports_overflow=overflow, ffts_in_args=ffts)
    assert leading_slots(kernel, soc) == slots
    assert handle(kernel, soc=soc).args_size == 8 * slots


def test_no_ffts_address_on_a5() -> None:
    """LCH-28."""
    args = handle(mix_kernel(), soc=A5)
    args.append(word(7))
    args.finalize()
    assert launched(args) == word(0) + word(7) + word(OVERFLOW)


def test_ffts_address_without_a_slot() -> None:
    """Q-16: it would overwrite the first parameter."""
    args = handle(mix_kernel(system_args=0))
    args.finalize()  # there is nothing to overwrite
    assert code(args.to_args) == RtStatus.INVALID_VALUE
    args = handle(mix_kernel(system_args=0))
    args.append(word(1))
    assert code(args.finalize) == RtStatus.INVALID_VALUE
    args = handle(mix_kernel(system_args=1))
    assert code(args.finalize) == RtStatus.INVALID_VALUE
    assert args.args_size == 0


def test_cpu_arguments_are_not_aligned() -> None:
    """LCH-23, LCH-32: nor do they have system slots."""
    args = handle(a_cpu_kernel())
    args.append(b"\x01")
    slot = args.append_placeholder()
    args.placeholder_buffer(slot, 2)[:] = b"xy"
    args.finalize()
    found = args.to_args()
    assert isinstance(found, CpuArgsEx)
    assert (found.so_name_offset, found.kernel_name_offset, found.head_offset) == (0, 0, 0)
    assert launched(args) == b"\x01" + word(BASE + 9) + b"xy"


def test_sizes() -> None:
    """LCH-31."""
    assert handle_size(any_kernel(user_args=3)) == 96 + 48 * 3
    assert handle_size(a_cpu_kernel()) == 96 + 48 * 128
    assert memory_size(any_kernel(user_args=3), 100) == 100 + 64 + 24
    assert memory_size(a_cpu_kernel(), 100) == 100


def test_append_after_it_is_too_late() -> None:
    """LCH-25: 207000."""
    args = handle()
    slot = args.append_placeholder()
    args.placeholder_buffer(slot, 8)
    with pytest.raises(RtError, match="placeholders have data") as caught:
        args.append(b"x")
    assert caught.value.acl is AclStatus.RT_FEATURE_NOT_SUPPORT
    assert code(args.append_placeholder) == RtStatus.FEATURE_NOT_SUPPORT
    args = handle()
    slot = args.append_placeholder()
    args.finalize()
    assert code(args.append, b"x") == RtStatus.FEATURE_NOT_SUPPORT
    assert code(args.append_placeholder) == RtStatus.FEATURE_NOT_SUPPORT
    assert code(args.placeholder_buffer, slot, 8) == RtStatus.FEATURE_NOT_SUPPORT


def test_as_many_parameters_as_there_is_room() -> None:
    """LCH-23, LCH-25."""
    args = handle()
    for _ in range(MOST_PARAMS):
        args.append_placeholder()
    assert code(args.append, b"x") == RtStatus.INVALID_VALUE
    assert code(args.append_placeholder) == RtStatus.INVALID_VALUE
    mine = handle(memory=bytearray(1024))
    for number in range(4):
        mine.append(word(number))
    assert code(mine.append, b"x") == RtStatus.INVALID_VALUE
    assert len(handle(a_cpu_kernel(), bytearray(2)).params) == 0


def test_placeholders_of_a_kernel_with_many_parameters() -> None:
    """LCH-23."""
    args = handle(mix_kernel(user_args=200), bytearray(4096))
    for _ in range(128):
        args.append_placeholder()
    assert code(args.append_placeholder) == RtStatus.INVALID_VALUE
    args.append(b"x")


def test_as_many_bytes_as_there_is_room() -> None:
    """LCH-25, LCH-26: nothing has changed where there was no room."""
    args = handle()
    assert code(args.append, bytes(BUFFER_SIZE - 7)) == RtStatus.INVALID_VALUE
    args.append(bytes(BUFFER_SIZE - 32))
    slot = args.append_placeholder()
    assert args.args_size == BUFFER_SIZE - 16
    assert (
        code(args.placeholder_buffer, slot, 9) == RtStatus.INVALID_VALUE
    )  # with the overflow slot
    assert code(args.placeholder_buffer, slot, 2**63) == RtStatus.INVALID_VALUE
    assert args.args_size == BUFFER_SIZE - 16
    args.placeholder_buffer(slot, 8)
    args.finalize()
    assert args.args_size == BUFFER_SIZE


def test_no_room_for_system_slots() -> None:
    args = handle(memory=bytearray(16))
    args.append(word(1))
    assert code(args.finalize) == RtStatus.INVALID_VALUE
    assert not args.finalized
    with pytest.raises(RtError, match="8 for the system"):
        handle(memory=bytearray(7))


def test_a_second_area_for_a_placeholder() -> None:
    """LCH-26: the last one counts."""
    args = handle(mix_kernel(system_args=0, ffts_in_args=False))
    slot = args.append_placeholder()
    args.placeholder_buffer(slot, 4)[:] = b"old."
    args.placeholder_buffer(slot, 3)[:] = b"new"
    args.finalize()
    assert launched(args) == word(BASE + 16) + b"old.\0\0\0\0new"


def test_a_placeholder_without_data_is_told() -> None:
    """Q-4."""
    args = handle(mix_kernel(system_args=0, ffts_in_args=False))
    args.append(word(5))
    args.append_placeholder()
    args.finalize()
    assert launched(args) == word(5) + word(BASE)
    (finding,) = remarks(args.to_args())
    assert finding.message.startswith("placeholder 0 has no data")


def test_updates() -> None:
    """LCH-30: an update asks for Finalize."""
    args = handle(mix_kernel(system_args=0, ffts_in_args=False))
    value, slot = args.append(word(1)), args.append_placeholder()
    with pytest.raises(RtError, match="they are not final"):
        args.to_args()
    args.finalize()
    args.update(value, word(2))
    with pytest.raises(RtError, match="they were updated"):
        args.to_args()
    args.finalize()
    assert launched(args)[:8] == word(2)
    assert code(args.update, value, b"short") == RtStatus.INVALID_VALUE
    assert code(args.update, slot, word(3)) == RtStatus.INVALID_VALUE
    assert launched(args)[:8] == word(2)


def test_what_is_launched_does_not_change_the_handle() -> None:
    """Q-6, LCH-32."""
    args = handle()
    slot = args.append_placeholder()
    args.placeholder_buffer(slot, 4)
    args.finalize()
    found = args.to_args()
    assert isinstance(found, ArgsEx)
    assert found.placeholders == (Placeholder(8, 24),)
    assert (found.tiling, found.no_copy, found.size) == (None, False, 28)
    assert launched(args) == launched(args)


def test_each_handle_has_its_own_memory() -> None:
    """Q-17."""
    first, second = handle(), handle()
    first.append(word(1))
    second.append(word(2))
    first.finalize()
    assert launched(first)[8:16] == word(1)


def test_memory_of_the_user() -> None:
    """LCH-24: what it holds stays where nothing is written."""
    memory = bytearray(b"\xee" * 64)
    args = handle(mix_kernel(system_args=3), memory)
    args.append(b"\x01")
    args.finalize()
    assert launched(args) == word(FFTS) + b"\xee" * 8 + b"\x01" + b"\xee" * 7 + word(OVERFLOW)
    assert memory[:24] == launched(args)[:24]


def test_an_empty_block() -> None:
    """Q-29."""
    args = handle(any_kernel())
    args.finalize()
    with pytest.raises(RtError, match="there are no arguments") as caught:
        args.to_args()
    assert caught.value.rt is RtStatus.INVALID_VALUE
    assert caught.value.hint == "launch with an empty argument array"


def test_nulls() -> None:
    """API-3: 100000."""
    args = handle()
    value, slot = args.append(b"x"), args.append_placeholder()
    for call in (
        lambda: args.append(b""),
        lambda: args.placeholder_buffer(slot, 0),
        lambda: args.update(value, b""),
    ):
        with pytest.raises(RtError) as caught:
            call()
        assert caught.value.acl is AclStatus.INVALID_PARAM


def test_parameters_of_others() -> None:
    args, other = handle(), handle()
    value, slot = other.append(b"x"), other.append_placeholder()
    assert code(args.update, value, b"y") == RtStatus.INVALID_VALUE
    assert code(args.placeholder_buffer, slot, 8) == RtStatus.INVALID_VALUE
    assert code(other.placeholder_buffer, value, 8) == RtStatus.INVALID_VALUE


def test_what_is_no_bytes() -> None:
    args = handle()
    for call in (
        lambda: args.append(8),  # type: ignore[arg-type]
        lambda: args.placeholder_buffer(args.append_placeholder(), -1),
        lambda: handle(memory="text"),
    ):
        with pytest.raises(UsageError):
            call()
    with pytest.raises(RtError, match="it cannot be written to"):
        handle(memory=memoryview(bytes(64)))


def test_a_context_is_needed_for_system_slots() -> None:
    """DEV: 107002 where there is none."""

    def nowhere() -> SystemAddresses:
        raise RtError(RtStatus.CONTEXT_NULL, "no current context")

    args = ArgsHandle(mix_kernel(), A2, nowhere)
    slot = args.append_placeholder()
    assert code(args.placeholder_buffer, slot, 8) == RtStatus.CONTEXT_NULL
    assert code(args.finalize) == RtStatus.CONTEXT_NULL
    assert not args.finalized


def test_kinds() -> None:
    """API-4."""
    args = handle()
    assert args.KIND is HandleKind.ARGS
    assert args.append(b"x").KIND is HandleKind.PARAM


steps = st.lists(
    st.one_of(
        st.tuples(st.just("a"), st.binary(max_size=40)),
        st.tuples(st.just("p"), st.just(b"")),
        st.tuples(st.just("b"), st.binary(max_size=40)),
        st.tuples(st.just("u"), st.binary(max_size=40)),
        st.tuples(st.just("f"), st.just(b"")),
    ),
    max_size=14,
)


@given(
    steps,
    st.sampled_from([A2, A5]),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 100)),
    st.integers(0, 13),
)
def test_any_order_of_calls(
    calls: list[tuple[str, bytes]],
    soc: Any,
    system_args: int,
    overflow: bool,
    ffts: bool,
    size: int | None,
    pick: int,
) -> None:
    """A block that is launched keeps every parameter where its handle says, and has all its words."""
    kernel = mix_kernel(system_args=system_args, supports_overflow=overflow, ffts_in_args=ffts)
    memory = None if size is None else bytearray(size)
    values: dict[ParamHandle, bytes] = {}
    try:
        args = handle(kernel, memory, soc)
        for op, data in calls:
            param = args.params[pick % len(args.params)] if args.params else None
            if op == "a":
                values[args.append(data)] = data
            elif op == "p":
                args.append_placeholder()
            elif op == "f":
                args.finalize()
            elif param is not None and op == "b":
                args.placeholder_buffer(param, len(data))[:] = data
                values[param] = data
            elif param is not None:
                args.update(param, data)
                values[param] = data
        block = launched(args)
    except CannkitError:
        return
    assert len(block) == args.args_size
    for param, data in values.items():
        if param.is_placeholder:
            at = int.from_bytes(block[param.offset : param.offset + 8], "little") - BASE
            assert at == param.data_offset
            assert block[at : at + len(data)] == data
        else:
            assert block[param.offset : param.offset + param.size] == data
    assert (word(OVERFLOW) in block) == (overflow and system_args > 0)
    if ffts and soc is A2:
        assert block[:8] == word(FFTS)
