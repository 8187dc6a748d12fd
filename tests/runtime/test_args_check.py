"""cannkit/runtime/args_check.py: every check of spec 04, section 1.3, its code, and their order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, UsageError
from cannkit.format.ascend_meta import VfType
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.args import (
    ArgsArray,
    ArgsEx,
    Arguments,
    CpuArgsEx,
    Dim3,
    Placeholder,
    SimtArgs,
    block_of,
)
from cannkit.runtime.args_check import check_address, check_args, remarks
from cannkit.runtime.kernel import Kernel
from tests.runtime.arg_rows import a_cpu_kernel, any_kernel, with_params

HOST = bytes(64)
SIMT = with_params((0, 8), total=8, vf_type=VfType.SIMT_VF)
GRID, BLOCK = Dim3(2, 3, 4), Dim3(32)


def ex(**fields: Any) -> ArgsEx:
    values: dict[str, Any] = {"args": HOST, "size": 64}
    return ArgsEx(**(values | fields))


def cpu(**fields: Any) -> CpuArgsEx:
    return CpuArgsEx(ex(**fields))


def simt(grid: Dim3 = GRID, block: Dim3 = BLOCK, args: Any = None, ubuf: int = 0) -> SimtArgs:
    return SimtArgs(grid, block, ubuf, ArgsArray([bytes(8)]) if args is None else args)


def refusal(kernel: Kernel | None, args: Arguments, **how: bool) -> RtError:
    with pytest.raises(RtError) as caught:
        check_args(kernel, args, **how)
    return caught.value


# Type 1, and the legacy structure: where it is refused, in the order in which that is found out.
BLOCKS = [
    (ex(args=None, size=0), "args"),
    (ex(args=0, size=0, no_copy=True), "args"),
    (ex(size=0, tiling=Placeholder(99, 99)), "argsSize"),
    (ex(args=0x1000, size=0, no_copy=True), "argsSize"),
    (ex(tiling=Placeholder(99, 64)), "tiling data"),
    (ex(tiling=Placeholder(64, 63), placeholders=None), "the tiling slot"),
    (ex(tiling=Placeholder(0, 63), placeholders=None), "placeholders"),
    (ex(placeholders=[Placeholder(64, 99), Placeholder(99, 99)]), "placeholder 0"),
    (ex(placeholders=[Placeholder(0, 64), Placeholder(99, 99)]), "data of placeholder 0"),
    (ex(placeholders=[Placeholder(0, 63), Placeholder(99, 99)]), "placeholder 1"),
]


@pytest.mark.parametrize(("args", "where"), BLOCKS)
def test_blocks(args: ArgsEx, where: str) -> None:
    """1.3, type 1."""
    error = refusal(None, args)
    assert error.acl is AclStatus.RT_PARAM_INVALID
    assert error.rt is RtStatus.INVALID_VALUE
    assert error.where == where


@pytest.mark.parametrize(("args", "where"), BLOCKS[:4])
def test_cpu_blocks(args: ArgsEx, where: str) -> None:
    """1.3, type 2, LCH-9."""
    assert refusal(a_cpu_kernel(), CpuArgsEx(args)).where == where


def test_what_is_not_copied_is_not_looked_at() -> None:
    """1.3: placeholders count only where there is a copy."""
    bad = (Placeholder(99, 99),)
    args = ex(args=0x1240_0000_0000, no_copy=True, placeholders=bad, tiling=bad[0])
    check_args(None, args)
    check_args(None, CpuArgsEx(args, kernel_offsets=bad))
    check_args(None, args._replace(placeholders=None))


@pytest.mark.parametrize("addr_offset", [57, 60, 63])
def test_a_word_that_crosses_the_end(addr_offset: int) -> None:
    """Q-4, W-14: the original asks for its first byte only."""
    over = addr_offset + 8 - 64
    for args in (
        ex(placeholders=[Placeholder(addr_offset, 0)]),
        ex(tiling=Placeholder(addr_offset, 0)),
        cpu(placeholders=[Placeholder(addr_offset, 0)]),
    ):
        error = refusal(None, args)
        assert error.rt is RtStatus.INVALID_VALUE
        assert f"{over} bytes" in (error.hint or "")
        check_args(None, args, lenient=True)
        assert len(block_of(None, args).patched(0)) == 64


def test_the_last_word_is_inside() -> None:
    check_args(None, ex(placeholders=[Placeholder(56, 63)], tiling=Placeholder(56, 63)))
    check_args(None, cpu(placeholders=[Placeholder(56, 64)]))  # an end is no place of data
    check_args(None, CpuArgsEx(ex(), kernel_offsets=[Placeholder(0, 0)]))


@pytest.mark.parametrize("place", [(57, 0), (0, 65), (2**32 - 1, 0)])
def test_cpu_placeholders(place: tuple[int, int]) -> None:
    """Q-4: the original does not look at all."""
    bad = Placeholder(*place)
    assert refusal(None, cpu(placeholders=[bad])).where == "placeholder 0"
    late = CpuArgsEx(ex(), kernel_offsets=[Placeholder(0, 0), bad])
    error = refusal(None, late)
    assert error.where == "kernel offset 1"
    assert "original does not look" in (error.hint or "")
    check_args(None, late, lenient=True)


def test_arrays() -> None:
    """1.3, type 4."""
    array = ArgsArray(None)
    assert refusal(a_cpu_kernel(), array).acl is AclStatus.RT_FEATURE_NOT_SUPPORT
    assert refusal(None, array).rt is RtStatus.KERNEL_NULL
    assert refusal(any_kernel(), array).where == "kernel k_0"  # W-14
    assert refusal(with_params((0, 8), total=8), array).where == "the argument array"
    assert refusal(with_params((0, 0), total=0), array).rt is RtStatus.INVALID_VALUE
    check_args(with_params(total=0), array)
    check_args(with_params((0, 8), total=8), ArgsArray([None]))  # the copy finds that out


@pytest.mark.parametrize(
    ("kernel", "args", "where"),
    [
        (any_kernel(vf_type=VfType.SIMD_VF), simt(Dim3(0)), "kernel k_0"),
        (any_kernel(vf_type=VfType.SIMT_VF), simt(Dim3(0)), "kernel k_0"),
        (SIMT, simt(Dim3(1, 0, 0), Dim3(0)), "grid"),
        (SIMT, simt(block=Dim3(1, 1, 0), args=ArgsArray(None)), "block"),
        (SIMT, simt(args=ArgsArray(None)), "the argument array"),
    ],
)
def test_simt_arrays(kernel: Kernel, args: SimtArgs, where: str) -> None:
    """1.3, type 5."""
    assert refusal(kernel, args).where == where


@pytest.mark.parametrize(
    ("args", "where"),
    [
        (simt(Dim3(0), args=ex(args=None, size=0)), "args"),
        (simt(Dim3(0), args=ex(size=0)), "argsSize"),
        (simt(Dim3(0), Dim3(0), args=ex(placeholders=None)), "grid"),
        (simt(block=Dim3(0), args=ex(placeholders=None)), "block"),
        (simt(args=ex(placeholders=None)), "placeholders"),
        (simt(args=ex(placeholders=[Placeholder(64, 64)])), "placeholder 0"),
        (simt(args=ex(placeholders=[Placeholder(0, 64)])), "data of placeholder 0"),
    ],
)
def test_simt_blocks(args: SimtArgs, where: str) -> None:
    """1.3, type 6: offsets count in the user's part."""
    assert refusal(SIMT, args).where == where
    assert refusal(any_kernel(vf_type=VfType.SIMD_SIMT_MIX), args).where == "kernel k_0"


