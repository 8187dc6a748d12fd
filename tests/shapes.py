"""M0 of spec 13.7, records by the names of the tables, and an operator as its compiler knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cannkit.format.ascend_meta import (
    BINARY_META,
    FUNCTION_META,
    FUNCTION_SECTION,
    BinaryMeta,
    FunctionMeta,
    FuncType,
    VfType,
)
from cannkit.format.dfx import UNKNOWN_SIZE, PointerType, TensorType, encode_dfx
from cannkit.format.elf_types import ByteOrder, SectionType
from cannkit.format.tlv import encode_tlv
from tests.build import (
    SHF_ALLOC,
    SHF_EXEC,
    ObjectBuilder,
)

DEBUG_BUFFER: Final = 415236096  # BIN-03: of printf
DTYPE_BITS: Final = {"float16": 16, "float32": 32, "int32": 32, "int64": 64, "uint8": 8}


@dataclass(frozen=True)
class Tensor:
    """An input or output of an operator; a `dynamic` one is a list of tensors."""

    name: str
    dtype: str = "float16"
    kind: str = "required"


@dataclass(frozen=True)
class Kernel:
    """One global function: its tiling key, cores, and how many bytes of code it has."""

    key: int
    func_type: FuncType = FuncType.AIV
    suffix: str = ""
    ratio: tuple[int, int] | None = None
    code: int = 64
    vf_type: VfType = VfType.NO_VF
    simt: str = ""  # name of the WEAK body of a SIMT kernel
    min_stack: int = 280


@dataclass(frozen=True)
class Operator:
    """What the compiler knows of an operator binary; `stem` is its binFileName."""

    stem: str
    folder: str  # of the SoC in an opp tree
    kernels: tuple[Kernel, ...]
    inputs: tuple[Tensor, ...] = (Tensor("x"), Tensor("y"))
    outputs: tuple[Tensor, ...] = (Tensor("z"),)
    tiling: int = 40
    flags: int = 0x0093_0000
    debug: str = ""

    @property
    def is_a5(self) -> bool:
        return self.folder == "ascend950"

    @property
    def folded(self) -> bool:
        """Whether tensor lists are passed through descriptors."""
        return any(tensor.kind == "dynamic" for tensor in self.inputs + self.outputs)

    def name(self, kernel: Kernel) -> str:
        return f"{self.stem}_{kernel.key}{kernel.suffix}"


def function_tlv(kind: FunctionMeta, order: ByteOrder = "little", **values: int) -> bytes:
    """A record of `.ascend.meta.<kernel>` by the names of the table."""
    return encode_tlv(kind, FUNCTION_META[kind].encode(order, **values), order)


def binary_tlv(kind: BinaryMeta, order: ByteOrder = "little", **values: int) -> bytes:
    """A record of `.ascend.meta`."""
    return encode_tlv(kind, BINARY_META[kind].encode(order, **values), order)


def dfx_tlv(*records: tuple[int, ...], order: ByteOrder = "little") -> bytes:
    """A DFX_TYPE record of DFX_ARG_INFO records, each given by its words."""
    value = encode_dfx([(FunctionMeta.DFX_ARG_INFO, words) for words in records])
    return encode_tlv(FunctionMeta.DFX_TYPE, value, order)


def word(tensor: TensorType, pointer: PointerType = PointerType.LEVEL_1) -> int:
    """Word 0 of a DFX record. DFX-03."""
    return pointer << 16 | tensor


def m0(order: ByteOrder = "little", /, **header: int) -> ObjectBuilder:
    """The base object of spec 13.7, with its kernel `k_0`."""
    builder = ObjectBuilder(order, **header)
    builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=64)
    builder.symbol("k_0", size=32)
    return builder


def with_meta(builder: ObjectBuilder, *records: bytes, kernel: str = "k_0") -> ObjectBuilder:
    """The object with a `.ascend.meta.<kernel>` section of these records."""
    return builder.section(FUNCTION_SECTION + kernel, b"".join(records), SectionType.NOTE, align=4)


def m0_meta(*records: bytes) -> bytes:
    """M0 with a meta section for `k_0`: the `meta(...)` of spec 13.7."""
    return with_meta(m0(), *records).build()


def code(size: int) -> bytes:
    """Bytes in place of instructions."""
    return bytes(at * 7 & 0xFF for at in range(size))


def arguments(operator: Operator, kernel: Kernel) -> list[tuple[int, ...]]:
    """The argument slots of a kernel as DFX words, those of a dynamic shape. DFX-04, DFX-08."""
    slots: list[tuple[int, ...]] = []
    if kernel.suffix and not operator.is_a5:
        slots.append((word(TensorType.FFTS),))
    tensors = [(t, TensorType.INPUT) for t in operator.inputs]
    tensors += [(t, TensorType.OUTPUT) for t in operator.outputs]
    for tensor, role in tensors:
        if tensor.kind == "dynamic":  # DFX-05: bytes on A2, bits on A5
            size = DTYPE_BITS[tensor.dtype] // (1 if operator.is_a5 else 8)
            slots.append((word(role, PointerType.LEVEL_2_WITH_SHAPE), UNKNOWN_SIZE, size))
        else:
            slots.append((word(role), UNKNOWN_SIZE))
    slots.append((word(TensorType.WORKSPACE),))
    slots.append((word(TensorType.TILING), operator.tiling))
    return slots
