"""Records that hand the library of an AI CPU program to the device. Spec 03, section 5 (CPU-5)."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.errors import FormatError
from cannkit.format.tlv import Entry, wide

LOAD_KERNEL: Final = "batchLoadsoFrombuf"  # CPU-6
UNLOAD_KERNEL: Final = "deleteCustOp"

# fmt: off
#                          C: kernelSoBuf,     kernelSoBufLen, kernelSoName,      kernelSoNameLen
CPU_SO_BUF: Final = Entry("QIQI", so_address=wide, so_size=int, name_address=wide, name_size=int)
#                          C: soNum,       args
BATCH_ARGS: Final = Entry("IQ", so_count=int, address=wide)
# fmt: on


class CpuSoBuf(NamedTuple):
    """One library (LoadOpFromBufArgs): where its bytes and its name are on the device, and how long.

    The name has no NUL. To unload, the address of the bytes is 0 while their number stays.
    """

    so_address: int
    so_size: int
    name_address: int
    name_size: int

    def encode(self) -> bytes:
        """The 24 bytes."""
        return CPU_SO_BUF.encode("little", **self._asdict())


class BatchArgs(NamedTuple):
    """The argument of both kernels (BatchLoadOpFromBufArgs): an array of `so_count` CpuSoBuf."""

    so_count: int
    address: int

    def encode(self) -> bytes:
        """The 12 bytes."""
        return BATCH_ARGS.encode("little", **self._asdict())


def decode_so_buf(raw: bytes) -> CpuSoBuf:
    """A CpuSoBuf from its bytes; raises FormatError when there are less than 24."""
    return CpuSoBuf(**_fields(CPU_SO_BUF, raw))


def decode_batch_args(raw: bytes) -> BatchArgs:
    """A BatchArgs from its bytes; raises FormatError when there are less than 12."""
    return BatchArgs(**_fields(BATCH_ARGS, raw))


def _fields(layout: Entry, raw: bytes) -> dict[str, int]:
    values = layout.decode(raw, "little")
    if values is None:
        why = f"{len(raw)} bytes, the record takes {layout.size}"
        raise FormatError("record cut off", why=why, rule="CPU-5")
    return values
