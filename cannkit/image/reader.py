"""From an input to a KernelObject: digest, sidecar, and what the sidecar disagrees on."""

from __future__ import annotations

from typing import NamedTuple

from cannkit.errors import CannkitError, InputError, ReadWarning
from cannkit.format.elf import open_elf
from cannkit.format.sidecar import MAX_SIZE, read_sidecar
from cannkit.image.kernel_object import KernelObject, SidecarFile, capped, read_object
from cannkit.image.sidecar_check import check_sidecar
from cannkit.inputs.contents import Input
from cannkit.inputs.files import HostFiles, sha256_hex
from cannkit.soc import Soc


class SidecarChoice(NamedTuple):
    """Which JSON belongs to an object: the one beside it, the file named, or none."""

    beside: bool = True
    file: str | None = None


BESIDE = SidecarChoice()


def read_input(item: Input, soc: Soc, choice: SidecarChoice = BESIDE) -> KernelObject:
    """The kernel object of an input.

    Raises FormatError when its ELF header or section table is broken, InputError when it, or a
    sidecar named by `choice`, cannot be read.
    """
    obj = read_object(open_elf(item.data), soc)
    digest = sha256_hex(item.data)
    found, remarks = _find_sidecar(item, choice)
    warnings = [*item.warnings, *obj.warnings, *remarks]
    if found is not None:
        warnings += check_sidecar(obj, found.sidecar, digest, item.path, found.file)
    return obj._replace(
        file=item.file,
        container=item.container,
        sha256=digest,
        sidecar=found,
        warnings=capped(warnings),
    )


def sidecar_path(path: str) -> str:
    """JSN-01: the object's path with the suffix of its file name replaced by `.json`."""
    directory, slash, name = path.rpartition("/")
    stem = name.rpartition(".")[0] if "." in name else name
    return f"{directory}{slash}{stem}.json"


def _find_sidecar(
    item: Input, choice: SidecarChoice
) -> tuple[SidecarFile | None, list[ReadWarning]]:
    """JSN-02: a sidecar that is missing or unparsable is as good as none, but is told (HAZ-19)."""
    if choice.file is not None:
        raw = HostFiles().read(choice.file, MAX_SIZE)
        if raw is None:
            raise InputError("no such sidecar", where=choice.file)
        return SidecarFile(choice.file, read_sidecar(raw)), []
    if not choice.beside:
        return None, []
    real = item.path
    path = sidecar_path(real)
    warnings = []
    try:
        raw = item.files.read(path, MAX_SIZE)
        if raw is None:
            return None, []
        if "." not in real.rpartition("/")[2]:
            message = "the runtime cuts the path at its last dot, so it does not find this sidecar"
            warnings.append(ReadWarning("sidecar-path", path, message))
        return SidecarFile(path, read_sidecar(raw)), warnings
    except CannkitError as error:
        message = f"{error}: the runtime loads the object without it"
        return None, [*warnings, ReadWarning("sidecar-unreadable", path, message)]
