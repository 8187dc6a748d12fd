"""Rules about the metadata records of an object and its kernels: K030 to K039. Spec 01, 4 to 8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, Rule, rule
from cannkit.check.subject import ObjectSubject
from cannkit.errors import brief
from cannkit.format.ascend_meta import FUNCTION_META, FUNCTION_SECTION, FunctionMeta
from cannkit.format.elf_types import SectionType
from cannkit.image.kernel_object import KernelObject
from cannkit.image.layout import FUNCTION, NAME_BYTES, NAME_LIMIT

ARGUMENT: Final = 8  # bytes of a slot of the argument block
DECODED: Final = {*FUNCTION_META, FunctionMeta.DFX_TYPE}

K030 = rule(
    "K030",
    "metadata record cut off",
    Level.ERROR,
    why="The runtime drops the record and everything behind it, without a word.",
    fix="Build the object again.",
    spec="TLV-02 TLV-06",
)
K031 = rule(
    "K031",
    "metadata record of the wrong length",
    Level.ERROR,
    why="The runtime reads a fixed width whatever the record says: a short one ends in its neighbour.",
    fix="Build the object with a compiler of the toolkit that the runtime is from.",
    spec="TLV-04 HAZ-06",
)
K032 = rule(
    "K032",
    "metadata record given twice",
    Level.WARNING,
    why="Only the last one counts for the loader, the first one for a query.",
    fix="Find out which build step adds the record again.",
    spec="TLV-04 FUN-03 QRY-03",
)
K033 = rule(
    "K033",
    "metadata record of an unknown type",
    Level.NOTE,
    why="This runtime skips it: what a newer compiler says there has no effect.",
    fix="Nothing, if the object is meant for a newer runtime, too.",
    spec="TLV-05",
)
K034 = rule(
    "K034",
    "argument records are malformed",
    Level.ERROR,
    why="The runtime counts the kernel's arguments wrongly, or reads out of bounds.",
    fix="Build the object again.",
    spec="DFX-01 DFX-09 HAZ-07",
)
K035 = rule(
    "K035",
    "argument records differ from the argument block",
    Level.WARNING,
    why="Metadata and code were compiled from different argument lists.",
    fix="Build the object again from one source.",
    spec="DFX-10 ARG-01",
)
K036 = rule(
    "K036",
    "parameter without a description",
    Level.WARNING,
    why="The runtime keeps uninitialised memory for it and launches with that.",
    fix="Build the object again.",
    spec="FUN-05",
)
K037 = rule(
    "K037",
    "parameter outside the packed buffer",
    Level.ERROR,
    why="A launch copies the argument without a check, over the end of the buffer.",
    fix="Build the object again.",
    spec="HAZ-09",
)
K038 = rule(
    "K038",
    "stack record ignored",
    Level.WARNING,
    why="The runtime takes its default instead of the size that the kernels were compiled for.",
    fix="Compile all units with one stack size, 16384 or 32768.",
    spec="STK-01 STK-02",
)
K039 = rule(
    "K039",
    "feature request ignored",
    Level.WARNING,
    why="The runtime knows no such feature and does not prepare it.",
    fix="Build the object with a compiler of the toolkit that the runtime is from.",
    spec="BIN-01",
)

REMARKS: Final[Mapping[str, Rule]] = {
    "tlv-truncated": K030,
    "tlv-length": K031,
    "dfx-malformed": K034,
    "dfx-count": K034,
    "param-missing": K036,
    "param-extent": K037,
    "stack-record": K038,
    "implicit-feature": K039,
}


def check_remarks(subject: ObjectSubject) -> Iterator[Finding]:
    """K030 to K039: what the reader of the records remarked."""
    for code, where, message in subject.obj.warnings:
        found = REMARKS.get(code)
        if found is not None:
            yield Finding(found, subject.place, where, message)


def check_records(subject: ObjectSubject) -> Iterator[Finding]:
    """K032 and K033: records given twice, or of a type that nobody knows."""
    for kernel in subject.obj.kernels:
        where = f"kernel {brief(kernel.name)}"
        records = [record for record in kernel.records if not record.tlv.is_padding]
        unknown = {record.name: None for record in records if record.tlv.type not in DECODED}
        if unknown:
            yield Finding(K033, subject.place, where, f"{_few(list(unknown))}: skipped")
        counts = Counter(record.name for record in records if record.tlv.type in DECODED)
        del counts[FunctionMeta.PARAM_INFO.name]  # one for each parameter
        for name, count in counts.items():
            if count > 1:
                message = f"{name} is there {count} times, the last one counts"
                yield Finding(K032, subject.place, where, message)


def check_sections(subject: ObjectSubject) -> Iterator[Finding]:
    """K032: two sections for one kernel."""
    for name, count in meta_sections(subject.obj).items():
        if count > 1:
            message = f"{count} sections {FUNCTION_SECTION}*, the last one counts"
            yield Finding(K032, subject.place, f"kernel {brief(name)}", message)


def check_arguments(subject: ObjectSubject) -> Iterator[Finding]:
    """K035: as many argument records as the argument block has slots."""
    for kernel in subject.obj.kernels:
        slots = kernel.dfx.arg_info_count if kernel.dfx else 0
        if slots and kernel.arg_size is not None and kernel.arg_size != ARGUMENT * slots:
            message = (
                f"{slots} arguments are described ({ARGUMENT * slots} bytes), "
                f"__CCE_KernelArgSize says {kernel.arg_size} bytes"
            )
            yield Finding(K035, subject.place, f"kernel {brief(kernel.name)}", message)


def meta_sections(obj: KernelObject) -> Counter[str]:
    """How many metadata sections there are for each kernel name. FUN-01, FUN-02."""
    found: Counter[str] = Counter()
    names = obj.elf.section_names
    for section in obj.elf.sections:
        if section.type in (SectionType.PROGBITS, SectionType.NOTE):
            name = names.bytes_at(section.name_offset, NAME_BYTES)
            if FUNCTION in name and 0 < len(name) - len(FUNCTION) < NAME_LIMIT:
                found[name[len(FUNCTION) :].decode("utf-8", "surrogateescape")] += 1
    return found


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > 4 else shown


OBJECT_RULES: Final = (check_remarks, check_records, check_sections, check_arguments)
