"""Arguments of a call, told apart by the description of their operator. Spec 07: OPR-308, OPR-309, OPR-506, Q-3, Q-19."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from cannkit.errors import UsageError, brief
from cannkit.format.elf_types import ByteView
from cannkit.format.node_def import DynamicIdx
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.call_checks import Checks, check_count
from cannkit.ops.description import DescribedTensor, Description
from cannkit.ops.proto_records import Presence

TENSOR_LIMIT: Final = 1 << 30
TOTAL_LIMIT: Final = 4 << 30
RANK_LIMIT: Final = 64
I64_LIMIT: Final = 1 << 63


class Role(StrEnum):
    """What an argument is. OPR-309: `inout` is an input and an output at one address; OPR-308: `null`."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    NULL = "null"


class OpArg(NamedTuple):
    """An argument. Of an output `dtype` and `shape` may be left out, and `data` is what it starts with.

    `name` is needed only where an operator has more than one dynamic input or output: which one it is of.
    """

    role: Role
    dtype: OpDtype | None = None
    shape: tuple[int, ...] | None = None
    data: ByteView | None = None
    name: str = ""


class CallTensor(NamedTuple):
    """A tensor of a call. `shape` is that of the NodeDef, `bound` the most that it holds: `size` bytes.

    `argument` is its place among the arguments: that of an `inout` is one of an input and one of an output.
    """

    name: str
    dtype: OpDtype
    shape: tuple[int, ...]
    bound: tuple[int, ...]
    size: int
    data: ByteView | None
    argument: int
    is_null: bool = False
    types: tuple[OpDtype, ...] = ()  # that are declared


class Side(NamedTuple):
    """The inputs, or the outputs, of a call."""

    tensors: tuple[CallTensor, ...]
    dynamic: Mapping[str, DynamicIdx]


class Sides(NamedTuple):
    """The inputs and the outputs of a call."""

    inputs: Side
    outputs: Side


def told_apart(description: Description, args: Sequence[OpArg], checks: Checks) -> Sides:
    """The tensors that arguments are; raises UsageError for what does not fit the operator."""
    inputs = [(at, arg) for at, arg in enumerate(args) if arg.role is not Role.OUT]
    outputs = [(at, arg) for at, arg in enumerate(args) if arg.role in (Role.OUT, Role.INOUT)]
    info, proto = description.info, description.prototype
    for what, given, declared, of_proto in (
        ("input", inputs, description.inputs, proto and proto.inputs),
        ("output", outputs, description.outputs, proto and proto.outputs),
    ):
        json = info and [tensor for tensor in declared if tensor.in_json]
        check_count(description.name, what, given, json, of_proto, checks)
    maker = _Maker(checks)
    left = maker.side("input", description.inputs, inputs)
    return Sides(left, maker.side("output", description.outputs, outputs, left.tensors))


