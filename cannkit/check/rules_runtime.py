"""Rules about what the runtime refuses, or does otherwise than one expects: K101 to K199. Spec 02."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, Rule, rule
from cannkit.check.rules_hidden import OBJECT_RULES as HIDDEN_RULES
from cannkit.check.subject import ObjectSubject
from cannkit.errors import CannkitError, brief, sentence
from cannkit.format.ascend_meta import DEBUG_OPTIONS, BinaryMeta, ImplicitFeature
from cannkit.format.status import RtStatus
from cannkit.image.kernel_object import KernelObject
from cannkit.runtime.binary_loader import BinaryLoader

RELOCATABLE_NAME: Final = "_relocatable"  # of a file that is meant to be one
PRINTING: Final = {  # BIN-02: features that come from a debug option
    ImplicitFeature.SIMD_PRINTF: "printf",
    ImplicitFeature.SIMT_PRINTF: "printf",
    ImplicitFeature.SIMD_ASSERT: "assert",
}

K101 = rule(
    "K101",
    "registration refused",
    Level.ERROR,
    why="The runtime answers 107000 and takes none of the object's kernels.",
    fix="Compile for this chip with the toolkit of the runtime; for stack, raise aicore_stack_size.",
    spec="REG-1 REG-12 FUN-05 FUN-06 FUN-07 FUN-08",
)
K102 = rule(
    "K102",
    "loading from a file refused",
    Level.ERROR,
    why="A sidecar that says printf, or has debugOptions of another type, keeps the object from "
    "loading; from data it loads.",
    fix="Compile the operator without printf and DumpTensor.",
    spec="JSN-05 QK-4",
)
K103 = rule(
    "K103",
    "debug options left on",
    Level.WARNING,
    why="The kernel checks or prints at run time: it is slower, and needs a debug buffer.",
    fix="Compile the operator without debug options before you ship it.",
    spec="BIN-02 BIN-03",
)
K104 = rule(
    "K104",
    "shadowed tiling key",
    Level.WARNING,
    why="Two kernels have one key: the first by name is found, the other one by name alone.",
    fix="Give each kernel a key of its own.",
    spec="TBL-1 QK-17",
)
K105 = rule(
    "K105",
    "lone half of a mix",
    Level.ERROR,
    why="The task ratio counts cube and vector blocks, yet the code for one side is not there.",
    fix="Link the _mix_aic and the _mix_aiv half into one object.",
    spec="REG-9 REG-12",
)
K106 = rule(
    "K106",
    "AIV half at offset 0",
    Level.ERROR,
    why="The runtime takes offset 0 for none and launches the mix without its vector half.",
    fix="Link the AIC half first.",
    spec="QK-6",
)
K107 = rule(
    "K107",
    "relocatable object among kernels",
    Level.ERROR,
    why="The runtime takes it in but never relocates it: its addresses are wrong on the device.",
    fix="Link it, or name it *_relocatable.o when it is for super kernels.",
    spec="SEC-12",
)
K108 = rule(
    "K108",
    "input for super kernels",
    Level.NOTE,
    why="The object is linked into others; it cannot be launched itself.",
    fix="Nothing, if it is meant so.",
    spec="SEC-12",
)
K109 = rule(
    "K109",
    "halves of a mix disagree",
    Level.WARNING,
    why="Only what the half says that comes first counts.",
    fix="Compile both halves from one source with the same options.",
    spec="QK-14",
)
K110 = rule(
    "K110",
    "key beyond 64 bits",
    Level.WARNING,
    why="The runtime takes 0 for the tiling key.",
    fix="Use a key below 2^64.",
    spec="REG-6 QK-18",
)
K111 = rule(
    "K111",
    "mix mark inside a name",
    Level.WARNING,
    why="The runtime cuts the mark out wherever it is: the kernel gets another name.",
    fix="Keep _mix_aic and _mix_aiv for the end of a kernel's name.",
    spec="REG-5 QK-16",
)
K112 = rule(
    "K112",
    "metadata larger than 65535 bytes",
    Level.WARNING,
    why="The runtime keeps 16 bits of the size; exception dumps read less than there is.",
    fix="Describe fewer arguments.",
    spec="QK-26",
)
K113 = rule(
    "K113",
    "entry disabled",
    Level.NOTE,
    why="The kernel is found by name alone.",
    fix="Nothing, if it is meant so.",
    spec="REG-17",
)
K114 = rule(
    "K114",
    "the chip's task ratio does not count",
    Level.NOTE,
    why="Without a ratio in the metadata the runtime takes 2, whatever the chip has.",
    fix="Have the compiler record the ratio.",
    spec="QK-13",
)
K115 = rule(
    "K115",
    "symbol cannot be refreshed",
    Level.ERROR,
    why="The runtime writes an address there, outside the object.",
    fix="Build the object again; do not strip or patch it.",
    spec="SYM-16 HAZ-11",
)
K116 = rule(
    "K116",
    "big-endian object",
    Level.ERROR,
    why="The runtime misreads the links between its sections.",
    fix="Compile for little endian.",
    spec="HAZ-02 HAZ-03",
)

READER: Final[Mapping[str, Rule]] = {"big-endian": K116}
REGISTRATION: Final[Mapping[str, Rule]] = {
    "shadowed-key": K104,
    "lone-half": K105,
    "aiv-at-zero": K106,
    "halves-disagree": K109,
    "key-overflow": K110,
    "mark-in-name": K111,
    "dfx-size": K112,
    "entry-disabled": K113,
    "default-ratio": K114,
    "symbol-refresh": K115,
}


def check_registration(subject: ObjectSubject) -> Iterator[Finding]:
    """K101, and what is odd about a registration that succeeds: K104 to K115."""
    obj = subject.obj
    if obj.refusals:
        for refusal in obj.refusals:
            if refusal.rt:
                yield Finding(K101, subject.place, None, f"{refusal.message} ({refusal.rule})")
        return
    if not obj.verdict.from_file.accepted:  # K102 tells of the sidecar; go on as from data
        obj = obj._replace(sidecar=None)
    try:
        program = BinaryLoader(subject.soc).load_object(obj)
    except CannkitError as error:
        yield Finding(K101, subject.place, error.where, sentence(error.what, None, error.why))
        return
    for code, where, message in program.warnings:
        found = REGISTRATION.get(code)
        if found is not None:
            yield Finding(found, subject.place, where, message)


def check_from_file(subject: ObjectSubject) -> Iterator[Finding]:
    """K102: the sidecar lets the object be loaded from a file."""
    sidecar, outcome = subject.obj.sidecar, subject.obj.verdict.from_file
    if sidecar and not subject.obj.refusals and not outcome.accepted:
        yield Finding(K102, subject.place, sidecar.file, outcome.message or "")


def check_debug(subject: ObjectSubject) -> Iterator[Finding]:
    """K103: no debug option is on, in the sidecar or in the object; K102 tells of printf."""
    options = debug_options(subject.obj)
    if options and subject.obj.verdict.from_file.rt is not RtStatus.FEATURE_NOT_SUPPORT:
        yield Finding(K103, subject.place, None, f"compiled with {', '.join(options)}")


def debug_options(obj: KernelObject) -> list[str]:
    """The debug options of an object by the words of its sidecar, its DEBUG_INFO and its features."""
    said = obj.sidecar.sidecar.debug_options if obj.sidecar else None
    found = {word.strip() for word in (said or "").split(",")}
    found |= {PRINTING[feature] for feature in obj.implicit_features if feature in PRINTING}
    for record in obj.binary_meta:
        if record.tlv.type == BinaryMeta.DEBUG_INFO and record.value:
            mask = record.value["debug_options"]
            found |= {word for word, bit in DEBUG_OPTIONS.items() if mask & bit}
    return sorted(map(brief, found - {""}))


def check_relocatable(subject: ObjectSubject) -> Iterator[Finding]:
    """K107 and K108: an object that is still to be linked."""
    if not subject.obj.relocatable:
        return
    stem = subject.item.path.rpartition("/")[2].partition(".")[0]
    if stem.endswith(RELOCATABLE_NAME):
        yield Finding(K108, subject.place, None, "ET_REL: input for a super kernel link")
    else:
        yield Finding(K107, subject.place, None, "e_type is ET_REL: it was never linked")


def check_remarks(subject: ObjectSubject) -> Iterator[Finding]:
    """K116: what the reader remarked that concerns the runtime."""
    for code, where, message in subject.obj.warnings:
        found = READER.get(code)
        if found is not None:
            yield Finding(found, subject.place, where, message)


OBJECT_RULES: Final = (
    check_registration,
    check_from_file,
    check_debug,
    check_relocatable,
    check_remarks,
    *HIDDEN_RULES,
)
