"""plan_arguments: which arguments a kernel takes, and how they make its block. Spec 04, section 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from cannkit.device.trace import Finding, Severity
from cannkit.errors import brief
from cannkit.format.dfx import DfxArgs
from cannkit.image.kernel_object import KernelImage
from cannkit.runtime.arg_dfx import DfxPlan
from cannkit.runtime.arg_open import OpenPlan, ParamPlan
from cannkit.runtime.arg_slots import slots_of
from cannkit.runtime.arg_values import Slot, UserArg
from cannkit.runtime.args import WORD, ArgsArray, ArgsBlock, ArgsEx
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program

OOM: Final = "oom"  # DFX-06, a debug option of the compiler


class ArgPlan(Protocol):
    """What is known of the arguments of one kernel. Frozen; made once for many launches.

    Arguments are a list of ints (addresses, or other numbers of 64 bits), bytes (tiling data where
    the kernel takes those, else a value), None (null) and UserArg; or one block as bytes.
    """

    @property
    def source(self) -> str:
        """Where it is known from: `PARAM_INFO`, `DFX`, `none`."""

    @property
    def args_size(self) -> int | None:
        """Bytes of the arguments by metadata, without what their words point at; None: unknown."""

    @property
    def pointers(self) -> tuple[int, ...]:
        """Offsets of 8-byte words that metadata says are pointers."""

    @property
    def remarks(self) -> tuple[Finding, ...]:
        """Where metadata contradict each other."""

    def check(self, args: object) -> None:
        """Raises UsageError, naming the argument, for what the kernel does not take."""

    def resolve(self, args: object) -> tuple[UserArg, ...]:
        """The same, and what each argument is."""

    def bind(
        self, args: object, *, ffts: int = 0, overflow: int = 0
    ) -> tuple[ArgsEx | ArgsArray, tuple[Slot, ...]]:
        """What is launched, and its slots; `ffts` and `overflow` are what system slots hold."""

    def block(self, args: object, *, ffts: int = 0, overflow: int = 0) -> ArgsBlock:
        """The same without slots, faster."""

    def pack(self, values: Sequence[int], *, ffts: int = 0, overflow: int = 0) -> bytes:
        """The block of arguments that are all numbers, fast."""


def plan_arguments(program: Program, kernel: Kernel) -> ArgPlan:
    """The plan of a kernel: from PARAM_INFO, else its DFX records, else from nothing."""
    if not isinstance(program, ElfProgram):
        return OpenPlan(kernel, program.soc)
    images = program.images_of(dict.fromkeys(kernel.symbols))
    described = [image for image in images if image.dfx and _is_whole(image.dfx)]
    if kernel.has_param_summary and (kernel.params or not described):
        return ParamPlan(kernel)
    sizes = [image.arg_size for image in images if image.arg_size is not None]
    if not described:
        return OpenPlan(kernel, program.soc, sizes[0] if sizes else None)
    dfx = described[0].dfx
    assert dfx is not None
    obj = program.obj
    sidecar = obj.sidecar.sidecar if obj.sidecar else None
    options = (sidecar.debug_options or "") if sidecar else ""
    remarks = _contradictions(kernel, described, sizes, sidecar.op_para_size if sidecar else None)
    slots = slots_of(dfx.args, dtype_bits=obj.dfx_dtype_bits, has_oom=OOM in options)
    return DfxPlan(slots, remarks)


def _is_whole(dfx: DfxArgs) -> bool:
    """Whether the records name every slot. DFX-02."""
    return not dfx.problem and bool(dfx.args) and dfx.arg_info_count == len(dfx.args)


def _contradictions(
    kernel: Kernel, described: Sequence[KernelImage], sizes: Sequence[int], op_para_size: int | None
) -> list[Finding]:
    """DFX-06, DFX-10: what object and sidecar say twice, and not the same; the records count."""
    where = f"kernel {brief(kernel.name)}"
    found = []
    first = described[0].dfx
    assert first is not None
    table = WORD * len(first.args)
    if any(image.dfx != first for image in described):
        message = "the halves of the mix take different arguments: those of the first count"
        found.append(_remark("DFX-08", where, message))
    if any(size != table for size in sizes):
        stated = ", ".join(map(str, dict.fromkeys(sizes)))
        message = f"__CCE_KernelArgSize says {stated} bytes of arguments, the DFX records {table}"
        found.append(_remark("DFX-10", where, message))
    if None not in (first.tiling_size, op_para_size) and first.tiling_size != op_para_size:
        message = f"opParaSize is {op_para_size}, the TILING record says {first.tiling_size} bytes"
        found.append(_remark("DFX-06", where, message))
    return found


def _remark(rule: str, where: str, message: str) -> Finding:
    return Finding(rule, Severity.WARNING, f"{where}: {message}")
