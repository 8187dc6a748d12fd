"""Our own operator library, and calls of it: a job of three regions (block, ext info, workspace) and tensors."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from cannkit.format.ext_info import (
    ExtInfo,
    ExtType,
    bitmap,
    encode_ext,
    input_shapes,
    output_shapes,
    shape_type,
    workspace,
    workspace_records,
)
from cannkit.format.node_attr import Attr, AttrKind
from cannkit.format.node_def import NodeDef, encode_node_def
from cannkit.format.node_tensor import NodeTensor
from cannkit.format.op_dtypes import OpDtype
from cannkit.format.param_block import EXT_SLOT, encode_block, io_slot
from cannkit.ops.job import CallKind, Job, JobCall, Region, Relocation
from cannkit.ops.runner import Outcome
from cannkit.ops.toolchain import Missing, Tool, Toolchain
from tests.cli.runner import CACHE

SOURCES: Final = Path(__file__).parents[1] / "native"
BLOCK, EXT, WORKSPACE, TENSORS = range(4)  # regions of a call
WORKSPACE_SIZE: Final = 8192
FAILED: Final = 0xFFFF_FFFF
ENV: Final = {**os.environ, "XDG_CACHE_HOME": CACHE}


def toolchain(**env: str) -> Toolchain:
    """The tools of this machine with a cache of the tests' own, and other variables."""
    return Toolchain({**ENV, **env})


def need_emulation() -> None:
    """Skip a test on a machine that cannot run AArch64 code."""
    tools = toolchain()
    for found in (tools.cross_compiler(), tools.emulator(), tools.find_sysroot()):
        if isinstance(found, Missing):
            pytest.skip(f"{found.what} is missing")


@cache
def library(emulated: bool, source: str = "ops.cc", *flags: str) -> str:
    """The library of a source in tests/native, for this machine or for AArch64."""
    is_cpp = source.endswith(".cc")
    if emulated:
        need_emulation()
    found = toolchain().cross_compiler() if emulated else toolchain().host_compiler(is_cpp=is_cpp)
    if isinstance(found, Missing):
        pytest.skip(f"{found.what} is missing")
    command = _cpp(found) if emulated and is_cpp else found.command
    path = Path(CACHE, f"{library.cache_info().misses}-{Path(source).stem}.so")
    options = ["-std=c++17"] if is_cpp else []
    options += ["-O1", "-w", "-shared", "-fPIC", "-o", str(path), str(SOURCES / source)]
    subprocess.run([*command, *options, *flags], check=True)
    return str(path)


def _cpp(compiler: Tool) -> list[str]:
    """The C++ compiler beside a C compiler."""
    path = Path(compiler.path)
    cpp = path.with_name(path.name.replace("gcc", "g++"))
    if cpp == path or not cpp.exists():
        pytest.skip(f"no C++ compiler beside {path}")
    return [str(cpp), *compiler.arguments]


class Data(NamedTuple):
    """A tensor: an input with its bytes, an output without."""

    dtype: int
    shape: tuple[int, ...]
    data: bytes | None = None

    @property
    def size(self) -> int:
        size = OpDtype(self.dtype).size or 1
        for dim in self.shape:
            size *= dim
        return size


def call(
    path: str,
    op: str,
    inputs: Sequence[Data] = (),
    outputs: Sequence[Data] = (),
    attrs: Mapping[str, object] | None = None,
    *,
    is_dynamic: bool = False,
    blocks: Sequence[tuple[int, int]] = (),
    calls: int = 1,
    log_level: int = 2,
    function: str = "",
) -> Job:
    """A job that calls an operator, `calls` times or once for each (number, id) of `blocks`."""
    names = [NodeTensor(f"x{i}", each.dtype, each.shape) for i, each in enumerate(inputs)]
    results = [NodeTensor(f"y{i}", each.dtype, each.shape) for i, each in enumerate(outputs)]
    kinds = {int: AttrKind.INT, str: AttrKind.STRING, float: AttrKind.FLOAT, bool: AttrKind.BOOL}
    typed = {
        name: value
        if isinstance(value, Attr)
        else Attr(kinds[type(value)], value.encode() if isinstance(value, str) else value)
        for name, value in (attrs or {}).items()
    }
    node = encode_node_def(NodeDef(op, typed, tuple(names), tuple(results)))
    entries = [workspace(WORKSPACE_SIZE)]
    if is_dynamic:
        shapes = [[(each.dtype, each.shape) for each in side] for side in (inputs, outputs)]
        entries = [shape_type(3), bitmap(0), input_shapes(shapes[0]), output_shapes(shapes[1])]
        entries.append(workspace(WORKSPACE_SIZE))
    info = ExtInfo(tuple(entries))
    ext = encode_ext(info)
    tensors = (*inputs, *outputs)
    block = encode_block(len(tensors), node, len(ext))
    *_, (_, slot) = info.workspaces()
    regions = [Region(memoryview(raw), len(raw)) for raw in (block, ext)]
    regions.append(Region(None, WORKSPACE_SIZE))
    regions += [
        Region(None if each.data is None else memoryview(each.data), each.size) for each in tensors
    ]
    relocations = [Relocation(BLOCK, EXT_SLOT, EXT), Relocation(EXT, slot, WORKSPACE)]
    relocations += [Relocation(BLOCK, io_slot(at), TENSORS + at) for at in range(len(tensors))]
    made = tuple(JobCall(BLOCK, CallKind.BLOCK, *each) for each in blocks)
    name = "RunCpuKernelWithBlock" if blocks else "RunCpuKernel"
    return Job(
        path,
        function or name,
        tuple(regions),
        tuple(relocations),
        made or (JobCall(BLOCK),) * calls,
        log_level,
    )


def joined(*jobs: Job) -> Job:
    """The calls of several jobs of one library, in one process."""
    regions: list[Region] = []
    relocations: list[Relocation] = []
    calls: list[JobCall] = []
    for job in jobs:
        base = len(regions)
        regions += job.regions
        relocations += [
            each._replace(
                region=base + each.region,
                target=None if each.target is None else base + each.target,
            )
            for each in job.relocations
        ]
        calls += [each._replace(param_region=base + (each.param_region or 0)) for each in job.calls]
    return jobs[0]._replace(
        regions=tuple(regions), relocations=tuple(relocations), calls=tuple(calls)
    )


def words(outcome: Outcome) -> list[str]:
    """What the operator wrote into its workspace."""
    return [record.text for record in workspace_records(outcome.memory.region(WORKSPACE))]


def shape_slots(job: Job) -> tuple[int, ...]:
    """Where the shapes of outputs lie in the ext info of a job."""
    from cannkit.format.ext_info import decode_ext

    data = job.regions[EXT].data
    assert data is not None
    return decode_ext(data[0 : len(data)]).shape_slots(ExtType.OUTPUT_SHAPE)
