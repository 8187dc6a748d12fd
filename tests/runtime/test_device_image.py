"""The bytes a device gets: what is refreshed, and what cannot be loaded. EX-DEV-8."""

from __future__ import annotations

import pytest

from cannkit.format.ascend_meta import BinaryMeta
from cannkit.format.elf_types import Binding, SymbolType
from cannkit.format.status import RtStatus
from cannkit.runtime.addresses import (
    global_range,
)
from cannkit.runtime.load import Loader
from cannkit.runtime.program import ElfProgram, register
from tests.build import SHF_ALLOC, SHF_WRITE, ObjectBuilder
from tests.facts import A2_SOC, A5_SOC, read, read_fixture
from tests.runtime.loading import (
    Process,
    cpu_program,
    image_builder,
    image_program,
    refused,
)
from tests.shapes import binary_tlv


def test_images_that_cannot_be_loaded() -> None:
    """EX-DEV-6, DEV-14, Q-1, Q-3."""
    process = Process()
    device, loader = process.device(), process.loader
    empty = ObjectBuilder().section(".text", bytes(8), at=64)
    empty.symbol("k_0")
    refused(RtStatus.PROGRAM_SIZE, 507000, loader.load, register(read(empty.build())), device)
    beyond = register(read(image_builder(4096).lie(".text", size=1 << 20).build()))
    error = refused(RtStatus.INVALID_VALUE, 107000, loader.load, beyond, device)
    assert "exceeds the file" in str(error)
    huge = register(read(image_builder(4096).lie(".text", size=1 << 31).build()))
    refused(RtStatus.PROGRAM_SIZE, 507000, loader.load, huge, device)
    assert process.told() == []
    loaded = Loader(lenient=True).load(beyond, device)
    assert device.memory.read(loaded.aligned, 1 << 20)[-4096:] == bytes(4096)


def test_symbols_are_refreshed_for_each_device() -> None:
    """EX-DEV-8, DEV-19, DEV-21: the second device changes neither the first nor the file."""
    program = register(read_fixture("BoundsCheckCustom_fb38dbe3245f5ac10c1c328b07aed377", A5_SOC))
    before = bytes(program.image())
    process = Process(A5_SOC)
    loaded = [process.loader.load(program, process.device(number)) for number in (0, 1)]
    (patch,) = loaded[0].refreshed
    assert (patch.name, patch.value) == ("g_sysSimtPrintFifoSpace", 0x12FC_0000_0000)
    assert loaded[1].refreshed[0].value == 0x133C_0000_0000
    for each, value in zip(loaded, (0x12FC_0000_0000, 0x133C_0000_0000), strict=True):
        image = each.device.memory.read(each.aligned, program.load_size)
        at = patch.image_offset
        assert image[at : at + 8] == value.to_bytes(8, "little")
        assert image[:at] + image[at + 8 :] == before[:at] + before[at + 8 :]
    assert bytes(program.image()) == before
    refused(
        RtStatus.SYMBOL_NOT_FOUND,
        107042,
        global_range,
        process.loader,
        program,
        "g_sysPrintFifoSpace",
        loaded[0].device,
    )


SYMBOLS = (
    "g_sysPrintFifoSpace",
    "g_sysFftsAddr",
    "g_opL2CacheHintCfg",
    "g_sysSimtPrintFifoSpace",
)


def refreshing(*features: int, shift: int = 0) -> ElfProgram:
    """A program with the four variables 16 bytes apart, and these implicit features."""
    meta = b"".join(
        binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=feature) for feature in features
    )
    builder = image_builder(256, binary_meta=meta)
    builder.section(".data", bytes(64), flags=SHF_ALLOC | SHF_WRITE, addr=256, index=1)
    for at, name in enumerate(SYMBOLS):
        value = 256 + 16 * at + shift
        builder.symbol(name, SymbolType.OBJECT, Binding.WEAK, section=".data", value=value, size=8)
    return register(read(builder.build(), A5_SOC))


