"""Package: the operators of an AI CPU package, and what JSON, prototypes and library say of each. Spec 07, section 5."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Final, Self

from cannkit.errors import CannkitError, FormatError, InputError, UsageError, brief
from cannkit.format.sidecar import MAX_SIZE
from cannkit.inputs.files import read_host
from cannkit.ops.description import Description, describe
from cannkit.ops.op_json import OpFile, OpInfo, read_op_json
from cannkit.ops.package_paths import library_beside, parts_of
from cannkit.ops.proto_records import Prototype
from cannkit.ops.prototypes import MEMORY, TIMEOUT, read_prototypes

CUST: Final = "Cust"
MOST_LIBRARIES: Final = 4  # that are tried, of operators as of prototypes


@dataclass(frozen=True)
class Package:
    """A package by the paths of its parts, each of which may be missing.

    `file` is what the JSON says. Prototypes are foreign code (OPR-507): it runs when they are first asked
    for, all of it in `timeout` seconds and each in `memory` bytes.
    """

    library: str | None
    json: str | None
    protos: tuple[str, ...] = ()
    file: OpFile = field(default=OpFile({}), compare=False)
    timeout: float = field(default=TIMEOUT, compare=False)
    memory: int = field(default=MEMORY, compare=False)

    @classmethod
    def of(cls, path: str, json: str | None = None) -> Self:
        """The package that a library, a JSON or the folder of a vendor belongs to (OPR-501).

        `json` is the one to read instead. Raises InputError or FormatError for what cannot be read.
        """
        parts = parts_of(path)
        if json is not None and parts.library is None and parts.json == path:
            hint = "name the library, or leave out the other JSON"
            raise InputError("not a library", where=path, hint=hint)
        json = json or parts.json
        if json is None:
            return cls(parts.library, None, parts.protos)
        file = _read(json)
        return cls(parts.library or _library_of(json, file), json, parts.protos, file)

    @property
    def ops(self) -> Mapping[str, OpInfo]:
        """The operators of the JSON, in order of their names."""
        return self.file.ops

    @cached_property
    def _protos(self) -> tuple[str | None, Mapping[str, Prototype], str]:
        """The first library of prototypes that can be read, or why there is none."""
        why = "the package has none"
        end = time.monotonic() + self.timeout
        for path in self.protos[:MOST_LIBRARIES]:
            left = end - time.monotonic()
            if left <= 0:
                break
            try:
                return path, read_prototypes(path, left, self.memory), ""
            except CannkitError as error:
                why = error.why or error.what
        return None, {}, why

    @property
    def proto(self) -> str | None:
        """The library of prototypes that was read."""
        return self._protos[0]

    @property
    def prototypes(self) -> Mapping[str, Prototype]:
        """The prototypes by name: many more than the package has operators."""
        return self._protos[1]

    @property
    def why_no_prototypes(self) -> str:
        """Why there are none; empty when there are."""
        return self._protos[2]

    def prototype_of(self, name: str) -> Prototype | None:
        """The prototype of an operator: `CustX` is that of X, too, and comes first (OPR-507)."""
        plain = name.removeprefix(CUST)
        names = (f"{CUST}{plain}", name, plain)
        return next((self.prototypes[each] for each in names if each in self.prototypes), None)

    def describe(self, name: str, registered: frozenset[str] | None = None) -> Description:
        """An operator from all sources; `registered` are the kernels of the library, where they are known.

        Raises UsageError with the nearest names for one that no source has.
        """
        info, prototype = self.ops.get(name), self.prototype_of(name)
        known = registered is not None and name in registered
        if info is None and not known and (self.ops or prototype is None):
            raise self.unknown(name, registered or frozenset())
        why = self.why_no_prototypes
        if not why and prototype is None:
            why = self._no_prototype(name)
        return describe(name, info, prototype, why, None if registered is None else known)

    def unknown(self, name: str, registered: frozenset[str] = frozenset()) -> UsageError:
        """The error for a name that is no operator, with the nearest that are."""
        names = sorted({*self.ops, *registered} or self.prototypes)
        near = _near(name, names)
        hint = f"did you mean {', '.join(near)}?" if near else "--list-ops lists the operators"
        if not names:
            hint = "the package has no JSON and no prototypes beside the library"
        return UsageError(
            f"unknown operator {brief(name)!r}", where=self.json or self.library, hint=hint
        )

    def _no_prototype(self, name: str) -> str:
        near = [each for each in _near(name, list(self.prototypes)) if each.lower() == name.lower()]
        like = f", only of {', '.join(near)}" if near else ""
        return f"of {len(self.prototypes):,} prototypes none is of this operator{like}"


def _read(json: str) -> OpFile:
    raw = read_host(json, MAX_SIZE)
    if raw is None:
        raise InputError("cannot read the file", where=json, why="no such file")
    try:
        return read_op_json(raw)
    except FormatError as error:
        raise FormatError(error.what, where=json, why=error.why, rule=error.rule) from error


def _library_of(json: str, file: OpFile) -> str | None:
    """The library that most operators name, of those that are there."""
    names = Counter(op.kernel_so for op in file.ops.values() if op.kernel_so)
    found = (library_beside(json, name) for name, _ in names.most_common(MOST_LIBRARIES))
    return next(filter(None, found), None)


def _near(name: str, names: list[str]) -> list[str]:
    """Names that differ in case only, then those that look alike."""
    same = [each for each in names if each.lower() == name.lower()]
    alike = get_close_matches(name[:64], names, n=3, cutoff=0.7)
    return list(dict.fromkeys([*same, *alike]))[:3]
