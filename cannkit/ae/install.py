"""CustSoWriter: how a scheduler stores the libraries of custom operators. Spec 05, section 9."""

from __future__ import annotations

import hashlib
import posixpath
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from cannkit.ae.so_path import cust_folder
from cannkit.ae.write_rules import (
    BAD_PARAMETER,
    INNER_ERROR,
    OK,
    RefusedError,
    Step,
    StepKind,
    Written,
    checked_name,
    write_root,
)
from cannkit.errors import OutputError
from cannkit.format.ae_status import RunMode
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Kind, is_canonical
from cannkit.inputs.writable import Overlay

if TYPE_CHECKING:
    from cannkit.ae.context import AeContext
    from cannkit.inputs.writable import WritableView

COMPARED: Final = 0xC800000  # AE-904: larger files in lib/ are not compared
FOLDER_MODE: Final = 0o750
FILE_MODE: Final = 0o640
LIB: Final = "lib/"
LOCKER: Final = "lib_locker"


def fresh_tree(context: AeContext) -> Overlay:
    """A tree in which nothing is but R, and `lib/` in it in PCIe mode: for a look at what is done."""
    root = write_root(context) + (LIB if context.run_mode == RunMode.PCIE else "")
    # R may lead up again with `..`: each directory on the way exists
    places = accumulate(root.split("/"), lambda place, name: posixpath.join("/", place, name))
    paths = {posixpath.normpath(place) for place in places}
    return Overlay(MemoryTree(dict.fromkeys(filter(is_canonical, paths))))


def prepare(context: AeContext, files: WritableView) -> tuple[str, ...]:
    """Make what the device's daemon makes before a scheduler starts: in PCIe mode R, and `lib/` in it.

    The directories that were made. One that is something else, or leads elsewhere, is left to the writer's
    checks. Raises OutputError.
    """
    if context.run_mode != RunMode.PCIE:
        return ()
    made, here = [], ""
    for part in (write_root(context) + LIB).strip("/").split("/"):
        here = f"{here}/{part}"
        node = files.look(here)
        if node is None:
            files.mkdir(here, FOLDER_MODE)
            made.append(here)
        elif node is not Kind.DIRECTORY:
            break
    return tuple(made)


