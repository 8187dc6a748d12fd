"""A whole package of operators on disk: JSON, library, prototypes, as it is installed. OPR-501."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final

from tests.ops.library import library
from tests.packages import CPU_CONFIG, CPU_LIBS, cpu_info, folder, to_json

SO: Final = "libcust_cpu_kernels.so"
PROTO: Final = "op_proto/libcust_op_proto.so"


def tensor(name: str, types: str = "DT_FLOAT", **more: str) -> dict[str, str]:
    """A tensor of the JSON."""
    return {"name": name, "type": types, **more}


def operators() -> dict[str, Any]:
    """Operators of tests/native/ops.cc and protos.cc, and two that are in the JSON alone."""
    return {
        "AddN": {
            **cpu_info(),
            "dynamic_input0": tensor("x", "DT_FLOAT,DT_INT32"),
            "output0": tensor("y", "DT_FLOAT,DT_INT32"),
        },
        "All": {
            **cpu_info(subTypeOfInferShape="3", workspaceSize="1024"),
            "input0": tensor("x", "DT_FLOAT,DT_FLOAT32"),
            "input1": tensor("n", "DT_INT64"),
            "dynamic_output0": tensor("z", "DT_FLOAT", format="ND"),
        },
        "Alone": {**cpu_info(), "input0": tensor("x"), "input1": tensor("x")},
    }


def installed(place: Path, *, protos: bool = True, ops: dict[str, Any] | None = None) -> Path:
    """A package with operators of ours, compiled for this machine."""
    folder(place, {CPU_CONFIG: to_json(operators() if ops is None else ops)})
    impl = place / CPU_LIBS
    impl.mkdir(parents=True)
    shutil.copy(library(False), impl / SO)
    if protos:
        (place / "op_proto").mkdir()
        shutil.copy(library(False, "protos.cc"), place / PROTO)
    return place