@pytest.mark.parametrize("vf_type", [VfType.SIMT_VF, VfType.SIMD_SIMT_MIX])
def test_simt_kernels(vf_type: VfType) -> None:
    """1.3: AIV types 3 and 4."""
    check_args(with_params(total=0, vf_type=vf_type), simt(args=ArgsArray([])))
    check_args(with_params(total=0, vf_type=vf_type), simt(args=ex()))


@pytest.mark.parametrize(
    ("grid", "kept"),
    [(Dim3(65536), 0), (Dim3(65536, 65536), 0), (Dim3(2**32 - 1, 2**32 - 1, 2**32 - 1), 65535)],
)
def test_grids_that_do_not_fit(grid: Dim3, kept: int) -> None:
    """Q-2, W-14: nothing wraps."""
    error = refusal(SIMT, simt(grid))
    assert error.acl is AclStatus.RT_PARAM_INVALID
    assert str(grid.total) in error.why
    assert error.hint == f"the original would launch {kept}"
    check_args(SIMT, simt(Dim3(5, 13107, 1)))


@pytest.mark.parametrize(
    "args",
    [
        ex(size=-1),
        ex(size=2**32),
        ex(size=1.5),
        ex(size=65),
        ex(args=0x1000),
        ex(args="text"),
        ex(no_copy=True),
        ex(args=-1, no_copy=True),
        ex(args=2**64, no_copy=True),
        ex(placeholders=[Placeholder(-1, 0)]),
        ex(placeholders=[Placeholder(0, 2**32)]),
        ex(placeholders=[Placeholder(0, 0)] * 65536),
        ex(tiling=(0, "8")),
        CpuArgsEx(ex(), so_name_offset=-1),
        CpuArgsEx(ex(), kernel_name_offset=2**32),
        CpuArgsEx(ex(), head_offset=None),  # type: ignore[arg-type]
        CpuArgsEx(ex(), timeout=65536),
        CpuArgsEx(ex(), kernel_offsets=[Placeholder(0, -1)]),
        simt(Dim3(-1)),
        simt(block=Dim3(2**32)),
        simt(ubuf=-1),
        simt(args=ex(args=0x1000, no_copy=True)),
    ],
)
def test_what_no_structure_could_hold(args: Arguments) -> None:
    with pytest.raises(UsageError):
        check_args(SIMT, args)


