"""What so-path asks: searches without a task, and whether a library would open. Spec 05, AE-1201 to AE-1204."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from cannkit.ae.context import CUST_PATH, HOME, INNER_PATH, AeContext
from cannkit.ae.survey import SO, Answer, ask, not_asked, prober, table
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.files import PathView
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.rooted import RootedFiles
from tests.ae.library import built

K: Final = "/usr/lib64/aicpu_kernels"
K0: Final = f"{K}/0/aicpu_kernels_device"
FWK, AICPU, CUST, KFC, CUST_KFC = map(CpuKernelType, (1, 2, 4, 5, 6))
LOST: Final = AeStatus.OPEN_SO_FAILED
NULL: Final = AeStatus.BAD_PARAM
INNER: Final = AeStatus.INNER_ERROR


def answer(
    kind: int, name: str | None, context: AeContext | None = None, files: PathView | None = None
) -> Answer:
    return ask(
        CpuKernelType(kind),
        name,
        context or AeContext(),
        files,
        prober(files) if files is not None else not_asked,
    )


@pytest.fixture(scope="module")
def library() -> bytes:
    return Path(built("ops")).read_bytes()


def machine(library: bytes, number: int) -> bytes:
    """The library as if it were built for another machine."""
    return library[:18] + number.to_bytes(2, "little") + library[20:]


@pytest.mark.parametrize("kind", [AICPU, KFC, FWK])
def test_without_files_nothing_is_known(kind: CpuKernelType) -> None:
    found = answer(kind, "libmy.so")
    assert (found.resolution.status, found.call_status) == (None, None)
    assert {each.exists for each in found.resolution.attempts} == {None}
    assert {each.status for each in found.resolution.attempts} == {None}
    assert found.resolution.loaded is None


@pytest.mark.parametrize(("kind", "status"), [(AICPU, LOST), (KFC, INNER), (FWK, LOST)])
def test_no_file(kind: CpuKernelType, status: AeStatus) -> None:
    """AE-609, AE-702: what the caller sees differs from the loader's own code."""
    found = answer(kind, "libmy.so", files=MemoryTree({}))
    assert (found.resolution.status, found.call_status) == (LOST, status)


# fmt: off
REFUSED: Final = [  # type, name, process, loader, caller
    (AICPU, "", AeContext(), NULL, LOST),
    (AICPU, "../libmy.so", AeContext(), NULL, LOST),
    (KFC, "libm\u00fc.so", AeContext(), NULL, INNER),
    (CUST, "libmy.so", AeContext(), NULL, LOST),
    (CUST_KFC, "libmy.so", AeContext(), NULL, INNER),
    (CUST, "libmy.so", AeContext(RunMode.SOCKET, True, env={}), INNER, LOST),
    (CUST, None, AeContext(), NULL, LOST),
    (CUST_KFC, None, AeContext(), NULL, INNER),
    (CUST, None, AeContext(RunMode.SOCKET, True, env={}), INNER, LOST),
    (CUST_KFC, None, AeContext(RunMode.THREAD, True, env={}), INNER, INNER),
]
# fmt: on


@pytest.mark.parametrize(("kind", "name", "context", "status", "call_status"), REFUSED)
def test_nothing_is_asked_for(
    kind: CpuKernelType,
    name: str | None,
    context: AeContext,
    status: AeStatus,
    call_status: AeStatus,
) -> None:
    found = answer(kind, name, context)
    assert (found.resolution.status, found.call_status) == (status, call_status)
    assert found.resolution.attempts == ()
    assert found.resolution.why


@pytest.mark.parametrize("name", ["libmy.so", None])
@pytest.mark.parametrize("kind", [AICPU, CUST, KFC, CUST_KFC])
@pytest.mark.parametrize("variable", [INNER_PATH, CUST_PATH])
def test_the_lib_cannot_be_made(kind: CpuKernelType, name: str | None, variable: str) -> None:
    """AE-505, SP-14: with a name or without one, the caller sees 11001."""
    found = answer(kind, name, AeContext(env={variable: ""}, is_cust_sd=True))
    assert (found.settings.status, found.call_status) == (INNER, NULL)
    assert found.resolution.attempts == ()
    assert variable in found.settings.why


