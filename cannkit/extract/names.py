"""Names for files, made of names that came out of a file: none leaves its folder or is taken twice. HAZ-12."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from cannkit.format.container import FATBIN_MARK, ContainerKind

LONGEST: Final = 200  # bytes; file systems take 255, with `~100000.json`
NOT_IN_NAMES: Final = frozenset('<>:"|?*/\\')
SEPARATORS: Final = re.compile(r"[/\\]")
FATBIN_MEMBER: Final = re.compile(r"(.*)\[(\d+)\] (\w+)(?:\((\d+)\))?", re.DOTALL)
NAMELESS: Final = "member"
OBJECT: Final = ".o"
SIDECAR: Final = ".json"
PORT_NUMBERS: Final = "0123456789\xb9\xb2\xb3"
DEVICES: Final = frozenset(
    (
        *("con", "prn", "aux", "nul", "conin$", "conout$", "clock$"),
        *(f"com{number}" for number in PORT_NUMBERS),
        *(f"lpt{number}" for number in PORT_NUMBERS),
    )
)
"""Names that Windows keeps for itself, whatever follows the first dot."""

OPP_PARTS: Final = 3  # <soc>/<op>/<stem>.json
OPP_BIN: Final = "bin"  # what some write between soc and op, though no file lies there


class Target(NamedTuple):
    """A file to write: the folders that lead to it, and its name without a suffix."""

    folders: tuple[str, ...]
    stem: str

    def path(self, suffix: str) -> tuple[str, ...]:
        """Folders and file name."""
        return (*self.folders, self.stem + suffix)


class TakenNames:
    """Which names are taken, as a file system sees it that does not tell `A` from `a`. Changes."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, ...]] = set()
        self._next: dict[tuple[str, ...], int] = {}

    def claim(self, wanted: Target) -> Target:
        """`wanted`, or with `~2`, `~3` at the end the first one that is free."""
        key = _key(wanted)
        found, number = wanted, self._next.get(key, 2)
        while _key(found) in self._taken:
            found = wanted._replace(stem=f"{wanted.stem}~{number}")
            number += 1
        self._next[key] = number
        self._taken.add(_key(found))
        return found


def _key(target: Target) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in target.path(""))


def flat_target(kind: ContainerKind, member: str) -> Target:
    """The file of an object by its own name alone."""
    if kind is ContainerKind.FATBIN and (found := FATBIN_MEMBER.fullmatch(member)):
        section, index, core, number = found.groups()
        _, mark, rest = section.partition(FATBIN_MARK)
        member = ".".join(filter(None, (rest if mark else section, index, core, number)))
    last = SEPARATORS.split(member)[-1]
    return Target((), safe_name(last.removesuffix(OBJECT)))


def opp_target(file_path: object) -> Target | None:
    """The file of an object as the `filePath` of its sidecar has it; None where that will not do.

    HAZ-12: a relative path of SoC, operator and name, without `..`, drive or control characters.
    """
    if not isinstance(file_path, str) or not file_path.isprintable():
        return None
    if NOT_IN_NAMES.intersection(file_path.replace("/", "")):
        return None
    parts = file_path.split("/")
    if len(parts) == OPP_PARTS + 1 and parts[1] == OPP_BIN:
        del parts[1]
    if len(parts) != OPP_PARTS or not all(part.strip(". ") for part in parts):
        return None
    *folders, name = parts
    # without a dot no folder has the name of a file
    safe = (safe_name(folder.replace(".", "_")) for folder in folders)
    return Target(tuple(safe), safe_name(name.removesuffix(SIDECAR)))


def safe_name(text: str) -> str:
    """`text` as a name that any file system takes, that hides nothing and is no option of a shell."""
    kept = "".join(c if c.isprintable() and c not in NOT_IN_NAMES else "_" for c in text)
    name = _shortened(kept.strip(". "))
    if not name.strip("._ "):
        return NAMELESS
    if name.startswith(("-", "~")) or name.partition(".")[0].rstrip().casefold() in DEVICES:
        return f"_{name}"
    return name


def _shortened(text: str) -> str:
    return text.encode()[:LONGEST].decode("utf-8", "ignore").rstrip(". ")
