"""Rules about the JSON beside an object: K001, K002, and K010 to K021 where the two disagree. JSN-10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, Rule, rule
from cannkit.check.subject import ObjectSubject
from cannkit.errors import brief
from cannkit.format.ascend_meta import FuncType
from cannkit.format.container import ContainerKind
from cannkit.format.sidecar import MAGIC
from cannkit.image.kernel_object import KernelObject
from cannkit.inputs.paths import STDIN

WITH_SIDECAR: Final = {ContainerKind.WHEEL, ContainerKind.ACLNN}  # elsewhere objects have none

K001 = rule(
    "K001",
    "sidecar missing",
    Level.WARNING,
    why="Without its JSON the runtime does not know the kernel's magic and core type, and takes the "
    "chip's default.",
    fix="Put the JSON that the compiler wrote beside the object, under the object's name.",
    spec="JSN-01 JSN-02",
)
K002 = rule(
    "K002",
    "sidecar is not JSON",
    Level.ERROR,
    why="The runtime drops a sidecar that it cannot parse, without a word, and takes the defaults.",
    fix="Compile the operator again, or restore the JSON; comments and trailing commas are not JSON.",
    spec="JSN-02 HAZ-19",
)
K005 = rule(
    "K005",
    "sidecar where the runtime does not look",
    Level.WARNING,
    why="The runtime makes up the sidecar's path from the last dot of the object's path.",
    fix="Give the object the suffix .o.",
    spec="JSN-01 QK-22",
)
K010 = rule(
    "K010",
    "sha256 differs from the object",
    Level.ERROR,
    why="The object is not the one that its sidecar was written for: stale, patched or damaged.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-10",
)
K011 = rule(
    "K011",
    "kernelList differs from the object",
    Level.ERROR,
    why="A host picks kernels by kernelList: one that the object lacks fails when it is looked up.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-10",
)
K012 = rule(
    "K012",
    "binFileName differs from the file name",
    Level.WARNING,
    why="Tools find the object by binFileName; the file was renamed after it was compiled.",
    fix="Give the file the name that its sidecar has.",
    spec="JSN-10",
)
K013 = rule(
    "K013",
    "kernelName is not the prefix of the kernels",
    Level.WARNING,
    why="A host makes a kernel's name from kernelName and the tiling key.",
    fix="Compile the operator again; do not edit kernelName.",
    spec="JSN-10",
)
K014 = rule(
    "K014",
    "coreType, magic and intercoreSync disagree",
    Level.ERROR,
    why="The runtime takes the kind of core from magic and the FFTS argument from intercoreSync.",
    fix="Compile the operator again; the three follow from the kernel's type.",
    spec="JSN-06 JSN-10",
)
K015 = rule(
    "K015",
    "tiling key differs",
    Level.ERROR,
    why="A host asks for the key that the sidecar names and gets another kernel, or none.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-10",
)
K016 = rule(
    "K016",
    "taskRation differs",
    Level.ERROR,
    why="Host and runtime count cube and vector blocks by different ratios.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-10 FUN-08",
)
K017 = rule(
    "K017",
    "opParaSize differs from the tiling size",
    Level.ERROR,
    why="The host's tiling buffer has another size than the kernel reads.",
    fix="Compile kernel and tiling from one source.",
    spec="JSN-10 DFX-06",
)
K018 = rule(
    "K018",
    "debug options differ",
    Level.WARNING,
    why="The host makes no debug buffer, or a wrong one, for what the kernel prints into.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-10 BIN-03",
)
K019 = rule(
    "K019",
    "parameter modes differ",
    Level.ERROR,
    why="Host and kernel lay out tensor lists or optional parameters in different ways.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-10",
)
K020 = rule(
    "K020",
    "coreType differs from the kernels",
    Level.ERROR,
    why="The sidecar asks for other cores than the kernels were compiled for.",
    fix="Compile the operator again, and copy object and JSON together.",
    spec="JSN-06 JSN-10",
)
K021 = rule(
    "K021",
    "magic missing or unknown",
    Level.WARNING,
    why="The runtime then takes the chip's default cores, whatever the object was compiled for.",
    fix="Restore the magic that the compiler wrote, such as RT_DEV_BINARY_MAGIC_ELF_AIVEC.",
    spec="JSN-06 QK-5",
)

REMARKS: Final[Mapping[str, Rule]] = {
    "sidecar-unreadable": K002,
    "embedded-sidecar": K002,
    "sidecar-path": K005,
    "sidecar-sha256": K010,
    "sidecar-kernel-list": K011,
    "sidecar-file-name": K012,
    "sidecar-kernel-name": K013,
    "sidecar-core-type": K014,
    "sidecar-entry": K015,
    "sidecar-task-ratio": K016,
    "sidecar-tiling-size": K017,
    "sidecar-debug": K018,
    "sidecar-param-mode": K019,
}
CORES: Final[Mapping[FuncType, str]] = {
    FuncType.AICORE: "AiCore",
    FuncType.AIC: "AiCore",
    FuncType.AIC_ROLLBACK: "AiCore",
    FuncType.AIV: "VectorCore",
    FuncType.AIV_ROLLBACK: "VectorCore",
    FuncType.MIX_AIC_MAIN: "MIX",
    FuncType.MIX_AIV_MAIN: "MIX",
}


def check_presence(subject: ObjectSubject) -> Iterator[Finding]:
    """K001: an object of an operator package has a sidecar; nothing lies beside the standard input."""
    container = subject.item.container
    told = any(REMARKS.get(warning.code) is K002 for warning in subject.obj.warnings)
    alone = subject.item.file == STDIN or (container and container.kind not in WITH_SIDECAR)
    if subject.obj.sidecar or told or alone:
        return
    yield Finding(K001, subject.place, None, "there is no JSON beside the object")


def check_agreement(subject: ObjectSubject) -> Iterator[Finding]:
    """K002 to K019: what the reader of the sidecar remarked."""
    for code, where, message in subject.obj.warnings:
        found = REMARKS.get(code)
        if found is not None:
            yield Finding(found, subject.place, where, message)


def check_cores(subject: ObjectSubject) -> Iterator[Finding]:
    """K020: coreType and intercoreSync against the types of the kernels."""
    found = subject.obj.sidecar
    cores = cores_of(subject.obj)
    if found is None or cores is None:
        return
    sidecar, sync = found.sidecar, int(cores == "MIX")
    said = sidecar.core_type
    if said is not None and said != cores and not (said.startswith("MIX") and cores == "MIX"):
        message = f"coreType is {brief(said)!r}, the kernels are compiled for {cores}"
        yield Finding(K020, subject.place, found.file, message)
    elif said is None and sidecar.intercore_sync not in (None, sync):
        message = f"intercoreSync is {sidecar.intercore_sync}, the kernels are compiled for {cores}"
        yield Finding(K020, subject.place, found.file, message)


def check_magic(subject: ObjectSubject) -> Iterator[Finding]:
    """K021: the runtime knows the magic."""
    found = subject.obj.sidecar
    if found is None or found.sidecar.magic in MAGIC:
        return
    magic = found.sidecar.magic
    message = f"magic is {brief(magic)!r}" if magic is not None else "there is no magic (a string)"
    yield Finding(K021, subject.place, found.file, message)


def cores_of(obj: KernelObject) -> str | None:
    """The coreType of an object by its kernels; None where they do not tell. JSN-10 (i)."""
    kinds = {CORES.get(kernel.meta.func_type) for kernel in obj.kernels}
    if "MIX" in kinds or any(kernel.meta.cross_core_sync == 1 for kernel in obj.kernels):
        return "MIX"
    return kinds.pop() if len(kinds) == 1 else None


OBJECT_RULES: Final = (check_presence, check_agreement, check_cores, check_magic)
