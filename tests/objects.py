"""The operators behind `fixtures/objects/`: one of each kind that a command has to tell apart."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5
from typing import Final

from cannkit.format.ascend_meta import FuncType, VfType
from tests.carriers import fatbin, fatbin_library
from tests.compiled import a2_object, a5_object, fatbin_object, relocatable_object
from tests.shapes import Kernel, Operator, Tensor
from tests.sidecars import sidecar


def _named(op_type: str, tail: str = "") -> str:
    """`<OpType>_<32 hex digits>`, as the compile side names its files."""
    return f"{op_type}_{md5(op_type.encode(), usedforsecurity=False).hexdigest()}{tail}"


def _pair(key: int, code: int = 64) -> tuple[Kernel, Kernel]:
    """The two halves of a mix kernel 1:2."""
    kind = FuncType.MIX_AIC_MAIN
    return Kernel(key, kind, "_mix_aic", (1, 2), code), Kernel(key, kind, "_mix_aiv", (1, 2), code)


def _vector(key: int) -> Kernel:
    return Kernel(key, FuncType.MIX_AIV_MAIN, "_mix_aiv", (0, 1))


CUBE: Final = 0x0094_0000
A5: Final = 0x0099_0000
TENSORS: Final = (Tensor("a"), Tensor("b"), Tensor("bias", "float32"))
SIMT: Final = "_ZN12GatherCustom11SimtComputeI"

ADD: Final = Operator("AddCustom", "ascend910b", (Kernel(0),))
CUBE_ONLY: Final = Operator(
    _named("MatmulCustom"), "ascend910b", (Kernel(0, FuncType.AIC),), flags=CUBE
)
MIX: Final = Operator(
    _named("MatmulLeakyreluCustom"), "ascend910b", _pair(0, 96), TENSORS, tiling=200, flags=CUBE
)
TILING_KEYS: Final = Operator(
    _named("SoftmaxCustom"),
    "ascend910b",
    (_vector(1), *_pair(2), _vector(10000000000000001)),
    (Tensor("x", "float32"),),
    (Tensor("y", "float32"),),
    flags=CUBE,
)
SIMT_GATHER: Final = Operator(
    _named("GatherCustom"),
    "ascend950",
    (
        Kernel(0, vf_type=VfType.SIMT_VF, simt=f"{SIMT}iEEvPU3AS1T_S2_j"),
        Kernel(1, vf_type=VfType.SIMT_VF, simt=f"{SIMT}lEEvPU3AS1T_S2_j", min_stack=248),
        Kernel(7, vf_type=VfType.NO_VF),
    ),
    (Tensor("tables", "float32", "dynamic"), Tensor("indices", "int64"), Tensor("rows", "int32")),
    (Tensor("out", "float32"),),
    tiling=24,
    flags=A5,
)
PRINTF: Final = Operator(
    _named("BoundsCheckCustom"),
    "ascend950",
    (Kernel(0, vf_type=VfType.SIMT_VF, simt="_Z21BoundsCheckCustomImplIiEvPU3AS1T_j"),),
    (Tensor("indices", "int32"), Tensor("rows", "int64"), Tensor("offsets", "int32")),
    (Tensor("warning", "int64"),),
    tiling=56,
    flags=A5,
    debug="printf",
)
RELOCATABLE: Final = Operator(
    _named("TransposeCustom", "_relocatable"), "ascend910b", (_vector(0), _vector(1))
)

BUILDERS: Final[tuple[tuple[Operator, Callable[[Operator], bytes]], ...]] = (
    (ADD, a2_object),
    (CUBE_ONLY, a2_object),
    (MIX, a2_object),
    (TILING_KEYS, a2_object),
    (SIMT_GATHER, a5_object),
    (PRINTF, a5_object),
    (RELOCATABLE, relocatable_object),
)
FATBIN_NAME: Final = "libadd_kernels.so"
FATBIN_TARGET: Final = ("ascend910b1", "add_kernels")


def fatbin_entries() -> list[tuple[int, bytes]]:
    """A mix, a vector and a cube object, in the order writers use."""
    mix = Operator("mla_custom", "ascend910b", _pair(0), flags=CUBE)
    aiv = Operator("add_custom_half", "ascend910b", (Kernel(0), Kernel(1)))
    aic = Operator("matmul_custom", "ascend910b", (Kernel(0, FuncType.AIC),), flags=CUBE)
    cube = fatbin_object(aic, with_type=True)
    return [(0, fatbin_object(mix)), (1, fatbin_object(aiv)), (2, cube)]


def fixtures() -> dict[str, bytes]:
    """Every file of `fixtures/objects/` by name."""
    files: dict[str, bytes] = {}
    for operator, build in BUILDERS:
        data = build(operator)
        files[f"{operator.stem}.o"] = data
        files[f"{operator.stem}.json"] = sidecar(operator, data)
    files[FATBIN_NAME] = fatbin_library(*FATBIN_TARGET, fatbin(fatbin_entries()))
    return files
