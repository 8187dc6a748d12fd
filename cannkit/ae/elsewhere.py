"""Where a library lies that was not found: under another name, or where this search does not look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

from cannkit.ae.context import AeContext
from cannkit.ae.so_path import (
    CUST_TYPES,
    CUST_USER,
    OLD_ROOT,
    SYSTEM_ROOT,
    UNPACKED,
    cust_lib,
    place,
    read_settings,
    vf_suffix,
)
from cannkit.ae.so_walk import Resolution
from cannkit.errors import InputError
from cannkit.format.ae_status import AeStatus
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.files import PathView
from cannkit.inputs.real_path import TreeView

INUSE: Final = "/home/HwHiAiUser/inuse/aicpu_kernels/{}/"  # the engine never looks there
CUST_FOLDER: Final = "cust_aicpu_"
MOST_ENTRIES: Final = 2000  # of a folder; it is only a hint
MOST_HINTS: Final = 4
ALIKE: Final = 0.85


def find_elsewhere(
    kernel_type: int, resolution: Resolution, context: AeContext, files: PathView | None
) -> list[str]:
    """What lies near, in sentences; nothing where the files cannot be listed or read."""
    if files is None:
        return []
    found: list[str] = []
    for sentence in _sentences(kernel_type, resolution, context, files):
        if sentence not in found:
            found.append(sentence)
        if len(found) == MOST_HINTS:
            break
    return found


def _sentences(
    kernel_type: int, resolution: Resolution, context: AeContext, files: PathView
) -> Iterator[str]:
    name, asked = resolution.so_name, {each.path for each in resolution.attempts}
    for path, word in _others(kernel_type, name, context):
        if path + name not in asked and _exists(files, path + name):
            asked.add(path + name)
            yield f"{path}{name} is there: {word}"
    if not isinstance(files, TreeView):
        return
    user = CUST_USER + vf_suffix(context.vf)
    for folder in _names(files, user):
        path = f"{user}{folder}/{name}"
        if folder.startswith(CUST_FOLDER) and path not in asked and _exists(files, path):
            asked.add(path)
            yield f"{path} is there: for another device, vf or host process, or another kernel type"
    for attempt in resolution.attempts:
        for other in _alike(name, _names(files, attempt.directory)):
            yield f"{attempt.directory}{other} is there: did you mean {other}?"


def _others(kernel_type: int, name: str, context: AeContext) -> Iterator[tuple[str, str]]:
    """Directories in which people put libraries, and who would look there."""
    settings = read_settings(context)
    if settings.status == AeStatus.SUCCESS:
        is_cust = kernel_type in CUST_TYPES
        other = CpuKernelType.AICPU if is_cust else CpuKernelType.AICPU_CUSTOM
        directory = place(other, name, settings, context).directory
        if directory is not None:
            word = "aicpu" if is_cust else "custom"
            yield directory, f"that is for --kernel-type {word}"
    nobody = "the engine never looks there"
    for vf in dict.fromkeys((context.vf, 0)):
        yield f"{SYSTEM_ROOT}{vf}/{UNPACKED}", f"that is for vf {vf}"
        yield INUSE.format(vf), nobody
    yield OLD_ROOT, "only two libraries are looked for there"
    yield (
        cust_lib(context.vf),
        "custom libraries are reached by symlinks in the folder of a process",
    )


def _exists(files: PathView, path: str) -> bool:
    try:
        return files.real_path(path) is not None
    except InputError:
        return False


def _names(files: TreeView, directory: str) -> list[str]:
    try:
        real = files.real_path(directory)
        return [] if real is None else [each.name for each in files.entries(real)][:MOST_ENTRIES]
    except InputError:
        return []


def _alike(name: str, others: Iterable[str]) -> Iterator[str]:
    """Names that a person may have meant."""
    stem = name.lower().removeprefix("lib")
    for other in others:
        plain = other.lower().removeprefix("lib")
        if other != name and (
            plain == stem
            or plain.startswith(f"{stem}.")
            or SequenceMatcher(None, stem, plain).ratio() > ALIKE
        ):
            yield other
