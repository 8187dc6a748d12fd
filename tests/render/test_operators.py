"""AI CPU operators for people: in a pipe and on screens of any width."""

from __future__ import annotations

from pathlib import Path

import pytest

from cannkit.ops.describe import Package
from cannkit.ops.description import describe
from cannkit.ops.op_json import read_op_json
from cannkit.ops.proto_records import read_records
from cannkit.render.operators import operator_text, operators_text
from cannkit.report.base import Document
from cannkit.report.operators import OperatorDocument, OperatorsDocument
from tests.ops.packages import operators, tensor
from tests.packages import cpu_info, to_json
from tests.render.screen import Make, pipe, screen, shown
from tests.report.test_operators import RECORDS


def package(folder: Path, **ops: object) -> Package:
    path = folder / "ops.json"
    path.write_bytes(to_json(operators() | ops))
    return Package.of(str(path))


def listed(document: OperatorsDocument, *, raw: bool = False) -> Make:
    return lambda console: operators_text(document, console, raw=raw)


def described(document: OperatorDocument) -> Make:
    return lambda console: operator_text(document, console)


def test_a_list(tmp_path: Path) -> None:
    """What is the same for all is told above the table."""
    document = OperatorsDocument.of("ops.json", package(tmp_path))
    assert shown(listed(document), pipe()) == [
        "ops.json",
        "library     none",
        f"JSON        {tmp_path}/ops.json",
        "prototypes  none",
        "operators   3",
        "kernelSo    libcust_cpu_kernels.so",
        "function    RunCpuKernel",
        "kernel lib  CUSTAICPUKernel",
        "",
        "Operators",
        "Operator  Inputs  Outputs  Output shape",
        "AddN      x...    y",
        "All       x, n    z...     up to a bound",
        "Alone     x, x",
    ]


def test_operators_that_differ(tmp_path: Path) -> None:
    other = cpu_info("libb.so", "RunCpuKernelWithBlock", flagSupportBlockDim="True")
    document = OperatorsDocument.of(
        "ops.json", package(tmp_path, Blocks=other | {"input3": {}}), ["A*", "B*"], frozenset({"B"})
    )
    lines = shown(listed(document), pipe())
    assert "library has  all but 4 of these, 1 kernel more" in lines
    headings = lines.index("Operators") + 1
    assert lines[headings].split() == [
        "Operator", "Inputs", "Outputs", "Output", "shape", "Library", "Function", "Blocks", "Kernel",
    ]  # fmt: skip
    assert lines[-5].split() == ["Blocks", "#3", "libb.so", "RunCpuKernelWithBlock", "yes", "none"]
    assert lines[-2:] == ["Kernel", "B"]


def test_types(tmp_path: Path) -> None:
    document = OperatorsDocument.of("ops.json", package(tmp_path), ["All"])
    assert shown(listed(document, raw=True), pipe())[-5:] == [
        "All",
        "     Name  Types                 Format",
        "in   x     float32, DT_FLOAT32?",
        "in   n     int64",
        "out  z...  float32               ND",
    ]


def test_no_operators(tmp_path: Path) -> None:
    document = OperatorsDocument.of("ops.json", package(tmp_path), ["Z"])
    assert shown(listed(document), pipe())[-1] == "operators   0"


def of(folder: Path, registered: bool | None = None) -> OperatorDocument:
    info = read_op_json(to_json(operators())).ops["All"]
    found = describe("All", info, read_records(RECORDS)["All"], registered=registered)
    return OperatorDocument.of(package(folder), found)


def test_a_description(tmp_path: Path) -> None:
    assert shown(described(of(tmp_path)), pipe())[-24:] == [
        "workspace     1,024 KiB in the JSON; for its log a call gets 64",
        "output shape  up to a bound (3)",
        "",
        "Inputs",
        "Name            Types                 In the JSON",
        "x               float32, DT_FLOAT32?",
        "mask  optional  int64                 n",
        "",
        "Outputs",
        "Name           Types    Format",
        "z     dynamic  float32  ND",
        "",
        "Attributes",
        "Attribute  Kind      Default",
        "size       ints      required",
        "odd        unknown   required",
        'low        float     "-inf"',
        'dtype      type      "int64"',
        'types      types     ["int64", "bool"]',
        "rows       listlist  [[1, 2], [3]]",
        'name       string    "\ufffd b"',
        "",
        "differs  types of 'x' that do not exist: DT_FLOAT32",
        "differs  input 1 is 'n' in the JSON, 'mask' in the prototype All",
    ]


def test_what_is_missing(tmp_path: Path) -> None:
    found = describe("B", None, None, "the package has none", True)
    lines = shown(described(OperatorDocument.of(package(tmp_path), found)), pipe())
    assert lines[:3] == [
        "B",
        f"JSON       {tmp_path}/ops.json does not have it",
        "prototype  none: the package has none; nothing is known of attributes",
    ]


@pytest.mark.parametrize(
    ("index", "text"),
    [("-1", "the elements of input 0 are split"), ("2", "dimension 2 of input 0")],
)
def test_blocks(tmp_path: Path, index: str, text: str) -> None:
    info = cpu_info(flagSupportBlockDim="true", blockDimByIndex=index)
    ops = package(tmp_path, B=info | {"input0": tensor("x")})
    document = OperatorDocument.of(ops, describe("B", ops.ops["B"], None))
    assert any(text in line for line in shown(described(document), pipe()))


@pytest.mark.parametrize("width", [20, 60, 120])
def test_screens(tmp_path: Path, width: int) -> None:
    """Whatever the width, each name is there."""
    documents: list[tuple[Document, Make]] = []
    list_ = OperatorsDocument.of("ops.json", package(tmp_path))
    one = of(tmp_path, registered=False)
    documents += [(list_, listed(list_, raw=True)), (one, described(one))]
    for _, make in documents:
        text = "".join(shown(make, screen(width)))
        assert "float32" in text
        assert "All" in text