def test_device_addresses() -> None:
    """Q-12."""
    check_address(0)
    check_address(2**48 - 1)
    for address in (2**48, 2**64, -1):
        with pytest.raises(RtError) as caught:
            check_address(address)
        assert caught.value.rt is RtStatus.INVALID_VALUE


def test_placeholders_without_data_are_told() -> None:
    """Q-4."""
    args = ex(placeholders=[Placeholder(0, 16), Placeholder(8, 0)])
    (finding,) = remarks(args)
    assert (finding.rule, finding.severity.value) == ("Q-4", "warning")
    assert finding.message.startswith("placeholder 1 has no data")
    assert remarks(CpuArgsEx(args)) == remarks(simt(args=args)) == (finding,)
    assert remarks(args._replace(no_copy=True, args=1)) == remarks(ArgsArray([])) == ()


offsets = st.integers(-1, 80)
places = st.builds(Placeholder, offsets, offsets)


@given(
    st.builds(
        ArgsEx,
        st.one_of(st.none(), st.integers(-1, 2**49), st.binary(max_size=80)),
        st.integers(-1, 80),
        st.one_of(st.none(), st.lists(places, max_size=3)),
        st.one_of(st.none(), places),
        st.booleans(),
    ),
    st.booleans(),
    st.booleans(),
)
def test_any_block_is_copied_whole_or_refused(ex: ArgsEx, lenient: bool, for_cpu: bool) -> None:
    args: Arguments = CpuArgsEx(ex, kernel_offsets=ex.placeholders or ()) if for_cpu else ex
    try:
        check_args(None, args, lenient=lenient)
    except CannkitError:
        return
    block = block_of(None, args)
    assert block.size == ex.size > 0
    assert (block.content is None) == ex.no_copy
    if block.content is not None:
        assert len(block.patched(0x1240_0000_0000)) == ex.size
