"""Where a library lies that a search did not find. Spec 05, AE-1208 and Q-23."""

from __future__ import annotations

from typing import Final

import pytest

from cannkit.ae.caller import Opened
from cannkit.ae.context import AeContext
from cannkit.ae.elsewhere import MOST_HINTS, find_elsewhere
from cannkit.ae.so_path import read_settings
from cannkit.ae.so_walk import resolve
from cannkit.inputs.files import PathView
from cannkit.inputs.memory_tree import MemoryTree

K: Final = "/usr/lib64/aicpu_kernels"
K0: Final = f"{K}/0/aicpu_kernels_device"
USER: Final = "/home/CustAiCpuUser"
AICPU, CUST = 2, 4


def told(
    *paths: str, name: str = "libmy.so", kind: int = AICPU, context: AeContext | None = None
) -> list[str]:
    context = context or AeContext(pid=7, is_cust_sd=kind == CUST)
    files: PathView = MemoryTree(dict.fromkeys(paths, b""))
    found = resolve(kind, name, read_settings(context), context, files, lambda _: Opened(None))
    return find_elsewhere(kind, found, context, files)


@pytest.mark.parametrize(
    ("path", "word"),
    [
        (f"{USER}/cust_aicpu_0_0_7/libmy.so", "that is for --kernel-type custom"),
        ("/home/HwHiAiUser/inuse/aicpu_kernels/0/libmy.so", "the engine never looks there"),
        ("/usr/lib64/libmy.so", "only two libraries are looked for there"),
        (f"{USER}/lib/libmy.so", "reached by symlinks"),
        (f"{USER}/cust_aicpu_0_0_8/libmy.so", "for another device, vf or host process"),
    ],
)
def test_another_place(path: str, word: str) -> None:
    (sentence,) = told(path)
    assert sentence.startswith(f"{path} is there: ")
    assert word in sentence


def test_another_type() -> None:
    assert told(f"{K0}/libmy.so", kind=CUST) == [
        f"{K0}/libmy.so is there: that is for --kernel-type aicpu"
    ]


def test_another_vf() -> None:
    context = AeContext(vf=3)
    assert told(f"{K0}/libmy.so", context=context) == [f"{K0}/libmy.so is there: that is for vf 0"]


@pytest.mark.parametrize("other", ["libMy.so", "my.so", "libmy.so.1", "libmyy.so"])
def test_another_name(other: str) -> None:
    assert told(f"{K}/{other}") == [f"{K}/{other} is there: did you mean {other}?"]


@pytest.mark.parametrize("other", ["libx.so", "readme.txt"])
def test_a_name_that_nobody_meant(other: str) -> None:
    assert told(f"{K}/{other}") == []


def test_nothing_is_told_twice_or_without_end() -> None:
    paths = [f"{K}/libmy.so.{number}" for number in range(100)]
    found = told(*paths)
    assert len(found) == MOST_HINTS
    assert len(set(found)) == MOST_HINTS


def test_files_that_are_not_known() -> None:
    context = AeContext()
    found = resolve(
        AICPU, "libmy.so", read_settings(context), context, None, lambda _: Opened(None)
    )
    assert find_elsewhere(AICPU, found, context, None) == []
