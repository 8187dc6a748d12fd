"""Programs: registration of whole objects, look-up, image, symbol refresh. Spec 02, section 6."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, FormatError
from cannkit.format.ascend_meta import BinaryMeta, FuncType, VfType
from cannkit.format.elf_types import Machine, SectionType, SymbolType
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.image.kernel_meta import EntryKind
from cannkit.image.kernel_object import KernelObject
from cannkit.inputs.files import HostFiles
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.kernel import AttrType, CpuFunction, CpuKernelType, MixType, cpu_kernel
from cannkit.runtime.kernel_facts import function_attribute, function_sizes
from cannkit.runtime.kernel_table import encode_rows, tiling_rows
from cannkit.runtime.program import ElfProgram, PlainProgram, chip_default, register
from cannkit.runtime.program_base import NO_ID, Flow
from cannkit.runtime.symbol_refresh import Refresh
from cannkit.soc import find_soc
from tests.build import SHF_ALLOC
from tests.facts import A2_SOC, A5_SOC, SOC_OF_PROFILE, read, rows
from tests.reals import Real, reals
from tests.recorded import read_row, stricter
from tests.runtime.programs import Function, answer, builder, object_of
from tests.shapes import binary_tlv

Row = dict[str, Any]

CORPUS_SOCS = (A2_SOC, "Ascend910_9391", "Ascend310P3", A5_SOC, "Ascend910A")


def _id(row: Row) -> str:
    return f"{row['id']}-{row['kind']}" if "kind" in row else Path(row["file"]).stem


# Recorded answers


@pytest.mark.corpus
@pytest.mark.parametrize("row", rows("register"), ids=_id)
def test_real_objects_register_as_recorded(row: Row, corpus: Path) -> None:
    obj = read_row(row, corpus)
    assert not isinstance(obj, FormatError)
    program = register(obj)
    mine = answer(program)
    assert mine == {name: row[name] for name in mine}
    assert program.warnings == []


@pytest.mark.corpus
@pytest.mark.parametrize("row", rows("register"), ids=_id)
def test_real_objects_load_from_a_file_as_recorded(row: Row, corpus: Path) -> None:
    loader = BinaryLoader(find_soc(SOC_OF_PROFILE[row["profile"]]), files=HostFiles())
    path = corpus.parent / row["file"]
    if "ret" in row["fileLoad"]:
        assert row["fileLoad"] == {"ret": RtStatus.INVALID_VALUE}
        with pytest.raises(RtError, match="printf") as caught:
            loader.load_from_file(str(path))
        assert (caught.value.rt, caught.value.acl) == (RtStatus.FEATURE_NOT_SUPPORT, 107000)  # QK-4
        assert len(loader.pool) == 0
        return
    from_file = answer(_elf(loader.load_from_file(str(path))))
    from_data = answer(_elf(loader.load_from_data(memoryview(path.read_bytes()))))
    assert {k: v for k, v in from_file.items() if from_data[k] != v} == row["fileLoad"]


def _elf(program: object) -> ElfProgram:
    assert isinstance(program, ElfProgram)
    return program


@pytest.mark.corpus
@pytest.mark.parametrize("row", rows("mutated"), ids=_id)
def test_mutated_objects_register_as_recorded(row: Row, corpus: Path) -> None:
    outcome, strict = _register_row(row, corpus)
    recorded = row["reg"]
    if isinstance(recorded, str):  # the original crashed: an error with codes, or a reading
        assert recorded.startswith("crash:")
    elif isinstance(outcome, CannkitError):
        assert recorded["ret"] or strict
    elif recorded["ret"]:
        assert strict
    else:
        mine = answer(outcome)
        assert mine == {name: recorded.get(name, mine[name]) for name in mine}


@pytest.mark.corpus
def test_few_answers_are_put_aside(corpus: Path) -> None:
    """Guards the comparison: almost all rows agree without a rule of our own."""
    told: Counter[str] = Counter()
    for row in rows("mutated"):
        if isinstance(row["reg"], dict):
            outcome, strict = _register_row(row, corpus)
            refused = isinstance(outcome, CannkitError)
            told["agree" if refused == bool(row["reg"]["ret"]) else " ".join(sorted(strict))] += 1
    assert told["agree"] >= 220
    assert set(told) - {"agree"} <= {"ELF-01", "HAZ-02", "HAZ-06", "HAZ-10", "QK-15"}


def _register_row(row: Row, corpus: Path) -> tuple[ElfProgram | CannkitError, frozenset[str]]:
    """What becomes of a row's object, and the rules by which cannkit may decide otherwise."""
    obj = read_row(row, corpus)
    strict = stricter(obj)
    if isinstance(obj, FormatError):
        return obj, strict
    try:
        return register(obj), strict
    except RtError as error:
        if "the original would accept this" in error.why:
            strict |= {"QK-15"}
        return error, strict


