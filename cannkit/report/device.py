"""A device in documents."""

from __future__ import annotations

from typing import Self

from cannkit.device.device import Device
from cannkit.device.memory import RegionName
from cannkit.report.base import Address, document


@document
class DeviceEntry:
    """The device; `base` is where its memory map begins."""

    id: int
    soc: str
    base: Address

    @classmethod
    def of(cls, device: Device) -> Self:
        """The entry of a device."""
        return cls(device.id, device.soc.name, hex(device.memory.regions[RegionName.CODE_RO].base))
