"""Operator: numpy arrays in and out, here and under the emulator. Spec 07."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import cannkit
from cannkit.errors import InputError, UsageError
from cannkit.format.op_dtypes import OpDtype
from cannkit.ops.call import PLAIN
from cannkit.ops.op_args import OpArg, Role
from tests.ops.calling import EMULATED
from tests.ops.library import ENV, library
from tests.ops.packages import installed, tensor
from tests.packages import CPU_LIBS, cpu_info

BOTH: Final = "DT_FLOAT,DT_INT64"
OPS: Final[dict[str, Any]] = {
    "Add": {
        **cpu_info(),
        "input0": tensor("x"),
        "input1": tensor("y"),
        "output0": tensor("z"),
    },
    "AddOne": {**cpu_info(), "input0": tensor("x", BOTH), "output0": tensor("y", BOTH)},
    "Concat": {**cpu_info(), "dynamic_input0": tensor("x"), "output0": tensor("y")},
    "Echo": {**cpu_info(), "input0": tensor("x", BOTH), "dynamic_output0": tensor("y", BOTH)},
    "NonZero": {
        **cpu_info(subTypeOfInferShape="3"),
        "input0": tensor("x"),
        "output0": tensor("y", "DT_INT64"),
    },
}
FAILED: Final = 0xFFFF_FFFF


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of ours are kept with those of the other tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", ENV["XDG_CACHE_HOME"])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a JSON."""
    return installed(tmp_path / "vendor", protos=False, ops=OPS)


def floats(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@EMULATED
def test_a_run(emulated: bool) -> None:
    """Without a JSON all is told by the arrays."""
    add = cannkit.Operator(library(emulated), "Add")
    run = add.run([floats(1, 2), floats(3, 4)], outputs=[("f32", (2,))])
    (z,) = run.outputs
    np.testing.assert_array_equal(z, floats(4, 6))
    assert (z.dtype, z.flags.writeable) == (np.float32, True)
    assert (run.returned, run.is_good, run.emulated, run.ended) == (0, True, emulated, None)
    assert (run.changed, run.remarks, run.reason) == ({}, (), None)


def test_a_package(package: Path) -> None:
    add = cannkit.Operator(package, "Add")
    assert [each.name for each in add.description.inputs] == ["x", "y"]
    assert repr(add) == f"<Operator Add of {package / CPU_LIBS}/libcust_cpu_kernels.so>"
    for inputs in ([floats(1), floats(2)], {"y": floats(2), "x": floats(1)}):
        np.testing.assert_array_equal(add.run(inputs).outputs[0], floats(3))


def test_names() -> None:
    with pytest.raises(UsageError) as error:
        cannkit.Operator(library(False), "Add", emulate="sometimes")
    assert error.value.hint == "one of auto, never, always"
    with pytest.raises(InputError):
        cannkit.Operator("/nowhere/lib.so", "Add")


def test_unknown_names(package: Path) -> None:
    with pytest.raises(UsageError) as error:
        cannkit.Operator(package, "Ad")
    assert error.value.hint is not None
    assert "Add" in error.value.hint
    add = cannkit.Operator(package, "Add")
    with pytest.raises(UsageError) as error:
        add.run({"x": floats(1), "w": floats(2)})
    assert (error.value.what, error.value.hint) == ("unknown input 'w'", "it has x, y")
    with pytest.raises(UsageError, match="input 'x' takes a list of arrays"):
        cannkit.Operator(package, "Concat").run({"x": floats(1)})
    with pytest.raises(UsageError, match="say the outputs: nothing is known"):
        cannkit.Operator(library(False), "Add").run([floats(1), floats(2)])
    with pytest.raises(UsageError, match="say the outputs: their number"):
        cannkit.Operator(package, "Echo").run([floats(1)])


def test_a_package_without_its_library(package: Path) -> None:
    (package / CPU_LIBS / "libcust_cpu_kernels.so").unlink()
    with pytest.raises(UsageError, match="the package has no library"):
        cannkit.Operator(package, "Add")


def test_another_json(package: Path, tmp_path: Path) -> None:
    json = next(package.rglob("*.json")).rename(tmp_path / "other.json")
    found = cannkit.Operator(library(False), "Add", json=json).run([floats(1), floats(1)])
    np.testing.assert_array_equal(found.outputs[0], floats(2))


@pytest.mark.parametrize(
    "wanted",
    [None, [None], [(3,)], [("float32", (3,))], [(np.float32, [3])], [floats(0, 0, 0)],
     [OpArg(Role.OUT, OpDtype.FLOAT, (3,))], [np.int64(3).reshape(1)]],
)  # fmt: skip
def test_outputs(package: Path, wanted: Any) -> None:
    add = cannkit.Operator(package, "Add")
    one = floats(1, 2, 3)
    if isinstance(wanted, list) and isinstance(wanted[0], np.ndarray) and wanted[0].size == 1:
        wanted = [tuple(wanted[0])]
    np.testing.assert_array_equal(add.run([one, one], outputs=wanted).outputs[0], 2 * one)


@pytest.mark.parametrize("wanted", [3, "x", [1.5], object()])
def test_what_is_no_output(package: Path, wanted: Any) -> None:
    add = cannkit.Operator(package, "Add")
    with pytest.raises(UsageError) as error:
        add.run([floats(1), floats(1)], outputs=[wanted])
    assert error.value.hint == "a shape, (dtype, shape), an array or None"


@EMULATED
@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "float32", "float64", "complex64", "complex128"],
)  # fmt: skip
def test_data_types(emulated: bool, dtype: str) -> None:
    """Each that numpy has; bytes the other way round and in other orders come as they are meant."""
    data = (np.arange(6).reshape(2, 3) % 2).astype(dtype)
    echo = cannkit.Operator(library(emulated), "Echo")
    shapes = [(dtype, (2, 3)), (dtype, (3, 2)), (dtype, ())]
    swapped = data.astype(data.dtype.newbyteorder(">"))
    run = echo.run([swapped, data.T, data[1, 1]], outputs=shapes)
    for found, expected in zip(run.outputs, (data, data.T, data[1, 1]), strict=True):
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found, expected)


