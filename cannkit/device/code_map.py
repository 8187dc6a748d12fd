"""CodeMap: what the device knows of loaded code beside its bytes. Spec 04, section 6."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Mapping
from typing import NamedTuple


class FunctionFacts(NamedTuple):
    """One function as its metadata tells it.

    `is_vector`: attribute VECTOR (LCH-71). `args_size`: bytes of arguments, None where unknown.
    `pointers`: offsets of 8-byte words in the arguments that are pointers. `min_stack`: bytes.
    `vf_type`: the AIV type of 04, LCH-48. `has_parameters`: it states them one by one, as a kernel
    does that is launched with a grid of SIMT threads.
    """

    name: str
    is_vector: bool
    args_size: int | None = None
    pointers: tuple[int, ...] = ()
    min_stack: int = 0
    vf_type: int = 0
    has_parameters: bool = False


Functions = Mapping[int, FunctionFacts]  # by absolute address


class Code:
    """The code of one loaded binary: `size` bytes from `base` on. Its functions load at first need."""

    __slots__ = ("_functions", "_read", "base", "size")

    def __init__(self, base: int, size: int, read: Callable[[], Functions]) -> None:
        self.base = base
        self.size = size
        self._read = read
        self._functions: Functions | None = None

    @property
    def functions(self) -> Functions:
        """What begins where."""
        if self._functions is None:
            self._functions = self._read()
        return self._functions

    def __contains__(self, address: int) -> bool:
        return self.base <= address < self.base + self.size


class CodeMap:
    """Loaded code by address. Changes; `changes` counts how often."""

    def __init__(self) -> None:
        self.changes = 0
        self._codes: dict[int, Code] = {}
        self._bases: list[int] = []

    def publish(self, base: int, size: int, functions: Callable[[], Functions]) -> None:
        """Code was placed at `base`; it replaces what was published there. `size` in bytes.

        `functions` is called once, when somebody asks for one.
        """
        self.changes += 1
        if base not in self._codes:
            insort(self._bases, base)
        self._codes[base] = Code(base, size, functions)

    def withdraw(self, base: int) -> None:
        """Code is gone; nothing happens where none was published."""
        if self._codes.pop(base, None) is not None:
            self.changes += 1
            self._bases.remove(base)

    def clear(self) -> None:
        """All code is gone."""
        self.changes += 1
        self._codes.clear()
        self._bases.clear()

    def find(self, pc: int) -> Code | None:
        """The code that holds an address."""
        at = bisect_right(self._bases, pc)
        code = self._codes[self._bases[at - 1]] if at else None
        return code if code and pc in code else None
