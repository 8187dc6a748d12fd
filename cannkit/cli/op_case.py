"""A case of `cannkit launch --cases`: the JSON of a line as arguments, attributes and options of a call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from cannkit.cli.op_arg_spec import Spelled, parse_op_spec
from cannkit.errors import UsageError, brief

if TYPE_CHECKING:
    from cannkit.format.node_attr import Attr
    from cannkit.ops.call import CallOptions
    from cannkit.ops.description import Description
    from cannkit.ops.op_args import OpArg

LONGEST_LINE: Final = 64 << 20
KEYS: Final = ("op", "args", "inputs", "outputs", "attrs", "blocks", "dynamic", "format", "id")
MISSPELLED: Final = {
    **{key: key for key in KEYS},
    "arg": "args",
    "arguments": "args",
    "input": "inputs",
    "output": "outputs",
    "attr": "attrs",
    "attributes": "attrs",
}
LIST_PREFIX: Final = "list_"  # kinds as recorded cases have them: list_int
FORM: Final = '{"op": NAME, "args": ["in:f32[2]=1,2", "out:f32[2]"], "attrs": {NAME: VALUE}}'


def read_case(raw: bytes | None) -> Mapping[str, Any]:
    """The object of a line, None for one that is too long. Raises UsageError for what is none."""
    if raw is None:
        raise UsageError(f"the line has more than {LONGEST_LINE} bytes")
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise UsageError("the line is no JSON", why=brief(str(error)), hint=FORM) from None
    if not isinstance(found, dict):
        raise UsageError("the line is no JSON object", hint=FORM)
    for key in found:
        right = MISSPELLED.get(key.lower().strip(), key)
        if right != key:
            raise UsageError(f"no case has a key {brief(key)!r}", hint=f"did you mean {right!r}?")
    return found


def id_of(case: Mapping[str, Any]) -> str | None:
    """What a case calls itself."""
    name = case.get("id")
    return None if name is None else brief(str(name))


def spelled_args(case: Mapping[str, Any]) -> Iterator[Spelled]:
    """Arguments as the command line has them, or inputs and outputs with dtype, shape and bytes."""
    args = case.get("args")
    if args is not None:
        if not isinstance(args, list) or not all(isinstance(each, str) for each in args):
            raise UsageError("args is no list of texts", hint=FORM)
        for text in args:
            yield parse_op_spec(text)
        return
    for key, role in (("inputs", "in"), ("outputs", "out")):
        tensors = case.get(key) or []
        if not isinstance(tensors, list):
            raise UsageError(f"{key} is no list")
        for number, tensor in enumerate(tensors):
            yield Spelled(_tensor(f"{key}[{number}]", role, tensor), None, None)


def _tensor(where: str, role: str, tensor: object) -> OpArg:
    from cannkit.format.op_dtypes import find_op_dtype
    from cannkit.ops.op_args import OpArg, Role

    if tensor is None:
        return OpArg(Role.NULL)
    if not isinstance(tensor, dict) or not isinstance(tensor.get("dtype"), str):
        raise UsageError(f"{where} is no object with a dtype")
    dtype, shape = find_op_dtype(tensor["dtype"]), tensor.get("shape")
    if not isinstance(shape, list) or not all(type(dim) is int for dim in shape):
        raise UsageError(f"{where} has no shape")
    if role == "out":
        return OpArg(Role.OUT, dtype, tuple(shape))
    digits = tensor.get("hex")
    if not isinstance(digits, str):
        raise UsageError(f"{where} has no bytes", hint='"hex": "0000803f"')
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        raise UsageError(f"{where}: hex is no whole bytes in hex") from None
    return OpArg(Role.IN, dtype, tuple(shape), memoryview(data))


def attrs_of(attrs: object, description: Description) -> Iterator[tuple[str, Attr]]:
    """`{NAME: VALUE}`, `{"NAME:KIND": VALUE}` or `{NAME: {"kind": KIND, "value": VALUE}}`."""
    from cannkit.ops.op_attrs import named_attr

    if not isinstance(attrs, dict):
        raise UsageError("attrs is no object", hint=FORM)
    for key, value in attrs.items():
        if isinstance(value, dict):
            word = str(value.get("kind", ""))
            if word.startswith(LIST_PREFIX):
                word = f"{word.removeprefix(LIST_PREFIX)}s"
            key, value = f"{key}:{word}", value.get("value")
        yield named_attr(key, value, description)


def options_of(case: Mapping[str, Any], options: CallOptions) -> CallOptions:
    """What a case says of its call beside its arguments."""
    from cannkit.format.op_dtypes import DataFormat, find_format

    if (blocks := case.get("blocks")) is not None:
        if type(blocks) is not int:
            raise UsageError("blocks is no whole number")
        options = options._replace(blocks=blocks)
    dynamic = case.get("dynamic", True if case.get("shape_type") else None)
    if dynamic is not None:
        options = options._replace(is_dynamic=bool(dynamic))
    data_format = case.get("format", case.get("data_format"))
    if isinstance(data_format, str):
        options = options._replace(data_format=find_format(data_format))
    elif isinstance(data_format, int):
        options = options._replace(data_format=DataFormat(data_format))
    return options
