"""Host symbols: which kernel or device variable a host address stands for. Spec 02, section 11."""

from __future__ import annotations

from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program


class FunctionSymbol(NamedTuple):
    """A kernel that a host symbol stands for."""

    program: Program
    kernel: Kernel


class VariableSymbol(NamedTuple):
    """A device variable that a host one stands for: where it is in the image, and its size as told."""

    program: ElfProgram
    name: str
    offset: int
    size: int
    flags: int


T = TypeVar("T", FunctionSymbol, VariableSymbol)


class _Symbols(Generic[T]):
    """Symbols by host address. Changes; every call is atomic among threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_address: dict[int, T] = {}
        self._by_program: dict[Program, list[int]] = {}

    def __len__(self) -> int:
        return len(self._by_address)

    def drop(self, program: Program) -> None:
        """QK-2: its symbols go with a program; the original keeps them."""
        with self._lock:
            for address in self._by_program.pop(program, ()):
                del self._by_address[address]

    def _add(self, address: int, symbol: T) -> T:
        """API-6, SYM-1: the first registration of an address stays."""
        with self._lock:
            found = self._by_address.setdefault(address, symbol)
            if found is symbol:
                self._by_program.setdefault(symbol.program, []).append(address)
            return found


class FunctionSymbols(_Symbols[FunctionSymbol]):
    """SYM-2: kernels by host symbol."""

    def register(self, program: Program, address: int, kernel_name: str) -> FunctionSymbol:
        """Let an address stand for a kernel (rtRegisterFuncSymbol).

        Raises RtError (107000) for an unknown kernel.
        """
        return self._add(address, FunctionSymbol(program, program.by_name(kernel_name)))

    def find(self, address: int) -> FunctionSymbol:
        """The kernel of a symbol; raises RtError (107044) for none."""
        found = self._by_address.get(address)
        if found is None:
            what = "no kernel is registered for this host symbol"
            raise RtError(RtStatus.INVALID_DEVICE_FUNCTION, what, where=f"{address:#x}")
        return found


class VariableSymbols(_Symbols[VariableSymbol]):
    """SYM-1: device variables by the address of the host variable."""

    def register(
        self, program: Program, address: int, name: str, size: int, flags: int = 0
    ) -> VariableSymbol:
        """Let an address stand for a variable (rtRegisterVariable); `size` in bytes is as told.

        Raises RtError: 107000 for a program that is no ELF, 107042 for an unknown variable.
        """
        known = self._by_address.get(address)
        if known is not None:
            return known
        if not isinstance(program, ElfProgram):
            why = "the program is no kernel object"
            raise RtError(RtStatus.INVALID_VALUE, "cannot register a variable", where=name, why=why)
        offset = program.global_offset(name)
        return self._add(address, VariableSymbol(program, name, offset, size, flags))

    def find(self, address: int) -> VariableSymbol:
        """The variable of a host address; raises RtError (107043) for none."""
        found = self._by_address.get(address)
        if found is None:
            what = "no device variable is registered for this host variable"
            raise RtError(RtStatus.INVALID_SYMBOL, what, where=f"{address:#x}")
        return found
