"""What bytes hold: one kernel object, or the members of a wheel, an archive, a host library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cannkit.errors import CannkitError, FormatError, InputError, ReadWarning
from cannkit.format.container import (
    AR_MAGIC,
    THIN_MAGIC,
    ContainerKind,
    Embedded,
    archive_members,
    embedded_objects,
    has_container_section,
    is_device_object,
)
from cannkit.format.elf import open_elf, read_header
from cannkit.format.elf_types import HEADER_SIZE, HOST_MACHINES, ByteView, Machine
from cannkit.inputs.files import WHOLE_LIMIT, FileView, FileWindow, MemoryFiles, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cannkit.inputs.zip_files import ZipFiles

KNOWN_MACHINES = HOST_MACHINES | {Machine.EM_ASCEND_AI_CORE}
ZIP_MAGICS = (b"PK\3\4", b"PK\5\6")
HOST_NAMES: Mapping[int, str] = {
    Machine.EM_386: "x86",
    Machine.EM_ARM: "Arm",
    Machine.EM_X86_64: "x86-64",
    Machine.EM_AARCH64: "AArch64",
    Machine.EM_RISCV: "RISC-V",
    Machine.EM_LOONGARCH: "LoongArch",
}


class Container(NamedTuple):
    """What an object came out of, and its name in there: `lib.so!inner` two containers deep."""

    kind: ContainerKind
    member: str


@dataclass(frozen=True)
class Input:
    """One object: its bytes, and `path`, its place in `files`, where its sidecar may lie."""

    file: str
    data: ByteView
    container: Container | None
    files: FileView
    path: str
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True)
class Unreadable:
    """One input that could not be opened, and why."""

    file: str
    container: Container | None
    error: CannkitError


def place_of(item: Input | Unreadable) -> str:
    """File and member of an input, as one text."""
    container = item.container
    return item.file if container is None else f"{item.file}!{container.member}"


class NothingInsideError(InputError):
    """A container without kernel objects: an error only where it was asked for by name."""

    def __init__(self, where: str, why: str) -> None:
        hint = "name a kernel object, or an archive, wheel or host library that holds one"
        super().__init__("no kernel object inside", where=where, why=why, hint=hint)


@dataclass(frozen=True)
class Place:
    """Where bytes were found."""

    file: str
    container: Container | None
    files: FileView
    path: str

    def inside(self, kind: ContainerKind, member: str, files: FileView) -> Place:
        """A member of what lies here, and the files that lie beside it."""
        name = f"{self.container.member}!{member}" if self.container else member
        return Place(self.file, Container(kind, name), files, member)

    def opened(self, data: ByteView, warnings: tuple[ReadWarning, ...] = ()) -> Input:
        """The object that lies here, in memory unless it is large."""
        whole = cut(data, 0, len(data))
        return Input(self.file, whole, self.container, self.files, self.path, warnings)

    def failed(self, error: CannkitError) -> Unreadable:
        """What lies here, unread."""
        return Unreadable(self.file, self.container, error)


def objects_in(place: Place, data: ByteView, *, named: bool) -> Iterator[Input | Unreadable]:
    """The objects in `data`. Bytes that are not `named` may turn out to be none of our business."""
    try:
        yield from _look_inside(place, data, named)
    except CannkitError as error:
        if named or not isinstance(error, NothingInsideError):
            yield place.failed(error)


def _look_inside(place: Place, data: ByteView, named: bool) -> Iterator[Input | Unreadable]:
    head = bytes(data[0:HEADER_SIZE])
    machine = machine_of(head)
    if (
        place.container is None
        and isinstance(data, FileWindow)
        and is_zip(head, place.path, named=named)
    ):
        from cannkit.inputs.zip_files import ZipFiles  # zipfile takes long to load

        yield from _at_least_one(_zip_members(place, ZipFiles(data)), place, "a zip")
    elif is_archive(head, named=named) and not _in_archive(place):
        yield from _at_least_one(_archive_objects(place, data), place, "an archive")
    elif machine in HOST_MACHINES and (found := host_contents(place.path, data)) is not None:
        for each in found:
            yield _embedded(place, data, each)
    elif named or machine == Machine.EM_ASCEND_AI_CORE:
        yield place.opened(data)


def _at_least_one(
    found: Iterator[Input | Unreadable], place: Place, what: str
) -> Iterator[Input | Unreadable]:
    nothing = True
    for each in found:
        nothing = False
        yield each
    if nothing:
        raise NothingInsideError(place.path, f"{what} without kernel objects")


def _embedded(place: Place, data: ByteView, each: Embedded) -> Input:
    files = MemoryFiles()
    if each.sidecar:  # CON-04
        files = MemoryFiles({each.member.removesuffix(".o") + ".json": cut(data, *each.sidecar)})
    inside = place.inside(each.kind, each.member, files)
    return inside.opened(_span(data, each), each.warnings)


def _archive_objects(place: Place, data: ByteView) -> Iterator[Input | Unreadable]:
    for each in archive_members(data):  # CON-07
        member = _span(data, each)
        # host code is what archives are made of: only what it embeds counts
        host = machine_of(bytes(member[0:HEADER_SIZE])) in HOST_MACHINES
        inside = place.inside(each.kind, each.member, MemoryFiles())
        yield from objects_in(inside, member, named=each.member.endswith(".o") and not host)


def _zip_members(place: Place, files: ZipFiles) -> Iterator[Input | Unreadable]:
    for info in files:
        name = info.orig_filename
        inside = place.inside(ContainerKind.WHEEL, name, files)
        named = name.endswith(".o")
        try:
            if named or _is_candidate(files.head(info, HEADER_SIZE)):
                data = memoryview(files.whole(info, WHOLE_LIMIT))
                yield from objects_in(inside, data, named=named)
        except InputError as error:
            yield inside.failed(error)
        if files.spent:  # every other member would say the same
            break


def host_contents(name: str, data: ByteView) -> tuple[Embedded, ...] | None:
    """What a file for a host machine embeds; None when it is itself an object to look at.

    Raises FormatError for a broken container, NothingInsideError for a host library without one.
    """
    try:
        elf = open_elf(data)
    except FormatError:  # the reader of the object says it better
        return None
    found = embedded_objects(elf)  # CON-01
    if found or has_container_section(elf):
        return found
    machine = elf.header.machine
    if machine == Machine.EM_AARCH64 or is_device_object(elf):  # AArch64: for the AI CPU
        return None
    raise NothingInsideError(name, f"a host library for {HOST_NAMES.get(machine, machine)}")


def _span(data: ByteView, each: Embedded) -> ByteView:
    """An embedded object's bytes, not read before somebody wants them."""
    if isinstance(data, FileWindow):
        return data.narrow(each.offset, each.size)
    return data[each.offset : each.offset + each.size]


def machine_of(head: bytes) -> int | None:
    """e_machine of an ELF64 file that begins with `head`."""
    try:
        return read_header(memoryview(head)).machine
    except FormatError:
        return None


def is_zip(head: bytes, path: str, *, named: bool) -> bool:
    """Whether a file is opened as a zip; one found by chance must be called so as well."""
    return head.startswith(ZIP_MAGICS) and (named or path.endswith((".whl", ".zip")))


def is_archive(head: bytes, *, named: bool) -> bool:
    """Whether bytes are opened as an archive; a thin one is refused, but only if asked for."""
    return head.startswith(AR_MAGIC) or (named and head.startswith(THIN_MAGIC))


def _in_archive(place: Place) -> bool:
    return place.container is not None and place.container.kind == ContainerKind.ARCHIVE


def _is_candidate(head: bytes) -> bool:
    machine = machine_of(head)
    return is_archive(head, named=False) or machine in KNOWN_MACHINES
