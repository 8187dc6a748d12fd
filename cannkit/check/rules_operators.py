"""Rules on what the JSON of AI CPU operators says of their tensors, and whether kernels are there. Spec 07, section 5."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.package_subject import PackageRule, PackageSubject
from cannkit.check.proto_header import header_prototypes
from cannkit.errors import CannkitError, brief
from cannkit.format.elf_types import ByteView
from cannkit.format.sidecar import MAX_SIZE
from cannkit.ops.description import FUNCTION, tensor_differences
from cannkit.ops.op_json import OpInfo, read_op_json, repeated_names
from cannkit.ops.proto_records import Prototype

SHOWN: Final = 5
CUST: Final = "Cust"
BLOCK_FUNCTION: Final = "RunCpuKernelWithBlock"
IGNORED_ROOT: Final = "custom_aicpu_ops"  # OPR-509
IGNORED_SO: Final = "libcust_cpu_kernels.so"
CHUNK: Final = 1 << 18
LONGEST: Final = 256  # of a name that lies across the end of a chunk
MOST_TAILS: Final = 16

K414 = rule(
    "K414",
    "a data type of an AI CPU operator does not exist",
    Level.WARNING,
    why="The reader for graphs drops it without a word: a tensor of the type that was meant is refused.",
    fix="Correct the name: DT_FLOAT, DT_DOUBLE, DT_BF16, DT_COMPLEX64, ...",
    spec="OPR-503",
)
K415 = rule(
    "K415",
    "two inputs or outputs of an AI CPU operator have one name",
    Level.WARNING,
    why="Who looks a tensor up by its name gets the first one only.",
    fix="Give each input and each output a name of its own.",
    spec="Q-21",
)
K416 = rule(
    "K416",
    "JSON and prototype of an AI CPU operator differ",
    Level.WARNING,
    why="Programs pass what the prototype declares; the kernel gets other tensors than the JSON says.",
    fix="Write the same inputs and outputs, in the same order and of the same names, into both.",
    spec="OPR-506",
)
K417 = rule(
    "K417",
    "the name of an AI CPU operator does not occur in its library",
    Level.NOTE,
    why="Kernels are registered by their exact names: without one each call fails with 4294967295."
    " (A library may put a name together, so this is no proof.)",
    fix="Correct the spelling, in upper and lower case, or take the operator out of the JSON.",
    spec="OPR-212 Q-21",
)
K418 = rule(
    "K418",
    "aclnn ignores this package",
    Level.NOTE,
    why="It skips a custom package whose folder is called custom_aicpu_ops and whose library is"
    " libcust_cpu_kernels.so, as that of MindSpore: only frameworks that launch it themselves use it.",
    fix="Give the folder or the library another name, if aclnn is to find the operators.",
    spec="OPR-509",
)


def check_descriptions(subject: PackageSubject) -> Iterator[Finding]:
    """K414 to K418: each JSON is read once; one that cannot be read is K401."""
    headers: dict[str, Prototype] = {}
    for text in subject.package.prototypes.values():
        headers.update(header_prototypes(text))
    for name in subject.package.cpu_configs:
        try:
            ops = read_op_json(subject.package.read(name, MAX_SIZE) or b"").ops
        except CannkitError:
            continue
        place = subject.place_of(name)
        for op in ops.values():
            yield from _tensors(place, op)
            yield from _prototype(place, op, headers)
        yield from _kernels(subject, place, ops)
        is_named_so = subject.package.name == IGNORED_ROOT
        if is_named_so and any(op.kernel_so == IGNORED_SO for op in ops.values()):
            yield Finding(K418, place, None, f"it is {IGNORED_ROOT} with {IGNORED_SO}")


def _tensors(place: str, op: OpInfo) -> Iterator[Finding]:
    where = f"op {brief(op.name)}"
    for kind, tensors in (("input", op.inputs), ("output", op.outputs)):
        for tensor in tensors:
            if tensor.unknown_types:
                what = f"{kind} {tensor.number} ({brief(tensor.name)})"
                names = brief(", ".join(tensor.unknown_types[:SHOWN]))
                yield Finding(K414, place, where, f"{what}: {names}")
        for twice in repeated_names(tensors):
            yield Finding(K415, place, where, f"two {kind}s are called {brief(twice)}")


def _prototype(place: str, op: OpInfo, headers: Mapping[str, Prototype]) -> Iterator[Finding]:
    prototype = headers.get(op.name)
    if prototype is None or not op.tensors:  # without tensors nothing is said of them
        return
    for kind, json, proto in (
        ("input", op.inputs, prototype.inputs),
        ("output", op.outputs, prototype.outputs),
    ):
        for message in tensor_differences(kind, json, proto, prototype):
            yield Finding(K416, place, f"op {brief(op.name)}", brief(message, 512))


def _kernels(subject: PackageSubject, place: str, ops: Mapping[str, OpInfo]) -> Iterator[Finding]:
    """K417, of libraries that have most of the names: others may not keep names as text."""
    by_library: defaultdict[str, list[str]] = defaultdict(list)
    for op in ops.values():
        if op.function in (FUNCTION, BLOCK_FUNCTION) and op.kernel_so:  # others need no name
            by_library[op.kernel_so].append(op.name)
    for each in subject.package.cpu_libraries:
        names = by_library.pop(each.file_name, [])
        if not names or each.library is None:
            continue
        try:
            data = subject.package.files.open(subject.package.root + each.name)
            missing = _missing_names(data, names)
        except CannkitError:
            continue
        for name in missing:
            message = f"{brief(each.file_name)} does not have the text {brief(name)}"
            yield Finding(K417, place, f"op {brief(name)}", message)


def _missing_names(data: ByteView, names: list[str]) -> list[str]:
    """Names that are no text of a library, where most of them are; `CustX` may be made from X (OPR-212)."""
    plain = {name: name.removeprefix(CUST).encode("utf-8", "replace") for name in names}
    wanted = {*plain.values(), *(name.encode("utf-8", "replace") for name in names)}
    found: set[bytes] = set()
    for chunk in _chunks(data):
        found.update(wanted.intersection(chunk.split(b"\0")))

    def left() -> list[str]:
        return [
            name
            for name, text in plain.items()
            if text not in found and name.encode("utf-8", "replace") not in found
        ]

    if 2 * len(left()) >= len(names):
        return []
    tails = dict.fromkeys(plain[name] for name in left())
    for chunk in _chunks(data) if tails else ():  # the linker keeps a text as the tail of another
        found.update(text for text in list(tails)[:MOST_TAILS] if text + b"\0" in chunk)
    return left()


def _chunks(data: ByteView) -> Iterator[bytes]:
    for start in range(0, len(data), CHUNK):
        yield bytes(data[start : start + CHUNK + LONGEST])


PACKAGE_RULES: Final[tuple[PackageRule, ...]] = (check_descriptions,)