# Real objects


@pytest.mark.corpus
@pytest.mark.parametrize("soc", CORPUS_SOCS)
def test_all_real_objects_register(soc: str, corpus: Path) -> None:
    for real in reals(corpus):
        obj = real.obj if real.obj.soc.name == soc else read(real.data, soc)
        program = register(obj)
        names = {kernel.name for kernel in real.sidecar.kernel_list}
        assert {kernel.name for kernel in program.kernels} == names, real.path  # LDR-9
        for kernel in program.kernels:
            assert kernel.tiling_key == int(kernel.name.rpartition("_")[2])
            assert program.by_entry(kernel.tiling_key) is program.by_name(kernel.name) is kernel
        assert (program.table.shadowed, program.table.left_out) == ((), ())
        assert program.warnings == []


@pytest.mark.corpus
def test_invariants_of_the_wheel(corpus: Path) -> None:
    """WE-9, its last paragraph, for the 630 objects of this wheel alone."""
    shapes: Counter[tuple[int, int]] = Counter()
    largest = 0
    for real in reals(corpus):
        program = register(read(real.data, A5_SOC if real.product == "A5" else A2_SOC))
        shapes.update((kernel.func_type, kernel.mix) for kernel in program.kernels)
        largest = max(largest, program.max_min_stack)
    assert dict(shapes) == {(3, 0): 1183, (4, 3): 1, (5, 2): 53}
    assert largest == 14752


def _real(corpus: Path, product: str, stem: str) -> Real:
    (found,) = (r for r in reals(corpus) if r.product == product and r.path.stem == stem)
    return found


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("soc", "attr", "mix", "system", "prefetch"),
    [
        (A2_SOC, AttrType.MIX, 3, 2, (0, 0)),
        (A5_SOC, AttrType.MIX, 3, 1, (1, 1)),
        ("Ascend310P3", AttrType.AICORE, 3, 1, (0, 0)),
    ],
)
def test_offsets_range(
    soc: str, attr: AttrType, mix: int, system: int, prefetch: tuple[int, int], corpus: Path
) -> None:
    """WE-9 (1), WE-10 and the first row of WE-11."""
    stem = "OffsetsRange_67fb5b7825e97597c68d8ae6a1db5fc8"
    program = register(read(_real(corpus, "A2", stem).data, soc))
    (kernel,) = program.kernels
    first, second = kernel.part1, kernel.part2
    assert (kernel.name, kernel.tiling_key) == (f"{stem}_0", 0)
    assert (first.offset, first.length) == (0, 2968)
    assert (second.offset, second.length) == (0xB98, 3168)
    assert (kernel.attr, kernel.mix, kernel.user_args) == (attr, mix, 5)
    assert (kernel.func_type, kernel.task_ratio_value) == (FuncType.MIX_AIC_MAIN, 2)
    assert (kernel.system_args, kernel.ffts_in_args) == (system, system == 2)
    assert (first.prefetch, second.prefetch) == prefetch
    assert (program.obj.text_offset, program.load_size, program.read_only) == (232, 8200, False)
    assert len(program.image()) == 8200
    for miss in (f"{stem}_0_mix_aic", stem, "", stem.lower()):
        with pytest.raises(RtError) as caught:
            program.by_name(miss)
        assert caught.value.acl == 107000
    for key in (1, (1 << 64) - 1):
        with pytest.raises(RtError, match="no kernel of this entry"):
            program.by_entry(key)


