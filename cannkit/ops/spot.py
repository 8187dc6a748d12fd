"""Spot: where foreign code was when it crashed or time was up, in words. Spec 07, OPR-810.

The runner notes addresses and what is mapped there; files are looked at when somebody asks.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from cannkit.errors import CannkitError, brief
from cannkit.format.code_place import CodePlace, code_place
from cannkit.inputs.files import open_window
from cannkit.ops.needs import demangled

LONGEST: Final = 200  # a name of C++ may go on for pages
PLACES_KEPT: Final = 256
MEMORY: Final = "/memfd:"  # the job file


class Address(NamedTuple):
    """An address in a process, and the mapping there: its start, the offset in a file, and the file."""

    address: int
    start: int
    offset: int
    path: str = ""


class Spot(NamedTuple):
    """Where it was, and where that was called from the library; None where it is in it, or not known.

    Not `is_known` where nothing told what is mapped there.
    """

    place: Address
    call: Address | None = None
    is_known: bool = True


def told(spot: Spot, library: str) -> str | None:
    """`it was at libmine.so+0x1234 (touch+0x14), mine.c:12`; None where nothing is known."""
    address, start, _, path = spot.place
    call = None
    if spot.call is not None:
        call = _in_file(spot.call._replace(path=library), back=1)
    if path.startswith("/") and not path.startswith(MEMORY):
        here = f"{'in' if call else 'at'} {_in_file(spot.place)}"
    elif not spot.is_known:
        here = f"at {address:#x}"
    elif start:
        what = path if path and not path.startswith(MEMORY) else "memory of no file"
        here = f"at {address:#x}, in {what}"
    else:
        here = f"at {address:#x}, where nothing is mapped"
    if not (address or call):  # of a machine whose registers are not known
        return None
    return f"it was {here}" + (f", called from {call}" if call else "")


def _in_file(address: Address, back: int = 0) -> str:
    """A place in a file: its name and the address there, and what is known of the function."""
    offset = address.address - address.start + address.offset
    name = brief(PurePath(address.path).name)
    try:
        state = Path(address.path).stat()
        place = _place(address.path, state.st_size, state.st_mtime_ns, offset, back)
    except (CannkitError, OSError, ValueError):
        place = None
    if place is None:
        return f"{name}, byte {offset:#x} of the file"
    return f"{name}+{place.address:#x}{_function(place)}{_line(place)}"


@lru_cache(PLACES_KEPT)
def _place(path: str, size: int, date: int, offset: int, back: int) -> CodePlace | None:
    """Many calls of a batch crash at one place; a file that was exchanged has another size or date."""
    return code_place(open_window(path), offset, back)


def _function(place: CodePlace) -> str:
    if place.function is None:
        return ""
    (name,) = demangled([place.function])
    return f" ({brief(name, LONGEST)}+{place.distance:#x})"


def _line(place: CodePlace) -> str:
    if place.line is None or not place.line.line:
        return ""
    return f", {brief(PurePath(place.line.file).name)}:{place.line.line}"
