"""A call by the bytes of its parameter block and ext info, checked before anything runs. Spec 07: Q-1, Q-2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cannkit.errors import UsageError
from cannkit.format.call_parts import CallParts, read_parts
from cannkit.format.elf_types import ByteView
from cannkit.format.node_tensor import NodeTensor
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.call import PLAIN, CallBytes, CallOptions, Prepared, placed
from cannkit.ops.call_checks import Checks
from cannkit.ops.description import describe
from cannkit.ops.op_args import CallTensor, OpArg, Role, told_apart


def prepare_raw(
    block: ByteView, ext_raw: ByteView, args: Sequence[OpArg], options: CallOptions = PLAIN
) -> Prepared:
    """A call by the bytes of its block and ext info; `args` have the data of its tensors and their roles.

    Raises FormatError for bytes that no library takes or that make it read past their end (Q-1, Q-2), and
    UsageError for arguments that are not its tensors.
    """
    parts = read_parts(bytes(block[0 : len(block)]), bytes(ext_raw[0 : len(ext_raw)]))
    node = parts.node
    inputs = [arg for arg in args if arg.role is not Role.OUT]
    outputs = [arg for arg in args if arg.role in (Role.OUT, Role.INOUT)]
    for what, given, wanted in (("input", inputs, node.inputs), ("output", outputs, node.outputs)):
        if len(given) != len(wanted):
            why = f"the NodeDef has {len(wanted)}"
            raise UsageError(f"{what}s that are given: {len(given)}", why=why)
    nothing, checks = describe(node.op, None, None), Checks(force=options.force)
    sides = told_apart(nothing, list(_typed(parts, args)), checks)
    raw = bytes(ext_raw[0 : len(ext_raw)])
    found = CallBytes(
        node, parts.block.node_def, parts.ext, raw, bytes(block[0 : len(block)]), parts.is_dynamic
    )
    named_inputs = _named(sides.inputs.tensors, node.inputs)
    named_outputs = _named(sides.outputs.tensors, node.outputs)
    return placed(nothing, found, named_inputs, named_outputs, checks, options)


def _typed(parts: CallParts, args: Sequence[OpArg]) -> Iterator[OpArg]:
    """Arguments with the data types and the shapes of their tensors."""
    inputs = zip(parts.node.inputs, parts.input_shapes, strict=True)
    outputs = zip(parts.node.outputs, parts.output_shapes, strict=True)
    for arg in args:
        tensor, shape = next(outputs if arg.role is Role.OUT else inputs)
        if arg.role is Role.INOUT:
            next(outputs)
        yield arg._replace(dtype=OpDtype(tensor.dtype), shape=shape)


def _named(tensors: Sequence[CallTensor], nodes: Sequence[NodeTensor]) -> tuple[CallTensor, ...]:
    return tuple(
        tensor._replace(name=node.name or tensor.name)
        for tensor, node in zip(tensors, nodes, strict=True)
    )
