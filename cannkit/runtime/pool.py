"""ProgramPool: the ids of programs and their reference counts. Spec 02, section 9."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Final

from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.program_base import NO_ID, Program

CAPACITY: Final = 480_000  # POL-1: without a device


@dataclass(slots=True)
class _Slot:
    program: Program
    count: int


class ProgramPool:
    """Programs by id, each with a reference count. Changes; every call is atomic among threads.

    The free slot after the last one given is taken next, so an id comes again only after a full round
    (POL-2). What leaves the pool leaves its slot free, whatever the flow (QK-20).
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._slots: dict[int, _Slot] = {}
        self._cursor = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, program: Program) -> int:
        """POL-2: give the program an id, with one reference. Raises RtError (507032) when full."""
        with self._lock:
            if len(self._slots) >= self.capacity:
                why = f"all {self.capacity} ids are in use"
                raise RtError(RtStatus.PROGRAM_USEOUT, "no program id left", why=why)
            at = self._cursor
            while at in self._slots:
                at = (at + 1) % self.capacity
            self._slots[at] = _Slot(program, 1)
            self._cursor = (at + 1) % self.capacity
            program.id = at
            return at

    def get(self, program_id: int) -> Program | None:
        """POL-3: the program with one reference more. POL-5: none for a program of the new flow."""
        with self._lock:
            slot = self._slots.get(program_id)
            if slot is None or slot.program.is_new_flow:
                return None
            slot.count += 1
            return slot.program

    def put(self, program_id: int) -> Program | None:
        """POL-3: give a reference back; the program when that was the last one, and its slot is free."""
        with self._lock:
            slot = self._slots.get(program_id)
            if slot is None or slot.program.is_new_flow:
                return None
            slot.count -= 1
            return None if slot.count else self._empty(program_id)

    def remove(self, program_id: int) -> Program | None:
        """POL-7: empty the slot of a program that is destroyed, whatever its references."""
        with self._lock:
            return self._empty(program_id) if program_id in self._slots else None

    def references(self, program_id: int) -> int:
        """How many references there are, 0 for a free slot."""
        with self._lock:
            slot = self._slots.get(program_id)
            return slot.count if slot else 0

    def programs(self) -> tuple[Program, ...]:
        """All programs, by ascending id."""
        with self._lock:
            return tuple(self._slots[at].program for at in sorted(self._slots))

    def _empty(self, program_id: int) -> Program:
        program = self._slots.pop(program_id).program
        program.id = NO_ID
        return program
