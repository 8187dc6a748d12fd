"""Kernel objects as the compilers write them: A2, A5, relocatable, and the entries of a fatbin."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from cannkit.format.ascend_meta import (
    ARG_SIZE_SECTION,
    BINARY_SECTION,
    DEBUG_OPTIONS,
    FUNCTION_SECTION,
    STACK_SECTION,
    BinaryMeta,
    FunctionMeta,
    ImplicitFeature,
    VfType,
)
from cannkit.format.elf_types import Binding, ElfType, SectionType, SymbolType
from tests.build import (
    RELA_SIZE,
    SHF_ALLOC,
    SHF_EXEC,
    SHF_GROUP,
    SHF_INFO_LINK,
    SHF_MERGE,
    SHF_STRINGS,
    SHF_WRITE,
    ObjectBuilder,
    Segment,
)
from tests.shapes import (
    DEBUG_BUFFER,
    Kernel,
    Operator,
    arguments,
    binary_tlv,
    code,
    dfx_tlv,
    function_tlv,
)

READ, WRITE, EXEC = 4, 2, 1  # PF_*
ALIGN_A2, ALIGN_A5 = 4, 8  # code
PAGE: Final = 0x1000
STACK: Final = 32768
R_BLOCK_LOCAL: Final = 0x123  # SEC-11, of an address in .bl_uninit
R_FRAME_CIE, R_FRAME_CODE = 0x102, 0x101
COMMENT: Final = b"cannkit tests/build.py\0"
BLOCK_LOCAL: Final = ("g_sysWorkspaceReserved", "g_vecTPipePtr")
SIMT_BODY: Final = 48  # bytes of code
TEXT_SYMBOL, FRAME_SYMBOL = 1, 2  # SHN_SECTION symbols come first


def a2_object(operator: Operator) -> bytes:
    """An object of A2 or A3: `.text`, `.data`, a stack record, meta and argument sizes."""
    builder = ObjectBuilder(flags=operator.flags)
    builder.segments += [
        Segment(READ | EXEC, ".text"),
        Segment(READ | WRITE, ".data"),
        Segment(READ | WRITE),
    ]
    starts, text = _text(operator.kernels, ALIGN_A2)
    builder.section(".text", text, flags=SHF_ALLOC | SHF_EXEC, align=ALIGN_A2)
    text_offset = 64 + 56 * len(builder.segments)
    data_at = -(-len(text) // PAGE) * PAGE
    flags = SHF_ALLOC | SHF_WRITE
    builder.section(
        ".data", bytes(8), flags=flags, addr=data_at, at=text_offset + data_at, align=256
    )
    _symbols(builder, operator, starts)
    local = _block_local(builder)
    builder.symbol("g_opSystemRunCfg", SymbolType.OBJECT, section=".data", value=data_at, size=256)
    _rela_text(builder, starts, local)
    builder.section(STACK_SECTION, struct.pack("<Q", STACK) * len(operator.kernels))
    for kernel in operator.kernels:
        _function_meta(builder, operator, kernel, 4, *_base_records(operator, kernel))
    _tail(builder, operator)
    return builder.build()


def a5_object(operator: Operator) -> bytes:
    """An object of A5: an allocated `.ascend.meta`, function entries, SIMT bodies, unwind data."""
    builder = ObjectBuilder(flags=operator.flags)
    starts, text = _text(operator.kernels, ALIGN_A5)
    meta = _binary_meta(operator)
    last = ".data" if operator.debug else BINARY_SECTION
    builder.segments += [Segment(READ | EXEC, ".text", BINARY_SECTION)]
    if operator.debug:
        builder.segments.append(Segment(READ | WRITE, last))
    builder.segments.append(Segment(READ | WRITE))
    text_offset = 64 + 56 * len(builder.segments)
    builder.section(".text", text, flags=SHF_ALLOC | SHF_EXEC, align=ALIGN_A5)
    builder.section(BINARY_SECTION, meta, flags=SHF_ALLOC, addr=len(text), align=4)
    if operator.debug:
        rodata_at = len(text) + len(meta)
        flags = SHF_ALLOC | SHF_MERGE | SHF_STRINGS
        builder.section(".rodata", b"index %d\n\0", flags=flags, addr=rodata_at, entsize=1)
        flags = SHF_ALLOC | SHF_WRITE
        builder.section(".data", bytes(0x108), flags=flags, addr=PAGE, at=text_offset + PAGE)
    _symbols(builder, operator, starts)
    if operator.debug:
        for at, name in enumerate(("g_sysPrintFifoSpace", "g_sysSimtPrintFifoSpace")):
            value = PAGE + 0x100 * at
            builder.symbol(
                name, SymbolType.OBJECT, Binding.WEAK, section=".data", value=value, size=256
            )
    for kernel in operator.kernels:
        _function_meta(builder, operator, kernel, 16, *_a5_records(operator, kernel))
    _tail(builder, operator)
    _debug_frame(builder, [(starts[k.key, k.suffix], k.code) for k in operator.kernels])
    return builder.build()


def relocatable_object(operator: Operator) -> bytes:
    """Input of a super kernel link: ET_REL, no meta, block-local variables of their own."""
    builder = ObjectBuilder(type=ElfType.REL, flags=operator.flags)
    starts, text = _text(operator.kernels, ALIGN_A2)
    builder.section(".text", text, flags=SHF_ALLOC | SHF_EXEC, align=512)
    for kernel in operator.kernels:
        value = starts[kernel.key, kernel.suffix]
        builder.symbol(operator.name(kernel), value=value, size=kernel.code)
    flags = SHF_ALLOC | SHF_WRITE | SHF_GROUP
    local = 0
    for name in BLOCK_LOCAL:
        section = f".bl.uninit.{name}"
        builder.section(section, bytes(8), flags=flags, align=8)
        local = builder.symbol(name, SymbolType.OBJECT, Binding.WEAK, section=section, size=8)
    _rela_text(builder, starts, local)
    builder.section(STACK_SECTION, struct.pack("<Q", STACK) * len(operator.kernels))
    builder.section(".comment", COMMENT)
    return builder.build()


def fatbin_object(operator: Operator, *, with_type: bool = False) -> bytes:
    """An entry of a fatbin: no `.data`, and meta only for cube kernels. CON-03."""
    builder = ObjectBuilder(flags=operator.flags)
    builder.segments += [Segment(READ | EXEC, ".text"), Segment(READ | WRITE)]
    starts, text = _text(operator.kernels, ALIGN_A2)
    builder.section(".text", text, flags=SHF_ALLOC | SHF_EXEC, align=ALIGN_A2)
    _symbols(builder, operator, starts)
    _block_local(builder)
    builder.section(STACK_SECTION, struct.pack("<Q", STACK))
    if with_type:
        for kernel in operator.kernels:
            record = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=kernel.func_type)
            _function_meta(builder, operator, kernel, 4, record)
    _tail(builder, operator)
    return builder.build()


Starts = dict[tuple[int, str], int]


def _text(kernels: Sequence[Kernel], align: int) -> tuple[Starts, bytes]:
    starts: Starts = {}
    text = b""
    for kernel in kernels:
        text += bytes(-len(text) % align)
        starts[kernel.key, kernel.suffix] = len(text)
        text += code(kernel.code)
        if kernel.simt:
            text += bytes(-len(text) % align) + code(SIMT_BODY)
    return starts, text + bytes(-len(text) % 4)


def _symbols(builder: ObjectBuilder, operator: Operator, starts: Starts) -> None:
    builder.symbol("", SymbolType.SECTION, Binding.LOCAL)  # TEXT_SYMBOL
    if operator.is_a5:
        builder.symbol("", SymbolType.SECTION, Binding.LOCAL, section=".debug_frame")
    for number, kernel in enumerate(operator.kernels):
        start = starts[kernel.key, kernel.suffix]
        builder.symbol(operator.name(kernel), value=start, size=kernel.code)
        if kernel.simt:
            body = start + kernel.code + -(start + kernel.code) % ALIGN_A5
            builder.symbol(
                f"{kernel.simt}_simt_entry", binding=Binding.WEAK, value=body, size=SIMT_BODY
            )
        name = f"{operator.name(kernel)}__"  # ARG-01
        builder.symbol(
            name,
            SymbolType.OBJECT,
            Binding.WEAK,
            section=ARG_SIZE_SECTION,
            value=4 * number,
            size=4,
        )


def _block_local(builder: ObjectBuilder) -> int:
    """BLU-01: offsets in a section that is not loaded; the index of the last symbol."""
    index = 0
    for at, name in enumerate(BLOCK_LOCAL):
        kind, bind = SymbolType.OBJECT, Binding.WEAK
        index = builder.symbol(name, kind, bind, section=".bl_uninit", value=8 * at, size=8)
    return index


def _relocations(builder: ObjectBuilder, target: str, entries: bytes) -> None:
    builder.section(
        f".rela{target}",
        entries,
        SectionType.RELA,
        flags=SHF_INFO_LINK,
        align=8,
        entsize=RELA_SIZE,
        link=".symtab",
        info=target,
    )


def _rela_text(builder: ObjectBuilder, starts: Starts, symbol: int) -> None:
    entries = (builder.relocation(at, symbol, R_BLOCK_LOCAL) for at in starts.values())
    _relocations(builder, ".text", b"".join(entries))


def _tail(builder: ObjectBuilder, operator: Operator) -> None:
    """Argument sizes, the compiler's name and the per-core variables."""
    sizes = [8 * len(arguments(operator, kernel)) for kernel in operator.kernels]
    builder.section(ARG_SIZE_SECTION, struct.pack(f"<{len(sizes)}I", *sizes), align=4)
    builder.section(".comment", COMMENT, flags=SHF_MERGE | SHF_STRINGS, entsize=1)
    if not operator.is_a5:
        builder.section(".bl_uninit", b"", SectionType.NOBITS, align=8, size=16)


