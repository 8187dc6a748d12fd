"""Arguments of an AI CPU operator as the command line spells them: `in:bf16[2]=1,2`, `out:auto`. Spec 07, OPR-1304."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.cli.arg_spec import ArgSpec, Role, contents_of, parse_spec
from cannkit.errors import UsageError, brief

if TYPE_CHECKING:
    from cannkit.format.elf_types import ByteView
    from cannkit.format.op_dtypes import OpDtype
    from cannkit.ops.op_args import OpArg

AUTO: Final = "auto"
FORMS: Final = (
    "in:DTYPE[SHAPE]@FILE, in:DTYPE[SHAPE]=VALUES (or zeros, ones, arange, random:SEED, hex:BYTES), "
    "out:DTYPE[SHAPE], out:DTYPE[SHAPE]@FILE, out:auto, inout:..., null"
)
HEAD: Final = re.compile(r"(in|out|inout)(?:\((\w{1,128})\))?:(.*)", re.DOTALL)
TENSOR: Final = re.compile(
    r"(?P<dtype>dt:\d+|\w+)(?:\[(?P<listed>[^\]]*)\]|:(?P<shape>[^@=]*))?(?P<rest>[@=].*)?",
    re.DOTALL | re.IGNORECASE,
)
DIMENSION: Final = re.compile(r"\s*(-1|[0-9]{1,20})\s*")
HEX: Final = "=hex:"
MOST_DIMENSIONS: Final = 32
LIMIT: Final = 1 << 30


class Spelled(NamedTuple):
    """An argument, and the file that its output is written to."""

    arg: OpArg
    out: str | None
    file: str | None


def parse_op_spec(text: str) -> Spelled:
    """The argument that a text spells, its file read. Raises UsageError, and InputError for the file."""
    try:
        return _parse(text)
    except UsageError as error:
        if error.what.startswith("--arg"):
            raise
        raise UsageError(f"--arg {brief(text)!r}: {error.what}", hint=error.hint) from None


def _parse(text: str) -> Spelled:
    from cannkit.format.op_dtypes import find_op_dtype
    from cannkit.ops.op_args import OpArg
    from cannkit.ops.op_args import Role as OpRole

    if text == Role.NULL:
        return Spelled(OpArg(OpRole.NULL), None, None)
    head = HEAD.fullmatch(text)
    if not head:
        raise UsageError("an operator takes tensors", hint=FORMS)
    role, name, rest = Role(head[1]), head[2] or "", head[3]
    if role is Role.OUT and (rest == AUTO or rest.startswith(f"{AUTO}@")):
        file = _path(rest[len(AUTO) :]) if rest != AUTO else None
        return Spelled(OpArg(OpRole.OUT, name=name), file, None)
    found = TENSOR.fullmatch(rest)
    if not found:
        raise UsageError("not DTYPE[SHAPE] and what is in it", hint=FORMS)
    dtype = find_op_dtype(found["dtype"])
    listed = found["listed"] if found["shape"] is None else found["shape"]
    shape = None if listed is None else _shape(listed, is_open=role is Role.OUT)
    source = found["rest"] or ""
    if role is Role.OUT:
        if source.startswith("="):
            raise UsageError("an output starts as zeros: inout: is for one that does not")
        arg = OpArg(OpRole.OUT, dtype, shape, name=name)
        return Spelled(arg, _path(source) if source else None, None)
    if not source:
        raise UsageError(f"{role}: needs @FILE or =VALUES", hint=FORMS)
    data, made, out, file = _contents(text, role, dtype, shape, source)
    return Spelled(OpArg(OpRole(role.value), dtype, made, data, name), out, file)


def _contents(
    text: str, role: Role, dtype: OpDtype, shape: tuple[int, ...] | None, source: str
) -> tuple[ByteView, tuple[int, ...], str | None, str | None]:
    """What a tensor holds, its shape, the file to write and the file that was read."""
    from cannkit.api.values import SPELLINGS

    if source.startswith(HEX):
        digits, _, out = source.removeprefix(HEX).partition("@")
        if out and role is Role.IN:
            raise UsageError("an input is not written")
        raw = memoryview(_bytes(digits))
        return raw, _raw_shape(dtype, shape, len(raw)), out or None, None
    listed = "" if shape is None else f"[{','.join(map(str, shape))}]"
    if dtype.word in SPELLINGS:
        spec = _plain_spec(f"{role.value}:{dtype.word}{listed}{source}")
        found = contents_of(spec)
        data = memoryview(bytes(found.size)) if found.data is None else _view(found.data)
        return data, found.shape, spec.out, spec.file
    if not source.startswith("@"):
        hint = f"@FILE, or {HEX}BYTES"
        raise UsageError(f"values of {dtype.word} are not spelled", hint=hint)
    as_bytes = _plain_spec(f"{role.value}:u8{source}")  # of this type cannkit knows no values
    found = contents_of(as_bytes)
    assert found.data is not None
    return _view(found.data), _raw_shape(dtype, shape, found.size), as_bytes.out, as_bytes.file


def _plain_spec(text: str) -> ArgSpec:
    """The argument of a text that is made of the user's; an error does not tell of it."""
    try:
        return parse_spec(text)
    except UsageError as error:
        what = error.what.removeprefix(f"--arg {brief(text)!r}: ")
        raise UsageError(what, hint=error.hint) from None


def _view(data: ByteView | bytes) -> ByteView:
    return memoryview(data) if isinstance(data, bytes) else data


def _raw_shape(dtype: OpDtype, shape: tuple[int, ...] | None, size: int) -> tuple[int, ...]:
    if shape is None:
        each = dtype.size
        if not each or size % each:
            raise UsageError(f"{size} bytes of {dtype.word} need a shape")
        return (size // each,)
    if dtype.size and prod(shape) * dtype.size != size:
        raise UsageError(f"{size} bytes, the shape takes {prod(shape) * dtype.size}")
    return shape


def _shape(text: str, *, is_open: bool) -> tuple[int, ...]:
    if not text.strip():
        return ()
    words = re.split("[,x]", text)
    if len(words) > MOST_DIMENSIONS:
        raise UsageError(f"{len(words)} dimensions, at most {MOST_DIMENSIONS} are taken")
    if not all(DIMENSION.fullmatch(word) for word in words):
        hint = "a shape is [2,3] or :2x3, whole numbers from 0 on"
        raise UsageError(f"{brief(text)!r} is no shape", hint=hint)
    shape = tuple(map(int, words))
    if not is_open and -1 in shape:
        raise UsageError("only a dimension of an output may be -1")
    if prod(abs(dim) for dim in shape) > LIMIT:
        raise UsageError("a tensor with more than 1 Gi elements")
    return shape


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise UsageError("hex: takes whole bytes in hex") from None


def _path(text: str) -> str:
    if len(text) < 2:
        raise UsageError("no name of a file after @")
    return text[1:]
