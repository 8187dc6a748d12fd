"""AeContext: what the engine knows of the process it runs in. Spec 05, AE-308 and AE-1201."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from cannkit.format.ae_status import RunMode

HOME: Final = "HOME"
INNER_PATH: Final = "ASCEND_AICPU_KERNEL_PATH"
CUST_PATH: Final = "ASCEND_CUST_AICPU_KERNEL_CACHE_PATH"
VARIABLES: Final = (HOME, INNER_PATH, CUST_PATH)  # all that the engine reads
DEFAULT_HOME: Final = "/home/HwHiAiUser"

VIRTUAL_DEVICES: Final = range(32, 64)  # AE-309; their vf ids are paired, AE-601


class AeContext(NamedTuple):
    """A process of the AI CPU: run mode, which scheduler it is, device, vf, host process, environment.

    `vf` is the unique id (AE-309). A variable that is not in `env` is unset. `mode_fails` and
    `context_fails`: the process cannot read its run mode, or of which host process it works for.
    """

    run_mode: RunMode = RunMode.PCIE
    is_cust_sd: bool = False
    device: int = 0
    vf: int = 0
    pid: int = 0
    env: Mapping[str, str] = MappingProxyType({HOME: DEFAULT_HOME})
    mode_fails: bool = False
    context_fails: bool = False


def unique_vf(device: int, vf: int = 0) -> int:
    """AE-309: the unique id of a virtual function that nobody else said: a virtual device has its own.

    What other devices make of `vf` depends on a number that only the driver knows.
    """
    return device if device in VIRTUAL_DEVICES else vf


def byte_length(text: str) -> int:
    """How many bytes a name or a path has, which all limits count."""
    return len(text) if text.isascii() else len(_encoded(text))


def cut_bytes(text: str, limit: int) -> str:
    """The first `limit` bytes of a name."""
    if text.isascii():
        return text[:limit]
    return _encoded(text)[:limit].decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return text.encode("utf-8", "surrogatepass")
