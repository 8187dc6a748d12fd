"""The worked examples of spec 01, section 13: W1, W2, W3 and W5 as they are, W4 and F built alike."""

from __future__ import annotations

import struct
from hashlib import sha256
from pathlib import Path

import pytest

from cannkit.format.ascend_meta import BinaryMeta, FuncType, VfType
from cannkit.format.dfx import PointerType, TensorType
from cannkit.format.elf_types import SHF_ALLOC, Binding, ElfType, SectionType, SymbolType
from cannkit.format.status import RtStatus
from cannkit.image.kernel_meta import NO_META, EntryKind
from cannkit.image.kernel_object import KernelImage, KernelObject
from cannkit.image.verdict import judge
from tests.build import SHF_EXEC, SHF_GROUP, SHF_WRITE, ObjectBuilder
from tests.facts import only_kernel, read
from tests.reals import Real, reals, symbols, variables

UNKNOWN = 0xFFFF_FFFF_FFFF_FFFF
KERNELS = "op_impl/ai_core/tbe/kernel"


def worked(corpus: Path, place: str, stem: str, size: int, digest: str) -> Real:
    """A worked example, told by its digest."""
    product, op = place.split("/")[:2]
    soc = {"A2": "ascend910b", "A5": "ascend950"}[product]
    folder = place.split("/")[-1]
    path = corpus / f"fbgemm_ascend/opp/{product}/vendors/{op}/{KERNELS}/{soc}/{folder}/{stem}.o"
    (real,) = (real for real in reals(corpus) if real.path == path)
    assert (len(real.data), sha256(real.data).hexdigest()) == (size, digest)
    return real


def image(obj: KernelObject) -> tuple[int, int, bool, int, int]:
    return (
        obj.text_offset,
        obj.text_size,
        obj.writable_data,
        obj.stack_size,
        obj.implicit_flags,
    )


def slots(kernel: KernelImage) -> list[tuple[int, ...]]:
    """DFX words, word 0 taken apart."""
    assert kernel.dfx is not None
    assert kernel.dfx.problem is None
    return [(arg.words[0] & 0xFFFF, arg.words[0] >> 16, *arg.words[1:]) for arg in kernel.dfx.args]


def meta_bytes(real: Real, kernel: KernelImage) -> tuple[int, int, bytes]:
    assert kernel.section is not None
    at, size = kernel.section.offset, kernel.section.size
    return at, size, real.data[at : at + size]


def records(kernel: KernelImage) -> list[tuple[str, dict[str, int] | None]]:
    return [(record.name, record.value) for record in kernel.records]


T = TensorType
ONE = PointerType.LEVEL_1


@pytest.mark.corpus
def test_w1_vector_of_a2(corpus: Path) -> None:
    """Spec 13.1."""
    stem = "DenseToJagged_26fffc50fb8bdec16664aed9b9571742"
    digest = "530aff07296e347b6fe94f4b16c3ec1df606d313eaa6c5efd4e0807f83b68c73"
    real = worked(corpus, "A2/dense_to_jagged/dense_to_jagged", stem, 6072, digest)
    obj, header = real.obj, real.obj.elf.header
    assert (header.type, header.machine, header.flags, header.version) == (2, 0x1029, 0x93_0000, 1)
    assert (header.shnum, header.shoff, header.shstrndx) == (12, 0x14B8, 10)
    assert image(obj) == (232, 4104, True, 32768, 0)
    names = {obj.elf.section_name(s): s for s in obj.elf.sections}
    assert names[".text"][3:6] == (0, 0xE8, 0x8A0)
    assert names[".data"][3:6] == (0x1000, 0x10E8, 8)
    assert obj.func_count == 1
    kernel = only_kernel(obj)
    assert (kernel.name, kernel.offset, kernel.length) == (f"{stem}_0", 0, 2208)
    assert variables(obj) == {"g_opSystemRunCfg": (4096, 256)}
    assert kernel.arg_size == 40
    dump = bytes.fromhex(
        "01000400 03000000 04005c00"
        "00050002 0000000000010002 ffffffffffffffff  00050002 0000000000010002 ffffffffffffffff"
        "00050002 0000000000010003 ffffffffffffffff  00050001 0000000000010004"
        "00050002 0000000000010007 0000000000000038"
    )
    assert meta_bytes(real, kernel) == (4416, 104, dump)
    assert slots(kernel) == [
        (T.INPUT, ONE, UNKNOWN),
        (T.INPUT, ONE, UNKNOWN),
        (T.OUTPUT, ONE, UNKNOWN),
        (T.WORKSPACE, ONE),
        (T.TILING, ONE, 56),
    ]
    meta = kernel.meta
    assert (meta.func_type, meta.cross_core_sync, meta.task_ratio_value) == (FuncType.AIV, 0, 2)
    assert (meta.user_args, meta.vf_type, meta.ub_size, meta.min_stack_size) == (5, 0, 0, 0)
    assert meta.entry_kind is EntryKind.TILING_KEY
    sidecar = real.sidecar
    assert sidecar.magic == "RT_DEV_BINARY_MAGIC_ELF_AIVEC"
    assert (sidecar.op_para_size, sidecar.intercore_sync) == (56, 0)


