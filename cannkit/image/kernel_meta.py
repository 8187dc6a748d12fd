"""KernelMeta: the TLVs of one kernel over the runtime's defaults. Spec 01, section 6."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from cannkit.errors import ReadWarning
from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.dfx import DfxArgs
from cannkit.format.tlv import Tlv

DEFAULT_STACK: Final = 32768  # FUN-06: the process stack size without `aicore_stack_size`
DEFAULT_RATIO: Final = 2
ARGS_WITHOUT_META: Final = 128  # 6.3: a kernel without any meta section
PADDING: Final = "PADDING"  # the name of a record that only fills a gap


class EntryKind(StrEnum):
    """How the runtime finds a kernel by entry. FUN-07."""

    TILING_KEY = "tiling_key"
    FUNCTION_ENTRY = "function_entry"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Param:
    """A PARAM_INFO record: where argument `ordinal` lies in the packed argument buffer, bytes."""

    index: int = 0
    ordinal: int = 0
    offset: int = 0
    size: int = 0
    align: int = 0
    type: int = 0
    space_index: int = 0
    space_type: int = 0
    space: int = 0
    reserved: int = 0


class Refusal(NamedTuple):
    """Why the runtime (or cannkit, where the runtime would read out of bounds) refuses an object.

    `rt` is False for a strictness of cannkit alone.
    """

    rule: str
    message: str
    rt: bool = True


class Record(NamedTuple):
    """A TLV with its decoded fields; None for padding, an unknown type or a short value."""

    tlv: Tlv
    name: str
    value: dict[str, int] | None


class KernelMeta(NamedTuple):
    """What the runtime believes of a kernel; sizes in bytes. Spec 01, section 6.3.

    The defaults are those of a kernel whose meta section lacks the record.
    """

    func_type: FuncType = FuncType.INVALID
    cross_core_sync: int = 0
    task_ratio: tuple[int, int] | None = None  # cube : vector as recorded
    task_ratio_value: int = DEFAULT_RATIO
    user_args: int = 0
    vf_type: VfType = VfType.NONE
    ub_size: int = 0
    min_stack_size: int = 0
    early_start: bool = False
    entry_kind: EntryKind = EntryKind.TILING_KEY
    function_entry: int = 0
    sched_mode: int = 0
    has_param_summary: bool = False
    params: tuple[Param, ...] = ()
    param_total_size: int = 0


NO_META: Final = KernelMeta(user_args=ARGS_WITHOUT_META)


class MetaReading(NamedTuple):
    """A meta section read: bytes, effective values, records in order, DFX, and what is wrong."""

    size: int
    meta: KernelMeta
    records: tuple[Record, ...]
    dfx: DfxArgs | None
    refusals: tuple[Refusal, ...]
    warnings: tuple[ReadWarning, ...]
