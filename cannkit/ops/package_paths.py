"""Where the parts of an AI CPU operator package lie: library, JSON, prototypes. Spec 07, OPR-501."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.errors import FormatError, InputError
from cannkit.format.elf import read_header
from cannkit.format.elf_types import HEADER_SIZE, MAGIC, Machine
from cannkit.inputs.files import is_directory, open_window

CONFIGS: Final = ("cust_aicpu_kernel.json", "aicpu_kernel.json")
LITTLE_ENDIAN: Final = 1
SPACE: Final = b"\xef\xbb\xbf \t\r\n"  # before the JSON
LIBRARIES: Final = (
    "impl",
    "aicpu_kernel/impl",
    "../aicpu_kernel/impl",
    "../lib",
    ".",
)  # of a config
IMPL: Final = "op_impl"
PROTO_FOLDERS: Final = ("op_proto", "op_proto/lib/linux/*", "op_proto/lib")
MOST_ENTRIES: Final = 1 << 12  # of a folder; somebody else's may have many
DEEPEST: Final = 8


class Parts(NamedTuple):
    """The parts of a package, None for one that is not there; `protos` are candidates, the best first."""

    library: str | None
    json: str | None
    protos: tuple[str, ...]


def is_library(path: str) -> bool:
    """Whether a file is a library, by its first bytes; raises InputError when it cannot be read."""
    return bytes(open_window(path)[0 : len(MAGIC)]) == MAGIC


def library_machine(path: str) -> Machine | int:
    """The machine that a library is for. Raises InputError, and FormatError for what is no library."""
    try:
        header = read_header(open_window(path)[0:HEADER_SIZE])
    except FormatError as error:
        why = ": ".join(filter(None, (error.what, error.why)))
        raise FormatError("not a library", where=path, why=why, rule=error.rule) from error
    if header.data_encoding != LITTLE_ENDIAN:
        raise FormatError("not a library", where=path, why="it is not little endian")
    return header.machine


def parts_of(path: str) -> Parts:
    """The parts that belong to a library, a JSON or the folder of a vendor.

    Only names are looked at, but for `path` itself: raises InputError when it cannot be read, or is a
    folder without a JSON and a library of operators, FormatError for a file that is neither.
    """
    if is_directory(path):
        return _of_folder(path)
    place = Path(path)
    if is_library(path):
        return Parts(path, _first(_configs_of(place)), _protos(place))
    if bytes(open_window(path)[0:HEADER_SIZE]).lstrip(SPACE)[:1] not in (b"{", b""):
        raise FormatError("neither a library nor the JSON of operators", where=path)
    return Parts(None, path, _protos(place))


def library_beside(json: str, name: str) -> str | None:
    """The library that operators of a JSON name as kernelSo, where it is there."""
    if not name or "/" in name or "\0" in name:
        return None
    folder = Path(json).parent
    return _first(folder / place / name for place in LIBRARIES)


def _of_folder(path: str) -> Parts:
    root = Path(path)
    for kind in ("cpu", "aicpu"):
        folder = root / IMPL / kind
        config = _first(
            folder / each / name for each in ("config", "aicpu_kernel/config") for name in CONFIGS
        )
        if config is not None:
            return Parts(None, config, _protos(Path(config)))
        if library := _first(_sorted(folder / "aicpu_kernel/impl", "*.so")):
            return Parts(library, None, _protos(Path(library)))
    several = [
        library for library in _sorted(root, "*.so") if _first([library.with_suffix(".json")])
    ]
    if len(several) == 1:  # as somebody builds it
        return Parts(str(several[0]), str(several[0].with_suffix(".json")), _protos(several[0]))
    hint = "name the library or the JSON, or the folder that has op_impl"
    raise InputError("no AI CPU operators in this folder", where=path, hint=hint)


def _configs_of(library: Path) -> Iterator[Path]:
    """OPR-501: `../../config`, or a folder nearby; then the file that the runtime reads (CPU-3)."""
    for up in ("../../config", "../config", "config", "."):
        for name in CONFIGS:
            yield library.parent / up / name
    yield library.with_suffix(".json")


def _protos(place: Path) -> tuple[str, ...]:
    parents = islice(Path(place).absolute().parents, DEEPEST)
    root = next((each.parent for each in parents if each.name == IMPL), None)
    if root is None:
        return ()
    found = (file for folder in PROTO_FOLDERS for file in _sorted(root, f"{folder}/*.so"))
    return tuple(dict.fromkeys(_as_given(file, place) for file in found))


def _as_given(file: Path, place: Path) -> str:
    """A file by a path that begins as the user's does, where that is relative and stays below it."""
    if place.is_absolute():
        return str(file)
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)


def _sorted(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(islice(folder.glob(pattern), MOST_ENTRIES))
    except OSError:
        return []


def _first(paths: Iterable[Path]) -> str | None:
    for path in paths:
        try:
            if path.is_file():
                return _plain(path)
        except OSError:
            continue
    return None


def _plain(path: Path) -> str:
    """Without `a/..`, unless a symlink makes it another folder."""
    import os.path

    short = os.path.normpath(path)
    return short if os.path.realpath(short) == os.path.realpath(path) else str(path)