@pytest.mark.corpus
def test_w2_simt_of_a5(corpus: Path) -> None:
    """Spec 13.2."""
    stem = "PrunedArrayLookupFromRowIdx_1b431102004fb3d075ea1ec2f7ab73d3"
    digest = "f5abb3f7925a1ecf78dee7dbfe665a3ec7e0c6f5c72772d858dcefb0511e70b0"
    op = "pruned_array_lookup_from_row_idx"
    real = worked(corpus, f"A5/{op}/{op}", stem, 3152, digest)
    obj, header = real.obj, real.obj.elf.header
    assert (header.type, header.flags, header.shnum) == (ElfType.EXEC, 0x99_0000, 11)
    assert image(obj) == (176, 1020, False, 0, 0)
    sections = {obj.elf.section_name(s): s for s in obj.elf.sections}
    assert sections[".text"][4:6] == (0xB0, 0x3D8)
    assert sections[".ascend.meta"][2:6] == (SHF_ALLOC, 0x3D8, 0x488, 0x24)
    assert obj.func_count == 2
    kernel = only_kernel(obj)
    assert (kernel.name, kernel.offset, kernel.length) == (f"{stem}_0", 0, 436)
    assert (kernel.arg_size, variables(obj)) == (56, {})
    (weak,) = (s for s in symbols(obj) if s.type == SymbolType.FUNC and s.binding == Binding.WEAK)
    assert (weak.value, weak.size) == (440, 536)
    assert [(record.name, record.value) for record in obj.binary_meta] == [
        ("BIN_VERSION", {"version": 1}),
        ("DEBUG_INFO", {"debug_buf_size": 0, "debug_options": 0}),
        ("DYNAMIC_PARAM", {"reserved": 0, "mode": 0}),
        ("OPTIONAL_PARAM", {"input_mode": 1, "output_mode": 1}),
    ]
    assert meta_bytes(real, kernel)[:2] == (1200, 224)
    assert records(kernel) == [
        ("KERNEL_TYPE", {"func_type": 3}),
        ("DFX_TYPE", {"arg_count": 7}),
        ("DETERMINISTIC_INFO", {"deterministic": 1}),
        ("BLOCK_DIM_INFO", {"block_dim": 0xFFFF_FFFF}),
        ("FUNCTION_ENTRY_INFO", {"flag": 0, "function_entry": 0}),
        ("AIV_TYPE_FLAG", {"vf_type": VfType.SIMT_VF}),
        ("COMPILER_ALLOC_UB_SIZE", {"ub_size": 8192}),
        ("SU_STACK_SIZE", {"min_stack_size": 280}),
        ("SIMT_WARP_STACK_SIZE", {"warp_stack_size": 0}),
        ("SIMT_DVG_WARP_STACK_SIZE", {"dvg_warp_stack_size": 0}),
        ("EARLY_START_ENABLE", {"early_start": 0}),
    ]
    expected = [(T.INPUT, ONE, UNKNOWN)] * 4 + [(T.OUTPUT, ONE, UNKNOWN), (T.WORKSPACE, ONE)]
    assert slots(kernel) == [*expected, (T.TILING, ONE, 24)]
    meta = kernel.meta
    assert (meta.func_type, meta.task_ratio_value, meta.user_args) == (FuncType.AIV, 2, 7)
    assert (meta.vf_type, meta.ub_size, meta.min_stack_size) == (VfType.SIMT_VF, 8192, 280)
    assert (meta.entry_kind, meta.function_entry) == (EntryKind.FUNCTION_ENTRY, 0)


