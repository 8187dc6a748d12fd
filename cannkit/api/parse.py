"""Kernel objects from paths, sidecar and digest included: `cannkit.parse` and `cannkit.parse_all`."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath

from cannkit.errors import CannkitError, InputError
from cannkit.image.kernel_object import KernelObject
from cannkit.image.reader import SidecarChoice, read_input
from cannkit.inputs.contents import Unreadable
from cannkit.inputs.paths import open_inputs
from cannkit.soc import DEFAULT_SOC, Soc, find_soc

Path = str | PathLike[str]


def parse(path: Path, *, soc: str = DEFAULT_SOC, sidecar: bool | Path = True) -> KernelObject:
    """Read one kernel object, with its digest and its sidecar.

    `soc` names the chip whose rules apply. `sidecar` is False to leave the JSON beside the object
    alone, or the path of another one. An object the runtime would refuse is returned as far as it
    can be read, with the reason in `verdict`.

    Raises InputError when the file cannot be read or holds more than one object (`parse_all`
    reads those), FormatError when no kernel can be read from it, UsageError for an unknown `soc`.
    """
    found = parse_all(path, soc=soc, sidecar=sidecar)
    first = next(found)
    if isinstance(first, CannkitError):
        raise first
    if next(found, None) is not None:
        raise InputError(
            "more than one kernel object", where=fspath(path), hint="parse_all() reads them all"
        )
    return first


def parse_all(
    path: Path, *, soc: str = DEFAULT_SOC, sidecar: bool | Path = True
) -> Iterator[KernelObject | CannkitError]:
    """Every kernel object of a file, directory, archive, wheel or host library, in its order.

    What cannot be read is an error among the results, never raised, so that the rest is still
    seen. Raises UsageError for an unknown `soc`.
    """
    chip = find_soc(soc)
    if isinstance(sidecar, bool):
        choice = SidecarChoice(beside=sidecar)
    else:
        choice = SidecarChoice(file=fspath(sidecar))
    return _read_each(fspath(path), chip, choice)


def _read_each(path: str, soc: Soc, choice: SidecarChoice) -> Iterator[KernelObject | CannkitError]:
    for item in open_inputs([path]):
        if isinstance(item, Unreadable):
            yield item.error
            continue
        try:
            obj = read_input(item, soc, choice)
        except CannkitError as error:
            yield error
        else:
            yield obj.failure or obj