@pytest.mark.corpus
def test_segment_sum(corpus: Path) -> None:
    """WE-9 (5), and WE-11: 6 rows of 40 bytes."""
    stem = "SegmentSumCsr_be1040daf51e56f5d11996baf447612d"
    program = register(read(_real(corpus, "A5", stem).data, A5_SOC))
    shape = {
        kernel.tiling_key: (kernel.part1.offset, kernel.part1.length, kernel.part1.min_stack)
        for kernel in program.kernels
    }
    assert shape == {
        0: (0x3100, 2656, 1984),
        1: (0x0, 2840, 1984),
        2: (0x4000, 2816, 1992),
        4: (0x1200, 2620, 1984),
        5: (0x5000, 2812, 1984),
        6: (0x2100, 2768, 1984),
    }
    for kernel in program.kernels:
        assert (kernel.attr, kernel.mix) == (AttrType.VECTOR, MixType.NO_MIX)
        assert kernel.entry_kind is EntryKind.FUNCTION_ENTRY
        assert (kernel.func_type, kernel.task_ratio_value, kernel.user_args) == (3, 2, 5)
        assert (kernel.vf_type, kernel.ub_size) == (VfType.SIMD_VF, 8192)
        assert (kernel.system_args, kernel.part1.prefetch, kernel.part2.prefetch) == (1, 1, 0)
        assert function_sizes(kernel) == (0, kernel.part1.length)
    assert (program.table.keys, program.load_size) == ((0, 1, 2, 4, 5, 6), 24824)
    raw = encode_rows(tiling_rows(program.table, 0x12C0_C000_0000), is_wide=True)
    assert len(raw) == 240
    assert raw[:40].hex().startswith("0000000000000000003100c0c0120000")


@pytest.mark.corpus
@pytest.mark.parametrize("soc", [A5_SOC, A2_SOC, "Ascend310P3"])
def test_backward_codegen(soc: str, corpus: Path) -> None:
    """WE-9 (6)."""
    stem = "BackwardCodegenAdagradUnweightedExact_8303d37f65b6cab9ddb0e15a83a22f56"
    program = register(read(_real(corpus, "A5", stem).data, soc))
    chip = program.soc
    shape = {
        kernel.tiling_key: (
            kernel.part1.offset,
            kernel.part1.length,
            kernel.part1.min_stack,
            kernel.vf_type,
        )
        for kernel in program.kernels
    }
    stack = chip.has_min_stack_meta
    assert shape == {
        1: (0x12D00, 18180, 13280 * stack, 4),
        2: (0x0, 19376, 13584 * stack, 4),
        3: (0x1A100, 18076, 13304 * stack, 4),
        4: (0x7A00, 23144, 7184 * stack, 2),
        5: (0x21300, 23440, 7584 * stack, 2),
        6: (0xD900, 20920, 6960 * stack, 2),
        7: (0x27400, 25648, 13648 * stack, 4),
    }
    for kernel in program.kernels:
        assert (kernel.attr, kernel.mix) == (AttrType.VECTOR, MixType.MIX_AIV)
        assert (kernel.func_type, kernel.user_args, kernel.ub_size) == (5, 30, 8192)
        assert kernel.task_ratio_value == (0 if chip.has_task_ratio else 2)
        assert (kernel.system_args, kernel.ffts_in_args) == ((2, True) if soc == A2_SOC else (1, 0))
        assert kernel.part1.prefetch == (8 if soc == A5_SOC else 0)
        assert function_attribute(kernel, 2, find_soc(A2_SOC)) == 1