@pytest.mark.parametrize(
    ("features", "told", "written"),
    [
        ((1,), [["simd", "reader"]], (0,)),
        ((2,), [], (1,)),
        ((3,), [], (2,)),
        ((4,), [["simt", "reader"]], (3,)),
        ((5,), [["simd", "noreader"]], (0,)),
        ((5, 1), [["simd", "reader"]], (0,)),
        ((5, 4), [["simt", "reader"]], (3,)),
        ((5, 2), [["simd", "noreader"]], (1, 0)),
        ((4, 3, 2, 1), [["simd", "reader"], ["simt", "reader"]], (0, 1, 2, 3)),
        ((6, 32), [], ()),
    ],
)
def test_what_is_refreshed(
    features: tuple[int, ...], told: list[list[str]], written: tuple[int, ...]
) -> None:
    """DEV-19, each row and their order."""
    process = Process(A5_SOC)
    loaded = process.loader.load(refreshing(*features), process.device())
    events = [event[2:] for event in process.told() if event[0] == "printbuf"]
    assert events == told
    assert [patch.name for patch in loaded.refreshed] == [SYMBOLS[at] for at in written]


def test_a_driver_without_l2_offset_ends_the_refresh() -> None:
    """DEV-19, row 3: success, and what is behind it is skipped."""
    process = Process(A5_SOC)
    process.faults.l2 = RtStatus.DRV_NOT_SUPPORT, 0
    loaded = process.loader.load(refreshing(1, 3, 4), process.device())
    assert [patch.name for patch in loaded.refreshed] == ["g_sysPrintFifoSpace"]


@pytest.mark.parametrize(("kind", "feature"), [("print", 1), ("c2c", 2), ("l2", 3), ("print", 4)])
def test_a_failed_refresh_is_a_data_error_whatever_failed(kind: str, feature: int) -> None:
    """DEV-14 step 3."""
    process = Process(A5_SOC)
    process.faults.plan(kind, 1, RtStatus.DRV_OUT_MEMORY)
    if kind == "l2":
        process.faults.l2 = RtStatus.DRV_INPUT, 0
    device = process.device()
    refused(RtStatus.PROGRAM_DATA, 507000, process.loader.load, refreshing(feature), device)
    assert "alloc" not in process.kinds()


def test_a_symbol_beside_the_image_or_the_file() -> None:
    """Q-8: what leaves the file is skipped with a warning; what leaves the image has no effect."""
    process = Process(A5_SOC)
    device = process.device()
    across = refreshing(4, shift=12)
    loaded = process.loader.load(across, device)
    image = device.memory.read(loaded.aligned, across.load_size)
    assert image == bytes(across.image())[:-4] + (0x12FC_0000_0000).to_bytes(8, "little")[:4]
    outside = refreshing(4, shift=1 << 20)
    assert outside.refresh_symbols == ()
    assert "symbol-refresh" in [warning.code for warning in outside.warnings]


def test_the_callback_of_acl_init() -> None:
    """DEV-20: where the chip and the driver have it, and the variable has 8 bytes in the file."""
    program = image_program(100, writable=True)
    for soc, code, expected in (
        (A2_SOC, 0, b"ABCDEFGH"),
        (A2_SOC, RtStatus.DRV_NOT_SUPPORT, bytes(8)),
        ("Ascend310B1", 0, bytes(8)),
    ):
        process = Process(soc)
        process.faults.l2 = code, int.from_bytes(b"ABCDEFGH", "little")
        program = image_program(100, writable=True, soc=soc)
        loaded = Loader(fills_run_cfg=True).load(program, process.device())
        assert loaded.device.memory.read(loaded.aligned + 92, 8) == expected
        assert [patch.name for patch in loaded.refreshed] == ["g_opSystemRunCfg"] * any(expected)
    cpu = cpu_program("f")
    assert Loader(fills_run_cfg=True).prepare(cpu, Process().device()).refreshed == ()
