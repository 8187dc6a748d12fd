"""Which variables of an image the loader fills with addresses. Spec 03, DEV-19."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from cannkit.format.ascend_meta import ImplicitFeature
from cannkit.image.kernel_object import KernelObject
from cannkit.image.layout import WRAP

ADDRESS_SIZE: Final = 8  # a patch writes one u64


class Refresh(Enum):
    """What the loader writes."""

    PRINT = "SIMD printf buffer, with a reader"
    FFTS = "C2C control address"
    L2_CACHE = (
        "L2 cache offset"  # where the driver does not support it, the patches behind it are skipped
    )
    SIMT_PRINT = "SIMT printf buffer"
    ASSERT = "SIMD printf buffer, without a reader"


class SymbolPatch(NamedTuple):
    """One u64 to write before the image is copied: where in the file, and where in the image."""

    name: str
    refresh: Refresh
    file_offset: int
    image_offset: int

    def fits(self, size: int) -> bool:
        """Q-8: whether all of it lies in a file of `size` bytes."""
        return self.file_offset + ADDRESS_SIZE <= size


PRINTING: Final = ImplicitFeature.SIMD_PRINTF.mask | ImplicitFeature.SIMT_PRINTF.mask

# The bit that asks for it, the bits that must be clear, the symbol, the value; in order of writing.
ORDER: Final = (
    (ImplicitFeature.SIMD_PRINTF, 0, "g_sysPrintFifoSpace", Refresh.PRINT),
    (ImplicitFeature.FFTS, 0, "g_sysFftsAddr", Refresh.FFTS),
    (ImplicitFeature.L2_CACHE_HINT, 0, "g_opL2CacheHintCfg", Refresh.L2_CACHE),
    (ImplicitFeature.SIMT_PRINTF, 0, "g_sysSimtPrintFifoSpace", Refresh.SIMT_PRINT),
    (ImplicitFeature.SIMD_ASSERT, PRINTING, "g_sysPrintFifoSpace", Refresh.ASSERT),
)


def symbol_patches(obj: KernelObject) -> Iterator[SymbolPatch]:
    """The patches of an object, in order; also those that do not fit."""
    flags = obj.implicit_flags
    if not flags:
        return
    variables = {variable.name: variable for variable in obj.variables}
    for feature, unless, name, refresh in ORDER:
        variable = variables.get(name)
        if variable is not None and flags & feature.mask and not flags & unless:
            file_offset = (variable.offset + obj.text_offset) % WRAP
            yield SymbolPatch(name, refresh, file_offset, variable.offset)
