"""Rules about objects in the wrong folder, or too large for their chip: K201 to K299. Spec 01, 03, 04.

Without a folder named after a chip and without `--soc` nobody knows the chip: then nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.rules_needs import OBJECT_RULES as NEED_RULES
from cannkit.check.subject import ObjectSubject
from cannkit.errors import brief
from cannkit.format.ascend_meta import FunctionMeta, ImplicitFeature, VfType
from cannkit.format.dfx import TensorType
from cannkit.image.kernel_object import KernelImage
from cannkit.soc import PRODUCTS, family_names, find_soc

# ELF-07: observed on all real objects, not documented.
MADE_FOR: Final[Mapping[int, tuple[str, ...]]] = {
    0x0093_0000: ("A2", "A3"),
    0x0094_0000: ("A2", "A3"),
    0x0099_0000: ("A5",),
}
VECTOR_FUNCTIONS: Final = {  # 6.2: records about vector functions and SIMT
    FunctionMeta.AIV_TYPE_FLAG,
    FunctionMeta.SIMT_WARP_STACK_SIZE,
    FunctionMeta.SIMT_DVG_WARP_STACK_SIZE,
}
SIMT: Final = {VfType.SIMT_VF, VfType.SIMD_SIMT_MIX}

K201 = rule(
    "K201",
    "compiled for another chip than its folder's",
    Level.ERROR,
    why="The code is for another instruction set: the first launch ends in an exception.",
    fix="Compile the operator for the folder's chip, or move it to its own folder.",
    spec="ELF-07 OPP-01",
)
K202 = rule(
    "K202",
    "compiled for another chip than --soc",
    Level.ERROR,
    why="The code is for another instruction set: the first launch ends in an exception.",
    fix="Compile the operator for this chip, or name the chip that it is for.",
    spec="ELF-07",
)
K203 = rule(
    "K203",
    "chip of the code unknown",
    Level.NOTE,
    why="e_flags has a value that was never seen on this chip: nothing can be said.",
    fix="Nothing; what e_flags means is observed, not documented.",
    spec="ELF-07",
)
K204 = rule(
    "K204",
    "sidecar names another chip than the folder",
    Level.WARNING,
    why="The object was compiled for another chip and copied here; A2 and A3 share instruction sets.",
    fix="Compile the operator for the folder's chip.",
    spec="OPP-01 OPP-04",
)
K205 = rule(
    "K205",
    "records of A5 on a chip without them",
    Level.WARNING,
    why="The chip has no vector functions and no SIMT: the kernel was compiled for A5.",
    fix="Compile the operator for this chip.",
    spec="CHP-2",
)
K206 = rule(
    "K206",
    "records of A2 and A3 on a chip without them",
    Level.WARNING,
    why="The chip passes no FFTS address and reads no stack record: the kernel's arguments shift.",
    fix="Compile the operator for this chip.",
    spec="DFX-08 STK-05",
)


def check_flags(subject: ObjectSubject) -> Iterator[Finding]:
    """K201, K202 and K203: e_flags against the folder's chip and that of `--soc`."""
    flags = subject.obj.elf.header.flags
    tag, products = subject.obj.isa_tag, MADE_FOR.get(flags, ())
    judged = []
    if subject.folder_soc is not None:
        judged.append((K201, f"the folder is {subject.folder_soc}", find_soc(subject.folder_soc)))
    if subject.explicit_soc:
        judged.append((K202, f"--soc is {subject.soc.name}", subject.soc))
    if tag is None or not products:
        message = f"e_flags {flags:#010x} was seen on no chip"
        yield Finding(K203, subject.place, None, message)
        return
    for broken, place, soc in judged:
        product = PRODUCTS.get(soc.family)
        message = f"e_flags {flags:#010x} is code for {tag.label}, {place}"
        if product is None:
            yield Finding(K203, subject.place, None, message)
        elif product not in products:
            yield Finding(broken, subject.place, None, message)


def check_origin(subject: ObjectSubject) -> Iterator[Finding]:
    """K204: the folder of the sidecar's filePath, `<soc>/<op>/<stem>.json`."""
    sidecar = subject.obj.sidecar
    if sidecar is None or subject.folder_soc is None:
        return
    path = sidecar.sidecar.keys.get("filePath")
    if not isinstance(path, str):
        return
    origin = path.partition("/")[0]
    if origin in family_names() and origin != subject.folder_soc:
        message = f"filePath is {brief(path)!r}, the folder is {subject.folder_soc}"
        yield Finding(K204, subject.place, sidecar.file, message)


def check_a5_records(subject: ObjectSubject) -> Iterator[Finding]:
    """K205: vector functions and SIMT where the chip has none."""
    obj, soc = subject.obj, subject.soc
    if not _is_judged(subject) or soc.has_simt:
        return
    for kernel in obj.kernels:
        names = [r.name for r in kernel.records if r.tlv.type in VECTOR_FUNCTIONS]
        if names:
            simt = ", it calls SIMT functions" if kernel.meta.vf_type in SIMT else ""
            message = f"it has {', '.join(dict.fromkeys(names))}{simt}; {soc.name} has neither"
            yield Finding(K205, subject.place, f"kernel {brief(kernel.name)}", message)
    if ImplicitFeature.SIMT_PRINTF in obj.implicit_features:
        message = f"it asks for SIMT_PRINTF, {soc.name} has no SIMT"
        yield Finding(K205, subject.place, "section .ascend.meta", message)


def check_a2_records(subject: ObjectSubject) -> Iterator[Finding]:
    """K206: FFTS and stack records where the chip has neither."""
    obj, soc = subject.obj, subject.soc
    if not _is_judged(subject) or PRODUCTS.get(soc.family) != "A5":
        return
    for kernel in obj.kernels:
        if _has_ffts(kernel):
            message = f"it takes an FFTS address, {soc.name} passes none"
            yield Finding(K206, subject.place, f"kernel {brief(kernel.name)}", message)
    if ImplicitFeature.FFTS in obj.implicit_features:
        message = f"it asks for FFTS, {soc.name} has none"
        yield Finding(K206, subject.place, "section .ascend.meta", message)
    if obj.stack_size:
        message = f"it records a stack of {obj.stack_size} bytes, {soc.name} does not read it"
        yield Finding(K206, subject.place, "section .ascend.stack.size.record", message)


def _has_ffts(kernel: KernelImage) -> bool:
    arguments = kernel.dfx.args if kernel.dfx else ()
    return any(argument.tensor_type is TensorType.FFTS for argument in arguments)


def _is_judged(subject: ObjectSubject) -> bool:
    return subject.explicit_soc or subject.folder_soc is not None


OBJECT_RULES: Final = (
    check_flags,
    check_origin,
    check_a5_records,
    check_a2_records,
    *NEED_RULES,
)
