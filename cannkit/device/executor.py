"""Executors: what runs a task that the scheduler found in order. Spec 04, section 6, step 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntFlag, StrEnum
from typing import Final, NamedTuple, Protocol

from cannkit.device.allocation import Bytes
from cannkit.device.code_map import FunctionFacts
from cannkit.device.memory import DeviceMemory
from cannkit.errors import brief
from cannkit.format.bits import Record
from cannkit.soc import Soc


class ErrorType(IntFlag):
    """Bits of errorType; the lowest one set decides. LCH-69."""

    NONE = 0
    EXCEPTION = 0x01
    TRAP = 0x02  # on A5 a bus error
    TIMEOUT = 0x04
    SQE_ERROR = 0x08
    CONFLICT = 0x10
    STATUS = 0x20  # the code is in errorCode


class Outcome(NamedTuple):
    """How a task ended: errorType (0: well) and errorCode of LCH-67, and a line for people."""

    error_type: int = 0
    error_code: int = 0
    note: str = ""


DONE: Final = Outcome()


class Core(StrEnum):
    """A kind of core."""

    AIC = "aic"
    AIV = "aiv"


class Work(NamedTuple):
    """A task as its executor gets it: the decoded entry, and what LCH-49 and LCH-50 make of it.

    `dim` counts blocks of the main side, `ratio` the sub-blocks (AIC, AIV) of each. Program counters
    and argument addresses are 0 on a side that is not used. An AI CPU task has the entry alone.
    """

    sqe: Record
    context: Record | None
    soc: Soc
    memory: DeviceMemory
    queue: int
    position: int
    dim: int = 0
    ratio: tuple[int, int] = (0, 0)
    aic_pc: int = 0
    aiv_pc: int = 0
    aic_args: int = 0
    aiv_args: int = 0
    facts: FunctionFacts | None = None

    @property
    def aic(self) -> int:
        """Blocks on cube cores. LCH-50."""
        return self.dim * self.ratio[0]

    @property
    def aiv(self) -> int:
        """Blocks on vector cores. LCH-50."""
        return self.dim * self.ratio[1]


class Executor(Protocol):
    """Runs tasks. It tells of a failure by its outcome, never by an exception."""

    def execute(self, work: Work) -> Outcome:
        """Run one task to its end."""


class HostModelTimeout(Exception):  # noqa: N818  (an end of its own, like StopIteration)
    """A host model took more steps than it may."""


class BlockContext:
    """One run of a host model: sub-block `sub_block` of `sub_blocks` in block `block` of `blocks`.

    `core` is what it runs on, `soc` the name of the chip, `args_address` where its arguments lie.
    Memory is that of the device: an access that the device may not make raises DeviceFaultError.
    """

    __slots__ = (
        "_memory",
        "args_address",
        "block",
        "blocks",
        "core",
        "soc",
        "sub_block",
        "sub_blocks",
    )

    def __init__(self, work: Work, core: Core, block: int, sub_block: int) -> None:
        is_vector = core is Core.AIV
        self.block = block
        self.blocks = work.dim
        self.sub_block = sub_block
        self.sub_blocks = work.ratio[is_vector]
        self.core = core
        self.soc = work.soc.name
        self.args_address = work.aiv_args if is_vector else work.aic_args
        self._memory = work.memory

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes of device memory."""
        return self._memory.read(address, size)

    def write(self, address: int, data: Bytes) -> None:
        """Write bytes to device memory."""
        self._memory.write(address, data, by_device=True)

    def view(self, address: int, size: int) -> memoryview:
        """`size` bytes of device memory in place, read-only where the device must not write."""
        return self._memory.view(address, size, by_device=True)


HostModel = Callable[[BlockContext], object]


class HostModels:
    """Host models by function address. Changes.

    `failure` is the last exception that one raised, for whoever wants to see where it came from.
    """

    def __init__(self) -> None:
        self.functions: dict[int, HostModel] = {}
        self.failure: BaseException | None = None

    def bind(self, address: int, model: HostModel) -> None:
        """Run `model` for a function, in place of what was bound to its address."""
        self.functions[address] = model

    def unbind(self, address: int) -> None:
        """Run nothing for a function; nothing happens where nothing was bound."""
        self.functions.pop(address, None)

    def clear(self) -> None:
        """Unbind every function."""
        self.functions.clear()
        self.failure = None

    def execute(self, work: Work) -> Outcome:
        """Call the model of a task once for each block and sub-block; without one all is well.

        It is found by either program counter. The first block that fails ends the task: bit 2 of
        errorType for a timeout, bit 0 for any other exception.
        """
        model = self.functions.get(work.aic_pc) or self.functions.get(work.aiv_pc)
        if model is None:
            return DONE
        for context in block_contexts(work):
            try:
                model(context)
            except KeyboardInterrupt:
                raise
            except (
                BaseException
            ) as error:  # CancelledError and its kind end the task, not the device
                self.failure = error
                return Outcome(_error_type(error), 0, _failure(context, error))
        return DONE


def block_contexts(work: Work) -> Iterator[BlockContext]:
    """LCH-50: in each block the sub-blocks on cube cores, then those on vector cores."""
    aic, aiv = work.ratio
    for block in range(work.dim):
        for sub_block in range(aic):
            yield BlockContext(work, Core.AIC, block, sub_block)
        for sub_block in range(aiv):
            yield BlockContext(work, Core.AIV, block, sub_block)


class AbsentAicpu:
    """The AI CPU of a device without an engine: every task ends well, and nothing was done."""

    def execute(self, work: Work) -> Outcome:
        """Say so."""
        return Outcome(note="not executed: AE absent")


def _error_type(error: BaseException) -> ErrorType:
    return ErrorType.TIMEOUT if isinstance(error, HostModelTimeout) else ErrorType.EXCEPTION


def _failure(context: BlockContext, error: BaseException) -> str:
    """One line: where, and the exception."""
    try:
        text = brief(" ".join(str(error).split()))
    except KeyboardInterrupt:
        raise
    except BaseException:  # its own __str__ fails
        text = ""
    where = f"{context.core.upper()} block {context.block}, sub-block {context.sub_block}"
    return f"host model raised in {where}: {type(error).__name__}" + (f": {text}" if text else "")
