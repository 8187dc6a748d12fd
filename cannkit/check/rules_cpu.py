"""Rules on the AI CPU operators of a package: what their JSON says. Spec 02, section 5; 05, sections 6, 7 and 9."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from cannkit.ae.context import byte_length
from cannkit.ae.fwk_path import TF_KERNELS
from cannkit.ae.kernel_libs import FUNC_NAME_LIMIT, TF_FUNCTION
from cannkit.ae.path_hints import is_renamed_tf
from cannkit.ae.so_path import SO_NAME_LIMIT, is_so_name
from cannkit.ae.static_check import missing_export
from cannkit.ae.write_rules import NAME_LIMIT
from cannkit.check.finding import Finding, Level, rule
from cannkit.check.package_subject import PackageRule, PackageSubject
from cannkit.check.rules_cpu_library import PACKAGE_RULES as LIBRARY_RULES
from cannkit.check.rules_operators import PACKAGE_RULES as OPERATOR_RULES
from cannkit.errors import CannkitError, brief
from cannkit.format.host_library import HostLibrary
from cannkit.format.sidecar import MAX_SIZE, parse_json
from cannkit.image.package import Package
from cannkit.runtime.cpu_ops import read_cpu_ops
from cannkit.runtime.kernel import CpuFunction, CpuKernelType

SHOWN: Final = 5
MOST_HINTS: Final = 4  # names that come near are slow to find
NEEDED: Final = ("functionName", "kernelSo", "opKernelLib")  # OPR-504
KFC: Final = (CpuKernelType.AICPU_KFC, CpuKernelType.CUSTOM_KFC)
ON_DEVICE: Final = frozenset(  # AE-612
    {
        *("libretr_kernels.so", "libhccl_operator_call.so", "libbuiltin_kernels.so", TF_KERNELS),
        *("libaicpu_kernels.so", "libcpu_kernels.so", "libaicpu_extend_kernels.so"),
        *("libdvpp_kernels.so", "libmpi_dvpp_kernels.so", "libpt_kernels.so"),
    }
)
_prototypes = re.compile(r"\bREG_OP\s*\(\s*(\w+)\s*\)").findall

K401 = rule(
    "K401",
    "the JSON of AI CPU operators cannot be read",
    Level.ERROR,
    why="The runtime registers none of its operators.",
    fix="Write one object: operator names, each with an opInfo.",
    spec="CPU-4 JSN-09",
)
K402 = rule(
    "K402",
    "an AI CPU operator lacks fields",
    Level.ERROR,
    why="The runtime drops the operator or registers it empty; aclnn drops the whole file.",
    fix="Give each opInfo the texts functionName, kernelSo and opKernelLib.",
    spec="CPU-4 OPR-504",
)
K403 = rule(
    "K403",
    "the opKernelLib of an AI CPU operator is unknown",
    Level.ERROR,
    why="It is registered with kernel type 99, which no scheduler serves: each launch fails.",
    fix="Use CUSTAICPUKernel, AICPUKernel, TFKernel, KFCKernel or CUSTKFCKernel.",
    spec="CPU-5 AE-203",
)
K404 = rule(
    "K404",
    "the library of an AI CPU operator is not in the package",
    Level.ERROR,
    why="The device finds no library of this name: the call ends with 11002.",
    fix="Ship the library in op_impl/cpu/aicpu_kernel/impl/, or correct kernelSo.",
    spec="OPR-501 AE-602",
)
K406 = rule(
    "K406",
    "the library of an AI CPU operator does not export its function",
    Level.ERROR,
    why="The engine looks the name up in the library: the call ends with 11003.",
    fix='Declare the function extern "C" with default visibility, or correct functionName.',
    spec="AE-701 AE-702",
)
K410 = rule(
    "K410",
    "a name of an AI CPU operator is over the limits",
    Level.ERROR,
    why="The engine cuts longer names without a word and looks for what is left, or refuses them.",
    fix="Names of libraries have at most 100 bytes of A-Z a-z 0-9 - _ . and those of functions at most 200.",
    spec="AE-701 AE-702 AE-904",
)
K411 = rule(
    "K411",
    "two libraries export one KFC function",
    Level.WARNING,
    why="KFC functions are remembered by their names only: the library that is called first wins.",
    fix="Give each library functions of its own names.",
    spec="AE-702",
)
K412 = rule(
    "K412",
    "a misnamed libtf_kernels.so",
    Level.ERROR,
    why="Only the exact file name goes to the framework lib, and that opens no other.",
    fix="Call TensorFlow's kernels libtf_kernels.so, and no other library so.",
    spec="AE-507 AE-611",
)
K413 = rule(
    "K413",
    "an AI CPU operator has no prototype",
    Level.WARNING,
    why="The package has prototypes of other operators: graphs do not know this one.",
    fix="Add REG_OP of the operator, or take it out of the JSON.",
)


class CpuConfig(NamedTuple):
    """A JSON of AI CPU operators, with (where, message) of what is wrong; `why` it cannot be read."""

    place: str
    ops: tuple[CpuFunction, ...] = ()
    lacking: tuple[tuple[str, str], ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    why: str = ""

    def each(self) -> Iterator[tuple[str, CpuFunction]]:
        """Its operators, and where they are in it."""
        for op in self.ops:
            yield f"op {brief(op.op_type)}", op


class Known:
    """What every JSON of a package is held against. Changes: counts the names near others."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self.hints = MOST_HINTS

    @cached_property
    def libraries(self) -> Mapping[str, list[HostLibrary | None]]:
        """The libraries by their file names."""
        found: defaultdict[str, list[HostLibrary | None]] = defaultdict(list)
        for each in self._package.cpu_libraries:
            found[each.file_name].append(each.library)
        return found

    @cached_property
    def exporters(self) -> Mapping[str, list[str]]:
        """The names of the libraries that export a function."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for each in self._package.cpu_libraries:
            for name in each.library.exports if each.library is not None else ():
                found[name].append(each.file_name)
        return found

    @cached_property
    def prototypes(self) -> frozenset[str]:
        """The operators that have one."""
        texts = self._package.prototypes.values()
        return frozenset(op for text in texts for op in _prototypes(text))


def check_operators(subject: PackageSubject) -> Iterator[Finding]:
    """K401 to K413, but those on libraries: each JSON is read once."""
    known = Known(subject.package)
    for name in subject.package.cpu_configs:
        config = _read(subject, name)
        for apply in (_json, _functions, _names, _kfc, _framework, _prototyped):
            yield from apply(known, config)
    yield from _framework_libraries(subject)


def _read(subject: PackageSubject, name: str) -> CpuConfig:
    place = subject.place_of(name)
    try:
        raw = subject.package.read(name, MAX_SIZE) or b""
        root, found = parse_json(raw), read_cpu_ops(raw)
    except CannkitError as error:
        return CpuConfig(place, why=error.why or error.what)
    items = root if isinstance(root, dict) else {}
    skipped = (each for each in found.warnings if each.code != "op-kernel-lib")
    lacking = [(where, message) for _, where, message in skipped]
    unknown = []
    for op in found.ops:
        info, where = items[op.op_type]["opInfo"], f"op {brief(op.op_type)}"
        fields = info if isinstance(info, dict) else {}
        absent = [key for key in NEEDED if not fields.get(key)]
        if absent:
            lacking.append((where, f"no {', '.join(absent)}"))
        if op.kernel_type is CpuKernelType.RESERVED and "opKernelLib" not in absent:
            unknown.append((where, f"opKernelLib is {brief(fields['opKernelLib'])!r}"))
    return CpuConfig(place, found.ops, tuple(lacking), tuple(unknown))


def _json(_: Known, config: CpuConfig) -> Iterator[Finding]:
    if config.why:
        yield Finding(K401, config.place, None, config.why)
    for found, pairs in ((K402, config.lacking), (K403, config.unknown)):
        for where, message in pairs:
            yield Finding(found, config.place, where, message)


def _functions(known: Known, config: CpuConfig) -> Iterator[Finding]:
    """K404, K406: libraries are in the package and export what operators call."""
    for where, op in config.each():
        found = known.libraries.get(op.kernel_so, [])
        if op.kernel_so and not found and op.kernel_so not in ON_DEVICE:
            yield Finding(K404, config.place, where, f"the package has no {brief(op.kernel_so)}")
        if op.kernel_type is CpuKernelType.FWK or not op.function:  # the name is not asked for
            continue
        for library in found[:SHOWN]:
            if library is not None and op.function not in library.exports:
                known.hints -= 1
                why = f"it does not export {brief(op.function)}"
                if known.hints >= 0:
                    why = missing_export(library, op.function)
                yield Finding(K406, config.place, where, f"{brief(op.kernel_so)}: {why}")


def _names(_: Known, config: CpuConfig) -> Iterator[Finding]:
    """K410: what the engine cuts or refuses."""
    for where, op in config.each():
        size, length = byte_length(op.kernel_so), byte_length(op.function)
        if size > NAME_LIMIT:
            why = f"kernelSo has {size} bytes: over {NAME_LIMIT} it is not written to the device"
            yield Finding(K410, config.place, where, why)
        elif size > SO_NAME_LIMIT:
            why = f"kernelSo has {size} bytes, the engine takes the first {SO_NAME_LIMIT}"
            yield Finding(K410, config.place, where, why)
        if op.kernel_so and not is_so_name(op.kernel_so):
            why = f"kernelSo {brief(op.kernel_so)!r} has other characters than A-Z a-z 0-9 - _ ."
            yield Finding(K410, config.place, where, why)
        if length > FUNC_NAME_LIMIT:
            does = "refuses it" if op.kernel_type in KFC else f"takes the first {FUNC_NAME_LIMIT}"
            why = f"functionName has {length} bytes, the engine {does}"
            yield Finding(K410, config.place, where, why)


def _kfc(known: Known, config: CpuConfig) -> Iterator[Finding]:
    """K411: KFC functions that more than one library exports."""
    wanted = {op.function: where for where, op in config.each() if op.kernel_type in KFC}
    for name, where in wanted.items():
        files = known.exporters.get(name, [])
        if len(files) > 1:
            message = f"{brief(name)} is exported by {', '.join(map(brief, files[:SHOWN]))}"
            yield Finding(K411, config.place, where, message)


def _framework(_: Known, config: CpuConfig) -> Iterator[Finding]:
    for where, op in config.each():
        if op.kernel_type is CpuKernelType.FWK and op.kernel_so not in ("", TF_KERNELS):
            why = f"TFKernel opens {TF_KERNELS}, never {brief(op.kernel_so)}"
            yield Finding(K412, config.place, where, why)


def _framework_libraries(subject: PackageSubject) -> Iterator[Finding]:
    for each in subject.package.cpu_libraries:
        place, name = subject.place_of(each.name), each.file_name
        exports = each.library is not None and TF_FUNCTION in each.library.exports
        if is_renamed_tf(name) or (exports and name != TF_KERNELS):
            yield Finding(K412, place, None, f"it is not called {TF_KERNELS}")
        elif name == TF_KERNELS and each.library is not None and not exports:
            yield Finding(K412, place, None, f"it does not export {TF_FUNCTION}")


def _prototyped(known: Known, config: CpuConfig) -> Iterator[Finding]:
    """K413: operators of the JSON have prototypes, where the package has any."""
    for where, op in config.each() if known.prototypes else ():
        if op.op_type not in known.prototypes:
            message = f"op_proto/inc has no REG_OP({brief(op.op_type)})"
            yield Finding(K413, config.place, where, message)


PACKAGE_RULES: Final[tuple[PackageRule, ...]] = (
    check_operators,
    *OPERATOR_RULES,
    *LIBRARY_RULES,
)
