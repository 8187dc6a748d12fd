"""What inputs embed: kernel objects and their sidecars, listed or written out. Spec 01, 12; HAZ-12."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.errors import CannkitError, FormatError, InputError, OutputError, ReadWarning, brief
from cannkit.extract.names import (
    OBJECT,
    SIDECAR,
    TakenNames,
    Target,
    flat_target,
    opp_target,
)
from cannkit.extract.staging import Identity, Staging
from cannkit.format.elf_types import MAGIC
from cannkit.format.sidecar import MAX_SIZE, parse_json
from cannkit.image.reader import sidecar_path
from cannkit.inputs.contents import Container, Input, Unreadable, place_of
from cannkit.inputs.files import sha256_hex

if TYPE_CHECKING:
    from cannkit.format.elf_types import ByteView

SIDECAR_KIND: Final = "sidecar"


class Layout(StrEnum):
    """How files are placed: all in one folder, or as `<soc>/<op>/<stem>.o`."""

    FLAT = "flat"
    OPP = "opp"


class Limits(NamedTuple):
    """HAZ-14: what one extraction may come to."""

    members: int = 1 << 20
    size: int = 16 << 30  # bytes


LIMITS: Final = Limits()


class Member(NamedTuple):
    """An embedded file; `written` is where it lies now."""

    file: str
    name: str
    kind: str
    size: int
    sha256: str
    written: str | None = None


class Failed(NamedTuple):
    """What could not be read, and why."""

    place: str
    error: CannkitError


class Extraction(NamedTuple):
    """What was found; `problem` is why not all of it was written."""

    members: tuple[Member, ...]
    errors: tuple[Failed, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()
    problem: OutputError | None = None


def list_members(inputs: Iterable[Input | Unreadable], *, limits: Limits = LIMITS) -> Extraction:
    """What `inputs` embed. Raises InputError where that is nothing, or more than `limits`."""
    reader = _Reader(None, Layout.FLAT, limits)
    reader.read(inputs)
    return Extraction(tuple(reader.members), tuple(reader.errors), tuple(reader.warnings))


def extract_members(
    inputs: Iterable[Input | Unreadable],
    out: str,
    *,
    layout: Layout = Layout.FLAT,
    force: bool = False,
    limits: Limits = LIMITS,
) -> Extraction:
    """Write what `inputs` embed below `out`, which is made if it is missing, and nowhere else.

    Nothing is written before all is read; then each file appears whole, none is replaced but by `force`.
    Raises InputError as `list_members`.
    """
    problem = None
    with Staging(out, force=force) as staging:
        reader = _Reader(staging, layout, limits)
        try:
            reader.read(inputs)
            staging.commit(reader.files)
        except OutputError as error:
            problem = error
        members = tuple(
            member if at < staging.written else member._replace(written=None)
            for at, member in enumerate(reader.members)
        )
    return Extraction(members, tuple(reader.errors), tuple(reader.warnings), problem)


class _Reader:
    """Goes through inputs, and keeps what they embed. Changes."""

    def __init__(self, staging: Staging | None, layout: Layout, limits: Limits) -> None:
        self.members: list[Member] = []
        self.errors: list[Failed] = []
        self.warnings: list[ReadWarning] = []
        self.files: set[Identity] = set()
        self._staging = staging
        self._layout = layout
        self._limits = limits
        self._size = 0
        self._names = TakenNames()
        self._file = ""

    def read(self, inputs: Iterable[Input | Unreadable]) -> None:
        """Take all of them. Raises InputError, OutputError."""
        alone: CannkitError | None = None
        for item in inputs:
            if isinstance(item, Unreadable):
                self.errors.append(Failed(place_of(item), item.error))
                alone = item.error if item.container is None else None
            elif item.container is None:
                alone = alone or _nothing(item.file)
            else:
                self._take(item, item.container)
        if alone and not self.members and len(self.errors) <= 1:
            raise alone

    def _take(self, item: Input, container: Container) -> None:
        """An object, and the sidecar beside it."""
        place = place_of(item)
        self._note_file(item.file)
        self.warnings += (each._replace(where=f"{place}, {each.where}") for each in item.warnings)
        try:
            if bytes(item.data[0 : len(MAGIC)]) != MAGIC:
                self._warn("not-elf", place, "it is no ELF file")
            sidecar = self._sidecar(item)
            target = self._target(item, container, place, sidecar)
            name, kind = container.member, str(container.kind)
            self._keep(item.file, name, kind, target.path(OBJECT), item.data)
            if sidecar is not None:
                name, path = sidecar_path(name), target.path(SIDECAR)
                self._keep(item.file, name, SIDECAR_KIND, path, memoryview(sidecar))
        except _TooMuchError:
            raise
        except (InputError, FormatError) as error:
            self.errors.append(Failed(place, error))

    def _sidecar(self, item: Input) -> bytes | None:
        """JSN-01; one that cannot be read is an error of its own."""
        path = sidecar_path(item.path)
        try:
            return item.files.read(path, MAX_SIZE)
        except InputError as error:
            self.errors.append(Failed(f"{item.file}!{path}", error))
            return None

    def _target(
        self, item: Input, container: Container, place: str, sidecar: bytes | None
    ) -> Target:
        """Where an object goes; its sidecar lies beside it."""
        found = None
        if self._layout is Layout.OPP and sidecar is not None:
            found = self._in_tree(place, sidecar)
        return self._names.claim(found or flat_target(container.kind, item.path))

    def _in_tree(self, place: str, sidecar: bytes) -> Target | None:
        """HAZ-12: what `filePath` says is not believed."""
        try:
            root = parse_json(sidecar)
        except FormatError as error:
            self._warn("file-path", place, f"{error}: it goes to the top folder")
            return None
        path = root.get("filePath") if isinstance(root, dict) else None
        found = opp_target(path)
        if found is None and path is not None:
            shown = brief(repr(path))
            message = f"filePath {shown} is no <soc>/<op>/<name>.json: it goes to the top folder"
            self._warn("file-path", place, message)
        return found

    def _keep(self, file: str, name: str, kind: str, path: tuple[str, ...], data: ByteView) -> None:
        size = len(data)
        self._size += size
        if len(self.members) >= self._limits.members or self._size > self._limits.size:
            raise _TooMuchError(file, self._limits)
        if self._staging is None:
            self.members.append(Member(file, name, kind, size, sha256_hex(data)))
            return
        digest = self._staging.add(path, data)
        self.members.append(Member(file, name, kind, size, digest, self._staging.shown(path)))

    def _note_file(self, file: str) -> None:
        """Who the input is, so that nothing is written over it."""
        if file == self._file:
            return
        self._file = file
        try:
            found = Path(file).stat()
        except OSError:  # it went away meanwhile
            return
        self.files.add((found.st_dev, found.st_ino))

    def _warn(self, code: str, place: str, message: str) -> None:
        self.warnings.append(ReadWarning(code, place, message))


class _TooMuchError(InputError):
    """HAZ-14: an input that unpacks to more than anybody packs."""

    def __init__(self, file: str, limits: Limits) -> None:
        why = f"it embeds more than {limits.members:,} files or {limits.size:,} bytes"
        super().__init__("too much inside", where=file, why=why)


def _nothing(file: str) -> InputError:
    hint = "name an archive, wheel or host library that holds kernel objects"
    return InputError("nothing embedded inside", where=file, why="it is no container", hint=hint)
