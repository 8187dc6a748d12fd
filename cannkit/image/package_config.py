"""The JSON of an operator package: which operators it declares, which binaries it names. OPP-02 to OPP-05."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from cannkit.errors import CannkitError, brief
from cannkit.format.sidecar import parse_json

TBE: Final = "op_impl/ai_core/tbe/"
KERNEL: Final = f"{TBE}kernel/"
CONFIG_LIMIT: Final = 16 << 20  # HAZ-14
BINARY_INFO: Final = "binary_info_config.json"
RELOCATABLE_INFO: Final = "relocatable_kernel_info_config.json"
MOST_OPS: Final = 1 << 17  # of all files; those of CANN itself are a tenth of that
MOST_BINARIES: Final = 1 << 19
MOST_PROBLEMS: Final = 64
_ops_info = re.compile(rf"{TBE}config/([^/]+)/(aic-[^/]+\.json)").fullmatch
_config = re.compile(rf"{KERNEL}config/([^/]+)/(?:.*/)?([^/]+\.json)", re.DOTALL).fullmatch

Read = Callable[[str, int], bytes | None]


class Declared(NamedTuple):
    """An operator of `aic-<soc>-ops-info.json`. OPP-05."""

    config: str
    soc: str
    op: str


class Binary(NamedTuple):
    """What a configuration names: the object and its sidecar, by their names in the package.

    `op` is the operator of `binary_info_config.json`; None in the configuration of one operator.
    """

    config: str
    soc: str
    op: str | None
    kernel: str
    sidecar: str


class Problem(NamedTuple):
    """A configuration that does not say what it should."""

    config: str
    where: str | None
    why: str


class Configs(NamedTuple):
    """All configurations of a package, in order of their names."""

    declared: tuple[Declared, ...]
    binaries: tuple[Binary, ...]
    problems: tuple[Problem, ...]


def read_configs(names: Iterable[str], read: Read) -> Configs:
    """Read those of `names` that are configurations; what is wrong with them is in `problems`."""
    declared: list[Declared] = []
    binaries: list[Binary] = []
    problems: list[Problem] = []
    for name in names:
        if (found := _ops_info(name)) and "ops-info" in found[2]:
            root = _object(name, read, problems)
            room = MOST_OPS - len(declared)
            declared += (Declared(name, found[1], op) for op in islice(root, room))
            if len(root) > room:
                why = f"with it there are more than {MOST_OPS} operators"
                problems.append(Problem(name, None, why))
        elif (found := _config(name)) and found[2] != RELOCATABLE_INFO:
            root = _object(name, read, problems)
            entries = _of_all(root) if found[2] == BINARY_INFO else _of_one(root)
            bad = 0
            for op, where, kernel, sidecar in islice(entries, MOST_BINARIES - len(binaries)):
                if kernel is None or sidecar is None:
                    bad += 1
                    if bad <= MOST_PROBLEMS:
                        problems.append(Problem(name, where, "it names no object or no sidecar"))
                else:
                    files = _in_package(kernel), _in_package(sidecar)
                    binaries.append(Binary(name, found[1], op, *files))
            if next(entries, None) is not None:
                why = f"with it more than {MOST_BINARIES} objects are named"
                problems.append(Problem(name, None, why))
    return Configs(tuple(declared), tuple(binaries), tuple(problems))


Entry = tuple[str | None, str, str | None, str | None]


def _of_all(root: Mapping[str, object]) -> Iterator[Entry]:
    """OPP-02: binary_info_config.json."""
    for op, value in root.items():
        for at, item in enumerate(_items(value, "binaryList")):
            where = f"{brief(op)}, binaryList[{at}]"
            yield op, where, _text(item, "binPath"), _text(item, "jsonPath")


def _of_one(root: Mapping[str, object]) -> Iterator[Entry]:
    """OPP-04: the configuration of one operator names sidecars only."""
    for at, item in enumerate(_items(root, "binList")):
        info = item.get("binInfo") if isinstance(item, dict) else None
        sidecar = _text(info, "jsonFilePath")
        kernel = None if sidecar is None else sidecar.removesuffix(".json") + ".o"
        yield None, f"binList[{at}]", kernel, sidecar


def _object(name: str, read: Read, problems: list[Problem]) -> Mapping[str, object]:
    try:
        root = parse_json(read(name, CONFIG_LIMIT) or b"")
    except CannkitError as error:
        problems.append(Problem(name, error.where, error.why or error.what))
        return {}
    if not isinstance(root, dict):
        problems.append(Problem(name, None, "its root is not an object"))
        return {}
    return root


def _items(value: object, key: str) -> list[object]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _text(value: object, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) and found else None


def _in_package(path: str) -> str:
    """Paths are relative to `.../tbe/kernel/`; one that leads out of it is nowhere in the package."""
    return posixpath.normpath(KERNEL + path)
