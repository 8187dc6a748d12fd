"""Public handles: numbers that stand for objects of the runtime. Spec 02, API-4, QK-1, QK-3."""

from __future__ import annotations

from threading import Lock
from typing import ClassVar, Final, TypeVar

from cannkit.format.bits import OpenEnum
from cannkit.format.status import RtError, RtStatus

NULL: Final = 0


class HandleKind(OpenEnum):
    """What a handle is for; the number is the magic that CANN keeps in it, four letters."""

    BINARY = 0x42494E48
    FUNCTION = 0x46554E43
    ARGS = 0x41524753
    PARAM = 0x50415241
    LAUNCH_ARGS = 0x4C415247
    STREAM = 0x5354524D

    @property
    def words(self) -> str:
        """The kind in plain words: `launch args`."""
        return self.name.lower().replace("_", " ")

    @property
    def letters(self) -> str:
        """The magic as text: `BINH`."""
        return self.to_bytes(4, "big").decode("ascii")


class Handle:
    """What a handle stands for, or a number that only claims to be one. `id` is 0 for null."""

    KIND: ClassVar[HandleKind]
    __slots__ = ("id",)

    def __init__(self, handle: int = NULL) -> None:
        self.id = handle


H = TypeVar("H", bound=Handle)


class Handles:
    """The live handles of a process. Changes; ids ascend from 1 and never come twice.

    CANN reads the magic of an object that may be gone; here a handle is looked up (QK-1).
    """

    def __init__(self) -> None:
        self._live: dict[int, Handle] = {}
        self._next = 1
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._live)

    def add(self, handle: Handle) -> None:
        """Give a handle its id."""
        with self._lock:
            handle.id = self._next
            self._live[self._next] = handle
            self._next += 1

    def get(self, handle: int) -> Handle | None:
        """What is live under an id."""
        return self._live.get(handle)

    def find(self, handle: int, kind: type[H]) -> H:
        """API-4: what a handle stands for.

        Raises RtError: 107000 for null (QK-3), 107017 for one that is unknown, destroyed or of
        another kind.
        """
        found = self._live.get(handle)
        if isinstance(found, kind):
            return found
        wanted = kind.KIND.words
        if handle == NULL:
            raise RtError(RtStatus.INVALID_VALUE, f"null {wanted} handle")
        if found is not None:
            why = f"handle {handle} is a {found.KIND.words} handle"
        elif 0 < handle < self._next:
            why = f"handle {handle} was destroyed"
        else:
            why = f"there is no handle {handle}"
        raise RtError(RtStatus.INVALID_HANDLE, f"not a {wanted} handle", why=why)

    def destroy(self, handle: int) -> None:
        """The object is gone; its handle is 107017 from now on."""
        with self._lock:
            self._live.pop(handle, None)
