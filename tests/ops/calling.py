"""Calls of our own operators and of made-up ones, as `prepare` takes them; and sessions that run them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from cannkit.format.node_attr import Attr, AttrKind
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.call import PLAIN, CallOptions, Prepared, prepare
from cannkit.ops.description import Description, describe
from cannkit.ops.op_args import OpArg, Role
from cannkit.ops.op_json import OpInfo, OpTensor
from cannkit.ops.proto_records import Presence, ProtoAttr, ProtoTensor, Prototype
from cannkit.ops.runner import Runner
from cannkit.ops.session import OpSession
from tests.ops.library import library, toolchain

F32: Final = OpDtype.FLOAT
I64: Final = OpDtype.INT64
REQUIRED, OPTIONAL, DYNAMIC = Presence.REQUIRED, Presence.OPTIONAL, Presence.DYNAMIC
EMULATED: Final = pytest.mark.parametrize("emulated", [False, True], ids=["native", "emulated"])
RUNNER: Final = Runner(toolchain())


def session(emulated: bool = False, **more: Any) -> OpSession:
    """A session of our own operator library."""
    return OpSession(library(emulated), runner=RUNNER, **more)


def floats(*values: float) -> bytes:
    """float32 values."""
    return struct.pack(f"<{len(values)}f", *values)


def words(data: memoryview) -> tuple[int, ...]:
    """int64 values."""
    return struct.unpack(f"<{len(data) // 8}q", data)


def given(
    shape: Sequence[int],
    data: bytes,
    dtype: OpDtype | None = F32,
    role: Role = Role.IN,
    name: str = "",
) -> OpArg:
    """An input."""
    return OpArg(role, dtype, tuple(shape), memoryview(data), name)


def wanted(
    shape: Sequence[int] | None,
    dtype: OpDtype | None = F32,
    data: bytes | None = None,
    name: str = "",
) -> OpArg:
    """An output."""
    place = None if shape is None else tuple(shape)
    return OpArg(Role.OUT, dtype, place, None if data is None else memoryview(data), name)


def info(
    name: str,
    inputs: Sequence[tuple[str, Sequence[OpDtype]]],
    outputs: Sequence[tuple[str, Sequence[OpDtype]]],
    *,
    shape_type: int = 1,
    function: str = "RunCpuKernel",
    kernel_lib: str = "CUSTAICPUKernel",
) -> OpInfo:
    """An operator of a JSON; a tensor whose name ends with `*` is dynamic."""
    sides = [
        tuple(
            OpTensor(at, word.rstrip("*"), tuple(dtypes), is_dynamic=word.endswith("*"))
            for at, (word, dtypes) in enumerate(side)
        )
        for side in (inputs, outputs)
    ]
    so = "libcust_cpu_kernels.so"
    ins, outs = sides
    return OpInfo(name, ins, outs, so, function, kernel_lib, None, shape_type, False, -1, {})


def proto(
    name: str,
    inputs: Sequence[tuple[str, Presence]],
    outputs: Sequence[tuple[str, Presence]],
    *attrs: ProtoAttr,
) -> Prototype:
    """A prototype."""
    sides = [tuple(ProtoTensor(*each, ()) for each in side) for side in (inputs, outputs)]
    ins, outs = sides
    return Prototype(name, ins, outs, attrs)


def unknown(name: str) -> Description:
    """An operator of which nothing is known."""
    return describe(name, None, None)


def call(
    op: str | Description,
    args: Sequence[OpArg],
    attrs: Mapping[str, Attr] | None = None,
    options: CallOptions = PLAIN,
    **more: Any,
) -> Prepared:
    """A call that is prepared."""
    found = unknown(op) if isinstance(op, str) else op
    return prepare(found, args, attrs or {}, options._replace(**more))


def add(*values: float) -> Prepared:
    """A call of Add: the values to themselves."""
    shape, data = [len(values)], floats(*values)
    return call("Add", [given(shape, data), given(shape, data), wanted(shape)])


def harm(how: str, **more: int) -> Prepared:
    """A call of the operator that does harm."""
    attrs = {"how": Attr(AttrKind.STRING, how)}
    attrs |= {name: Attr(AttrKind.INT, value) for name, value in more.items()}
    return call("Harm", [given([1], floats(0)), wanted([1])], attrs)
