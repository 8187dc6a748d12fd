"""Prepared: one call of an operator, from arguments to the bytes and memory that the library gets. Spec 07, sections 1 to 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from cannkit.errors import ReadWarning, UsageError, brief
from cannkit.format.ext_info import (
    RANK,
    ExtInfo,
    bitmap,
    encode_ext,
    input_shapes,
    output_shapes,
    session,
    shape_type,
    workspace,
)
from cannkit.format.node_attr import Attr, AttrKind
from cannkit.format.node_def import NodeDef, encode_node_def
from cannkit.format.node_tensor import ND, PLACEHOLDER, NodeTensor
from cannkit.format.param_block import EXT_SLOT, encode_block, io_slot
from cannkit.ops.call_checks import Checks
from cannkit.ops.describe import Package
from cannkit.ops.description import Description, describe
from cannkit.ops.job import CallKind, JobCall, Region, Relocation
from cannkit.ops.op_args import TENSOR_LIMIT, CallTensor, OpArg, Sides, told_apart
from cannkit.ops.op_attrs import checked_attrs

COUNT: Final = "N"  # an attribute: how many tensors a dynamic input has
WORKSPACE: Final = 64 << 10  # OPR-420
BLOCK_FUNCTION: Final = "RunCpuKernelWithBlock"
MOST_BLOCKS: Final = 4096
ALIGNS: Final = tuple(1 << bits for bits in range(13))
RANGE_SHAPE: Final = 3  # OPR-402, row 0: what is sent where the JSON has no other
PARAM, EXT = range(2)  # regions of a call; tensors come next


class CallOptions(NamedTuple):
    """How a call is made. `function` is another one than the JSON says, `is_dynamic` None where it decides.

    `session` is that of OPR-210. `force` leaves out the checks that tell of a crash or of wrong results.
    """

    function: str | None = None
    blocks: int = 1
    data_format: int = ND
    is_dynamic: bool | None = None
    align: int = 64
    session: tuple[int, int, int] | None = None
    force: bool = False


PLAIN: Final = CallOptions()


class Prepared(NamedTuple):
    """A call that can be run. Regions are those of this call alone: block, ext info, tensors, workspace.

    `inputs` and `outputs` are in the order of their addresses; `places` has the region of each.
    """

    op: str
    function: str
    kernel_lib: str
    node: NodeDef
    node_raw: bytes
    ext: ExtInfo
    ext_raw: bytes
    block: bytes
    is_dynamic: bool
    inputs: tuple[CallTensor, ...]
    outputs: tuple[CallTensor, ...]
    places: tuple[int | None, ...]
    workspace: int | None
    regions: tuple[Region, ...]
    relocations: tuple[Relocation, ...]
    calls: tuple[JobCall, ...]
    remarks: tuple[ReadWarning, ...]

    @property
    def tensors(self) -> tuple[CallTensor, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs

    @property
    def size(self) -> int:
        """The bytes of all regions."""
        return sum(region.size for region in self.regions)

    def region_name(self, number: int) -> str:
        """What a region is, in words."""
        names = {PARAM: "the parameter block", EXT: "the ext info"}
        for at, place in reversed(list(enumerate(self.places))):
            if place is not None:
                is_output = at >= len(self.inputs)
                kind, index = ("output", at - len(self.inputs)) if is_output else ("input", at)
                names[place] = f"{kind} {index} ({brief(self.tensors[at].name)})"
        return names.get(number, "the workspace")


def description_for(package: Package, name: str, *, force: bool = False) -> Description:
    """The operator of a package. One that has neither JSON nor prototypes tells nothing of any.

    Raises UsageError for an unknown name, unless `force`.
    """
    nothing = describe(name, None, None, package.why_no_prototypes)
    if not package.ops and not package.prototypes:
        return nothing
    try:
        return package.describe(name)
    except UsageError:
        if force:
            return nothing
        raise


def prepare(
    description: Description,
    args: Sequence[OpArg],
    attrs: Mapping[str, Attr],
    options: CallOptions = PLAIN,
) -> Prepared:
    """A call of an operator: inputs, then outputs, in the order of its description.

    Raises UsageError for what does not fit the operator, by name; FormatError for a value without a place
    in the bytes. What may be meant so is a remark (OPR-506).
    """
    checks = Checks(force=options.force)
    sides = told_apart(description, args, checks)
    given = checked_attrs(description, attrs, checks)
    if COUNT not in attrs and COUNT in given and len(sides.inputs.dynamic) == 1:
        [(name, span)] = sides.inputs.dynamic.items()
        if given[COUNT] != Attr(AttrKind.INT, span.num):
            text = f"it is {given[COUNT].value} by default, {brief(name)} has {span.num} tensors"
            checks.warn("count-differs", COUNT, text)
    is_dynamic = _is_dynamic(description, sides, options)
    inputs, outputs = sides.inputs.tensors, sides.outputs.tensors
    node = NodeDef(
        description.name,
        given,
        tuple(_node_tensor(tensor, options) for tensor in inputs),
        tuple(_node_tensor(tensor, options) for tensor in outputs),
        sides.inputs.dynamic,
        sides.outputs.dynamic,
    )
    entries = [workspace(WORKSPACE)]
    if options.session is not None:
        entries.insert(0, session(*options.session))
    if is_dynamic:
        kind = description.shape_type if description.shape_type > 1 else RANGE_SHAPE
        entries = [
            shape_type(kind),
            bitmap(0),
            input_shapes((tensor.dtype, tensor.bound) for tensor in inputs),
            output_shapes((tensor.dtype, tensor.bound) for tensor in outputs),
            *entries,
        ]
    ext, raw = ExtInfo(tuple(entries)), encode_node_def(node)
    ext_raw = encode_ext(ext)
    block = encode_block(len(inputs) + len(outputs), raw, len(ext_raw))
    parts = CallBytes(node, raw, ext, ext_raw, block, is_dynamic)
    return placed(description, parts, inputs, outputs, checks, options)


class CallBytes(NamedTuple):
    """The bytes of a call, and what they say."""

    node: NodeDef
    node_raw: bytes
    ext: ExtInfo
    ext_raw: bytes
    block: bytes
    is_dynamic: bool


def _is_dynamic(description: Description, sides: Sides, options: CallOptions) -> bool:
    """OPR-408: whether shapes of outputs come back."""
    is_open = any(-1 in tensor.shape for tensor in sides.outputs.tensors)
    is_dynamic = options.is_dynamic
    if is_dynamic is None:
        is_dynamic = is_open or description.shape_type > 1
    elif is_open and not is_dynamic:
        raise UsageError("an output with a dimension of -1 makes a call dynamic")
    tensors = sides.inputs.tensors + sides.outputs.tensors
    if is_dynamic and (most := max((len(tensor.bound) for tensor in tensors), default=0)) > RANK:
        why = f"shapes that come back have at most {RANK}"
        raise UsageError(f"a tensor has {most} dimensions", why=why)
    return is_dynamic


def _node_tensor(tensor: CallTensor, options: CallOptions) -> NodeTensor:
    if tensor.is_null:
        return PLACEHOLDER
    return NodeTensor(tensor.name, tensor.dtype, tensor.shape, options.data_format)


def placed(
    description: Description,
    parts: CallBytes,
    inputs: tuple[CallTensor, ...],
    outputs: tuple[CallTensor, ...],
    checks: Checks,
    options: CallOptions,
) -> Prepared:
    """The call with its memory: a region for each argument (OPR-105: for an empty one, too)."""
    if options.align not in ALIGNS:
        raise UsageError(f"an alignment of {options.align}", hint="a power of 2, at most 4096")
    function = options.function or description.function
    regions = [Region(memoryview(raw), len(raw), 8) for raw in (parts.block, parts.ext_raw)]
    relocations = [Relocation(PARAM, EXT_SLOT, EXT)] if parts.ext_raw else []
    by_argument: dict[int, int] = {}
    places: list[int | None] = []
    for slot, tensor in enumerate((*inputs, *outputs)):
        if tensor.is_null:
            places.append(None)
            continue
        place = by_argument.setdefault(tensor.argument, len(regions))
        if place == len(regions):
            regions.append(Region(tensor.data, tensor.size, options.align))
        places.append(place)
        relocations.append(Relocation(PARAM, io_slot(slot), place))
    log = None
    for size, slot in parts.ext.workspaces():
        if size > TENSOR_LIMIT:
            raise UsageError(f"a workspace of {size:,} bytes", why="at most 1 GiB")
        log = len(regions)
        regions.append(Region(None, size))
        relocations.append(Relocation(EXT, slot, log))
    return Prepared(
        op=parts.node.op,
        function=function,
        kernel_lib=description.kernel_lib,
        **parts._asdict(),
        inputs=inputs,
        outputs=outputs,
        places=tuple(places),
        workspace=log,
        regions=tuple(regions),
        relocations=tuple(relocations),
        calls=_calls(function, options.blocks, checks),
        remarks=checks.remarks,
    )


def _calls(function: str, blocks: int, checks: Checks) -> tuple[JobCall, ...]:
    """OPR-902, OPR-904: one call for each block, in their order, on the same memory."""
    if not 1 <= blocks <= MOST_BLOCKS:  # OPR-903: with 0 the library divides by it
        raise UsageError(f"{blocks} blocks", hint=f"1 to {MOST_BLOCKS}")
    if function != BLOCK_FUNCTION:
        if blocks > 1:
            message = f"{brief(function)} knows no blocks: it is called once, as on a device"
            checks.warn("blocks-ignored", function, message)
        return (JobCall(PARAM),)
    return tuple(JobCall(PARAM, CallKind.BLOCK, blocks, number) for number in range(blocks))
