"""Kernel objects from paths, sidecar and digest included: `cannkit.parse`, `parse_all` and `parse_many`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import chain
from os import PathLike, fspath

from cannkit.errors import CannkitError, InputError, UsageError
from cannkit.image.kernel_object import KernelObject
from cannkit.image.reader import SidecarChoice, read_input
from cannkit.inputs.contents import Input, Unreadable
from cannkit.inputs.parts import FoundFiles, in_parts, spread
from cannkit.inputs.paths import Inputs, open_inputs
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
    return _read_each(open_inputs([fspath(path)]), chip, choice)


def parse_many(
    paths: Iterable[Path],
    *,
    soc: str = DEFAULT_SOC,
    sidecar: bool = True,
    executor: Executor | None = None,
) -> Iterator[KernelObject | CannkitError]:
    """Every kernel object of many files, in their order, read by the workers of `executor`.

    `executor` is any of `concurrent.futures`, or one that speaks its language: the files go to it by their
    names, some at a time, so its workers must see the same files. Otherwise as `parse_all`. Raises
    UsageError for an unknown `soc` and for a text in place of `paths`, InputError when a worker dies.
    """
    read = partial(_read_part, find_soc(soc), SidecarChoice(beside=sidecar))
    parts = (part for path in many(paths) for part in in_parts(fspath(path)))
    return chain.from_iterable(spread(read, parts, executor))


def many(paths: Iterable[Path]) -> Iterable[Path]:
    """The paths; raises UsageError for a text, which is an iterable of its letters."""
    if isinstance(paths, str):
        raise UsageError("one path instead of many", hint=f"give it as [{paths!r}]")
    return paths


def _read_part(
    soc: Soc, choice: SidecarChoice, part: Inputs | FoundFiles
) -> list[KernelObject | CannkitError]:
    return list(_read_each(part, soc, choice))


def _read_each(
    inputs: Iterable[Input | Unreadable], soc: Soc, choice: SidecarChoice
) -> Iterator[KernelObject | CannkitError]:
    for item in inputs:
        if isinstance(item, Unreadable):
            yield item.error
            continue
        try:
            obj = read_input(item, soc, choice)
        except CannkitError as error:
            yield error
        else:
            yield obj.failure or obj
