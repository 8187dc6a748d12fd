"""StubTable: kernels of the old flow by host stub, for the whole process. Spec 02, section 8."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Final, NamedTuple

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.program_base import Program, bytes_of

GROWTH: Final = 2048  # STB-1: elements the array grows by


class StubEntry(NamedTuple):
    """A kernel under a stub, which is a host address. `info` is kernelInfoExt, "" for none."""

    stub: int
    stub_name: str
    info: str
    kernel: Kernel
    program: Program


class Removal(NamedTuple):
    """What went with a program, and where the original goes wrong about it (QK-8).

    `stale_names` are stub names of the program that the original keeps; `lost_names` and
    `lost_infos` belong to other programs, and the original erases them.
    """

    entries: tuple[StubEntry, ...] = ()
    names: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()
    stale_names: tuple[str, ...] = ()
    lost_names: tuple[str, ...] = ()
    lost_infos: tuple[str, ...] = ()


class StubTable:
    """Kernels in ascending order of stub, and by stub name and kernelInfoExt. STB-1. Changes.

    A name or info that comes again goes over to the newcomer (STB-2). `capacity` is the number of
    elements that the original has allocated. Every call is atomic among threads.
    """

    def __init__(self, pool: ProgramPool) -> None:
        self.capacity = 0
        self._pool = pool
        self._lock = Lock()
        self._stubs: list[int] = []
        self._entries: list[StubEntry] = []  # in step with _stubs
        self._by_name: dict[str, StubEntry] = {}
        self._by_info: dict[str, StubEntry] = {}
        self._by_program: dict[Program, list[StubEntry]] = {}

    def __len__(self) -> int:
        return len(self._stubs)

    def __iter__(self) -> Iterator[StubEntry]:
        """The array as it is now, by ascending stub."""
        with self._lock:
            return iter(tuple(self._entries))

    def add(
        self, program: Program, kernel: Kernel, stub: int, stub_name: str, info: str | None = None
    ) -> StubEntry:
        """STB-2: put a kernel under a stub. Raises RtError (507028) for a stub that is taken."""
        entry = StubEntry(stub, stub_name, info or "", kernel, program)
        with self._lock:
            at, found = self._position(stub)
            if found is not None:
                why = f"kernel {found.kernel.name} is registered under it"
                raise RtError(
                    RtStatus.KERNEL_DUPLICATE, "stub is taken", where=f"{stub:#x}", why=why
                )
            if len(self._stubs) == self.capacity:
                self.capacity += GROWTH
            self._stubs.insert(at, stub)
            self._entries.insert(at, entry)
            self._by_name[entry.stub_name] = entry
            self._by_info[entry.info] = entry
            self._by_program.setdefault(program, []).append(entry)
        return entry

    def find(self, stub: int) -> StubEntry | None:
        """The entry of a stub, no questions asked about its program."""
        with self._lock:
            return self._position(stub)[1]

    def lookup(self, stub: int) -> StubEntry | None:
        """STB-3: the same, with a reference on the program, which the caller gives back.

        None also where the program is released or of the new flow.
        """
        return self._hold(self.find(stub))

    def lookup_info(self, info: str) -> StubEntry | None:
        """STB-4, KernelInfoExtLookup: as `lookup`, by kernelInfoExt."""
        with self._lock:
            entry = self._by_info.get(info)
        return self._hold(entry)

    def stub_of(self, stub_name: str) -> int | None:
        """STB-4, InvLookup: the stub of this name, whatever became of its program."""
        with self._lock:
            entry = self._by_name.get(stub_name)
        return entry.stub if entry else None

    def entries_of(self, program: Program) -> tuple[StubEntry, ...]:
        """All of a program, in the order they came."""
        with self._lock:
            return tuple(self._by_program.get(program, ()))

    def names(self) -> dict[str, int]:
        """The stub of each stub name."""
        with self._lock:
            return {name: entry.stub for name, entry in self._by_name.items()}

    def infos(self) -> tuple[str, ...]:
        """Every kernelInfoExt, in byte order."""
        with self._lock:
            return _in_order(self._by_info)

    def remove_all(self, program: Program) -> Removal:
        """STB-5: take every kernel of a program out. QK-8: its names and infos, and no others."""
        with self._lock:
            gone = self._by_program.pop(program, None)
            if gone is None:
                return Removal()
            for entry in gone:
                at, _ = self._position(entry.stub)
                del self._stubs[at], self._entries[at]
            names = _erase(self._by_name, {entry.stub_name: entry for entry in gone})
            infos = _erase(self._by_info, {entry.info: entry for entry in gone})
            by_kernel = {entry.kernel.name for entry in gone}  # what the original erases
            return Removal(
                tuple(gone),
                names,
                infos,
                tuple(name for name in names if name not in by_kernel),
                _in_order(by_kernel & self._by_name.keys()),
                _in_order({entry.info for entry in gone} & self._by_info.keys()),
            )

    def _position(self, stub: int) -> tuple[int, StubEntry | None]:
        """Where a stub is or belongs, by binary search."""
        at = bisect_left(self._stubs, stub)
        found = at < len(self._stubs) and self._stubs[at] == stub
        return at, self._entries[at] if found else None

    def _hold(self, entry: StubEntry | None) -> StubEntry | None:
        return entry if entry and self._pool.get(entry.program.id) else None


def kernel_names(program: Program, stubs: StubTable) -> bytes:
    """MOD-2: the ELF names of a program, each with a NUL, as a Module takes them to the device.

    They stand in the order of registration; the second half of a mix adds none (REG-14).
    """
    found = program.kernels or tuple(entry.kernel for entry in stubs.entries_of(program))
    in_order = sorted((k for k in found if k.symbols), key=lambda kernel: kernel.name_offset)
    return b"".join(bytes_of(kernel.symbols[0]) + b"\0" for kernel in in_order)


def _erase(index: dict[str, StubEntry], last: dict[str, StubEntry]) -> tuple[str, ...]:
    """Erase the texts that still lead to the entry given, which is the last one to have come."""
    mine = _in_order(text for text, entry in last.items() if index.get(text) is entry)
    for text in mine:
        del index[text]
    return mine


def _in_order(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(texts, key=bytes_of))
