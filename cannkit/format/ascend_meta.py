"""Tags and tables of `.ascend.meta`, `.ascend.meta.<kernel>` and the stack and argument sections.

Spec 01, sections 5, 6 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.format.bits import OpenEnum
from cannkit.format.tlv import Entry, UintEntry, wide

BINARY_SECTION: Final = ".ascend.meta"
FUNCTION_SECTION: Final = ".ascend.meta."
STACK_SECTION: Final = ".ascend.stack.size.record"
ARG_SIZE_SECTION: Final = "__CCE_KernelArgSize"
DATA_SECTION: Final = ".data"

STACK_SIZES: Final = (16384, 32768)  # STK-02
STACK_VERSION_MAGIC: Final = 0x5A5A  # STK-04, in the upper half of e_version
STACK_VERSION_SIZES: Final = {1: 16384, 2: 32768}  # STK-04, by the second lowest byte


class BinaryMeta(OpenEnum):
    """TLV types of `.ascend.meta`. Spec 01, section 5."""

    BIN_VERSION = 0
    DEBUG_INFO = 1
    DYNAMIC_PARAM = 2
    OPTIONAL_PARAM = 3
    RUNTIME_IMPLICIT_INFO = 4
    SK_INFO = 5


class FunctionMeta(OpenEnum):
    """TLV types of `.ascend.meta.<kernel>`. Spec 01, section 6.2."""

    KERNEL_TYPE = 1
    CROSS_CORE = 2
    MIX_TASK_RATION = 3
    DFX_TYPE = 4
    DFX_ARG_INFO = 5
    L0_EXCEPTION_DFX_IS_TIK = 6
    COMPILER_ALLOC_UB_SIZE = 7
    SU_STACK_SIZE = 8
    SIMT_WARP_STACK_SIZE = 9
    SIMT_DVG_WARP_STACK_SIZE = 10
    EARLY_START_ENABLE = 11
    AIV_TYPE_FLAG = 12
    DETERMINISTIC_INFO = 13
    FUNCTION_ENTRY_INFO = 14
    BLOCK_DIM_INFO = 15
    PARAM_SUMMARY = 16
    PARAM_INFO = 17
    SCHED_MODE_INFO = 18


class FuncType(OpenEnum):
    """KERNEL_TYPE: which cores a kernel runs on."""

    INVALID = 0
    AICORE = 1
    AIC = 2
    AIV = 3
    MIX_AIC_MAIN = 4
    MIX_AIV_MAIN = 5
    AIC_ROLLBACK = 6
    AIV_ROLLBACK = 7


class VfType(OpenEnum):
    """AIV_TYPE_FLAG: which vector functions a kernel calls."""

    NONE = 0
    NO_VF = 1
    SIMD_VF = 2
    SIMT_VF = 3
    SIMD_SIMT_MIX = 4


class EntryFlag(OpenEnum):
    """FUNCTION_ENTRY_INFO: whether the kernel is found by its entry."""

    ENABLED = 0x00
    DISABLED = 0x80


class ImplicitFeature(OpenEnum):
    """RUNTIME_IMPLICIT_INFO: what a binary asks the runtime for. BIN-02."""

    SIMD_PRINTF = 1
    FFTS = 2
    L2_CACHE_HINT = 3
    SIMT_PRINTF = 4
    SIMD_ASSERT = 5

    @property
    def mask(self) -> int:
        """The bit of ascendMetaFlag."""
        return 1 << (self - 1)


LAST_IMPLICIT_FEATURE: Final = 32  # BIN-01: 6 to 32 set a bit that nothing reads

# SYM-16: a symbol the runtime writes a device address to, and the flag bits that make it do so.
IMPLICIT_SYMBOLS: Mapping[str, int] = {
    "g_sysPrintFifoSpace": ImplicitFeature.SIMD_PRINTF.mask | ImplicitFeature.SIMD_ASSERT.mask,
    "g_sysFftsAddr": ImplicitFeature.FFTS.mask,
    "g_opL2CacheHintCfg": ImplicitFeature.L2_CACHE_HINT.mask,
    "g_sysSimtPrintFifoSpace": ImplicitFeature.SIMT_PRINTF.mask,
}

# Bits of DEBUG_INFO's debug_options, in the words of the sidecar's debugOptions.
DEBUG_OPTIONS: Mapping[str, int] = {"printf": 1, "assert": 2, "timestamp": 4, "oom": 8}

# fmt: off
BINARY_META: Mapping[int, Entry] = {
    BinaryMeta.BIN_VERSION:           Entry("I",     version=int),
    BinaryMeta.DEBUG_INFO:            Entry("II",    debug_buf_size=int, debug_options=int),
    BinaryMeta.DYNAMIC_PARAM:         Entry("HH",    reserved=int, mode=int),
    BinaryMeta.OPTIONAL_PARAM:        Entry("HH",    input_mode=int, output_mode=int),
    BinaryMeta.RUNTIME_IMPLICIT_INFO: Entry("I",     feature=int),
    BinaryMeta.SK_INFO:               Entry("IQQ4Q", reserved=int, cap=wide, global_function=wide,
                                            super_kernel_function_0=wide,
                                            super_kernel_function_1=wide,
                                            super_kernel_function_2=wide,
                                            super_kernel_function_3=wide),
}

FUNCTION_META: Mapping[int, Entry] = {
    FunctionMeta.KERNEL_TYPE:              Entry("I",     func_type=FuncType),
    FunctionMeta.CROSS_CORE:               Entry("I",     cross_core_sync=int),
    FunctionMeta.MIX_TASK_RATION:          Entry("HH",    ratio_aic=int, ratio_aiv=int),
    FunctionMeta.L0_EXCEPTION_DFX_IS_TIK:  Entry("I",     is_tik=int),
    FunctionMeta.COMPILER_ALLOC_UB_SIZE:   Entry("I",     ub_size=int),
    FunctionMeta.SU_STACK_SIZE:            UintEntry("min_stack_size"),
    FunctionMeta.SIMT_WARP_STACK_SIZE:     Entry("I",     warp_stack_size=int),
    FunctionMeta.SIMT_DVG_WARP_STACK_SIZE: Entry("I",     dvg_warp_stack_size=int),
    FunctionMeta.EARLY_START_ENABLE:       Entry("I",     early_start=int),
    FunctionMeta.AIV_TYPE_FLAG:            Entry("I",     vf_type=VfType),
    FunctionMeta.DETERMINISTIC_INFO:       Entry("I",     deterministic=int),
    FunctionMeta.FUNCTION_ENTRY_INFO:      Entry("B3xQ",  flag=int, function_entry=wide),
    FunctionMeta.BLOCK_DIM_INFO:           Entry("I",     block_dim=int),
    FunctionMeta.PARAM_SUMMARY:            Entry("IQ",    param_count=int, param_total_size=int),
    FunctionMeta.PARAM_INFO:               Entry("IIIIHHIIII", index=int, ordinal=int, offset=int,
                                                 size=int, align=int, type=int, space_index=int,
                                                 space_type=int, space=int, reserved=int),
    FunctionMeta.SCHED_MODE_INFO:          UintEntry("sched_mode"),
}
# fmt: on