@pytest.mark.corpus
def test_bounds_check(corpus: Path) -> None:
    """WE-9 (7), EX-DEV-8: from data, and what is refreshed in it."""
    stem = "BoundsCheckIndicesV2_fc6314ac1f7864c0e56c7071136ddd99"
    program = register(read(_real(corpus, "A5", stem).data, A5_SOC))
    (kernel,) = program.kernels
    assert (kernel.name, kernel.tiling_key) == (f"{stem}_0", 0)
    assert (kernel.attr, kernel.mix, kernel.vf_type) == (AttrType.VECTOR, 0, VfType.SIMT_VF)
    assert (kernel.user_args, kernel.part1.min_stack) == (11, 344)
    assert program.obj.implicit_flags == 0x8
    (patch,) = program.refresh_symbols
    assert (patch.name, patch.refresh) == ("g_sysSimtPrintFifoSpace", Refresh.SIMT_PRINT)
    v1 = next(r for r in reals(corpus) if r.path.stem.startswith("BoundsCheckIndicesV1_"))
    (patch,) = register(read(v1.data, A5_SOC)).refresh_symbols
    assert (patch.file_offset, patch.image_offset) == (90600, 90368)  # 0x12C000016100 on device 0
    with pytest.raises(RtError) as caught:
        register(v1.obj).global_offset("g_sysPrintFifoSpace")
    assert caught.value.acl == AclStatus.RT_SYMBOL_NOT_FOUND


# The layouts of real objects that are in no wheel of the tests

SPARSE_FLASH = {  # WE-9 (2): key, slot 1, slot 2
    0: (0x0, 10376, 0x2888, 18452),
    2: (0x15580, 10596, 0x17EE4, 17868),
    32: (0xE430, 10344, 0x10C98, 18664),
    512: (0x31C18, 9792, 0x34258, 20732),
    578: (0x409EC, 9932, 0x430B8, 20224),
    64: (0x709C, 11136, 0x9C1C, 18452),
}


def _pairs(layout: Mapping[int, tuple[int, ...]], func_type: int | None) -> list[Function]:
    halves = []
    for key, (first, length1, second, length2) in layout.items():
        halves.append(Function(f"K_{key}_mix_aic", func_type, first, length1))
        halves.append(Function(f"K_{key}_mix_aiv", func_type, second, length2))
    return halves


@pytest.mark.parametrize(
    ("soc", "attr", "system", "prefetch"),
    [
        (A2_SOC, AttrType.MIX, 2, (0, 0)),
        (A5_SOC, AttrType.MIX, 1, (5, 8)),
        ("CHIP_CLOUD_V5", AttrType.MIX, 1, (20, 32)),
        ("Ascend310P3", AttrType.AICORE, 1, (0, 0)),
        ("Ascend910A", AttrType.AICORE, 1, (0, 0)),
        ("CHIP_MC62CM12A", AttrType.AICORE, 1, (5, 0)),
    ],
)
def test_many_pairs(soc: str, attr: AttrType, system: int, prefetch: tuple[int, int]) -> None:
    """WE-9 (2): name order is that of text, table order that of numbers."""
    program = register(object_of(*_pairs(SPARSE_FLASH, 4), soc=soc))
    assert [kernel.tiling_key for kernel in program.kernels] == list(SPARSE_FLASH)
    assert program.table.keys == (0, 2, 32, 64, 512, 578)
    for kernel in program.kernels:
        assert (kernel.attr, kernel.mix, kernel.system_args) == (attr, 3, system)
        first, second = kernel.part1, kernel.part2
        shape = (first.offset, first.length, second.offset, second.length)
        assert shape == SPARSE_FLASH[kernel.tiling_key]
    kernel = program.by_entry(0)
    assert (kernel.part1.prefetch, kernel.part2.prefetch) == prefetch


def test_pairs_without_meta() -> None:
    """WE-9 (3): kernels of a relocatable object, known by their names alone."""
    layout = {
        1073938946: (0x14600, 8168, 0x16600, 19124),
        1107493378: (0x21400, 8276, 0x23600, 17232),
        16974338: (0x0, 8488, 0x2200, 20144),
    }
    program = register(object_of(*_pairs(layout, None)))
    assert [kernel.tiling_key for kernel in program.kernels] == list(layout)
    assert program.table.keys == (16974338, 1073938946, 1107493378)
    assert program.read_only
    for kernel in program.kernels:
        assert (kernel.attr, kernel.mix, kernel.func_type) == (AttrType.MIX, 3, 0)
        assert (kernel.task_ratio_value, kernel.system_args, kernel.user_args) == (2, 2, 128)


