"""Facts of spec 01 over the 630 real objects of fbgemm-ascend: sections 2, 3, 6 to 8 and 10."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from cannkit.format.ascend_meta import BinaryMeta, FunctionMeta, FuncType
from cannkit.format.elf_types import SHF_ALLOC, Binding, ElfType, Machine, SectionType, SymbolType
from cannkit.image.kernel_meta import EntryKind
from cannkit.image.kernel_name import split_kernel_name
from cannkit.image.sidecar_check import check_sidecar
from cannkit.image.verdict import judge
from tests.reals import SOCS, Real, kernels, reals, symbols, variables

pytestmark = pytest.mark.corpus

PRINTF = {  # spec 13.5
    "BoundsCheckIndicesV1_98814b04cea2e2f1f6a23d31cb536f74",
    "BoundsCheckIndicesV1_efa2514d346aa7d060c940cbb626285e",
    "BoundsCheckIndicesV2_221d45954f8abeec3fbd6721ee4fd084",
    "BoundsCheckIndicesV2_fc6314ac1f7864c0e56c7071136ddd99",
}


@pytest.fixture(scope="module")
def objects(corpus: Path) -> tuple[Real, ...]:
    return reals(corpus)


def test_objects_by_product(objects: tuple[Real, ...]) -> None:
    assert Counter(real.product for real in objects) == {"A2": 180, "A3": 151, "A5": 299}


def test_every_object_is_accepted_without_a_word(objects: tuple[Real, ...]) -> None:
    odd = [real.path for real in objects if real.obj.refusals or real.obj.warnings]
    assert odd == []


def test_number_of_kernels(objects: tuple[Real, ...]) -> None:
    assert len(list(kernels(objects))) == 1238


def test_headers(objects: tuple[Real, ...]) -> None:
    """ELF-04, ELF-05, ELF-07, ELF-08."""
    flags: Counter[tuple[str, int]] = Counter()
    for real in objects:
        header = real.obj.elf.header
        assert (header.type, header.machine, header.version) == (
            ElfType.EXEC,
            Machine.EM_ASCEND_AI_CORE,
            1,
        )
        flags[real.product, header.flags] += 1
    assert flags == {
        ("A2", 0x93_0000): 179,
        ("A2", 0x94_0000): 1,
        ("A3", 0x93_0000): 151,
        ("A5", 0x99_0000): 299,
    }


def test_flags_say_whether_there_is_cube_code(objects: tuple[Real, ...]) -> None:
    """ELF-07."""
    for real in objects:
        if real.product == "A5":
            continue
        cube = any(kernel.name.endswith("_mix_aic") for kernel in real.obj.kernels)
        assert cube == (real.obj.elf.header.flags == 0x94_0000)
        assert real.obj.isa_tag is not None


def test_a3_objects_are_those_of_a2(objects: tuple[Real, ...]) -> None:
    """ELF-07: the content cannot tell A2 from A3."""
    a2 = {real.path.name: real.data for real in objects if real.product == "A2"}
    a3 = {real.path.name: real.data for real in objects if real.product == "A3"}
    assert {name: a2[name] for name in a3} == a3


def named_sections(real: Real) -> Iterator[tuple[str, int]]:
    for section in real.obj.elf.sections:
        name = real.obj.elf.section_name(section)
        yield (".ascend.meta.*" if name.startswith(".ascend.meta.") else name), section.type


def test_sections_by_product(objects: tuple[Real, ...]) -> None:
    """Spec 2.3, its table recomputed for this wheel (whose A2 part is 180 of the 219 objects)."""
    found: Counter[tuple[str, str]] = Counter()
    for real in objects:
        for name, kind in set(named_sections(real)):
            found[real.product, name] += 1
            if name in (".data", ".ascend.meta", ".text", ".rodata"):
                assert kind == SectionType.PROGBITS
    expected = {
        ".text": (180, 151, 299),
        ".rodata": (None, 0, 14),
        ".data": (180, 151, 12),
        ".ascend.meta": (0, 0, 299),
        ".ascend.meta.*": (180, 151, 299),
        ".ascend.stack.size.record": (180, 151, 0),
        "__CCE_KernelArgSize": (180, 151, 299),
        ".bl_uninit": (180, 151, 243),
        ".rela.text": (180, 151, 243),
        ".debug_frame": (0, 0, 299),
    }
    for name, counts in expected.items():
        for product, count in zip(SOCS, counts, strict=True):
            if count is not None:  # not told for this wheel alone
                assert found[product, name] == count, (product, name)


def test_meta_sections(objects: tuple[Real, ...]) -> None:
    """Spec 2.3: type NOTE, no flags, aligned to 4 or 16; SYM-10: one for each kernel."""
    counts: Counter[str] = Counter()
    for real in objects:
        found = [
            section
            for section in real.obj.elf.sections
            if real.obj.elf.section_name(section).startswith(".ascend.meta.")
        ]
        counts[real.product] += len(found)
        align = 16 if real.product == "A5" else 4
        assert {(s.type, s.flags, s.addralign) for s in found} == {(SectionType.NOTE, 0, align)}
        joined = {real.obj.elf.section_name(s).removeprefix(".ascend.meta.") for s in found}
        assert joined == {kernel.name for kernel in real.obj.kernels}
    assert (counts["A3"], counts["A5"]) == (280, 558)
    assert sum(counts.values()) == 1238


def test_image_addresses(objects: tuple[Real, ...]) -> None:
    """SEC-09: address is offset minus text_offset in every ET_EXEC object; spec 2.3: offsets."""
    offsets = set()
    for real in objects:
        obj = real.obj
        offsets.add(obj.text_offset)
        for section in obj.elf.sections:
            if section.flags & SHF_ALLOC and section.size:
                assert section.addr == section.offset - obj.text_offset
        assert obj.text_offset + obj.text_size <= obj.size
    assert offsets <= {0xB0, 0xE8, 0x1000}


def test_kernel_symbols(objects: tuple[Real, ...]) -> None:
    """SYM-10."""
    longest = 0
    for real, kernel in kernels(objects):
        (text,) = (s for s in real.obj.elf.sections if real.obj.elf.section_name(s) == ".text")
        assert kernel.offset % 4 == 0
        assert kernel.offset + kernel.length <= text.size
        longest = max(longest, len(kernel.name))
    assert longest <= 88


def test_weak_functions_are_no_kernels(objects: tuple[Real, ...]) -> None:
    """SYM-06: bodies of SIMT kernels (A5), and instances of templates on every product."""
    weak: Counter[tuple[str, bool]] = Counter()
    for real in objects:
        (table,) = real.obj.elf.symbol_tables
        names = real.obj.elf.strings(real.obj.elf.sections[table.link])
        for symbol in symbols(real.obj):
            if symbol.type == SymbolType.FUNC and symbol.binding == Binding.WEAK:
                name = names.at(symbol.name_offset)
                weak[real.product, name.endswith("_simt_entry")] += 1
    counts = {("A2", False): 120, ("A3", False): 120, ("A5", False): 120, ("A5", True): 300}
    assert weak == counts


def test_only_global_variable(objects: tuple[Real, ...]) -> None:
    """SYM-15."""
    for real in objects:
        found = variables(real.obj)
        if real.product == "A5":
            assert found == {}
        else:
            assert set(found) == {"g_opSystemRunCfg"}
            assert found["g_opSystemRunCfg"][1] == 256


def test_stack_sizes(objects: tuple[Real, ...]) -> None:
    """STK-03, STK-05."""
    sizes = {(real.product == "A5", real.obj.stack_size) for real in objects}
    assert sizes == {(True, 0), (False, 32768)}


def test_function_entries_of_a5(objects: tuple[Real, ...]) -> None:
    """FUN-11."""
    count = 0
    for real, kernel in kernels(objects):
        if real.product != "A5":
            assert kernel.meta.entry_kind is EntryKind.TILING_KEY
            continue
        count += 1
        assert kernel.meta.entry_kind is EntryKind.FUNCTION_ENTRY
        assert kernel.meta.function_entry == split_kernel_name(kernel.name).key
    assert count == 558


ABSENT = {
    FunctionMeta.CROSS_CORE,
    FunctionMeta.DFX_ARG_INFO,
    FunctionMeta.L0_EXCEPTION_DFX_IS_TIK,
    FunctionMeta.PARAM_SUMMARY,
    FunctionMeta.PARAM_INFO,
    FunctionMeta.SCHED_MODE_INFO,
}


def test_record_sequences(objects: tuple[Real, ...]) -> None:
    """Spec 6.2: which types occur, and in which order; TLV-03: where the pads are."""
    shapes: dict[str, set[tuple[int, ...]]] = {"A2": set(), "A3": set(), "A5": set()}
    pads = 0
    for real, kernel in kernels(objects):
        types = [record.tlv.type for record in kernel.records]
        assert not ABSENT & set(types)
        pads += types.count(0)
        shapes[real.product].add(tuple(kind for kind in types if kind))
        for at, kind in enumerate(types):
            if kind == 0:
                assert real.product == "A5"
                after = next(kind for kind in types[at:] if kind)
                assert after in (FunctionMeta.FUNCTION_ENTRY_INFO, FunctionMeta.AIV_TYPE_FLAG)
    tail = (4, 13, 15, 14, 12, 7, 8, 9, 10, 11)
    assert shapes["A2"] == shapes["A3"] == {(1, 4), (1, 3, 4)}
    assert shapes["A5"] == {(1, *tail), (1, 3, *tail)}
    assert pads == 1205


def test_values_of_records(objects: tuple[Real, ...]) -> None:
    """Spec 6.2: what the samples hold."""
    seen: dict[str, set[int]] = {}
    for _, kernel in kernels(objects):
        for record in kernel.records:
            for name, value in (record.value or {}).items():
                seen.setdefault(name, set()).add(value)
    assert seen["func_type"] == {FuncType.AIV, FuncType.MIX_AIC_MAIN, FuncType.MIX_AIV_MAIN}
    assert seen["ub_size"] <= {0, 8192}
    assert (min(seen["min_stack_size"]), max(seen["min_stack_size"])) == (224, 14752)
    assert max(seen["warp_stack_size"]) == 248
    assert seen["dvg_warp_stack_size"] <= {0, 128, 256, 384, 512, 3840, 3968}
    assert seen["block_dim"] == {0xFFFF_FFFF}
    assert seen["flag"] == {0}


def test_arguments_are_counted_three_ways(objects: tuple[Real, ...]) -> None:
    """DFX-10: runtime count == DFX_ARG_INFO records == argument bytes / 8."""
    for _, kernel in kernels(objects):
        assert kernel.dfx is not None
        assert kernel.dfx.problem is None
        assert kernel.arg_size is not None
        assert kernel.meta.user_args == kernel.dfx.arg_info_count == kernel.arg_size // 8


def test_element_sizes(objects: tuple[Real, ...]) -> None:
    """DFX-05: bytes on A2 and A3, bits on A5."""
    seen: dict[int, set[int]] = {1: set(), 8: set()}
    for real, kernel in kernels(objects):
        assert kernel.dfx is not None
        sizes = (arg.dtype_size for arg in kernel.dfx.args)
        seen[real.obj.dfx_dtype_bits].update(size for size in sizes if size is not None)
    assert seen[8] <= {1, 2, 4, 8}
    assert seen[1] == {16, 32, 64}


REPEATED = (
    BinaryMeta.BIN_VERSION,
    BinaryMeta.DEBUG_INFO,
    BinaryMeta.DYNAMIC_PARAM,
    BinaryMeta.OPTIONAL_PARAM,
)


def test_binary_records(objects: tuple[Real, ...]) -> None:
    """BIN-03, and how often a set repeats."""
    debug: Counter[tuple[int, ...]] = Counter()
    printf = set()
    for real in objects:
        records = [record for record in real.obj.binary_meta if record.name != "PADDING"]
        assert bool(records) == (real.product == "A5")
        by_type = Counter(record.tlv.type for record in records)
        assert len({by_type[kind] for kind in REPEATED}) == 1  # once for each compile unit
        assert by_type[BinaryMeta.BIN_VERSION] <= 7
        values = {r.tlv.type: tuple((r.value or {}).values()) for r in records}
        if records:
            assert values[BinaryMeta.BIN_VERSION] == (1,)
            debug[values[BinaryMeta.DEBUG_INFO]] += 1
            assert values[BinaryMeta.DYNAMIC_PARAM][1] in (0, 1)
            assert values[BinaryMeta.OPTIONAL_PARAM] in ((1, 1), (1, 0))
        if real.obj.implicit_flags:
            assert real.obj.implicit_flags == 8
            printf.add(real.path.stem)
    assert debug == {(0, 0): 287, (415236096, 1): 4, (110592, 2): 8}
    assert printf == PRINTF


def test_sidecars_agree_with_their_objects(objects: tuple[Real, ...]) -> None:
    """JSN-10."""
    for real in objects:
        digest = sha256(real.data).hexdigest()
        assert real.sidecar.sha256 == digest
        listed = {kernel.name for kernel in real.sidecar.kernel_list}
        assert listed == {split_kernel_name(kernel.name).base for kernel in real.obj.kernels}
        assert check_sidecar(real.obj, real.sidecar, digest, str(real.path), "") == []


def test_sidecar_keys(objects: tuple[Real, ...]) -> None:
    """Spec 10.2, recomputed for this wheel: no cube objects in it."""
    kinds = Counter((real.sidecar.core_type, real.sidecar.task_ration) for real in objects)
    assert kinds == {
        ("VectorCore", None): 610,
        ("MIX", "0:1"): 17,
        ("MIX", "1:2"): 1,
        ("MIX", "tilingKey"): 2,
    }
    debug = Counter(real.sidecar.debug_options for real in objects)
    assert debug == {None: 618, "assert": 8, "printf": 4}
    assert {real.sidecar.block_dim for real in objects} == {-1}


def test_only_printf_keeps_from_loading(objects: tuple[Real, ...]) -> None:
    """JSN-05: four objects."""
    refused = {real.path.stem for real in objects if not judge((), real.sidecar).from_file.accepted}
    assert refused == PRINTF
