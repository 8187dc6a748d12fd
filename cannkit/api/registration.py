"""Registration: inputs taken into one simulated process, as the commands do it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from cannkit.api.binary import BinaryHandle
from cannkit.api.runtime import Runtime
from cannkit.errors import ReadWarning
from cannkit.format.sidecar import MAGIC
from cannkit.format.status import RtError, RtStatus
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Input, place_of
from cannkit.runtime.addresses import FunctionAddresses, function_addresses
from cannkit.runtime.device_image import Refreshed
from cannkit.runtime.kernel import Kernel, strip_mix
from cannkit.runtime.load_options import LoadOptions, Magic
from cannkit.runtime.placed_image import PlacedImage
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program
from cannkit.runtime.stub_table import StubEntry
from cannkit.soc import PRODUCTS

STUB_BASE = 0x0700_0000_0000  # 03, 6.2: stub keys lie in pinned host memory
STUB_STRIDE = 16
MOST_DEVICES = 64  # DEV-1


class Taken(NamedTuple):
    """A binary that the process took in, and what was odd about its file."""

    file: str
    binary: BinaryHandle
    warnings: Sequence[ReadWarning]

    @property
    def program(self) -> Program:
        """The registered program."""
        return self.binary.program


class Registration:
    """One process, and the binaries it took, by file. Changes."""

    def __init__(
        self,
        runtime: Runtime,
        options: LoadOptions | None = None,
        *,
        from_data: bool = False,
        old_flow: bool = False,
        alone: bool = False,
    ) -> None:
        """`alone`: there is one input only, so that a word on its chip is worth a warning."""
        self.runtime = runtime
        self._options = options if options and options.options else None
        self._from_data = from_data
        self._old_flow = old_flow
        self._alone = alone
        self._stubs = 0
        self._taken: dict[str, list[Taken]] = {}

    def take(self, item: Input) -> Taken:
        """Register one input, as the options say; raises CannkitError for what is refused."""
        binary, warnings = self._register(item)
        if self._alone:
            warnings = [*warnings, *_other_chip(binary.program)]
        taken = Taken(place_of(item), binary, warnings)
        self._taken.setdefault(item.file, []).append(taken)
        return taken

    def stubs(self, taken: Taken | None = None) -> tuple[StubEntry, ...] | None:
        """The process-wide stub table in the old flow, or what one binary has in it."""
        if not self._old_flow:
            return None
        table = self.runtime.process.stubs
        return tuple(table) if taken is None else table.entries_of(taken.program)

    def load(
        self, taken: Taken
    ) -> tuple[PlacedImage, Sequence[Refreshed], list[tuple[Kernel, FunctionAddresses]]]:
        """Copy a kernel object to the current device, in the old flow as a Module.

        Gives where its image lies, the variables that were written, and where its functions start.
        Raises RtError for what the loader refuses, and for a relocatable object (SEC-12).
        """
        program, process = taken.program, self.runtime.process
        device = self.runtime.devices[self.runtime.current_device or 0]
        if isinstance(program, ElfProgram) and program.obj.relocatable:
            why = (
                "a relocatable object is input of a super kernel link (cannkit's own rule, SEC-12)"
            )
            raise RtError(RtStatus.INVALID_VALUE, "not loadable", where=taken.file, why=why)
        if self._old_flow:
            module = process.module(program, device)
            assert module.image is not None
            stubs = process.stubs.entries_of(program)
            return module.image, (), [(s.kernel, module.function(s.kernel)) for s in stubs]
        loaded = process.loader.prepare(program, device)
        if loaded.image is None:
            loaded = process.loader.load(program, device)
        assert loaded.image is not None
        addresses = [
            (kernel, function_addresses(process.loader, program, kernel, device))
            for kernel in sorted(program.kernels, key=lambda each: each.part1.offset)
        ]
        return loaded.image, loaded.refreshed, addresses

    def image_base(self, taken: Taken) -> int | None:
        """Where image byte 0 of a kernel object lies on the current device, loaded if need be."""
        if not isinstance(taken.program, ElfProgram) or taken.program.obj.relocatable:
            return None
        return self.load(taken)[0].aligned

    def unload(self, file: str) -> tuple[StubEntry, ...]:
        """Unload what was registered out of a file or directory; the stubs that went with it."""
        below = file.rstrip("/") + "/"
        names = [name for name in self._taken if name == file or name.startswith(below)]
        removed: list[StubEntry] = []
        for taken in chain.from_iterable(map(self._taken.pop, names)):
            removed += self.runtime.process.stubs.entries_of(taken.program)
            if self._old_flow:
                self.runtime.unregister_binary(taken.binary)
            else:
                self.runtime.unload(taken.binary)
        return tuple(removed)

    def _register(self, item: Input) -> tuple[BinaryHandle, Sequence[ReadWarning]]:
        if self._old_flow:
            return self._register_stubs(item)
        if self._from_data:
            return self.runtime.load_from_data(item.data[0 : len(item.data)], self._options), ()
        if self._options is not None and any(
            option.id != 1 for option in self._options.options or ()
        ):
            return self.runtime.load_from_file(item.path, self._options), ()
        obj = read_input(item, self.runtime.soc)
        lazy = self._options is not None
        return self.runtime.load_object(obj, lazy=lazy), obj.warnings

    def _register_stubs(self, item: Input) -> tuple[BinaryHandle, Sequence[ReadWarning]]:
        """POL-10: rtDevBinaryRegister, then rtFunctionRegister for each kernel of the object."""
        obj = read_input(item, self.runtime.soc)
        known = MAGIC.get((obj.sidecar.sidecar.magic or "") if obj.sidecar else "")
        binary = self.runtime.register_binary(item.data[0 : len(item.data)], known or Magic.ELF)
        try:
            for name in dict.fromkeys(strip_mix(kernel.name) for kernel in obj.kernels):
                stub = STUB_BASE + STUB_STRIDE * self._stubs
                binary.register_function(stub, name, name)
                self._stubs += 1
        except RtError:
            self.runtime.unregister_binary(binary)  # nothing stays half registered
            raise
        return binary, obj.warnings


def _other_chip(program: Program) -> list[ReadWarning]:
    """A remark on an object whose flags are those of another product than the chip's (ELF-07)."""
    if not isinstance(program, ElfProgram) or program.obj.isa_tag is None:
        return []
    built_for, soc = program.obj.isa_tag.label, program.soc
    product = PRODUCTS.get(soc.family, soc.family)
    products = built_for.split()[0].split("/")
    if product in products:
        return []
    families = [family.lower() for family, own in PRODUCTS.items() if own in products]
    advice = f"try --soc {' or '.join(families)}" if families else "see --soc"
    message = f"built for {built_for}, taken by the rules of {soc.name} ({product}): {advice}"
    return [ReadWarning("other-chip", "e_flags", message)]