def _function_meta(
    builder: ObjectBuilder, operator: Operator, kernel: Kernel, align: int, *records: bytes
) -> None:
    name = FUNCTION_SECTION + operator.name(kernel)
    builder.section(name, b"".join(records), SectionType.NOTE, align=align)


def _base_records(operator: Operator, kernel: Kernel) -> list[bytes]:
    records = [function_tlv(FunctionMeta.KERNEL_TYPE, func_type=kernel.func_type)]
    if kernel.ratio:
        aic, aiv = kernel.ratio
        records.append(function_tlv(FunctionMeta.MIX_TASK_RATION, ratio_aic=aic, ratio_aiv=aiv))
    return [*records, dfx_tlv(*arguments(operator, kernel))]


def _a5_records(operator: Operator, kernel: Kernel) -> list[bytes]:
    """TLV-03: the linker aligns some records with zeros, each 4 of which read as a record."""
    records = [
        *_base_records(operator, kernel),
        function_tlv(FunctionMeta.DETERMINISTIC_INFO, deterministic=1),
        function_tlv(FunctionMeta.BLOCK_DIM_INFO, block_dim=0xFFFF_FFFF),
    ]
    records.append(bytes(-sum(map(len, records)) % 8))
    records.append(function_tlv(FunctionMeta.FUNCTION_ENTRY_INFO, function_entry=kernel.key))
    records.append(bytes(-sum(map(len, records)) % 16))
    uses_vf = kernel.vf_type in (VfType.SIMT_VF, VfType.SIMD_VF, VfType.SIMD_SIMT_MIX)
    return [
        *records,
        function_tlv(FunctionMeta.AIV_TYPE_FLAG, vf_type=kernel.vf_type),
        function_tlv(FunctionMeta.COMPILER_ALLOC_UB_SIZE, ub_size=8192 if uses_vf else 0),
        function_tlv(FunctionMeta.SU_STACK_SIZE, min_stack_size=kernel.min_stack),
        function_tlv(FunctionMeta.SIMT_WARP_STACK_SIZE),
        function_tlv(FunctionMeta.SIMT_DVG_WARP_STACK_SIZE),
        function_tlv(FunctionMeta.EARLY_START_ENABLE),
    ]


