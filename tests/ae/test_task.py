"""Tasks made of parts, and read from bytes: addresses, names, what is not known. Spec 05, sections 1 and 10.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.ae.event import NULL, AeEvent, Argument, Segment
from cannkit.ae.task import FWK_SIZE, NAMES_AT, PARAMS_END, Parts, make_task, read_task
from cannkit.errors import FormatError, UsageError
from cannkit.format.ae_event import TsKernel
from tests.ae.structs import CLOUD, EXAMPLE, FULL, tagged

FWK, AICPU, CUST, KFC, CUST_KFC = 1, 2, 4, 5, 6
PAGE = 4096


def test_parts() -> None:
    """AE-102: addresses of the names, of the parameters, and the block."""
    task = make_task(Parts(AICPU, "libmy.so", "RunCpuKernel", b"\1\2\3", 3, 8))
    cce = task.kernel.cce
    assert (cce.func_name_addr, cce.so_name_addr) == (0x124000001000, 0x124000001040)
    assert (cce.block_id, cce.block_num, cce.l2_addr, cce.l2_size, cce.l2_in_main) == (
        3,
        8,
        0,
        0,
        0,
    )
    argument = Argument(PARAMS_END - 8, (Segment(PARAMS_END - 8, b"\1\2\3"),))
    assert cce.args_addr == argument.address
    assert task.event == AeEvent(AICPU, "libmy.so", "RunCpuKernel", argument, 3, 8)
    assert task.unknown == ()
    assert len(task.kernel.encode()) == FULL


def test_worked_example() -> None:
    """10.1: all of it but where the parameters lie."""
    made = make_task(Parts(AICPU, "libmy.so", "RunCpuKernel", b"\0", 3, 8)).kernel.encode()
    assert made[:24] == EXAMPLE[:24]
    assert made[32:] == EXAMPLE[32:]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 4095, 4096, 4097, 1 << 20])
def test_parameters_end_at_a_page(size: int) -> None:
    """So that whoever writes behind them meets a guard page."""
    event = make_task(Parts(AICPU, "a", "b", bytes(size))).event
    assert event is not None
    (segment,) = event.argument.segments
    assert segment.address % 8 == 0
    assert 0 <= PARAMS_END - segment.address - size < 8
    assert PARAMS_END % PAGE == 0


@pytest.mark.parametrize("func", ["", "a", "a" * 63, "a" * 64, "a" * 200, "\u52a0" * 80])
def test_names_do_not_overlap(func: str) -> None:
    cce = make_task(Parts(AICPU, "libmy.so", func)).kernel.cce
    assert cce.func_name_addr == NAMES_AT
    assert cce.so_name_addr >= NAMES_AT + len(func.encode()) + 1
    assert cce.so_name_addr % 64 == 0


def test_null_pointers() -> None:
    task = make_task(Parts(AICPU))
    assert task.kernel.base == TsKernel.of(AICPU, task.kernel.cce).base
    assert (task.kernel.cce.func_name_addr, task.kernel.cce.so_name_addr) == (0, 0)
    assert task.event == AeEvent(AICPU)


def test_a_pointer_to_nothing_is_not_null() -> None:
    event = make_task(Parts(AICPU, "a", "b", b"")).event
    assert event is not None
    assert event.argument == Argument(PARAMS_END - 8)


def test_cloud() -> None:
    """AE-101: 56 bytes, the same addresses."""
    parts = Parts(KFC, "libmy.so", "f", b"\1", 2, 5)
    cloud, full = make_task(parts, is_cloud=True), make_task(parts)
    assert cloud.kernel.encode() == full.kernel.encode()[:CLOUD]
    assert cloud.event == full.event


@pytest.mark.parametrize(("code", "kind"), [(0, 0), (10, 10), (0x436E7552, 0x436E7552)])
def test_framework_parts(code: int, kind: int) -> None:
    """AE-101, AE-703: the type lies in front of the operate block, whose address goes to the function."""
    param = code.to_bytes(4, "little") + (12).to_bytes(4, "little")
    task = make_task(Parts(FWK, param=param))
    event = task.event
    assert event is not None
    address = task.kernel.fwk.operate_addr
    assert (event.fwk_type, event.argument.address) == (kind, address + 4)
    (segment,) = event.argument.segments
    assert segment == Segment(address, param.ljust(FWK_SIZE, b"\0"))
    assert task.kernel.base[8:] == bytes(56)


def test_framework_without_a_block() -> None:
    task = make_task(Parts(FWK))
    assert task.event == AeEvent(FWK, argument=NULL, fwk_type=None)


@pytest.mark.parametrize("parts", [Parts(AICPU, "a\0b", "f"), Parts(AICPU, "a", "f\0")])
def test_names_that_no_c_string_is(parts: Parts) -> None:
    with pytest.raises(UsageError, match="no C string has a NUL in it"):
        make_task(parts)
    with pytest.raises(UsageError, match="no C string has a NUL in it"):
        read_task(EXAMPLE, parts)


@pytest.mark.parametrize("size", [size for size in range(81) if size not in (CLOUD, FULL)])
def test_other_lengths(size: int) -> None:
    with pytest.raises(FormatError, match="it has 72 bytes, 56 in a cloud build"):
        read_task(bytes(size), Parts(AICPU))


@pytest.mark.parametrize("size", [FULL, CLOUD])
def test_bytes_with_their_names(size: int) -> None:
    task = read_task(EXAMPLE[:size], Parts(KFC, "libmy.so", "f", b"\7", 9, 9))
    argument = Argument(0x124000002000, (Segment(0x124000002000, b"\7"),))
    assert task.event == AeEvent(AICPU, "libmy.so", "f", argument, 3, 8)
    assert task.kernel.encode() == EXAMPLE[:size]
    assert task.unknown == ()


def test_bytes_whose_names_nobody_knows() -> None:
    task = read_task(EXAMPLE, Parts(AICPU))
    assert len(task.unknown) == 2
    assert "kernelSo 0x124000001040" in task.unknown[0]
    assert "kernelName 0x124000001000" in task.unknown[1]
    assert len(read_task(EXAMPLE, Parts(AICPU, "libmy.so")).unknown) == 1


@pytest.mark.parametrize("kind", [3, 7, 10, 11])
def test_names_that_nobody_reads(kind: int) -> None:
    assert read_task(tagged(kind), Parts(AICPU)).unknown == ()


def test_null_addresses() -> None:
    raw = AICPU.to_bytes(8, "little") + bytes(64)
    task = read_task(raw, Parts(AICPU))
    assert task.event == AeEvent(AICPU, block_num=0)
    for parts in (Parts(AICPU, "a"), Parts(AICPU, None, "a"), Parts(AICPU, None, None, b"")):
        with pytest.raises(UsageError, match="of the event is null"):
            read_task(raw, parts)
    with pytest.raises(UsageError, match="kernel of the event is null"):
        read_task(tagged(FWK, raw), Parts(AICPU, param=b""))


@pytest.mark.parametrize(
    ("func", "fwk_type"), [("RunCpuKernel", 0x436E7552), ("my_op", 0x6F5F796D), ("", 0)]
)
def test_a_name_is_taken_for_an_operate_block(func: str, fwk_type: int) -> None:
    """10.1: what a task of type 2 becomes under tag 1."""
    event = read_task(tagged(FWK), Parts(AICPU, None, func)).event
    assert event is not None
    assert event.fwk_type == fwk_type
    assert event.argument.address == 0x124000001004


def test_an_operate_block_that_nobody_knows() -> None:
    (unknown,) = read_task(tagged(FWK), Parts(AICPU)).unknown
    assert unknown == "what lies at kernel 0x124000001000 is not known: --param HEX says it"
    assert read_task(tagged(FWK), Parts(AICPU, param=bytes(8))).unknown == ()


@given(st.binary(min_size=72, max_size=72) | st.binary(min_size=56, max_size=56))
def test_any_bytes(raw: bytes) -> None:
    task = read_task(raw, Parts(AICPU))
    assert task.kernel.encode() == raw
    assert task.event is not None
    assert task.event.kernel_type == int.from_bytes(raw[:4], "little")