# Flows


@pytest.mark.parametrize(
    ("flow", "keys", "names"),
    [
        (Flow.NEW, [(3, "k_3"), (99, "k_1")], 3),
        (Flow.OLD, [(2, "k_2"), (3, "k_3"), (99, "k_1")], 3),
        (Flow.WITHOUT_TILING, [], 3),
        (Flow.STUBS, [], 0),
    ],
)
def test_what_each_flow_fills(flow: Flow, keys: list[tuple[int, str]], names: int) -> None:
    """WE-3, POL-4, REG-17."""
    obj = object_of(Function("k_1", entry=99), Function("k_2", entry=-1), Function("k_3"))
    program = register(obj, flow)
    assert [(key, kernel.name) for key, kernel in program.table] == keys
    assert len(program.kernels) == names
    assert program.is_new_flow == (flow is Flow.NEW)
    with pytest.raises(RtError) as caught:
        program.by_entry(1)
    assert (caught.value.acl, "loaded without tiling keys" in str(caught.value)) == (
        107000,
        flow is Flow.WITHOUT_TILING,  # QK-27
    )
    if names:
        assert program.by_name("k_2").tiling_key == 2


def test_names_sort_by_their_bytes() -> None:
    names = ["k_\udcff", "k_\U00010000", "k_\uffff", "k_b", "k_B"]
    program = register(object_of(*map(Function, names)))
    found = [kernel.name for kernel in program.kernels]
    assert found == sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape"))
    assert found != sorted(names)


def test_names_are_counted() -> None:
    """REG-14: names joined, each with a NUL."""
    program = register(object_of(Function("k_1"), Function("\u00e9_2"), Function("k_3")))
    assert [kernel.name_offset for kernel in program.kernels] == [0, 9, 4]
    assert program.names_size == 13


# The object


@pytest.mark.parametrize(
    ("soc", "machine", "attr"),
    [
        ("Ascend910A", Machine.EM_AARCH64, AttrType.AICPU),
        ("Ascend910A", Machine.EM_ASCEND_AI_CORE, AttrType.AICORE),
        (A2_SOC, Machine.EM_AARCH64, AttrType.CUBE),
        ("Ascend310P3", Machine.EM_AARCH64, AttrType.AICORE),
    ],
)
def test_default_attr(soc: str, machine: int, attr: AttrType) -> None:
    """REG-2, CHP-3."""
    obj = read(builder(Function("k", None), machine=machine).build(), soc)
    program = register(obj)
    assert program.default_attr is attr
    assert program.kernels[0].attr is attr
    assert ElfProgram(obj, default_attr=AttrType.MIX).default_attr is (
        attr if soc == "Ascend910A" else AttrType.MIX
    )


def test_an_unknown_chip_counts_as_separated_for_a_merge() -> None:
    """CHP-3."""
    soc = find_soc("CHIP_XPU")
    assert chip_default(soc) is AttrType.AICORE
    pair = Function("k_mix_aic", 4, 0, 9), Function("k_mix_aiv", 4, 9, 9)
    assert register(object_of(*pair, soc="CHIP_XPU")).kernels[0].attr is AttrType.MIX
    assert register(object_of(*pair, soc="CHIP_NANO")).kernels[0].attr is AttrType.AICORE


def test_soname_makes_metadata() -> None:
    """REG-2."""
    built = builder(Function("k"))
    built.section(".dynstr", b"\0libk.so\0", SectionType.STRTAB)
    dynamic = struct.pack("<4Q", 14, 1, 0, 0)
    built.section(".dynamic", dynamic, SectionType.DYNAMIC, link=".dynstr")
    program = register(read(built.build()))
    assert (program.so_name, program.metadata) == ("libk.so", "libk.so,0.1,,exclusive;")
    assert register(object_of(Function("k"))).metadata == ""


def test_function_symbols_without_a_kernel() -> None:
    """REG-3."""
    built = builder()
    built.symbol("local", binding=0)
    assert register(read(built.build())).kernels == ()
    with pytest.raises(RtError, match="no function") as caught:
        register(read(builder().build()))
    assert (caught.value.acl, caught.value.rt) == (107000, RtStatus.INVALID_VALUE)


