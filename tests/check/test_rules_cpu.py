"""Rules on AI CPU operators, each over a small package that breaks it and one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cannkit.check.finding import Finding
from cannkit.check.package_subject import PackageSubject
from cannkit.check.rules_cpu import MOST_HINTS, PACKAGE_RULES
from cannkit.errors import UsageError
from cannkit.image.package import find_packages
from tests.packages import (
    CPU_CONFIG,
    CPU_LIBS,
    X86_64,
    cpu_info,
    cpu_vendor,
    folder,
    library,
    wheel,
)

SO = "libcust_cpu_kernels.so"
GOOD = library("RunCpuKernel")


def findings(path: str, glibc: str | None = None) -> list[Finding]:
    (package, *_) = find_packages(path)
    subject = PackageSubject(package, glibc)
    return [finding for apply in PACKAGE_RULES for finding in apply(subject)]


def of(
    tmp_path: Path, info: dict[str, Any] | None = None, **libraries: bytes
) -> list[tuple[str, str]]:
    """Codes and messages of a package with one operator; by default its library is a good one."""
    named = {
        name.replace("__", "-").replace("_so", ".so"): data for name, data in libraries.items()
    }
    files = cpu_vendor({"AddCpu": info or cpu_info()}, named or {SO: GOOD})
    return [(each.rule.code, each.message) for each in findings(folder(tmp_path, files))]


@pytest.mark.parametrize("lib", ["CUSTAICPUKernel", "AICPUKernel", "KFCKernel", "CUSTKFCKernel"])
def test_nothing_is_wrong(tmp_path: Path, lib: str) -> None:
    files = cpu_vendor({"AddCpu": cpu_info(lib=lib)})
    assert findings(folder(tmp_path / "v", files), "2.17") == []
    assert findings(wheel(tmp_path / "demo.whl", files)) == []


@pytest.mark.parametrize(
    ("raw", "why"), [(b"{", "Expecting"), (b"[{}]", "its root is an array"), (b"[" * 9999, "64")]
)
def test_json_that_cannot_be_read(tmp_path: Path, raw: bytes, why: str) -> None:
    (found,) = findings(folder(tmp_path, cpu_vendor() | {CPU_CONFIG: raw}))
    assert (found.rule.code, found.file) == ("K401", f"{tmp_path}/{CPU_CONFIG}")
    assert why in found.message


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (cpu_info(lib=None), "no opKernelLib"),  # type: ignore[arg-type]
        (cpu_info(so=None, function=None), "no functionName, kernelSo"),  # type: ignore[arg-type]
        ({"opInfo": {}}, "no functionName, kernelSo, opKernelLib"),
        ({"opInfo": []}, "no functionName, kernelSo, opKernelLib"),
        ({"input0": {}}, "it has no opInfo"),
        (cpu_info(userDefined=True), "userDefined must be text: the runtime drops this operator"),
    ],
)
def test_missing_fields(tmp_path: Path, info: dict[str, Any], message: str) -> None:
    assert of(tmp_path, info) == [("K402", message)]


def test_an_unknown_kernel_lib(tmp_path: Path) -> None:
    assert of(tmp_path, cpu_info(lib="MyKernel")) == [("K403", "opKernelLib is 'MyKernel'")]


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    assert of(tmp_path, cpu_info("libother.so")) == [("K404", "the package has no libother.so")]


def test_a_library_of_the_device(tmp_path: Path) -> None:
    assert of(tmp_path, cpu_info("libcpu_kernels.so", lib="AICPUKernel")) == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (library("RunCpuKernel", machine=X86_64), "it is for x86-64, the AI CPU is AArch64"),
        (b"text", "starts with 74657874, not with the ELF magic 7f454c46"),
        (b"", "the file is empty"),
    ],
)
def test_libraries_that_cannot_be_loaded(tmp_path: Path, data: bytes, why: str) -> None:
    assert of(tmp_path, libcust_cpu_kernels_so=data) == [("K405", why)]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "RunCpuKernl",
            "libcust_cpu_kernels.so: it does not export RunCpuKernl; near: RunCpuKernel",
        ),
        ("run", "exported only as _Z3runPv"),
    ],
)
def test_a_function_that_is_not_exported(tmp_path: Path, name: str, why: str) -> None:
    data = library("RunCpuKernel", "_Z3runPv")
    ((code, message),) = of(tmp_path, cpu_info(function=name), libcust_cpu_kernels_so=data)
    assert code == "K406"
    assert why in message


def test_many_functions_that_are_not_exported(tmp_path: Path) -> None:
    """What comes near is looked for a few times only."""
    ops = {f"Op{number:02}": cpu_info(function="RunCpuKernl") for number in range(20)}
    found = findings(folder(tmp_path, cpu_vendor(ops)))
    near = ["near: RunCpuKernel" in each.message for each in found]
    assert near == [True] * MOST_HINTS + [False] * (20 - MOST_HINTS)


def test_the_framework_does_not_ask_for_a_function(tmp_path: Path) -> None:
    info = cpu_info("libtf_kernels.so", "x", "TFKernel")
    assert of(tmp_path, info, libtf_kernels_so=library("TFOperateAPI")) == []


def test_undefined_names(tmp_path: Path) -> None:
    """Those of libc have versions, some are the device's, some those of a library beside it."""
    versioned = {"memcpy": ("libc.so.6", "GLIBC_2.17")}
    needed = ["libc.so.6", "libhelp.so"]
    undefined = ["mine", "helped", "memcpy_s", "vsnprintf_truncated_s", "_ZN5aicpu3FooEv"]
    data = library("RunCpuKernel", needed=needed, undefined=undefined, versioned=versioned)
    found = of(tmp_path, libcust_cpu_kernels_so=data, libhelp_so=library("helped"))
    assert found == [("K407", "nothing defines mine")]


