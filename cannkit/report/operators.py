"""The documents of AI CPU operators: a package's list of them, and all that is known of one. cli.md, section 6."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Literal, Self

from cannkit.errors import CannkitError, ExitCode, brief
from cannkit.format.node_attr import AttrKind
from cannkit.format.op_dtypes import OpDtype
from cannkit.inputs.contents import Input, Unreadable
from cannkit.ops.describe import Package
from cannkit.ops.description import DescribedTensor, Description
from cannkit.ops.op_json import OpInfo, OpTensor
from cannkit.ops.proto_records import ProtoAttr
from cannkit.report.base import (
    Document,
    ErrorEntry,
    ResultDocument,
    WarningEntry,
    document,
    printable,
)


@document
class OpTensorEntry:
    """An input or output as the JSON has it: the types are a set, `dynamic` is any number of tensors."""

    number: int
    name: str
    dtypes: tuple[str, ...]
    unknown_types: tuple[str, ...]
    format: str | None
    dynamic: bool

    @classmethod
    def of(cls, tensor: OpTensor) -> Self:
        """The entry of a tensor."""
        return cls(
            number=tensor.number,
            name=printable(tensor.name),
            dtypes=_words(tensor.dtypes),
            unknown_types=tuple(map(printable, tensor.unknown_types)),
            format=_text(tensor.format),
            dynamic=tensor.is_dynamic,
        )


@document
class OperatorEntry:
    """An operator of the JSON. `shape_type`: how output shapes come about, 1 (inferable) to 4 (computed).

    `registered` is null where the library was not asked.
    """

    name: str
    inputs: tuple[OpTensorEntry, ...]
    outputs: tuple[OpTensorEntry, ...]
    kernel_so: str
    function: str
    kernel_lib: str
    workspace_kib: int | None
    shape_type: int
    block_dim: bool
    registered: bool | None

    @classmethod
    def of(cls, op: OpInfo, registered: bool | None = None) -> Self:
        """The entry of an operator."""
        return cls(
            name=printable(op.name),
            inputs=tuple(map(OpTensorEntry.of, op.inputs)),
            outputs=tuple(map(OpTensorEntry.of, op.outputs)),
            kernel_so=printable(op.kernel_so),
            function=printable(op.function),
            kernel_lib=printable(op.kernel_lib),
            workspace_kib=op.workspace_kib,
            shape_type=op.shape_type,
            block_dim=op.block_dim,
            registered=registered,
        )


@document
class OperatorsDocument(ResultDocument):
    """The operators of a package.

    `prototypes` is where its prototypes may lie. `unlisted` are the kernels of the library that the JSON
    does not have, null where the library was not asked.
    """

    SCHEMA: ClassVar[str] = "cannkit.operators/1"
    file: str
    library: str | None
    json: str | None
    prototypes: str | None
    operators: tuple[OperatorEntry, ...]
    unlisted: tuple[str, ...] | None
    warnings: tuple[WarningEntry, ...]
    error: ErrorEntry | None

    @classmethod
    def of(
        cls,
        file: str,
        package: Package,
        patterns: Sequence[str] = (),
        registered: frozenset[str] | None = None,
    ) -> Self:
        """The document of a package, with the operators that match one of the patterns (or all).

        Raises FormatError or InputError for a JSON that cannot be read.
        """

        def shown(name: str) -> bool:
            return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)

        ops = {name: op for name, op in package.ops.items() if shown(name)}
        places = {f"op {brief(name)}" for name in package.ops.keys() - ops.keys()}
        warnings = (each for each in package.file.warnings if each.where not in places)
        return cls(
            file=printable(file),
            library=_text(package.library),
            json=_text(package.json),
            prototypes=_text(next(iter(package.protos), None)),
            operators=tuple(
                OperatorEntry.of(op, name in registered if registered is not None else None)
                for name, op in ops.items()
            ),
            unlisted=tuple(
                printable(name) for name in sorted(registered - package.ops.keys()) if shown(name)
            )
            if registered is not None
            else None,
            warnings=tuple(map(WarningEntry.of, warnings)),
            error=None,
        )

    @classmethod
    def failed(cls, item: Input | Unreadable, error: CannkitError) -> Self:
        """The document of a package that cannot be read."""
        file = printable(item.file)
        return cls(file, None, None, None, (), None, (), ErrorEntry.of(error, file))

    @property
    def exit_code(self) -> ExitCode:
        """A JSON that cannot be read is malformed input."""
        return ExitCode.OK if self.error is None else ExitCode.INPUT


@document
class DescribedTensorEntry:
    """An input or output from all sources: `declared` says by which; `json_name` where the JSON has it.

    `dtypes` are what is taken, empty where no source has a list. `types` are the prototype's own words,
    such as groups of types. `presence` is null where only the JSON has it.
    """

    name: str
    presence: Literal["required", "optional", "dynamic"] | None
    dtypes: tuple[str, ...]
    unknown_types: tuple[str, ...]
    types: tuple[str, ...]
    format: str | None
    json_name: str | None
    declared: Literal["both", "json", "prototype"]

    @classmethod
    def of(cls, tensor: DescribedTensor) -> Self:
        """The entry of a tensor."""
        return cls(
            name=printable(tensor.name),
            presence=None if tensor.presence is None else tensor.presence.value,
            dtypes=_words(tensor.dtypes),
            unknown_types=tuple(map(printable, tensor.unknown_types)),
            types=tuple(map(printable, tensor.types)),
            format=_text(tensor.format),
            json_name=_text(tensor.json_name),
            declared=tensor.source,
        )


@document
class OpAttrEntry:
    """An attribute of the prototype. `kind` as `--attr NAME:KIND=VALUE` takes it, null for one that is not known.

    `default` is null where there is none; data types are words, numbers that are not finite text.
    """

    name: str
    kind: str | None
    required: bool
    default: Any

    @classmethod
    def of(cls, attr: ProtoAttr) -> Self:
        """The entry of an attribute."""
        kind = None if attr.kind is None else attr.kind.value
        return cls(printable(attr.name), kind, attr.required, _value(attr.kind, attr.default))


@document
class OperatorDocument(Document):
    """All that is known of an operator.

    `prototype` is the name that the prototype has, `why_no_prototype` is set where there is none: then
    nothing is known of attributes. `differences` tell where the sources disagree.
    """

    SCHEMA: ClassVar[str] = "cannkit.operator/1"
    op: str
    library: str | None
    json: str | None
    prototypes: str | None
    prototype: str | None
    why_no_prototype: str | None
    in_json: bool
    registered: bool | None
    inputs: tuple[DescribedTensorEntry, ...]
    outputs: tuple[DescribedTensorEntry, ...]
    attrs: tuple[OpAttrEntry, ...]
    kernel_so: str
    function: str
    kernel_lib: str
    workspace_kib: int
    shape_type: int
    block_dim: bool
    block_dim_index: int
    differences: tuple[str, ...]

    @classmethod
    def of(cls, package: Package, found: Description) -> Self:
        """The document of a description."""
        return cls(
            op=printable(found.name),
            library=_text(package.library),
            json=_text(package.json),
            prototypes=_text(package.proto),
            prototype=_text(found.prototype.name if found.prototype else None),
            why_no_prototype=_text(found.why_no_prototype or None),
            in_json=found.info is not None,
            registered=found.registered,
            inputs=tuple(map(DescribedTensorEntry.of, found.inputs)),
            outputs=tuple(map(DescribedTensorEntry.of, found.outputs)),
            attrs=tuple(map(OpAttrEntry.of, found.attrs)),
            kernel_so=printable(found.kernel_so),
            function=printable(found.function),
            kernel_lib=printable(found.kernel_lib),
            workspace_kib=found.workspace_kib,
            shape_type=found.shape_type,
            block_dim=found.block_dim,
            block_dim_index=found.block_dim_index,
            differences=tuple(map(printable, found.differences)),
        )


def _value(kind: AttrKind | None, value: Any) -> Any:
    """A default as JSON can have it."""
    if isinstance(value, tuple):
        one = {AttrKind.TYPES: AttrKind.TYPE}.get(kind) if kind else None
        return [_value(one, each) for each in value]
    if kind is AttrKind.TYPE and isinstance(value, int):
        return OpDtype(value).word
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return printable(value) if isinstance(value, str) else value


def _words(dtypes: Sequence[OpDtype]) -> tuple[str, ...]:
    return tuple(dtype.word for dtype in dtypes)


def _text(text: str | None) -> str | None:
    return None if text is None else printable(text)
