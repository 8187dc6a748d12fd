"""Kernel arguments as the command line spells them: `in:f32[2,3]=1,2,3,4,5,6`. cli.md, section 6."""

from __future__ import annotations

import re
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.errors import InputError, UsageError, brief

if TYPE_CHECKING:
    from cannkit.api.values import Dtype
    from cannkit.format.elf_types import ByteView

TENSOR_LIMIT: Final = 1 << 30  # bytes
TILING_LIMIT: Final = 1 << 20  # bytes
BLOCK_LIMIT: Final = 16 << 20  # bytes of an argument block
DIMENSIONS: Final = 32
WORD: Final = 1 << 64
UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}

TENSOR: Final = re.compile(
    r"(?P<dtype>\w+)(?:\[(?P<listed>[^\]]*)\]|:(?P<shape>[^@=]*))?(?P<rest>[@=].*)?", re.DOTALL
)
BYTES: Final = re.compile(
    r"([0-9]{1,20}|0x[0-9a-f]{1,16})([kmg]?)(?:i?b)?", re.IGNORECASE | re.ASCII
)
SEED: Final = re.compile(r"random:([0-9]{1,20})")
FORMS: Final = (
    "in:DTYPE[SHAPE]@FILE, in:DTYPE[SHAPE]=VALUES (or zeros, ones, arange, random:SEED), "
    "out:DTYPE[SHAPE], out:DTYPE[SHAPE]@FILE, inout:..., ws:BYTES, tiling:@FILE, tiling:=HEX, null, "
    "u64:N, f32:X"
)