def test_undefined_names_of_what_is_not_in_the_package(tmp_path: Path) -> None:
    data = library("RunCpuKernel", needed=["libascend_hal.so"], undefined=["halFoo"])
    assert of(tmp_path, libcust_cpu_kernels_so=data) == []


def test_libraries_that_need_each_other(tmp_path: Path) -> None:
    one = library("RunCpuKernel", needed=["libtwo.so"], undefined=["f"])
    two = library("g", soname="libtwo.so", needed=[SO], undefined=["RunCpuKernel"])
    assert of(tmp_path, libcust_cpu_kernels_so=one, libtwo_so=two) == [
        ("K407", "nothing defines f")
    ]


def test_a_soname_of_another_name(tmp_path: Path) -> None:
    data = library("RunCpuKernel", soname="libmindspore_cpu_kernels.so")
    assert of(tmp_path, libcust_cpu_kernels_so=data) == [
        ("K408", f"its SONAME is libmindspore_cpu_kernels.so, its file {SO}")
    ]


@pytest.mark.parametrize(
    ("glibc", "bad"),
    [("2.28", True), ("2.34", False), ("2.100", False), ("3", False), (None, False)],
)
def test_versions_of_glibc(tmp_path: Path, glibc: str | None, bad: bool) -> None:
    versioned = {
        "dlopen": ("libc.so.6", "GLIBC_2.34"),
        "memcpy": ("libc.so.6", "GLIBC_2.17"),
        "z": ("libc.so.6", "GLIBC_PRIVATE"),
        "_Znwm": ("libstdc++.so.6", "GLIBCXX_3.4"),
    }
    data = library("RunCpuKernel", versioned=versioned)
    found = findings(folder(tmp_path, cpu_vendor(libraries={SO: data})), glibc)
    assert [(each.rule.code, each.file, each.message) for each in found] == [
        (
            "K409",
            f"{tmp_path}/{CPU_LIBS}{SO}",
            f"it needs GLIBC_2.34 of libc.so.6, the device has {glibc}",
        )
    ] * bad


