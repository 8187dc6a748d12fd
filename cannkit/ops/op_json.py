"""The JSON of AI CPU operators: tensors, types and how each is called. Spec 07, section 5: OPR-502 to OPR-504."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from cannkit.errors import FormatError, ReadWarning, brief
from cannkit.format.op_dtypes import DT_NAMES, OpDtype
from cannkit.format.sidecar import parse_json
from cannkit.image.kernel_object import capped

MOST_OPS: Final = 1 << 14  # the largest known file has 490
MOST_TENSORS: Final = 4096  # of an operator; the largest known one has 11
MOST_TYPES: Final = 256  # names in one list
SHAPE_TYPES: Final = (1, 2, 3, 4)  # OPR-402, row 0
INFERABLE: Final = 1
T = TypeVar("T")
_tensor_key = re.compile(r"(dynamic_)?(input|output)([0-9]{1,4})", re.ASCII).fullmatch
_digits = re.compile(r"-?[0-9]{1,9}", re.ASCII).fullmatch


class OpTensor(NamedTuple):
    """An input or output. `number` is that of its key, of which some may be missing.

    `dtypes` are a set: those of different tensors do not go together (OPR-503).
    """

    number: int
    name: str
    dtypes: tuple[OpDtype, ...]
    unknown_types: tuple[str, ...] = ()
    format: str | None = None
    is_dynamic: bool = False


class OpInfo(NamedTuple):
    """An operator as the JSON has it; texts are empty where it says nothing, `keys` is all of its opInfo.

    `shape_type`: 1 the shape of an output follows from those of inputs ... 4 from a computation (OPR-402).
    `block_dim_index`: the dimension of input 0 that is split, -1 its elements (OPR-901).
    """

    name: str
    inputs: tuple[OpTensor, ...]
    outputs: tuple[OpTensor, ...]
    kernel_so: str
    function: str
    kernel_lib: str
    workspace_kib: int | None
    shape_type: int
    block_dim: bool
    block_dim_index: int
    keys: Mapping[str, str]

    @property
    def tensors(self) -> tuple[OpTensor, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs


class OpFile(NamedTuple):
    """The operators of a JSON in the order of their names, and what is odd about it."""

    ops: Mapping[str, OpInfo]
    warnings: tuple[ReadWarning, ...] = ()


def is_op_json(root: object) -> bool:
    """Whether a JSON value is one of AI CPU operators: an object that has operators with an opInfo."""
    return isinstance(root, dict) and any(
        isinstance(item, dict) and isinstance(item.get("opInfo"), dict) for item in root.values()
    )


def read_op_json(raw: bytes) -> OpFile:
    """The operators of a JSON text.

    Raises FormatError when it is not JSON, not an object, or has more than 16,384 operators.
    """
    return op_file(parse_json(raw))


def op_file(root: object) -> OpFile:
    """The operators of a JSON value; raises FormatError as `read_op_json` does."""
    what = "no AI CPU operators in this JSON"
    if not isinstance(root, dict):
        raise FormatError(what, why="its root is not an object", rule="OPR-502")
    if len(root) > MOST_OPS:
        raise FormatError(what, why=f"more than {MOST_OPS:,} of them", rule="OPR-502")
    reader = _Reader()
    ops = {name: reader.op(name, root[name]) for name in sorted(root)}
    return OpFile({name: op for name, op in ops.items() if op}, capped(reader.warnings))


class _Reader:
    """Reads operators and remembers what is odd; a list of types that was met is not read again."""

    def __init__(self) -> None:
        self.warnings: list[ReadWarning] = []
        self._types: dict[str, tuple[tuple[OpDtype, ...], tuple[str, ...]]] = {}

    def op(self, name: str, item: object) -> OpInfo | None:
        """An operator; None for what is none."""
        where = f"op {brief(name)}"

        def warn(code: str, message: str) -> None:
            self.warnings.append(ReadWarning(code, where, message))

        if not isinstance(item, dict):
            warn("op-skipped", "it is not an object")
            return None
        info = item.get("opInfo")
        if not isinstance(info, dict):
            warn("op-skipped", "it has no opInfo")
            return None
        keys = {key: value for key, value in info.items() if isinstance(value, str)}
        if odd := sorted(key for key in info if key not in keys):
            warn("op-not-text", f"{brief(', '.join(odd))} must be text")
        tensors = sorted(self._tensors(item, warn), key=lambda each: each[1].number)  # OPR-502
        inputs = tuple(tensor for kind, tensor in tensors if kind == "input")
        outputs = tuple(tensor for kind, tensor in tensors if kind == "output")
        for kind, found in (("input", inputs), ("output", outputs)):
            for twice in _repeated(tensor.number for tensor in found):
                warn("op-tensor-twice", f"{kind} {twice} is there twice, dynamic and not")
        shape_type = _number(keys.get("subTypeOfInferShape"), INFERABLE)
        if shape_type not in SHAPE_TYPES:
            warn("op-shape-type", f"subTypeOfInferShape is {brief(keys['subTypeOfInferShape'])!r}")
            shape_type = INFERABLE
        return OpInfo(
            name,
            inputs,
            outputs,
            keys.get("kernelSo", ""),
            keys.get("functionName", ""),
            keys.get("opKernelLib", ""),
            _number(keys.get("workspaceSize"), None),
            shape_type,
            keys.get("flagSupportBlockDim", "").lower() == "true",
            _number(keys.get("blockDimByIndex"), -1),
            keys,
        )

    def _tensors(
        self, item: Mapping[str, Any], warn: Callable[[str, str], None]
    ) -> Iterator[tuple[str, OpTensor]]:
        found = [(key, match) for key in item if (match := _tensor_key(key))]
        if len(found) > MOST_TENSORS:
            warn("op-tensors", f"it has {len(found):,} tensors: {MOST_TENSORS} are read")
        for key, match in found[:MOST_TENSORS]:
            value = item[key]
            if not isinstance(value, dict):
                warn("op-tensor", f"{key} is not an object")
                continue
            texts = {name: text for name, text in value.items() if isinstance(text, str)}
            dtypes, unknown = self._dtypes(texts.get("type", ""))
            if unknown:  # OPR-503
                warn("op-type", f"{key}: unknown {brief(', '.join(unknown))}")
            yield (
                match[2],
                OpTensor(
                    int(match[3]),
                    texts.get("name", ""),
                    dtypes,
                    unknown,
                    texts.get("format"),
                    match[1] is not None,
                ),
            )

    def _dtypes(self, text: str) -> tuple[tuple[OpDtype, ...], tuple[str, ...]]:
        """Types in their order, each once, and names that are none."""
        if (known := self._types.get(text)) is not None:
            return known
        words = [word.strip() for word in text.split(",", MOST_TYPES)[:MOST_TYPES] if word.strip()]
        dtypes = dict.fromkeys(DT_NAMES[word] for word in words if word in DT_NAMES)
        unknown = dict.fromkeys(word for word in words if word not in DT_NAMES)
        self._types[text] = tuple(dtypes), tuple(unknown)
        return self._types[text]


def repeated_names(tensors: tuple[OpTensor, ...]) -> tuple[str, ...]:
    """Names that more than one of some inputs, or of some outputs, has (Q-21)."""
    return tuple(_repeated(tensor.name for tensor in tensors if tensor.name))


def _repeated(values: Iterable[T]) -> dict[T, None]:
    seen: set[T] = set()
    twice: dict[T, None] = {}
    for value in values:
        if value in seen:
            twice[value] = None
        seen.add(value)
    return twice


def _number(text: str | None, other: T) -> int | T:
    return int(text) if text is not None and _digits(text.strip()) else other
