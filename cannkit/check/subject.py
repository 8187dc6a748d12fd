"""What rules look at: one object, or a package of operators."""

from __future__ import annotations

from typing import NamedTuple

from cannkit.errors import CannkitError
from cannkit.image.kernel_object import KernelObject
from cannkit.inputs.contents import Input, Unreadable
from cannkit.soc import Soc


class ObjectSubject(NamedTuple):
    """An object that could be read: `place` names it in findings, `soc` is the chip it is judged for.

    `folder_soc` is the family that the folder it lies in is named after (`ascend910b`), None for none;
    `explicit_soc` whether the user said `soc` (`--soc`).
    """

    place: str
    item: Input
    obj: KernelObject
    soc: Soc
    folder_soc: str | None = None
    explicit_soc: bool = False


class UnreadableSubject(NamedTuple):
    """An object that could not be read: a finding, too."""

    place: str
    item: Input | Unreadable
    error: CannkitError
