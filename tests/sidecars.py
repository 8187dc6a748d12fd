"""The JSON that the compile side writes beside an operator object. Spec 01, section 10.2."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from cannkit.format.ascend_meta import FuncType
from tests.shapes import DEBUG_BUFFER, Kernel, Operator, Tensor

DTYPE_CODES: Final = {"float32": 0, "float16": 1, "int32": 3, "uint8": 4, "int64": 9}  # JSN-08
FORMAT_ND: Final = 2
PLACEHOLDER: Final = "gen_placeholder"
CORE_TYPES: Final = {  # JSN-10 (i)
    "VectorCore": ("AIV", 0, "RT_DEV_BINARY_MAGIC_ELF_AIVEC"),
    "AiCore": ("AIC", 0, "RT_DEV_BINARY_MAGIC_ELF_AICUBE"),
    "MIX": (None, 1, "RT_DEV_BINARY_MAGIC_ELF"),
}


def sidecar_keys(operator: Operator, data: bytes) -> dict[str, Any]:
    """The keys of the sidecar of an object with the bytes `data`, in the order of real ones."""
    core, (short, sync, magic) = _core(operator)
    tensors = operator.inputs + operator.outputs
    ratio = _ratio(operator)
    keys: dict[str, Any] = {
        "binFileName": operator.stem,
        "binFileSuffix": ".o",
        "blockDim": -1,
        "coreType": core,
        "core_type": short,
        "intercoreSync": sync,
        "kernelName": operator.stem,
        "magic": magic,
        "memoryStamping": [],
        "opParaSize": operator.tiling,
        "parameters": [None] * (len(tensors) + 1),
        "sha256": sha256(data).hexdigest(),
        "workspace": {"num": 1, "size": [-1], "type": [0]},
        "debugOptions": operator.debug or None,
        "debugBufSize": DEBUG_BUFFER if operator.debug else None,
        "kernelList": _kernel_list(operator, ratio),
        "taskRation": ratio,
        "dynamicParamMode": "folded_with_desc" if operator.folded else None,
        "optionalInputMode": PLACEHOLDER,
        "optionalOutputMode": PLACEHOLDER,
        "supportSuperKernel": 1,
        "compileInfo": {},
        "supportInfo": _support_info(operator),
        "filePath": f"{operator.folder}/{_op_dir(operator)}/{operator.stem}.json",
    }
    return {key: value for key, value in keys.items() if value is not None}


def sidecar(operator: Operator, data: bytes, **changes: Any) -> bytes:
    """The sidecar as bytes; `changes` replace keys, None takes one out."""
    return json_bytes(sidecar_keys(operator, data) | changes)


def json_bytes(keys: Mapping[str, Any]) -> bytes:
    """Keys that are not None, indented by one space as the compile side does."""
    present = {key: value for key, value in keys.items() if value is not None}
    return json.dumps(present, indent=1).encode() + b"\n"


def _core(operator: Operator) -> tuple[str, tuple[str | None, int, str]]:
    if any(kernel.suffix for kernel in operator.kernels):
        name = "MIX"
    else:
        is_cube = operator.kernels[0].func_type is FuncType.AIC
        name = "AiCore" if is_cube else "VectorCore"
    return name, CORE_TYPES[name]


def _ratio(operator: Operator) -> str | None:
    """The ratio of all kernels, or `tilingKey` where each has its own."""
    ratios = {kernel.ratio for kernel in operator.kernels}
    if ratios == {None}:
        return None
    return _text(operator.kernels[0]) if len(ratios) == 1 else "tilingKey"


def _text(kernel: Kernel) -> str:
    return "{}:{}".format(*(kernel.ratio or (0, 0)))


def _kernel_list(operator: Operator, ratio: str | None) -> list[dict[str, Any]]:
    entries: dict[int, dict[str, Any]] = {}  # a mix pair is one entry
    for kernel in operator.kernels:
        entry: dict[str, Any] = {}
        if ratio == "tilingKey":
            entry = {"tilingKey": kernel.key, "kernelType": "MIX_AIC", "crossCoreSync": 1}
            entry["taskRation"] = _text(kernel)
        entries[kernel.key] = entry | {"kernelName": f"{operator.stem}_{kernel.key}"}
    return list(entries.values())


def _op_type(operator: Operator) -> str:
    return operator.stem.partition("_")[0]


def _op_dir(operator: Operator) -> str:
    name = _op_type(operator)
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")


def _support_info(operator: Operator) -> dict[str, Any]:
    tensors = operator.inputs + operator.outputs
    codes = "/".join(f"{DTYPE_CODES[tensor.dtype]},{FORMAT_ND}" for tensor in tensors)
    keys = [f"{_op_type(operator)}/d={d},p={p}/{codes}" for d in (0, 1) for p in (1, 0)]
    return {
        "implMode": "high_performance",
        "int64Mode": False,
        "simplifiedKeyMode": 0,
        "simplifiedKey": keys,
        "optionalInputMode": PLACEHOLDER,
        "optionalOutputMode": PLACEHOLDER,
        "inputs": [_item(at, tensor) for at, tensor in enumerate(operator.inputs)],
        "outputs": [_item(at, tensor) for at, tensor in enumerate(operator.outputs)],
        "attrs": [],
        "opMode": "dynamic",
        "deterministic": "ignore",
    }


def _item(index: int, tensor: Tensor) -> dict[str, Any] | list[dict[str, Any]]:
    item = {
        "name": tensor.name,
        "index": index,
        "dtype": tensor.dtype,
        "format": "ND",
        "paramType": tensor.kind,
        "shape": [-2],
        "format_match_mode": "FormatAgnostic",
    }
    return [item] if tensor.kind == "dynamic" else item