@pytest.mark.parametrize(
    ("soc", "with_data", "read_only"),
    [(A2_SOC, True, False), (A2_SOC, False, True), ("CHIP_CLOUD_V5", False, False)],
)
def test_read_only(soc: str, with_data: bool, read_only: bool) -> None:
    """REG-4."""
    built = builder(Function("k"))
    if with_data:
        built.section(".data", bytes(8), flags=SHF_ALLOC)
    assert register(read(built.build(), soc)).read_only is read_only


@pytest.mark.parametrize("field", ["value", "size"])
def test_nothing_is_cut_to_32_bits(field: str) -> None:
    """QK-26, Q-11."""
    built = builder(Function("k"))
    built.symbol("wide", **{field: (1 << 32) + 5})
    with pytest.raises(RtError, match="0x100000005, the runtime would cut it") as caught:
        register(read(built.build()))
    assert caught.value.acl == 107000
    hidden = builder(Function("k"))
    hidden.symbol("hidden", visibility=2, **{field: 1 << 32})
    assert len(register(read(hidden.build())).kernels) == 1


def test_the_upper_half_of_32_bits_is_no_sign() -> None:
    """REG-1."""
    (kernel,) = register(object_of(Function("k", 3, 0xFFFF_FF00, 0x8000_0000))).kernels
    assert (kernel.part1.offset, kernel.part1.length) == (0xFFFF_FF00, 0x8000_0000)


def test_the_image_is_a_slice_of_the_file() -> None:
    """DEV-4."""
    data = builder(Function("k"), code=256).build()
    program = register(read(data))
    assert (program.load_size, program.has_data) == (256, True)
    assert program.image() == data[64:320]


@pytest.mark.parametrize(
    ("size", "status"),
    [(1 << 20, RtStatus.INVALID_VALUE), (1 << 31, RtStatus.PROGRAM_SIZE)],
)
def test_an_image_outside_the_file(size: int, status: RtStatus) -> None:
    """Q-1, Q-3."""
    built = builder(Function("k"))
    built.section(".bss", kind=SectionType.NOBITS, flags=SHF_ALLOC, size=size)
    program = register(read(built.build()))
    with pytest.raises(RtError, match="device image") as caught:
        program.image()
    assert caught.value.rt == status
    if status is RtStatus.INVALID_VALUE:
        image = program.image(lenient=True)
        assert len(image) == program.load_size
        assert bytes(image[-16:]) == bytes(16)


# Symbol refresh


def _features(*features: int) -> bytes:
    return b"".join(
        binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=feature) for feature in features
    )


VARIABLES = (
    "g_sysPrintFifoSpace",
    "g_sysFftsAddr",
    "g_opL2CacheHintCfg",
    "g_sysSimtPrintFifoSpace",
)


def _with_variables(*features: int, at: int = 0) -> KernelObject:
    built = builder(Function("k"), binary_meta=_features(*features))
    built.section(".data", bytes(32), flags=SHF_ALLOC, addr=0x1000, at=0x400)
    for number, name in enumerate(VARIABLES):
        where = 0x1000 + 8 * number + at
        built.symbol(name, SymbolType.OBJECT, section=".data", value=where, size=8)
    return read(built.build())


@pytest.mark.parametrize(
    ("features", "refreshed"),
    [
        ((), []),
        ((1,), [Refresh.PRINT]),
        ((4, 3, 2, 1), [Refresh.PRINT, Refresh.FFTS, Refresh.L2_CACHE, Refresh.SIMT_PRINT]),
        ((5,), [Refresh.ASSERT]),
        ((5, 1), [Refresh.PRINT]),
        ((5, 4), [Refresh.SIMT_PRINT]),
        ((5, 2), [Refresh.FFTS, Refresh.ASSERT]),
        ((6, 32), []),
    ],
)
def test_which_symbols_are_refreshed(features: tuple[int, ...], refreshed: list[Refresh]) -> None:
    """DEV-19."""
    program = register(_with_variables(*features))
    assert [patch.refresh for patch in program.refresh_symbols] == refreshed
    for patch in program.refresh_symbols:
        assert patch.file_offset == 0x400 + 8 * VARIABLES.index(patch.name)
        assert patch.image_offset == patch.file_offset - program.obj.text_offset


