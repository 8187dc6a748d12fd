"""HwtsTsKernel: sizes, the worked example of 10.1, what is live and what is read. Spec 05, section 1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format.ae_event import (
    BlkDimInfo,
    CceKernel,
    FwkKernel,
    Member,
    TsKernel,
    TsMessage,
    kernel_type_name,
    live_member,
    read_spans,
)
from tests.ae.structs import CLOUD, EXAMPLE, FACTS, FULL, number, tagged

TASK = FACTS["task"]
LIVE = {int(kind): member for kind, member in FACTS["live"].items()}
BASES = st.binary(min_size=64, max_size=64) | st.binary(min_size=48, max_size=48)


def test_sizes() -> None:
    """AE-101."""
    assert [kind.SIZE for kind in (CceKernel, FwkKernel, TsMessage)] == [48, 16, 64]
    full, cloud = TsKernel.decode(bytes(FULL)), TsKernel.decode(bytes(CLOUD))
    assert (TASK["size"], TASK["cloud_size"]) == (FULL, CLOUD)
    assert len(full.base) == TASK["kernelBase"][1]
    assert len(cloud.base) == TASK["cloud_kernelBase"][1]
    assert (full.is_cloud, cloud.is_cloud) == (False, True)


@pytest.mark.parametrize("size", [0, 1, 48, 55, 57, 64, 71, 73, 80, 144])
def test_other_sizes(size: int) -> None:
    why = f"HwtsTsKernel: {size} bytes: it has 72 bytes, 56 in a cloud build"
    with pytest.raises(FormatError, match=why):
        TsKernel.decode(bytes(size))


@pytest.mark.parametrize("size", [0, 16, 47, 49, 56, 63, 65, 72])
def test_unions_of_other_sizes(size: int) -> None:
    why = f"HwtsTsKernel: {size + 8} bytes: it has 72 bytes, 56 in a cloud build"
    with pytest.raises(FormatError, match=why):
        TsKernel(2, bytes(size)).encode()


def test_worked_example() -> None:
    """10.1, byte for byte."""
    known = FACTS["example"]["readings"]
    kernel = TsKernel.decode(EXAMPLE)
    assert (kernel.kernel_type, kernel.padding) == (2, 0)
    assert kernel.encode() == EXAMPLE
    readings = kernel.readings()
    assert [reading.member for reading in readings] == list(known)
    for reading in readings:
        values = {
            span.c_name: reading.record.value_of(name)
            for name, span in reading.record.SPANS.items()
        }
        assert values == {name: number(value) for name, value in known[reading.member].items()}
        assert reading.live is (reading.member == FACTS["example"]["live"])
        assert reading.present == reading.record.SIZE
    made = CceKernel(
        func_name_addr=0x124000001000,
        so_name_addr=0x124000001040,
        args_addr=0x124000002000,
        block_id=3,
        block_num=8,
    )
    assert kernel.cce == made
    assert TsKernel.of(2, made) == kernel
    assert TsKernel.of(2, made, is_cloud=True).encode() == EXAMPLE[:CLOUD]
    assert BlkDimInfo(block_num=8, block_id=3).encode().hex() == FACTS["example"]["block"]


def test_byte_5_of_the_message() -> None:
    """10.1: 0x12 is batchMode 0, satMode 1, rspMode 0, resv 2."""
    message = TsMessage.decode(EXAMPLE[8:])
    assert (message.batch_mode, message.sat_mode, message.rsp_mode) == (False, True, False)
    assert message.resv == 2
    assert TsMessage(batch_mode=True).encode()[5] == 1
    assert TsMessage(rsp_mode=True, resv=1).encode()[5] == 12


def test_cloud() -> None:
    """AE-101: the message is cut, and what is cut is told; the others are whole."""
    readings = TsKernel.decode(EXAMPLE[:CLOUD]).readings()
    full = TsKernel.decode(EXAMPLE).readings()
    assert [reading.present for reading in readings] == [48, 16, 48]
    assert [reading.record for reading in readings] == [reading.record for reading in full]
    assert readings[2].note == "no reader anywhere; of its 64 bytes 48 are there"
    assert full[2].note == "no reader anywhere"
    tail = EXAMPLE[:CLOUD] + bytes([1] * 16)
    assert TsKernel.decode(tail).readings()[2].record != full[2].record


def test_a_member_is_cut_or_padded() -> None:
    """A union is as large as its largest member."""
    message = TsMessage(pid=7, task=1 << 63)
    assert TsKernel.of(10, message).readings()[2].record == message
    cut = TsKernel.of(10, message, is_cloud=True).readings()[2].record
    assert cut == message.replace(task=0)
    assert TsKernel.of(1, FwkKernel(operate_addr=64)).base == b"\x40" + bytes(63)
    assert TsKernel.of(1, FwkKernel(operate_addr=64)).fwk.operate_addr == 64


@pytest.mark.parametrize("kernel_type", LIVE)
def test_live_member(kernel_type: int) -> None:
    """AE-103, AE-503."""
    assert live_member(kernel_type) == LIVE[kernel_type]
    readings = TsKernel.decode(tagged(kernel_type)).readings()
    live = [reading.member for reading in readings if reading.live]
    assert live == ([LIVE[kernel_type]] if LIVE[kernel_type] else [])


@pytest.mark.parametrize("kernel_type", [*range(12), 99, 255, 0xFFFF_FFFF])
def test_bytes_that_are_read(kernel_type: int) -> None:
    """AE-103: the table below the overlay."""
    known = FACTS["read"].get(str(kernel_type), [])
    assert [list(span) for span in read_spans(kernel_type)] == known
    cached = FACTS["read_when_cached"].get(str(kernel_type), known)
    assert [list(span) for span in read_spans(kernel_type, is_cached=True)] == cached


@pytest.mark.parametrize(
    ("kernel_type", "cce", "fwk"),
    [
        (0, "no lib; the scheduler runs a logic kernel where kernelSo is 0", "not read"),
        (1, "not read", "read by the framework lib, then the block at kernel"),
        (2, "read by the AiCpu lib", "not read"),
        (4, "read by the AiCpu lib", "not read"),
        (5, "read by the KFC lib, kernelSo only where the kernel name is new", "not read"),
        (6, "read by the KFC lib, kernelSo only where the kernel name is new", "not read"),
        (10, "not read", "not read"),
    ],
)
def test_who_reads(kernel_type: int, cce: str, fwk: str) -> None:
    readings = TsKernel.decode(tagged(kernel_type)).readings()
    assert [reading.note for reading in readings] == [cce, fwk, "no reader anywhere"]


@pytest.mark.parametrize("number", [*range(12), 99, 127, 0xFFFF_FFFF])
def test_kernel_type_names(number: int) -> None:
    """AE-203: those of the device."""
    known = FACTS["kernel_types"].get(str(number), f"KERNEL_TYPE_UNKNOWN_{number:#x}")
    assert kernel_type_name(number) == known


def test_names_of_members() -> None:
    assert [member.c_name for member in Member] == ["cceKernel", "fwkKernel", "hwtsKernel"]


def test_pid_has_a_sign() -> None:
    """AE-103: i32."""
    assert TsMessage(pid=0xFFFF_FFFF).value_of("pid") == -1
    assert TsMessage(pid=0x7FFF_FFFF).value_of("pid") == 0x7FFF_FFFF
    assert TsMessage(block_num=0xFFFF).value_of("block_num") == 0xFFFF


@pytest.mark.parametrize(("kernel_type", "padding"), [(1 << 32, 0), (-1, 0), (2, 1 << 32), (2, -1)])
def test_numbers_that_do_not_fit(kernel_type: int, padding: int) -> None:
    what = "kernelType" if kernel_type != 2 else "padding"
    with pytest.raises(FormatError, match=f"no such {what}: .* does not fit in 32 bits"):
        TsKernel(kernel_type, bytes(64), padding).encode()


@given(st.integers(0, 0xFFFF_FFFF), BASES, st.integers(0, 0xFFFF_FFFF))
def test_tasks_come_back(kernel_type: int, base: bytes, padding: int) -> None:
    kernel = TsKernel(kernel_type, base, padding)
    raw = kernel.encode()
    assert len(raw) == 8 + len(base)
    assert TsKernel.decode(raw) == kernel
    assert TsKernel.decode(raw).encode() == raw
    for reading in kernel.readings():
        assert reading.record.encode()[: reading.present] == base[: reading.record.SIZE]
