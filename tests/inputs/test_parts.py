"""Inputs in parts, and executors that work on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest

from cannkit.errors import InputError
from cannkit.inputs.contents import Unreadable, place_of
from cannkit.inputs.parts import MOST_SENT, PART, FoundFiles, in_parts, spread
from cannkit.inputs.paths import Inputs, open_inputs
from tests.compiled import a2_object
from tests.objects import ADD


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More objects than a part has, one of them called otherwise, one empty, and files of no interest."""
    root = tmp_path_factory.mktemp("tree")
    raw = a2_object(ADD)
    for number in range(PART + 3):
        folder = root / f"d{number % 3}"
        folder.mkdir(exist_ok=True)
        (folder / f"k{number}.o").write_bytes(raw)
        (folder / f"k{number}.json").write_text("{}")
    (root / "called_otherwise").write_bytes(raw)
    (root / "empty.o").touch()
    (root / "notes.txt").write_text("nothing")
    return root


def test_parts_are_all_of_it(tree: Path) -> None:
    parts = list(in_parts(str(tree)))
    assert all(isinstance(part, FoundFiles) and len(part.paths) <= PART for part in parts)
    assert len(parts) == 3
    found = [item for part in parts for item in part]
    assert list(map(place_of, found)) == list(map(place_of, open_inputs([str(tree)])))
    assert [item.file for item in found if isinstance(item, Unreadable)] == [f"{tree}/empty.o"]
    assert len(found) == PART + 5


def test_a_file_is_a_part(tree: Path) -> None:
    for path in (f"{tree}/d0/k0.o", "missing.o", "-"):
        assert list(in_parts(path)) == [Inputs((path,))]


def test_an_empty_directory_is_none(tmp_path: Path) -> None:
    assert list(in_parts(str(tmp_path))) == []


@pytest.fixture(params=[None, ThreadPoolExecutor, ProcessPoolExecutor])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    if request.param is None:
        yield None
        return
    with request.param(2) as made:
        yield made


def test_answers_keep_the_order(executor: Executor | None) -> None:
    numbers = range(MOST_SENT + 40)
    assert list(spread(str, numbers, executor)) == list(map(str, numbers))


def test_errors_come_out(executor: Executor | None) -> None:
    answers = spread(_fail_at_three, range(10), executor)
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="three"):
        next(answers)


def _fail_at_three(number: int) -> int:
    if number == 3:
        raise InputError("three")
    return number


def test_a_worker_that_dies_is_an_error() -> None:
    with ProcessPoolExecutor(1) as executor:
        answers = spread(os._exit, [3], executor)
        with pytest.raises(InputError, match="a worker process was killed"):
            list(answers)


def test_stdin_is_read_here() -> None:
    """No other process has it: its part is not sent away."""
    with ProcessPoolExecutor(1) as executor:
        part = Inputs(("-",), BytesIO(a2_object(ADD)))  # cannot be pickled
        (count,) = spread(_objects, [part], executor)
    assert count == 1


def _objects(part: Inputs) -> int:
    return len(list(part))
