"""Read, register, load and launch Ascend kernels as the CANN runtime does, without an NPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cannkit.ae.caller import CallEndedError as CallEndedError
    from cannkit.ae.callers import DryCaller as DryCaller
    from cannkit.ae.callers import TableCaller as TableCaller
    from cannkit.ae.context import AeContext as AeContext
    from cannkit.ae.engine import AeEngine as AeEngine
    from cannkit.ae.event import AeEvent as AeEvent
    from cannkit.ae.event import Argument as Argument
    from cannkit.ae.event import Segment as Segment
    from cannkit.ae.install import CustSoWriter as CustSoWriter
    from cannkit.api.ai_cpu import AiCpu as AiCpu
    from cannkit.api.check import check_many as check_many
    from cannkit.api.operator import Case as Case
    from cannkit.api.operator import Operator as Operator
    from cannkit.api.operator import OperatorError as OperatorError
    from cannkit.api.operator import OperatorRun as OperatorRun
    from cannkit.api.parse import parse as parse
    from cannkit.api.parse import parse_all as parse_all
    from cannkit.api.parse import parse_many as parse_many
    from cannkit.api.runtime import Runtime as Runtime
    from cannkit.check.finding import Finding as Finding
    from cannkit.check.finding import Rule as Rule
    from cannkit.check.run import CheckResult as CheckResult
    from cannkit.errors import CannkitError as CannkitError
    from cannkit.errors import FormatError as FormatError
    from cannkit.errors import InputError as InputError
    from cannkit.errors import UsageError as UsageError
    from cannkit.format.ae_status import AeStatus as AeStatus
    from cannkit.format.ae_status import RunMode as RunMode
    from cannkit.format.status import RtError as RtError
    from cannkit.image.kernel_object import KernelObject as KernelObject
    from cannkit.inputs.memory_tree import MemoryTree as MemoryTree
    from cannkit.inputs.rooted import RootedFiles as RootedFiles
    from cannkit.inputs.rooted_writer import RootedWriter as RootedWriter
    from cannkit.ops.call import CallOptions as CallOptions
    from cannkit.runtime.arg_values import ArgKind as ArgKind
    from cannkit.runtime.arg_values import UserArg as UserArg
    from cannkit.runtime.args import Dim3 as Dim3
    from cannkit.runtime.launch_config import LaunchConfig as LaunchConfig

__version__ = "0.1.0"

_HOME = {
    "parse": "cannkit.api.parse",
    "parse_all": "cannkit.api.parse",
    "parse_many": "cannkit.api.parse",
    "check_many": "cannkit.api.check",
    "CheckResult": "cannkit.check.run",
    "Finding": "cannkit.check.finding",
    "Rule": "cannkit.check.finding",
    "CallOptions": "cannkit.ops.call",
    "Case": "cannkit.api.operator",
    "Operator": "cannkit.api.operator",
    "OperatorError": "cannkit.api.operator",
    "OperatorRun": "cannkit.api.operator",
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
    "AeContext": "cannkit.ae.context",
    "RootedWriter": "cannkit.inputs.rooted_writer",
    "CustSoWriter": "cannkit.ae.install",
    "AiCpu": "cannkit.api.ai_cpu",
    "AeEngine": "cannkit.ae.engine",
    "AeEvent": "cannkit.ae.event",
    "AeStatus": "cannkit.format.ae_status",
    "Argument": "cannkit.ae.event",
    "CallEndedError": "cannkit.ae.caller",
    "DryCaller": "cannkit.ae.callers",
    "MemoryTree": "cannkit.inputs.memory_tree",
    "RootedFiles": "cannkit.inputs.rooted",
    "RunMode": "cannkit.format.ae_status",
    "Segment": "cannkit.ae.event",
    "TableCaller": "cannkit.ae.callers",
}
__all__ = [
    "AeContext",
    "AeEngine",
    "AeEvent",
    "AeStatus",
    "AiCpu",
    "ArgKind",
    "Argument",
    "CallEndedError",
    "CallOptions",
    "CannkitError",
    "Case",
    "CheckResult",
    "CustSoWriter",
    "Dim3",
    "DryCaller",
    "Finding",
    "FormatError",
    "InputError",
    "KernelObject",
    "LaunchConfig",
    "MemoryTree",
    "Operator",
    "OperatorError",
    "OperatorRun",
    "RootedFiles",
    "RootedWriter",
    "RtError",
    "Rule",
    "RunMode",
    "Runtime",
    "Segment",
    "TableCaller",
    "UsageError",
    "UserArg",
    "__version__",
    "check_many",
    "parse",
    "parse_all",
    "parse_many",
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