@pytest.mark.corpus
def test_w3_mix_of_a2(corpus: Path) -> None:
    """Spec 13.3."""
    stem = "OffsetsRange_67fb5b7825e97597c68d8ae6a1db5fc8"
    digest = "f6a4f41cbc6ef65ab85b18c485153977d1136858d463065ae77b9347132e37f2"
    real = worked(corpus, "A2/offsets_range/offsets_range", stem, 10760, digest)
    obj = real.obj
    assert obj.elf.header.flags == 0x94_0000
    assert image(obj) == (232, 8200, True, 32768, 0)
    assert variables(obj) == {"g_opSystemRunCfg": (8192, 256)}
    rows = [
        (k.name.removeprefix(stem), k.offset, k.length, *meta_bytes(real, k)[:2], k.arg_size)
        for k in obj.kernels
    ]
    assert rows == [
        ("_0_mix_aic", 0, 2968, 8664, 104, 40),
        ("_0_mix_aiv", 2968, 3168, 8884, 104, 40),
    ]
    for kernel in obj.kernels:
        meta = kernel.meta
        assert records(kernel)[:2] == [
            ("KERNEL_TYPE", {"func_type": FuncType.MIX_AIC_MAIN}),
            ("MIX_TASK_RATION", {"ratio_aic": 1, "ratio_aiv": 2}),
        ]
        assert [slot[0] for slot in slots(kernel)] == [
            T.FFTS,
            T.INPUT,
            T.OUTPUT,
            T.WORKSPACE,
            T.TILING,
        ]
        assert slots(kernel)[-1] == (T.TILING, ONE, 40)
        assert (meta.task_ratio_value, meta.user_args, meta.cross_core_sync) == (2, 5, 0)
    sidecar = real.sidecar
    assert (sidecar.intercore_sync, sidecar.task_ration) == (1, "1:2")
    assert sidecar.magic == "RT_DEV_BINARY_MAGIC_ELF"


@pytest.mark.corpus
def test_w5_printf_of_a5(corpus: Path) -> None:
    """Spec 13.5."""
    stem = "BoundsCheckIndicesV1_98814b04cea2e2f1f6a23d31cb536f74"
    digest = "8803a6935cd00d91f6dd27b5b6b6fa27b61c0754b24177acfcec3291a823e4ef"
    real = worked(corpus, "A5/bounds_check_indices/bounds_check_indices_v1", stem, 95704, digest)
    obj = real.obj
    assert image(obj) == (232, 90376, True, 0, 8)
    assert obj.func_count == 7
    kernel = only_kernel(obj)
    assert (kernel.name, kernel.offset, kernel.length) == (f"{stem}_0", 0, 9336)
    (last,) = (r for r in obj.binary_meta if r.tlv.type == BinaryMeta.RUNTIME_IMPLICIT_INFO)
    assert obj.binary_meta[-1] is last
    assert last.value == {"feature": 4}
    (debug,) = (r.value for r in obj.binary_meta if r.tlv.type == BinaryMeta.DEBUG_INFO)
    assert debug == {"debug_buf_size": 415236096, "debug_options": 1}
    (implicit,) = obj.variables
    assert (implicit.name, implicit.offset) == ("g_sysSimtPrintFifoSpace", 90368)
    assert (implicit.implicit, implicit.is_global) == (True, False)
    assert implicit.offset + obj.text_offset == 90600
    assert meta_bytes(real, kernel)[:2] == (91424, 288)
    expected = [(T.INPUT, ONE, UNKNOWN)] * 5 + [(T.OUTPUT, ONE, UNKNOWN)] * 3
    assert slots(kernel) == [*expected, (T.WORKSPACE, ONE), (T.TILING, ONE, 56)]
    names = [name for name, _ in records(kernel)]
    assert names[4] == "PADDING"
    values = {name: value for name, value in records(kernel) if value}
    assert values["SIMT_WARP_STACK_SIZE"] == {"warp_stack_size": 56}
    assert values["SIMT_DVG_WARP_STACK_SIZE"] == {"dvg_warp_stack_size": 3840}
    meta = kernel.meta
    assert (meta.user_args, meta.vf_type, meta.ub_size, meta.min_stack_size) == (10, 3, 8192, 344)
    verdict = judge(obj.refusals, real.sidecar)
    assert verdict.from_data.accepted
    assert verdict.from_file[:3] == (False, "JSN-05", RtStatus.FEATURE_NOT_SUPPORT)