class Role(StrEnum):
    """What an argument is to its kernel."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    WORKSPACE = "ws"
    TILING = "tiling"
    NULL = "null"
    SCALAR = "scalar"


class Rule(StrEnum):
    """Contents that need no listing."""

    ZEROS = "zeros"
    ONES = "ones"
    ARANGE = "arange"
    RANDOM = "random"


class ArgSpec(NamedTuple):
    """An argument as it was spelled: `text`.

    A tensor has a dtype, a shape (None: as long as what is in it), and of `file`, `data` and `rule`
    one for what is in it, or none; `out` is the file to write at the end. `size` is that of a
    workspace in bytes; `data` also the bytes of a scalar or of tiling data.
    """

    text: str
    role: Role
    dtype: Dtype | None = None
    shape: tuple[int, ...] | None = None
    file: str | None = None
    data: bytes | None = None
    rule: Rule | None = None
    seed: int = 0
    out: str | None = None
    size: int = 0


class Contents(NamedTuple):
    """What an argument holds when the kernel starts: `size` bytes, zeros where `data` is None."""

    data: ByteView | bytes | None
    size: int
    shape: tuple[int, ...] = ()


def parse_spec(text: str) -> ArgSpec:
    """The argument that a text spells; reads no file. Raises UsageError."""
    role, colon, rest = text.partition(":")
    try:
        if text == Role.NULL:
            return ArgSpec(text, Role.NULL)
        if role in (Role.IN, Role.OUT, Role.INOUT) and colon:
            return _tensor(text, Role(role), rest)
        if role == Role.WORKSPACE and colon:
            return ArgSpec(text, Role.WORKSPACE, size=_workspace(rest))
        if role == Role.TILING and colon:
            return _tiling(text, rest)
        return _scalar(text, role, rest if colon else None)
    except UsageError as error:
        raise UsageError(f"--arg {brief(text)!r}: {error.what}", hint=error.hint) from None


def shape_text(dtype: Dtype, shape: tuple[int, ...]) -> str:
    """`f32[2,3]`."""
    return f"{dtype.name}[{','.join(map(str, shape))}]"


def contents_of(spec: ArgSpec) -> Contents:
    """What an argument holds, its file read. Raises InputError for one that is missing or unfit."""
    if spec.file is not None and spec.role is Role.TILING:
        return _whole_file(spec.file, TILING_LIMIT, "tiling data")
    if spec.file is not None:
        return _tensor_file(spec, spec.file)
    if spec.dtype is None or spec.role is Role.SCALAR:
        return Contents(spec.data, spec.size if spec.data is None else len(spec.data))
    if spec.data is not None:
        count = len(spec.data) // spec.dtype.size
        return Contents(spec.data, len(spec.data), (count,) if spec.shape is None else spec.shape)
    assert spec.shape is not None
    count = prod(spec.shape)
    return Contents(_by_rule(spec, spec.dtype, count), count * spec.dtype.size, spec.shape)


def _tensor(text: str, role: Role, rest: str) -> ArgSpec:
    from cannkit.api.values import find_dtype

    found = TENSOR.fullmatch(rest)
    if not found:
        raise UsageError("not DTYPE[SHAPE] and what is in it", hint=FORMS)
    dtype = find_dtype(found["dtype"])
    listed = found["listed"] if found["shape"] is None else found["shape"]
    shape = None if listed is None else _shape(listed, dtype)
    spec = ArgSpec(text, role, dtype, shape)
    source = found["rest"] or ""
    if role is Role.OUT:
        if shape is None:
            raise UsageError("an output needs a shape, as in out:f32[2,3]")
        if source.startswith("="):
            raise UsageError("an output starts as zeros: inout: is for one that does not")
        return spec._replace(out=_path(source[1:]) if source else None)
    if not source:
        raise UsageError(f"{role}: needs @FILE or =VALUES", hint=FORMS)
    if role is Role.INOUT:
        source, at, out = source[1:].rpartition("@")
        source = found["rest"][0] + (source if at else out)
        spec = spec._replace(out=_path(out) if at else None)
    if source.startswith("@"):
        return spec._replace(file=_path(source[1:]))
    return _filled(spec, dtype, source[1:])


def _filled(spec: ArgSpec, dtype: Dtype, source: str) -> ArgSpec:
    """A tensor of listed values, or of those that a rule makes."""
    from cannkit.api.values import pack, parse_value

    seed = SEED.fullmatch(source)
    if seed or source in (Rule.ZEROS, Rule.ONES, Rule.ARANGE):
        if spec.shape is None:
            raise UsageError("it needs a shape, as in f32[2,3]")
        number = int(seed[1]) if seed else 0
        if number >= WORD:
            raise UsageError("the seed is not a number of 64 bits")
        return spec._replace(rule=Rule.RANDOM if seed else Rule(source), seed=number)
    if source.startswith(Rule.RANDOM):
        raise UsageError("random values take a seed: =random:1")
    words = source.split(",") if source else []
    count = None if spec.shape is None else prod(spec.shape)
    if count is not None and len(words) != count:
        shape = shape_text(dtype, spec.shape or ())
        raise UsageError(f"{len(words)} values, {shape} takes {count}")
    return spec._replace(data=pack(dtype, [parse_value(dtype, word) for word in words]))


def _shape(text: str, dtype: Dtype) -> tuple[int, ...]:
    if not text.strip():
        return ()  # a scalar tensor
    words = re.split("[,x]", text)
    if not all(re.fullmatch(r"\s*[0-9]{1,20}\s*", word) for word in words):
        raise UsageError(
            f"{brief(text)!r} is no shape", hint="a shape is [2,3] or :2x3, whole numbers from 0 on"
        )
    if len(words) > DIMENSIONS:
        raise UsageError(f"{len(words)} dimensions, at most {DIMENSIONS} are taken")
    shape = tuple(map(int, words))
    if prod(shape) * dtype.size > TENSOR_LIMIT:
        raise UsageError(f"{brief(shape_text(dtype, shape))} has more than 1 GiB")
    return shape


def _path(text: str) -> str:
    if not text:
        raise UsageError("no name of a file after @")
    return text


def _workspace(text: str) -> int:
    found = BYTES.fullmatch(text)
    size = int(found[1], 16 if found[1][:2].lower() == "0x" else 10) if found else 0
    size *= UNITS[found[2].lower()] if found else 0
    if not 0 < size < WORD:
        raise UsageError("a workspace is a number of bytes, as in ws:4096 or ws:16m")
    return size


def _tiling(text: str, rest: str) -> ArgSpec:
    spec = ArgSpec(text, Role.TILING)
    if rest.startswith("@"):
        return spec._replace(file=_path(rest[1:]))
    digits = "".join(rest.removeprefix("=").split()).removeprefix("0x")
    if not rest.startswith("=") or len(digits) % 2 or not re.fullmatch("[0-9a-fA-F]+", digits):
        raise UsageError("tiling data is @FILE, or = and whole bytes in hex")
    return spec._replace(data=bytes.fromhex(digits))


def _scalar(text: str, name: str, value: str | None) -> ArgSpec:
    from cannkit.api.values import find_dtype, pack, parse_value

    try:
        dtype = find_dtype(name)
    except UsageError as error:
        raise UsageError(_unknown(name), hint=FORMS) from error
    if value is None:
        raise UsageError(f"no value, as in {dtype.name}:1")
    return ArgSpec(
        text, Role.SCALAR, dtype, (), data=pack(dtype, (parse_value(dtype, value.strip()),))
    )


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    from cannkit.api.values import SPELLINGS

    known = [role.value for role in Role if role is not Role.SCALAR] + list(SPELLINGS)
    near = get_close_matches(name.lower()[:64], known, n=2, cutoff=0.5)
    return "no such kind of argument" + (f": did you mean {' or '.join(near)}?" if near else "")


def _by_rule(spec: ArgSpec, dtype: Dtype, count: int) -> bytes | None:
    from cannkit.api.values import arange, ones, random

    if spec.rule is Rule.ONES:
        return ones(dtype, count)
    if spec.rule is Rule.ARANGE:
        return arange(dtype, count)
    return random(dtype, count, spec.seed) if spec.rule is Rule.RANDOM else None


def _whole_file(path: str, limit: int, what: str) -> Contents:
    from cannkit.inputs.files import open_window

    window = open_window(path)
    if not 0 < len(window) <= limit:
        why = f"{what} has 1 to {limit} bytes, the file {len(window)}"
        raise InputError("cannot use the file", where=path, why=why)
    return Contents(window[0 : len(window)], len(window))


def _tensor_file(spec: ArgSpec, path: str) -> Contents:
    from cannkit.inputs.files import open_window

    assert spec.dtype is not None
    window = open_window(path)
    size, each = len(window), spec.dtype.size
    if spec.shape is None:
        if size % each or size > TENSOR_LIMIT:
            why = f"{size} bytes are no whole {spec.dtype.name} values, or more than 1 GiB"
            raise InputError("cannot use the file", where=path, why=why)
        return Contents(window, size, (size // each,))
    needed = prod(spec.shape) * each
    if size != needed:
        why = f"{shape_text(spec.dtype, spec.shape)} takes {needed} bytes, the file has {size}"
        raise InputError("cannot use the file", where=path, why=why)
    return Contents(window, needed, spec.shape)


def hex_or_file(text: str, option: str, limit: int) -> bytes:
    """Bytes in hex, or those of `@FILE`, at most `limit`. Raises UsageError, InputError."""
    if text.startswith("@"):
        from cannkit.inputs.files import open_window

        window = open_window(text[1:])
        if len(window) > limit:
            why = f"{option} takes at most {limit} bytes, the file has {len(window)}"
            raise InputError("cannot use the file", where=text[1:], why=why)
        return bytes(window[0 : len(window)])
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise UsageError(f"{option} {brief(text)}: neither @FILE nor whole bytes in hex") from None
