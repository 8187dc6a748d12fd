"""cannkit/runtime/args.py: the block that arguments make. Spec 04, section 2."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import UsageError
from cannkit.format.ascend_meta import VfType
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.args import (
    LARGEST_ARRAY,
    ArgsArray,
    ArgsBlock,
    ArgsEx,
    Arguments,
    CpuArgsEx,
    Dim3,
    Placeholder,
    SimtArgs,
    block_of,
    block_of_cpu,
    host_bytes,
    unsigned,
)
from cannkit.runtime.args_check import check_args
from cannkit.runtime.kernel import Kernel
from tests.runtime.arg_rows import (
    BLOCK_CALLS,
    OF_ARGUMENTS,
    Row,
    any_kernel,
    args_of,
    kernel_of,
    recorded,
    with_params,
)

BASE = 0x1240_8040_0000
EXAMPLES = {row["name"]: row for row in recorded(*BLOCK_CALLS) if "name" in row}


def checked_block(kernel: Kernel | None, args: Arguments) -> ArgsBlock:
    check_args(kernel, args)
    return block_of(kernel, args)


def words(data: bytes, count: int) -> list[int]:
    return list(struct.unpack_from(f"<{count}Q", data))


@pytest.mark.parametrize(
    "row", recorded(*BLOCK_CALLS), ids=lambda row: f"{row['id']}-{row['call']}"
)
def test_recorded_launches(row: Row) -> None:
    """What the original refuses for its arguments, and the bytes that it copies to the device."""
    kernel, args, result = kernel_of(row), args_of(row), row["result"]
    if result.get("refusedIn") in OF_ARGUMENTS:
        with pytest.raises(RtError) as caught:
            checked_block(kernel, args)
        assert caught.value.rt == result["ret"]
        return
    block = checked_block(kernel, args)
    if "argsBlock" in result:
        assert block.patched(result["argsAt"]).hex() == result["argsBlock"]
    elif not result["ret"]:
        assert block.content is None
        assert block.pointer == (row["launch"]["args"] if block.size else 0)
    if not result["ret"]:
        assert block.size == result["task"]["argsSize"]
        assert block.simt_offset == result["task"].get("simtParamOffset", 0)


def test_mix_example() -> None:
    """W-3: 72 bytes copied as they are."""
    block = block_of(None, args_of(EXAMPLES["W-3"]))
    assert block == ArgsBlock(bytes(72), 0, 72)


def test_simt_example() -> None:
    """W-6, LCH-34: 32 bytes in front, dimensions from z to x, block before grid."""
    kernel = with_params((0, 8), (8, 4), total=12, vf_type=VfType.SIMT_VF)
    array = ArgsArray([0x1240_9000_0000.to_bytes(8, "little"), (1000).to_bytes(4, "little")])
    block = block_of(kernel, SimtArgs(Dim3(4, 3, 1), Dim3(256, 4, 1), 2000, array))
    assert block.size == 44
    assert block.simt_offset == 32
    patched = block.patched(BASE)
    assert patched[:8] == bytes(8)
    assert struct.unpack_from("<6I", patched, 8) == (1, 4, 256, 1, 3, 4)
    assert struct.unpack_from("<QI", patched, 32) == (0x1240_9000_0000, 1000)


def test_tiling_example() -> None:
    """W-12: the tiling slot points 40 bytes into the block."""
    args = args_of(EXAMPLES["W-12"])
    patched = block_of(None, args).patched(0x1240_8030_0080)
    assert words(patched, 5) == [
        0x1300_0000_0000,
        0x1240_9000_0000,
        0x1240_9010_0000,
        0x1240_9020_0000,
        0x1240_8030_00A8,
    ]


def test_the_callers_buffer_stays_as_it_is() -> None:
    """Q-6."""
    mine = bytearray(range(32))
    block = block_of(None, ArgsEx(mine, 32, (Placeholder(8, 16),), Placeholder(0, 24)))
    assert words(block.patched(BASE), 2) == [BASE + 24, BASE + 16]
    assert mine == bytearray(range(32))
    mine[16] = 99  # and the block does not change with it
    assert block.patched(BASE)[16] == 16


def test_no_more_than_the_stated_size_is_copied() -> None:
    assert block_of(None, ArgsEx(bytes(range(16)), 4)).patched(0) == bytes(range(4))
    assert block_of(None, ArgsEx(memoryview(bytes(range(16))), 4)).content == bytes(range(4))


def test_a_device_block_is_used_as_it_is() -> None:
    """LCH-21: nothing is patched without a copy."""
    args = ArgsEx(BASE, 64, (Placeholder(0, 8),), Placeholder(8, 16), no_copy=True)
    assert block_of(None, args) == ArgsBlock(None, BASE, 64)
    assert block_of_cpu(CpuArgsEx(args, kernel_offsets=[Placeholder(0, 0)])) == ArgsBlock(
        None, BASE, 64
    )


def test_offsets_of_a_cpu_kernel_are_patched_too() -> None:
    """LCH-22."""
    args = CpuArgsEx(ArgsEx(bytes(32), 32, (Placeholder(0, 16),)), kernel_offsets=[(8, 24)])  # type: ignore[list-item]
    assert words(block_of(None, args).patched(BASE), 2) == [BASE + 16, BASE + 24]


def test_a_word_that_crosses_the_end_is_cut() -> None:
    """Q-4, with `lenient`: what would lie behind the block is not written."""
    block = block_of(None, ArgsEx(bytes(12), 12, (Placeholder(8, 0), Placeholder(40, 0))))
    patched = block.patched(0x1122_3344_5566)
    assert patched == bytes(8) + bytes.fromhex("66554433")


def test_placeholders_of_a_simt_block_count_from_the_users_part() -> None:
    """LCH-34."""
    args = SimtArgs(Dim3(), Dim3(), 0, ArgsEx(bytes(24), 24, (Placeholder(8, 16),)))
    patched = block_of(any_kernel(), args).patched(BASE)
    assert words(patched[32:], 2) == [0, BASE + 32 + 16]


def test_gaps_between_parameters_are_zeros() -> None:
    """LCH-33, Q-30."""
    kernel = with_params((4, 2), (16, 1), total=24)
    block = block_of(kernel, ArgsArray([b"\xaa\xbb", b"\xcc"]))
    assert block.content == bytes.fromhex("00000000 aabb 0000 0000000000000000 cc 00000000000000")


def test_no_parameter_bytes_need_no_array() -> None:
    """LCH-33."""
    kernel = with_params(total=0)
    assert block_of(kernel, ArgsArray(None)) == ArgsBlock(None, 0, 0)


def test_simt_needs_an_array_even_without_parameters() -> None:
    """LCH-34, W-14."""
    kernel = with_params(total=0, vf_type=VfType.SIMT_VF)
    args = SimtArgs(Dim3(), Dim3(), 0, ArgsArray(None))
    check_args(kernel, args)
    with pytest.raises(RtError) as caught:
        block_of(kernel, args)
    assert caught.value.rt is RtStatus.INVALID_VALUE
    assert block_of(kernel, args._replace(args=ArgsArray([]))).size == 32


@pytest.mark.parametrize(
    ("kernel", "values", "words"),
    [
        (with_params((0, 8), (8, 8), total=16), [bytes(8), None], "argument 2 of 2"),
        (with_params((0, 8), (8, 8), total=15), [bytes(8)] * 2, "8 bytes at 8 leave"),
        (with_params((0, 8), total=LARGEST_ARRAY + 1), [bytes(8)], "claims"),
    ],
)
def test_refused_arrays(kernel: Any, values: list[bytes | None], words: str) -> None:
    """LCH-33, Q-5, W-14: 107000."""
    with pytest.raises(RtError) as caught:
        block_of(kernel, ArgsArray(values))
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([bytes(8)], "1 arguments, the kernel takes 2"),
        ([bytes(8)] * 3, "3 arguments, the kernel takes 2"),
        ([bytes(8), bytes(4)], "argument 2 of 2 has 4 bytes, the kernel takes 8"),
        ([bytes(8), "four"], "argument 2 of 2 is a str, not bytes"),
    ],
)
def test_arrays_that_do_not_fit(values: list[Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        block_of(with_params((0, 8), (8, 8), total=16), ArgsArray(values))


def test_an_array_needs_a_kernel() -> None:
    with pytest.raises(RtError) as caught:
        block_of(None, ArgsArray([]))
    assert caught.value.rt is RtStatus.KERNEL_NULL


def test_host_bytes_of_any_buffer() -> None:
    assert bytes(host_bytes(memoryview(bytes(range(8)))[::2], "it")) == b"\0\2\4\6"
    assert host_bytes(memoryview(bytes(16)).cast("Q"), "it").nbytes == 16
    with pytest.raises(UsageError, match="it is a float, not bytes"):
        host_bytes(1.5, "it")


@pytest.mark.parametrize("value", [-1, 256, 10**30])
def test_unsigned_refuses_what_does_not_fit(value: int) -> None:
    with pytest.raises(UsageError, match="it does not fit"):
        unsigned(value, 255, "it")
    with pytest.raises(UsageError, match="it is a str, not a whole number"):
        unsigned("1", 255, "it")  # type: ignore[arg-type]


@given(
    st.binary(min_size=1, max_size=200),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 2**32 - 1)), max_size=5),
    st.integers(0, 2**48 - 1),
)
def test_patching_never_leaves_the_block(
    content: bytes, places: list[tuple[int, int]], base: int
) -> None:
    """Q-4: bytes outside of the words stay as they are, and there are no more of them."""
    patches = tuple(Placeholder(*place) for place in places)
    patched = ArgsBlock(content, 0, len(content), patches).patched(base)
    assert len(patched) == len(content)
    inside = {at + byte for at, _ in places for byte in range(8)}
    assert all(
        new == old
        for at, (new, old) in enumerate(zip(patched, content, strict=True))
        if at not in inside
    )


@given(st.lists(st.tuples(st.integers(0, 16), st.binary(max_size=20)), max_size=8))
def test_arrays_keep_their_offsets(pieces: list[tuple[int, bytes]]) -> None:
    """LCH-33."""
    places, at = [], 0
    for gap, value in pieces:
        places.append((at + gap, len(value)))
        at += gap + len(value)
    kernel = with_params(*places, total=at)
    content = block_of(kernel, ArgsArray([value for _, value in pieces])).content or b""
    assert len(content) == at
    for (offset, size), (_, value) in zip(places, pieces, strict=True):
        assert content[offset : offset + size] == value
    assert sum(content) == sum(map(sum, (value for _, value in pieces)))
