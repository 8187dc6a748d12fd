"""Numbers of the outside world with a name: enumerations that lose nothing."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


def unknown_name(number: int) -> str:
    """What a number without a name is called."""
    return f"UNKNOWN_{number:#x}"


class OpenEnum(IntEnum):
    """An enumeration that decodes a number it does not know as `UNKNOWN_0x2a`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = unknown_name(value)
        member._value_ = value
        return member

    @classmethod
    def names(cls) -> dict[int, str]:
        """Number to name of those that have one: a table for where a call for each is too slow."""
        return {member.value: name for name, member in cls.__members__.items()}

    @property
    def known(self) -> bool:
        """Whether the number has a name of its own."""
        return self._value_ in type(self)._value2member_map_