def test_data_types_that_numpy_has_not() -> None:
    """Bytes, one row for each element."""
    echo = cannkit.Operator(library(False), "Echo")
    data = memoryview(bytes(range(4)))
    args = [OpArg(Role.IN, OpDtype.BF16, (2,), data)]
    run = echo.run(args, outputs=[("bf16", (2,))])
    assert run.outputs[0].tobytes() == bytes(data)
    with pytest.raises(UsageError, match="input 0: no operator has"):
        echo.run([np.array(["a"])], outputs=[(1,)])


def test_shapes_that_come_back(package: Path) -> None:
    run = cannkit.Operator(package, "NonZero").run([floats(0, 3, 0, 4)])
    np.testing.assert_array_equal(run.outputs[0], np.array([1, 3]))
    assert run.outputs[0].dtype == np.int64
    empty = cannkit.Operator(package, "NonZero").run([floats(0)])
    assert empty.outputs[0].shape == (0,)


@EMULATED
def test_in_place(emulated: bool) -> None:
    add_one = cannkit.Operator(library(emulated), "AddOne")
    given = floats(1, 2)
    run = add_one.run([given], outputs=[None])
    np.testing.assert_array_equal(run.changed[0], floats(2, 3))
    run = add_one.run([given], outputs=[], inout=[0])
    np.testing.assert_array_equal(run.outputs[0], floats(2, 3))
    assert run.changed == {}
    np.testing.assert_array_equal(given, floats(1, 2))


def test_attributes(package: Path) -> None:
    concat = cannkit.Operator(package, "Concat")
    run = concat.run([floats(1), floats(2, 3)], {"N": 2}, [(3,)])
    np.testing.assert_array_equal(run.outputs[0], floats(1, 2, 3))


def test_left_out(package: Path) -> None:
    run = cannkit.Operator(package, "Add").run([None, floats(1)], outputs=[(1,)], check=False)
    assert run.reason is not None
    assert run.reason.endswith("the address of a tensor is null")


@EMULATED
def test_a_failure(emulated: bool) -> None:
    add = cannkit.Operator(library(emulated), "Add")
    inputs, outputs = [floats(1, 2), floats(1)], [(2,)]
    with pytest.raises(cannkit.OperatorError) as error:
        add.run(inputs, outputs=outputs)
    assert error.value.exit_code == 5
    assert error.value.what == f"the operator Add returned {FAILED}"
    assert error.value.why.endswith("shape mismatch, x has 2 elements, y 1, z 2")
    assert error.value.run.status == -1
    run = add.run(inputs, outputs=outputs, check=False)
    assert (run.returned, run.reason) == (FAILED, error.value.why)
    assert len(run.log) == 2


