"""The documents of AI CPU operators, and that they follow their schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cannkit.errors import ExitCode, InputError
from cannkit.inputs.contents import Unreadable
from cannkit.ops.describe import Package
from cannkit.ops.description import describe
from cannkit.ops.op_json import read_op_json
from cannkit.ops.proto_records import read_records
from cannkit.report.base import Document
from cannkit.report.json import document_json, json_schema
from cannkit.report.operators import OperatorDocument, OperatorsDocument
from tests.ops.packages import operators
from tests.packages import to_json

RECORDS = b"""op All
in x TensorType({DT_FLOAT,%20NumberType()})
opt mask TensorType({DT_BOOL})
dynout z TensorType::BasicType()
req size ListInt
req odd NamedAttrs
attr low Float -inf
attr dtype Type 9
attr types ListType 9 12
attr rows ListListInt 1,2 3
attr name String %ff%20b
end
"""


def answer(document: Document) -> Any:
    parsed = json.loads(document_json(document))
    jsonschema.validate(parsed, json_schema(type(document)))
    return parsed


@pytest.fixture
def package(tmp_path: Path) -> Package:
    path = tmp_path / "ops.json"
    path.write_bytes(to_json(operators()))
    return Package.of(str(path))


def test_a_list(package: Package) -> None:
    parsed = answer(OperatorsDocument.of("ops.json", package))
    assert list(parsed) == [
        "schema", "file", "library", "json", "prototypes", "operators", "unlisted", "warnings",
        "error",
    ]  # fmt: skip
    assert (parsed["schema"], parsed["file"]) == ("cannkit.operators/1", "ops.json")
    assert (parsed["json"], parsed["library"], parsed["unlisted"]) == (package.json, None, None)
    assert parsed["operators"][1] == {
        "name": "All",
        "inputs": [
            {"number": 0, "name": "x", "dtypes": ["float32"], "unknown_types": ["DT_FLOAT32"],
             "format": None, "dynamic": False},
            {"number": 1, "name": "n", "dtypes": ["int64"], "unknown_types": [], "format": None,
             "dynamic": False},
        ],
        "outputs": [
            {"number": 0, "name": "z", "dtypes": ["float32"], "unknown_types": [], "format": "ND",
             "dynamic": True},
        ],
        "kernel_so": "libcust_cpu_kernels.so",
        "function": "RunCpuKernel",
        "kernel_lib": "CUSTAICPUKernel",
        "workspace_kib": 1024,
        "shape_type": 3,
        "block_dim": False,
        "registered": None,
    }  # fmt: skip
    assert [each["where"] for each in parsed["warnings"]] == ["op All"]


def test_a_list_of_some(package: Package) -> None:
    """What is odd about the others is not told."""
    document = OperatorsDocument.of(
        "ops.json", package, ["*lone", "Add?"], frozenset({"AddN", "B"})
    )
    assert [(op.name, op.registered) for op in document.operators] == [
        ("AddN", True),
        ("Alone", False),
    ]
    assert (document.unlisted, document.warnings) == ((), ())
    every = OperatorsDocument.of("ops.json", package, (), frozenset({"AddN", "B"}))
    assert every.unlisted == ("B",)


def test_a_list_that_cannot_be_read() -> None:
    error = InputError("cannot read the file", why="no such file")
    document = OperatorsDocument.failed(Unreadable("a.json", None, error), error)
    assert document.exit_code is ExitCode.INPUT
    assert answer(document)["error"]["why"] == "no such file"


def test_a_description(package: Package) -> None:
    info = read_op_json(to_json(operators())).ops["All"]
    prototype = read_records(RECORDS)["All"]
    parsed = answer(OperatorDocument.of(package, describe("All", info, prototype)))
    assert (parsed["schema"], parsed["op"]) == ("cannkit.operator/1", "All")
    assert (parsed["in_json"], parsed["prototype"], parsed["registered"]) == (True, "All", None)
    assert parsed["inputs"] == [
        {"name": "x", "presence": "required", "dtypes": ["float32"],
         "unknown_types": ["DT_FLOAT32"], "types": ["DT_FLOAT", "NumberType"], "format": None,
         "json_name": "x", "declared": "both"},
        {"name": "mask", "presence": "optional", "dtypes": ["int64"], "unknown_types": [],
         "types": ["DT_BOOL"], "format": None, "json_name": "n", "declared": "both"},
    ]  # fmt: skip
    assert parsed["attrs"] == [
        {"name": "size", "kind": "ints", "required": True, "default": None},
        {"name": "odd", "kind": None, "required": True, "default": None},
        {"name": "low", "kind": "float", "required": False, "default": "-inf"},
        {"name": "dtype", "kind": "type", "required": False, "default": "int64"},
        {"name": "types", "kind": "types", "required": False, "default": ["int64", "bool"]},
        {"name": "rows", "kind": "listlist", "required": False, "default": [[1, 2], [3]]},
        {"name": "name", "kind": "string", "required": False, "default": "\ufffd b"},
    ]
    assert parsed["differences"] == [
        "types of 'x' that do not exist: DT_FLOAT32",
        "input 1 is 'n' in the JSON, 'mask' in the prototype All",
    ]


def test_a_description_of_nothing_but_a_name(package: Package) -> None:
    parsed = answer(OperatorDocument.of(package, describe("B", None, None, "none", True)))
    assert (parsed["in_json"], parsed["registered"], parsed["inputs"]) == (False, True, [])
    assert (parsed["why_no_prototype"], parsed["workspace_kib"]) == ("none", 2)
