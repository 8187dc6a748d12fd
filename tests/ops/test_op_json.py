"""The JSON of AI CPU operators, whole, odd and hostile. OPR-502 to OPR-504."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from cannkit.errors import FormatError
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.op_json import (
    MOST_OPS,
    MOST_TENSORS,
    OpFile,
    OpInfo,
    OpTensor,
    is_op_json,
    read_op_json,
    repeated_names,
)

INFO = {
    "opKernelLib": "CUSTAICPUKernel",
    "kernelSo": "libcust_cpu_kernels.so",
    "functionName": "RunCpuKernel",
}


def tensor(name: str = "x", types: str = "DT_FLOAT", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": types, **more}


def of(info: dict[str, Any] | None = None, **tensors: Any) -> tuple[OpInfo, list[tuple[str, str]]]:
    """The one operator of a file, and what is odd about it."""
    raw = json.dumps({"A": {"opInfo": INFO if info is None else info, **tensors}})
    file = read_op_json(raw.encode())
    return file.ops["A"], [(each.code, each.message) for each in file.warnings]


def test_an_operator() -> None:
    op, odd = of(input0=tensor(), output0=tensor("y", " DT_INT8 , DT_BF16,DT_INT8", format="NHWC"))
    assert odd == []
    assert op == OpInfo(
        name="A",
        inputs=(OpTensor(0, "x", (OpDtype.FLOAT,)),),
        outputs=(OpTensor(0, "y", (OpDtype.INT8, OpDtype.BF16), format="NHWC"),),
        kernel_so="libcust_cpu_kernels.so",
        function="RunCpuKernel",
        kernel_lib="CUSTAICPUKernel",
        workspace_kib=None,
        shape_type=1,
        block_dim=False,
        block_dim_index=-1,
        keys=INFO,
    )
    assert op.tensors == op.inputs + op.outputs


def test_numbers_are_in_order_and_may_be_missing() -> None:
    op, odd = of(**{f"input{number}": tensor(f"x{number}") for number in (10, 2, 1)})
    assert [each.number for each in op.inputs] == [1, 2, 10]
    assert odd == []


def test_dynamic_tensors_share_the_numbers() -> None:
    op, _ = of(dynamic_input1=tensor("xs"), input0=tensor("dim"), dynamic_output0=tensor("y"))
    assert [(each.name, each.is_dynamic) for each in op.inputs] == [("dim", False), ("xs", True)]
    assert op.outputs[0].is_dynamic


def test_one_number_twice() -> None:
    _, odd = of(dynamic_input0=tensor("xs"), input0=tensor("dim"))
    assert odd == [("op-tensor-twice", "input 0 is there twice, dynamic and not")]


@pytest.mark.parametrize(
    ("more", "name", "value"),
    [
        ({"subTypeOfInferShape": "3"}, "shape_type", 3),
        ({"workspaceSize": "1024"}, "workspace_kib", 1024),
        ({"workspaceSize": "much"}, "workspace_kib", None),
        ({"flagSupportBlockDim": "TRUE"}, "block_dim", True),
        ({"flagSupportBlockDim": "yes"}, "block_dim", False),
        ({"blockDimByIndex": "2"}, "block_dim_index", 2),
        ({"blockDimByIndex": "9" * 99}, "block_dim_index", -1),
        ({"kernelSo": ""}, "kernel_so", ""),
    ],
)
def test_keys(more: dict[str, str], name: str, value: object) -> None:
    """OPR-901."""
    op, odd = of(INFO | more)
    assert (getattr(op, name), odd) == (value, [])


@pytest.mark.parametrize("text", ["0", "5", "-1"])
def test_a_shape_type_that_is_none(text: str) -> None:
    op, odd = of(INFO | {"subTypeOfInferShape": text})
    assert op.shape_type == 1
    assert odd == [("op-shape-type", f"subTypeOfInferShape is '{text}'")]


def test_types_that_do_not_exist() -> None:
    op, odd = of(input0=tensor(types="DT_FLOAT32,DT_FLOAT,float"))
    assert op.inputs[0].dtypes == (OpDtype.FLOAT,)
    assert op.inputs[0].unknown_types == ("DT_FLOAT32", "float")
    assert odd == [("op-type", "input0: unknown DT_FLOAT32, float")]


def test_names_twice() -> None:
    op, _ = of(input0=tensor(), input1=tensor(), input2=tensor(""), input3=tensor(""))
    assert repeated_names(op.inputs) == ("x",)


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ([], "op-skipped"),
        ({}, "op-skipped"),
        ({"opInfo": []}, "op-skipped"),
        ({"opInfo": {"kernelSo": 1}}, "op-not-text"),
        ({"opInfo": {}, "input0": []}, "op-tensor"),
        ({"opInfo": {}, **{f"input{i}": {} for i in range(MOST_TENSORS + 1)}}, "op-tensors"),
    ],
)
def test_wrong_types(item: object, code: str) -> None:
    file = read_op_json(json.dumps({"A": item}).encode())
    assert [each.code for each in file.warnings] == [code]
    assert ("A" in file.ops) is (code != "op-skipped")


def test_a_tensor_of_nothing() -> None:
    op, odd = of(input0={"name": 1, "type": ["DT_FLOAT"], "format": None})
    assert (op.inputs, odd) == ((OpTensor(0, "", ()),), [])


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"{", "Expecting"),
        (b"[]", "its root is not an object"),
        (b"[" * 9999, "64"),
        (b"\xff", "utf-8"),
        (b"", "Expecting"),
    ],
)
def test_texts_that_are_none(raw: bytes, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read_op_json(raw)


def test_too_many_operators() -> None:
    raw = json.dumps({str(number): {} for number in range(MOST_OPS + 1)}).encode()
    with pytest.raises(FormatError, match="more than 16,384"):
        read_op_json(raw)


def test_hostile_files_take_no_longer() -> None:
    """4 MiB of one list of types; of as many tensors; of odd operators, whose warnings are cut."""
    long: object = {"A": {"opInfo": {}, "input0": tensor(types="DT_X," * 800_000)}}
    many: object = {"A": {"opInfo": {}} | {f"input{i}": tensor(f"{i}" * 300) for i in range(9999)}}
    odd: object = {str(number): [] for number in range(MOST_OPS)}
    for root in (long, many, odd):
        start = time.perf_counter()
        file: OpFile = read_op_json(json.dumps(root).encode())
        assert time.perf_counter() - start < 2
        assert len(file.warnings) < 1000


@pytest.mark.parametrize(
    ("root", "is_one"),
    [({"A": {"opInfo": {}}}, True), ({"opInfo": {}}, False), ([], False), ({"a": 1}, False)],
)
def test_whether_it_is_one(root: object, is_one: bool) -> None:
    assert is_op_json(root) is is_one


def test_the_real_file(aicpu_package: Path) -> None:
    raw = (aicpu_package / "op_impl/cpu/config/cust_aicpu_kernel.json").read_bytes()
    file = read_op_json(raw)
    tensors = [each for op in file.ops.values() for each in op.tensors]
    dynamic = sum(each.is_dynamic for each in tensors)
    assert (len(file.ops), len(tensors), dynamic) == (490, 1044 + 570 + 8, 8)  # OPR-505
    assert [each.code for each in file.warnings] == ["op-type"] * 14
    assert [name for name, op in file.ops.items() if repeated_names(op.inputs)] == [
        "CustGenerateEodMaskV2",
        "GenerateEodMaskV2",
    ]
