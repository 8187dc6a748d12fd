"""The facts of a sidecar: every key that says something of the kernels. Spec 01, section 10."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cannkit.diff.change import SIDECAR, Value, cut
from cannkit.format.sidecar import Sidecar
from cannkit.image.kernel_name import split_kernel_name

EntryKey = int | str
"""A kernel of kernelList: its tiling key, or its name where it has none."""

MOST: Final = 1024  # keys of one sidecar, entries of one list
NESTED: Final = "supportInfo"
BY_FILE: Final = frozenset({"binFileName", "kernelName"})  # they repeat the name of the file
APART: Final = frozenset({"sha256", "filePath", "kernelList", *BY_FILE})  # filePath: of the build


def sidecar_facts(sidecar: Sidecar, stem: str, digest: str) -> dict[str, Value]:
    """The keys of the JSON beside the file `stem`, whose SHA-256 is `digest`."""
    facts: dict[str, Value] = {}
    for name, value in _flat(sidecar.keys):
        if len(facts) == MOST:
            facts[f"{SIDECAR}..."] = _text(sidecar.keys)
            break
        facts[f"{SIDECAR}{name}"] = _value(value)
    for name in BY_FILE & sidecar.keys.keys():
        value = sidecar.keys[name]
        facts[f"{SIDECAR}{name}"] = "that of the file" if value == stem else _value(value)
    if sidecar.sha256 is not None:
        matches = sidecar.sha256.lower() == digest
        facts[f"{SIDECAR}sha256"] = "that of the object" if matches else "another"
    return facts


def _flat(keys: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in keys.items():
        if name in APART:
            continue
        if name == NESTED and isinstance(value, dict):
            for inner, each in value.items():
                yield f"{name}.{inner}", each
        else:
            yield name, value


def kernel_list_fact(sidecar: Sidecar, present: set[str]) -> Value:
    """(b) of JSN-10: what kernelList has and the object has not, and the reverse."""
    if "kernelList" not in sidecar.keys:
        return None
    listed = {kernel.name for kernel in sidecar.kernel_list}
    extra = (f"with {name}" for name in sorted(listed - present))
    missing = (f"without {name}" for name in sorted(present - listed))
    return (*extra, *missing)


def entry_facts(sidecar: Sidecar) -> dict[EntryKey, Mapping[str, Value]]:
    """What the entries of kernelList say, by kernel."""
    found: dict[EntryKey, Mapping[str, Value]] = {}
    entries = sidecar.keys.get("kernelList")
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("kernelName") if isinstance(entry, dict) else None
        if isinstance(name, str):
            found[entry_key(name)] = {
                f"{SIDECAR}kernelList.{key}": _value(value)
                for key, value in list(entry.items())[:MOST]
                if key != "kernelName"
            }
    return found


def entry_key(base: str) -> EntryKey:
    """The kernel that a name without mix suffix stands for."""
    key = split_kernel_name(base).key
    return base if key is None else key


def _value(value: object) -> Value:
    """A value of JSON as a fact: numbers and texts are themselves, lists become lines."""
    match value:
        case bool() | None | float():
            return json.dumps(value)
        case int() if -(1 << 53) < value < 1 << 53:  # what JSON can hold
            return value
        case str():
            return cut(value)
        case list() if 0 < len(value) <= MOST and all(map(_has_line, value)):
            return tuple(map(_line, value))
    return _text(value)


def _has_line(value: object) -> bool:
    """Whether it is a text, a tensor or attribute of supportInfo, or a list of tensors."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, dict) for each in value)
    return isinstance(value, dict | str)


def _line(value: object) -> str:
    """A text; a tensor, its name first; a list of tensors, which is one argument."""
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, list):
        return cut(f"[{'; '.join(map(_line, value))}]")
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        rest = (f"{key}={_text(each)}" for key, each in sorted(value.items()) if key != "name")
        return cut(" ".join((value["name"], *rest)))
    return _text(value)


def _text(value: object) -> str:
    return cut(json.dumps(value, ensure_ascii=False, sort_keys=True))
