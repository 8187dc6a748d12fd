"""cannkit.check_many and cannkit.parse_many: the same answers whoever does the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

import cannkit
from cannkit import CannkitError, KernelObject, UsageError
from tests.packages import folder as write_folder
from tests.packages import vendor, wheel


@contextmanager
def fleet() -> Iterator[Executor]:
    """Two workers of a local cluster of dask."""
    from distributed import Client

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        yield client.get_executor()


EXECUTORS: Final[dict[str, Callable[[], Executor]]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A package in a folder and in a wheel, each with a broken object, and a path that is not there."""
    root = tmp_path_factory.mktemp("packages")
    files = {**vendor(("Add", "Mul")), "op_impl/ai_core/tbe/kernel/ascend910b/x/X_1.o": b"\x7fELF"}
    return [
        write_folder(root / "tree", files),
        wheel(root / "demo-1.0-py3-none-any.whl", files),
        str(root / "missing.o"),
    ]


def check_all(paths: list[str], executor: Executor | None) -> object:
    found = cannkit.check_many(paths, executor=executor)
    failures = [(failure.place, str(failure.error)) for failure in found.failures]
    return found._replace(failures=()), failures


def parse_all(paths: list[str], executor: Executor | None) -> list[object]:
    return list(map(told, cannkit.parse_many(paths, executor=executor)))


def told(found: KernelObject | CannkitError) -> object:
    """All that an object says, or an error."""
    if isinstance(found, CannkitError):
        return type(found), str(found)
    plain = found._replace(elf=found.elf.header, sidecar=None)  # type: ignore[arg-type]
    sidecar = found.sidecar and (found.sidecar.file, dict(found.sidecar.sidecar.keys))
    return plain, bytes(found.elf.data[0 : found.size]), found.elf.sections, sidecar


@pytest.mark.parametrize("name", EXECUTORS)
def test_any_executor(paths: list[str], name: str) -> None:
    with EXECUTORS[name]() as executor:
        assert check_all(paths, executor) == check_all(paths, None)
        assert parse_all(paths, executor) == parse_all(paths, None)


def test_a_fleet(paths: list[str]) -> None:
    with fleet() as executor:
        assert check_all(paths, executor) == check_all(paths, None)
        assert parse_all(paths, executor) == parse_all(paths, None)


def test_what_comes_back(paths: list[str]) -> None:
    found = cannkit.check_many(map(Path, paths))
    assert [failure.place for failure in found.failures] == [paths[2]]
    assert found.matrix is not None
    assert found.matrix.ops == ("Add", "Mul")
    codes = [(finding.rule.code, finding.file) for finding in found.findings]
    broken = "op_impl/ai_core/tbe/kernel/ascend910b/x/X_1.o"
    assert ("K003", f"{paths[0]}/{broken}") in codes
    assert ("K003", f"{paths[1]}!{broken}") in codes
    objects = list(cannkit.parse_many(paths))
    assert len(objects) == found.objects + 1
    assert sum(isinstance(each, CannkitError) for each in objects) == 3


def test_arguments_are_looked_at_first(paths: list[str]) -> None:
    with pytest.raises(UsageError, match="Ascend9"):
        cannkit.check_many(paths, soc="Ascend9")
    with pytest.raises(UsageError, match="glibc"):
        cannkit.check_many(paths, device_glibc="new")
    with pytest.raises(UsageError, match="Ascend9"):
        cannkit.parse_many(paths, soc="Ascend9")


def test_one_text_is_no_list() -> None:
    """Its letters would be paths."""
    for many in (cannkit.check_many, cannkit.parse_many):
        with pytest.raises(UsageError, match="one path instead of many"):
            many("fixtures")