def test_w4_relocatable_look_alike() -> None:
    """Spec 13.4; its wheel is not fetched. Offsets and lengths are the real ones."""
    stem = "TransposeKvCacheByBlock_f57d0192c8d2552ec56e02af54cfc504_relocatable"
    places = [(0, 1956), (2048, 2464), (4608, 2164), (7168, 2556), (9728, 2268)]
    builder = ObjectBuilder(type=ElfType.REL, flags=0x93_0000)
    builder.section(".text", bytes(0x2EDC), flags=SHF_ALLOC | SHF_EXEC, at=0x200, align=512)
    for at, name in ((0x30E0, "g_sysWorkspaceReserved"), (0x30E8, "g_vecTPipePtr")):
        flags = SHF_ALLOC | SHF_WRITE | SHF_GROUP
        builder.section(f".bl.uninit.{name}", bytes(8), flags=flags, at=at, align=8)
    builder.section(".ascend.stack.size.record", struct.pack("<5Q", *[32768] * 5))
    for key, (offset, length) in enumerate(places):
        builder.symbol(f"{stem}_{key}_mix_aiv", value=offset, size=length)
    obj = read(builder.build())
    assert obj.relocatable
    assert (obj.refusals, obj.warnings) == ((), ())
    assert image(obj) == (512, 12016, False, 32768, 0)
    assert [(kernel.offset, kernel.length) for kernel in obj.kernels] == places
    assert {kernel.meta for kernel in obj.kernels} == {NO_META}
    assert {kernel.arg_size for kernel in obj.kernels} == {None}


def test_f_mix_entry_look_alike() -> None:
    """Spec 13.6: no meta at all, so 128 arguments by default and no warning; 248 bytes by symbol."""
    builder = ObjectBuilder(flags=0x94_0000)
    builder.section(".text", bytes(101456), flags=SHF_ALLOC | SHF_EXEC, at=176)
    builder.section("__CCE_KernelArgSize", struct.pack("<2I", 248, 248), align=4)
    halves = [("mla_preprocess_0_mix_aic", 0, 62444), ("mla_preprocess_0_mix_aiv", 62444, 39004)]
    for number, (name, value, size) in enumerate(halves):
        builder.symbol(name, value=value, size=size)
        kind, place = SymbolType.OBJECT, 4 * number
        builder.symbol(
            f"{name}__", kind, Binding.WEAK, section="__CCE_KernelArgSize", value=place, size=4
        )
    obj = read(builder.build())
    assert image(obj) == (176, 101456, False, 0, 0)
    assert [(k.name, k.offset, k.length) for k in obj.kernels] == halves
    assert [(k.meta, k.arg_size) for k in obj.kernels] == [(NO_META, 248)] * 2
    assert obj.warnings == ()


def test_f_cube_entry_look_alike() -> None:
    """Spec 13.6: one record of 8 bytes, and so no argument."""
    builder = ObjectBuilder(flags=0x94_0000)
    builder.section(".text", bytes(71016), flags=SHF_ALLOC | SHF_EXEC, at=176)
    record = bytes.fromhex("01000400 02000000")
    builder.section(".ascend.meta.batch_matmul_transpose_0", record, SectionType.NOTE, at=71200)
    builder.symbol("batch_matmul_transpose_0", size=71016)
    kernel = only_kernel(read(builder.build()))
    assert kernel.section is not None
    assert kernel.section.offset == 71200
    assert (kernel.meta.func_type, kernel.meta.user_args) == (FuncType.AIC, 0)
    assert kernel.meta.entry_kind is EntryKind.TILING_KEY
