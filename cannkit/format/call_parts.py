"""A parameter block, its NodeDef and ext info held against each other. Spec 07, section 2 (OPR-202).

The library refuses a call whose parts do not fit together with one code for everything; here each
reason has a line of its own, before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from cannkit.errors import FormatError
from cannkit.format.ext_info import HEAD, I64_MAX, ExtInfo, ExtType, decode_ext, read_shapes
from cannkit.format.node_def import NodeDef, decode_node_def
from cannkit.format.node_tensor import NodeTensor
from cannkit.format.op_dtypes import OpDtype
from cannkit.format.param_block import ParamBlock, decode_block

Dims = tuple[int, ...]
NO_EXT: Final = ExtInfo(())
SYNCHRONOUS: Final = (0, 2)  # OPR-205: wait types


class ExtView(NamedTuple):
    """What the library takes from ext info: shapes before the call is dynamic are dropped (OPR-404)."""

    is_dynamic: bool
    inputs: tuple[Dims, ...]
    outputs: tuple[Dims, ...]
    has_output_indices: bool


class CallParts(NamedTuple):
    """A call whose parts fit together, and the shapes that count: of the NodeDef or of ext info."""

    block: ParamBlock
    node: NodeDef
    ext: ExtInfo
    is_dynamic: bool
    input_shapes: tuple[Dims, ...]
    output_shapes: tuple[Dims, ...]


def read_parts(raw: bytes | memoryview, ext_raw: bytes | memoryview = b"") -> CallParts:
    """The call that a block and its ext info make.

    Raises FormatError for one that no operator runs, or that reads memory which is not its own.
    """
    block = decode_block(raw)
    if block.ext_length != len(ext_raw) and max(block.ext_length, len(ext_raw)) >= HEAD.size:
        raise _unfit(
            f"the block says {block.ext_length} bytes of ext info, there are {len(ext_raw)}"
        )
    ext = decode_ext(ext_raw) if len(ext_raw) >= HEAD.size else NO_EXT
    node = decode_node_def(block.node_def)
    tensors = len(node.inputs) + len(node.outputs)
    if not node.op:
        raise _unfit("the NodeDef names no operator")
    if len(block.addresses) != tensors:
        raise _unfit(f"{len(block.addresses)} io addresses for {tensors} tensors of the NodeDef")
    view = view_ext(ext)
    inputs, outputs = view.inputs, view.outputs
    if not view.is_dynamic:
        inputs, outputs = _shapes(node.inputs), _shapes(node.outputs)
    _check_shapes("input", node.inputs, inputs, may_be_open=False)
    may_be_open = view.is_dynamic or view.has_output_indices
    _check_shapes("output", node.outputs, outputs, may_be_open=may_be_open)
    return CallParts(block, node, ext, view.is_dynamic, inputs, outputs)


def view_ext(ext: ExtInfo) -> ExtView:
    """The entries in their order, as the library reads them; raises FormatError for an asynchronous call."""
    is_dynamic = has_indices = False
    inputs: list[Dims] = []
    outputs: list[Dims] = []
    for entry in ext.entries:
        match entry.type:
            case ExtType.SHAPE_TYPE:
                is_dynamic = True
            case ExtType.BITMAP:
                is_dynamic = not entry.value[0] & 1
            case ExtType.INPUT_SHAPE if is_dynamic:
                inputs += [shape.dims for shape in read_shapes(entry)]
            case ExtType.OUTPUT_SHAPE if is_dynamic:
                outputs += [shape.dims for shape in read_shapes(entry)]
            case ExtType.UNKNOWN_SHAPE_OUTPUT_INDEX:
                has_indices = has_indices or bool(entry.value)
            case ExtType.ASYNCWAIT if entry.value[0] not in SYNCHRONOUS:
                raise _unfit(f"ASYNCWAIT of type {entry.value[0]} makes the call asynchronous")
    return ExtView(is_dynamic, tuple(inputs), tuple(outputs), has_indices)


def count_elements(dims: Iterable[int]) -> int | None:
    """The elements of a shape; None when a dimension is not known, I64_MAX when nobody can count them."""
    count = 1
    for dim in dims:
        if dim < 0:
            return None
        count = min(count * dim, I64_MAX)
    return count


def _shapes(tensors: Sequence[NodeTensor]) -> tuple[Dims, ...]:
    return tuple(tensor.shape for tensor in tensors)


def _check_shapes(
    what: str, tensors: Sequence[NodeTensor], shapes: Sequence[Dims], *, may_be_open: bool
) -> None:
    if len(shapes) != len(tensors):
        raise _unfit(
            f"ext info gives {len(shapes)} {what} shapes, the NodeDef {len(tensors)} {what}s"
        )
    for at, (tensor, dims) in enumerate(zip(tensors, shapes, strict=True)):
        count = count_elements(dims)
        if count is None and not may_be_open:
            raise _unfit(f"{what} {at} has a dimension below 0")
        if count is not None and count * (OpDtype(tensor.dtype).size or 1) >= I64_MAX:
            raise _unfit(f"{what} {at} has more bytes than 63 bits count")


def _unfit(why: str) -> FormatError:
    return FormatError("the parts of the call do not fit together", why=why, rule="OPR-202")
