"""Callers that run no foreign code: TableCaller, DryCaller, PretendCaller. Spec 05, AE-1204 and AE-1207."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from cannkit.ae.caller import Found, Opened, Returned, Signature
from cannkit.ae.event import Argument
from cannkit.ae.static_check import (
    HostedFiles,
    Placed,
    check_library,
    dependencies,
    missing_export,
    missing_globally,
    open_hosted,
    remarks_of,
    unresolved,
)
from cannkit.errors import InputError, UsageError, brief

U32: Final = 0xFFFF_FFFF

TableFunction = Callable[[Argument, tuple[int, int]], object]  # int, which is checked
Table = Mapping[tuple[str, str], TableFunction]  # (path or file name of a library, symbol)


def _unchanged(code: int, argument: Argument) -> Returned:
    segments = tuple(segment.data for segment in argument.segments) if argument.segments else ()
    return Returned(code & U32, segments)


class TableCaller:
    """AE-1207: Python functions in place of libraries. Changes.

    A library is there when a row names its path, or else its file name. A function gets the argument
    and (block id, number of blocks), and returns what the C function would; what it raises passes.
    """

    def __init__(self, table: Table) -> None:
        self._functions = list(table.values())
        self._rows = list(table)
        self._names: dict[
            str, dict[str, int]
        ] = {}  # library -> symbol -> number of its row, from 1
        for number, (library, symbol) in enumerate(table, 1):
            self._names.setdefault(library, {})[symbol] = number
        self._numbers: dict[str, int] = {}
        self._opened: dict[int, dict[str, int]] = {}
        self._counts: dict[int, int] = {}

    def open(self, path: str) -> Opened:
        """See Caller; a library that is opened twice must be closed twice."""
        key = path if path in self._names else path.rpartition("/")[2]
        symbols = self._names.get(key)
        if symbols is None:
            return Opened(None, "no row of the table names it")
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        self._opened.setdefault(number, symbols)
        self._counts[number] = self._counts.get(number, 0) + 1
        return Opened(number)

    def close(self, library: int) -> None:
        """See Caller."""
        self._counts[library] -= 1
        if not self._counts[library]:
            del self._opened[library]

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        number = self._opened[library].get(name)
        return Found(number) if number else None

    def find_global(self, name: str) -> Found | None:
        """See Caller: libraries are asked in the order in which they were opened."""
        for symbols in self._opened.values():
            number = symbols.get(name)
            if number:
                return Found(number, self._rows[number - 1][0])
        return None

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        which = "this library" if library is not None else "a library that was opened"
        return f"no row of the table has {brief(name)} of {which}"

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        """See Caller. Raises UsageError when the function returns no integer."""
        code = self._functions[function - 1](argument, block)
        if not isinstance(code, int):
            where = " of ".join(self._rows[function - 1][::-1])
            why = f"it returned {type(code).__name__}, not an integer ({signature})"
            raise UsageError("a function of the table failed", where=where, why=why)
        return _unchanged(code, argument)


class DryCaller:
    """AE-1204, step 6: looks at libraries and loads none; symbols are those of their tables. Changes.

    `machine` refuses libraries for any other. Every call returns `returns`; without it none is made.
    Libraries that one needs are looked for in `lib_path` and where this machine has them.
    """

    def __init__(
        self,
        files: HostedFiles,
        returns: int | None = None,
        machine: int | None = None,
        lib_path: Sequence[str] = (),
    ) -> None:
        self._files = files
        self._returns = returns
        self._machine = machine
        self._lib_path = lib_path
        self._opened: dict[int, Placed] = {}
        self._last = 0

    def open(self, path: str) -> Opened:
        """See Caller."""
        try:
            checked = check_library(open_hosted(self._files, path), self._machine)
        except InputError as error:
            return Opened(None, error.why)
        if checked.library is None or checked.why:
            return Opened(None, checked.why)
        placed = Placed(self._files.host_path(path), checked.library)
        others = [each.library for each in self._opened.values()]
        self._last += 1
        self._opened[self._last] = placed
        remarks = remarks_of(*unresolved(placed, self._lib_path, others))
        return Opened(self._last, "", remarks)

    def close(self, library: int) -> None:
        """See Caller."""
        del self._opened[library]

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        placed = self._opened[library]
        if name in placed.library.exports:
            return Found(1)
        for needed in dependencies(placed, self._lib_path):
            if name in needed.library.exports:
                return Found(1, Path(needed.path).name)
        return None

    def find_global(self, name: str) -> Found | None:
        """See Caller: of libraries that were opened; what they need is left out (Q-8)."""
        for placed in self._opened.values():
            if name in placed.library.exports:
                return Found(1, Path(placed.path).name)
        return None

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        if library is not None:
            return missing_export(self._opened[library].library, name)
        return missing_globally((each.library for each in self._opened.values()), name)

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned | None:
        """See Caller; None when nothing was said of what it returns."""
        return None if self._returns is None else _unchanged(self._returns, argument)


class PretendFiles:
    """Files of which every one is there, whatever it is called."""

    def real_path(self, path: str) -> str | None:
        """See PathView."""
        return path or None

    def why_missing(self, path: str) -> str:
        """See PathView."""
        return "no such file"

    def read(self, path: str, limit: int) -> bytes | None:
        """See FileView: nobody knows what is in it."""
        return None


class PretendCaller:
    """Every library opens, every function is found and returns `returns`: no file is looked at."""

    def __init__(self, returns: int) -> None:
        self._returns = returns

    def open(self, path: str) -> Opened:
        """See Caller."""
        return Opened(1, remarks=("pretended",))

    def close(self, library: int) -> None:
        """See Caller."""

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        return Found(1)

    def find_global(self, name: str) -> Found | None:
        """See Caller."""
        return Found(1)

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        return ""

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        """See Caller."""
        return _unchanged(self._returns, argument)