@EMULATED
def test_a_crash(emulated: bool) -> None:
    harm = cannkit.Operator(library(emulated), "Harm")
    with pytest.raises(cannkit.OperatorError, match="the operator Harm ended its process") as error:
        harm.run([floats(0)], {"how": "null"}, [(1,)])
    assert "SIGSEGV" in error.value.why
    assert error.value.run.returned is None


def test_limits_of_time() -> None:
    harm = cannkit.Operator(library(False), "Harm", timeout=0.4)
    run = harm.run([floats(0)], {"how": "hang"}, [(1,)], check=False)
    assert run.ended is not None
    assert "0.4" in run.ended


@EMULATED
def test_many(emulated: bool) -> None:
    add = cannkit.Operator(library(emulated), "Add")
    given = ([floats(each), floats(1)] for each in range(200))
    runs = list(add.run_many(cannkit.Case(each, outputs=[None]) for each in given))
    assert [float(run.outputs[0][0]) for run in runs] == [each + 1 for each in range(200)]
    harm = cannkit.Operator(library(emulated), "Harm")
    cases = [cannkit.Case([floats(0)], {"how": how}, [(1,)]) for how in ("none", "abort", "none")]
    assert [run.returned for run in harm.run_many(cases)] == [0, None, 0]


def test_blocks() -> None:
    add = cannkit.Operator(library(False), "Add")
    options = PLAIN._replace(function="RunCpuKernelWithBlock", blocks=4)
    run = add.run([floats(*range(9))] * 2, outputs=[(9,)], options=options)
    np.testing.assert_array_equal(run.outputs[0], 2 * floats(*range(9)))


def test_numpy_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name == "numpy":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError) as error:
        cannkit.Operator(library(False), "Add")
    assert (error.value.what, error.value.hint) == (
        "operators on arrays need numpy", "pip install numpy"
    )  # fmt: skip


def test_a_kernel_that_the_json_does_not_have(package: Path) -> None:
    """The library is asked."""
    (value,) = cannkit.Operator(package, "Count").run(outputs=[("int64", (1,))]).outputs
    assert value.shape == (1,)
    with pytest.raises(UsageError, match="unknown operator 'Coun'") as error:
        cannkit.Operator(package, "Coun")
    assert error.value.hint == "did you mean Count?"
    with pytest.raises(UsageError, match="unknown operator"):
        cannkit.Operator(package, "Coun", emulate="always", sysroot="/nowhere")


def test_what_is_no_array_or_no_limit(package: Path) -> None:
    operator = cannkit.Operator(package, "AddOne")
    with pytest.raises(UsageError, match="input 0 is no array"):
        operator.run([[[1.0], [1.0, 2.0]]])
    with pytest.raises(UsageError, match="timeout=nan"):
        cannkit.Operator(package, "AddOne", timeout=float("nan"))


@pytest.mark.parametrize(
    "inputs",
    [
        [floats(1), floats(2), floats(3)],
        [[floats(1), floats(2), floats(3)]],
        {"x": (floats(1), floats(2), floats(3))},
    ],
)
def test_any_number_of_inputs(package: Path, inputs: Any) -> None:
    """OPR-302: one after the other, or as a list for the one that is dynamic."""
    run = cannkit.Operator(package, "Concat").run(inputs, {"N": 3}, [(3,)])
    np.testing.assert_array_equal(run.outputs[0], [1, 2, 3])


def test_a_list_of_numbers_is_one_array(package: Path) -> None:
    run = cannkit.Operator(package, "Concat").run([[1.5, 2.5]], {"N": 1}, [(np.float64, (2,))])
    np.testing.assert_array_equal(run.outputs[0], [1.5, 2.5])


def test_kinds_of_attributes(package: Path) -> None:
    """OPR-1303: where no prototype tells it, NAME:KIND does."""
    attr = cannkit.Operator(library(False), "Attr")
    kinds = {"a:float": 2, "b": 2, "c:ints": (1, 2)}
    node = attr.trace([], kinds, [("int64", (1,))]).result
    assert node is not None
    assert {name: each.kind for name, each in node.prepared.node.attrs.items()} == {
        "a": "float",
        "b": "int",
        "c": "ints",
    }
    with pytest.raises(UsageError, match="unknown kind 'real'"):
        attr.run([], {"a:real": 2}, [("int64", (1,))])


def test_what_is_printed() -> None:
    say = cannkit.Operator(library(False), "Say")
    assert say.run([], outputs=[]).printed == "on stdout\non stderr\n"
    with pytest.raises(UsageError, match="inout: there is no input 9"):
        say.run([], outputs=[], inout=[9])
