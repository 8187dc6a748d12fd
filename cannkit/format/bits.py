"""Numbers of the outside world with a name: enumerations that lose nothing."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class OpenEnum(IntEnum):
    """An enumeration that decodes a number it does not know as `UNKNOWN_0x2a`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value:#x}"
        member._value_ = value
        return member

    @property
    def known(self) -> bool:
        """Whether the number has a name of its own."""
        return self._value_ in type(self)._value2member_map_
