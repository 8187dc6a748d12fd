"""Arguments of an operator as numpy arrays, and arrays of what it gave back. numpy is loaded when one is made."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from cannkit.errors import UsageError, brief
from cannkit.format.op_dtypes import OpDtype, find_op_dtype
from cannkit.ops.op_args import OpArg, Role

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

NO_NUMPY: Final = "pip install numpy"


def numpy() -> Any:
    """The numpy module; raises UsageError without it."""
    try:
        import numpy as np
    except ImportError as error:
        raise UsageError("operators on arrays need numpy", hint=NO_NUMPY) from error
    return np


def input_of(number: int, value: Any, role: Role, name: str = "") -> OpArg:
    """An input, of a `name`: an array or what makes one, None for one that is left out, an OpArg as it is."""
    if isinstance(value, OpArg):
        return value
    if value is None:
        return OpArg(Role.NULL, name=name)
    try:
        array = numpy().asarray(value)
    except ValueError as error:  # rows of several lengths
        raise UsageError(f"input {number} is no array", why=brief(str(error))) from error
    dtype = _dtype(f"input {number}", array.dtype)
    return OpArg(role, dtype, array.shape, _bytes(array), name)


def output_of(number: int, wanted: Any) -> OpArg:
    """An output: a shape, (dtype, shape), an array that it starts with; an OpArg as it is."""
    np = numpy()
    where = f"output {number}"
    if isinstance(wanted, OpArg):
        return wanted
    if isinstance(wanted, np.ndarray):
        dtype = _dtype(where, wanted.dtype)
        return OpArg(Role.OUT, dtype, wanted.shape, _bytes(wanted))
    try:
        if len(wanted) == 2 and hasattr(wanted[1], "__len__"):
            return OpArg(Role.OUT, _dtype(where, wanted[0]), _shape(wanted[1]))
        return OpArg(Role.OUT, None, _shape(wanted))
    except TypeError as error:
        hint = "a shape, (dtype, shape), an array or None"
        raise UsageError(f"{where}: {brief(repr(wanted))} is no shape", hint=hint) from error


def _shape(shape: Sequence[Any]) -> tuple[int, ...]:
    from operator import index

    return tuple(map(index, shape))


def _dtype(where: str, dtype: Any) -> OpDtype:
    """The data type of an array; a text may be any that OPR-1304 knows."""
    if isinstance(dtype, OpDtype):
        return dtype
    if isinstance(dtype, str):
        return find_op_dtype(dtype)
    name = numpy().dtype(dtype).name
    try:
        return find_op_dtype(name)
    except UsageError as error:
        raise UsageError(f"{where}: no operator has {name}", hint=error.hint) from error


def _bytes(array: Array) -> memoryview:
    """The bytes of an array in C order, little endian, copied only where they are not so."""
    np = numpy()
    if not array.size:
        return memoryview(b"")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def array_of(data: memoryview, dtype: OpDtype, shape: Sequence[int]) -> Array:
    """An array of its own; of a type that numpy does not know its bytes, one row for each element."""
    np = numpy()
    raw = np.frombuffer(bytearray(data), np.uint8)
    known = _numpy_dtype(dtype)
    made: Array = raw
    if known is not None:
        made = raw.view(known).reshape(shape)
    elif dtype.size:
        made = raw.reshape(*shape, dtype.size)
    return made


def _numpy_dtype(dtype: OpDtype) -> Any:
    """The dtype of numpy, or of ml_dtypes where that is there; None for a type that neither knows."""
    np = numpy()
    try:
        return np.dtype(dtype.word)
    except TypeError:
        pass
    try:
        ml_dtypes = import_module("ml_dtypes")
    except ImportError:
        return None
    found = getattr(ml_dtypes, dtype.word, None)
    return None if found is None else np.dtype(found)
