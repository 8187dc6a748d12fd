"""The recorded calls of a real package, run again: equal status, equal numbers within the rounding of their type. Spec 07, section 11."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from cannkit.errors import UsageError
from cannkit.format.op_dtypes import find_op_dtype
from cannkit.ops.call import PLAIN, Prepared, description_for, prepare
from cannkit.ops.describe import Package
from cannkit.ops.result import SHOWN_LEVELS, OpResult
from cannkit.ops.session import OpSession
from tests.op_calls import ROWS, attr_of
from tests.ops.calling import RUNNER, given, wanted

pytestmark = pytest.mark.corpus
NAMES: Final = [f"{row['op']}-{row['id']}" for row in ROWS]


@pytest.fixture(scope="module")
def package(aicpu_package: Path) -> Package:
    """The real package."""
    return Package.of(str(aicpu_package))


@pytest.fixture(scope="module")
def results(package: Package) -> list[OpResult]:
    """All recorded calls in a row: one of them ends its process."""
    assert package.library is not None
    session = OpSession(package.library, runner=RUNNER)
    return list(session.run_many(made(row, package) for row in ROWS))


def made(row: dict[str, Any], package: Package) -> Prepared:
    """A recorded call."""
    args = [
        given(each["shape"], bytes.fromhex(each["hex"]), find_op_dtype(each["dtype"]))
        for each in row["inputs"]
    ]
    args += [wanted(each["shape"], find_op_dtype(each["dtype"])) for each in row["outputs"]]
    attrs = {name: attr_of(**attr) for name, attr in row["attrs"].items()}
    options = PLAIN._replace(data_format=row["data_format"], force=row["op"] == "NoSuchOp")
    return prepare(description_for(package, row["op"], force=options.force), args, attrs, options)


def test_all_are_there(results: list[OpResult]) -> None:
    assert len(results) == len(ROWS) == 20


@pytest.mark.parametrize("number", range(len(ROWS)), ids=NAMES)
def test_a_recorded_call(number: int, results: list[OpResult]) -> None:
    row, result = ROWS[number], results[number]
    wanted = row["result"]
    assert result.returned == wanted["ret"]
    assert (result.child.signal if result.child else None) == wanted["signal"]
    assert [
        f"{each.level} {each.text}" for each in result.records if each.level in SHOWN_LEVELS
    ] == row["workspace_log"]
    said = "\n".join(result.log_lines(every=True))
    assert all(line in said for line in row["framework_log"])
    for output, each in zip(result.outputs, row["outputs"], strict=True):
        if "got_hex" in each:
            assert output.shape == tuple(each.get("shape_back") or each["shape"])
            assert_close(bytes(output.filled), bytes.fromhex(each["got_hex"]), each)
            assert_close(bytes(output.filled), bytes.fromhex(each["expected_hex"]), each)
    assert result.changed == ()


def assert_close(got: bytes, expected: bytes, each: dict[str, Any]) -> None:
    """Equal bytes, or numbers within the tolerance that was recorded."""
    if "tolerance" not in each:
        assert got == expected
        return
    one, two = (np.frombuffer(raw, each["dtype"]) for raw in (got, expected))
    np.testing.assert_allclose(one, two, rtol=each["tolerance"], atol=each["tolerance"])


def test_a_crash_names_operator_and_guard(results: list[OpResult]) -> None:
    """Q-8."""
    (crashed,) = [each for each in results if each.child]
    assert crashed.child is not None
    assert crashed.child.hints[:2] == (
        "the operator GatherNd was running", "it accessed byte 64 of input 0 (x), behind its 36 bytes"
    )  # fmt: skip


def test_reasons(results: list[OpResult]) -> None:
    """Q-9: in the operator's own words, OPR-420."""
    assert [each.reason for each in results if not each.is_good and not each.child] == [
        "sin.cc:141: Unsupported input data type [DT_INT32].",
        "bcast.cc:232: shape mismatch, dim_x[1]=3, dim_y[1]=4, dim_out[1]=3.",
        "cpu_kernel_register.cc:64: The kernel[NoSuchOp] is not registered",
    ]


def test_unknown_operators_have_neighbours(package: Package) -> None:
    with pytest.raises(UsageError) as error:
        description_for(package, "AcosGradd")
    assert error.value.hint is not None
    assert "AcosGrad" in error.value.hint


def test_a_batch_of_a_hundred(package: Package) -> None:
    assert package.library is not None
    op = description_for(package, "Mul")
    data = [np.arange(4, dtype=np.float32) + each for each in range(100)]
    calls = (
        prepare(op, [*[given([4], each.tobytes())] * 2, wanted([4])], {}, PLAIN) for each in data
    )
    results = list(OpSession(package.library, runner=RUNNER).run_many(calls))
    assert [bytes(each.outputs[0].data) for each in results] == [(x * x).tobytes() for x in data]


def test_an_operator_that_writes_its_input(package: Package) -> None:
    """OPR-309, OPR-1002. Each call has its own memory."""
    assert package.library is not None
    op = description_for(package, "MatrixExp")
    x = np.array([[1, 2], [3, 4]], np.float64)
    dtype = find_op_dtype("float64")
    one = prepare(op, [given([2, 2], x.tobytes(), dtype), wanted([2, 2], dtype)], {}, PLAIN)
    values, vectors = np.linalg.eig(x)
    expected = vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)
    for result in OpSession(package.library, runner=RUNNER).run_many([one, one]):
        assert result.changed == (0,)
        found = np.frombuffer(result.outputs[0].data).reshape(2, 2)
        np.testing.assert_allclose(found, expected)