def _binary_meta(operator: Operator) -> bytes:
    """One set of records for each compile unit, here for each kernel."""
    size, mask = (DEBUG_BUFFER, DEBUG_OPTIONS[operator.debug]) if operator.debug else (0, 0)
    unit = [
        binary_tlv(BinaryMeta.BIN_VERSION, version=1),
        binary_tlv(BinaryMeta.DEBUG_INFO, debug_buf_size=size, debug_options=mask),
        binary_tlv(BinaryMeta.DYNAMIC_PARAM, mode=operator.folded),
        binary_tlv(BinaryMeta.OPTIONAL_PARAM, input_mode=1, output_mode=1),
    ]
    records = unit * len(operator.kernels)
    if operator.debug:
        feature = ImplicitFeature.SIMT_PRINTF
        records.append(binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=feature))
    return b"".join(records)


def _debug_frame(builder: ObjectBuilder, functions: list[tuple[int, int]]) -> None:
    """A DWARF 4 CIE and an FDE for each function: DW_CFA_def_cfa r94+0, then an offset of 16."""
    cie = struct.pack("<I7B", 0xFFFF_FFFF, 4, 0, 8, 0, 4, 0x7C, 95) + b"\x0c\x5e\0"
    frame = _entry(cie)
    relocations = b""
    for start, length in functions:
        relocations += builder.relocation(len(frame) + 4, FRAME_SYMBOL, R_FRAME_CIE)
        relocations += builder.relocation(len(frame) + 8, TEXT_SYMBOL, R_FRAME_CODE, start)
        frame += _entry(struct.pack("<IQQ", 0, start, length) + b"\x42\x0e\x10")
    builder.section(".debug_frame", frame, align=8)
    _relocations(builder, ".debug_frame", relocations)


def _entry(body: bytes) -> bytes:
    body += bytes(-(len(body) + 4) % 8)  # DW_CFA_nop
    return struct.pack("<I", len(body)) + body