class _Maker:
    """Makes tensors of arguments, and counts their bytes. Changes."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        self._total = 0

    def side(
        self,
        what: str,
        declared: Sequence[DescribedTensor],
        args: Sequence[tuple[int, OpArg]],
        inputs: Sequence[CallTensor] | None = None,
    ) -> Side:
        """The tensors of a side; `inputs` are those of the other one where this has the outputs."""
        spans = dict(_spans(what, declared, [arg for _, arg in args]))
        slots = list(_slots(what, declared, spans, len(args)))
        _check_names(what, declared, args, slots)
        tensors = tuple(
            self._tensor(f"{what} {number}", name, tensor, at, arg, inputs)
            for number, ((at, arg), (name, tensor)) in enumerate(zip(args, slots, strict=True))
        )
        return Side(tensors, spans)

    def _tensor(
        self,
        where: str,
        name: str,
        declared: DescribedTensor | None,
        at: int,
        arg: OpArg,
        inputs: Sequence[CallTensor] | None,
    ) -> CallTensor:
        if arg.role is Role.NULL:
            if declared is not None and declared.presence is Presence.REQUIRED:
                place = f"{where} ({brief(name)})"
                self._checks.warn("input-missing", place, "the prototype requires it")
            return CallTensor(name, OpDtype.FLOAT, (), (), 0, None, at, True)
        where = f"{where} ({brief(name)})"
        dtype, shape = (
            _dtype(where, declared, arg, inputs),
            self._shape(where, declared, arg, inputs),
        )
        if declared is not None and declared.dtypes and dtype not in declared.dtypes:
            taken = ", ".join(each.word for each in declared.dtypes)
            self._checks.warn("dtype-differs", where, f"{dtype.word}, it is declared for {taken}")
        bound = self._bound(where, shape, arg, inputs)
        size = self._size(where, dtype, bound, arg)
        self._total += size
        if self._total > TOTAL_LIMIT:
            raise UsageError("the tensors of a call are too large", why=_most(TOTAL_LIMIT))
        types = () if declared is None else declared.dtypes
        return CallTensor(name, dtype, shape, bound, size, arg.data, at, types=types)

    def _shape(
        self,
        where: str,
        declared: DescribedTensor | None,
        arg: OpArg,
        inputs: Sequence[CallTensor] | None,
    ) -> tuple[int, ...]:
        """OPR-1302: that of the argument, or of the first input, which is told where it may be another."""
        if arg.shape is not None:
            return arg.shape
        there = [each for each in inputs or () if not each.is_null]
        if not there:
            raise UsageError(f"{where}: say its shape", why="there is no input that has one")
        first, types = there[0], set(declared.dtypes if declared else ())
        if types != set(first.types) or any(each.shape != first.shape for each in there):
            shape = ",".join(map(str, first.shape))
            guess = f"its shape [{shape}] is a guess: that of {brief(first.name)}"
            self._checks.warn("shape-guessed", where, guess)
        return first.shape

    def _bound(
        self,
        where: str,
        shape: tuple[int, ...],
        arg: OpArg,
        inputs: Sequence[CallTensor] | None,
    ) -> tuple[int, ...]:
        """OPR-408: how large an output can get that has open dimensions."""
        if len(shape) > RANK_LIMIT:
            raise UsageError(f"{where}: {len(shape)} dimensions", why=f"at most {RANK_LIMIT}")
        if all(0 <= dim < I64_LIMIT for dim in shape):
            return shape
        if arg.role is not Role.OUT or inputs is None or any(dim < -1 for dim in shape):
            bad = next(dim for dim in shape if not 0 <= dim < I64_LIMIT)
            raise UsageError(f"{where}: a dimension of {bad}", hint="only outputs may have -1")
        most = max((_count(each.bound) for each in inputs), default=1)
        self._checks.warn("output-bound", where, f"-1 is taken as at most {most}")
        return tuple(most if dim == -1 else dim for dim in shape)

    def _size(self, where: str, dtype: OpDtype, bound: tuple[int, ...], arg: OpArg) -> int:
        given = None if arg.data is None else len(arg.data)
        if arg.role is not Role.OUT and given is None:
            raise UsageError(f"{where} has no data")
        if dtype.size is None:
            if given is None:
                raise UsageError(
                    f"{where}: no size of {dtype.word} is known", hint="give raw bytes"
                )
            size = given
        else:
            size = _count(bound) * dtype.size
        if given is not None and given != size:
            shown = "x".join(map(str, bound)) or "a scalar"
            message = f"{where}: {given:,} bytes, {dtype.word} {shown} takes {size:,}"
            self._checks.fail("size-differs", where, message)
            size = given if arg.role is Role.IN else max(size, given)
        if size > TENSOR_LIMIT:
            raise UsageError(f"{where}: {size:,} bytes", why=_most(TENSOR_LIMIT))
        return size


def _dtype(
    where: str,
    declared: DescribedTensor | None,
    arg: OpArg,
    inputs: Sequence[CallTensor] | None,
) -> OpDtype:
    """OPR-1302: that of the argument, the only one that is declared, or that of an input declared alike."""
    if arg.dtype is not None:
        return arg.dtype
    dtypes = declared.dtypes if declared is not None else ()
    if len(dtypes) == 1:
        return dtypes[0]
    some = [each for each in inputs or () if not each.is_null]
    alike = [each for each in some if set(each.types) == set(dtypes)]
    if likely := alike or [
        each for each in some[:1] if len(each.types) != 1 and each.dtype in dtypes
    ]:
        return likely[0].dtype
    words = ", ".join(dtype.word for dtype in dtypes)
    raise UsageError(f"{where}: say its data type", hint=f"one of {words}" if words else None)


def _spans(
    what: str, declared: Sequence[DescribedTensor], args: Sequence[OpArg]
) -> Iterator[tuple[str, DynamicIdx]]:
    """Where the tensors of dynamic ones are: one takes what the others leave."""
    dynamic = [tensor for tensor in declared if tensor.is_dynamic]
    rest = max(len(args) - (len(declared) - len(dynamic)), 0)
    if len(dynamic) > 1 and not all(arg.name for arg in args):
        names = ", ".join(tensor.name for tensor in dynamic)
        why = f"{names} are dynamic"
        raise UsageError(f"say by name which {what} each {what} belongs to", why=why)
    at = 0
    for tensor in declared:
        if not tensor.is_dynamic:
            at += 1
            continue
        count = rest if len(dynamic) == 1 else sum(arg.name == tensor.name for arg in args)
        yield tensor.name, DynamicIdx(at, count)
        at += count


def _slots(
    what: str,
    declared: Sequence[DescribedTensor],
    spans: Mapping[str, DynamicIdx],
    count: int,
) -> Iterator[tuple[str, DescribedTensor | None]]:
    """A name, and what is declared, for each of `count` tensors."""
    made = 0
    for tensor in declared:
        several = spans[tensor.name].num if tensor.is_dynamic else 1
        for number in range(min(several, count - made)):
            yield f"{tensor.name}{number}" if tensor.is_dynamic else tensor.name, tensor
        made += min(several, count - made)
    for number in range(made, count):
        yield f"{what}{number}", None


def _check_names(
    what: str,
    declared: Sequence[DescribedTensor],
    args: Sequence[tuple[int, OpArg]],
    slots: Sequence[tuple[str, DescribedTensor | None]],
) -> None:
    """A name says which one an argument is: raises UsageError where it is another."""
    for number, ((_, arg), (_, tensor)) in enumerate(zip(args, slots, strict=True)):
        names = () if tensor is None else (tensor.name, tensor.json_name)
        if arg.name and declared and arg.name not in names:
            order = ", ".join(each.name for each in declared)
            place = f"{what} {number} is {names[0]}" if names else f"there is no {what} {number}"
            what_is = f"{place}, not {brief(arg.name)}"
            raise UsageError(what_is, hint=f"the {what}s in their order: {order}")


def _count(dims: Sequence[int]) -> int:
    count = 1
    for dim in dims:
        count = min(count * dim, I64_LIMIT)
    return count


def _most(limit: int) -> str:
    return f"cannkit hands over at most {limit >> 30} GiB"
