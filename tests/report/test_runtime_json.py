"""The documents of register, lookup and load as JSON: keys of the contract, text and schema agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from cannkit.api.registration import Registration, Taken
from cannkit.api.runtime import Runtime
from cannkit.errors import CannkitError
from cannkit.inputs.contents import Input, Unreadable
from cannkit.inputs.paths import NamedFiles, open_inputs
from cannkit.report.base import Document
from cannkit.report.json import document_json, entry_json, json_schema
from cannkit.report.load import AllocationEntry, FunctionEntry, GlobalPlace, LoadDocument
from cannkit.report.lookup import Hit, LookupDocument
from cannkit.report.register import RegisterDocument
from cannkit.runtime.load_options import LoadOptions
from cannkit.runtime.search import Query, explain_miss, search
from tests.build import OBJECTS
from tests.cli.inputs import CASES, case_inputs
from tests.facts import A2_SOC, A5_SOC, golden
from tests.report.test_json import shapes, validator

KINDS: Final = {
    "register": RegisterDocument,
    "lookup": LookupDocument,
    "load": LoadDocument,
}
PATHS: Final = [str(OBJECTS), str(OBJECTS / "nothing.o")] + [
    str(CASES / name / "input.o") for name in case_inputs()
]
QUERIES: Final = (
    Query(name="AddCustom_0"),
    Query(name="nothing"),
    Query(entry=(1 << 64) - 1),
    Query(entry=1168),
    Query(pc=0x14),
    Query(pc=0xF8 << 56 | 0xABC),
    Query(pc=0x12C0_0000_0014, base=0x12C0_0000_0000),
)


class Session:
    """All fixtures taken into one process, as the commands do it."""

    def __init__(self, soc: str, *, old_flow: bool = False, from_data: bool = False) -> None:
        self.process = Registration(Runtime(soc), old_flow=old_flow, from_data=from_data)
        self.taken: list[Taken] = []
        self.errors: list[tuple[Input | Unreadable, CannkitError]] = []
        for item in open_inputs(PATHS):
            try:
                if isinstance(item, Unreadable):
                    raise item.error
                self.taken.append(self.process.take(item))
            except CannkitError as error:
                self.errors.append((item, error))

    def registered(self) -> Iterator[RegisterDocument]:
        for item, error in self.errors:
            yield RegisterDocument.failed(item, error)
        for taken in self.taken:
            base = self.process.image_base(taken)
            yield RegisterDocument.of(
                taken.file,
                taken.program,
                taken.warnings,
                stubs=self.process.stubs(),
                tiling_base=base,
            )

    def found(self) -> Iterator[LookupDocument]:
        programs = [taken.program for taken in self.taken]
        for query in QUERIES:
            hits = [
                Hit.of(taken.file, found, found.base)
                for taken in self.taken
                for found in search(taken.program, query)
            ]
            miss = None if hits else explain_miss(programs, query)
            yield LookupDocument.of(query, hits, miss, self.errors, "as assumed")

    def loaded(self) -> LoadDocument:
        allocations: list[AllocationEntry] = []
        functions: list[FunctionEntry] = []
        variables: list[GlobalPlace] = []
        for taken in self.taken:
            if self.process.image_base(taken) is None:
                continue
            placed, refreshed, addresses = self.process.load(taken)
            allocations.append(AllocationEntry.of(taken.file, placed))
            functions += [FunctionEntry.of(taken.file, *each) for each in addresses]
            variables += GlobalPlace.all_of(taken.file, taken.program, placed.aligned, refreshed)
        device = self.process.runtime.devices[0]
        return LoadDocument.of(device, allocations, functions, variables, self.errors)


def cpu_documents() -> Iterator[RegisterDocument]:
    """AI CPU programs: of a library with its JSON, and of one that is missing."""
    process = Registration(Runtime(A2_SOC), LoadOptions.of(cpu_mode=1))
    paths = [str(CASES / "register-cpu-mode-1" / name) for name in ("libcust.json", "gone.json")]
    for item in NamedFiles(paths, read=False):
        assert isinstance(item, Input)
        try:
            taken = process.take(item)
            yield RegisterDocument.of(taken.file, taken.program, taken.warnings)
        except CannkitError as error:
            yield RegisterDocument.failed(item, error)


@cache
def documents() -> dict[str, tuple[Document, ...]]:
    """Documents of each kind, on an A2 and on an A5, in both flows, from files and from data."""
    a2, a5, old = Session(A2_SOC), Session(A5_SOC), Session(A2_SOC, old_flow=True)
    registered = [*a2.registered(), *a5.registered(), *old.registered(), *cpu_documents()]
    removed = old.process.unload(str(OBJECTS))
    assert removed
    registered.append(RegisterDocument.of_unload(str(OBJECTS), removed, old.process.stubs()))
    return {
        "register": tuple(registered),
        "lookup": (*a2.found(), *a5.found()),
        "load": (a2.loaded(), a5.loaded(), Session(A5_SOC, from_data=True).loaded()),
    }


@pytest.mark.parametrize("name", KINDS)
def test_text_is_what_the_schema_s_own_serializer_writes(name: str) -> None:
    kind: TypeAdapter[Any] = TypeAdapter(KINDS[name])
    for document in documents()[name]:
        assert entry_json(document) == kind.dump_json(document)
        body = kind.dump_json(document, indent=2)
        assert (
            document_json(document)
            == b'{\n  "schema": "cannkit.%s/1",' % name.encode() + body[1:] + b"\n"
        )


@pytest.mark.parametrize("name", KINDS)
def test_documents_follow_the_schema(name: str) -> None:
    check = validator(KINDS[name])
    for document in documents()[name]:
        check.validate(json.loads(document_json(document)))
    if name == "register":
        entries = [json.loads(entry_json(document)) for document in documents()[name]]
        check.validate({"schema": "cannkit.register/1", "results": entries})


@pytest.mark.parametrize("name", KINDS)
def test_keys_are_those_of_the_contract(name: str) -> None:
    """cli.md, sections 3 to 5: these keys, in this order; every kind of object is met."""
    known = golden("runtime_keys")[name]
    seen = set()
    for document in documents()[name]:
        for path, keys in shapes(json.loads(document_json(document))):
            assert keys == known[path], path
            seen.add(path)
    assert seen == known.keys()


def test_what_is_met_in_documents() -> None:
    """What the tests above are tried on."""
    registered = [json.loads(entry_json(document)) for document in documents()["register"]]
    assert {(d["program"] or {}).get("type") for d in registered} == {"elf", "plain", None}
    assert any(d["stubs"] for d in registered)
    assert {w["code"] for d in registered for w in d["warnings"]} >= {
        "shadowed-key",
        "entry-disabled",
        "lone-half",
        "op-dropped",
    }
    loaded = [json.loads(entry_json(document)) for document in documents()["load"]]
    assert {each["refreshed"] for d in loaded for each in d["globals"]} == {False, True}
    assert {each["pc2"] is None for d in loaded for each in d["functions"]} == {False, True}


def leaves(node: object, key: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(node, dict):
        for name, value in node.items():
            yield from leaves(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, key)
    else:
        yield key, node


@pytest.mark.parametrize("name", KINDS)
def test_numbers_are_written_as_the_contract_says(name: str) -> None:
    """cli.md: 64-bit ids are decimal text, addresses `0x...`, bytes hex, the rest integers."""
    decimals = {"tiling_key", "name_id", "entry"}
    addresses = {"base", "aligned", "address", "function_address", "pc", "pc1", "pc2", "stub"}
    seen = set()
    for document in documents()[name]:
        for key, value in leaves(json.loads(document_json(document))):
            if value is None:
                continue
            seen.add(key)
            if key in decimals:
                assert isinstance(value, str)
                assert value.isdecimal(), key
                assert int(value) < 1 << 64
            elif key in addresses:
                assert isinstance(value, str)
                assert value == hex(int(value, 16)), key
            elif key.endswith("_hex"):
                assert isinstance(value, str)
                assert bytes.fromhex(value).hex() == value
            elif isinstance(value, int):
                assert abs(value) < 1 << 53, key
    assert seen & addresses


@pytest.mark.parametrize(
    ("name", "path", "wrong"),
    [
        ("register", ["kernels", 0, "tiling_key"], 0),
        ("register", ["kernels", 0, "name_id"], "0x10"),
        ("register", ["kernels", 0, "prefetch"], [1]),
        ("register", ["kernels", 0, "entry_kind"], "other"),
        ("register", ["program", "type"], "so"),
        ("lookup", ["query", "pc"], "20"),
        ("lookup", ["nearest"], [1]),
        ("load", ["device", "base"], 0),
        ("load", ["allocations", 0, "aligned"], "aligned"),
        ("load", ["schema"], "cannkit.lookup/1"),
    ],
)
def test_schema_refuses(name: str, path: list[str | int], wrong: object) -> None:
    """A schema that takes everything would make the tests above say nothing."""
    made = (json.loads(document_json(document)) for document in documents()[name])
    answer = next(d for d in made if name != "register" or d["kernels"])
    check = Draft202012Validator(json_schema(KINDS[name]))
    assert check.is_valid(answer)
    *way, last = path
    node = answer
    for step in way:
        node = node[step]
    assert last in node if isinstance(node, dict) else True
    node[last] = wrong
    assert not check.is_valid(answer)
