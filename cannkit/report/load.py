"""The document of `cannkit load`: the memory map of one device. cli.md, section 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

from cannkit.device.device import Device
from cannkit.errors import CannkitError
from cannkit.inputs.contents import Input, Unreadable, place_of
from cannkit.report.base import Address, Document, FileError, document, printable
from cannkit.report.device import DeviceEntry
from cannkit.runtime.addresses import FunctionAddresses
from cannkit.runtime.device_image import Refreshed
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.placed_image import PlacedImage
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program


@document
class AllocationEntry:
    """Memory of an image, bytes: image byte 0 lies at `aligned`."""

    file: str
    base: Address
    aligned: Address
    size: int
    from_pool: bool
    read_only: bool

    @classmethod
    def of(cls, file: str, image: PlacedImage) -> Self:
        """The entry of an image."""
        base, aligned = hex(image.base), hex(image.aligned)
        return cls(printable(file), base, aligned, image.size, image.from_pool, image.read_only)


@document
class FunctionEntry:
    """Where the halves of a kernel start."""

    file: str
    kernel: str
    pc1: Address
    pc2: Address | None

    @classmethod
    def of(cls, file: str, kernel: Kernel, where: FunctionAddresses) -> Self:
        """The entry of a kernel."""
        second = None if where.pc2 is None else hex(where.pc2)
        return cls(printable(file), printable(kernel.name), hex(where.pc1), second)


@document
class GlobalPlace:
    """A variable of an image; `refreshed`: the loader wrote a device address to it."""

    file: str
    name: str
    address: Address
    size: int
    refreshed: bool

    @classmethod
    def all_of(
        cls, file: str, program: Program, aligned: int, refreshed: Sequence[Refreshed]
    ) -> Iterator[Self]:
        """The entries of a program whose image byte 0 lies at `aligned`."""
        if not isinstance(program, ElfProgram):
            return
        written = {each.name for each in refreshed}
        for variable in program.obj.variables:
            name, address = printable(variable.name), hex(aligned + variable.offset)
            yield cls(printable(file), name, address, variable.size, variable.name in written)


@document
class LoadDocument(Document):
    """What lies where after loading all files in order."""

    SCHEMA: ClassVar[str] = "cannkit.load/1"
    device: DeviceEntry
    allocations: tuple[AllocationEntry, ...]
    functions: tuple[FunctionEntry, ...]
    globals: tuple[GlobalPlace, ...]
    errors: tuple[FileError, ...]

    @classmethod
    def of(
        cls,
        device: Device,
        allocations: Sequence[AllocationEntry],
        functions: Sequence[FunctionEntry],
        variables: Sequence[GlobalPlace],
        errors: Sequence[tuple[Input | Unreadable, CannkitError]],
    ) -> Self:
        """The document of a device."""
        return cls(
            device=DeviceEntry.of(device),
            allocations=tuple(allocations),
            functions=tuple(functions),
            globals=tuple(variables),
            errors=tuple(FileError.of(place_of(item), error) for item, error in errors),
        )
