"""Read Ascend kernel objects as the CANN runtime does, without an NPU."""

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
}
__all__ = [
    "CannkitError",
    "FormatError",
    "InputError",
    "KernelObject",
    "RtError",
    "Runtime",
    "UsageError",
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
