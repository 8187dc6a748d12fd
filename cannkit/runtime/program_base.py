"""Program: what a kernel object and an AI CPU library have in common. Spec 02, sections 7 and 9."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Final

from cannkit.errors import ReadWarning
from cannkit.format.elf_types import ByteView
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import AttrType, Kernel
from cannkit.runtime.symbol_refresh import SymbolPatch
from cannkit.soc import Soc

NO_ID: Final = 0xFFFF_FFFF  # POL-2: of a program that never entered the pool


class Flow(StrEnum):
    """POL-4: by which call a program came in, which decides what is filled for it."""

    NEW = "new"  # aclrtBinaryLoadFromFile, aclrtBinaryLoadFromData
    WITHOUT_TILING = "without_tiling"  # aclrtBinaryLoad: names only
    OLD = "old"  # rtBinaryLoad, rtRegisterAllKernel: names, and every entry
    STUBS = "stubs"  # rtDevBinaryRegister: kernels come one by one, under host stubs


class Program(ABC):
    """What both kinds share: the name map, and what became of the program.

    Changes: `id` when it enters and leaves the pool, the name map while it is registered, `so_name`.
    """

    refresh_symbols: tuple[SymbolPatch, ...] = ()

    def __init__(self, soc: Soc, flow: Flow, default_attr: AttrType) -> None:
        self.soc = soc
        self.flow = flow
        self.default_attr = default_attr
        self.id = NO_ID
        self.is_lazy = False
        self.magic = 0
        self.so_name = ""
        self.metadata = ""
        self.warnings: list[ReadWarning] = []
        self.kernels: tuple[Kernel, ...] = ()
        self._by_name: dict[str, Kernel] = {}

    @property
    @abstractmethod
    def data(self) -> ByteView:
        """All bytes of the binary."""

    @property
    @abstractmethod
    def load_size(self) -> int:
        """DEV-4: bytes of the device image."""

    @property
    @abstractmethod
    def read_only(self) -> bool:
        """REG-4: whether its device memory is read only."""

    @abstractmethod
    def image(self, *, lenient: bool = False) -> memoryview:
        """DEV-4: the bytes that go to the device, before the refresh of symbols."""

    @abstractmethod
    def by_entry(self, key: int) -> Kernel:
        """TBL-2: the kernel of this function entry or tiling key; raises RtError (107000) for none."""

    @property
    def has_data(self) -> bool:
        """Whether there are bytes to copy."""
        return len(self.data) > 0

    @property
    def pool_id(self) -> int | None:
        """Its id while it is in the pool, else None."""
        return None if self.id == NO_ID else self.id

    @property
    def is_new_flow(self) -> bool:
        """Whether it came by aclrtBinaryLoadFromFile or FromData."""
        return self.flow is Flow.NEW

    @property
    def max_min_stack(self) -> int:
        """REG-14: the largest stack need of a kernel, bytes."""
        return max((kernel.min_stack for kernel in self.kernels), default=0)

    def by_name(self, name: str) -> Kernel:
        """TBL-3: the kernel of exactly this stripped name; raises RtError (107000) for none."""
        kernel = self._by_name.get(name)
        if kernel is None:
            raise RtError(RtStatus.INVALID_VALUE, "no kernel of this name", where=repr(name))
        return kernel

    def find_name(self, name: str) -> Kernel | None:
        """The same without an error."""
        return self._by_name.get(name)

    def _publish(self, by_name: dict[str, Kernel]) -> None:
        """Both views of the name map, the one in ascending byte order of name."""
        self._by_name = by_name
        self.kernels = tuple(by_name[name] for name in sorted(by_name, key=bytes_of))

    def warn(self, code: str, where: str, message: str) -> None:
        """Note something odd."""
        self.warnings.append(ReadWarning(code, where, message))


def bytes_of(name: str) -> bytes:
    """The bytes of a name in its object; names sort by them."""
    return name.encode("utf-8", "surrogateescape")
