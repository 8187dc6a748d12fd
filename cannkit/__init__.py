"""Read, register, load and launch Ascend kernels as the CANN runtime does, without an NPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cannkit.api.parse import parse as parse
    from cannkit.api.parse import parse_all as parse_all
    from cannkit.api.runtime import Runtime as Runtime
    from cannkit.errors import CannkitError as CannkitError
    from cannkit.errors import FormatError as FormatError
    from cannkit.errors import InputError as InputError
    from cannkit.errors import UsageError as UsageError
    from cannkit.format.status import RtError as RtError
    from cannkit.image.kernel_object import KernelObject as KernelObject
    from cannkit.runtime.arg_values import ArgKind as ArgKind
    from cannkit.runtime.arg_values import UserArg as UserArg
    from cannkit.runtime.args import Dim3 as Dim3
    from cannkit.runtime.launch_config import LaunchConfig as LaunchConfig

__version__ = "0.1.0"

_HOME = {
    "parse": "cannkit.api.parse",
    "parse_all": "cannkit.api.parse",
    "Runtime": "cannkit.api.runtime",
    "CannkitError": "cannkit.errors",
    "FormatError": "cannkit.errors",
    "InputError": "cannkit.errors",
    "UsageError": "cannkit.errors",
    "RtError": "cannkit.format.status",
    "KernelObject": "cannkit.image.kernel_object",
    "LaunchConfig": "cannkit.runtime.launch_config",
    "Dim3": "cannkit.runtime.args",
    "ArgKind": "cannkit.runtime.arg_values",
    "UserArg": "cannkit.runtime.arg_values",
}
__all__ = [
    "ArgKind",
    "CannkitError",
    "Dim3",
    "FormatError",
    "InputError",
    "KernelObject",
    "LaunchConfig",
    "RtError",
    "Runtime",
    "UsageError",
    "UserArg",
    "__version__",
    "parse",
    "parse_all",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use: `import cannkit` alone costs nothing."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'cannkit' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
