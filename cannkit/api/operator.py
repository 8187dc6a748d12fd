"""Operator: an AI CPU operator of a package as a function on numpy arrays. Spec 07."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from cannkit.errors import CannkitError, ExitCode, ReadWarning, UsageError, brief

if TYPE_CHECKING:
    import numpy as np

    from cannkit.api.op_trace import OpTrace
    from cannkit.format.ae_status import AeStatus
    from cannkit.ops.call import CallOptions, Prepared
    from cannkit.ops.describe import Package
    from cannkit.ops.description import DescribedTensor, Description
    from cannkit.ops.result import OpResult

    Array = np.ndarray[Any, Any]

SECONDS: Final = 10.0
BYTES: Final = 2 << 30
Arrays = Sequence[Any] | Mapping[str, Any]
Wanted = Sequence[Any] | None


class OperatorError(CannkitError):
    """An operator did not return 0, or its process ended; `run` has all that is known of it."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAULT
    kind: ClassVar[str] = "operator"
    run: OperatorRun


class OperatorRun(NamedTuple):
    """A call that was made. `outputs` have the shapes that came back; what failed may have left anything.

    `returned` is None where the process ended: `ended` tells how, in words. `status` is the code of the AI
    CPU engine, `reason` what the operator says itself, `log` its other lines. `changed` are inputs that it
    wrote, by number, as they are afterwards. `printed` is what it wrote to stdout and stderr, where its process
    made no other call.
    """

    outputs: tuple[Array, ...]
    returned: int | None
    status: AeStatus | None
    reason: str | None
    log: tuple[str, ...]
    changed: Mapping[int, Array]
    remarks: tuple[ReadWarning, ...]
    ended: str | None
    seconds: float
    emulated: bool
    printed: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it returned 0."""
        return self.returned == 0


class Case(NamedTuple):
    """One of many calls: what `Operator.run` takes."""

    inputs: Arrays = ()
    attrs: Mapping[str, Any] = {}
    outputs: Wanted = None


class Operator:
    """The operator `name` of a package: the path of its library, its JSON or its folder.

    `json` is the JSON to read instead of the one that belongs to it. `emulate` is auto, never or always,
    `sysroot` where libraries for AArch64 lie. A call has `timeout` seconds and `memory` bytes of address
    space beside its tensors. The library and the prototypes of the package are foreign code, which runs
    with the rights of the user.

    A name that its JSON does not have is asked of the library itself, which is loaded for that.

    Raises UsageError without numpy and for an unknown name, with the nearest ones; InputError and
    FormatError for what cannot be read.
    """

    def __init__(
        self,
        package: str | PathLike[str] | Package,
        name: str,
        *,
        json: str | PathLike[str] | None = None,
        emulate: str = "auto",
        sysroot: str | PathLike[str] | None = None,
        timeout: float = SECONDS,
        memory: int = BYTES,
        threads: int = 1,
    ) -> None:
        from cannkit.api.arrays import numpy
        from cannkit.ops.call import description_for
        from cannkit.ops.describe import Package
        from cannkit.ops.registered import described_with, registered_names
        from cannkit.ops.runner import Emulate
        from cannkit.ops.session import OpSession

        numpy()
        if emulate not in list(Emulate):
            raise UsageError(f"emulate={emulate!r}", hint=f"one of {', '.join(Emulate)}")
        if not isinstance(package, Package):
            package = Package.of(fspath(package), None if json is None else fspath(json))
        if package.library is None:
            raise UsageError(
                "the package has no library", where=package.json, hint="name it itself"
            )
        self.package = package
        self._session = session = OpSession(
            package.library,
            Emulate(emulate),
            None if sysroot is None else fspath(sysroot),
            timeout,
            memory,
            threads,
        )

        def ask() -> frozenset[str] | None:
            return registered_names(
                session.library,
                emulate=session.emulate,
                sysroot=session.sysroot,
                timeout=timeout,
                memory=memory,
            )

        is_known = package.ops or package.prototypes
        self.description: Description = (
            described_with(package, name, ask) if is_known else description_for(package, name)
        )

    def __repr__(self) -> str:
        return f"<Operator {brief(self.description.name)} of {self.package.library}>"

    def run(
        self,
        inputs: Arrays = (),
        attrs: Mapping[str, Any] | None = None,
        outputs: Wanted = None,
        *,
        inout: Collection[int] = (),
        options: CallOptions | None = None,
        check: bool = True,
    ) -> OperatorRun:
        """Call the operator, in a process of its own.

        `inputs` are arrays in the order of the description, or by name; None leaves out an optional one,
        and one that is dynamic is a list of arrays.
        `attrs` are Python values by NAME, or by NAME:KIND where no prototype tells the kind. Of an output one says the shape, (dtype, shape), an array
        that it starts with, or None for the shape of the first input; without `outputs` all are so. The
        inputs numbered in `inout` are outputs, too, and come first among them.

        Raises OperatorError where `check` and the operator fails; UsageError for what does not fit it;
        CannotRunError where it cannot be run here.
        """
        prepared = self._prepared(inputs, attrs or {}, outputs, inout, options)
        run = run_of(self._session.run(prepared))
        if check and not run.is_good:
            raise _failure(self.description.name, run)
        return run

    def run_many(
        self, cases: Iterable[Case | Arrays], *, options: CallOptions | None = None
    ) -> Iterator[OperatorRun]:
        """Make many calls in one process, and give what each came to, whether it went well or not.

        A crash loses the state of the library, and the calls after it are made in a new process. Raises
        as `run` does for a case that does not fit.
        """
        prepared = (
            self._prepared(case.inputs, case.attrs, case.outputs, (), options)
            for case in (each if isinstance(each, Case) else Case(each) for each in cases)
        )
        yield from map(run_of, self._session.run_many(prepared))

    def trace(
        self,
        inputs: Arrays = (),
        attrs: Mapping[str, Any] | None = None,
        outputs: Wanted = None,
        *,
        inout: Collection[int] = (),
        options: CallOptions | None = None,
        soc: str | None = None,
    ) -> OpTrace:
        """Make the call as the runtime does, on a simulated `soc`: the story, and what came of it.

        Raises as `run` does, but nothing for an operator that fails.
        """
        from cannkit.api.op_trace import trace_call

        prepared = self._prepared(inputs, attrs or {}, outputs, inout, options)
        return trace_call(self.package, self.description, prepared, self._session, soc=soc)

    def _prepared(
        self,
        inputs: Arrays,
        attrs: Mapping[str, Any],
        outputs: Wanted,
        inout: Collection[int],
        options: CallOptions | None,
    ) -> Prepared:
        from cannkit.api.arrays import input_of, output_of
        from cannkit.ops.call import PLAIN, prepare
        from cannkit.ops.op_args import OpArg, Role
        from cannkit.ops.op_attrs import named_attr

        description = self.description
        given = _ordered(inputs, description.inputs)
        if unknown := [number for number in inout if not 0 <= number < len(given)]:
            raise UsageError(f"inout: there is no input {unknown[0]}")
        args = [
            input_of(number, value, Role.INOUT if number in inout else Role.IN, name)
            for number, (name, value) in enumerate(given)
        ]
        if outputs is None:
            count = sum(not tensor.is_dynamic for tensor in description.outputs)
            if count != len(description.outputs):
                raise UsageError("say the outputs", why="their number is not fixed")
            if description.info is None and description.prototype is None:
                raise UsageError("say the outputs", why="nothing is known of the operator")
            outputs = [None] * max(count - len(inout), 0)
        args += [
            OpArg(Role.OUT) if wanted is None else output_of(number, wanted)
            for number, wanted in enumerate(outputs)
        ]
        typed = dict(named_attr(key, value, description) for key, value in attrs.items())
        return prepare(description, args, typed, options or PLAIN)


def run_of(result: OpResult) -> OperatorRun:
    """A result as arrays of its own: the memory of the process is given back."""
    from cannkit.api.arrays import array_of

    prepared, child = result.prepared, result.child
    outputs = tuple(array_of(each.filled, each.dtype, each.shape) for each in result.outputs)
    changed = {
        number: array_of(data, prepared.inputs[number].dtype, prepared.inputs[number].bound)
        for number, data in zip(result.changed, result.changed_data, strict=True)
    }
    ended = None if child is None else "; ".join((child.what, *child.hints))
    return OperatorRun(
        outputs,
        result.returned,
        result.status,
        result.reason,
        result.log_lines(),
        changed,
        result.remarks,
        ended,
        result.seconds,
        result.emulated,
        result.printed if child is None else child.output,
    )


def _failure(name: str, run: OperatorRun) -> OperatorError:
    what = f"the operator {brief(name)} " + (
        f"returned {run.returned}" if run.ended is None else "ended its process"
    )
    error = OperatorError(what, why=run.ended or run.reason or "it does not say why")
    error.run = run
    return error


def _ordered(inputs: Arrays, declared: Sequence[DescribedTensor]) -> Sequence[tuple[str, Any]]:
    """Inputs in their order, with names where it is known whose they are.

    By name, what is left out in between is None; a dynamic one is a list of arrays.
    """
    names = [tensor.name for tensor in declared]
    if not isinstance(inputs, Mapping):
        pairs = list(zip(declared, inputs, strict=False))
        is_told = len(inputs) == len(names) and any(tensor.is_dynamic for tensor in declared)
        if not is_told or not all(_is_list(each) for tensor, each in pairs if tensor.is_dynamic):
            return [("", value) for value in inputs]
        inputs = dict(zip(names, inputs, strict=True))
    if unknown := [name for name in inputs if name not in names]:
        why = f"it has {', '.join(names) or 'none'}"
        raise UsageError(f"unknown input {brief(unknown[0])!r}", hint=why)
    last = max((names.index(name) for name in inputs), default=-1)
    found: list[tuple[str, Any]] = []
    for tensor in declared[: last + 1]:
        value = inputs.get(tensor.name, () if tensor.is_dynamic else None)
        if tensor.is_dynamic and not isinstance(value, list | tuple):
            raise UsageError(f"input {brief(tensor.name)!r} takes a list of arrays")
        found += [(tensor.name, each) for each in (value if tensor.is_dynamic else [value])]
    return found


def _is_list(value: Any) -> bool:
    """Whether these are several arrays, and not one that is spelled as a list of numbers."""
    return isinstance(value, list | tuple) and all(hasattr(each, "shape") for each in value)
