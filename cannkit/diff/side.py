"""Side: what one of the two arguments of `diff` holds, an entry for each object, without its bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from cannkit.diff.summary import Summary, stem_of, summarise
from cannkit.errors import CannkitError
from cannkit.format.container import is_device_object
from cannkit.format.elf_types import Machine
from cannkit.image.kernel_object import KernelObject
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Input, NothingInsideError, Unreadable
from cannkit.soc import Soc, family_in_path, find_soc

HASH: Final = re.compile("_[0-9a-f]{32}")  # spec 01, section 11: behind the type of an operator


class Member(NamedTuple):
    """An object by its path below the argument; `summary` None where it cannot be read.

    `soc` is the folder of a family in it, `op` the operator where the path tells one, `kind` the type of
    the operator or the name of the file.
    """

    path: str
    soc: str | None
    op: str | None
    kind: str
    summary: Summary | None

    @property
    def group(self) -> tuple[str, ...]:
        """Objects of one operator for one SoC; elsewhere those of one folder."""
        if self.soc is not None:
            return (self.soc, self.op or "", self.kind)
        return ("", self.path.rpartition("/")[0], self.kind)


class Side(NamedTuple):
    """One argument: its objects in their order, and what could not be read."""

    members: tuple[Member, ...]
    errors: tuple[tuple[Input | Unreadable, CannkitError], ...]


def read_side(root: str, inputs: Iterable[Input | Unreadable], soc: Soc) -> Side:
    """The objects of `root`, one after the other; `soc` is the chip where no folder names one.

    Files of a build that hold no kernels do not count, unless nothing else is there.
    """
    members: list[Member] = []
    errors: list[tuple[Input | Unreadable, CannkitError]] = []
    seen: Counter[str] = Counter()
    for item in inputs:
        path = _path_below(root, item)
        seen[path] += 1
        if seen[path] > 1:
            path = f"{path}#{seen[path]}"
        summary = None
        try:
            if isinstance(item, Unreadable):
                raise item.error
            family = family_in_path(f"{item.file}/{path}")
            obj = read_input(item, find_soc(family.lower()) if family else soc)
            if _is_host_code(obj) and (item.container or item.file != root):
                raise NothingInsideError(item.path, "host code for AArch64")
            summary = summarise(obj, stem_of(item.path))
        except CannkitError as error:
            errors.append((item, error))
            if isinstance(error, NothingInsideError):
                continue
        members.append(_member(path, summary))
    if members:
        errors = [each for each in errors if not isinstance(each[1], NothingInsideError)]
    return Side(tuple(members), tuple(errors))


def _is_host_code(obj: KernelObject) -> bool:
    """Whether it is of a build for AArch64, whose functions look like kernels; or for the AI CPU."""
    return obj.elf.header.machine == Machine.EM_AARCH64 and not is_device_object(obj.elf)


def _path_below(root: str, item: Input | Unreadable) -> str:
    """The path within the argument: that of a member is the same as that of the unpacked file."""
    inside = item.container.member if item.container else ""
    below = item.file[len(root) :].lstrip("/") if item.file != root else ""
    return "!".join(filter(None, (below, inside))) or root.rpartition("/")[2]


def _member(path: str, summary: Summary | None) -> Member:
    family = family_in_path(path)
    soc = family.lower() if family else None
    stem = stem_of(path)
    kind = HASH.sub("", stem)
    op = kind if kind != stem else None
    if soc is not None:
        parts = path.split("/")
        folder = parts[parts.index(soc) + 1 : -1]
        op = folder[0] if folder else kind
    return Member(path, soc, op, kind, summary)
