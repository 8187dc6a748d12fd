"""Data types and formats of the tensors of AI CPU operators, by number and name. Spec 07, section 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.errors import UsageError, brief
from cannkit.format.bits import OpenEnum

LONGEST_NAME: Final = 64  # what is longer is no name, and slow to compare
MOST: Final = (1 << 31) - 1  # the number is an int32
NUMBER_PREFIX: Final = "dt:"


class OpDtype(OpenEnum):
    """ge data types (OPR-304); the name is that of a JSON file without `DT_`."""

    FLOAT = 0
    FLOAT16 = 1
    INT8 = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 6
    UINT16 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    DOUBLE = 11
    BOOL = 12
    STRING = 13
    DUAL_SUB_INT8 = 14
    DUAL_SUB_UINT8 = 15
    COMPLEX64 = 16
    COMPLEX128 = 17
    QINT8 = 18
    QINT16 = 19
    QINT32 = 20
    QUINT8 = 21
    QUINT16 = 22
    RESOURCE = 23
    STRING_REF = 24
    DUAL = 25
    VARIANT = 26
    BF16 = 27
    UNDEFINED = 28
    INT4 = 29
    UINT1 = 30
    INT2 = 31
    UINT2 = 32
    COMPLEX32 = 33
    HIFLOAT8 = 34
    FLOAT8_E5M2 = 35
    FLOAT8_E4M3FN = 36
    FLOAT8_E8M0 = 37
    FLOAT6_E3M2 = 38
    FLOAT6_E2M3 = 39
    FLOAT4_E2M1 = 40
    FLOAT4_E1M2 = 41
    HIFLOAT4 = 42

    @property
    def size(self) -> int | None:
        """Bytes of an element as the operator library counts them; None when it knows none."""
        return _SIZES.get(self)

    @property
    def word(self) -> str:
        """The name as numpy and the command line have it, `dt:NUMBER` for a number without name."""
        if not self.known:
            return f"{NUMBER_PREFIX}{self.value}"
        return _WORDS.get(self, self.name.lower())


_SIZES: Final[Mapping[int, int]] = {  # OPR-304: a type below one byte counts as one
    number: size
    for size, numbers in {
        1: (2, 4, 12, 14, 15, 18, 21, 29, 30, 31, 32, 34, 35, 36, 37, 40, 41),
        2: (1, 6, 7, 19, 22, 27),
        4: (0, 3, 8, 20, 33),
        5: (25,),
        8: (9, 10, 11, 16),
        16: (17,),
    }.items()
    for number in numbers
}
_WORDS: Final[Mapping[int, str]] = {
    OpDtype.FLOAT: "float32",
    OpDtype.DOUBLE: "float64",
    OpDtype.BF16: "bfloat16",
}
_SHORT: Final[Mapping[str, OpDtype]] = {  # OPR-1304
    "f16": OpDtype.FLOAT16,
    "f32": OpDtype.FLOAT,
    "f64": OpDtype.DOUBLE,
    "bf16": OpDtype.BF16,
    "i8": OpDtype.INT8,
    "i16": OpDtype.INT16,
    "i32": OpDtype.INT32,
    "i64": OpDtype.INT64,
    "u8": OpDtype.UINT8,
    "u16": OpDtype.UINT16,
    "u32": OpDtype.UINT32,
    "u64": OpDtype.UINT64,
    "c64": OpDtype.COMPLEX64,
    "c128": OpDtype.COMPLEX128,
}
DT_NAMES: Final[
    Mapping[str, OpDtype]
] = {  # as JSON files write them; the kernel header has BFLOAT16
    **{f"DT_{dtype.name}": dtype for dtype in OpDtype},
    "DT_BFLOAT16": OpDtype.BF16,
}
_SPELLINGS: Final[Mapping[str, OpDtype]] = {
    **{name.lower(): dtype for name, dtype in DT_NAMES.items()},
    **{dtype.name.lower(): dtype for dtype in OpDtype},
    **{dtype.word: dtype for dtype in OpDtype},
    **_SHORT,
}
_WRITTEN: Final[Mapping[str, str]] = {  # in hints
    name: name.upper() if name.startswith("dt_") else name for name in _SPELLINGS
}


class DataFormat(OpenEnum):
    """ge tensor formats (OPR-305)."""

    NCHW = 0
    NHWC = 1
    ND = 2
    NC1HWC0 = 3
    FRACTAL_Z = 4
    NC1C0HWPAD = 5
    NHWC1C0 = 6
    FSR_NCHW = 7
    FRACTAL_DECONV = 8
    C1HWNC0 = 9
    FRACTAL_DECONV_TRANSPOSE = 10
    FRACTAL_DECONV_SP_STRIDE_TRANS = 11
    NC1HWC0_C04 = 12
    FRACTAL_Z_C04 = 13
    CHWN = 14
    FRACTAL_DECONV_SP_STRIDE8_TRANS = 15
    HWCN = 16
    NC1KHKWHWC0 = 17
    BN_WEIGHT = 18
    FILTER_HWCK = 19
    HASHTABLE_LOOKUP_LOOKUPS = 20
    HASHTABLE_LOOKUP_KEYS = 21
    HASHTABLE_LOOKUP_VALUE = 22
    HASHTABLE_LOOKUP_OUTPUT = 23
    HASHTABLE_LOOKUP_HITS = 24
    C1HWNCoC0 = 25
    MD = 26
    NDHWC = 27
    FRACTAL_ZZ = 28
    FRACTAL_NZ = 29
    NCDHW = 30
    DHWCN = 31
    NDC1HWC0 = 32
    FRACTAL_Z_3D = 33
    CN = 34
    NC = 35
    DHWNC = 36
    FRACTAL_Z_3D_TRANSPOSE = 37
    FRACTAL_ZN_LSTM = 38
    FRACTAL_Z_G = 39
    RESERVED = 40
    ALL = 41
    NULL = 42
    ND_RNN_BIAS = 43
    FRACTAL_ZN_RNN = 44
    NYUV = 45
    NYUV_A = 46
    NCL = 47
    FRACTAL_Z_WINO = 48
    C1HWC0 = 49
    FRACTAL_NZ_C0_16 = 50
    FRACTAL_NZ_C0_32 = 51


_FORMATS: Final[Mapping[str, DataFormat]] = {form.name.lower(): form for form in DataFormat}


def find_op_dtype(text: str) -> OpDtype:
    """The data type of a name as OPR-1304 has them, of a `DT_` name, or of `dt:NUMBER`.

    Raises UsageError with the nearest names.
    """
    name = text.lower()
    names: Mapping[str, str] = _WRITTEN
    if name.startswith(NUMBER_PREFIX):
        names = {}
        digits = name.removeprefix(NUMBER_PREFIX)
        if digits.isdecimal() and len(digits) < LONGEST_NAME and int(digits) <= MOST:
            return OpDtype(int(digits))
    elif (found := _SPELLINGS.get(name)) is not None:
        return found
    raise _unknown("data type", text, names, "f32, i64, dt:NUMBER, ...")


def find_format(text: str) -> DataFormat:
    """The format of a name, in any case; raises UsageError with the nearest names."""
    if (found := _FORMATS.get(text.lower())) is None:
        names = {name: form.name for name, form in _FORMATS.items()}
        raise _unknown("format", text, names, "ND, NCHW, NHWC, ...")
    return found


def _unknown(what: str, text: str, names: Mapping[str, str], others: str) -> UsageError:
    """`names` says how each spelling is written in the hint."""
    from difflib import get_close_matches

    close = get_close_matches(text.lower()[:LONGEST_NAME], names, n=3, cutoff=0.5)
    near = [names[name] for name in close]
    hint = f"did you mean {', '.join(near)}?" if near else f"one of {others}"
    return UsageError(f"unknown {what} {brief(text)!r}", hint=hint)
