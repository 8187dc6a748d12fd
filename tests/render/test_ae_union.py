"""The union of HwtsTsKernel for people: in a pipe, on screens of any width, in colours."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format.ae_event import FwkKernel, TsKernel
from cannkit.render.ae_union import union_text
from cannkit.render.console import make_console
from cannkit.report.ae_union import UnionEntry
from tests.ae.structs import CLOUD, EXAMPLE, tagged
from tests.render.screen import Make, pipe, screen, shown


def text_of(raw: bytes) -> Make:
    entries = UnionEntry.of(TsKernel.decode(raw))
    return lambda console: union_text(entries, raw, console)


def test_worked_example_in_a_pipe() -> None:
    """10.1: rows of 8 bytes, three readings side by side."""
    assert shown(text_of(EXAMPLE), pipe()) == [
        "HwtsTsKernel, 72 bytes, kernelType KERNEL_TYPE_AICPU (2)",
        "Offset  Bytes                    Read  cceKernel *                fwkKernel              hwtsKernel",
        "0x00    02 00 00 00 00 00 00 00  yes   kernelType 2               kernelType 2           kernelType 2",
        "0x08    00 10 00 00 40 12 00 00  yes   kernelName 0x124000001000  kernel 0x124000001000  pid 4096",
        f"{'':89}kernel_type 64",
        f"{'':89}batchMode 0",
        f"{'':89}satMode 1",
        f"{'':89}rspMode 0",
        f"{'':89}resv 2",
        f"{'':89}streamID 0",
        f"{'0x10    40 10 00 00 40 12 00 00  yes   kernelSo 0x124000001040    size 4160':89}kernelName 0x124000001040",
        f"{'0x18    00 20 00 00 40 12 00 00  yes   paramBase 0x124000002000':89}kernelSo 0x124000002000",
        f"{'0x20    00 00 00 00 00 00 00 00        l2VaddrBase 0x0':89}paramBase 0x0",
        f"{'0x28    03 00 00 00 08 00 00 00  yes   blockId 3':89}l2VaddrBase 0x800000003",
        f"{'':39}blockNum 8",
        f"{'0x30    00 00 00 00 00 00 00 00        l2Size 0':89}l2Ctrl 0",
        f"{'':39}l2InMain 0",
        f"{'0x38    00 00 00 00 00 00 00 00':89}blockId 0",
        f"{'':89}blockNum 0",
        f"{'':89}l2InMain 0",
        f"{'0x40    00 00 00 00 00 00 00 00':89}taskID 0",
        "cceKernel: read by the AiCpu lib",
        "fwkKernel: not read",
        "hwtsKernel: no reader anywhere",
    ]


def read_column(raw: bytes) -> list[str]:
    """What is marked as read, row by row."""
    lines = shown(text_of(raw), pipe())
    at = lines[1].index("Read")
    end = lines[1].index("cceKernel")
    return [line[at:end].strip() for line in lines[2:] if line.startswith("0x")]


@pytest.mark.parametrize(
    ("kernel_type", "expected"),
    [
        (0, ["yes"] + [""] * 8),
        (1, ["yes", "yes"] + [""] * 7),
        (2, ["yes", "yes", "yes", "yes", "", "yes", "", "", ""]),
        (4, ["yes", "yes", "yes", "yes", "", "yes", "", "", ""]),
        (5, ["yes", "yes", "if new", "yes", "", "yes", "", "", ""]),
        (6, ["yes", "yes", "if new", "yes", "", "yes", "", "", ""]),
        (10, ["yes"] + [""] * 8),
    ],
)
def test_what_is_read(kernel_type: int, expected: list[str]) -> None:
    """AE-103."""
    assert read_column(tagged(kernel_type)) == expected
    assert read_column(tagged(kernel_type)[:CLOUD]) == expected[:7]


@pytest.mark.parametrize(
    ("kernel_type", "marked"),
    [(1, "fwkKernel *"), (2, "cceKernel *"), (5, "cceKernel *"), (10, "")],
)
def test_the_live_reading_is_marked(kernel_type: int, marked: str) -> None:
    heading = shown(text_of(tagged(kernel_type)), pipe())[1]
    assert heading.count("*") == bool(marked)
    assert marked in heading


def test_a_screen_of_80_columns() -> None:
    """The live reading and the bytes; the others are named."""
    lines = [line.rstrip() for line in shown(text_of(EXAMPLE), screen(80))]
    assert lines[1] == "Offset  Bytes                    Read  cceKernel *"
    assert lines[3] == "0x08    00 10 00 00 40 12 00 00  yes   kernelName 0x124000001000"
    assert lines[-1] == "fwkKernel, hwtsKernel: in a pipe, or in 114 columns"
    assert "hwtsKernel" in shown(text_of(EXAMPLE), screen(114))[1]
    assert "hwtsKernel" not in shown(text_of(EXAMPLE), screen(113))[1]
    assert len(shown(text_of(EXAMPLE), screen(114))) == len(shown(text_of(EXAMPLE), pipe()))


def test_a_screen_without_a_live_reading() -> None:
    lines = [line.rstrip() for line in shown(text_of(tagged(10)), screen(80))]
    assert lines[1] == "Offset  Bytes                    Read"
    assert lines[3] == "0x08    00 10 00 00 40 12 00 00"
    assert lines[-1] == "cceKernel, fwkKernel, hwtsKernel: in a pipe, or in 114 columns"


@pytest.mark.parametrize("width", [20, 30, 40, 60, 66, 80, 100, 113, 114, 200])
@pytest.mark.parametrize("kernel_type", [1, 2, 5, 10])
def test_nothing_is_cut_on_a_screen(kernel_type: int, width: int) -> None:
    raw = tagged(kernel_type)
    lines = shown(text_of(raw), screen(width))
    assert max(map(len, lines)) <= width
    text = "".join("".join(lines).split())
    assert "\u2026" not in text
    for entry in UnionEntry.of(TsKernel.decode(raw)):
        for field in entry.fields if entry.live or width == 200 else ():
            assert f"{field.name}{field.value}" in text
    for at in range(0, len(raw), 8):
        assert raw[at : at + 8].hex() in text


def test_a_narrow_screen_has_readings_below_bytes() -> None:
    lines = shown(text_of(EXAMPLE), screen(60))
    at = lines.index("0x28    03 00 00 00 08 00 00 00  yes")
    assert lines[at + 1 : at + 4] == [
        "  blockId 3", "  blockNum 8", "0x30    00 00 00 00 00 00 00 00",
    ]  # fmt: skip


def test_colours() -> None:
    """The live reading is bold, what is read is underlined: of row 0 the kernel type alone."""
    file = StringIO()
    console = make_console("always", file)
    lines = shown(text_of(EXAMPLE), console)
    assert "\x1b[4m02 00 00 00\x1b[0m 00 00 00 00" in lines[2]
    assert "\x1b[4m00 10 00 00 40 12 00 00\x1b[0m" in lines[3]
    assert "\x1b[1;32mkernelName 0x124000001000\x1b[0m" in lines[3]
    assert "\x1b[2mpid 4096" in lines[3]
    unread = next(line for line in lines if line.startswith("0x20"))
    assert "\x1b[4m" not in unread


def test_cloud() -> None:
    """AE-101: 7 rows, and what the message has lost is told."""
    lines = shown(text_of(EXAMPLE[:CLOUD]), pipe())
    assert lines[0] == "HwtsTsKernel, 56 bytes, kernelType KERNEL_TYPE_AICPU (2)"
    assert [line[:4] for line in lines if line.startswith("0x")][-1] == "0x30"
    assert lines[-1] == "hwtsKernel: no reader anywhere; of its 64 bytes 48 are there"
    assert "None" not in "".join(lines)


def test_framework_task() -> None:
    raw = TsKernel.of(1, FwkKernel(operate_addr=0x124000003000)).encode()
    lines = shown(text_of(raw), screen(80))
    assert lines[0] == "HwtsTsKernel, 72 bytes, kernelType KERNEL_TYPE_FWK (1)"
    assert lines[3].rstrip() == "0x08    00 30 00 00 40 12 00 00  yes   kernel 0x124000003000"
    assert "fwkKernel: read by the framework lib, then the block at kernel" in lines


def test_other_bytes() -> None:
    with pytest.raises(FormatError, match="it has 72 bytes"):
        union_text((), bytes(64), pipe())


@given(st.binary(min_size=72, max_size=72) | st.binary(min_size=56, max_size=56))
def test_any_task(raw: bytes) -> None:
    lines = shown(text_of(raw), pipe())
    rows = [bytes.fromhex(line[8:31]) for line in lines[2:] if line.startswith("0x")]
    assert b"".join(rows) == raw
