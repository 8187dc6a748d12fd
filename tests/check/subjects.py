"""Subjects of rules out of bytes, and the codes that rules find in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from cannkit.check.finding import Finding
from cannkit.check.subject import ObjectSubject
from cannkit.image.reader import read_input, sidecar_path
from cannkit.inputs.contents import Container, Input
from cannkit.inputs.files import MemoryFiles
from cannkit.soc import find_soc
from tests.compiled import a2_object, a5_object
from tests.facts import A2_SOC, A5_SOC
from tests.shapes import Operator
from tests.sidecars import sidecar as sidecar_of

ObjectRule = Callable[[ObjectSubject], Iterator[Finding]]


def subject(
    data: bytes,
    soc: str = A2_SOC,
    *,
    sidecar: bytes | None = None,
    path: str = "k.o",
    folder: str | None = None,
    explicit: bool = False,
    container: Container | None = None,
) -> ObjectSubject:
    """The object at `path`, with a sidecar beside it where one is given."""
    files = {path: memoryview(data)}
    if sidecar is not None:
        files[sidecar_path(path)] = memoryview(sidecar)
    item = Input(path, memoryview(data), container, MemoryFiles(files), path)
    chip = find_soc(soc)
    return ObjectSubject(path, item, read_input(item, chip), chip, folder, explicit)


def compiled(operator: Operator, **changes: Any) -> ObjectSubject:
    """An operator in the folder of its chip; `changes` are made to its sidecar."""
    data = (a5_object if operator.is_a5 else a2_object)(operator)
    soc = A5_SOC if operator.is_a5 else A2_SOC
    json = sidecar_of(operator, data, **changes)
    path = f"{operator.folder}/{operator.stem}.o"
    return subject(data, soc, sidecar=json, path=path, folder=operator.folder)


def findings(of: ObjectSubject, rules: Iterable[ObjectRule]) -> list[Finding]:
    """What the rules find."""
    return list(chain.from_iterable(rule(of) for rule in rules))


def codes(of: ObjectSubject, rules: Iterable[ObjectRule]) -> set[str]:
    """The codes of it."""
    return {finding.rule.code for finding in findings(of, rules)}