def test_the_framework_lib_reads_no_variable() -> None:
    found = answer(FWK, "libmy.so", AeContext(env={INNER_PATH: "", CUST_PATH: ""}))
    assert found.settings.status == AeStatus.SUCCESS
    paths = [f"{K0}/libtf_kernels.so", f"{K}/libtf_kernels.so"]
    assert [each.path for each in found.resolution.attempts] == paths


@pytest.mark.parametrize("name", ["libmy.so", None])
@pytest.mark.parametrize("kind", [0, 3, 10, 11, 99, 0xFFFFFFFF])
def test_types_without_a_lib(kind: int, name: str | None) -> None:
    """AE-503: no path is tried for them."""
    found = answer(kind, name, files=MemoryTree({f"{K}/libmy.so": b""}))
    assert found.call_status == NULL
    assert found.resolution.attempts == ()
    assert found.settings.why.startswith(f"kernel type {kind} has no kernel lib")
    (row,) = table(AeContext(), [kind])
    assert (row.kernel_types, row.paths, row.why) == ((kind,), (), found.settings.why)


def test_directories() -> None:
    found = answer(CUST, None, AeContext(RunMode.SOCKET, True, 0, 40, 123, {HOME: "/h"}))
    assert [each.path for each in found.resolution.attempts] == [
        f"/h5/cust_aicpu_0_40_123/{SO}", f"{K}/{SO}", f"/h5/cust_aicpu_0_40_123/123_0/{SO}",
    ]  # fmt: skip
    assert (found.resolution.status, found.call_status) == (None, None)
    assert [each.rule for each in found.resolution.decisions] == [
        "AE-605.1",
        "AE-605.2",
        "AE-605.3",
    ]


def test_table_of_one_type() -> None:
    assert {row.kernel_types for row in table(AeContext(), [KFC])} == {(KFC,)}
    assert {row.is_cust_sd for row in table(AeContext(), [CUST])} == {True, False}


@pytest.mark.parametrize(("number", "remarks"), [(183, ()), (62, ("x86-64",))])
def test_libraries_of_a_device_open(library: bytes, number: int, remarks: tuple[str, ...]) -> None:
    """The machine of the device counts, not this one."""
    files = MemoryTree({f"{K0}/libmy.so": machine(library, number)})
    found = answer(AICPU, "libmy.so", files=files)
    assert (found.resolution.loaded, found.call_status) == (f"{K0}/libmy.so", 0)
    (attempt,) = found.resolution.attempts
    assert len(attempt.remarks) == len(remarks)
    assert all(word in attempt.remarks[0] for word in remarks)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        (b"text", "not with the ELF magic"),
        (b"\x7fELF", "not a shared library"),
    ],
)
def test_what_does_not_open(content: bytes, why: str) -> None:
    """SP-37: the next level is asked."""
    files = MemoryTree({f"{K0}/libmy.so": content})
    found = answer(AICPU, "libmy.so", files=files)
    assert found.resolution.status == LOST
    assert why in found.resolution.attempts[0].why
    assert len(found.resolution.attempts) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_files_of_a_disk(tmp_path: Path, library: bytes) -> None:
    place = tmp_path / K0.lstrip("/")
    place.mkdir(parents=True)
    files = RootedFiles(str(tmp_path))
    (place / "libdir.so").mkdir()
    (place / "libmy.so").write_bytes(library)
    (place / "libcut.so").write_bytes(library[:400])
    whys = {
        name: answer(AICPU, name, files=files).resolution.attempts[0].why
        for name in ("libdir.so", "libmy.so", "libcut.so", "libno.so")
    }
    assert whys.pop("libcut.so").startswith("the library is cut off or damaged")
    assert whys == {"libdir.so": "Is a directory", "libmy.so": "", "libno.so": "no such file"}


def test_a_library_in_another_place_is_told() -> None:
    """Q-23: places in which people look for their library, and the engine does not."""
    other = f"{K}/40/aicpu_kernels_device/libmy.so"
    files = MemoryTree({other: b""})
    assert answer(AICPU, "libmy.so", files=files).elsewhere == ()
    told = answer(CUST, "libmy.so", AeContext(vf=40, is_cust_sd=True), files).elsewhere
    assert told == (f"{other} is there: that is for --kernel-type aicpu",)
    assert answer(AICPU, "libmy.so", AeContext(vf=40), files).elsewhere == ()