def test_a_refresh_outside_the_file_is_skipped() -> None:
    """Q-8."""
    program = register(_with_variables(1, at=1 << 20))
    assert program.refresh_symbols == ()
    assert [warning.code for warning in program.warnings] == ["symbol-refresh"]


def test_globals() -> None:
    program = register(_with_variables())
    found = program.global_symbol("g_sysFftsAddr")
    assert (found.offset, found.size) == (program.global_offset("g_sysFftsAddr"), 8)
    assert found.offset == 0x408 - program.obj.text_offset
    with pytest.raises(RtError, match="no global variable") as caught:
        program.global_symbol("nope")
    assert (caught.value.rt, caught.value.acl) == (RtStatus.SYMBOL_NOT_FOUND, 107042)


# AI CPU programs


def test_a_plain_program() -> None:
    program = PlainProgram(find_soc(A2_SOC))
    assert (program.load_size, program.has_data, program.read_only) == (0, False, False)
    assert (program.id, program.pool_id, program.is_cpu) == (NO_ID, None, True)
    assert program.default_attr is AttrType.AICPU
    program.keep(memoryview(b"so"), 2)
    assert (bytes(program.image()), program.has_data) == (b"so", True)
    with pytest.raises(RtError, match="an AI CPU program has no entries") as caught:
        program.by_entry(0)
    assert caught.value.acl == 107000


def test_a_single_function() -> None:
    """CPU-9."""
    program = PlainProgram(find_soc(A2_SOC))
    program.so_name = "libx.so"
    kernel = program.make_function("Run", "Op")
    assert program.find_name("Op") is None  # its names go to the device first
    program.enter([kernel])
    assert program.by_name("Op") is kernel is program.make_function("Other", "Op")
    assert kernel.cpu == CpuFunction("Op", "libx.so", "Run", CpuKernelType.AICPU_CUSTOM)
    program.enter([cpu_kernel(CpuFunction("Op", "", "", CpuKernelType.AICPU))])  # CPU-8
    assert program.kernels == (kernel,)


# Any functions


def _functions() -> Iterator[st.SearchStrategy[Any]]:
    yield st.sampled_from(
        ["k", "k_1", "k_1_mix_aic", "k_1_mix_aiv", "k_2", "_mix_aic", "m_mix_aiv"]
    )
    yield st.integers(0, 8) | st.none()
    yield st.integers(0, 300)
    yield st.integers(0, 300)
    yield st.integers(0, 1)


@given(
    st.lists(st.builds(Function, *_functions()), min_size=1, max_size=8),
    st.sampled_from([A2_SOC, A5_SOC, "Ascend310P3", "Ascend910A", "CHIP_XPU"]),
    st.sampled_from(Flow),
)
def test_any_functions_register_or_are_refused(
    functions: list[Function], soc: str, flow: Flow
) -> None:
    program = ElfProgram(object_of(*functions, soc=soc), flow)
    refusal = _refusal(program)
    if refusal is not None:
        assert refusal.acl == 107000
        assert (program.kernels, len(program.table), program.find_name("k")) == ((), 0, None)
        return
    assert len({kernel.name for kernel in program.kernels}) == len(program.kernels)
    symbols = sorted(symbol for kernel in program.kernels for symbol in kernel.symbols)
    if flow is not Flow.STUBS:
        assert symbols == sorted(function.name for function in functions)
    for kernel in program.kernels:
        assert program.by_name(kernel.name) is kernel
        assert kernel.is_paired == (len(kernel.symbols) == 2) == (kernel.mix >= 3)
    for key, kernel in program.table:
        assert program.by_entry(key) is kernel is program.by_name(kernel.name)


def _refusal(program: ElfProgram) -> RtError | None:
    try:
        program.register_kernels()
    except RtError as error:
        return error
    return None
