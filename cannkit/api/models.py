"""ModelContext: what a host model sees of one block of its kernel. cli.md, section 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

from cannkit.api.values import Dtype, Kind, find_dtype, unpack
from cannkit.device.allocation import Bytes
from cannkit.device.executor import BlockContext, HostModel
from cannkit.errors import UsageError
from cannkit.runtime.arg_values import ArgKind, Slot, UserArg
from cannkit.runtime.args import WORD

LAYERS: Final = 64  # of functools.partial and methods around a function
UNSTARTED: Final = {
    CO_GENERATOR: "a generator function",
    CO_COROUTINE: "an async function",
    CO_ASYNC_GENERATOR: "an async generator",
}
HALTED: Final = (GeneratorType, CoroutineType, AsyncGeneratorType)


class ModelContext:
    """One call of a host model: it does the work of a block, or of a sub-block of a mix kernel.

    Everything is read from the memory of the device, through the argument block, when it is asked
    for: what is written there is what the next block finds.
    """

    __slots__ = ("_args", "_block", "_slots")

    def __init__(
        self, block: BlockContext, args: Sequence[UserArg] = (), slots: Sequence[Slot] = ()
    ) -> None:
        self._block = block
        self._args = args
        self._slots = slots

    def __repr__(self) -> str:
        block = self._block
        return (
            f"<ModelContext {block.core} block {block.block}.{block.sub_block} of {block.blocks}>"
        )

    @property
    def block(self) -> int:
        """The number of the block, from 0 on."""
        return self._block.block

    @property
    def blocks(self) -> int:
        """How many blocks were launched."""
        return self._block.blocks

    @property
    def sub_block(self) -> int:
        """The number of the sub-block on this kind of core, from 0 on."""
        return self._block.sub_block

    @property
    def sub_blocks(self) -> int:
        """How many sub-blocks a block has on this kind of core."""
        return self._block.sub_blocks

    @property
    def core(self) -> str:
        """`aic` for a cube core, `aiv` for a vector core."""
        return self._block.core.value

    @property
    def soc(self) -> str:
        """The name of the chip."""
        return self._block.soc

    @property
    def args_address(self) -> int:
        """Where the argument block lies on the device."""
        return self._block.args_address

    @property
    def tiling(self) -> bytes:
        """The tiling data; nothing where none were given."""
        for index, arg in enumerate(self._args):
            if arg.kind is ArgKind.TILING:
                found = self.arg(index)
                return b"" if found is None else bytes(found)
        return b""

    def arg(self, index: int) -> Any:
        """Argument `index` of the user, from 0 on; what the runtime adds does not count.

        A tensor or workspace is a live view of its memory, bounds checked: a numpy array of its dtype
        and shape where numpy is installed, else a memoryview. What either has no type for comes as
        the nearest: bf16, and without numpy f16, as the 16 bits of each value; a complex number
        without numpy as two floats in one dimension more. Without a dtype it is a memoryview of bytes.
        A scalar is a number, or bytes without a dtype; tiling data are bytes, null is None, and an
        address that was given as one is an int. Raises IndexError, DeviceFaultError.
        """
        if not 0 <= index < len(self._args):
            raise IndexError(f"no argument {index}: {len(self._args)} were given")
        arg = self._args[index]
        slot, *behind = (each for each in self._slots if each.index == index)
        raw = self.read(self.args_address + slot.offset, slot.size)
        if arg.kind is ArgKind.NULL:
            return None
        if arg.kind is ArgKind.SCALAR and not behind:
            return unpack(find_dtype(arg.dtype), raw)[0] if arg.dtype else raw
        address = int.from_bytes(raw, "little")
        if arg.kind is ArgKind.ADDRESS:
            return address
        if arg.data is not None:
            return self.read(address, len(arg.data))
        if behind:  # DFX-07: a list of one tensor, whose address comes last
            last = self.read(address + behind[0].size - WORD, WORD)
            address = int.from_bytes(last, "little")
        view = self._block.view(address, arg.size)
        return typed_view(view, find_dtype(arg.dtype), arg.shape) if arg.dtype else view

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes of device memory. Raises DeviceFaultError."""
        return self._block.read(address, size)

    def write(self, address: int, data: Bytes) -> None:
        """Write bytes to device memory. Raises DeviceFaultError."""
        self._block.write(address, data)


Model = Callable[[ModelContext], object]
Given = tuple[Sequence[UserArg], Sequence[Slot]]  # the arguments of a launch, and their slots


def device_model(model: Model, arguments_at: Callable[[int], Given]) -> HostModel:
    """What the device calls to run `model`; `arguments_at` tells what lies at an argument address.

    Raises UsageError as `check_model` does. A model that gives back what has still to run fails.
    """
    check_model(model)

    def run(block: BlockContext) -> object:
        args, slots = arguments_at(block.args_address)
        result = model(ModelContext(block, args, slots))
        if result is not None:
            _check_result(result)
        return result

    return run


def check_model(model: object) -> None:
    """Raise UsageError for a host model that a call would not run, as an async function."""
    for _ in range(LAYERS):
        if type(model) is partial:
            model = model.func
        elif type(model) is MethodType:
            model = model.__func__
    if type(model) is not FunctionType:
        model = getattr(type(model), "__call__", None)  # noqa: B004  (which code it is)
    if type(model) is FunctionType:
        for flag, what in UNSTARTED.items():
            if model.__code__.co_flags & flag:
                raise UsageError(f"a host model is a plain function, not {what}: nothing would run")


def _check_result(result: object) -> None:
    """Raise TypeError for what has still to run."""
    if isinstance(result, CoroutineType) and not result.cr_suspended:
        result.close()  # else Python warns that nobody waited for it
    if isinstance(result, HALTED) or hasattr(type(result), "__await__"):
        raise TypeError(f"it gave back what nobody runs: {type(result).__name__}")


def typed_view(raw: memoryview, dtype: Dtype, shape: tuple[int, ...]) -> Any:
    """The values in `raw`, in place, as an array of numpy or as a memoryview. See ModelContext.arg."""
    numpy = _numpy()
    if numpy is not None:
        return numpy.ndarray(shape, dtype.numpy, raw)
    code: Any = dtype.view
    if dtype.kind is Kind.COMPLEX:
        shape = (*shape, 2)
    if 0 in shape:  # a memoryview has no such shape
        return raw.cast(code)
    return raw.cast(code, shape)


@cache
def _numpy() -> ModuleType | None:
    from importlib import import_module

    try:
        return import_module("numpy")
    except ImportError:
        return None
