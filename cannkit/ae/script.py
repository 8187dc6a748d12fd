"""Scripts: operations of an engine, one a line, as JSON. cli.md, section 8."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cannkit.ae.operations import Step
from cannkit.ae.task import FWK_SIZE, Parts, Task, make_task
from cannkit.errors import InputError, UsageError, brief
from cannkit.format.ae_event import CLOUD_BASE, FULL_BASE, TsKernel
from cannkit.format.cpu_kernel import KERNEL_TYPE_WORDS, CpuKernelType

MOST_NAMES: Final = 1024  # of a batch, as of batchLoadsoFrombuf
U32: Final = (1 << 32) - 1
CALL_KEYS: Final = (
    *("op", "type", "so", "func", "param", "blockId", "blockNum", "addrNull"),
    *("fwkType", "opType", "fwkNull", "custSd"),
)
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "call": CALL_KEYS,
    "close": ("op", "type", "so", "custSd"),
    "batch": ("op", "type", "sos", "custSd"),
    "clear": ("op", "custSd"),
    "addWhite": ("op", "so", "custSd"),
    "delWhite": ("op", "so", "custSd"),
}
WORD: Final = 4  # bytes


def parse_script(raw: bytes, path: str, *, is_cloud: bool = False) -> list[Step]:
    """The operations in the bytes of a file. Raises InputError for a line that is none, saying which."""
    return list(_steps(path, raw, is_cloud))


def _steps(path: str, raw: bytes, is_cloud: bool) -> Iterator[Step]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = _object(line)
            yield _step(row, is_cloud)
        except RecursionError:
            raise _bad(path, number, "it is nested too deeply") from None
        except UsageError as error:
            raise _bad(path, number, str(error)) from error
        except ValueError as error:  # no JSON, no UTF-8, a value of another kind
            raise _bad(path, number, brief(str(error))) from error


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError("no JSON object")
    return row


def _bad(path: str, number: int, why: str) -> InputError:
    hint = "the README shows a script"
    return InputError("cannot read the script", where=f"{path}, line {number}", why=why, hint=hint)


def _step(row: Mapping[str, Any], is_cloud: bool) -> Step:
    op = row.get("op", "call")
    if not isinstance(op, str) or op not in KEYS:
        raise ValueError(f"no operation {brief(repr(op))}: there are {', '.join(KEYS)}")
    unknown = [key for key in row if key not in KEYS[op]]
    if unknown:
        raise ValueError(f"{op} has no key {brief(repr(unknown[0]))}: it has {', '.join(KEYS[op])}")
    flag = _take(row, "custSd", bool, None)
    if op == "call":
        kind = _type(row)
        return Step(op, kind, task=_task(row, kind, is_cloud), is_cust_sd=flag)
    if op == "batch":
        names = _take(row, "sos", list, [])
        if len(names) > MOST_NAMES:
            raise ValueError(f"sos: {len(names)} names, at most {MOST_NAMES}")
        if not all(name is None or _is_name(name) for name in names):
            raise ValueError("sos: names, or null")
        return Step(op, _type(row), tuple(names), is_cust_sd=flag)
    of = _type(row) if "type" in KEYS[op] else None
    return Step(op, of, (_name(row, "so"),) if "so" in KEYS[op] else (), is_cust_sd=flag)


def _task(row: Mapping[str, Any], kind: int, is_cloud: bool) -> Task:
    if kind == CpuKernelType.FWK:
        param = _param(row)
        if param is None and not _take(row, "fwkNull", bool, False):
            words = [_number(row, key, 0) for key in ("fwkType", "opType")]
            param = b"".join(word.to_bytes(WORD, "little") for word in words) + bytes(
                FWK_SIZE - 2 * WORD
            )
        parts = Parts(kind, param=param)
    else:
        blocks = _number(row, "blockId", 0), _number(row, "blockNum", 1)
        parts = Parts(kind, _name(row, "so"), _name(row, "func"), _param(row), *blocks)
    if _take(row, "addrNull", bool, False):
        base = bytes(CLOUD_BASE if is_cloud else FULL_BASE)
        return Task(TsKernel(kind, base), None)
    return make_task(parts, is_cloud=is_cloud)


def _type(row: Mapping[str, Any]) -> int:
    value = row.get("type", CpuKernelType.AICPU.value)
    if isinstance(value, str) and value in KERNEL_TYPE_WORDS:
        return KERNEL_TYPE_WORDS[value]
    return _number(row, "type", CpuKernelType.AICPU.value)


def _param(row: Mapping[str, Any]) -> bytes | None:
    """A number is the 32-bit word that the argument points at, a text is hex."""
    value = row.get("param")
    if value is None:
        return None
    if isinstance(value, str):
        try:
            return bytes.fromhex(value.removeprefix("0x"))
        except ValueError:
            raise ValueError(f"param: {brief(repr(value))} is no hex") from None
    return _number(row, "param", None).to_bytes(WORD, "little")


def _number(row: Mapping[str, Any], key: str, default: int | None) -> int:
    value = row.get(key, default)
    if type(value) is not int or not 0 <= value <= U32:
        raise ValueError(f"{key}: a number of 32 bits, not {brief(repr(value))}")
    return value


def _name(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not _is_name(value):
        raise ValueError(f"{key}: a text without NUL, or null, not {brief(repr(value))}")
    return value


def _is_name(value: object) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _take(row: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = row.get(key, default)
    if value is not default and not isinstance(value, kind):
        raise ValueError(f"{key}: not {brief(repr(value))}")
    return value