class CustSoWriter:
    """The store of one scheduler process. Changes: remembers what it stored, as Q-20 needs it.

    Contents are told apart by their bytes, which differs from the device's 64-bit FNV-1a where two
    contents have one hash. Relative paths are taken against the `/` of `files`.
    """

    def __init__(self, context: AeContext, files: WritableView) -> None:
        self.context = context
        self.files = files
        self.root = write_root(context)
        self.folder = self.root + cust_folder(context)  # AE-902
        self._stored: dict[bytes, str] = {}
        self._steps: list[Step] = []
        self._remarks: list[str] = []

    def create(self, name: bytes | str | None, data: bytes | None) -> Written:
        """AE-904: store a library.

        Raises InputError where the tree cannot be read, OutputError where it cannot be changed.
        """
        self._steps, self._remarks = [], []
        try:
            if not data:
                why = "the buffer is null" if data is None else "the library has no bytes"
                raise RefusedError(BAD_PARAMETER, self.folder, why)
            self._create(checked_name(name, self.folder), data)
        except RefusedError as refused:
            return self._refusal(refused)
        return Written(OK, tuple(self._steps), tuple(self._remarks))

    def delete(self, name: bytes | str | None) -> Written:
        """AE-907: remove a library of this host process. Raises as `create`."""
        self._steps, self._remarks = [], []
        try:
            self._delete(checked_name(name, self.folder))
        except RefusedError as refused:
            return self._refusal(refused)
        return Written(OK, tuple(self._steps), tuple(self._remarks))

    def _create(self, name: str, data: bytes) -> None:
        if self.context.run_mode == RunMode.PCIE:
            self._share(name, data)
        else:
            self._write(self.folder, name, data)
        if self.context.run_mode == RunMode.THREAD:
            self._did(StepKind.LOAD, self.folder + name, f"aeBatchLoadKernelSo(4, {name})")

    def _share(self, name: str, data: bytes) -> None:
        """AE-904, PCIe: the file lies in `lib/`, once for equal contents, and a symlink leads to it."""
        lib, digest = self.root + LIB, hashlib.sha256(data).digest()
        self._lock()
        target = self._stored.get(digest) or self._find(lib, data)
        if target is None:
            c = self.context
            file = f"{name}.{c.device}.{c.vf}.{c.pid}"
            target = self._stored[digest] = lib + file  # stays when the write is refused
            try:
                self._write(lib, file, data)
            except OutputError:
                del self._stored[digest]
                raise
        else:
            self._stored[digest] = target
            if self.files.real_path(target) is None:
                self._remarks.append(
                    f"Q-20: this content counts as stored in {target}, which does not exist: "
                    "it cannot be stored again before the scheduler restarts"
                )
                raise RefusedError(INNER_ERROR, target, "the file to share does not exist")
            self._did(StepKind.SHARE, target, "the same content is stored here", target=target)
            if not self._has(target, data):
                self._remarks.append(f"Q-20: {target} counts as this content, but has other bytes")
        self._link(name, target)

    def _lock(self) -> None:
        path = self.root + LOCKER
        held = "held with flock" if self.files.real_path(path) else "absent, so nothing is locked"
        self._did(StepKind.LOCK, path, held)

    def _find(self, lib: str, data: bytes) -> str | None:
        """The first file of `lib/` with this content."""
        real = self.files.real_path(lib)
        if real is None:
            return None
        for entry in self.files.entries(real):
            may_be = entry.kind is Kind.FILE and entry.size == len(data) <= COMPARED
            if may_be and self.files.read(_join(real, entry.name), len(data)) == data:
                return lib + entry.name
        return None

    def _write(self, directory: str, name: str, data: bytes) -> None:
        """AE-905."""
        place = self._place(directory, name)
        if place is None:
            if not self._has(directory + name, data):
                self._remarks.append(f"Q-20: {directory}{name} keeps its old content")
            return
        self.files.write(place, data, FILE_MODE)
        path = directory + name
        self._did(StepKind.WRITE, path, f"{len(data)} bytes", size=len(data))
        self._did(StepKind.CHMOD, path, f"{FILE_MODE:04o}", mode=FILE_MODE)

    def _link(self, name: str, target: str) -> None:
        path = self.folder + name
        place = self._place(self.folder, name)
        if place is not None:
            self.files.symlink(place, target)
            self._did(StepKind.SYMLINK, path, f"leads to {target}", target=target)
        elif self.files.real_path(path) != self.files.real_path(target):
            self._remarks.append(f"Q-20: {path} stays what it was, it does not lead to {target}")

    def _place(self, directory: str, name: str) -> str | None:
        """Where a new file goes; None where something of this name exists, which is kept."""
        real = self._directory(directory)
        path = directory + name
        _check_path(path, directory, real)
        if self.files.real_path(path) is not None:
            self._did(StepKind.KEEP, path, "exists, nothing is written")
            return None
        place = _join(real, name)
        if not is_canonical(place):
            raise RefusedError(INNER_ERROR, path, "the name is too long for a file")
        if self.files.look(place) is not None:
            why = "a symlink that leads nowhere is in the way"
            raise RefusedError(INNER_ERROR, path, why)
        return place

    def _directory(self, directory: str) -> str:
        """AE-905: the canonical path of a directory, which is made if its parent exists."""
        real = self.files.real_path(directory)
        if real is not None:
            return real
        head, _, name = directory.rstrip("/").rpartition("/")
        parent = self.files.real_path(head + "/")
        if parent is None:
            raise RefusedError(INNER_ERROR, directory, f"{head}/ is no directory")
        real = _join(parent, name)
        if not is_canonical(real):
            raise RefusedError(INNER_ERROR, directory, "the name is too long for a directory")
        if self.files.look(real) is not None:
            why = "what is no directory is in the way"
            raise RefusedError(INNER_ERROR, directory, why)
        self.files.mkdir(real, FOLDER_MODE)
        self._did(StepKind.MKDIR, directory, f"{FOLDER_MODE:04o}", mode=FOLDER_MODE)
        return real

    def _has(self, path: str, data: bytes) -> bool:
        real = self.files.real_path(path)
        if real is None or self.files.look(real) is not Kind.FILE:
            return False
        directory, _, name = real.rpartition("/")
        sizes = {entry.name: entry.size for entry in self.files.entries(directory or "/")}
        return sizes.get(name) == len(data) and self.files.read(real, len(data)) == data

    def _delete(self, name: str) -> None:
        """AE-907."""
        path = self.folder + name
        real = self.files.real_path(self.folder)
        if real is None or self.files.real_path(path) is None:
            self._remarks.append(f"{path} does not exist: a warning in the log, no error")
            return
        _check_path(path, self.folder, real)
        self.files.chmod(real, FOLDER_MODE)
        self._did(StepKind.CHMOD, self.folder, f"{FOLDER_MODE:04o}", mode=FOLDER_MODE)
        if name in (".", "..") or self.files.look(_join(real, name)) is Kind.DIRECTORY:
            raise RefusedError(INNER_ERROR, path, "a directory cannot be removed")
        self.files.unlink(_join(real, name))
        self._did(StepKind.UNLINK, path, "is removed")
        self._remarks.append("a scheduler that has opened the library keeps it mapped")
        if self.context.run_mode == RunMode.PCIE:
            self._remarks.append(f"what {path} led to stays in {self.root}{LIB}")
        self._clear(real)

    def _clear(self, real: str) -> None:
        left = self.files.entries(real)
        if any(e.kind is not Kind.OTHER and not e.name.startswith(".") for e in left):
            return
        if left:  # they do not count, but are in the way
            self._remarks.append(
                f"{self.folder} counts as empty, but cannot be removed: {left[0].name}"
            )
            return
        self.files.rmdir(real)
        self._did(StepKind.RMDIR, self.folder, "is empty, and is removed")

    def _did(
        self,
        kind: StepKind,
        path: str,
        text: str,
        *,
        mode: int | None = None,
        size: int | None = None,
        target: str | None = None,
    ) -> None:
        self._steps.append(Step(kind, path, text, mode, size, target))

    def _refusal(self, refused: RefusedError) -> Written:
        self._did(StepKind.REFUSE, refused.path, refused.why)
        return Written(refused.status, tuple(self._steps), tuple(self._remarks))


def _check_path(path: str, directory: str, real: str) -> None:
    """AE-906: the directory part must be spelled as realpath spells it. Raises RefusedError.

    No path gets as far as the limit of 4096 bytes: the variables end at 1024, and names at 255.
    """
    if _join(real, "") != directory:
        why = f"{directory} is really {real}: it is relative, or has a symlink, `..` or `//` in it"
        raise RefusedError(BAD_PARAMETER, path, why)


def _join(directory: str, name: str) -> str:
    return f"{directory.rstrip('/')}/{name}"
