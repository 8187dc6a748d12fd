"""Disagreements of writer and reader: M1 to M8, each held against what both do. Spec 05, AE-909."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cannkit.ae.context import CUST_PATH, HOME, AeContext
from cannkit.ae.install import CustSoWriter, fresh_tree
from cannkit.ae.write_checks import disagreements
from cannkit.format.ae_status import RunMode
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Link
from cannkit.inputs.writable import Overlay
from tests.ae.test_install import found

if TYPE_CHECKING:
    from cannkit.inputs.writable import WritableView

PCIE, SOCKET, THREAD = RunMode.PCIE, RunMode.SOCKET, RunMode.THREAD
USER = {HOME: "/home/u"}
LONG = "/" + "/".join(["c" * 200] * 6)


def ids(context: AeContext, name: str = "libmy.so", files: WritableView | None = None) -> str:
    return " ".join(row.id for row in disagreements(context, name, files))


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (AeContext(PCIE), ""),
        (AeContext(PCIE, vf=40), ""),
        (AeContext(SOCKET, env=USER), ""),
        (AeContext(THREAD, vf=40, env=USER), ""),
        (AeContext(THREAD, env={HOME: "/home/u/"}), ""),
        (AeContext(THREAD, env={**USER, CUST_PATH: "/data"}), ""),
        (AeContext(SOCKET, vf=40, env=USER), "M1"),
        (AeContext(SOCKET, vf=40, env={HOME: "/home/u/"}), "M1"),
        (AeContext(SOCKET, env={HOME: "/home/u/"}), "M2"),
        (AeContext(PCIE, env={**USER, CUST_PATH: "/data"}), "M3"),
        (AeContext(SOCKET, vf=40, env={HOME: "/home/u/", CUST_PATH: "/data"}), "M3"),
        (AeContext(THREAD, env={**USER, CUST_PATH: LONG}), "M4"),
        (AeContext(THREAD, env={**USER, CUST_PATH: ""}), "M5"),
    ],
)
def test_what_is_written_is_found_unless_they_disagree(context: AeContext, expected: str) -> None:
    """A row is told exactly where the engine does not find what the scheduler wrote."""
    assert ids(context) == expected
    files = fresh_tree(context)
    writer = CustSoWriter(context, files)
    written = writer.create("libmy.so", b"AAAA")
    assert written.status == (21001 if expected == "M5" else 0)
    if expected != "M5":
        assert (found(writer, "libmy.so") is None) == bool(expected)


@pytest.mark.parametrize("mode", [PCIE, SOCKET, THREAD])
def test_m5_in_any_mode(mode: RunMode) -> None:
    assert ids(AeContext(mode, env={**USER, CUST_PATH: ""})) == "M5"


@pytest.mark.parametrize(
    ("size", "of_pcie", "of_thread"),
    [(95, "", ""), (96, "M7", ""), (100, "M7", ""), (101, "M6 M7", "M6"), (128, "M6 M7", "M6")],
)
def test_names(size: int, of_pcie: str, of_thread: str) -> None:
    name = "x" * size
    assert ids(AeContext(PCIE), name) == of_pcie
    assert ids(AeContext(SOCKET, env=USER), name) == of_pcie
    assert ids(AeContext(THREAD, env=USER), name) == of_thread


def test_names_that_are_not_written() -> None:
    assert ids(AeContext(PCIE), "x" * 129) == ""


@pytest.mark.parametrize("mode", [PCIE, SOCKET, THREAD])
def test_m8(mode: RunMode) -> None:
    links = {"/home/u": Link("/data"), "/home/CustAiCpuUser": Link("../data")}
    files = Overlay(MemoryTree({"/data": None, **links}))
    context = AeContext(mode, env=USER)
    assert ids(context, files=files) == "M8"
    assert ids(context) == ids(context, files=fresh_tree(context)) == ""
    writer = CustSoWriter(context, files)
    assert writer.create("libmy.so", b"AAAA").status == 21001
    assert found(writer, "libmy.so") is None


def test_relative_root() -> None:
    """No symlink, and no row: both sides refuse."""
    context = AeContext(SOCKET, env={})
    assert ids(context, files=fresh_tree(context)) == ""