@pytest.mark.parametrize("glibc", ["", "new", "2.x", "2.", "9" * 5000])
def test_a_version_that_is_none(tmp_path: Path, glibc: str) -> None:
    with pytest.raises(UsageError, match="no version of glibc"):
        findings(folder(tmp_path, cpu_vendor()), glibc)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (cpu_info("l" * 98 + ".so"), "kernelSo has 101 bytes, the engine takes the first 100"),
        (cpu_info("l" * 126 + ".so"), "kernelSo has 129 bytes: over 128 it is not written"),
        (cpu_info("my lib.so"), "kernelSo 'my lib.so' has other characters"),
        (cpu_info(function="f" * 201), "functionName has 201 bytes, the engine takes the first"),
        (cpu_info(function="é" * 101), "functionName has 202 bytes, the engine takes the first"),
        (cpu_info(function="f" * 201, lib="KFCKernel"), "201 bytes, the engine refuses it"),
    ],
)
def test_names_over_the_limits(tmp_path: Path, info: dict[str, Any], message: str) -> None:
    so, function = info["opInfo"]["kernelSo"], info["opInfo"]["functionName"]
    files = cpu_vendor({"AddCpu": info}, {so: library(function)})
    ((found),) = findings(folder(tmp_path, files))
    assert found.rule.code == "K410"
    assert message in found.message


def test_names_at_the_limits(tmp_path: Path) -> None:
    so = "l" * 97 + ".so"
    info = cpu_info(so, "f" * 200)
    assert findings(folder(tmp_path, cpu_vendor({"A": info}, {so: library("f" * 200)}))) == []


@pytest.mark.parametrize(("lib", "bad"), [("KFCKernel", True), ("CUSTAICPUKernel", False)])
def test_two_libraries_with_one_function(tmp_path: Path, lib: str, bad: bool) -> None:
    libraries = {SO: GOOD, "libagain.so": GOOD}
    files = cpu_vendor({"A": cpu_info(lib=lib), "B": cpu_info(lib=lib)}, libraries)
    found = findings(folder(tmp_path, files))
    message = f"RunCpuKernel is exported by libagain.so, {SO}"
    assert [(each.rule.code, each.message) for each in found] == [("K411", message)] * bad


@pytest.mark.parametrize(
    ("info", "libraries", "message"),
    [
        (
            cpu_info(lib="TFKernel"),
            {SO: GOOD},
            f"TFKernel opens libtf_kernels.so, never {SO}",
        ),
        (
            cpu_info(),
            {SO: GOOD, "libtf_kernels_v2.so": library("f")},
            "it is not called libtf_kernels.so",
        ),
        (
            cpu_info(),
            {SO: GOOD, "libmine.so": library("TFOperateAPI")},
            "it is not called libtf_kernels.so",
        ),
        (
            cpu_info(),
            {SO: GOOD, "libtf_kernels.so": library("f")},
            "it does not export TFOperateAPI",
        ),
    ],
)
def test_a_misnamed_framework_library(
    tmp_path: Path, info: dict[str, Any], libraries: dict[str, bytes], message: str
) -> None:
    (found,) = findings(folder(tmp_path, cpu_vendor({"A": info}, libraries)))
    assert (found.rule.code, found.message) == ("K412", message)


@pytest.mark.parametrize(
    ("text", "bad"), [("REG_OP(Other)", True), ("REG_OP( AddCpu )", False), ("// none", False)]
)
def test_prototypes(tmp_path: Path, text: str, bad: bool) -> None:
    files = cpu_vendor() | {"op_proto/inc/op_proto.h": text.encode()}
    found = findings(folder(tmp_path, files))
    message = "op_proto/inc has no REG_OP(AddCpu)"
    assert [(each.rule.code, each.message) for each in found] == [("K413", message)] * bad
