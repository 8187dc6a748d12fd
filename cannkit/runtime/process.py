"""Process: what one host process has registered, and where it is. Spec 02, sections 3, 8, 9, 11."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from cannkit.device.device import Device, Range
from cannkit.format.elf_types import ByteView
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.addresses import global_range
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.load import Loader, current
from cannkit.runtime.load_options import KERNEL_MAGICS
from cannkit.runtime.module import Module, Modules
from cannkit.runtime.program import ElfProgram, PlainProgram
from cannkit.runtime.program_base import Program
from cannkit.runtime.stub_table import StubTable, kernel_names
from cannkit.runtime.symbols import FunctionSymbol, FunctionSymbols, VariableSymbols


def _nobody(program: Program) -> None:
    """Tell nobody."""


class Process:
    """Programs, their tables and their devices, wired together. Changes.

    `destroyed` is told of every program that is gone. A `device` of None is "no current context".
    Call it from one thread at a time.
    """

    def __init__(
        self,
        binaries: BinaryLoader,
        *,
        lenient: bool = False,
        destroyed: Callable[[Program], None] = _nobody,
    ) -> None:
        self.binaries = binaries
        self.soc = binaries.soc
        self.pool = binaries.pool
        self.loader = Loader(lenient=lenient)
        self.modules = Modules(self.loader, self.pool.get, self.put)
        self.stubs = StubTable(self.pool)
        self.functions = FunctionSymbols()
        self.variables = VariableSymbols()
        self._destroyed = destroyed
        self._unregistering: set[Program] = set()
        self._dependencies: dict[Program, list[Program]] = {}
        self._modules: dict[Program, dict[int, Module]] = {}

    def load_without_tiling(self, data: ByteView, device: Device | None) -> ElfProgram:
        """rtBinaryLoadWithoutTilingKey: register, and copy to the current device at once.

        Raises RtError, checked in this order: 207000, 107000 for no bytes, 107002, 107000 for a
        refused object, 507032, and as `Loader.load` does; nothing is left registered then.
        """
        if self.soc.loads_without_tiling and len(data):
            current(device)
        return self._loaded(self.binaries.load_without_tiling(data), device)

    def load_old(self, data: ByteView, magic: int, device: Device | None) -> ElfProgram:
        """rtBinaryLoad: the same with all entries, for an ELF magic. Raises RtError likewise."""
        if magic in KERNEL_MAGICS and len(data):
            current(device)
        return self._loaded(self.binaries.load_old(data, magic), device)

    def function_by_symbol(self, address: int, device: Device | None) -> FunctionSymbol:
        """The kernel of a host symbol (rtGetFuncBySymbol).

        Raises RtError: 107002, 107044, then as `Loader.prepare` does.
        """
        current(device)
        found = self.functions.find(address)  # DEV-13: before anything is prepared
        self.loader.prepare(found.program, device)
        return found

    def variable_range(self, address: int, device: Device | None) -> Range:
        """rtSymbolLookup: where a host variable is on the device, and its size as told. SYM-1.

        Raises RtError: 107043 for an unknown one, 107002, and as `Loader.load` does.
        """
        found = self.variables.find(address)
        where, _ = global_range(self.loader, found.program, found.name, device)
        return Range(where, found.size)

    def register_cpu_function(
        self, program: Program, function: str, kernel_name: str, device: Device | None
    ) -> Kernel:
        """rtsRegisterCpuFunc: name a function of an AI CPU library. CPU-9, DEV-13.

        Raises RtError: 107000 for another program, 107002, and that of the driver; the kernel is not
        entered where its names could not be stored.
        """
        if not isinstance(program, PlainProgram) or not program.is_cpu:
            why = "it is not an AI CPU program"
            raise RtError(RtStatus.INVALID_VALUE, "cannot register a function", why=why)
        current(device)
        kernel = program.find_name(kernel_name)
        if kernel is None:
            kernel = program.make_function(function, kernel_name)
            self.loader.store_names(program, kernel, device)
            program.enter([kernel])
        self.loader.prepare(program, device)
        return kernel

    def module(self, program: Program, device: Device | None) -> Module:
        """MOD-1: the module of a program on the current device, kept until the program goes.

        Raises RtError as `Modules.take` does.
        """
        device = current(device)
        kept = self._modules.setdefault(program, {})
        module = kept.get(device.id)
        if module is None:
            names = kernel_names(program, self.stubs)
            module = kept[device.id] = self.modules.take(program, device, names)
        return module

    def depend(self, program: Program, other: Program) -> bool:
        """POL-9, rtDependencyRegister: keep a reference on `other` until `program` goes.

        Whether there is one to keep: not on a program that is released or of the new flow.
        """
        if self.pool.get(other.id) is None:
            return False
        self._dependencies.setdefault(program, []).append(other)
        return True

    def is_unregistering(self, program: Program) -> bool:
        """Whether it lives on only because somebody holds a reference."""
        return program in self._unregistering

    def unload(self, program: Program, device: Device | None) -> tuple[int, ...]:
        """rtBinaryUnLoad: off every device, then destroyed. POL-7, DEV-22.

        Gives the devices where the original leaks its memory (Q-24, Q-25). Raises RtError: for the
        old flow 107002, or the first failure while the program lives on; for the new flow the first
        failure of a device, when all is done (QK-9).
        """
        if not program.is_new_flow:
            current(device)
        self._release_modules(program)
        try:
            leaks = self.loader.unload(program, device)
        except RtError:
            if program.is_new_flow:
                self._destroy(program)
            raise
        self._destroy(program)
        return leaks

    def unregister(self, program: Program) -> bool:
        """rtDevBinaryUnRegister; whether the program is gone. POL-7.

        While references remain it lives on, and its stubs answer that it is being unregistered. A
        program of the new flow is not touched (POL-5).
        """
        if program.is_new_flow:
            return False
        self._release_modules(program)
        self._release_dependencies(program)
        self._unregistering.add(program)
        self.put(program.id)
        return program not in self._unregistering

    def put(self, program_id: int) -> None:
        """POL-3: give a reference back; with the last one the program goes."""
        gone = self.pool.put(program_id)
        if gone is not None:
            self._forget(gone)

    def reset(self, device: Device) -> None:
        """DEV-25: nothing of any program is on the device any more."""
        for kept in self._modules.values():
            kept.pop(device.id, None)
        self.modules.reset(device)
        self.loader.reset(device)

    def _loaded(self, program: ElfProgram, device: Device | None) -> ElfProgram:
        try:
            self.loader.load(program, device)
        except RtError:
            self._destroy(program)
            raise
        return program

    def _destroy(self, program: Program) -> None:
        """QK-20: its slot is free, whoever holds a reference."""
        self.pool.remove(program.id)
        self._forget(program)

    def _forget(self, program: Program) -> None:
        self.stubs.remove_all(program)
        self.functions.drop(program)
        self.variables.drop(program)
        self._unregistering.discard(program)
        self._release_modules(program)
        self._release_dependencies(program)
        places = self.loader.places(program)
        if places:  # destroyed by its last reference: the original leaks what it has on devices
            with suppress(RtError):
                self.loader.unload(program, places[0].device)
        self._destroyed(program)

    def _release_modules(self, program: Program) -> None:
        for module in self._modules.pop(program, {}).values():
            with suppress(RtError):  # told in the trace; nothing is left to undo
                self.modules.release(module)

    def _release_dependencies(self, program: Program) -> None:
        for other in self._dependencies.pop(program, ()):
            self.put(other.id)
