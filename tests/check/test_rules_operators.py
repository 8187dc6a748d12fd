"""Rules on the tensors and kernels of AI CPU operators, each over a package that breaks it and a whole one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from cannkit.check.finding import Finding
from cannkit.check.package_subject import PackageSubject
from cannkit.check.proto_header import header_prototypes
from cannkit.check.rules_operators import PACKAGE_RULES
from cannkit.image.package import find_packages
from tests.packages import CPU_CONFIG, cpu_info, cpu_vendor, folder, library, wheel

SO = "libcust_cpu_kernels.so"
HEADER = """
/** * @par Inputs .INPUT(nothing) */
REG_OP(AddCpu)
    .INPUT(x, TensorType({DT_FLOAT}))  // .INPUT(none, ...)
    .OPTIONAL_INPUT(mask, TensorType({DT_BOOL}))
    .DYNAMIC_OUTPUT(y, TensorType::BasicType())
    .ATTR(n, Int, 0)
    .OP_END_FACTORY_REG(AddCpu)
"""


def tensor(name: str, types: str = "DT_FLOAT") -> dict[str, str]:
    return {"name": name, "type": types}


def good(**more: Any) -> dict[str, Any]:
    """An operator that fits the header."""
    tensors = {"input0": tensor("x"), "input1": tensor("mask"), "dynamic_output0": tensor("y")}
    return cpu_info() | tensors | more


def holding(*names: str) -> bytes:
    """A library with texts in it, as constants are."""
    texts = b"".join(name.encode() + b"\0" for name in ("RunCpuKernel", *names))
    return library("RunCpuKernel", soname=SO) + b"\0" + texts


def findings(path: str) -> list[Finding]:
    (package, *_) = find_packages(path)
    return [each for apply in PACKAGE_RULES for each in apply(PackageSubject(package))]


def of(
    tmp_path: Path, ops: dict[str, Any], data: bytes | None = None, header: str = ""
) -> list[tuple[str, str | None, str]]:
    """Codes, places and messages of a package."""
    files = cpu_vendor(ops, {SO: holding(*ops) if data is None else data})
    if header:
        files["op_proto/inc/op_proto.h"] = header.encode()
    return [
        (each.rule.code, each.where, each.message) for each in findings(folder(tmp_path, files))
    ]


def test_nothing_is_wrong(tmp_path: Path) -> None:
    assert of(tmp_path, {"AddCpu": good()}, header=HEADER) == []
    files = cpu_vendor({"AddCpu": good()}, {SO: holding("AddCpu")})
    assert findings(wheel(tmp_path / "demo.whl", files)) == []


def test_a_type_that_does_not_exist(tmp_path: Path) -> None:
    op = good(input1=tensor("mask", "DT_BOOL,DT_FLOAT32,DT_X"))
    assert of(tmp_path, {"AddCpu": op}) == [
        ("K414", "op AddCpu", "input 1 (mask): DT_FLOAT32, DT_X")
    ]


def test_two_tensors_of_one_name(tmp_path: Path) -> None:
    """Q-21."""
    op = good(input1=tensor("x"), output1=tensor("y"))
    assert of(tmp_path, {"AddCpu": op}) == [
        ("K415", "op AddCpu", "two inputs are called x"),
        ("K415", "op AddCpu", "two outputs are called y"),
    ]


@pytest.mark.parametrize(
    ("op", "messages"),
    [
        (
            cpu_info() | {"input0": tensor("x"), "dynamic_output0": tensor("y")},
            ["1 inputs in the JSON, 2 in the prototype AddCpu: x against x, mask"],
        ),
        (
            good(input1=tensor("flag"), dynamic_output0=tensor("z")),
            [
                "input 1 is 'flag' in the JSON, 'mask' in the prototype AddCpu",
                "output 0 is 'z' in the JSON, 'y' in the prototype AddCpu",
            ],
        ),
        (cpu_info(), []),
    ],
)
def test_json_and_prototype(tmp_path: Path, op: dict[str, Any], messages: list[str]) -> None:
    found = of(tmp_path, {"AddCpu": op}, header=HEADER)
    assert found == [("K416", "op AddCpu", message) for message in messages]


def test_operators_of_other_names_have_no_prototype(tmp_path: Path) -> None:
    assert of(tmp_path, {"SubCpu": cpu_info() | {"input0": tensor("a")}}, header=HEADER) == []


def names(*ops: str, **info: str) -> dict[str, Any]:
    return {op: cpu_info(**info) for op in ops}


def test_a_kernel_that_the_library_does_not_have(tmp_path: Path) -> None:
    ops = names("Add", "Sub", "CumProd")
    assert of(tmp_path, ops, holding("Add", "Sub", "Cumprod")) == [
        ("K417", "op CumProd", "libcust_cpu_kernels.so does not have the text CumProd")
    ]


@pytest.mark.parametrize(
    ("ops", "texts"),
    [
        (names("Add", "Sub", "CumProd"), ("Add", "Sub", "MyCumProd")),  # a tail is kept once
        (names("Add", "CustAdd", "Sub", "CustSub"), ("Add", "Sub")),  # twins
        (names("CustAdd", "Sub"), ("CustAdd", "Sub")),
        (names("Add", "Sub"), ("Mul",)),  # it does not keep names as text
        (names("Add", "Sub"), ("Add",)),
        (names("Add", "Sub", "Mul", function="MyKernel"), ("Add", "Sub")),  # needs no name
        (names("Add", "Sub", "Mul", so="libother.so"), ("Add", "Sub")),
    ],
)
def test_kernels_that_may_be_there(
    tmp_path: Path, ops: dict[str, Any], texts: tuple[str, ...]
) -> None:
    assert of(tmp_path, ops, holding(*texts)) == []


def test_a_text_across_pieces(tmp_path: Path) -> None:
    data = library("RunCpuKernel")
    data += bytes((1 << 18) - len(data) - 2) + b"Add\0Sub\0"
    assert data[(1 << 18) - 2 : (1 << 18) + 2] == b"Add\0"
    (found,) = of(tmp_path, names("Add", "Sub", "Mul"), data)
    assert found[1] == "op Mul"


def test_a_library_that_cannot_be_read(tmp_path: Path) -> None:
    assert of(tmp_path, names("Add", "Sub", "Mul"), b"Add\0Sub\0") == []


@pytest.mark.parametrize(
    ("root", "so", "is_told"),
    [
        ("custom_aicpu_ops", SO, True),
        ("custom_aicpu_ops2", SO, False),
        ("custom_aicpu_ops", "libmine.so", False),
    ],
)
def test_a_package_that_aclnn_ignores(tmp_path: Path, root: str, so: str, is_told: bool) -> None:
    """OPR-509."""
    files = cpu_vendor({"AddCpu": cpu_info(so)}, {so: holding("AddCpu")})
    found = findings(folder(tmp_path / root, files))
    message = "it is custom_aicpu_ops with libcust_cpu_kernels.so"
    assert [(each.rule.code, each.message) for each in found] == [("K418", message)] * is_told


def test_a_json_that_cannot_be_read_is_told_elsewhere(tmp_path: Path) -> None:
    assert findings(folder(tmp_path, cpu_vendor() | {CPU_CONFIG: b"{"})) == []


def test_headers() -> None:
    (op,) = header_prototypes(HEADER).values()
    assert [(each.name, each.kind.value) for each in op.inputs] == [
        ("x", "required"),
        ("mask", "optional"),
    ]
    assert [(each.name, each.kind.value) for each in op.outputs] == [("y", "dynamic")]
    assert header_prototypes("REG_OP(A) .INPUT(x, 1)") == {}
    assert header_prototypes("OP_END_FACTORY_REG(A) .INPUT(x, 1)") == {}
    assert header_prototypes("/* REG_OP(A) .OP_END_FACTORY_REG(A)") == {}


@pytest.mark.parametrize("text", ["REG_OP(a", "/*", "REG_OP(a).INPUT(x", ".INPUT   (", "REG_OP ("])
def test_hostile_headers_take_no_longer(text: str) -> None:
    start = time.perf_counter()
    assert header_prototypes(text * ((4 << 20) // len(text))) == {}
    assert time.perf_counter() - start < 5


def test_the_real_package(aicpu_package: Path) -> None:
    place = aicpu_package
    found = findings(str(place))
    counts = [sum(each.rule.code == code for each in found) for code in ("K414", "K415", "K417")]
    assert counts == [14, 2, 6]  # OPR-503, Q-21, OPR-212 (the seventh is the tail of another name)
