"""The JSON beside an operator object, read as strictly as the runtime does. Spec 01, section 10."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, NoReturn

from cannkit.errors import FormatError

MAX_SIZE: Final = 4 << 20  # HAZ-14; real ones have some kilobytes
MAX_DEPTH: Final = 64  # HAZ-14
MOST_BRACKETS: Final = 1 << 18  # HAZ-14: each takes 60 bytes or more; real JSON has one in 100

# JSN-06: the number each magic string stands for.
MAGIC: Mapping[str, int] = {
    "RT_DEV_BINARY_MAGIC_ELF": 0x43554245,
    "RT_DEV_BINARY_MAGIC_ELF_AIVEC": 0x41415246,
    "RT_DEV_BINARY_MAGIC_ELF_AICUBE": 0x41494343,
    "FFTS_BINARY_MAGIC_ELF_MIX_AIC": 0x41415246,
    "FFTS_BINARY_MAGIC_ELF_MIX_AIV": 0x41415246,
}


class SidecarKernel(NamedTuple):
    """An entry of kernelList: a kernel by its name without the mix suffix."""

    name: str
    tiling_key: int | None
    task_ration: str | None


class Sidecar(NamedTuple):
    """What the JSON says, None where a key is absent or of another type. JSN-07: `raw` has all."""

    raw: object
    bin_file_name: str | None
    kernel_name: str | None
    magic: str | None
    core_type: str | None
    sha256: str | None
    task_ration: str | None
    debug_options: str | None
    intercore_sync: int | None
    op_para_size: int | None
    block_dim: int | None
    debug_buf_size: int | None
    dynamic_param_mode: str | None
    optional_input_mode: str | None
    optional_output_mode: str | None
    kernel_list: tuple[SidecarKernel, ...]

    @property
    def keys(self) -> Mapping[str, Any]:
        """The root object; a root that is not an object has no keys (JSN-02)."""
        return self.raw if isinstance(self.raw, dict) else {}


def parse_json(raw: bytes) -> object:
    """Parse one JSON text by the runtime's rules (JSN-02), within the limits of HAZ-14.

    Raises FormatError: comments, NaN, trailing commas or bytes, bad UTF-8, raw control bytes,
    unpaired surrogates, numbers that overflow a double, nesting deeper than 64.
    """
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
        brackets = text.count("[") + text.count("{")
        if brackets > MOST_BRACKETS:
            raise FormatError(
                "JSON has too many parts",
                why=f"{brackets} lists and objects, more than {MOST_BRACKETS}",
                rule="HAZ-14",
            )
        start = len(text) - len(text.lstrip(" \t\n\r"))
        value, end = _DECODER.raw_decode(text, start)
        rest = text[end:].lstrip(" \t\n\r")
        if rest and rest[0] != "\0":  # a NUL byte after the root value ends the text
            raise ValueError(f"text after the root value at character {len(text) - len(rest)}")
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(
            "not valid JSON", why="unpaired surrogate escape", rule="JSN-02"
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise FormatError("not valid JSON", why=str(error), rule="JSN-02") from None
    if brackets > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep()
    return value


def _too_deep() -> FormatError:
    return FormatError("JSON nested too deeply", why=f"more than {MAX_DEPTH} levels", rule="HAZ-14")


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
    return depth


def _integer(text: str) -> int | float:
    value = int(text) if len(text) < 400 else _real(text)
    return value if -(1 << 63) <= value < 1 << 64 else _real(text)


def _real(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"number overflows a double: {text[:24]}")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_real, parse_constant=_constant)


def read_sidecar(raw: bytes) -> Sidecar:
    """The keys of a sidecar; raises FormatError when the text is not JSON."""
    root = parse_json(raw)
    keys: Mapping[str, Any] = root if isinstance(root, dict) else {}

    def text(key: str) -> str | None:
        value = keys.get(key)
        return value if isinstance(value, str) else None

    def number(key: str) -> int | None:
        value = keys.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    sync = keys.get("intercoreSync")
    return Sidecar(
        raw=root,
        bin_file_name=text("binFileName"),
        kernel_name=text("kernelName"),
        magic=text("magic"),
        core_type=text("coreType"),
        sha256=text("sha256"),
        task_ration=text("taskRation"),
        debug_options=text("debugOptions"),
        # JSN-04: numerically 1, so 1.0 counts; true and "1" do not
        intercore_sync=int(sync) if type(sync) is float and sync == 1 else number("intercoreSync"),
        op_para_size=number("opParaSize"),
        block_dim=number("blockDim"),
        debug_buf_size=number("debugBufSize"),
        dynamic_param_mode=text("dynamicParamMode"),
        optional_input_mode=text("optionalInputMode"),
        optional_output_mode=text("optionalOutputMode"),
        kernel_list=_kernel_list(keys.get("kernelList")),
    )


def _kernel_list(value: object) -> tuple[SidecarKernel, ...]:
    entries = value if isinstance(value, list) else []
    return tuple(
        SidecarKernel(
            name=entry["kernelName"],
            tiling_key=key if isinstance(key := entry.get("tilingKey"), int) else None,
            task_ration=ratio if isinstance(ratio := entry.get("taskRation"), str) else None,
        )
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("kernelName"), str)
    )
