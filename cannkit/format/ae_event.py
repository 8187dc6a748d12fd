"""HwtsTsKernel: a task as the AI CPU engine gets it, and its union as each reader sees it. Spec 05, section 1."""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import ClassVar, Final, NamedTuple, Self

from cannkit.errors import FormatError
from cannkit.format.bits import Record, bits, record, unknown_name
from cannkit.format.cpu_kernel import CpuKernelType

BASE: Final = 8  # AE-101: where kernelBase begins, in either build
FULL_BASE: Final = 64
CLOUD_BASE: Final = 48  # with CFG_SOC_PLATFORM_CLOUD, which no build of the repository defines
SIZES: Final = (BASE + FULL_BASE, BASE + CLOUD_BASE)
WIDEST_NUMBER: Final = 64  # bits; what is wider is bytes
RESERVED: Final = 11  # AE-203: on the device; the host says 99


class AeRecord(Record):
    """A structure in the memory of the AI CPU. `SIGNED` names the fields that have a sign in C."""

    SIGNED: ClassVar[frozenset[str]] = frozenset()

    def value_of(self, name: str) -> int | bytes:
        """A field as C would print it: with its sign, and as bytes where it is no number."""
        value: int = getattr(self, name)
        width = self.SPANS[name].width
        if width > WIDEST_NUMBER:
            return value.to_bytes(width // 8, "little")
        if name in self.SIGNED and value >> width - 1:
            return value - (1 << width)
        return value


# fmt: off
@record(size=48, c_name="HwtsCceKernel")
class CceKernel(AeRecord):
    """AE-102: what the AiCpu and the KFC lib read."""

    #                     word lo width  C name
    func_name_addr: int = bits( 0, 0, 64, "kernelName", address=True, doc="name of the function")
    so_name_addr:   int = bits( 2, 0, 64, "kernelSo", address=True, doc="name of the library, no path")
    args_addr:      int = bits( 4, 0, 64, "paramBase", address=True, doc="parameters")
    l2_addr:        int = bits( 6, 0, 64, "l2VaddrBase", address=True)
    block_id:       int = bits( 8, 0, 32, "blockId", doc="which block this is")
    block_num:      int = bits( 9, 0, 32, "blockNum", doc="blocks of the kernel")
    l2_size:        int = bits(10, 0, 32, "l2Size")
    l2_in_main:     int = bits(11, 0, 32, "l2InMain")


@record(size=16, c_name="HwtsFwkKernel")
class FwkKernel(AeRecord):
    """AE-102: what the framework lib reads. Its last 4 bytes are padding."""

    operate_addr: int = bits(0, 0, 64, "kernel", address=True, doc="STR_FWK_OP_KERNEL")
    size:         int = bits(2, 0, 32, "size", doc="never read")


@record(size=64, c_name="hwts_ts_kernel")
class TsMessage(AeRecord):
    """AE-103: the driver's message, which nobody reads out of the union."""

    SIGNED = frozenset({"pid"})

    pid:            int  = bits( 0,  0, 32, "pid", doc="host process")
    kernel_type:    int  = bits( 1,  0,  8, "kernel_type", doc="handler in the AI CPU engine")
    batch_mode:     bool = bits( 1,  8,  1, "batchMode")
    sat_mode:       bool = bits( 1,  9,  1, "satMode")
    rsp_mode:       bool = bits( 1, 10,  1, "rspMode")
    resv:           int  = bits( 1, 11,  5, "resv")
    stream_id:      int  = bits( 1, 16, 16, "streamID", doc="stream, of messages of version 0")
    func_name_addr: int  = bits( 2,  0, 64, "kernelName", address=True, doc="name of the function")
    so_name_addr:   int  = bits( 4,  0, 64, "kernelSo", address=True, doc="name of the library")
    args_addr:      int  = bits( 6,  0, 64, "paramBase", address=True, doc="parameters")
    l2_addr:        int  = bits( 8,  0, 64, "l2VaddrBase", address=True)
    l2_ctrl:        int  = bits(10,  0, 64, "l2Ctrl", doc="bit 49 data dump, bit 50 debug dump")
    block_id:       int  = bits(12,  0, 16, "blockId", doc="which block this is")
    block_num:      int  = bits(12, 16, 16, "blockNum", doc="blocks of the kernel")
    l2_in_main:     int  = bits(13,  0, 32, "l2InMain")
    task:           int  = bits(14,  0, 64, "taskID", doc="task, in the lower half")


@record(size=8, c_name="BlkDimInfo")
class BlkDimInfo(AeRecord):
    """AE-101: second argument of RunCpuKernelWithBlock; not in the order of HwtsCceKernel."""

    block_num: int = bits(0, 0, 32, "blockNum", doc="blocks of the kernel")
    block_id:  int = bits(1, 0, 32, "blockId", doc="which block this is")
# fmt: on


class Member(StrEnum):
    """A member of the union kernelBase."""

    CCE = "CCE"
    FWK = "FWK"
    HWTS = "HWTS"

    @property
    def c_name(self) -> str:
        """The name in CANN."""
        return f"{self.value.lower()}Kernel"


MEMBERS: Final[dict[Member, type[AeRecord]]] = {
    Member.CCE: CceKernel,
    Member.FWK: FwkKernel,
    Member.HWTS: TsMessage,
}


class Reading(NamedTuple):
    """The union as one of its members. `present` bytes of the record are there, the rest is 0.

    `live`: a lib of the engine takes the task for this one. `note` says who, or that nobody does.
    """

    member: Member
    live: bool
    record: AeRecord
    present: int
    note: str


class TsKernel(NamedTuple):
    """HwtsTsKernel: the kernel type, and kernelBase, 64 bytes or 48 of a cloud build. AE-101.

    `cce` and `fwk` raise FormatError where kernelBase is too short for them.
    """

    kernel_type: int
    base: bytes
    padding: int = 0

    @classmethod
    def of(cls, kernel_type: int, member: AeRecord, *, is_cloud: bool = False) -> Self:
        """A task whose union is `member`. Raises FormatError for values that do not fit."""
        size = CLOUD_BASE if is_cloud else FULL_BASE
        return cls(kernel_type, member.encode()[:size].ljust(size, b"\0"))

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """The task in `raw`, 72 or 56 bytes. Raises FormatError for another length."""
        if len(raw) not in SIZES:
            raise FormatError(f"HwtsTsKernel: {len(raw)} bytes", why=_sizes())
        kernel_type, padding = struct.unpack_from("<II", raw)
        return cls(kernel_type, bytes(raw[BASE:]), padding)

    def encode(self) -> bytes:
        """Its 72 or 56 bytes. Raises FormatError for a union or a number of another size."""
        if BASE + len(self.base) not in SIZES:
            raise FormatError(f"HwtsTsKernel: {BASE + len(self.base)} bytes", why=_sizes())
        for what, number in (("kernelType", self.kernel_type), ("padding", self.padding)):
            if number >> 32:
                why = f"{number:#x} does not fit in 32 bits"
                raise FormatError(f"HwtsTsKernel: no such {what}", why=why)
        return struct.pack("<II", self.kernel_type, self.padding) + self.base

    @property
    def is_cloud(self) -> bool:
        """Whether the union is the shorter one of a cloud build."""
        return len(self.base) == CLOUD_BASE

    @property
    def cce(self) -> CceKernel:
        """The union as the AiCpu and the KFC lib read it."""
        return CceKernel.decode(self.base[: CceKernel.SIZE])

    @property
    def fwk(self) -> FwkKernel:
        """The union as the framework lib reads it."""
        return FwkKernel.decode(self.base[: FwkKernel.SIZE])

    def readings(self) -> tuple[Reading, ...]:
        """The union as each of its members. AE-103. A cloud build has no last 16 bytes of HWTS."""
        live = live_member(self.kernel_type)
        found = []
        for member, kind in MEMBERS.items():
            raw = self.base[: kind.SIZE]
            made = kind.decode(raw.ljust(kind.SIZE, b"\0"))
            note = _note(member, self.kernel_type)
            if len(raw) < kind.SIZE:
                note += f"; of its {kind.SIZE} bytes {len(raw)} are there"
            found.append(Reading(member, member is live, made, len(raw), note))
        return tuple(found)


AICPU_TYPES: Final = (CpuKernelType.AICPU, CpuKernelType.AICPU_CUSTOM)
KFC_TYPES: Final = (CpuKernelType.AICPU_KFC, CpuKernelType.CUSTOM_KFC)


def live_member(kernel_type: int) -> Member | None:
    """The member that the engine reads, None where no lib takes the type. AE-103, AE-503."""
    if kernel_type in AICPU_TYPES or kernel_type in KFC_TYPES:
        return Member.CCE
    return Member.FWK if kernel_type == CpuKernelType.FWK else None


def read_spans(kernel_type: int, *, is_cached: bool = False) -> tuple[tuple[int, int], ...]:
    """The bytes of kernelBase that the engine reads: first, and the one after the last. AE-103.

    `is_cached`: KFC knows the kernel name already, and then asks for no library.
    """
    if kernel_type in KFC_TYPES and is_cached:
        return ((0, 8), (16, 24), (32, 40))
    if live_member(kernel_type) is Member.CCE:
        return ((0, 24), (32, 40))
    return ((0, 8),) if kernel_type == CpuKernelType.FWK else ()


def kernel_type_name(number: int) -> str:
    """What the device calls a kernel type. AE-203: the host has other names for 6 and 11."""
    special = {CpuKernelType.CUSTOM_KFC: "AICPU_CUSTOM_KFC", RESERVED: "RESERVED"}
    if number in special:
        name = special[number]
    elif number != CpuKernelType.RESERVED and CpuKernelType(number).known:
        name = CpuKernelType(number).name
    else:
        name = unknown_name(number)
    return f"KERNEL_TYPE_{name}"


def _note(member: Member, kernel_type: int) -> str:
    """Who reads a member."""
    if member is Member.HWTS:
        return "no reader anywhere"
    if member is not live_member(kernel_type):
        if member is Member.CCE and kernel_type == CpuKernelType.CCE:  # AE-303
            return "no lib; the scheduler runs a logic kernel where kernelSo is 0"
        return "not read"
    if member is Member.FWK:
        return "read by the framework lib, then the block at kernel"
    if kernel_type in KFC_TYPES:
        return "read by the KFC lib, kernelSo only where the kernel name is new"
    return "read by the AiCpu lib"


def _sizes() -> str:
    full, cloud = SIZES
    return f"it has {full} bytes, {cloud} in a cloud build"
